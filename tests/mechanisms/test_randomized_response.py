"""Randomized response: the truth or one of the others, never "a random value"; and what can be estimated from it."""

from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from laws import references as reference
from sordino.accounting import events, pure
from sordino.accounting.bound import Bound
from sordino.accounting.grant import Grant
from sordino.accounting.neighbours import Neighbours
from sordino.errors import ArgumentError
from sordino.mechanisms.checks.draws import CHANCE, fit
from sordino.mechanisms.randomized_response import RandomizedResponse

ANSWER = Bound.scalar(1, neighbours=Neighbours.REPLACE_ONE)


def release(mechanism: RandomizedResponse, value: object) -> Any:
    return mechanism.release(value, Grant(mechanism.event(ANSWER), ANSWER))


class TestClaim:
    @given(st.fractions("1/50", 10), st.integers(2, 12))
    @settings(max_examples=40, deadline=None)
    def test_is_exact(self, epsilon: Fraction, categories: int) -> None:
        mechanism = RandomizedResponse(epsilon, categories)
        laws = [reference.randomized_response(v, float(epsilon), categories) for v in range(categories)]
        worst = max(math.log(p[o] / q[o]) for p in laws for q in laws for o in p)
        assert worst == pytest.approx(float(pure.total(mechanism.event(ANSWER))))
        assert mechanism.truth == pytest.approx(laws[0][0])
        assert mechanism.lie == pytest.approx(laws[0][1])

    def test_a_random_value_instead_of_another_would_leak_more(self) -> None:
        truth = math.e / (math.e + 1)
        yes = truth + (1 - truth) / 2
        assert math.log(yes / (1 - yes)) == pytest.approx(math.log(1 + 2 * math.e))
        assert math.log(yes / (1 - yes)) > 1.86

    def test_a_unit_with_three_reports_pays_three_times(self) -> None:
        bound = Bound.vector(l0=3, linf=1, neighbours=Neighbours.REPLACE_ONE)
        event = RandomizedResponse(Fraction(1, 2), 4).event(bound)
        assert event == events.Repeated(events.RandomizedResponse(Fraction(1, 2), 4), 3)
        assert pure.total(event) == Fraction(3, 2)

    def test_who_answered_is_not_hidden(self) -> None:
        with pytest.raises(ArgumentError, match="REPLACE_ONE"):
            RandomizedResponse(1).event(Bound.scalar(1))
        zeroed = Bound.scalar(1, neighbours=Neighbours.ZERO_OUT)
        assert RandomizedResponse(1).event(zeroed) == events.RandomizedResponse(Fraction(1), 2)


class TestLaw:
    @pytest.mark.parametrize(("answer", "categories"), [(1, 2), (3, 4), (0, 4)])
    def test_accepts_the_claimed_epsilon_and_no_other(self, answer: int, categories: int) -> None:
        mechanism = RandomizedResponse("1.5", categories)  # type: ignore[arg-type]
        seen = Counter(release(mechanism, np.full(20000, answer)).tolist())
        for factor, right in ((1.0, True), (0.7, False), (1.3, False)):
            p = fit(seen, reference.randomized_response(answer, 1.5 * factor, categories))
            assert (p > CHANCE) == right, f"n = 20000, k = {len(seen)}, factor = {factor}, p = {p}"

    def test_shapes(self) -> None:
        mechanism = RandomizedResponse(1, 3)
        assert type(release(mechanism, 2)) is int
        assert release(mechanism, np.zeros((2, 3), dtype=np.uint8)).shape == (2, 3)
        assert release(mechanism, np.array([], dtype=np.int64)).shape == (0,)

    def test_large_epsilon_tells_the_truth(self) -> None:
        answers = np.arange(1000) % 7
        np.testing.assert_array_equal(release(RandomizedResponse(200, 7), answers), answers)


class TestEstimate:
    def test_is_unbiased_and_its_intervals_cover(self) -> None:
        mechanism = RandomizedResponse(1, 4)
        answers = np.repeat([0, 1, 2, 3], [1000, 600, 300, 100])
        truth = np.array([0.5, 0.3, 0.15, 0.05])
        covered, total = 0, np.zeros(4)
        for _ in range(200):
            estimate = mechanism.estimate(release(mechanism, answers))
            low, high = estimate.intervals(0.95).T
            covered += int(np.sum((low <= truth) & (truth <= high)))
            total += estimate.shares
        # 800 intervals at 95 %: fewer than 700 would happen by chance with p < 1e-10; the mean of 200 has error / √200
        assert covered >= 700
        deviations = (total / 200 - truth) / (estimate.standard_errors / math.sqrt(200))
        assert np.max(np.abs(deviations)) < 5.5
        assert estimate.reports == 2000
        assert float(estimate.shares.sum()) == pytest.approx(1)

    def test_error_holds_for_any_data(self) -> None:
        mechanism = RandomizedResponse(1)
        bound = mechanism.error(0.9, reports=500)
        off = [abs(mechanism.estimate(release(mechanism, np.ones(500, dtype=int))).shares[1] - 1) for _ in range(500)]
        assert np.mean(np.array(off) > bound) <= 0.1
        assert mechanism.error(0.9, reports=2000) == pytest.approx(bound / 2)

    def test_needs_reports(self) -> None:
        with pytest.raises(ArgumentError, match="at least one report"):
            RandomizedResponse(1).estimate(np.array([], dtype=int))
        with pytest.raises(ArgumentError, match="one of 0 … 1"):
            RandomizedResponse(1).estimate([0, 2])


@pytest.mark.parametrize("epsilon", [0, -1, math.nan, math.inf, True, None])
def test_refuses_bad_epsilons(epsilon: object) -> None:
    with pytest.raises(ArgumentError, match="epsilon"):
        RandomizedResponse(epsilon)  # type: ignore[arg-type]


@pytest.mark.parametrize("categories", [1, 0, True, 2.0, None, 2**40])
def test_refuses_bad_categories(categories: object) -> None:
    with pytest.raises(ArgumentError, match="categories"):
        RandomizedResponse(1, categories)  # type: ignore[arg-type]


@pytest.mark.parametrize("value", [0.5, True, [True, False], "yes", None, [0, None]])
def test_refuses_bad_answers_and_leaves_the_grant(value: object) -> None:
    mechanism = RandomizedResponse(1, 3)
    grant = Grant(mechanism.event(ANSWER), ANSWER)
    with pytest.raises(ArgumentError):
        mechanism.release(value, grant)
    assert mechanism.release(2, grant) in {0, 1, 2}


@pytest.mark.parametrize(("value", "counted"), [(3, 2), (-1, 0), ([0, 7], [0, 2]), (2**64, 2), (-(2**70), 0)])
def test_answers_out_of_range_count_as_the_nearest(value: object, counted: object) -> None:
    """At an ε at which nobody lies."""
    mechanism = RandomizedResponse(200, 3)
    assert np.array_equal(mechanism.release(value, Grant(mechanism.event(ANSWER), ANSWER)), counted)
