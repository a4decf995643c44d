"""Extremes: their law and what they cost, by enumeration from the definition; and that they are not beyond the data."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from mechanisms.test_grouped_choice import exponential_law, histogram, joint, judged, release, spread
from sordino.accounting.bound import Bound
from sordino.accounting.events import Exponential
from sordino.accounting.neighbours import Neighbours
from sordino.errors import ArgumentError
from sordino.mechanisms.grouped_extreme import GroupedExtreme

ONE = Bound.scalar(1)


def extreme_scores(counts: Sequence[int], level: int, depth: int) -> dict[int, Fraction]:
    """From the definition, in ranks: what lies in a bucket or outwards of it, and what lies outwards of it alone."""
    outwards = counts if level else counts[::-1]
    every = sum(counts)
    aim = min(Fraction(depth), Fraction(every, 20))
    scores = {}
    for place in range(len(counts)):
        beyond = sum(outwards[place + 1 :])
        with_it = beyond + outwards[place]
        scores[place if level else len(counts) - 1 - place] = min(4 * (with_it - aim), aim - beyond)
    return scores


def extreme(level: int, depth: int, buckets: int, epsilon: Fraction = Fraction(1)) -> GroupedExtreme:
    return GroupedExtreme(Fraction(level), epsilon, buckets, -depth if level else depth)


weights = some.lists(some.integers(0, 40), min_size=4, max_size=4)
moved = some.lists(some.integers(0, 4), min_size=4, max_size=4)
relations = some.sampled_from(Neighbours)


@given(weights, weights, moved, moved, moved, some.sampled_from([0, 1]), some.integers(0, 6), relations)
@settings(deadline=None, max_examples=300)
def test_all_groups_of_an_extreme_cost_one_epsilon(
    one: list[int],
    other: list[int],
    here: list[int],
    there: list[int],
    instead: list[int],
    level: int,
    depth: int,
    relation: Neighbours,
) -> None:
    """Exact enumeration of both groups with and without a unit that has weights in both, or others instead."""
    weight = max(sum(here) + sum(there), sum(instead))
    if not weight:
        return
    gone = instead if relation is not Neighbours.ADD_REMOVE else [0] * 4
    mechanism = extreme(level, depth, 4)
    fall = float(mechanism.fall(Bound.scalar(weight, neighbours=relation)))
    pairs = [([a + b for a, b in zip(one, gone, strict=True)], other)]
    pairs.append(tuple([a + b for a, b in zip(*pair, strict=True)] for pair in ((one, here), (other, there))))  # type: ignore[arg-type]
    before, after = (
        joint([exponential_law(extreme_scores(side, level, depth), fall) for side in sides]) for sides in pairs
    )
    largest, length = spread(before, after)
    assert largest <= 1 + 1e-9
    assert length <= 1 + 1e-9


def test_the_claim_is_nearly_reached() -> None:
    """The enumeration can fail: one person beyond all others moves what is beyond up, and what is inside down."""
    fall = float(extreme(1, 4, 3).fall(ONE))
    laws = [exponential_law(extreme_scores(side, 1, 4), fall) for side in ([100, 100, 0], [100, 100, 1])]
    assert spread(*laws)[1] >= 0.99


@pytest.mark.parametrize(
    ("counts", "depth"),
    [
        pytest.param([2, 2, 2], 1, marks=pytest.mark.slow),
        pytest.param([30, 0, 6, 4, 0, 0], 1, marks=pytest.mark.slow),
        ([9, 9, 20, 0, 3], 2),
    ],
)
@pytest.mark.parametrize("level", [0, 1])
def test_the_law_of_an_extreme(counts: list[int], depth: int, level: int) -> None:
    mechanism, bound = extreme(level, depth, len(counts), Fraction(2)), Bound.scalar(2)
    value = histogram(*[counts] * 200)
    seen = Counter(np.concatenate([release(mechanism, value, bound) for _ in range(100)]).tolist())
    scores = extreme_scores(counts, level, depth)
    judged(seen, lambda factor: exponential_law(scores, factor / 5))
    places, chances = mechanism.chances(histogram(counts).rows, bound)
    law = exponential_law(scores, 1 / 5)
    assert places.tolist() == sorted(law)
    assert chances.tolist() == pytest.approx([law[place] for place in sorted(law)], rel=1e-12)


@pytest.mark.parametrize("epsilon", ["0.1", "1", "20", "1000"])
@pytest.mark.parametrize("level", [0, 1])
def test_it_hardly_ever_lies_beyond(level: int, epsilon: str) -> None:
    """All rows in one bucket at the far end, so that nearly all others lie beyond: exactly as likely as planned."""
    mechanism = GroupedExtreme.of(level, Fraction(epsilon), 2**20, Bound.scalar(3))
    place = 5 if level else 2**20 - 6
    rows = np.array([[0, place, 20 * abs(mechanism.offset)]])
    places, chances = mechanism.chances(rows, Bound.scalar(3))
    assert math.fsum(chances[places > place] if level else chances[places < place]) <= 1e-3


def test_its_event_is_of_bounded_range_and_other_words_are_refused() -> None:
    assert extreme(1, 3, 9).event(ONE) == Exponential(Fraction(1))
    for level, offset, guard in (
        (Fraction(1, 2), 0, 0),
        (Fraction(1), 1, 0),
        (Fraction(0), -1, 0),
        (Fraction(0), 1, 1),
    ):
        with pytest.raises(ArgumentError, match="SRD-A002"):
            GroupedExtreme(level, Fraction(1), 9, offset, guard)
