"""The Gaussian mechanisms: events, calibration against the published and the peers' values, law, refusals."""

from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from dp_accounting import get_sigma_gaussian
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import norm

from sordino.accounting import events, zcdp
from sordino.accounting.bound import Bound
from sordino.accounting.grant import Grant
from sordino.errors import ArgumentError, GrantError
from sordino.mechanisms.checks.draws import CHANCE, fit
from sordino.mechanisms.clipping import ClipNorm
from sordino.mechanisms.gaussian import DiscreteGaussian, Gaussian
from sordino.mechanisms.grid import Grid
from sordino.mechanisms.mechanism import Mechanism

ONE = Bound.scalar(1)
BOTH = pytest.mark.parametrize("kind", [Gaussian, DiscreteGaussian])


def grant(mechanism: Any, bound: Bound = ONE) -> Grant:
    return Grant(mechanism.event(bound), bound)


def rounded(variance: float, reach: int) -> dict[int, float]:
    deviation = math.sqrt(variance)
    return {
        k: float(norm.cdf((k + 0.5) / deviation) - norm.cdf((k - 0.5) / deviation)) for k in range(-reach, reach + 1)
    }


def discrete(variance: float, reach: int) -> dict[int, float]:
    weights = {k: math.exp(-k * k / (2 * variance)) for k in range(-reach, reach + 1)}
    total = sum(weights.values())
    return {k: weight / total for k, weight in weights.items()}


LAWS = {Gaussian: rounded, DiscreteGaussian: discrete}


@BOTH
class TestBoth:
    def test_the_contract(self, kind: Any) -> None:
        assert isinstance(kind(2), Mechanism)
        assert kind(2) == kind("2.0")
        assert Gaussian(2) != DiscreteGaussian(2)

    def test_rho_is_met_exactly(self, kind: Any) -> None:
        for bound in (ONE, Bound.vector(l0=3, linf=1), Bound.scalar(2)):
            assert zcdp.rho(kind.for_rho("0.1", bound).event(bound)) == Fraction(1, 10)

    @given(rho=st.fractions(Fraction(1, 1000), 5), size=st.fractions(Fraction(1, 1000), 1000), l0=st.integers(1, 9))
    @settings(max_examples=25, deadline=None)
    def test_rho_is_met_on_reals_at_hardly_more_noise(self, kind: Any, rho: Fraction, size: Fraction, l0: int) -> None:
        bound = Bound.vector(l0=l0, linf=size)
        mechanism = kind.for_rho(rho, bound, grid=None)
        assert zcdp.rho(mechanism.event(bound)) == rho
        assert mechanism.variance <= bound.l2_squared / (2 * rho) * (1 + Fraction(1, 400))

    @pytest.mark.parametrize("shape", [(), (0,), (5,), (2, 3)])
    def test_arrays_keep_their_shape(self, kind: Any, shape: tuple[int, ...]) -> None:
        whole = kind(2).release(np.zeros(shape, dtype=np.int64), grant(kind(2)))
        assert (whole.shape, whole.dtype) == (shape, np.int64)
        gridded = kind(2, Grid(-4))
        real = gridded.release(np.zeros(shape), grant(gridded))
        assert (real.shape, real.dtype) == (shape, np.float64)

    def test_numbers_come_out_as_numbers(self, kind: Any) -> None:
        assert type(kind(2).release(5, grant(kind(2)))) is int
        gridded = kind(2, Grid(-4))
        answer = gridded.release(5.3, grant(gridded))
        assert type(answer) is float
        assert answer * 16 == round(answer * 16)

    @pytest.mark.parametrize("variance", [Fraction(1, 2), Fraction(9)])
    def test_the_noise_has_the_claimed_deviation_and_no_other(self, kind: Any, variance: Fraction) -> None:
        mechanism, law = kind(variance), LAWS[kind]
        one_by_one = Counter(mechanism.release(7, grant(mechanism)) - 7 for _ in range(3000))
        at_once = Counter((mechanism.release(np.full(5000, 7), grant(mechanism)) - 7).tolist())
        for seen in (one_by_one, at_once):
            for level, accepted in ((1.0, True), (0.7, False), (1.3, False)):
                p = fit(seen, law(float(variance) * level**2, 40))
                assert (p >= CHANCE) is accepted, f"n = {seen.total()}, k = {len(seen)}, p = {p:.3g}, level = {level}"

    def test_the_error_is_the_tail(self, kind: Any) -> None:
        for variance in (0.5, 1, 30):
            error, law = int(kind(variance).error(0.95)), LAWS[kind](variance, 60)
            assert sum(law[k] for k in range(-error, error + 1)) >= 0.95
            assert error == 0 or sum(law[k] for k in range(-error + 1, error)) < 0.95
        assert kind(1, Grid(-10)).error() == pytest.approx(1.959964, rel=2e-3)
        assert kind(4, Grid(-10)).variance_of_error == pytest.approx(4, rel=1e-3)

    @pytest.mark.parametrize("value", [float("nan"), 1234567.25, "x", None, True])
    def test_bad_answers_leave_the_grant_usable_and_show_nothing(self, kind: Any, value: Any) -> None:
        mechanism = kind(2)
        permission = grant(mechanism)
        with pytest.raises(ArgumentError) as caught:
            mechanism.release(value, permission)
        assert "1234567" not in str(caught.value)
        mechanism.release(3, permission)
        with pytest.raises(GrantError, match="SRD-G001"):
            mechanism.release(3, permission)
        with pytest.raises(GrantError, match="SRD-G002"):
            kind(3).release(3, grant(mechanism))

    @pytest.mark.parametrize("variance", [0, -1, float("nan"), "inf", True, None, "1e-9", 2**101])
    def test_absurd_variances_are_refused(self, kind: Any, variance: Any) -> None:
        with pytest.raises(ArgumentError):
            kind(variance)

    @given(seed=st.integers(0, 10**6), exponent=st.integers(-6, 2))
    @settings(max_examples=25, deadline=None)
    def test_before_noise_neighbours_differ_by_no_more_than_the_event_claims(
        self, kind: Any, seed: int, exponent: int
    ) -> None:
        vectors = np.random.default_rng(seed).normal(0, 3, (5, 4))
        clip = ClipNorm(2, 2, coordinates=4)
        for grid in (clip.grid, Grid(exponent)):
            moved = grid.to_steps(clip.total(vectors)) - grid.to_steps(clip.total(vectors[1:]))
            assert int((moved**2).sum()) <= kind(1, grid).event(clip.bound()).sensitivity_squared


def test_events() -> None:
    three = Bound.vector(l0=3, linf=1)
    assert Gaussian(2).event(three) == events.Gaussian(2, 3)
    assert DiscreteGaussian(2).event(three) == events.DiscreteGaussian(2, 3, 3)
    assert Gaussian(2, Grid(-3)).event(ONE) == events.Gaussian(128, 64)
    assert Gaussian(1, Grid(-3)).event(Bound.scalar("0.9")) == events.Gaussian(64, 64)


@pytest.mark.parametrize(("epsilon", "delta"), [(0.1, 1e-5), (1, 1e-5), (1, 1e-9), (5, 1e-6), (20, 1e-3)])
def test_the_analytic_calibration_agrees_with_a_peer(epsilon: float, delta: float) -> None:
    deviation = math.sqrt(Gaussian.for_epsilon(epsilon, delta, ONE).variance)
    assert deviation == pytest.approx(get_sigma_gaussian(epsilon, delta), rel=1e-6)
    tight = norm.cdf(1 / (2 * deviation) - epsilon * deviation) - math.exp(epsilon) * norm.cdf(
        -1 / (2 * deviation) - epsilon * deviation
    )
    assert tight <= delta * (1 + 1e-6)
    doubled = Gaussian.for_epsilon(epsilon, delta, Bound.scalar(2))
    assert math.sqrt(doubled.variance) == pytest.approx(2 * deviation)


def test_the_classic_calibration_is_looser_and_stops_at_one() -> None:
    classic = Gaussian.classic(1, "1e-5", ONE)
    assert math.sqrt(classic.variance) == pytest.approx(math.sqrt(2 * math.log(1.25e5)), rel=1e-9)
    assert classic.variance > Gaussian.for_epsilon(1, "1e-5", ONE).variance
    with pytest.raises(ArgumentError, match="for_epsilon"):
        Gaussian.classic("1.01", "1e-5", ONE)


def test_absurd_targets_are_refused() -> None:
    for epsilon, delta in ((0, "1e-5"), (1, 0), (1, 1), (float("nan"), "1e-5")):
        with pytest.raises(ArgumentError):
            Gaussian.for_epsilon(epsilon, delta, ONE)
    with pytest.raises(ArgumentError, match="rho"):
        Gaussian.for_rho(0, ONE)


def test_reals_are_released_close_to_the_truth() -> None:
    bound = Bound.vector(l0=2, l2="0.5")
    mechanism = Gaussian.for_epsilon(5, "1e-6", bound, grid=None)
    answer = mechanism.release(np.full((1000, 2), 12.34), Grant(mechanism.event(bound), bound))
    assert abs(answer.mean() - 12.34) < 6 * math.sqrt(mechanism.variance / 2000)
