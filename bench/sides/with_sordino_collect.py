"""sordino's local reports."""

from __future__ import annotations

import math
from collections.abc import Iterator
from time import perf_counter
from typing import Any

import numpy as np

import sordino as so
from sordino.collect.choice import WAYS, frequency

from .randomizers import made

SLACK = 0.027
"""Runs go on until three standard errors of the squared error are below this part of it."""
MOST_RUNS = 60_000
LEAST_RUNS = 3


def versions() -> dict[str, str]:
    return {"sordino": so.__version__, "numpy": np.__version__}


def _values(people: int, domain: int) -> Any:
    return np.random.default_rng(1).integers(0, domain, people)


def randomize(way: str, people: int, domain: int, epsilon: float) -> tuple[float, int, dict[str, Any]]:
    """Return how long one report takes among many."""
    randomizer, values = made(way, domain, epsilon), _values(people, domain)
    started = perf_counter()
    randomizer.reports(values)
    return perf_counter() - started, people, {}


def errors(way: str, domain: int, epsilons: list[float]) -> tuple[float, int, dict[str, Any]]:
    """Return the least and the most that squared errors are of theory, and that intervals cover, over ε."""
    started = perf_counter()
    cells = [_cell(made(way, domain, epsilon), domain) for epsilon in epsilons]
    ratios, slacks, covers = zip(*cells, strict=True)
    told = {"least": min(ratios), "most": max(ratios), "slack": max(slacks)}
    return perf_counter() - started, 1, {**told, "least_covered": min(covers), "most_covered": max(covers)}


def _cell(randomizer: Any, domain: int) -> tuple[float, float, float]:
    """Return squared error as a part of theory, three standard errors of that, and the part of intervals that hold."""
    values = _population(domain, _people(randomizer, domain))
    truth = np.bincount(values, minlength=domain)
    theory = len(values) * randomizer.mean_squared_error()
    squares, covered, slack = [], [], math.inf
    while slack > SLACK and len(squares) < MOST_RUNS:
        for found in _runs(randomizer, values):
            squares.append(float(np.square(found.values - truth).mean()) / theory)
            low, high = found.intervals().T
            covered.append(float(np.mean((low <= truth) & (truth <= high))))
        if len(squares) >= LEAST_RUNS:
            # Three runs cannot tell their own spread; then errors of many values are taken as independent.
            known = np.std(squares) / math.sqrt(len(squares)) if len(squares) > 30 else 0.0
            slack = 3 * max(float(known), math.sqrt(2 / (len(squares) * domain)))
    return float(np.mean(squares)), slack, float(np.mean(covered))


def _runs(randomizer: Any, values: Any) -> Iterator[Any]:
    """Yield estimates of some runs, whose reports are made at once."""
    together = max(1, 200_000 // len(values)) if randomizer.domain <= 1000 else 1
    for payloads in np.split(randomizer.reports(np.tile(values, together)), together):
        yield randomizer.estimate(randomizer.count(payloads), len(values))


def _people(randomizer: Any, domain: int) -> int:
    """Return people enough that more than a dozen reports lie about each value, as far as memory goes."""
    rarest = min(float(randomizer.support.other), 1 - float(randomizer.support.own))
    return int(min(max(2 * domain if domain <= 1000 else 2000, 200, 16 / rarest), 1.2e9 / randomizer.size, 6e6))


def _population(domain: int, people: int) -> Any:
    """Return values of a Zipf law, the same number of people hold each in every run."""
    shares = 1 / np.arange(1, domain + 1)
    ends = np.round(people * np.cumsum(np.append(0, shares)) / shares.sum()).astype(int)
    return np.repeat(np.arange(domain), np.diff(ends))


def poison(way: str, domain: int, epsilon: float, people: int) -> tuple[float, int, dict[str, Any]]:
    """Return which part of the bound 1 % of clients reach by the better of two attacks, against honest answers."""
    randomizer, liars, target = made(way, domain, epsilon), people // 100, 3
    started = perf_counter()
    honest = randomizer.count(randomizer.reports(_values(people - liars, domain)))
    without = randomizer.estimate(honest, people - liars).values[target]
    shifts = []
    for wanted, held in ((True, 0), (False, 1)):
        lie = np.tile(_payload(randomizer, target, wanted), (liars, 1))
        moved = randomizer.estimate(honest + randomizer.count(lie), people).values[target]
        shifts.append(abs(moved - (without + held * liars)))
    return perf_counter() - started, 1, {"value": max(shifts) / randomizer.poison().shift(liars)}


def _payload(randomizer: Any, target: int, wanted: bool) -> Any:
    """Return a payload that supports a value, or does not: alone it would be estimated above 0, or not."""
    for row in randomizer.reports(np.full(10_000, target)):
        if (randomizer.estimate(randomizer.count(row[None]), 1).values[target] > 0) == wanted:
            return row
    raise RuntimeError("no such payload was found")


def choice() -> tuple[float, int, dict[str, Any]]:
    """Return by how much the chosen way is worse than the best of all, at most, over domains and ε."""
    started, worst, cells = perf_counter(), 0.0, 0
    for domain in (2, 3, 5, 10, 30, 100, 300, 1000, 10**4, 10**5):
        for epsilon in np.linspace(0.5, 8, 31).round(2):
            best = min(made(way.name, domain, epsilon).mean_squared_error() for way in WAYS)
            worst = max(worst, frequency(domain, epsilon=float(epsilon)).randomizer.mean_squared_error() / best)
            cells += 1
    return perf_counter() - started, cells, {"value": worst}
