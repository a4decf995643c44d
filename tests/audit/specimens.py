"""Mechanisms that do not keep their claim, and beside each its honest twin; drawn at array speed, with a seed.

Every specimen has been published, taught or shipped somewhere. `release(value, n, seed)` returns n outputs.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from sordino.audit import neighbours
from sordino.audit.claim import Claim
from sordino.audit.subject import Subject


@dataclass(frozen=True)
class Specimen:
    """A wrong mechanism, what it really costs on the pairs it is tried on, and how many draws suffice to see it."""

    subject: Subject
    honest: Subject
    true_epsilon: float
    draws: int


def laplace(scale: float) -> Callable[..., Any]:
    def release(value: float, draws: int, seed: int | None = None) -> Any:
        return value + np.random.default_rng(seed).laplace(0, scale, draws)

    return release


def gaussian(sigma: float) -> Callable[..., Any]:
    def release(value: float, draws: int, seed: int | None = None) -> Any:
        return value + np.random.default_rng(seed).normal(0, sigma, draws)

    return release


def randomized_response(epsilon: float, *, other: bool) -> Callable[..., Any]:
    """The truth with e^ε/(e^ε+1); otherwise the other value, or (the mistake) a random one."""

    def release(value: int, draws: int, seed: int | None = None) -> Any:
        rng = np.random.default_rng(seed)
        honest = rng.random(draws) < 1 / (1 + math.exp(-epsilon))
        return np.where(honest, value, 1 - value if other else rng.integers(0, 2, draws))

    return release


def noisy_max(scale: float, *, prints_value: bool) -> Callable[..., Any]:
    def release(value: list[float], draws: int, seed: int | None = None) -> Any:
        noisy = np.asarray(value) + np.random.default_rng(seed).laplace(0, scale, (draws, len(value)))
        return noisy.max(axis=1) if prints_value else noisy.argmax(axis=1)

    return release


def sparse_vector(scale_threshold: float, scale_queries: float, threshold: float, positives: int) -> Callable[..., Any]:
    """Which answers are above the threshold, in lists that end with the last positive allowed."""

    def release(value: list[float], draws: int, seed: int | None = None) -> Any:
        rng = np.random.default_rng(seed)
        noisy = np.asarray(value) + rng.laplace(0, scale_queries, (draws, len(value)))
        above = noisy >= threshold + rng.laplace(0, scale_threshold, (draws, 1))
        ends = np.where(above.cumsum(axis=1) >= positives, np.arange(len(value)), len(value) - 1).min(axis=1)
        return [row[: end + 1] for row, end in zip(above.tolist(), ends.tolist(), strict=True)]

    return release


def stability_histogram(leak: float) -> Callable[..., Any]:
    """Noisy counts of the groups that somebody is in, if above a threshold that one person passes with chance `leak`.

    Groups that nobody is in, or that stay hidden, are NaN.
    """

    def release(value: list[float], draws: int, seed: int | None = None) -> Any:
        counts = np.asarray(value)
        noisy = counts + np.random.default_rng(seed).laplace(0, 1, (draws, len(value)))
        return np.where((counts > 0) & (noisy >= 1 - math.log(2 * leak)), noisy, np.nan)

    return release


def classic_sigma(epsilon: float, delta: float) -> float:
    return math.sqrt(2 * math.log(1.25 / delta)) / epsilon


ONE = neighbours.scalars(1)
FIVE = neighbours.lists(5)
STREAMS = (([1] * 5 + [0] * 5, [0] * 5 + [1] * 5), *neighbours.lists(10))

HALF_NOISE = Specimen(
    Subject("Laplace with half the noise", laplace(0.5), ONE, Claim.pure(1)),
    Subject("Laplace", laplace(1), ONE, Claim.pure(1)),
    true_epsilon=2.0,
    draws=20_000,
)
FOUR_FIFTHS_NOISE = Specimen(
    Subject("Laplace with four fifths of the noise", laplace(0.8), ONE, Claim.pure(1)),
    HALF_NOISE.honest,
    true_epsilon=1.25,
    draws=100_000,
)
RANDOM_ANSWER = Specimen(
    Subject(
        "randomized response that answers at random", randomized_response(1, other=False), ((1, 0),), Claim.pure(1)
    ),
    Subject("randomized response", randomized_response(1, other=True), ((1, 0),), Claim.pure(1)),
    true_epsilon=math.log(1 + 2 * math.e),
    draws=20_000,
)
PRINTED_MAXIMUM = Specimen(
    Subject("noisy max that prints the value", noisy_max(2, prints_value=True), FIVE, Claim.pure(1)),
    Subject("noisy max", noisy_max(2, prints_value=False), FIVE, Claim.pure(1)),
    true_epsilon=2.5,
    draws=40_000,
)
SPARSE_VECTOR = Specimen(
    Subject("sparse vector in circulation", sparse_vector(2, 4 / 3, 0, 10), STREAMS, Claim.pure(1)),
    Subject("sparse vector", sparse_vector(2, 40, 0, 10), STREAMS, Claim.pure(1)),
    true_epsilon=8.0,
    draws=60_000,
)
CLASSIC_GAUSSIAN = Specimen(
    Subject(
        "Gaussian by the classic formula at ε = 10",
        gaussian(classic_sigma(10, 0.1)),
        ONE,
        Claim.approximate(10, "0.1"),
    ),
    Subject(
        "Gaussian by the classic formula at ε = 1", gaussian(classic_sigma(1, 0.1)), ONE, Claim.approximate(1, "0.1")
    ),
    true_epsilon=14.7,
    draws=8_000_000,
)

GROUPS = (([100, 50, 0], [99, 50, 0]), ([100, 50, 1], [100, 50, 0]))
"""On the first pair the third group never shows; on the second somebody is alone in it."""
STABILITY_HISTOGRAM = Specimen(
    Subject(
        "stability histogram with too low a threshold",
        stability_histogram(0.01),
        GROUPS,
        Claim.approximate(1, "0.0001"),
    ),
    Subject("stability histogram", stability_histogram(0.0001), GROUPS, Claim.approximate(1, "0.0001")),
    true_epsilon=math.inf,
    draws=60_000,
)
SPECIMENS = (
    HALF_NOISE,
    FOUR_FIFTHS_NOISE,
    RANDOM_ANSWER,
    PRINTED_MAXIMUM,
    SPARSE_VECTOR,
    CLASSIC_GAUSSIAN,
    STABILITY_HISTOGRAM,
)
