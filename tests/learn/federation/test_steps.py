"""Clipped vectors in steps: no unit ever moves a sum by more than the norms that are priced."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from sordino.learn.federation.steps import ClippedSteps
from sordino.mechanisms.grid import Grid


def norms(steps: np.ndarray) -> tuple[int, int]:
    whole = [int(each) for each in steps]
    return sum(each * each for each in whole), sum(map(abs, whole))


def within(clipped: ClippedSteps, vector: object) -> np.ndarray:
    steps = clipped.of(vector)
    squared, total = norms(steps)
    assert steps.dtype == np.int64
    assert squared <= (clipped.clip / clipped.grid.step) ** 2
    assert squared <= clipped.squared
    assert total <= clipped.total
    assert max(map(abs, map(int, steps)), default=0) <= clipped.most
    return steps


@given(
    arrays.arrays(np.float64, 6, elements=st.floats(allow_nan=True, allow_infinity=True)),
    st.fractions(Fraction(1, 1000), 1000),
)
@example(np.full(6, 5e-324), Fraction(1))
@example(np.full(6, 1.7e308), Fraction(1, 3))
@example(np.array([1.0, np.nan, 0, 0, 0, 0]), Fraction(1))
@example(np.array([1.0, 1e-300, 1e300, 0, 0, 0]), Fraction(1))
def test_whatever_is_given_stays_within_the_norms(vector: np.ndarray, clip: Fraction) -> None:
    within(ClippedSteps.fitting(6, clip), vector)


def test_every_vector_of_a_coarse_grid() -> None:
    """By enumeration, where steps are as large as the vectors: all directions and lengths around the clip."""
    clipped = ClippedSteps(2, Fraction(5), Grid(0))
    for first, second in product(np.arange(-8, 8.01, 0.25), repeat=2):
        steps = within(clipped, [first, second])
        length = math.hypot(first, second)
        if length <= 5:
            assert steps.tolist() == [math.trunc(first), math.trunc(second)]


class Tensor:
    """Fails as a tensor does that wants a gradient: neither by a ValueError nor by a TypeError."""

    def __array__(self, *_: object, **__: object) -> np.ndarray:
        raise RuntimeError("patient 4711")


@pytest.mark.parametrize(
    "given", [None, "patient 4711", [1, 2], [[1.0, 2, 3]], np.zeros(4), [1, "a", 2], object(), Tensor()]
)
def test_what_is_no_vector_of_the_length_counts_as_nothing(given: object) -> None:
    assert not ClippedSteps.fitting(3, Fraction(1)).of(given).any()


def test_rounding_takes_little_and_the_direction_stays() -> None:
    dice = np.random.default_rng(5)
    clipped = ClippedSteps.fitting(400, Fraction(2))
    for factor in (0.01, 1.0, 1e6):
        vector = dice.normal(size=400) * factor
        wanted = vector * min(1, 2 / np.linalg.norm(vector))
        found = clipped.grid.from_steps(within(clipped, vector))
        assert np.linalg.norm(found - wanted) < 2 / 1000
    assert np.linalg.norm(found) > 2 * 0.999


def test_the_second_clip_is_needed_where_floats_round_up() -> None:
    """Vectors that end exactly on the sphere: the float's last bit alone decides, and whole numbers have the say."""
    clipped = ClippedSteps(3, Fraction(3), Grid(-30))
    for scale in np.nextafter(1, 2) ** np.arange(40):
        within(clipped, np.array([2.0, 2.0, 1.0]) * scale)


def test_an_imaginary_part_is_dropped_without_a_word() -> None:
    assert within(ClippedSteps.fitting(2, Fraction(1)), np.array([1j, 0.5])).tolist() == [0, 1024]
