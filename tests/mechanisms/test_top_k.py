"""The best k in one shot: the law of k rounds, the price of k rounds."""

from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from laws import references as reference
from sordino.accounting import events, pure
from sordino.accounting.bound import Bound
from sordino.accounting.grant import Grant
from sordino.errors import ArgumentError
from sordino.mechanisms.checks.draws import CHANCE, fit
from sordino.mechanisms.grid import Grid
from sordino.mechanisms.top_k import TopK

ONE = Bound.scalar(1)


def release(mechanism: TopK, value: object) -> tuple[int, ...]:
    return tuple(mechanism.release(value, Grant(mechanism.event(ONE), ONE)).tolist())


def test_event_is_k_rounds() -> None:
    assert TopK(4, 10, count=3).event(ONE) == events.Repeated(events.Exponential(Fraction(1, 2)), 3)


@pytest.mark.parametrize("grid", [Grid(0, exact=True), None])
def test_costs_just_what_was_asked(grid: Grid | None) -> None:
    mechanism = TopK.for_epsilon("0.7", ONE, 50, count=7, grid=grid)
    assert pure.total(mechanism.event(ONE)) == Fraction(7, 10)


@pytest.mark.parametrize(("monotone", "steps"), [(False, (-1, 0, 1)), (True, (0, 1))])
def test_no_neighbour_is_told_apart_better_than_claimed(monotone: bool, steps: tuple[int, ...]) -> None:
    scores, scale = [0, 2, 3, 3], 1.5
    claimed = float(pure.total(TopK(Fraction(3, 2), 4, monotone=monotone, count=2).event(ONE)))
    here = reference.top_k(scores, scale, 2)
    worst = 0.0
    for moves in product(steps, repeat=4):
        there = reference.top_k([s + m for s, m in zip(scores, moves, strict=True)], scale, 2)
        worst = max(worst, *(abs(math.log(here[o] / there[o])) for o in here))
    assert 0.5 * claimed < worst <= claimed + 1e-12


def test_accepts_the_claimed_scale_and_no_other() -> None:
    scores = [3, 0, 2, 1]
    mechanism = TopK(1, 4, count=2)
    seen = Counter(release(mechanism, scores) for _ in range(5000))
    for factor, right in ((1.0, True), (0.7, False), (1.3, False)):
        p = fit(seen, reference.top_k(scores, factor, 2))
        assert (p > CHANCE) == right, f"n = 5000, k = {len(seen)}, factor = {factor}, p = {p}"


def test_result_is_ordered_and_distinct() -> None:
    scores = np.arange(100) * 1000
    assert release(TopK(1, 100, count=5), scores) == (99, 98, 97, 96, 95)
    assert sorted(release(TopK(10**6, 100, count=100), scores)) == list(range(100))


def test_error_holds() -> None:
    scores = [9, 6, 6, 3, 0]
    mechanism = TopK(1, 5, count=2)
    misses = 0
    for _ in range(2000):
        first, second = release(mechanism, scores)
        left = max(score for i, score in enumerate(scores) if i != first)
        misses += 9 - scores[first] > mechanism.error(0.8) or left - scores[second] > mechanism.error(0.8)
    assert misses <= 0.2 * 2000


@pytest.mark.parametrize("count", [0, 5, -1, True, 1.0, None])
def test_refuses_bad_counts(count: object) -> None:
    with pytest.raises(ArgumentError, match="count"):
        TopK(1, 4, count=count)  # type: ignore[arg-type]


def test_refuses_bad_scores_and_leaves_the_grant() -> None:
    mechanism = TopK(1, 3, count=2)
    grant = Grant(mechanism.event(ONE), ONE)
    with pytest.raises(ArgumentError, match="3 scores"):
        mechanism.release([1, 2], grant)
    assert len(mechanism.release([1, 2, 3], grant)) == 2
