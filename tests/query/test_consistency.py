from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sordino.errors import ArgumentError
from sordino.query.estimate.consistency import Level, consistent

Keys = tuple[int, ...]

TREES: dict[str, list[Keys]] = {"rollup": [(0, 1), (0,), ()], "two": [(0,), ()], "three": [(0, 1, 2), (0,), ()]}
LATTICES: dict[str, list[Keys]] = {
    "cube": [(0, 1), (0,), (1,), ()],
    "margins": [(0,), (1,)],
    "pairs": [(0, 1), (1, 2), (0, 2)],
    "out of order": [(), (1,), (0, 1), (0,)],
}
SIZES = (3, 2, 2)


def levels_of(sets: list[Keys], generator: np.random.Generator, draws: int = 1) -> tuple[list[Level], np.ndarray]:
    """Return noisy levels (with `draws` answers in each) and the exact finest cells."""
    exact = generator.integers(0, 100, SIZES).astype(float)
    levels = []
    for keys in sets:
        cells = list(product(*(range(SIZES[key]) for key in keys)))
        others = tuple(axis for axis in range(3) if axis not in keys)
        truth = exact.sum(axis=others).ravel()
        variances = generator.uniform(0.5, 20, len(cells))
        noise = generator.normal(size=(draws, len(cells))) * np.sqrt(variances)
        levels.append(Level(keys, cells, np.squeeze(truth + noise, axis=0) if draws == 1 else truth + noise, variances))
    return levels, exact


def matrix_of(levels: list[Level]) -> np.ndarray:
    finest = list(product(*map(range, SIZES)))
    rows = [
        [tuple(cell[key] for key in level.keys) == total for cell in finest]
        for level in levels
        for total in level.cells
    ]
    return np.array(rows, dtype=float)


def dense_solution(levels: list[Level]) -> np.ndarray:
    """Solve the weighted least squares by dense linear algebra."""
    matrix, values = matrix_of(levels), np.concatenate([level.values for level in levels])
    weights = 1 / np.sqrt(np.concatenate([level.variances for level in levels]))
    return np.asarray(matrix @ np.linalg.lstsq(weights[:, None] * matrix, weights * values, rcond=None)[0])


@pytest.mark.parametrize("sets", [*TREES.values(), *LATTICES.values()], ids=[*TREES, *LATTICES])
@given(seed=st.integers(0, 2**32))
@settings(max_examples=15)
def test_agrees_with_dense_least_squares(sets: list[Keys], seed: int) -> None:
    levels, _ = levels_of(sets, np.random.default_rng(seed))
    solved = consistent(levels)
    assert [level.keys for level in solved] == sets
    assert np.concatenate([level.values for level in solved]) == pytest.approx(dense_solution(levels), abs=1e-6)


@pytest.mark.parametrize("sets", [*TREES.values(), *LATTICES.values()], ids=[*TREES, *LATTICES])
def test_totals_are_the_sums_of_their_parts(sets: list[Keys]) -> None:
    levels, _ = levels_of(sets, np.random.default_rng(1))
    solved = {level.keys: dict(zip(level.cells, level.values, strict=True)) for level in consistent(levels)}
    for coarse, fine in product(solved, solved):
        if set(coarse) < set(fine):
            for total, value in solved[coarse].items():
                parts = [
                    part
                    for cell, part in solved[fine].items()
                    if all(cell[fine.index(key)] == total[place] for place, key in enumerate(coarse))
                ]
                assert sum(parts) == pytest.approx(value, abs=1e-7)


@pytest.mark.parametrize("sets", TREES.values(), ids=TREES)
def test_unbiased_with_the_variance_claimed_and_never_above_the_raw_one(sets: list[Keys]) -> None:
    generator = np.random.default_rng(2)
    draws = 4000
    many, exact = levels_of(sets, generator, draws)
    answers = [
        consistent([Level(level.keys, level.cells, level.values[draw], level.variances) for level in many])
        for draw in range(draws)
    ]
    for place, level in enumerate(many):
        solved = np.array([answer[place].values for answer in answers])
        claimed = answers[0][place].variances
        truth = exact.sum(axis=tuple(axis for axis in range(3) if axis not in level.keys)).ravel()
        assert np.all(np.abs(solved.mean(axis=0) - truth) <= 5 * np.sqrt(claimed / draws))
        assert solved.var(axis=0) == pytest.approx(claimed, rel=5 * np.sqrt(2 / draws))
        assert np.all(claimed <= level.variances)


@pytest.mark.parametrize("sets", TREES.values(), ids=TREES)
def test_a_trees_variances_are_those_of_least_squares(sets: list[Keys]) -> None:
    levels, _ = levels_of(sets, np.random.default_rng(3))
    matrix = matrix_of(levels)
    weights = 1 / np.concatenate([level.variances for level in levels])
    covariance = matrix @ np.linalg.pinv(matrix.T @ (weights[:, None] * matrix)) @ matrix.T
    solved = np.concatenate([level.variances for level in consistent(levels)])
    assert solved == pytest.approx(np.diag(covariance), rel=1e-9)


def test_a_lattice_is_better_than_its_raw_values() -> None:
    generator = np.random.default_rng(4)
    many, exact = levels_of(LATTICES["cube"], generator, 300)
    total = exact.sum()
    solved = [
        consistent([Level(level.keys, level.cells, level.values[draw], level.variances) for level in many])[3].values[0]
        for draw in range(300)
    ]
    assert np.var(np.array(solved) - total) < np.var(many[3].values[:, 0] - total)


def test_a_large_tree_is_solved_at_once() -> None:
    generator = np.random.default_rng(5)
    cells = [(first, second) for first in range(300) for second in range(200)]
    leaves = Level((0, 1), cells, generator.normal(size=60_000), np.ones(60_000))
    middle = Level((0,), [(first,) for first in range(300)], generator.normal(size=300), np.ones(300))
    root = Level((), [()], np.array([0.0]), np.ones(1))
    solved = consistent([leaves, middle, root])
    assert solved[1].values.sum() == pytest.approx(solved[2].values[0], abs=1e-9)
    assert solved[0].values.reshape(300, 200).sum(axis=1) == pytest.approx(solved[1].values, abs=1e-9)


def test_zeros_stay_zeros() -> None:
    levels = [Level((0,), [(0,), (1,)], np.zeros(2), np.ones(2)), Level((1,), [(0,)], np.zeros(1), np.ones(1))]
    assert [level.values.tolist() for level in consistent(levels)] == [[0.0, 0.0], [0.0]]


def test_missing_parts_and_totals_are_refused() -> None:
    leaves = Level((0,), [("a",), ("b",)], np.zeros(2), np.ones(2))
    with pytest.raises(ArgumentError, match="every part its total"):
        consistent([leaves, Level((0,), [("a",)], np.zeros(1), np.ones(1))])
    with pytest.raises(ArgumentError, match="every total has its parts"):
        consistent([leaves, Level((), [(), ()], np.zeros(2), np.ones(2))])


def test_endless_combinations_are_refused() -> None:
    wide = [Level((key,), [(cell,) for cell in range(400)], np.zeros(400), np.ones(400)) for key in range(3)]
    with pytest.raises(ArgumentError, match="add the level of all keys"):
        consistent(wide)
