"""Trees, beliefs, marginals, fits and rows, each against the whole joint table of a small domain."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

from sordino.publish.tables.fitting import Measured, Model, fit, start, total_of
from sordino.publish.tables.junction import Tree, cells_needed, triangulated
from sordino.publish.tables.sampling import draw_rows, systematic

SIZES = (3, 2, 4, 2, 3)
SHAPES: tuple[tuple[tuple[int, ...], ...], ...] = (
    ((0, 1), (1, 2), (2, 3), (3, 4)),
    ((0, 1), (1, 2), (0, 2), (3,)),
    ((0, 1, 2), (2, 3, 4)),
    ((0, 1), (1, 2), (2, 3), (0, 3)),  # a circle: needs an edge more
    ((0,), (4,)),
    ((0, 1, 2, 3, 4),),
)


def model_of(cliques: tuple[tuple[int, ...], ...], seed: int = 7) -> Model:
    random = np.random.default_rng(seed)
    potentials = {each: random.normal(size=[SIZES[place] for place in each]) for each in cliques}
    return Model(SIZES, potentials, {}, 120.0)


def joint(model: Model) -> Any:
    whole = np.zeros(SIZES)
    for clique, table in model.potentials.items():
        whole = whole + table.reshape([SIZES[place] if place in clique else 1 for place in range(len(SIZES))])
    whole = np.exp(whole)
    for clique, cells in model.empty.items():
        shape = [SIZES[place] if place in clique else 1 for place in range(len(SIZES))]
        whole = np.where(cells.reshape(shape), 0, whole)
    return model.total * whole / whole.sum()


def summed(whole: Any, clique: tuple[int, ...]) -> Any:
    return whole.sum(axis=tuple(place for place in range(whole.ndim) if place not in clique))


@pytest.mark.parametrize("cliques", SHAPES)
def test_trees_hold_all_cliques_and_what_two_share_is_held_between(cliques: Any) -> None:
    tree = Tree.of(SIZES, cliques)
    assert all(tree.home(each) is not None for each in cliques)
    assert {column for each in tree.cliques for column in each} == set(range(len(SIZES)))
    assert tree.cells == cells_needed(SIZES, cliques)
    for column in range(len(SIZES)):
        holding = {place for place, each in enumerate(tree.cliques) if column in each}
        roots = [place for place in holding if tree.parents[place] not in holding]
        assert len(roots) == 1


def test_a_circle_needs_an_edge_more() -> None:
    assert max(map(len, triangulated((2, 2, 2, 2), [(0, 1), (1, 2), (2, 3), (0, 3)]))) == 3


@pytest.mark.parametrize("cliques", SHAPES)
def test_marginals_of_any_columns_are_those_of_the_joint_table(cliques: Any) -> None:
    model = model_of(cliques)
    whole = joint(model)
    for number in range(1, len(SIZES) + 1):
        for clique in itertools.combinations(range(len(SIZES)), number):
            assert model.across.of(clique) == pytest.approx(summed(whole, clique), abs=1e-9)
    for one in range(len(SIZES)):
        for pair, table in model.across.pairs(one, range(len(SIZES))).items():
            assert table == pytest.approx(summed(whole, pair), abs=1e-9)


def test_empty_cells_have_no_rows_and_no_mass() -> None:
    empty: dict[Any, Any] = {(1, 2): np.array([[True, False, False, True], [False, True, False, True]])}
    model = Model(SIZES, model_of(SHAPES[0]).potentials, empty, 120.0)
    assert model.beliefs.possible
    assert model.across.of((1, 2)) == pytest.approx(summed(joint(model), (1, 2)), abs=1e-9)
    assert model.across.of((0, 4)) == pytest.approx(summed(joint(model), (0, 4)), abs=1e-9)
    rows = draw_rows(model.beliefs, 5_000)
    assert not empty[1, 2][rows[:, 1], rows[:, 2]].any()


def test_cells_that_are_all_empty_are_not_possible() -> None:
    assert not Model(SIZES, {}, {(0,): np.ones(3, bool)}, 1.0).beliefs.possible
    crossing: dict[Any, Any] = {(0, 1): np.array([[True, False]] * 3), (1, 2): np.array([[False] * 4, [True] * 4])}
    assert not Model(SIZES, {}, crossing, 1.0).beliefs.possible


@pytest.mark.parametrize("cliques", SHAPES)
def test_a_fit_finds_marginals_that_are_exact(cliques: Any) -> None:
    whole = joint(model_of(cliques))
    measured = {each: Measured(summed(whole, each), np.asarray(1.0)) for each in cliques}
    total = total_of(measured.values())
    assert total == pytest.approx(120)
    fitted = fit(start(Model(SIZES, {}, {}, 1.0), cliques, total), measured, steps=3_000, tolerance=1e-9)
    for each in cliques:
        assert fitted.across.of(each) == pytest.approx(measured[each].numbers, abs=0.02)


def test_a_fit_weighs_measurements_by_their_precision() -> None:
    low, high = Measured(np.array([90.0, 30.0]), np.asarray(3.0)), Measured(np.array([30.0, 90.0]), np.asarray(1.0))
    both = low.joined(high)
    assert both.numbers == pytest.approx([75, 45])
    assert float(both.precision) == 4
    fitted = fit(start(Model((2,), {}, {}, 1.0), [(0,)], 120.0), {(0,): both}, steps=500)
    assert fitted.across.of((0,)) == pytest.approx([75, 45], abs=0.01)


def test_rows_have_the_models_marginals_but_for_rounding() -> None:
    model = model_of(SHAPES[3])
    rows = draw_rows(model.beliefs, 12_000)
    counted = np.zeros(SIZES)
    np.add.at(counted, tuple(rows.T), 1)
    for clique in SHAPES[3]:
        assert summed(counted, clique) / 100 == pytest.approx(model.across.of(clique), abs=0.6)


def test_systematic_sampling_rounds_up_or_down_and_is_fair() -> None:
    chances = np.array([[0.25, 0.0, 0.75], [1.0, 0.0, 0.0], [0.5, 0.5, 0.0]])
    groups = np.repeat([0, 1, 2], [7, 3, 5])
    ups = 0
    for _ in range(400):
        values = systematic(chances, groups)
        first = np.bincount(values[:7], minlength=3)
        assert first[0] in (1, 2)
        assert first[1] == 0
        assert list(np.bincount(values[7:10], minlength=3)) == [3, 0, 0]
        assert set(np.bincount(values[10:], minlength=3)[:2]) == {2, 3}
        ups += first[0] == 2
    assert 250 <= ups <= 347  # of 400 at 3/4: five deviations either way


def test_no_rows_are_drawn_where_none_are_asked_for() -> None:
    assert draw_rows(model_of(SHAPES[0]).beliefs, 0).shape == (0, 5)
