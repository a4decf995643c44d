"""Bounds on the whole trade-off curve: they hold all together, are close, and contradict a false claim."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binom, norm

from audit.specimens import gaussian, laplace
from sordino.accounting.tradeoff import PERFECT, TradeOff
from sordino.audit import measure
from sordino.audit.claim import Claim
from sordino.audit.curve import TradeOffBounds, bounds_by_counts

RATES = np.geomspace(1e-3, 0.999, 200)


def bounds(seed: int, draws: int = 100_000) -> TradeOffBounds:
    found = measure(gaussian(1), Claim.gaussian(1), pairs=[(1, 0)], draws=draws, seed=seed).trade_off
    assert found is not None
    return found


def test_the_curve_of_gaussian_noise_is_met_closely_and_from_above() -> None:
    found, truth = bounds(1), TradeOff.gaussian(1)
    assert np.all(found(RATES) >= truth(RATES))
    assert np.max(found(RATES) - truth(RATES)) < 0.02
    assert 0.95 < found.mu <= 1
    assert 4.0 < found.epsilon_assuming_gaussian(1e-5) <= 4.3772
    assert 2.0 < found.epsilon_at(0.01) <= 2.3178


def test_a_claim_is_contradicted_only_if_false() -> None:
    found = bounds(2)
    assert not found.contradicts(Claim.gaussian(1))
    assert found.contradicts(Claim.gaussian("0.9"))
    assert found.contradicts(Claim.approximate(1, "0.01"))
    assert not found.contradicts(Claim.pure(10))


def test_laplace_is_not_taken_for_gaussian() -> None:
    """Its curve lies above that of every Gaussian that its best point suggests, so only `epsilon_at` is a bound."""
    found = measure(laplace(1), 1, pairs=[(1, 0)], draws=100_000, seed=1).trade_off
    assert found is not None
    assert found.epsilon_at(1e-5) <= 1 < found.epsilon_assuming_gaussian(1e-5)


def exceeded(runs: int, confidence: float) -> int:
    """Return how often a bound is below the truth somewhere: counts of N(1, 1) and N(0, 1) above 20 cuts."""
    rng, cuts, failed = np.random.default_rng(1), np.linspace(-1, 2, 20), 0
    for _ in range(runs):
        accused = (rng.normal(0, 1, (300, 1)) >= cuts).sum(axis=0).astype(float)
        missed = (rng.normal(1, 1, (300, 1)) < cuts).sum(axis=0).astype(float)
        found = bounds_by_counts(accused, missed, 300, confidence)
        failed += bool(
            np.any(found.false_positives < norm.sf(cuts)) or np.any(found.false_negatives < norm.cdf(cuts - 1))
        )
    return failed


def test_all_points_hold_together_as_often_as_said() -> None:
    assert exceeded(1_000, 0.9) <= binom.ppf(1 - 1e-4, 1_000, 0.1)


def test_the_test_of_that_can_fail() -> None:
    """Forty bounds at 90 % each do not hold together at 90 %, as a share of one's chance for each would have it."""
    assert exceeded(1_000, 1 - 40 * 0.02) > binom.ppf(1 - 1e-4, 1_000, 0.1)


def test_points_without_information_bound_nothing() -> None:
    found = bounds_by_counts(np.array([10.0]), np.array([0.0]), 10, 0.99)
    assert found(RATES) == pytest.approx(np.minimum(1 - RATES, 1), abs=1e-9)
    assert found.mu == 0
    assert found.epsilon_at(0) == 0
    assert not found.contradicts(Claim.pure(0))


def test_the_figure() -> None:
    found = bounds(3, draws=20_000)
    axes = found.figure(Claim.gaussian(1)).axes[0]
    assert (axes.get_xscale(), axes.get_yscale()) == ("log", "log")
    labels = [text.get_text() for text in axes.get_legend().get_texts()]
    assert "most that the claim allows: 1-Gaussian DP" in labels
    assert len(found.figure().axes[0].lines) == len(found.figure(PERFECT).axes[0].lines) - 1
