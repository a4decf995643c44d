"""What one person can move: against brute force over every pattern of steps, on small streams."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import combinations, combinations_with_replacement, pairwise, product

import numpy as np
import pytest

from sordino.collect.stream.buffered_sum import CHUNK, Buffered
from sordino.collect.stream.people import Arrivals
from sordino.collect.stream.square_root import SquareRoot
from sordino.collect.stream.strategy import Strategy
from sordino.collect.stream.tree import Tree
from sordino.errors import ArgumentError

STEPS = 9


def patterns(steps: int, events: int, apart: int) -> list[tuple[int, ...]]:
    """Every choice of so many steps, or fewer, that are far enough apart."""
    choose = combinations_with_replacement if apart == 0 else combinations
    found = [each for count in range(1, events + 1) for each in choose(range(steps), count)]
    return [each for each in found if all(b - a >= apart for a, b in pairwise(each))]


def measured(strategy: Strategy, arrivals: Arrivals, counts: np.ndarray) -> list[int]:
    steps, _ = strategy.encode(arrivals, strategy.begin(arrivals)[0], 0, counts)
    return [int(each) for each in steps.ravel()]


def moved(strategy: Strategy, arrivals: Arrivals, base: np.ndarray, changed: np.ndarray) -> Fraction:
    """The squared distance of what is measured, in units, exactly."""
    one, two = measured(strategy, arrivals, base), measured(strategy, arrivals, changed)
    return sum((a - b) ** 2 for a, b in zip(one, two, strict=True)) * Fraction(4) ** strategy.exponent(arrivals)


def worst_moved(strategy: Strategy, arrivals: Arrivals, base: np.ndarray) -> Fraction:
    """The largest distance over all patterns, and all signs of the events."""
    worst = Fraction(0)
    for pattern in patterns(strategy.steps, arrivals.events, arrivals.apart):
        for signs in product((1, -1), repeat=len(pattern) if len(pattern) < 3 else 0):
            changed = base.copy()
            for step, sign in zip(pattern, signs or (1,) * len(pattern), strict=True):
                changed[step, 0] += sign * arrivals.each
            worst = max(worst, moved(strategy, arrivals, base, changed))
    return worst


@pytest.mark.parametrize(("events", "apart"), [(1, 0), (2, 0), (3, 0), (2, 1), (3, 1), (2, 3), (3, 2), (5, 4), (9, 1)])
def test_every_pattern_is_within_the_bound_and_the_worst_attains_it(events: int, apart: int) -> None:
    arrivals = Arrivals(each=3, most=1000, events=events, apart=apart)
    base = np.full((STEPS, 1), 40)
    root, buffered = SquareRoot(STEPS), Buffered.over(STEPS, 4)
    assert worst_moved(root, arrivals, base) == root.moved_squared(arrivals)
    found, bound = worst_moved(buffered, arrivals, base), buffered.moved_squared(arrivals)
    assert found <= bound <= found * Fraction(1001, 1000)
    for weighted in (False, True):
        tree = Tree(STEPS, weighted)
        found, bound = worst_moved(tree, arrivals, base), tree.moved_squared(arrivals)
        assert found <= bound
        assert apart or found == bound


@pytest.mark.parametrize("events", [1, 4])
def test_cells_share_the_bound(events: int) -> None:
    arrivals = Arrivals(cells=3, most=1000, events=events)
    rng = np.random.default_rng(events)
    for strategy in (Buffered.over(STEPS, 4), SquareRoot(STEPS), Tree(STEPS)):
        for _ in range(50):
            base = rng.integers(0, 100, size=(STEPS, 3))
            changed = base.copy()
            np.add.at(changed, (rng.integers(0, STEPS, events), rng.integers(0, 3, events)), 1)
            assert moved(strategy, arrivals, base, changed) <= strategy.moved_squared(arrivals)


@pytest.mark.parametrize("most", [10, 10**6, 1 << 40])
@pytest.mark.parametrize("steps", [CHUNK - 1, CHUNK, 3 * CHUNK + 5, 700])
def test_roundings_stay_within_what_was_paid_for_them(steps: int, most: int) -> None:
    """Two long streams that differ by events of one person, with steps as full as they may be, and negative ones."""
    rng = np.random.default_rng(steps)
    each = max(1, most >> 20)
    arrivals = Arrivals(each=each, most=most, events=2)
    strategy = Buffered.over(steps, 8)
    bound = strategy.moved_squared(arrivals)
    for step in (0, 1, steps // 2, steps - 1):
        base = rng.integers(-most + 2 * each, most - 2 * each, size=(steps, 1)) if most > 10 else np.full((steps, 1), 5)
        changed = base.copy()
        changed[[0, step]] += each
        found = moved(strategy, arrivals, base, changed)
        assert found <= bound
        assert step or found >= bound * Fraction(24, 100)  # a bound of one event's is a quarter of this


def test_linear_part_is_dominated_entry_by_entry() -> None:
    """What one event adds to each measurement is never above the column, but for the roundings that are paid for."""
    steps, arrivals = 300, Arrivals(most=10**5, each=10**5)
    strategy = Buffered.over(steps, 8)
    column = strategy.shape.column(steps)
    grid = 2.0 ** strategy.exponent(arrivals)
    for place in (0, 1, 63, 64, 65, 130):
        counts = np.zeros((steps, 1), dtype=np.int64)
        counts[place] = 10**5
        rows = np.array(measured(strategy, arrivals, counts)) * grid
        assert np.all(rows[:place] == 0)
        assert np.all(np.abs(rows[place:] / 10**5 - column[: steps - place]) <= 2 * grid / 10**5 + 1e-13)


def test_worst_pattern_by_doubling_is_the_sum_of_shifts() -> None:
    column = np.array([7, 5, 5, 3, 2, 2, 1, 1, 1, 0, 0], dtype=np.int64)
    for events in range(1, 14):
        for apart in range(1, 13):
            summed = np.zeros_like(column)
            for place in range(events):
                if place * apart < len(column):
                    summed[place * apart :] += column[: len(column) - place * apart]
            assert Arrivals(events=events, apart=apart, most=99).worst(column).tolist() == summed.tolist()


def test_what_would_cost_too_much_rounding_is_refused() -> None:
    with pytest.raises(ArgumentError, match="SRD-C506"):
        Buffered.over(10**6, 8).moved_squared(Arrivals(most=1 << 40))
    with pytest.raises(ArgumentError, match="SRD-C506"):
        SquareRoot(4000).moved_squared(Arrivals())
    with pytest.raises(ArgumentError, match="SRD-C506"):
        SquareRoot(2000).moved_squared(Arrivals(most=1 << 50))
    with pytest.raises(ArgumentError, match="SRD-C506"):
        Tree(1 << 20).moved_squared(Arrivals(most=1 << 50))
    with pytest.raises(ArgumentError, match="SRD-A002"):
        Arrivals(each=2, most=1)


def test_a_million_steps_cost_hardly_any_rounding() -> None:
    arrivals = Arrivals(most=10**5)
    strategy = Buffered.over(10**6, 8)
    alone = math.sqrt(float(np.sum(np.square(strategy.shape.column(10**6)))))
    assert alone < math.sqrt(strategy.moved_squared(arrivals)) < alone * 1.001
