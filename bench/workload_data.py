"""Where the histograms of DPBench and the coded Adult lie; they are no part of this repository."""

from __future__ import annotations

import json
import os
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

DATA = Path(os.environ.get("SORDINO_BENCH_DATA", Path(__file__).parents[2] / "shared" / "data"))
MISSING = "as the histograms are not there: set SORDINO_BENCH_DATA to the folder that has histograms/"
SIDE, CELLS, RANGES, BOXES = 256, 4096, 2000, 1000


def are_there() -> bool:
    """Return whether the histograms can be read."""
    return bool(lines()) and bool(squares())


def lines() -> dict[str, Path]:
    """Return the one-dimensional sets."""
    return {each.name.split(".")[0]: each for each in sorted((DATA / "histograms").glob("*.n4096.npy"))}


def squares() -> dict[str, Path]:
    """Return the two-dimensional sets."""
    return {each.name.split("_")[0]: each for each in sorted((DATA / "histograms").glob("*_256_256.npy"))}


def counts(path: Path) -> NDArray[np.int64]:
    """Return a histogram as whole counts."""
    return np.load(path).astype(np.int64)


def adult_sizes() -> list[int]:
    """Return the number of codes of each column of Adult."""
    return [int(each) for each in json.loads((DATA / "tabular" / "adult_mbi-domain.json").read_text()).values()]


def range_error(truth: NDArray[np.int64], found: NDArray[np.float64]) -> float:
    """Return the root mean square error over the 2,000 ranges, as a share of all rows."""
    ends = np.random.default_rng(0).integers(0, CELLS, (RANGES, 2))
    low, high = ends.min(1), ends.max(1) + 1
    off = np.concatenate([[0.0], np.cumsum(found - truth)])
    return float(np.sqrt(np.mean((off[high] - off[low]) ** 2)) / truth.sum())


def box_error(truth: NDArray[np.int64], found: NDArray[np.float64]) -> float:
    """Return the root mean square error over the 1,000 boxes, as a share of all rows."""
    dice = np.random.default_rng(1)
    up, across = (np.sort(dice.integers(0, SIDE, (BOXES, 2)), 1) for _ in range(2))
    off = np.zeros((SIDE + 1, SIDE + 1))
    off[1:, 1:] = (found - truth).cumsum(0).cumsum(1)
    low, high, left, right = up[:, 0], up[:, 1] + 1, across[:, 0], across[:, 1] + 1
    sums = off[high, right] - off[low, right] - off[high, left] + off[low, left]
    return float(np.sqrt(np.mean(sums**2)) / truth.sum())
