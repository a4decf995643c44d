"""Outputs of every form with noise in them, drawn at array speed, with a seed."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np


def drawn(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return ``function(value, rng, draws)`` as a release that takes a seed."""

    def release(value: Any, draws: int, seed: int | None = None) -> Any:
        return function(value, np.random.default_rng(seed), draws)

    return release


def one_by_one(numbers: Callable[..., Any], told: Callable[[Any], Any]) -> Callable[..., Any]:
    """Return what draws numbers, and then tells each in its own way."""
    return lambda value, rng, draws: [told(number) for number in numbers(value, rng, draws).tolist()]


def geometric(rng: Any, scale: float, draws: int) -> Any:
    """Two-sided geometric noise: P(k) falls by e^(1/scale) with every step, to the last digit of a float."""
    chance = -math.expm1(-1 / scale)
    return rng.geometric(chance, draws) - rng.geometric(chance, draws)


def laplace_rows(matrix: Any, scale: float) -> Callable[..., Any]:
    """Return linear answers, each with Laplace noise."""
    return lambda value, rng, draws: np.asarray(value) @ matrix + rng.laplace(0, scale, (draws, matrix.shape[1]))
