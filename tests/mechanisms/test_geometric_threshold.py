"""Keys and counts by one noise: the joint law is private exactly, shows as many keys as can be, and tells no more."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chisquare

from mechanisms.test_partition import exponential
from sordino.accounting.bound import Bound
from sordino.accounting.events import Approximate
from sordino.accounting.grant import Grant
from sordino.errors import ArgumentError
from sordino.mechanisms import geometric_threshold
from sordino.mechanisms.checks.draws import CHANCE
from sordino.mechanisms.geometric_threshold import GeometricThreshold
from sordino.mechanisms.partition import LaplaceThreshold, TruncatedGeometric

ONE = Bound.scalar(1)


def law(rule: GeometricThreshold, units: int) -> dict[int | None, Fraction]:
    """What is shown for a key of so many units, by the differences of the probabilities of being shown."""
    centre = rule.threshold(Bound.vector(l0=rule.keys, linf=1)) - 1
    shown: dict[int | None, Fraction] = {
        units - drawn + centre: rule.probability(drawn + 1) - rule.probability(drawn) for drawn in range(units)
    }
    return {**shown, None: 1 - rule.probability(units)}


def divergence(one: dict[Any, Fraction], other: dict[Any, Fraction], growth: Fraction) -> Fraction:
    """The least δ for which `one` is at most e^ε times `other`, plus δ."""
    return sum(
        (max(share - growth * other.get(what, Fraction(0)), Fraction(0)) for what, share in one.items()),
        start=Fraction(0),
    )


@given(
    epsilon=st.fractions(Fraction(1, 2), 5, max_denominator=1000),
    delta=st.sampled_from([Fraction(1, 10**12), Fraction(1, 10**5), Fraction(1, 10), Fraction(6, 10)]),
    keys=st.integers(1, 3),
)
@settings(max_examples=6, deadline=None)
def test_keys_and_counts_together_are_private_exactly(epsilon: Fraction, delta: Fraction, keys: int) -> None:
    rule = GeometricThreshold(epsilon, delta, keys)
    growth, share = exponential(epsilon / keys), delta / keys
    units, worst = 0, Fraction(0)
    while rule.probability(max(units - 1, 0)) < 1:
        here, there = law(rule, units), law(rule, units + 1)
        assert sum(here.values()) == 1
        for one, other in ((here, there), (there, here)):
            found = divergence(one, other, growth)
            assert found <= share * (1 + Fraction(1, 10**30))
            worst = max(worst, found)
        units += 1
    assert worst >= share * (1 - Fraction(1, 10**4))  # no less would do: the claim is tight


@pytest.mark.parametrize(
    ("epsilon", "delta", "keys"), [(1, "1e-6", 1), (1, "1e-6", 4), ("0.03", "1e-9", 2), (7, "1e-3", 1), (12, "0.3", 1)]
)
def test_no_rule_shows_more_keys(epsilon: Any, delta: Any, keys: int) -> None:
    rule, best = GeometricThreshold(epsilon, delta, keys), TruncatedGeometric(epsilon, delta, keys)
    units = 0
    while best.probability(units) < 1:
        assert float(rule.probability(units)) == pytest.approx(float(best.probability(units)), rel=1e-5)
        units += 1
    bound = Bound.vector(l0=keys, linf=1)
    assert rule.size_shown("0.95", bound) == best.error(0.95)


@pytest.mark.parametrize(("epsilon", "keys"), [(1, 1), (1, 4), ("0.1", 1)])
def test_fewer_units_are_needed_than_with_laplace_noise(epsilon: Any, keys: int) -> None:
    bound = Bound.vector(l0=keys, linf=1)
    rule, laplace = GeometricThreshold(epsilon, "1e-6", keys), LaplaceThreshold.for_epsilon(epsilon, "1e-6", bound)
    assert rule.size_shown("0.5", bound) < laplace.size_shown("0.5", bound)
    assert rule.variance_of_error < laplace.variance_of_error * (1 + 1 / 2)  # a mean that is off by ½ at most
    assert rule.error(0.95) <= laplace.error(0.95) + 1


@pytest.mark.parametrize("keys", [1, 2, 5])
def test_whoever_is_alone_is_shown_with_delta_at_most_over_all_their_keys(keys: int) -> None:
    rule = GeometricThreshold(1, "1e-6", keys)
    assert rule.probability(0) == 0
    alone = rule.probability(1)
    assert 1 - (1 - alone) ** keys <= Fraction(1, 10**6)
    assert keys * alone > Fraction(1, 10**6) * Fraction(999_999, 10**6)


def test_released_counts_have_this_law() -> None:
    rule, units, draws = GeometricThreshold(1, "0.01"), 5, 40_000
    keep, counts = rule.release(np.full(draws, units), Grant(rule.event(ONE), ONE))
    assert len(counts) == int(keep.sum())
    seen = [int((counts == what).sum()) for what in law(rule, units) if what is not None]
    seen.append(draws - len(counts))
    for level, fits in ((1, True), ("0.7", False), ("1.3", False)):
        claimed = list(law(GeometricThreshold(Fraction(1) / Fraction(level), "0.01"), units).values())
        p = chisquare(seen, [float(share) * draws for share in claimed]).pvalue
        assert bool(p >= CHANCE) is fits, f"n = {draws}, level {level}, p = {p:.3g}"


def test_what_is_not_shown_is_not_counted() -> None:
    rule = GeometricThreshold(1, "1e-6")
    selected = rule.release(np.array([0, 500, 1, 0, 700]), Grant(rule.event(ONE), ONE))
    assert selected.keep.tolist() == [False, True, False, False, True]
    assert np.abs(selected.counts - [500, 700]).max() <= 14
    assert not rule.release(np.zeros(10_000, dtype=int), Grant(rule.event(ONE), ONE)).keep.any()


def test_the_noise_is_described_as_it_is() -> None:
    rule = GeometricThreshold(1, "0.01")
    units = 1000
    noises = {what - units: share for what, share in law(rule, units).items() if what is not None}
    assert sum(noises.values()) == 1
    assert rule.variance_of_error == pytest.approx(float(sum(k * k * share for k, share in noises.items())))
    for confidence in (0.5, 0.9, 0.95, 0.999):
        reach = rule.error(confidence)
        assert sum(share for k, share in noises.items() if abs(k) <= reach) >= Fraction(confidence)
        assert sum(share for k, share in noises.items() if abs(k) < reach) < Fraction(confidence)
    for value in range(-12, 13):
        exact = float(sum(share for k, share in noises.items() if k >= value))
        assert np.exp(rule.log_at_least(np.array([value])))[0] == pytest.approx(exact, abs=1e-15)
    assert abs(float(sum(k * share for k, share in noises.items()))) <= 0.5
    assert rule.event(ONE) == Approximate(1, "0.01")


@pytest.mark.parametrize(
    ("epsilon", "delta", "keys"),
    [
        (0, "1e-5", 1),
        (1, 0, 1),
        (1, 1, 1),
        (1, "1e-20", 1),
        (1, "1e-5", 0),
        ("1e-12", "1e-12", 1),
        ("1e-330", "1e-12", 1),
        ("1e-3", "1e-13", 1),
        ("0.003", "2e-15", 1),
        (20, "1e-400", 1),
        ("1e5", "1e-5", 1),
        (True, "1e-5", 1),
    ],
)
def test_absurd_parameters_are_refused_before_any_data(epsilon: Any, delta: Any, keys: Any) -> None:
    with pytest.raises(ArgumentError):
        GeometricThreshold(epsilon, delta, keys)


@pytest.mark.parametrize("moved", [0, 1, 13, 26])
def test_a_law_that_is_not_private_is_never_used(monkeypatch: pytest.MonkeyPatch, moved: int) -> None:
    """The sums that the proof rests on are computed for every law: here one entry has a hundred-thousandth too much."""
    built = geometric_threshold._Ends.joined

    def wrong(ends: Any) -> tuple[int, ...]:
        masses = list(built(ends))
        extra, middle = masses[moved] // 10**5, masses.index(max(masses))
        masses[moved] += extra
        masses[middle - (middle == moved)] -= extra
        return tuple(masses)

    geometric_threshold._law.cache_clear()
    monkeypatch.setattr(geometric_threshold._Ends, "joined", wrong)
    with pytest.raises(ArgumentError, match="SRD-A002"):
        GeometricThreshold(1, "1e-6")
    monkeypatch.undo()
    assert GeometricThreshold(1, "1e-6").probability(1) <= Fraction(1, 10**6)


def test_bounds_beyond_what_the_rule_was_made_for_are_refused() -> None:
    rule = GeometricThreshold(1, "1e-5", keys=2)
    rule.event(Bound.vector(l0=2, linf=1))
    for bound in (Bound.vector(l0=3, linf=1), Bound.scalar(2), ONE.group(2), ONE.replacing()):
        with pytest.raises(ArgumentError, match="SRD-A003"):
            rule.event(bound)


@pytest.mark.parametrize("epsilon", ["0.01", "0.5", 3, 20, 30, 9000])
@pytest.mark.parametrize("delta", ["1e-12", "1e-6", "0.49", "0.9"])
def test_laws_at_the_ends_of_what_is_allowed_are_whole(epsilon: Any, delta: Any) -> None:
    rule = GeometricThreshold(epsilon, delta)
    assert rule.probability(10**6) == 1
    assert 0 < rule.probability(1) <= Fraction(delta)
