"""Laws that are known are measured exactly: final verdicts, by fractions and by floats."""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import pytest

from laws import references
from sordino.audit import measure
from sordino.audit.claim import Claim
from sordino.audit.exact import exact_epsilon, measure_exactly
from sordino.audit.subject import Subject
from sordino.audit.verdict import Verdict
from sordino.errors import ArgumentError


def response(epsilon: float) -> Any:
    return lambda value: references.randomized_response(value, epsilon, 2)


def three_to_one(value: int) -> Mapping[int, Fraction]:
    return {value: Fraction(3, 4), 1 - value: Fraction(1, 4)}


def test_randomized_response_holds_at_its_epsilon_and_at_no_less() -> None:
    holds = measure_exactly(response(1), [(1, 0)], 1)
    assert (holds.verdict, holds.exact) == (Verdict.HOLDS, True)
    assert holds.epsilon == pytest.approx(1)
    assert str(holds).startswith("holds: ε = 1 where 1 was claimed; the event {output is ")
    refuted = measure_exactly(response(1), [(1, 0)], "0.999999")
    assert refuted.verdict is Verdict.REFUTED
    assert refuted.draws == 0


def test_fractions_are_judged_exactly() -> None:
    nearest = math.log(3)  # a float, below ln 3 or above it
    below, above = math.nextafter(nearest, 0), math.nextafter(nearest, 2)
    assert measure_exactly(three_to_one, [(1, 0)], Fraction(below)).refuted
    assert not measure_exactly(three_to_one, [(1, 0)], Fraction(above)).refuted


@pytest.mark.parametrize("delta", [Fraction(1, 3), Fraction(1, 7), "0.3", "0.7"])
def test_a_delta_that_no_float_is_is_met_exactly(delta: Any) -> None:
    share = Fraction(delta)

    def fails(value: int) -> Mapping[Any, Fraction]:
        return {("shown", value): share, "nothing": 1 - share}

    holds = measure_exactly(fails, [(0, 1)], (0, delta))
    assert (holds.verdict, holds.epsilon) == (Verdict.HOLDS, 0.0)
    assert measure_exactly(fails, [(0, 1)], (0, share - Fraction(1, 10**40))).refuted


def test_a_claim_is_taken_to_its_last_digit() -> None:
    three = "1.0986122886681096913952452369225257046474905578227"  # ln 3, cut off, and one more in the last place
    assert measure_exactly(three_to_one, [(1, 0)], three[:-1]).refuted
    assert measure_exactly(three_to_one, [(1, 0)], three[:-1] + "8").verdict is Verdict.HOLDS


def test_rounding_of_floats_is_no_loss() -> None:
    found = measure_exactly(lambda v: {(0, v): 0.1, (1, v): 0.2, "nothing": 0.7}, [(0, 1)], (0, "0.3"))
    assert (found.verdict, found.epsilon) == (Verdict.HOLDS, 0.0)


def test_chances_that_no_float_holds_are_measured() -> None:
    def rare(value: int) -> Mapping[int, Fraction]:
        share = Fraction(1, 10 ** (400 + value))
        return {0: share, 1: 1 - share}

    assert measure_exactly(rare, [(0, 1)], 3).epsilon == pytest.approx(math.log(10))
    assert measure_exactly(rare, [(0, 1)], 2).refuted
    assert measure_exactly(lambda v: {0: Fraction(1, 2), 1 + v: Fraction(1, 2)}, [(0, 1)], 10**30).refuted


def test_a_random_answer_instead_of_the_other() -> None:
    truth = math.e / (1 + math.e)
    found = measure_exactly(lambda v: {v: (1 + truth) / 2, 1 - v: (1 - truth) / 2}, [(1, 0)], 1)
    assert found.refuted
    assert found.epsilon == pytest.approx(math.log(1 + 2 * math.e))


def test_what_is_impossible_on_one_side_costs_everything() -> None:
    found = measure_exactly(lambda v: {0: Fraction(1, 2), 1 + v: Fraction(1, 2)}, [(1, 0)], 100)
    assert found.refuted
    assert found.epsilon == math.inf
    assert found.witness is not None
    assert found.witness.epsilon == math.inf
    assert found.to_json()["epsilon"] == "∞"


def test_delta_pays_for_what_is_rare() -> None:
    law = {"a": Fraction(1, 10), "b": Fraction(9, 10)}, {"b": Fraction(1)}
    assert exact_epsilon(*law)[0] == math.inf
    assert exact_epsilon(*law, 0.1000001) == (0.0, ())
    assert measure_exactly(lambda v: law[v], [(0, 1)], (0, "0.1")).verdict is Verdict.HOLDS  # on the very edge
    assert measure_exactly(lambda v: law[v], [(0, 1)], (0, "0.0999999")).refuted


def hockey_stick(here: Mapping[Any, float], there: Mapping[Any, float], epsilon: float) -> float:
    """The least δ at which (ε, δ) holds between the two laws: the sum of (P − e^ε·Q)₊."""
    ratio = math.exp(epsilon)
    return math.fsum(max(float(share) - ratio * float(there.get(outcome, 0)), 0.0) for outcome, share in here.items())


@pytest.mark.parametrize("delta", [0.0, 0.01, 0.2])
def test_epsilon_at_delta_is_where_the_hockey_stick_meets_it(delta: float) -> None:
    here, there = (references.clamped(references.discrete_laplace(1.5), value, -6, 8) for value in (2, 1))
    epsilon, shown = exact_epsilon(here, there, delta)
    assert shown
    assert hockey_stick(here, there, epsilon) == pytest.approx(delta, abs=1e-12)
    assert hockey_stick(here, there, epsilon - 1e-3) > delta


def test_a_curve_is_judged_at_each_of_its_points() -> None:
    def rounded(value: int) -> Mapping[int, float]:
        return references.clamped(references.rounded_gaussian(4.0), value, -9, 10)

    assert measure_exactly(rounded, [(1, 0)], Claim.gaussian("0.5")).verdict is Verdict.HOLDS
    assert measure_exactly(rounded, [(1, 0)], Claim.gaussian("0.45")).refuted


def test_between_the_points_of_a_curve_a_claim_is_judged_too() -> None:
    def told(value: int) -> Mapping[int, float]:
        return {value: 0.6, 1 - value: 0.4}

    truth = Claim.gaussian("0.5066943")  # where its trade-off at 0.4 is 0.4
    assert measure_exactly(told, [(0, 1)], truth).verdict is Verdict.HOLDS
    assert measure_exactly(told, [(0, 1)], Claim.gaussian("0.5")).refuted
    almost = measure_exactly(told, [(0, 1)], Claim.gaussian("0.5066940"))
    assert almost.verdict is Verdict.NOT_REFUTED  # at no δ that was tried, and yet it does not hold


def test_of_an_event_no_more_is_said_than_was_tested() -> None:
    from sordino.accounting.events import RandomizedResponse

    assert measure_exactly(response(1), [(1, 0)], RandomizedResponse(1)).verdict is Verdict.NOT_REFUTED


def test_epsilon_is_shown_at_the_delta_asked_for() -> None:
    subject = Subject("three to one", lambda _value, _draws: [], [(1, 0)], Claim.pure(2), three_to_one)
    found = measure(subject, delta=0.25)
    assert (found.verdict, found.delta) == (Verdict.HOLDS, 0.25)
    assert found.epsilon == pytest.approx(math.log(2))
    assert measure(subject, 1, delta=0.25).refuted


def test_without_a_claim_epsilon_is_measured() -> None:
    found = measure_exactly(three_to_one, [(1, 0)], delta=0.25)
    assert found.epsilon == pytest.approx(math.log(2))
    assert found.verdict is Verdict.NOT_REFUTED


def test_a_subject_with_a_law_is_not_drawn_from() -> None:
    def release(_value: Any, _draws: int) -> Any:
        pytest.fail("something was drawn")

    subject = Subject("three to one", release, [(1, 0)], Claim.pure(1), three_to_one)
    found = measure(subject)
    assert found.exact
    assert found.refuted
    assert found.name == "three to one"


def test_an_exact_witness_can_be_drawn() -> None:
    found = measure_exactly(three_to_one, [(1, 0)], 1)
    assert found.witness is not None
    drawn = found.witness.reproduce(lambda value, draws: [value] * (3 * draws // 4) + [1 - value] * (draws // 4), 4_000)
    assert (drawn.here, drawn.there) == (3_000, 1_000)
    assert 0.95 < drawn.epsilon < math.log(3)


@pytest.mark.parametrize("law", [{0: 0.5, 1: 0.6}, {0: -0.5, 1: 1.5}, {0: Fraction(1, 3)}, {0: math.nan, 1: 1.0}])
def test_a_law_adds_up(law: Any) -> None:
    with pytest.raises(ArgumentError, match="SRD-V003"):
        measure_exactly(lambda _value: law, [(1, 0)], 1)
