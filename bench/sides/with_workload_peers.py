"""What others do for ranges and boxes, from their papers: no package ships them. Noise is NumPy's.

Identity; the binary tree of Hay et al. 2010; HB, the tree whose fan-out follows from the number of cells (Qardaji, Yang
& Li 2013), without its root; a likeness of DAWA (Li, Hay & Miklau 2014): intervals of lengths 1, 2, 4 … are merged by
noisy deviation for a quarter of ε, then counted by a tree; uniform grid (Qardaji et al. 2013); quadtree with least
squares (Cormode et al. 2012); PrivTree (Zhang, Xiao & Xie 2016); ResidualPlanner's closed form (Xiao et al. 2023).
"""

from __future__ import annotations

import math
from itertools import combinations
from time import perf_counter
from typing import Any

import numpy as np

from workload_data import SIDE, adult_sizes, box_error, counts, lines, range_error, squares

Reals = Any
Timing = tuple[float, int, dict[str, Any]]
DICE = np.random.default_rng(11)


def versions() -> dict[str, str]:
    """Return what was measured."""
    return {"numpy": np.__version__}


def laplace(scale: float, size: Any) -> Reals:
    return DICE.laplace(0, scale, size)


def tree(cells: Reals, fanout: int, epsilon: float, *, root: bool) -> Reals:
    """Return the cells by least squares from a complete tree with ε in equal parts on its levels."""
    levels = [cells.astype(float)]
    while len(levels[-1]) > 1:
        below = levels[-1]
        padded = np.zeros(-(-len(below) // fanout) * fanout)
        padded[: len(below)] = below
        levels.append(padded.reshape(-1, fanout).sum(1))
    measured = levels if root or len(levels) == 1 else levels[:-1]
    variance = 2 * (len(measured) / epsilon) ** 2
    values = [each + laplace(len(measured) / epsilon, len(each)) for each in measured]
    up, spread = [values[0]], [np.full(len(values[0]), variance)]
    for noisy in values[1:]:
        sums = _grouped(up[-1], fanout).sum(1)
        below = _grouped(spread[-1], fanout).sum(1)
        share = below / (below + variance)
        up.append(share * noisy + (1 - share) * sums)
        spread.append(share * variance)
    found = up[-1]
    for value, off in zip(reversed(up[:-1]), reversed(spread[:-1]), strict=True):
        parts, weights = _grouped(value, fanout), _grouped(off, fanout)
        parts = parts + ((found - parts.sum(1)) / weights.sum(1))[:, None] * weights
        found = parts.ravel()[: len(value)]
    return found


def _grouped(values: Reals, fanout: int) -> Reals:
    padded = np.zeros(-(-len(values) // fanout) * fanout)
    padded[: len(values)] = values
    return padded.reshape(-1, fanout)


def fanout_of(cells: int) -> int:
    """Return HB's fan-out: the least average variance over all ranges, by its formula."""
    return min(range(2, 65), key=lambda fanout: average_variance(cells, fanout))


def average_variance(cells: int, fanout: int) -> float:
    """Return Qardaji et al.'s average over all ranges, before least squares, in 2/ε²: (b − 1)h³ − 2(b + 1)h²/3."""
    height = math.ceil(math.log(cells) / math.log(fanout) - 1e-9)
    return (fanout - 1) * height**3 - 2 * (fanout + 1) * height**2 / 3


def merged(cells: Reals, epsilon: float) -> Reals:
    """Return a DAWA-like estimate. Costs have noise of scale 2/ε₁, as in its authors' program."""
    first, second, size = epsilon / 4, 3 * epsilon / 4, len(cells)
    costs = {}
    for length in [2**each for each in range(int(math.log2(size)) + 1)]:
        step = max(1, length // 64)
        windows = np.lib.stride_tricks.sliding_window_view(cells, length)[::step]
        deviation = np.abs(windows - windows.mean(1, keepdims=True)).sum(1)
        noisy = deviation + (laplace(2 / first, len(deviation)) if length > 1 else 0)
        costs[length] = (step, np.maximum(noisy, 0) + 1 / second)
    best, back = np.full(size + 1, np.inf), np.zeros(size + 1, dtype=int)
    best[0] = 0
    for end in range(1, size + 1):
        for length, (step, cost) in costs.items():
            if length > end:
                break
            if (end - length) % step == 0 and (value := best[end - length] + cost[(end - length) // step]) <= best[end]:
                best[end], back[end] = value, length
    cuts = [size]
    while cuts[-1] > 0:
        cuts.append(cuts[-1] - back[cuts[-1]])
    starts = np.array(cuts[::-1])
    sums, lengths = np.add.reduceat(cells, starts[:-1]), np.diff(starts)
    known = tree(sums, 16 if len(sums) > 64 else max(2, len(sums)), second, root=False)
    return np.repeat(known / lengths, lengths)


def uniform_grid(cells: Reals, epsilon: float) -> Reals:
    side = max(10, min(SIDE, math.sqrt(cells.sum() * epsilon / 10)))
    side = min([2**each for each in range(9)], key=lambda each: abs(math.log(each / side)))
    block = SIDE // side
    noisy = cells.reshape(side, block, side, block).sum((1, 3)) + laplace(1 / epsilon, (side, side))
    return np.kron(noisy / block**2, np.ones((block, block)))


def quadtree(cells: Reals, epsilon: float) -> Reals:
    row, column = np.indices(cells.shape)
    place = sum(((row >> bit & 1) << (2 * bit + 1)) | ((column >> bit & 1) << (2 * bit)) for bit in range(8))
    order = np.argsort(place.ravel())
    found = np.empty(cells.size)
    found[order] = tree(cells.ravel()[order], 4, epsilon, root=True)
    return found.reshape(cells.shape)


def privtree(cells: Reals, epsilon: float) -> Reals:
    """Return PrivTree's estimate: θ = 0, four parts, half of ε for the splits."""
    scale = 7 / 3 * 2 / epsilon
    decay = scale * math.log(4)
    sums = np.zeros((SIDE + 1, SIDE + 1))
    sums[1:, 1:] = cells.cumsum(0).cumsum(1)
    found, left = np.zeros(cells.shape), [(0, 0, SIDE, 0)]
    while left:
        row, column, width, depth = left.pop()
        inside = sums[row + width, column + width] - sums[row, column + width]
        inside += sums[row, column] - sums[row + width, column]
        if width > 1 and max(inside - depth * decay, -decay) + laplace(scale, None) > 0:
            half = width // 2
            left += [(row + up, column + right, half, depth + 1) for up in (0, half) for right in (0, half)]
        else:
            shown = (inside + laplace(2 / epsilon, None)) / width**2
            found[row : row + width, column : column + width] = shown
    return found


def ranges(epsilon: float, runs: int) -> Timing:
    """Return the error of each method on each one-dimensional set."""
    fanout = fanout_of(4096)
    methods = {
        "identity": lambda cells: cells + laplace(1 / epsilon, len(cells)),
        "binary tree": lambda cells: tree(cells, 2, epsilon, root=True),
        "HB": lambda cells: tree(cells, fanout, epsilon, root=False),
        "DAWA-like": lambda cells: merged(cells, epsilon),
    }
    started, values = perf_counter(), {}
    for name, path in lines().items():
        cells = counts(path).ravel()
        for method, run in methods.items():
            values[f"{name} {method}"] = float(np.mean([range_error(cells, run(cells)) for _ in range(runs)]))
    return perf_counter() - started, runs, values


def boxes(epsilon: float, runs: int) -> Timing:
    """Return the error of each method on each two-dimensional set."""
    methods = {"uniform grid": uniform_grid, "quadtree": quadtree, "PrivTree": privtree}
    started, values = perf_counter(), {}
    for name, path in squares().items():
        cells = counts(path).reshape(SIDE, SIDE)
        for method, run in methods.items():
            values[f"{name} {method}"] = float(np.mean([box_error(cells, run(cells, epsilon)) for _ in range(runs)]))
    return perf_counter() - started, runs, values


def published(runs: int) -> Timing:
    """Return how far the trees are from Qardaji et al.'s average over all ranges, before least squares."""
    values = {}
    started = perf_counter()
    for fanout, cells in ((2, 4096), (16, 4096), (8, 512)):
        height = round(math.log(cells, fanout))
        ends = np.sort(DICE.integers(0, cells + 1, (runs, 2)), 1)
        used = np.mean([_nodes(int(low), int(high), fanout) for low, high in ends if low < high])
        values[f"{fanout} of {cells}"] = float(used * height**2 / average_variance(cells, fanout))
    return perf_counter() - started, runs, values


def _nodes(low: int, high: int, fanout: int) -> int:
    """Return of how many nodes a range is made."""
    found = 0
    while low < high:
        while low % fanout and low < high:
            low, found = low + 1, found + 1
        while high % fanout and low < high:
            high, found = high - 1, found + 1
        low, high = low // fanout, high // fanout
    return found


def pairs() -> Timing:
    """Return ResidualPlanner's root mean square error of a cell of all pairs of Adult, at ρ = 1/2."""
    started, sizes = perf_counter(), adult_sizes()
    two = list(combinations(range(len(sizes)), 2))
    total = 0.0
    for order in (0, 1, 2):
        for part in combinations(range(len(sizes)), order):
            cost = math.prod((sizes[each] - 1) / sizes[each] for each in part)
            weight = sum(
                math.prod(sizes[each] for each in whole)
                * cost
                / math.prod(sizes[each] ** 2 for each in whole if each not in part)
                for whole in two
                if set(part) <= set(whole)
            )
            total += math.sqrt(cost * weight)
    cells = sum(sizes[one] * sizes[other] for one, other in two)
    return perf_counter() - started, 1, {"error": math.sqrt(total**2 / cells)}
