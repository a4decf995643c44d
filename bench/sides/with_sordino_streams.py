"""sordino's streams: errors over a whole stream, the time of a batch, and the size of what is kept."""

from __future__ import annotations

import tempfile
from importlib.metadata import version
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

import sordino as so
from sordino.collect import stream as streams

COPIES, REPEATS = 8, 200
Timing = tuple[float, int, dict[str, Any]]


def versions() -> dict[str, str]:
    """Return what was measured."""
    return {"sordino": version("sordino"), "numpy": np.__version__}


def errors(steps: int, batch: int, rho: str, strategy: str) -> Timing:
    """Run a whole stream in several copies, the cells of a histogram, and compare totals with the truth."""
    keys = [str(place) for place in range(COPIES)]
    opened = _opened(streams.histogram(steps, keys, strategy=strategy), rho)
    counts = np.random.default_rng(1).poisson(20.0, size=(steps, 1)).repeat(COPIES, axis=1)
    truth = np.cumsum(counts, axis=0)
    kept, squares, largest = opened._kept, np.zeros(COPIES), np.zeros(COPIES)
    started = perf_counter()
    for start in range(0, steps, batch):
        totals, kept = opened._measure(counts[start : start + batch], kept)
        off = totals - truth[start : start + batch]
        squares += np.square(off).sum(axis=0)
        largest = np.maximum(largest, np.abs(off).max(axis=0))
    seconds = perf_counter() - started
    price = opened.price
    seen = {"seen": float(largest.mean()), "seen_mean": float(np.sqrt(squares.mean() / steps))}
    return seconds, steps, {"largest": price.largest, "mean": price.root_mean_square, **seen}


def batches(steps: int, batch: int, rho: str) -> Timing:
    """Compute batches, one after the other: sums, noise, totals."""
    opened = _opened(streams.counting(steps), rho)
    counts = np.random.default_rng(1).poisson(20.0, size=(batch, 1))
    _, kept = opened._measure(counts, opened._kept)
    started = perf_counter()
    for _ in range(REPEATS):
        _, kept = opened._measure(counts, kept)
    return perf_counter() - started, REPEATS, {}


def noise(steps: int, batch: int, rho: str) -> Timing:
    """Draw the noise of as many batches, and nothing else."""
    law = _opened(streams.counting(steps), rho).plan.mechanism.law
    law.draw(batch)
    started = perf_counter()
    for _ in range(REPEATS):
        law.draw(batch)
    return perf_counter() - started, REPEATS, {}


def kept(steps: int, batch: int, rho: str) -> Timing:
    """Hand over batches to a stream with a ledger and a folder; return the time of one, and what lies in the folder."""
    with tempfile.TemporaryDirectory() as folder:
        account = so.open(f"{folder}/budget.db").account(streams.watched("bench", unit="rider"), so.budget(rho=1))
        opened = streams.open_stream(account, streams.counting(steps), rho=rho, folder=f"{folder}/streams")
        counts = np.random.default_rng(1).poisson(2000.0, size=batch)
        opened.add(counts)
        started = perf_counter()
        for _ in range(20):
            opened.add(counts)
        seconds = perf_counter() - started
        size = sum(each.stat().st_size for each in Path(folder, "streams").iterdir())
    return seconds, 20, {"bytes": float(size)}


def _opened(spec: Any, rho: str) -> streams.Stream:
    account = so.account(streams.watched("bench", unit="rider"), so.unlimited("nobody is in it"))
    return streams.open_stream(account, spec, rho=rho)
