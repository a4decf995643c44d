"""Counts that were shown because they were large: intervals hold for the groups shown, exactly computed."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from sordino.accounting.bound import Bound
from sordino.mechanisms.geometric_threshold import GeometricThreshold
from sordino.mechanisms.partition import GaussianThreshold, LaplaceThreshold
from sordino.query.estimate.shown import Shown

KEYS = Bound.vector(l0=2, linf=1)
RULES: list[Any] = [
    GeometricThreshold(2, "1e-5", 2),
    GeometricThreshold("0.3", "0.01", 2),
    LaplaceThreshold.for_epsilon(1, "1e-4", KEYS),
    GaussianThreshold.for_rho("0.1", "1e-6", KEYS),
]


def law_if_shown(rule: Any, units: int) -> tuple[np.ndarray, np.ndarray]:
    """All counts that can be shown for a group of so many, and their probabilities given that it is."""
    least = rule.threshold(KEYS)
    shown = np.arange(least, max(least, units) + 400)
    tails = np.exp(
        rule.log_at_least(np.append(shown, shown[-1] + 1) - units) - rule.log_at_least(np.array([least - units]))
    )
    return shown, tails[:-1] - tails[1:]


def coverage(units: int, low: np.ndarray, high: np.ndarray, chances: np.ndarray) -> float:
    return float(chances[(low <= units) & (units <= high)].sum())


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: type(rule).__name__)
@pytest.mark.parametrize("confidence", ["0.5", "0.95", "0.999"])
def test_every_true_count_is_covered_given_that_it_is_shown(rule: Any, confidence: str) -> None:
    least = rule.threshold(KEYS)
    for units in (*range(1, 2 * least + 20, max(1, least // 25)), 10 * least):
        shown, chances = law_if_shown(rule, units)
        assert chances.sum() == pytest.approx(1)
        low, high = Shown(shown, least, rule).interval(confidence)
        assert coverage(units, low, high, chances) >= float(confidence) - 1e-9, units


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: type(rule).__name__)
def test_plain_intervals_would_miss_small_groups(rule: Any) -> None:
    """What the test above is there for: value ± t leaves out nearly every small group that is shown."""
    shown, chances = law_if_shown(rule, 1)
    reach = rule.error(0.95)
    assert coverage(1, shown - reach, shown + reach, chances) < 0.3


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: type(rule).__name__)
def test_far_above_the_threshold_they_are_the_plain_ones(rule: Any) -> None:
    least = rule.threshold(KEYS)
    far = np.array([20 * least + 1000])
    low, high = Shown(far, least, rule).interval("0.95")
    reach = rule.error(0.95)
    assert abs((high[0] - low[0]) / 2 - reach) <= 0.05 * reach + 1
    shown, chances = law_if_shown(rule, int(far[0]))
    everything = np.arange(far[0] - 300, far[0] + 300)
    low, high = Shown(everything, least, rule).interval("0.95")
    probabilities = np.interp(everything, shown, chances, left=0, right=0)
    assert coverage(int(far[0]), low, high, probabilities) == pytest.approx(0.97, abs=0.03)


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: type(rule).__name__)
def test_at_the_threshold_one_unit_is_possible_and_values_are_inside(rule: Any) -> None:
    least = rule.threshold(KEYS)
    estimate = Shown(np.arange(least, least + 50), least, rule)
    low, high = estimate.interval("0.95")
    assert low[0] == 1
    assert np.all(low <= estimate.values)
    assert np.all(estimate.values <= high)
    assert np.all(np.diff(low) >= 0)
    assert estimate.whole
    assert estimate.standard_error == pytest.approx([rule.variance_of_error**0.5] * 50)
    part = estimate.take(np.array([3, 1]))
    assert part.values.tolist() == [least + 3, least + 1]
    assert part.interval("0.95")[0].tolist() == [low[3], low[1]]
    wide_low, wide_high = estimate.interval(1 - Fraction(1, 10**15))
    assert np.all(wide_low <= low)
    assert np.all(wide_high >= high)


def test_no_groups_at_all() -> None:
    low, high = Shown(np.zeros(0, dtype=np.int64), 14, RULES[0]).interval("0.95")
    assert len(low) == len(high) == 0
