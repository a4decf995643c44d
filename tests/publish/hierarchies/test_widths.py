"""Intervals cover as often as they say: exactly where one draw is all there is, and closely where draws are mixed."""

from __future__ import annotations

import numpy as np
import pytest

from sordino import noise
from sordino.publish.hierarchies.widths import half_widths


@pytest.mark.parametrize("variance", [0.05, 0.3, 1.0, 4.0, 20.0])
@pytest.mark.parametrize("confidence", [0.8, 0.95, 0.999])
def test_one_draw_alone_is_covered_exactly(variance: float, confidence: float) -> None:
    steps = np.arange(-200, 201)
    chances = np.exp(-(steps**2) / (2 * variance))
    chances /= chances.sum()
    width = half_widths(np.array([chances @ steps**2]), variance, confidence)[0]
    assert width == pytest.approx(round(width), abs=1e-3)
    assert chances[np.abs(steps) <= round(width)].sum() >= confidence - 1e-9
    assert width < 0.5 or chances[np.abs(steps) <= round(width) - 1].sum() < confidence


def test_noise_that_is_large_or_not_there_is_normal() -> None:
    variances = np.array([1.0, 4.0, 100.0])
    for own in (None, 400.0):
        assert half_widths(variances, own, 0.95) == pytest.approx(1.959964 * np.sqrt(variances), rel=1e-6)


@pytest.mark.parametrize("weight", [0.3, 0.6, 0.9])
def test_mixed_draws_are_covered_as_often_as_said(weight: float) -> None:
    own = 1.0
    variance = weight * own
    width = half_widths(np.array([variance]), own, 0.95)[0]
    dice = np.random.default_rng(7)
    drawn = noise.DiscreteGaussian(own).draw(200_000) * weight + dice.normal(
        0, np.sqrt(variance * (1 - weight)), 200_000
    )
    assert np.mean(np.abs(drawn) <= width) == pytest.approx(0.95, abs=0.003)
    assert np.mean(np.abs(drawn) <= 0.7 * width) < 0.92
