"""Sums of Laplace variables against the same sums in fifty digits, and against draws."""

from __future__ import annotations

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sordino.query.estimate.laplace_sums import MOST, reaches


def beyond(scales: list[float], t: float) -> float:
    """Return P[|ΣL| > t] in fifty digits; equal scales are told apart in the twentieth."""
    with mpmath.workdps(90):
        apart = [
            mpmath.mpf(scale) * (1 + mpmath.mpf(place) * mpmath.mpf(10) ** -20) for place, scale in enumerate(scales)
        ]
        total = mpmath.mpf(0)
        for place, scale in enumerate(apart):
            others = (each for other, each in enumerate(apart) if other != place)
            total += mpmath.exp(-t / scale) * mpmath.fprod(scale**2 / (scale**2 - each**2) for each in others)
        return float(total)


SCALES = st.lists(st.floats(1e-5, 1e5), min_size=1, max_size=MOST)


@given(SCALES, st.sampled_from([0.9, 0.5, 0.05, 1e-3, 1e-9]), st.booleans())
@settings(max_examples=200, deadline=None)
def test_a_reach_is_never_too_short_and_hardly_too_long(scales: list[float], outside: float, equal: bool) -> None:
    chosen = [scales[0]] * len(scales) if equal else scales
    (found,) = reaches(np.array(chosen)[:, None], outside).tolist()
    assert beyond(chosen, found) <= outside
    assert beyond(chosen, found / 1.01) > outside


def test_the_known_value_of_two_equal_scales() -> None:
    (found,) = reaches(np.array([[1.0], [1.0]]), 0.05).tolist()
    assert found == pytest.approx(4.1131, rel=0.003)  # (1 + t/2)·e^(−t) = 0.05


def test_columns_do_not_disturb_each_other_and_zeros_count_for_nothing() -> None:
    columns = np.array([[1.0, 3.0, 0.0], [1.0, 0.0, 2.0], [0.5, 0.0, 0.0]])
    found = reaches(columns, 0.1)
    alone = [reaches(column[:, None], 0.1)[0] for column in columns.T]
    assert found.tolist() == pytest.approx(alone, rel=1e-6)
    assert found[1:].tolist() == pytest.approx([3 * np.log(10), 2 * np.log(10)], rel=1e-5)


def test_draws_stay_within_as_often_as_claimed() -> None:
    generator = np.random.default_rng(5)
    scales = np.array([3.0, 3.0, 1.0, 0.2])
    draws = np.abs(generator.laplace(0, scales, (400_000, 4)).sum(axis=1))
    (found,) = reaches(scales[:, None], 0.05).tolist()
    spread = 5 * (0.05 * 0.95 / len(draws)) ** 0.5
    assert np.mean(draws > found) <= 0.05 + spread
    assert np.mean(draws > found / 1.05) > 0.05 + spread
