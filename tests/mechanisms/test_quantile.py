"""Quantiles: the exact distribution over the grid, the ratio on neighbours, accuracy, and refusals."""

from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sordino.accounting import events
from sordino.accounting.bound import Bound
from sordino.accounting.grant import Grant
from sordino.accounting.neighbours import Neighbours
from sordino.errors import ArgumentError, GrantError
from sordino.mechanisms.checks.draws import CHANCE, fit
from sordino.mechanisms.grid import INTEGERS, Grid
from sordino.mechanisms.mechanism import Mechanism
from sordino.mechanisms.quantile import Quantiles, stretches

ONE = Bound.scalar(1)
SPAN = (0, 12)
values = st.lists(st.integers(*SPAN), max_size=8)
quantiles = st.sampled_from([Fraction(1, 2), Fraction(1, 4), Fraction(9, 10), Fraction(1, 100)])


def score(point: int, data: list[int], quantile: Fraction) -> Fraction:
    rank = quantile * len(data)
    below, upto = sum(v < point for v in data), sum(v <= point for v in data)
    return -max(Fraction(0), below - rank, rank - upto)


def logs(data: list[int], mechanism: Quantiles, bound: Bound) -> list[float]:
    """The logarithm of each grid point's probability, from the definition."""
    (quantile,) = mechanism.quantiles
    rate = float(mechanism.rate(quantile, bound)) * quantile.denominator
    weights = [rate * float(score(point, data, quantile)) for point in range(SPAN[0], SPAN[1] + 1)]
    total = math.log(sum(map(math.exp, weights)))
    return [weight - total for weight in weights]


@given(data=values, quantile=quantiles)
def test_stretches_have_the_score_of_each_of_their_points(data: list[int], quantile: Fraction) -> None:
    starts, counts, scores = stretches(np.sort(np.array(data, dtype=np.int64)), SPAN, quantile)
    expanded = [s for s, count in zip(scores.tolist(), counts.tolist(), strict=True) for _ in range(count)]
    assert expanded == [quantile.denominator * score(point, data, quantile) for point in range(SPAN[0], SPAN[1] + 1)]
    assert starts[0] == SPAN[0]
    assert np.all(np.diff(starts) == counts[:-1])


@given(data=values, new=st.integers(*SPAN), quantile=quantiles, epsilon=st.sampled_from([Fraction(1, 3), Fraction(4)]))
@settings(max_examples=80, deadline=None)
def test_no_neighbour_is_told_apart_better_than_claimed(
    data: list[int], new: int, quantile: Fraction, epsilon: Fraction
) -> None:
    mechanism = Quantiles((quantile,), epsilon, *SPAN, INTEGERS)
    cases = [(Neighbours.ADD_REMOVE, [*data, new]), (Neighbours.ZERO_OUT, [*data, new])]
    if data:
        cases += [(Neighbours.REPLACE_ONE, [*data[1:], new]), (Neighbours.ZERO_OUT, [*data[1:], new])]
    for relation, other in cases:
        bound = Bound.scalar(1, neighbours=relation)
        losses = [a - b for a, b in zip(logs(data, mechanism, bound), logs(other, mechanism, bound), strict=True)]
        assert max(losses) - min(losses) <= float(epsilon) * (1 + 1e-9)  # bounded range


def test_a_unit_with_several_values_is_protected_too() -> None:
    mechanism = Quantiles(("0.5",), 1, *SPAN, INTEGERS)
    three = Bound.scalar(3)
    losses = [
        a - b for a, b in zip(logs([5] * 4, mechanism, three), logs([5] * 4 + [0] * 3, mechanism, three), strict=True)
    ]
    assert max(losses) - min(losses) <= 1
    assert mechanism.rate(Fraction(1, 2), three) == mechanism.rate(Fraction(1, 2), ONE) / 3


def test_the_claim_is_attained() -> None:
    mechanism = Quantiles(("0.25",), 1, *SPAN, INTEGERS)
    here, there = logs([6] * 8, mechanism, ONE), logs([6] * 8 + [2], mechanism, ONE)
    losses = [a - b for a, b in zip(here, there, strict=True)]
    assert max(losses) - min(losses) == pytest.approx(1)


def test_the_distribution_is_the_claimed_one_and_no_other() -> None:
    data = [2, 3, 3, 3, 7, 9, 11]
    mechanism = Quantiles(("0.5",), 2, *SPAN, INTEGERS)
    event = mechanism.event(ONE)
    seen = Counter(int(mechanism.release(np.array(data), Grant(event, ONE))[0]) for _ in range(4000))
    for level, accepted in ((1.0, True), (0.7, False), (1.3, False)):
        other = Quantiles(("0.5",), Fraction(2 * level).limit_denominator(10), *SPAN, INTEGERS)
        p = fit(seen, {i: math.exp(log) for i, log in enumerate(logs(data, other, ONE))})
        assert (p >= CHANCE) is accepted, f"n = 4000, k = {len(seen)}, p = {p:.3g}, level = {level}"


def test_events() -> None:
    assert isinstance(Quantiles(("0.5",), 1, 0, 1), Mechanism)
    assert Quantiles(("0.5",), "0.1", 0, 1).event(ONE) == events.Exponential(Fraction(1, 10))
    assert Quantiles("0.5", "0.1", 0, 1).quantiles == (Fraction(1, 2),)  # type: ignore[arg-type]
    three = Quantiles(("0.75", "0.25", "0.5"), "0.1", 0, 1).event(ONE)
    assert three == events.Repeated(events.Exponential(Fraction(1, 10)), 3)


@pytest.mark.parametrize("grid", [None, Grid(-40)])
def test_quantiles_of_many_values_are_close_in_rank_and_ascend(grid: Any) -> None:
    data = np.random.default_rng(5).exponential(10, 20_000)
    mechanism = Quantiles(("0.1", "0.5", "0.9"), 1, 0, 1000, grid)
    answer = mechanism.release(data, Grant(mechanism.event(ONE), ONE))
    assert answer.shape == (3,)
    assert np.all(np.diff(answer) >= 0)
    off = mechanism.error(1 - 1e-9)
    for quantile, value in zip((0.1, 0.5, 0.9), answer, strict=True):
        assert np.sum(data < value) - quantile * len(data) <= off + 1
        assert quantile * len(data) - np.sum(data <= value) <= off + 1


def test_ties_and_empty_data() -> None:
    mechanism = Quantiles(("0.25", "0.5", "0.75"), 5, 0, 100)
    same = mechanism.release(np.full(1000, 37.0), Grant(mechanism.event(ONE), ONE))
    assert same.tolist() == [37.0, 37.0, 37.0]
    none = mechanism.release(np.zeros(0), Grant(mechanism.event(ONE), ONE))
    assert none.shape == (3,)
    assert np.all((none >= 0) & (none <= 100))


def test_data_outside_of_the_range_or_missing_stays_inside() -> None:
    mechanism = Quantiles(("0.5",), 1, 0, 10)
    answer = mechanism.release(np.array([np.nan, np.inf, -np.inf, 1e300]), Grant(mechanism.event(ONE), ONE))
    assert 0 <= answer[0] <= 10


@pytest.mark.parametrize(
    "value", [1.0, [[1], [1, 2]], np.zeros((2, 2)), ["a"], [None], np.array([1234567.25], dtype=object)]
)
def test_bad_values_leave_the_grant_usable_and_show_nothing(value: Any) -> None:
    mechanism = Quantiles(("0.5",), 1, 0, 10)
    permission = Grant(mechanism.event(ONE), ONE)
    with pytest.raises(ArgumentError) as caught:
        mechanism.release(value, permission)
    assert "1234567" not in str(caught.value)
    mechanism.release(np.ones(3), permission)
    with pytest.raises(GrantError, match="SRD-G001"):
        mechanism.release(np.ones(3), permission)
    with pytest.raises(GrantError, match="SRD-G002"):
        Quantiles(("0.5",), 2, 0, 10).release(np.ones(3), Grant(mechanism.event(ONE), ONE))


@pytest.mark.parametrize(
    ("wanted", "epsilon", "low", "high"),
    [
        ((), 1, 0, 1),
        ((0,), 1, 0, 1),
        ((1,), 1, 0, 1),
        (("0.1234567",), 1, 0, 1),
        (("0.5",), 0, 0, 1),
        (("0.5",), 1, 1, 1),
    ],
)
def test_absurd_parameters_are_refused(wanted: Any, epsilon: Any, low: Any, high: Any) -> None:
    with pytest.raises(ArgumentError):
        Quantiles(wanted, epsilon, low, high)


def test_a_bound_must_count_values() -> None:
    with pytest.raises(ArgumentError, match="how many values"):
        Quantiles(("0.5",), 1, 0, 1).event(Bound.scalar("0.5"))
    with pytest.raises(ArgumentError, match="too many values"):
        Quantiles(("0.5",), "1e-6", 0, 1).event(Bound.scalar(2**36))


def test_a_unit_with_a_value_in_each_of_three_bins_has_three_values() -> None:
    median = Quantiles(("0.5",), 1, 0, 1)
    assert median.rate(Fraction(1, 2), Bound.vector(l0=3, linf=1)) == median.rate(Fraction(1, 2), Bound.scalar(3))


def test_the_error_is_the_exponential_mechanisms() -> None:
    error = Quantiles(("0.9",), 1, 0, 1023, INTEGERS).error(0.95)
    assert error == pytest.approx(0.9 * 2 * math.log(1024 / 0.05))
