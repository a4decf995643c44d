"""sordino's ways to answer with a number: squared errors against theory, coverage of intervals, time of a report."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from importlib.metadata import version
from time import perf_counter
from typing import Any

import numpy as np

from sordino.collect.numbers.choice import WAYS, number, vector
from sordino.collect.numbers.square_wave import SquareWave

STEPS, BATCH = 2**16, 1000
Timing = tuple[float, int, dict[str, Any]]


def versions() -> dict[str, str]:
    """Return what was measured."""
    return {"sordino": version("sordino"), "numpy": np.__version__}


def _held(people: int) -> Any:
    return np.random.default_rng(1).beta(2, 5, people)


def _told(ratio: float, cells: int, inside: Iterable[Any]) -> dict[str, float]:
    return {"ratio": ratio, "within": float(np.sqrt(2 / cells)), "covered": float(np.mean(list(inside)))}


def mean(way: str, epsilon: str, people: int, rounds: int) -> Timing:
    """Ask the same people in many rounds; compare squared errors with the formula, intervals with the truth."""
    built = WAYS[way](Fraction(epsilon), STEPS)
    codes = np.floor(_held(people) * STEPS + 0.5).astype(np.int64)
    truth, errors, inside, seconds = codes.mean() / STEPS, [], [], 0.0
    many = np.tile(codes, BATCH)
    for _ in range(rounds // BATCH):
        started = perf_counter()
        payloads = built.reports(many)
        seconds += perf_counter() - started
        for part in payloads.reshape(BATCH, people, -1):
            found = built.estimate(built.count(part), people)
            errors.append(found.value - truth)
            inside.append(abs(errors[-1]) <= 1.959964 * found.standard_error)
    expected = np.mean([built.variance(code / STEPS) for code in codes]) / people
    values = _told(float(np.mean(np.square(errors)) / expected), rounds, inside)
    return seconds, people * rounds, values | {"worst": built.worst, "size": built.size}


def chosen(epsilon: str) -> Timing:
    """Choose a way for a mean."""
    started = perf_counter()
    found = number(0, 1, epsilon=epsilon)
    seconds = perf_counter() - started
    best = min(make(Fraction(epsilon), STEPS).worst for make in WAYS.values())
    return seconds, 1, {"ratio": found.randomizer.worst / best, "way": list(WAYS).index(found.randomizer.protocol)}


def distribution(epsilon: str, steps: int, people: int, rounds: int) -> Timing:
    """Compare unbiased shares of people up to each point with the truth and with what is told about them."""
    wave = SquareWave(Fraction(epsilon), steps)
    codes = np.floor(_held(people) * steps + 0.5).astype(np.int64)
    below = np.cumsum(np.bincount(codes, minlength=steps + 1))[:-1] / people
    squares, told, inside, started = [], [], [], perf_counter()
    for _ in range(rounds):
        found = wave.estimate(wave.count(wave.reports(codes)), people).cumulative
        errors = found.values[:-1] - below
        squares.append(np.mean(errors**2))
        told.append(np.mean(found.standard_errors[:-1] ** 2))
        inside.append(np.mean(np.abs(errors) <= 1.959964 * found.standard_errors[:-1]))
    seconds = perf_counter() - started
    return seconds, people * rounds, _told(float(np.mean(squares) / np.mean(told)), rounds, inside)


def variance(epsilon: str, people: int, rounds: int) -> Timing:
    """Draw people anew in each round; compare estimated variances with the one that they are drawn from."""
    question, rng = number(0, 1, epsilon=epsilon, what="variance"), np.random.default_rng(1)
    errors, told, started = [], [], perf_counter()
    for _ in range(rounds):
        codes = question.codes(rng.beta(2, 5, people))
        found = question.estimate(question.randomizer.count(question.randomizer.reports(codes)), people).variance
        errors.append(found.value - 10 / (49 * 8))
        told.append(found.standard_error)
    seconds = perf_counter() - started
    inside = np.abs(errors) <= 1.959964 * np.array(told)
    return seconds, people * rounds, _told(float(np.mean(np.square(errors)) / np.mean(np.square(told))), rounds, inside)


def directions(epsilon: str, dimension: int, people: int, rounds: int) -> Timing:
    """Ask for vectors of length 1 at most, the same people in every round."""
    question, rng = vector(dimension, epsilon=epsilon), np.random.default_rng(1)
    way, codes = question.randomizer, question.codes(rng.normal(0.2, 0.2, (people, dimension)))
    truth, errors, inside, seconds = codes.mean(axis=0) / 2**15, [], [], 0.0
    for _ in range(rounds):
        started = perf_counter()
        payloads = way.reports(codes)
        seconds += perf_counter() - started
        found = way.estimate(way.count(payloads), people)
        errors.append(found.values - truth)
        inside.append(np.mean(np.abs(errors[-1]) <= 1.959964 * found.standard_errors))
    expected = np.mean([way.variance(code / 2**15) for code in codes], axis=0).sum() / people
    ratio = float(np.square(errors).sum(axis=1).mean() / expected)
    return seconds, people * rounds, _told(ratio, rounds * dimension, inside)
