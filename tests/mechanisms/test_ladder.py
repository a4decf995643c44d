"""The ladder: its exact distribution, the ratio on neighbours, and the published claim about rungs."""

from __future__ import annotations

import math
from collections import Counter
from itertools import accumulate, pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sordino.accounting import events
from sordino.accounting.bound import Bound
from sordino.accounting.grant import Grant
from sordino.errors import ArgumentError
from sordino.mechanisms.checks.draws import CHANCE, fit
from sordino.mechanisms.ladder import Ladder, _reach, rungs
from sordino.mechanisms.local_sensitivity import LocalAnswer

MOST = 6
BOUND = Bound.scalar(MOST)


def law(answer: int, listed: list[int], epsilon: float, reach: int) -> dict[int, float]:
    """The distribution from its definition, with what lies beyond `reach` left out of the normaliser (negligible)."""
    widths = [*listed, *[MOST] * (reach // MOST + 1)]
    edges = list(accumulate(widths, initial=0))
    weights = {answer: 1.0}
    for rung, (inner, outer) in enumerate(pairwise(edges), start=1):
        for distance in range(inner + 1, outer + 1):
            weights[answer + distance] = weights[answer - distance] = math.exp(-epsilon * rung / 2)
    total = sum(weights.values())
    return {point: weight / total for point, weight in weights.items()}


@pytest.mark.parametrize("listed", [[1, 1, 2, 4], [], [3], [1, 6]])
def test_the_distribution_is_the_claimed_one_and_no_other(listed: list[int]) -> None:
    mechanism = Ladder(1, MOST)
    event = mechanism.event(BOUND)
    seen = Counter(mechanism.release(LocalAnswer(100, listed), Grant(event, BOUND)) for _ in range(4000))
    for level, accepted in ((1.0, True), (0.7, False), (1.3, False)):
        p = fit(seen, law(100, listed, level, 600))
        assert (p >= CHANCE) is accepted, f"n = 4000, k = {len(seen)}, p = {p:.3g}, level = {level}"


@given(data=st.data(), epsilon=st.sampled_from([0.2, 1.0, 3.0]))
@settings(max_examples=60, deadline=None)
def test_no_neighbour_is_told_apart_better_than_claimed(data: st.DataObject, epsilon: float) -> None:
    here = sorted(data.draw(st.lists(st.integers(1, MOST), min_size=3, max_size=5)))
    after = [*here[1:], MOST]
    there = sorted(data.draw(st.integers(low, high)) for low, high in zip([1, *here], [*after, MOST], strict=True))
    move = data.draw(st.integers(0, min(here[0], there[0])))
    reach = int(80 * MOST / epsilon)
    p, q = law(0, here, epsilon, reach), law(move, there, epsilon, reach)
    losses = [math.log(p[point] / q[point]) for point in range(-reach // 2, reach // 2)]
    assert max(losses) - min(losses) <= epsilon * (1 + 1e-9)


def test_rungs_are_at_least_one_wide_and_never_narrow_again() -> None:
    assert rungs(np.array([0, 3, 2, 5])).tolist() == [1, 3, 3, 5]


def test_every_epsilon_that_is_taken_can_be_drawn_with() -> None:
    for epsilon in ("1e-6", 2000):
        mechanism = Ladder(epsilon, MOST)  # type: ignore[arg-type]
        assert type(mechanism.release(LocalAnswer(5, [1]), Grant(mechanism.event(BOUND), BOUND))) is int
    with pytest.raises(ArgumentError, match="epsilon"):
        Ladder(2001, MOST)  # type: ignore[arg-type]


def test_long_lists_do_not_overflow() -> None:
    widths = np.full(2**23 + 1, 2**40)
    assert _reach(widths, 2**23 + 3) == (2**23 + 3) * 2**40


def test_event_and_error() -> None:
    assert Ladder("0.5", MOST).event(BOUND) == events.Ladder("0.5")
    assert Ladder(1, MOST).error(0.95) == math.ceil(2 * math.log(20)) * MOST + 1
