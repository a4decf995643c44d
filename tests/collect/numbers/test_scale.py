"""The grid of numbers: clipped, rounded, NaN refused, nothing shown."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sordino.collect.numbers.scale import Scale
from sordino.errors import ArgumentError

SECRET = 987654321.125


def test_codes_are_the_nearest_points_and_ends_hold_the_rest() -> None:
    scale = Scale(-1, 1, steps=4)
    assert scale.codes([-1, -0.8, -0.7, 0, 0.24, 0.26, 1, 5, -math.inf, math.inf, -0.0]).tolist() == [
        0, 0, 1, 2, 2, 3, 4, 4, 0, 4, 2,
    ]  # fmt: skip
    assert scale.value(0.75) == 0.5


@given(st.floats(allow_nan=False), st.sampled_from([2, 16, 2**16, 2**20]))
def test_rounding_is_to_half_a_step(value: float, steps: int) -> None:
    scale = Scale("-3.5", "1e6", steps)
    inside = min(max(value, -3.5), 1e6)
    exact = (Fraction(inside) - scale.low) / (scale.high - scale.low) * steps
    assert abs(scale.code(value) - exact) <= Fraction(1, 2) + Fraction(1, 10**9)


@pytest.mark.parametrize("value", [math.nan, None, "12", True, [1.0], 1j, np.nan, np.bool_(True)])
def test_what_is_no_number_is_refused_and_not_shown(value: Any) -> None:
    with pytest.raises(ArgumentError) as caught:
        Scale(0, 1).code(value)
    assert caught.value.code == "SRD-C201"
    with pytest.raises(ArgumentError) as caught:
        Scale(0, 1).codes([SECRET, math.nan])
    assert str(SECRET) not in str(caught.value)
    assert caught.value.code == "SRD-C201"


@pytest.mark.parametrize(
    ("low", "high"), [(1, 1), (2, 1), ("-1e308", "1e308"), (0, "1e309"), (0, "1e-330"), (1, "1.00000000000000000001")]
)
def test_bounds_that_doubles_cannot_hold_are_refused(low: Any, high: Any) -> None:
    with pytest.raises(ArgumentError, match="SRD-C202"):
        Scale(low, high)


def test_extreme_bounds_that_they_can_hold() -> None:
    assert Scale("-8e307", "8e307", 16).codes([-math.inf, -8e307, 0, 1.7e308]).tolist() == [0, 0, 8, 16]
    assert Scale(0, "1e-300", 16).codes([5e-301, 1]).tolist() == [8, 16]
