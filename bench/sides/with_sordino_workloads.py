"""sordino's ranges, maps and marginals: what they are off by on histograms of others, and what strategies take.

Designs are run as they are, with the exact counts given in place of an engine's.
"""

from __future__ import annotations

from importlib.metadata import version
from time import perf_counter
from types import SimpleNamespace
from typing import Any

import numpy as np
import pyarrow as pa

import sordino as so
from sordino.publish.workloads.contrasts import Parts, all_of
from sordino.publish.workloads.gram import Workload, lower_bound
from sordino.publish.workloads.strategy import strategy_for
from workload_data import SIDE, adult_sizes, box_error, counts, lines, range_error, squares

Timing = tuple[float, int, dict[str, Any]]


def versions() -> dict[str, str]:
    """Return what was measured."""
    return {"sordino": version("sordino"), "numpy": np.__version__}


class Given:
    """Stands for a run whose exact counts are known."""

    plan = None

    def __init__(self, cells: Any) -> None:
        self.data = SimpleNamespace(compute=lambda _task, _salt: SimpleNamespace(sums=[cells]))

    def release(self, mechanism: Any, _bound: Any, value: Any) -> Any:
        """Return the value with the mechanism's noise."""
        return value + mechanism.law.draw(value.shape)

    def stage(self, _name: str) -> None:
        """Tell nobody."""


def _account() -> Any:
    table = pa.table({"x": [1.0], "y": [1.0]})
    columns = {"x": so.bounds(0, 4096), "y": so.bounds(0, 4096)}
    return so.account(so.dataset("grid", table, unit=so.ROW, columns=columns), so.unlimited("a benchmark"))


def ranges(epsilon: float, runs: int) -> Timing:
    """Return the error on each one-dimensional set."""
    design = so.publish.ranges(_account(), "x", cells=4096).plan(epsilon=str(epsilon)).design
    started, values = perf_counter(), {}
    for name, path in lines().items():
        cells = counts(path).ravel()
        found = [range_error(cells, design.run(Given(cells)).counts) for _ in range(runs)]
        values[name] = float(np.mean(found))
    return perf_counter() - started, runs, values


def boxes(epsilon: float, runs: int, method: str) -> Timing:
    """Return the error on each two-dimensional set."""
    frame = {"box": (0, 0, 1, 1), "cells": (SIDE, SIDE)}
    asked = so.publish.heat_map(_account(), "y", "x", **frame, method=method)
    design = asked.plan(epsilon=str(epsilon)).design
    started, values = perf_counter(), {}
    for name, path in squares().items():
        cells = counts(path).reshape(SIDE, SIDE)
        found = [box_error(cells, design.run(Given(cells.ravel())).cells) for _ in range(runs)]
        values[name] = float(np.mean(found))
    return perf_counter() - started, runs, values


def strategy(kind: str, cells: int) -> Timing:
    """Return the expected error of the strategy that is found, against the singular-value bound."""
    started = perf_counter()
    found = strategy_for(kind, cells)
    seconds = perf_counter() - started
    workload = Workload(kind, cells)
    error = np.sqrt(found.mean_squared_error(workload) * found.inner.diagonal().max())
    return seconds, 1, {"ratio": float(error) / lower_bound(workload.gram(), workload.queries)}


def pairs() -> Timing:
    """Return the expected root mean square error of a cell of all pairs of Adult, at ρ = 1/2."""
    started, sizes = perf_counter(), adult_sizes()
    parts = Parts(tuple(sizes), all_of(len(sizes), 2))
    shares = parts.shares()
    noise = {
        part: float(np.prod([float(sizes[each]) * (sizes[each] - 1) for each in part])) / float(share)
        for part, share in shares.items()
    }
    squares_ = sum(parts.cells(each) * parts.variance(each, noise) for each in parts.wanted)
    return perf_counter() - started, 1, {"error": float(np.sqrt(squares_ / sum(map(parts.cells, parts.wanted))))}
