"""A pair on a uniform grid of losses, from above (it dominates the pair) and from below (the pair dominates it).

*Above*: connect the dots (Doroshenko, Ghazi, Kamath, Kumar, Manurangsi 2022). The outcomes of a cell (a, a+h] are
replaced by two, with losses a and a+h, that share P and Q of the cell. Each likelihood ratio is thereby spread and its
mean under Q kept, so every hockey-stick divergence, convex in it, can only grow. The error is of order h².

*Below*: only the index of the nearest grid point is released, a post-processing, so every divergence can only shrink.
The law of that index is kept under P and under Q; nothing is rounded after that. The error is of order h², too.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from sordino.accounting.curve import Floats, Pair

_ULPS = 4e-16
_LOST = 1e-290  # below this a mass of Q may have lost digits to underflow


@dataclass(frozen=True)
class Above:
    """P of the losses step·first, step·(first+1), …; `infinite` is P of the loss +∞. Q follows from P and the loss."""

    first: int
    p: Floats
    infinite: float


@dataclass(frozen=True)
class Below:
    """P and Q of the indices first, first+1, …, where `scaled_q` is Q times e^{step·index}; a low index is left out."""

    first: int
    p: Floats
    scaled_q: Floats
    infinite: float


def above(pair: Pair, step: float, low: float, high: float) -> Above:
    """Return a pair on the grid that dominates `pair`; losses below `low` are raised to it.

    Beyond the grid, which ends above `high`, the dots are connected to +∞: the top point keeps all of Q that lies there
    and its share of P.
    """
    first = math.floor(low / step)
    grid: Floats = step * np.arange(first, max(math.floor(high / step) + 2, first + 1) + 1, dtype=np.float64)
    p, q = pair.masses(grid)
    with np.errstate(divide="ignore"):
        matched = np.exp(np.log(q[1:]) + grid)
    left = (matched - p[1:] * math.exp(-step)) / -math.expm1(-step)
    left[-1] = matched[-1]
    left = np.where(q[1:] > _LOST, np.clip(left, 0.0, p[1:]), 0.0)
    right = p[1:] - left
    # an atom that lies on the grid may seem to lie beside it by a rounding error of its loss
    right[:-1][right[:-1] <= (_ULPS / step) * (1 + np.abs(grid[:-1])) * p[1:-1]] = 0.0
    masses = p[1:] - right
    masses[1:] += right[:-1]
    masses[0] += p[0]
    used = int(np.flatnonzero(masses)[-1]) + 1
    return Above(first, masses[:used], float(right[-1]))


def below(pair: Pair, step: float, low: float, high: float) -> Below:
    """Return the law of the rounded loss; what lies above `high` counts as there, what lies below `low` is left out."""
    first = math.floor(low / step)
    last = max(math.ceil(high / step), first)
    index = np.arange(first, last + 1)
    edges = np.append((index - 0.5) * step, np.inf)
    p, q = pair.masses(edges)
    p, q, infinite = p[1:-1], q[1:-1], float(p[-1])
    with np.errstate(divide="ignore"):
        scaled = np.exp(np.log(q) + step * index)
    return Below(first, p, np.where(q > _LOST, scaled, p * math.exp(step / 2)), infinite)
