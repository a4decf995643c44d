from __future__ import annotations

import builtins
import io
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import laplace, norm

from sordino.accounting.events import Approximate, Gaussian, Laplace, Repeated
from sordino.accounting.tradeoff import PERFECT, TradeOff, plot
from sordino.errors import ArgumentError, UnsupportedError

RATES = np.linspace(0, 1, 201)


def test_perfect_privacy_is_the_diagonal() -> None:
    np.testing.assert_allclose(PERFECT(RATES), 1 - RATES)
    np.testing.assert_allclose(TradeOff.approximate(0)(RATES), 1 - RATES, atol=1e-15)
    np.testing.assert_allclose(TradeOff.gaussian(0)(RATES), 1 - RATES, atol=1e-12)


def test_pure_privacy_is_two_lines_that_meet_where_randomized_response_is() -> None:
    corner = 1 / (1 + math.e)
    curve = TradeOff.approximate(1)
    assert curve(corner) == pytest.approx(corner)
    np.testing.assert_allclose(curve(RATES), np.maximum(0, np.maximum(1 - math.e * RATES, (1 - RATES) / math.e)))


@settings(deadline=None, max_examples=100)
@given(st.floats(0, 10), st.floats(0, 0.9))
def test_every_curve_is_convex_falling_and_below_guessing(epsilon: float, delta: float) -> None:
    values = TradeOff.approximate(epsilon, delta)(RATES)
    assert np.all(values <= 1 - RATES + 1e-12)
    assert np.all(np.diff(values) <= 1e-12)
    assert np.all(np.diff(values, 2) >= -1e-12)
    least = np.min(RATES + values)
    assert least >= 2 * (1 - delta) / (1 + math.exp(epsilon)) - 1e-9


@pytest.mark.parametrize("mu", [0.3, 1.0, 2.5])
def test_the_profile_of_a_gaussian_gives_the_gaussian_curve(mu: float) -> None:
    """Balle, Wang 2018, Theorem 8 gives δ(ε); Dong, Roth, Su 2022 say that the two forms are the same."""

    def delta_at(epsilon: float) -> float:
        return float(norm.cdf(mu / 2 - epsilon / mu) - math.exp(epsilon) * norm.cdf(-mu / 2 - epsilon / mu))

    from_profile, exact = TradeOff.profile(delta_at)(RATES), TradeOff.gaussian(mu)(RATES)
    assert np.all(from_profile <= exact + 1e-9)
    np.testing.assert_allclose(from_profile, exact, atol=2e-4)


def test_gaussian_curve_is_what_a_likelihood_ratio_test_reaches() -> None:
    thresholds = np.linspace(-3, 4, 50)
    false_positives, false_negatives = norm.sf(thresholds), norm.cdf(thresholds - 1.2)
    np.testing.assert_allclose(TradeOff.gaussian(1.2)(false_positives), false_negatives, atol=1e-12)


def test_the_curve_of_an_event() -> None:
    exact = TradeOff.of(Repeated(Gaussian(9), 4))(RATES)
    np.testing.assert_allclose(exact, TradeOff.gaussian(2 / 3)(RATES), atol=1e-12)
    # Laplace noise of scale 1: the best test at each rate, from the two laws (Dong, Roth, Su 2022, Section 2)
    thresholds = np.linspace(-4, 5, 60)
    reached = TradeOff.of(Laplace(1))(laplace.sf(thresholds))
    best = laplace.cdf(thresholds, loc=1)
    assert np.all(reached <= best + 1e-9)
    np.testing.assert_allclose(reached, best, atol=5e-3)


@pytest.mark.parametrize("delta", ["0.01", "0.7"])
def test_the_curve_of_an_event_with_a_delta_of_its_own(delta: str) -> None:
    reached, exact = TradeOff.of(Approximate(1, delta))(RATES), TradeOff.approximate(1, delta)(RATES)
    assert np.all(reached <= exact + 1e-9)
    np.testing.assert_allclose(reached, exact, atol=2e-2)


def test_a_huge_epsilon_promises_nothing_and_does_not_overflow() -> None:
    assert TradeOff.approximate(10**6)(0.5) == 0
    assert TradeOff.approximate(10**6)(0.0) == 1
    assert TradeOff.approximate(1, 1)(0.0) == 0


@pytest.mark.parametrize("rate", [-0.1, 1.1, float("nan")])
def test_rates_lie_between_zero_and_one(rate: float) -> None:
    with pytest.raises(ArgumentError, match="between 0 and 1"):
        PERFECT(rate)


@pytest.mark.parametrize("mu", [-1, float("nan"), float("inf"), True])
def test_bad_mu(mu: float) -> None:
    with pytest.raises(ArgumentError, match="mu"):
        TradeOff.gaussian(mu)


@pytest.mark.parametrize(("epsilon", "delta"), [(-1, 0), (float("nan"), 0), (1, 2), (1, -1), (True, 0)])
def test_bad_epsilon_and_delta(epsilon: float, delta: float) -> None:
    with pytest.raises(ArgumentError):
        TradeOff.approximate(epsilon, delta)


def test_the_picture_is_drawn() -> None:
    figure = plot({"ε = 1": TradeOff.approximate(1), "noise": TradeOff.gaussian(1)}, title="A title")
    target = io.BytesIO()
    figure.savefig(target, format="png")
    assert target.getvalue().startswith(b"\x89PNG")
    (axes,) = figure.axes
    assert axes.get_title(loc="left").startswith("A title")
    assert "false positives" in axes.get_xlabel()


def test_without_matplotlib_the_error_names_the_remedy(monkeypatch: pytest.MonkeyPatch) -> None:
    original = builtins.__import__

    def refuse(name: str, *rest: object) -> object:
        if name.startswith("matplotlib"):
            raise ImportError(name)
        return original(name, *rest)  # type: ignore[arg-type]

    monkeypatch.setattr(builtins, "__import__", refuse)
    with pytest.raises(UnsupportedError, match=r"pip install sordino\[plot\]") as caught:
        plot({})
    assert caught.value.code == "SRD-C022"


def test_matplotlib_is_not_imported_before_it_is_needed() -> None:
    import subprocess
    import sys

    code = "import sys, sordino.accounting.explain; raise SystemExit('matplotlib' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0  # noqa: S603


def test_gaussian_curves_hold_at_the_smallest_rates() -> None:
    """1 - 1e-17 is 1 as a float, but an attack on Gaussian noise with μ = 20 still succeeds at that rate."""
    rates = np.array([1e-300, 1e-30, 1e-17, 1e-16])
    np.testing.assert_allclose(TradeOff.gaussian(20)(rates), norm.cdf(norm.isf(rates) - 20), rtol=1e-6)


@pytest.mark.parametrize("mu", ["x", None, np.True_, 10**5000], ids=["text", "none", "boolean", "huge"])
def test_mu_must_be_a_number(mu: Any) -> None:
    with pytest.raises(ArgumentError, match="mu"):
        TradeOff.gaussian(mu)


def test_an_unknown_delta_promises_nothing() -> None:
    assert TradeOff.profile(lambda _epsilon: math.nan)(0.5) == 0
