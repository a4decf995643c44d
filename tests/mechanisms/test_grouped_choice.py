"""Choices in many groups: the exact law of each, groups that add up to one ε, and what is refused."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import permutations, product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as some
from scipy.stats import chisquare

from sordino.accounting import pure, zcdp
from sordino.accounting.bound import Bound
from sordino.accounting.events import Exponential, PermuteAndFlip, Repeated
from sordino.accounting.grant import Grant
from sordino.accounting.neighbours import Neighbours
from sordino.errors import ArgumentError, GrantError
from sordino.mechanisms.flipped_quantile import FlippedQuantile
from sordino.mechanisms.grouped_choice import GroupedHistogram, GroupedQuantile, GroupedTop

ONE = Bound.scalar(1)
_SMALLEST_P = 1e-6
_DRAWS = 4000

Counts = Sequence[int]


def release(mechanism: Any, value: GroupedHistogram, bound: Bound = ONE) -> Any:
    return mechanism.release(value, Grant(mechanism.event(bound), bound))


def histogram(*groups: Counts) -> GroupedHistogram:
    """The histogram of groups that are lists of weights, bucket by bucket; empty buckets have no row."""
    rows = [(g, b, w) for g, counts in enumerate(groups) for b, w in enumerate(counts) if w]
    return GroupedHistogram(np.array(rows, dtype=np.int64).reshape(-1, 3), len(groups))


# ---- laws, from the definition -------------------------------------------------------------------------------------


def quantile_scores(counts: Counts, level: Fraction, offset: int = 0, guard: int = 0) -> dict[int, Fraction]:
    """How deep the rank aimed at lies within each bucket, or minus how far outside; guards reach to infinity."""
    every = sum(counts)
    target = level * every + offset
    before = [sum(counts[:bucket]) for bucket in range(len(counts) + 1)]
    scores = {b: min(target - before[b], before[b + 1] - target) for b in range(len(counts))}
    beyond = {-1: {-1: -target}, 0: {}, 1: {len(counts): target - every}}
    return scores | beyond[guard]


def exponential_law(scores: dict[int, Fraction], rate: float) -> dict[int, float]:
    """P[bucket] ∝ exp(rate·score); `rate` is for ranks."""
    best = max(scores.values())
    weights = {bucket: math.exp(rate * float(score - best)) for bucket, score in scores.items()}
    return {bucket: weight / math.fsum(weights.values()) for bucket, weight in weights.items()}


def flip_law(scores: dict[int, Fraction], rate: float) -> dict[int, float]:
    """P[bucket] = p·E[1/(1 + heads among the others)]: all coins at once, then one of the heads."""
    best = max(scores.values())
    coins = {bucket: math.exp(rate * float(score - best)) for bucket, score in scores.items()}
    law = {}
    for bucket, coin in coins.items():
        heads = np.array([1.0])
        for other in coins.keys() - {bucket}:
            heads = np.convolve(heads, [1 - coins[other], coins[other]])
        law[bucket] = coin * float(heads @ (1 / np.arange(1, len(heads) + 1)))
    return law


LAWS: dict[type[GroupedQuantile], Callable[[dict[int, Fraction], float], dict[int, float]]] = {
    GroupedQuantile: exponential_law,
    FlippedQuantile: flip_law,
}


def top_law(counts: Counts, count: int, rate: float) -> dict[tuple[int, ...], float]:
    law = {}
    for order in permutations(range(len(counts)), count):
        share, left = 1.0, list(range(len(counts)))
        for each in order:
            share *= math.exp(rate * counts[each]) / math.fsum(math.exp(rate * counts[other]) for other in left)
            left.remove(each)
        law[order] = share
    return law


def p_value(seen: Counter[Any], law: dict[Any, float]) -> float:
    assert set(seen) <= set(law)
    draws = seen.total()
    return float(chisquare([seen[each] for each in law], [share * draws for share in law.values()]).pvalue)


def judged(seen: Counter[Any], law_at: Any) -> None:
    """Accept the claimed rate, reject 0.7 and 1.3 times of it."""
    claimed = p_value(seen, law_at(1.0))
    assert claimed > _SMALLEST_P, f"n={seen.total()}, p={claimed}"
    for factor in (0.7, 1.3):
        wrong = p_value(seen, law_at(factor))
        assert wrong < _SMALLEST_P, f"{factor}: n={seen.total()}, p={wrong}"


QUANTILES = (
    ([3, 0, 3, 3, 0, 3], Fraction(1, 2), 0, 0, 1),
    ([3, 0, 2, 2, 0, 3], Fraction(1, 4), 0, 0, 1),
    ([1, 1, 1], Fraction(0), 0, 0, 1),
    ([1, 1, 1], Fraction(1), 0, 0, 4),
    ([2, 2, 2], Fraction(0), 1, 0, 1),
    ([1, 1, 1], Fraction(0), -1, -1, 1),
    ([1, 1, 1, 1, 1, 1], Fraction(1, 2), -2, 0, 4),
    ([1, 1, 1], Fraction(1, 2), 30, 0, 1),
    ([1, 0, 1], Fraction(1, 2), 2, 1, 1),
    ([1, 0, 1], Fraction(1, 4), -2, -1, 2),
)


@pytest.mark.parametrize("kind", LAWS)
@pytest.mark.parametrize(("counts", "level", "offset", "guard", "weight"), QUANTILES)
def test_the_law_of_a_quantile(
    kind: type[GroupedQuantile], counts: list[int], level: Fraction, offset: int, guard: int, weight: int
) -> None:
    """With ε = 1 a unit of weight w moves scores by w·max(q, 1−q), so the rate is ε over twice that, exactly.

    Scores of an extreme move in one direction only, so there it is ε over w.
    """
    epsilon = Fraction(1)
    mechanism = kind(level, epsilon, len(counts), offset * weight, guard)
    bound = Bound.scalar(weight)
    groups = 200
    value = histogram(*[[each * weight for each in counts]] * groups)
    drawn = [release(mechanism, value, bound) for _ in range(_DRAWS // groups)]
    seen = Counter(np.concatenate(drawn).tolist())
    one_sided = (level == 0 and offset <= 0) or (level == 1 and offset >= 0)
    rate = float(epsilon if one_sided else epsilon / (2 * max(level, 1 - level)))
    scores = quantile_scores(counts, level, offset, guard)
    judged(seen, lambda factor: LAWS[kind](scores, rate * factor))


@pytest.mark.parametrize("count", [1, 2])
@pytest.mark.parametrize("weight", [1, 3])
def test_the_law_of_the_most_frequent(count: int, weight: int) -> None:
    counts, epsilon = [2, 1, 0], Fraction(count)
    mechanism = GroupedTop(count, epsilon, 3)
    value = histogram(*[[each * weight for each in counts]] * 200)
    bound = Bound.scalar(weight)
    drawn = np.concatenate([release(mechanism, value, bound) for _ in range(_DRAWS // 100)])
    assert drawn.shape == (_DRAWS * 2, count)
    seen = Counter(map(tuple, drawn.tolist()))
    judged(seen, lambda factor: top_law(counts, count, factor))


@pytest.mark.parametrize("kind", LAWS)
def test_groups_are_drawn_by_themselves(kind: type[GroupedQuantile]) -> None:
    """Two different groups side by side: the joint law is the product."""
    one, other = [5, 0, 2], [0, 1, 0]
    mechanism = kind(Fraction(1, 2), Fraction(1), 3)
    drawn = Counter(tuple(release(mechanism, histogram(one, [], other)).tolist()) for _ in range(_DRAWS))
    laws = [LAWS[kind](quantile_scores(each, Fraction(1, 2)), 1.0) for each in (one, [0, 0, 0], other)]
    assert p_value(drawn, joint(laws)) > _SMALLEST_P


def test_flips_have_their_law_among_many_buckets_as_well() -> None:
    """More buckets than are looked at first: some draws end among those, others go on to the rest."""
    counts = [0] * 150 + [3, 1, 1, 3] + [0] * 300
    mechanism = FlippedQuantile(Fraction(1, 2), Fraction(2), len(counts))
    seen = Counter(release(mechanism, histogram(*[counts] * 3000)).tolist())
    law = flip_law(quantile_scores(counts, Fraction(1, 2)), 2.0)

    def part(bucket: int) -> int:
        """The buckets that hold rows, and the others in five heaps."""
        return bucket if 149 < bucket < 154 else bucket // 100 - 10

    merged: Counter[Any] = Counter()
    for bucket, share in law.items():
        merged[part(bucket)] += share  # type: ignore[assignment]
    drawn: Counter[Any] = Counter()
    for bucket, times in seen.items():
        drawn[part(bucket)] += times
    assert p_value(drawn, dict(merged)) > _SMALLEST_P


# ---- groups add up to one ε ----------------------------------------------------------------------------------------


def spread(before: dict[Any, float], after: dict[Any, float]) -> tuple[float, float]:
    """The largest log ratio, and the length of the interval in which all of them lie."""
    ratios = [math.log(before[each] / after[each]) for each in before]
    return max(map(abs, ratios)), max(ratios) - min(ratios)


def joint(laws: Sequence[dict[Any, float]]) -> dict[Any, float]:
    return {
        outcome: math.prod(law[each] for law, each in zip(laws, outcome, strict=True)) for outcome in product(*laws)
    }


weights = some.lists(some.integers(0, 4), min_size=4, max_size=4)


levels = some.sampled_from([Fraction(tenths, 10) for tenths in (0, 1, 2, 5, 8, 10)])


@given(weights, weights, weights, weights, levels, some.integers(-3, 3), some.integers(-1, 1))
@settings(deadline=None, max_examples=300)
def test_all_groups_of_a_quantile_cost_one_epsilon(
    one: list[int], other: list[int], here: list[int], there: list[int], level: Fraction, offset: int, guard: int
) -> None:
    """Exact enumeration of both groups with and without a unit that has weights in both."""
    if not sum(here) + sum(there):
        return
    bound = Bound.scalar(sum(here) + sum(there))
    rate = float(GroupedQuantile(level, Fraction(1), 4, offset, guard).rate(bound) * level.denominator)
    added = [[a + b for a, b in zip(*pair, strict=True)] for pair in ((one, here), (other, there))]
    for kind, law in LAWS.items():
        before, after = (
            joint([law(quantile_scores(side, level, offset, guard), rate) for side in sides])
            for sides in ((one, other), added)
        )
        largest, length = spread(before, after)
        assert largest <= 1 + 1e-9
        assert kind is FlippedQuantile or length <= 1 + 1e-9


@given(weights, weights, weights, weights, some.integers(1, 3))
@settings(deadline=None, max_examples=150)
def test_all_groups_of_the_most_frequent_cost_one_epsilon(
    one: list[int], other: list[int], here: list[int], there: list[int], count: int
) -> None:
    if not sum(here) + sum(there):
        return
    mechanism = GroupedTop(count, Fraction(1), 4)
    rate = float(mechanism.rate(Bound.scalar(sum(here) + sum(there))))
    added = [[a + b for a, b in zip(*pair, strict=True)] for pair in ((one, here), (other, there))]
    before, after = ([top_law(side, count, rate) for side in sides] for sides in ((one, other), added))
    assert spread(joint(before), joint(after))[0] <= 1 + 1e-9
    if count == 1:
        assert spread(joint(before), joint(after))[1] <= 1 + 1e-9


def test_the_claim_is_nearly_reached() -> None:
    """The enumeration can fail: a unit that moves half of the scores up and half down uses most of its ε."""
    mechanism = GroupedTop(1, Fraction(1), 4)
    rate = float(mechanism.rate(Bound.scalar(4)))
    before, after = (joint([top_law(side, 1, rate)] * 2) for side in ([0, 0, 0, 0], [2, 0, 0, 0]))
    assert spread(before, after)[1] == pytest.approx(1)
    middle = GroupedQuantile(Fraction(1, 2), Fraction(1), 2)
    rate = float(middle.rate(ONE) * 2)
    laws = [exponential_law(quantile_scores(side, Fraction(1, 2)), rate) for side in ([10, 10], [11, 10])]
    assert spread(*laws)[1] >= 0.49
    least = GroupedQuantile(Fraction(0), Fraction(1), 2)
    for law in LAWS.values():
        laws = [law(quantile_scores(side, Fraction(0)), float(least.rate(ONE))) for side in ([0, 9], [1, 9])]
        assert spread(*laws)[0] >= 0.3


# ---- events --------------------------------------------------------------------------------------------------------


def test_events_and_prices() -> None:
    quantile, top = GroupedQuantile("0.5", "0.3", 10), GroupedTop(3, "0.3", 10)  # type: ignore[arg-type]
    assert quantile.event(ONE) == Exponential(Fraction(3, 10))
    assert top.event(ONE) == Repeated(Exponential(Fraction(1, 10)), 3)
    for mechanism in (quantile, top):
        assert pure.total(mechanism.event(Bound.scalar(7))) == Fraction(3, 10)
    assert zcdp.rho(quantile.event(ONE)) == Fraction(3, 10) ** 2 / 8
    flipped = FlippedQuantile("0.5", "0.3", 10)  # type: ignore[arg-type]
    assert flipped.event(ONE) == PermuteAndFlip(Fraction(3, 10))
    assert pure.total(flipped.event(ONE)) == Fraction(3, 10)
    assert zcdp.rho(flipped.event(ONE)) > zcdp.rho(quantile.event(ONE))


def test_other_relations_cost_more_or_are_refused() -> None:
    replaced = Bound.scalar(1, neighbours=Neighbours.REPLACE_ONE)
    quantile = GroupedQuantile(Fraction(1, 4), Fraction(1), 10)
    assert quantile.rate(ONE) == Fraction(1, 2 * 3)
    assert quantile.rate(replaced) == Fraction(1, 2 * 4)
    least = GroupedQuantile(Fraction(0), Fraction(1), 10)
    assert (least.rate(ONE), least.rate(replaced)) == (1, Fraction(1, 2))
    with pytest.raises(ArgumentError, match="add/remove"):
        GroupedTop(1, Fraction(1), 10).event(replaced)


def test_a_unit_that_weighs_too_much_is_refused_before_data_is_seen() -> None:
    heavy = Bound.scalar(2**60)
    quantiles = [kind(Fraction(1, 2), Fraction(1), 10) for kind in LAWS]
    for mechanism in (*quantiles, GroupedTop(1, Fraction(1), 10)):
        with pytest.raises(ArgumentError, match="weighs too much"):
            mechanism.event(heavy)


def test_a_grant_is_used_once_and_for_its_event() -> None:
    value, mechanism = histogram([1, 2]), GroupedTop(1, Fraction(1), 2)
    grant = Grant(mechanism.event(ONE), ONE)
    mechanism.release(value, grant)
    with pytest.raises(GrantError):
        mechanism.release(value, grant)
    with pytest.raises(GrantError):
        mechanism.release(value, Grant(Exponential(2), ONE))


# ---- shapes and extremes -------------------------------------------------------------------------------------------


def test_empty_groups_are_uniform_and_no_groups_are_nothing() -> None:
    mechanism = GroupedQuantile(Fraction(1, 2), Fraction(5), 4)
    seen = Counter(release(mechanism, GroupedHistogram(np.zeros((0, 3), dtype=int), 4000)).tolist())
    assert p_value(seen, dict.fromkeys(range(4), 0.25)) > _SMALLEST_P
    assert release(mechanism, GroupedHistogram(np.zeros((0, 3), dtype=int), 0)).shape == (0,)
    top = GroupedTop(2, Fraction(5), 4)
    assert release(top, GroupedHistogram(np.zeros((0, 3), dtype=int), 0)).shape == (0, 2)
    drawn = release(top, GroupedHistogram(np.zeros((0, 3), dtype=int), 50))
    assert drawn.shape == (50, 2)
    assert all(one != other for one, other in drawn.tolist())


def test_the_order_of_rows_does_not_matter() -> None:
    rows = np.array([(1, 2, 500), (0, 0, 900), (1, 0, 1), (0, 3, 1)])
    for order in permutations(range(4)):
        value = GroupedHistogram(rows[list(order)], 2)
        assert release(GroupedQuantile(Fraction(1, 2), Fraction(100), 4), value).tolist() == [0, 2]
        assert release(GroupedTop(1, Fraction(100), 4), value).tolist() == [[0], [2]]


def test_extremes_find_the_ends() -> None:
    value = histogram([0, 50, 0, 50, 0])
    for level, wanted in ((0, {0, 1}), (1, {3, 4}), (Fraction(1, 2), {1, 2, 3})):
        mechanism = GroupedQuantile(Fraction(level), Fraction(1000), 5)
        assert {int(release(mechanism, value)[0]) for _ in range(60)} == wanted


def test_offsets_move_the_aim() -> None:
    value = histogram([100] * 10)
    for offset, wanted in ((-350, 1), (-50, 4), (50, 5), (450, 9), (10**6, 9), (-(10**6), 0)):
        mechanism = GroupedQuantile(Fraction(1, 2), Fraction(100), 10, offset)
        found = int(release(mechanism, value)[0])
        assert abs(found - wanted) <= 1


def test_rows_of_one_bucket_count_together() -> None:
    """A unit that adds a second row to a bucket adds its weight, as if there had been one row all along."""
    apart = GroupedHistogram(np.array([(0, 1, 300), (0, 1, 1), (0, 2, 100)]), 1)
    assert release(GroupedTop(1, Fraction(10), 3), apart).tolist() == [[1]]
    quantile = GroupedQuantile(Fraction(1, 2), Fraction(1), 3)
    rows = np.array([(0, 0, 1)] * 6)
    seen = Counter(int(release(quantile, GroupedHistogram(rows, 1))[0]) for _ in range(_DRAWS))
    law = exponential_law(quantile_scores([6, 0, 0], Fraction(1, 2)), 1.0)
    assert p_value(seen, law) > _SMALLEST_P


def test_errors_hold_as_often_as_they_say() -> None:
    counts = [10] * 100
    for kind in LAWS:
        mechanism = kind(Fraction(1, 2), Fraction(1), 100)
        drawn = release(mechanism, histogram(*[counts] * 500))
        ranks = np.maximum(0, np.maximum(drawn * 10 - 500, 500 - (drawn + 1) * 10))
        assert (ranks <= mechanism.error(0.9)).mean() >= 0.9
        assert mechanism.rank_error(Bound.scalar(3), 0.9) == pytest.approx(3 * mechanism.error(0.9))
    top = GroupedTop(2, Fraction(2), 20)
    weights_of = np.arange(20)
    chosen = release(top, histogram(*[list(weights_of)] * 500))
    below = 19 - weights_of[chosen[:, 0]]
    assert (below <= top.error(0.9)).mean() >= 0.9


BAD_VALUES = (
    [[0, 0, 1]],
    GroupedHistogram([[0, 0, 1.5]], 1),
    GroupedHistogram([[0, 0]], 1),
    GroupedHistogram([0, 0, 1], 1),
    GroupedHistogram([[0, 0, -1]], 1),
    GroupedHistogram([[0, 4, 1]], 1),
    GroupedHistogram([[1, 0, 1]], 1),
    GroupedHistogram([[-1, 0, 1]], 1),
    GroupedHistogram([[0, 0, 2**53]], 1),
    GroupedHistogram([[0, 0, 2**52], [0, 1, 1]], 1),
    GroupedHistogram([[0, 0, 1]], -1),
    GroupedHistogram([[0, 0, 1]], True),
    GroupedHistogram([["0", "0", "secret"]], 1),
    GroupedHistogram(np.full((2**12, 3), [0, 0, 2**52]), 1),
)


@pytest.mark.parametrize("value", BAD_VALUES, ids=range(len(BAD_VALUES)))
@pytest.mark.parametrize("mechanism", [GroupedQuantile(Fraction(1, 2), Fraction(1), 4), GroupedTop(1, Fraction(1), 4)])
def test_bad_values_are_refused_without_showing_them(mechanism: Any, value: Any) -> None:
    grant = Grant(mechanism.event(ONE), ONE)
    with pytest.raises(ArgumentError) as refusal:
        mechanism.release(value, grant)
    assert "secret" not in str(refusal.value)
    mechanism.release(histogram([1]), grant)


@pytest.mark.parametrize(
    ("kind", "arguments"),
    [
        (GroupedQuantile, ("1.1", 1, 10)),
        (GroupedQuantile, ("-0.1", 1, 10)),
        (GroupedQuantile, ("0.0001", 1, 10)),
        (GroupedQuantile, ("0.5", 0, 10)),
        (GroupedQuantile, ("0.5", "1e-10", 10)),
        (GroupedQuantile, ("0.5", "1e5", 10)),
        (GroupedQuantile, ("0.5", 1, 0)),
        (GroupedQuantile, ("0.5", 1, 10, 0.5)),
        (GroupedQuantile, ("0.5", 1, 10, 2**53)),
        (FlippedQuantile, ("0.5", 1, 2**16 + 1)),
        (FlippedQuantile, ("0.5", 0, 10)),
        (GroupedTop, (0, 1, 10)),
        (GroupedTop, (11, 1, 10)),
        (GroupedTop, (1, float("nan"), 10)),
        (GroupedTop, (1, 1, 0)),
    ],
)
def test_bad_parameters_are_refused(kind: Any, arguments: tuple[Any, ...]) -> None:
    with pytest.raises(ArgumentError):
        kind(*arguments)
