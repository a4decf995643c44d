"""Partition selection: exact privacy of the keeping probabilities, thresholds by tail, and refusals."""

from __future__ import annotations

import math
from decimal import Context, Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binomtest, norm

from sordino.accounting import events
from sordino.accounting.bound import Bound
from sordino.accounting.grant import Grant
from sordino.errors import ArgumentError, GrantError
from sordino.mechanisms.checks.draws import CHANCE
from sordino.mechanisms.geometric_threshold import GeometricThreshold
from sordino.mechanisms.mechanism import Mechanism
from sordino.mechanisms.partition import GaussianThreshold, LaplaceThreshold, TruncatedGeometric

ONE = Bound.scalar(1)
ALL: list[Any] = [TruncatedGeometric(1, "0.01"), LaplaceThreshold("0.01", 2), GaussianThreshold("0.01", 2)]


def exponential(value: Fraction) -> Fraction:
    """e^value, to fifty digits."""
    context = Context(prec=50)
    return Fraction(context.exp(context.divide(Decimal(value.numerator), Decimal(value.denominator))))


def closed_form(units: int, epsilon: float, delta: float) -> float:
    """Desfontaines et al. 2022, Theorem 1."""
    growth = math.exp(epsilon)
    crossing = 1 + math.floor(math.log((growth + 2 * delta - 1) / ((growth + 1) * delta)) / epsilon)
    if units <= crossing:
        return math.expm1(units * epsilon) / math.expm1(epsilon) * delta
    middle = closed_form(crossing, epsilon, delta)
    over = units - crossing
    return min(
        1.0, (1 - math.exp(-over * epsilon)) * (1 + delta / math.expm1(epsilon)) + math.exp(-over * epsilon) * middle
    )


@given(
    epsilon=st.fractions(Fraction(1, 10), 5),
    delta=st.sampled_from([Fraction(1, 10**12), Fraction(1, 10**5), Fraction(1, 10)]),
    keys=st.integers(1, 4),
)
@settings(max_examples=12, deadline=None)
def test_every_neighbouring_pair_of_counts_is_private_exactly(epsilon: Fraction, delta: Fraction, keys: int) -> None:
    rule = TruncatedGeometric(epsilon, delta, keys)
    growth, share = exponential(epsilon / keys), delta / keys
    units, here = 0, rule.probability(0)
    assert here == 0
    while here < 1:
        there = rule.probability(units + 1)
        for p, q in ((here, there), (there, here), (1 - here, 1 - there), (1 - there, 1 - here)):
            assert p <= growth * q * (1 + Fraction(1, 10**45)) + share
        units, here = units + 1, there


@pytest.mark.parametrize(("epsilon", "delta"), [(1.0, 1e-5), (0.1, 1e-6), (3.0, 1e-3)])
def test_the_probabilities_are_the_optimal_ones(epsilon: float, delta: float) -> None:
    rule = TruncatedGeometric(epsilon, delta)
    for units in range(0, int(60 / epsilon)):
        assert float(rule.probability(units)) == pytest.approx(closed_form(units, epsilon, delta), rel=1e-9)


def test_keys_are_kept_by_these_probabilities() -> None:
    rule = TruncatedGeometric(1, "0.01")
    counts = np.repeat(np.array([0, 1, 3, 5, 100]), 20_000)
    keep = rule.release(counts, Grant(rule.event(ONE), ONE)).reshape(5, 20_000).sum(axis=1)
    assert keep[0] == 0
    assert keep[4] == 20_000
    for kept, units in zip(keep[1:4].tolist(), (1, 3, 5), strict=True):
        chance = closed_form(units, 1.0, 0.01)
        p = binomtest(kept, 20_000, chance).pvalue
        assert p >= CHANCE, f"n = 20_000, k = {kept}, p = {p:.3g}"
    for level in (0.7, 1.3):
        assert binomtest(int(keep[2]), 20_000, closed_form(3, 1.0, 0.01) * level).pvalue < CHANCE


def test_the_error_is_the_size_of_key_that_is_safely_kept() -> None:
    rule = TruncatedGeometric(1, "1e-5")
    units = int(rule.error(0.95))
    assert rule.probability(units) >= Fraction(95, 100) > rule.probability(units - 1)


def test_events() -> None:
    assert TruncatedGeometric(1, "1e-5").event(ONE) == events.PartitionSelection(1, "1e-5")
    three = Bound.vector(l0=3, linf=1)
    failure = events.Approximate(0, "1e-5")
    assert LaplaceThreshold("1e-5", 2).event(three) == events.Composed((events.DiscreteLaplace(2, 3, 3), failure))
    assert GaussianThreshold("1e-5", 2).event(three) == events.Composed((events.Gaussian(2, 3), failure))
    assert LaplaceThreshold.for_epsilon("0.5", "1e-5", three).scale == 6
    assert GaussianThreshold.for_rho("0.5", "1e-5", three).variance == 3


def test_a_bound_beyond_what_the_rule_was_made_for_is_refused() -> None:
    rule = TruncatedGeometric(1, "1e-5", keys=2)
    rule.event(Bound.vector(l0=2, linf=1))
    for bound in (Bound.vector(l0=3, linf=1), Bound.scalar(2), ONE.group(2), ONE.replacing()):
        with pytest.raises(ArgumentError, match="SRD-A003"):
            rule.event(bound)


@pytest.mark.parametrize("scale", [0.3, 1.0, 20.0])
@pytest.mark.parametrize("delta", [1e-9, 1e-3, 0.4])
@pytest.mark.parametrize("keys", [1, 5])
def test_a_lone_unit_passes_the_laplace_threshold_with_delta_at_most(scale: float, delta: float, keys: int) -> None:
    bound = Bound.vector(l0=keys, linf=1)
    threshold = LaplaceThreshold(delta, scale).threshold(bound)
    p = math.exp(-1 / scale)
    needed = threshold - 1
    assert p**needed / (1 + p) <= delta / keys
    assert needed == 1 or p ** (needed - 1) / (1 + p) > delta / keys * (1 - 1e-6)


@pytest.mark.parametrize("variance", [0.3, 1.0, 400.0])
@pytest.mark.parametrize("delta", [1e-9, 1e-3, 0.4])
@pytest.mark.parametrize("keys", [1, 5])
def test_a_lone_unit_passes_the_gaussian_threshold_with_delta_at_most(variance: float, delta: float, keys: int) -> None:
    bound = Bound.vector(l0=keys, linf=1)
    needed = GaussianThreshold(delta, variance).threshold(bound) - 1
    deviation = math.sqrt(variance)
    assert norm.sf((needed - 0.5) / deviation) <= delta / keys
    assert needed == 1 or norm.sf((needed - 1.5) / deviation) > delta / keys * (1 - 1e-6)


@pytest.mark.parametrize("rule", ALL[1:])
def test_thresholds_show_counts_of_kept_keys_only(rule: Any) -> None:
    counts = np.array([0, 1, 500, 2, 700, 0])
    selected = rule.release(counts, Grant(rule.event(ONE), ONE))
    assert selected.keep.shape == counts.shape
    assert selected.counts.shape == (int(selected.keep.sum()),)
    assert np.all(selected.counts >= rule.threshold(ONE))
    assert selected.keep[[2, 4]].all()
    assert not selected.keep[[0, 5]].any()
    nobody = rule.release(np.zeros(20_000, dtype=int), Grant(rule.event(ONE), ONE))
    assert not nobody.keep.any()
    assert rule.error(0.95) == rule.counting.error(0.95)


@pytest.mark.parametrize("rule", ALL[1:])
def test_lone_units_are_shown_about_as_often_as_the_tail_says(rule: Any) -> None:
    lone = rule.release(np.ones(40_000, dtype=int), Grant(rule.event(ONE), ONE))
    needed = rule.threshold(ONE) - 1
    scale = float(getattr(rule, "scale", 0)) or math.sqrt(rule.variance)
    p = math.exp(-1 / scale)
    chance = p**needed / (1 + p) if isinstance(rule, LaplaceThreshold) else norm.sf((needed - 0.5) / scale)
    kept = int(lone.keep.sum())
    assert binomtest(kept, 40_000, chance).pvalue >= CHANCE, f"n = 20_0000, k = {kept}, expected {chance}"
    assert binomtest(kept, 40_000, 2 * chance).pvalue < CHANCE


@pytest.mark.parametrize("rule", ALL[1:])
def test_thresholds_describe_their_noise(rule: Any) -> None:
    def at_least(value: int) -> float:
        if isinstance(rule, GaussianThreshold):
            return float(norm.sf((value - 0.5) / math.sqrt(rule.variance)))
        p = math.exp(-1 / rule.scale)
        return p**value / (1 + p) if value > 0 else 1 - p ** (1 - value) / (1 + p)

    values = np.arange(-9, 10)
    assert np.exp(rule.log_at_least(values)) == pytest.approx([at_least(each) for each in values.tolist()])
    for confidence in (0.5, 0.9, 0.95):
        size, least = rule.size_shown(confidence, ONE), rule.threshold(ONE)
        assert at_least(least - size) >= confidence
        assert size == least or at_least(least - size + 1) < confidence
    assert rule.variance_of_error == rule.counting.law.variance


@pytest.mark.parametrize("rule", [*ALL, GeometricThreshold(1, "0.01")])
class TestEach:
    def test_contract(self, rule: Any) -> None:
        assert isinstance(rule, Mechanism)
        assert rule == type(rule)(*(getattr(rule, name) for name in type(rule).__dataclass_fields__))

    @pytest.mark.parametrize(
        "value",
        [
            [1.5],
            [[1]],
            [[1], [1, 2]],
            3,
            ["1234567"],
            [True],
            np.array([1234567], dtype=object),
        ],
    )
    def test_bad_counts_leave_the_grant_usable_and_show_nothing(self, rule: Any, value: Any) -> None:
        permission = Grant(rule.event(ONE), ONE)
        with pytest.raises(ArgumentError) as caught:
            rule.release(value, permission)
        assert "1234567" not in str(caught.value)
        rule.release(np.array([3], dtype=np.uint64), permission)
        with pytest.raises(GrantError, match="SRD-G001"):
            rule.release(np.array([3]), permission)

    def test_grants_for_something_else_are_refused(self, rule: Any) -> None:
        with pytest.raises(GrantError, match="SRD-G002"):
            rule.release(np.array([3]), Grant(events.Pure(1), ONE))

    def test_no_keys_at_all(self, rule: Any) -> None:
        released = rule.release(np.zeros(0, dtype=int), Grant(rule.event(ONE), ONE))
        assert len(getattr(released, "keep", released)) == 0


@pytest.mark.parametrize(
    ("epsilon", "delta", "keys"),
    [(0, "1e-5", 1), (1, 0, 1), (1, 1, 1), (1, "1e-20", 1), (1, "1e-5", 0), ("1e-12", "1e-12", 1), (True, "1e-5", 1)],
)
def test_absurd_parameters_are_refused(epsilon: Any, delta: Any, keys: Any) -> None:
    with pytest.raises(ArgumentError):
        TruncatedGeometric(epsilon, delta, keys)
    with pytest.raises(ArgumentError, match="epsilon"):
        TruncatedGeometric("1e350", "1e-5")
    with pytest.raises(ArgumentError):
        LaplaceThreshold("1e-5", 0)
    with pytest.raises(ArgumentError):
        GaussianThreshold(0, 1)


def test_a_failure_too_small_to_compute_with_is_refused_before_a_grant_is_given() -> None:
    with pytest.raises(ArgumentError, match="SRD-A002"):
        GaussianThreshold("1e-390", 1).event(ONE)
    assert GaussianThreshold("1e-300", 1).threshold(ONE) == 39
    assert LaplaceThreshold("1e-390", 1).threshold(ONE) == 1 + math.ceil(390 * math.log(10) - math.log1p(math.exp(-1)))
