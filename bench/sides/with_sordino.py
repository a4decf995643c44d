"""sordino itself, in the environment that runs the benchmark."""

from __future__ import annotations

from fractions import Fraction
from importlib.metadata import version
from statistics import median
from time import perf_counter
from typing import Any

import numpy as np

import sordino as so
from sordino import mechanisms, noise
from sordino.accounting import renyi
from sordino.accounting.events import Composed, DiscreteLaplace, Gaussian, Laplace, PoissonSampled, Repeated
from sordino.accounting.pld import accountant as pld

Timing = tuple[float, int, dict[str, Any]]


def versions() -> dict[str, str]:
    return {"sordino": version("sordino"), "numpy": np.__version__}


# ---- noise ----------------------------------------------------------------------------------------------------------


def laplace(scale: int, size: int) -> Timing:
    return _draw(noise.DiscreteLaplace(scale), size)


def gaussian(scale: int, size: int) -> Timing:
    return _draw(noise.DiscreteGaussian(scale**2), size)


def rounded_gaussian(scale: int, size: int) -> Timing:
    return _draw(noise.RoundedGaussian(scale**2), size)


def _draw(law: Any, size: int) -> Timing:
    started = perf_counter()
    law.draw(size)
    return perf_counter() - started, size, {}


# ---- mechanisms -----------------------------------------------------------------------------------------------------


def one_laplace(scale: int, releases: int) -> Timing:
    return _one_by_one(mechanisms.Laplace(scale), releases)


def one_gaussian(scale: int, releases: int) -> Timing:
    return _one_by_one(mechanisms.Gaussian(scale**2), releases)


def _one_by_one(mechanism: Any, releases: int) -> Timing:
    bound = so.Bound.scalar(1)
    account = so.unlimited("a benchmark")
    grants = [account.reserve(mechanism.event(bound), bound) for _ in range(releases)]
    started = perf_counter()
    for grant in grants:
        mechanism.release(1_000, grant)
    return perf_counter() - started, releases, {}


def one_laplace_with_reservation(scale: int, releases: int) -> Timing:
    """The whole way: price, charge, grant, release."""
    bound = so.Bound.scalar(1)
    account = so.Account(so.budget(epsilon=10_000, delta=1e-6))
    mechanism = mechanisms.Laplace(scale)
    started = perf_counter()
    for _ in range(releases):
        mechanism.release(1_000, account.reserve(mechanism.event(bound), bound))
    return perf_counter() - started, releases, {}


# ---- accounting -----------------------------------------------------------------------------------------------------


def _warm_up() -> None:
    pld.epsilon_bracket(Repeated(Gaussian(9), 2), 1e-3)


def _training(noise: float, rate: float, steps: int) -> Repeated:
    return Repeated(PoissonSampled(Gaussian(Fraction(str(noise)) ** 2), Fraction(str(rate))), steps)


def training_run(noise: float, rate: float, steps: int, delta: float) -> Timing:
    """Both ends of the bracket; the peer computes one value."""
    _warm_up()
    event = _training(noise, rate, steps)
    started = perf_counter()
    bracket = pld.epsilon_bracket(event, delta)
    return perf_counter() - started, 1, {"lower": bracket.lower, "upper": bracket.upper}


def renyi_value(noise: float, rate: float, steps: int, delta: float) -> Timing:
    started = perf_counter()
    value = renyi.epsilon(_training(noise, rate, steps), delta)
    return perf_counter() - started, 1, {"value": value}


def many_events(scales: list[list[Any]], delta: float) -> Timing:
    _warm_up()
    kinds = {"laplace": lambda scale: Laplace(scale), "gaussian": lambda scale: Gaussian(Fraction(str(scale)) ** 2)}
    event = Composed(tuple(kinds[kind](scale) for kind, scale in scales))
    started = perf_counter()
    bracket = pld.epsilon_bracket(event, delta)
    return perf_counter() - started, 1, {"lower": bracket.lower, "upper": bracket.upper}


def admit_one_more(earlier: int) -> Timing:
    """Reserve `earlier` events one by one, of a thousand different kinds, then time a thousand more."""
    bound = so.Bound.scalar(1)
    account = so.Account(so.budget(epsilon=100_000, delta=1e-6))
    kinds = [DiscreteLaplace(1_000 + number) for number in range(1_000)]
    for number in range(earlier):
        account.reserve(kinds[number % len(kinds)], bound)
    further = [DiscreteLaplace(5_000 + number) for number in range(1_000)]
    times = []
    for event in further:
        started = perf_counter()
        account.reserve(event, bound)
        times.append(perf_counter() - started)
    return median(times), 1, {"largest": max(times)}
