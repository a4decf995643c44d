"""Contrasts: sensitivity by trying all changes, errors against dense algebra, shares against other shares."""

from __future__ import annotations

import math
from itertools import product

import numpy as np
import pytest

from publish.replaying import within
from sordino.accounting.bound import ROW
from sordino.accounting.neighbours import Neighbours
from sordino.publish.workloads.contrasts import Parts, all_of, largest, products, summed

SIZES = (2, 3, 4)
PARTS = Parts(SIZES, all_of(3, 2))


def cell(place: tuple[int, ...]) -> np.ndarray:
    table = np.zeros(SIZES, dtype=np.int64)
    table[place] = 1
    return table


def moved(table: np.ndarray, part: tuple[int, ...]) -> np.ndarray:
    return products(summed(table, (0, 1, 2), part))


@pytest.mark.parametrize("part", PARTS.all)
def test_sensitivity_is_that_of_every_row(part: tuple[int, ...]) -> None:
    bound = PARTS.moves(part, 1, ROW, Neighbours.ADD_REMOVE)
    for place in product(*map(range, SIZES)):
        change = moved(cell(place), part)
        within(change, np.zeros_like(change), bound)
        assert (change**2).sum() == bound.l2_squared


@pytest.mark.parametrize("part", PARTS.all)
@pytest.mark.parametrize("rows", [1, 2])
def test_sensitivity_of_replacing_is_that_of_every_pair(part: tuple[int, ...], rows: int) -> None:
    bound = PARTS.moves(part, rows, ROW, Neighbours.REPLACE_ONE)
    places = list(product(*map(range, SIZES)))
    changes = [moved(rows * (cell(one) - cell(other)), part) for one in places for other in places]
    changes += [moved(rows * cell(one), part) for one in places]
    for change in changes:
        within(change, np.zeros_like(change), bound)
    assert max((change**2).sum() for change in changes) == bound.l2_squared


def test_marginals_without_noise_are_exact() -> None:
    table = np.random.default_rng(5).integers(0, 50, SIZES)
    exact = {part: moved(table, part) for part in PARTS.all}
    for whole in [(), (1,), (0, 2), (1, 2)]:
        np.testing.assert_allclose(PARTS.marginal(whole, exact), summed(table, (0, 1, 2), whole))


def test_variances_are_those_of_dense_algebra() -> None:
    noise = {part: 1.0 + at for at, part in enumerate(PARTS.all)}
    for whole in [(), (1,), (0, 2), (1, 2)]:
        total = 0.0
        for part in PARTS.all:
            shape = [SIZES[each] for each in part]
            for at in np.ndindex(*shape):  # one unit of noise in one product, and what it does to the marginal
                noisy = {each: np.zeros([SIZES[i] for i in each], dtype=np.int64) for each in PARTS.all}
                noisy[part][at] = 1
                total += noise[part] * (PARTS.marginal(whole, noisy) ** 2).sum()
        assert PARTS.variance(whole, noise) * PARTS.cells(whole) == pytest.approx(total)


def test_no_other_shares_have_less_error() -> None:
    weights, shares = PARTS.weights(), PARTS.shares()
    squared = {part: float(PARTS.moves(part, 1, ROW, Neighbours.ADD_REMOVE).l2_squared) for part in PARTS.all}

    def error(given: dict[tuple[int, ...], float]) -> float:
        return sum(weights[part] * squared[part] / (2 * share) for part, share in given.items())

    best = error({part: float(share) for part, share in shares.items()})
    closed = sum(math.sqrt(weights[part] * squared[part]) for part in PARTS.all) ** 2 / 2
    assert best == pytest.approx(closed, rel=1e-6)
    assert sum(shares.values()) <= 1
    dice = np.random.default_rng(6)
    for _ in range(50):
        other = dice.dirichlet(np.full(len(shares), 5.0))
        assert error(dict(zip(shares, other, strict=True))) >= best * (1 - 1e-6)


def test_one_way_marginals_of_one_column_are_plain_counts() -> None:
    parts = Parts((5,), ((0,),))
    noise = dict.fromkeys(parts.all, 1.0)
    assert set(parts.all) == {(), (0,)}
    assert parts.variance((0,), noise) == pytest.approx(1 / 25 + 4 / 125)


def test_columns_of_one_cell_have_no_part_of_their_own_and_larger_sets_cover_smaller_ones() -> None:
    assert Parts((1, 3), ((0, 1),)).all == ((), (1,))
    assert largest([(0,), (0, 1), (2,)]) == ((0, 1), (2,))
