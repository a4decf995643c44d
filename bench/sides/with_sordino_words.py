"""sordino's sketches, words and memory."""

from __future__ import annotations

from fractions import Fraction
from time import perf_counter
from typing import Any

import numpy as np

import sordino as so
from sordino.audit.confidence import epsilon_at_least
from sordino.collect.fingerprint import cell, key
from sordino.collect.frequencies.heavy_words import heavy_words
from sordino.collect.frequencies.k_ary import KAry
from sordino.collect.frequencies.memoised_hashing import MemoisedHashing
from sordino.collect.frequencies.prefix_tree import PrefixTree
from sordino.collect.memory import Memoised

from .randomizers import SKETCHES, made

DAYS = 1000
WORDS = 10**5
PEOPLE, RUNS = 1000, 10
SLACK = 0.027
"""Salts go on until three standard errors of the squared error are below this part of it."""
LEAST_SALTS, MOST_SALTS = 12, 3000


def versions() -> dict[str, str]:
    return {"sordino": so.__version__, "numpy": np.__version__}


def randomize(way: str, people: int, domain: int, epsilon: float) -> tuple[float, int, dict[str, Any]]:
    """Return how long one report takes among many."""
    randomizer, values = made(way, domain, epsilon), np.random.default_rng(1).integers(0, domain, people)
    started = perf_counter()
    randomizer.reports(values)
    return perf_counter() - started, people, {}


def errors(way: str, domain: int, epsilons: list[float]) -> tuple[float, int, dict[str, Any]]:
    """Return the least and the most that squared errors are of theory, and that intervals cover, over ε."""
    started = perf_counter()
    ratios, slacks, covers = zip(*(_cell(way, domain, epsilon) for epsilon in epsilons), strict=True)
    told = {"least": min(ratios), "most": max(ratios), "slack": max(slacks)}
    return perf_counter() - started, 1, {**told, "least_covered": min(covers), "most_covered": max(covers)}


def _cell(way: str, domain: int, epsilon: float) -> tuple[float, float, float]:
    """Return squared error as a part of theory, three standard errors of that, and the part of intervals that hold.

    Sketches get another salt after every few runs, and what shared cells add is in the theory.
    """
    values = np.random.default_rng(2).integers(0, domain, PEOPLE)
    truth = np.bincount(values, minlength=domain)
    shared = float(np.square(truth).sum()) * (1 - 1 / domain)
    means, covered, slack, salt = [], [], np.inf, 0
    while slack > SLACK and salt < MOST_SALTS:
        options = {"salt": salt, "hashes": 256 if domain > 10 else 16} if way in SKETCHES else {}
        randomizer = made(way, domain, epsilon, **options)
        extra = (shared,) if way in SKETCHES else ()
        theory = randomizer.variance(PEOPLE, PEOPLE / domain, *extra)
        squares = []
        for payloads in np.split(randomizer.reports(np.tile(values, RUNS)), RUNS):
            found = randomizer.estimate(randomizer.count(payloads), PEOPLE)
            squares.append(np.mean(np.square(found.values - truth)) / theory)
            low, high = found.intervals().T
            covered.append(np.mean((low <= truth) & (truth <= high)))
        means.append(float(np.mean(squares)))
        salt += 1
        if salt >= LEAST_SALTS:
            slack = 3 * float(np.std(means)) / np.sqrt(salt - 1)
    return float(np.mean(means)), float(slack), float(np.mean(covered))


def words(runs: int) -> tuple[float, int, dict[str, Any]]:
    """Return the mean F1 of the twenty most frequent words."""
    started, scores = perf_counter(), []
    for run in range(runs):
        draw = np.random.default_rng(run)
        named: dict[str, None] = {}
        while len(named) < WORDS:
            named["".join(map(chr, 97 + draw.integers(0, 26, draw.integers(1, 9))))] = None
        weights = 1 / np.arange(1, WORDS + 1)
        held = draw.choice(WORDS, 10**6, p=weights / weights.sum())
        tree = PrefixTree(4, salt=run)
        codes = np.array([tree.code(word) for word in named])
        found = heavy_words(tree, tree.count(tree.reports(codes[held]))).top(20)
        best = np.argsort(-np.bincount(held, minlength=WORDS), kind="stable")[:20]
        truly = {tree.word(code) for code in codes[best].tolist()}
        scores.append(2 * len(truly & set(found.words)) / (20 + len(found.words)))
    return perf_counter() - started, runs, {"f1": float(np.mean(scores)), "lowest": min(scores)}


def days(changes: int) -> tuple[float, int, dict[str, Any]]:
    """Return a lower bound of ε of all reports of 1,000 days, of devices whose value changes so many times."""
    longitudinal, margin = (2, 1) if changes == 0 else (Fraction(1, 2), 4)
    way = MemoisedHashing(100, longitudinal, longitudinal * Fraction(4, 5), seeds=1)
    cells = np.array([cell(value, key(way.salt, 0), way.cells) for value in range(100)])
    histories = [np.flatnonzero(cells == place)[: changes + 1] for place in (0, 1)]
    started, people, hits = perf_counter(), 20_000, []
    for history in histories:
        lead = sum(_lead(way, int(value), people, DAYS // (changes + 1)) for value in history)
        hits.append(int((lead >= margin).sum()))
    stated = float(longitudinal * Memoised(way, changes).draws)
    measured = epsilon_at_least(hits[0], hits[1], people, 0.0, 0.999)
    return perf_counter() - started, 1, {"measured": measured, "stated": stated}


def _lead(way: MemoisedHashing, value: int, people: int, length: int) -> Any:
    """Return +1 where the most frequent report of so many days is cell 0, −1 where it is cell 1."""
    enrolled = np.zeros(people, dtype=np.int64)
    kept = way.permanent_all(np.full(people, value), enrolled)
    seen = np.zeros((people, way.cells), dtype=np.int64)
    for _ in range(length):
        seen[np.arange(people), way.daily_all(kept, enrolled)[:, 2]] += 1
    guess = seen.argmax(axis=1)
    return (guess == 0).astype(np.int64) - (guess == 1)


def unremembered() -> tuple[float, int, dict[str, Any]]:
    """Return how often the value is found from 1,000 fresh reports at ε = 1."""
    way, values = KAry(10, 1), np.arange(10_000) % 10
    seen, started = np.zeros((10_000, 10), dtype=np.int64), perf_counter()
    for _ in range(DAYS):
        seen[np.arange(10_000), way.reports(values)[:, 0]] += 1
    return perf_counter() - started, 1, {"found": float(np.mean(seen.argmax(axis=1) == values))}
