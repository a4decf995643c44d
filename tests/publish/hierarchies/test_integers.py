"""Whole tables: whole, not negative, and everything adds up, whatever the estimates are."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from sordino.publish.hierarchies import integers
from sordino.publish.hierarchies.integers import family, whole_tables


def random_tree(seed: int) -> tuple[list[np.ndarray], list[np.ndarray]]:
    """Return estimates, some of them wild, and where children begin."""
    dice = np.random.default_rng(seed)
    firsts, sizes = [], [int(dice.integers(1, 4))]
    for _ in range(int(dice.integers(0, 4))):
        many = dice.integers(1, 6, sizes[-1])
        firsts.append(np.concatenate(([0], np.cumsum(many)[:-1])))
        sizes.append(int(many.sum()))
    cells = int(dice.integers(1, 9))
    scale = dice.choice([0.1, 3.0, 1000.0])
    leaves = dice.normal(dice.choice([0.0, scale]), scale, (sizes[-1], cells))
    found = [leaves]
    for first in reversed(firsts):
        found.insert(0, np.add.reduceat(found[0], first, axis=0))
    return found, firsts


@pytest.mark.parametrize("seed", range(60))
def test_everything_is_whole_and_adds_up(seed: int) -> None:
    estimates, firsts = random_tree(seed)
    found = whole_tables(estimates, firsts)
    for first, above, below in zip(firsts, found, found[1:], strict=False):
        assert np.array_equal(np.add.reduceat(below, first, axis=0), above)
    for level, given in zip(found, estimates, strict=True):
        assert level.dtype == np.int64
        assert level.shape == given.shape
        assert level.min(initial=0) >= 0
    assert np.array_equal(found[0].sum(axis=1), np.maximum(np.rint(estimates[0].sum(axis=1)), 0))


def test_what_is_whole_already_is_kept() -> None:
    dice = np.random.default_rng(3)
    leaves = dice.integers(0, 30, (12, 6))
    firsts = [np.array([0, 2]), np.array([0, 3, 7])]
    levels = [leaves]
    for first in reversed(firsts):
        levels.insert(0, np.add.reduceat(levels[0], first, axis=0))
    found = whole_tables([each.astype(float) for each in levels], firsts)
    assert all(np.array_equal(one, other) for one, other in zip(found, levels, strict=True))


def test_totals_that_are_given_are_kept() -> None:
    estimates, firsts = [np.array([[4.4, 6.1]]), np.array([[2.2, 3.0], [2.2, 3.1]])], [np.array([0])]
    found = whole_tables(estimates, firsts, [np.array([9]), np.array([7, 2])])
    assert found[0].sum() == 9
    assert found[1].sum(axis=1).tolist() == [7, 2]


def test_many_families_of_one_size_are_worked_on_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    estimates = [np.full((40, 3), 4.0), np.random.default_rng(1).normal(2.0, 3.0, (80, 3))]
    first = [np.arange(0, 80, 2)]
    at_once = whole_tables(estimates, first)[1]
    monkeypatch.setattr(integers, "_ROOM", 24)
    assert np.array_equal(whole_tables(estimates, first)[1], at_once)


def test_totals_first_are_as_near_as_any_that_add_up() -> None:
    """Against all tables of a small family: totals are the nearest, and no others with these are much nearer."""
    dice = np.random.default_rng(5)
    for _ in range(20):
        parent = dice.integers(0, 4, 2)
        given = dice.normal(1.0, 1.5, (2, 2))
        found = family(given[None], parent[None])[0]
        every = [
            np.array([[a, b], [parent[0] - a, parent[1] - b]]) for a, b in product(*(range(n + 1) for n in parent))
        ]
        totals = given.sum(axis=1)
        nearest = min(((each.sum(axis=1) - totals) ** 2).sum() for each in every)
        assert ((found.sum(axis=1) - totals) ** 2).sum() == pytest.approx(nearest, abs=1e-9)
        alike = [each for each in every if np.array_equal(each.sum(axis=1), found.sum(axis=1))]
        best = min(((each - given) ** 2).sum() for each in alike)
        assert ((found - given) ** 2).sum() <= best + 2.0
