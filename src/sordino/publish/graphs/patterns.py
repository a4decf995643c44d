"""Small patterns of a graph, found with sparse matrices: triangles, common friends, stars.

A graph here is an array of edges, each once, the lower node first, no node with itself; nodes are numbers from 0.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
import scipy.sparse as sparse
from numpy.typing import NDArray

Ends = NDArray[np.int64]
_MOST_AT_ONCE = 2**23
"""How many pairs are looked at together: what bounds the memory."""


def degrees(ends: Ends, nodes: int) -> NDArray[np.int64]:
    """Return how many edges each node has."""
    return np.bincount(ends.ravel(), minlength=nodes)


def adjacency(ends: Ends, nodes: int) -> sparse.csr_array:
    """Return the symmetric matrix of 0 and 1."""
    row, column = np.concatenate([ends, ends[:, ::-1]]).T
    return sparse.csr_array((np.ones(len(row), np.int32), (row, column)), shape=(nodes, nodes))


def triangles(ends: Ends, nodes: int) -> NDArray[np.int64]:
    """Return every triangle once, as three nodes in a row.

    Each edge leads from the node of lower degree to the other, so a triangle has one node from which both edges lead
    away, and no node has many such edges. A pair of them closes a triangle if its other ends are an edge.
    """
    order = np.lexsort((np.arange(nodes), degrees(ends, nodes)))
    rank = np.empty(nodes, np.int64)
    rank[order] = np.arange(nodes)
    low, high = np.sort(rank[ends], axis=1).T
    sorting = np.lexsort((high, low))
    low, high = low[sorting], high[sorting]
    keys = low * nodes + high
    starts = np.searchsorted(low, np.arange(nodes + 1))
    after = starts[low + 1] - np.arange(len(low)) - 1
    """How many further edges lead away from the same node, behind this one."""
    found = [np.zeros((0, 3), np.int64)]
    for part in _parts(after):
        first = np.repeat(np.arange(part.start, part.stop), after[part])
        second = first + 1 + _ramp(after[part])
        closing = high[first] * nodes + high[second]
        place = np.minimum(np.searchsorted(keys, closing), len(keys) - 1)
        closed = keys[place] == closing
        first, second = first[closed], second[closed]
        found.append(np.stack([low[first], high[first], high[second]], axis=1))
    return np.asarray(order[np.concatenate(found)])


def paths_of_two(ends: Ends, nodes: int) -> NDArray[np.int64]:
    """Return every star of two edges once: its middle, then its two ends."""
    both = np.concatenate([ends, ends[:, ::-1]])
    middle, end = both[np.lexsort((both[:, 1], both[:, 0]))].T
    starts = np.searchsorted(middle, np.arange(nodes + 1))
    after = starts[middle + 1] - np.arange(len(middle)) - 1
    first = np.repeat(np.arange(len(middle)), after)
    second = first + 1 + _ramp(after)
    return np.stack([middle[first], end[first], end[second]], axis=1)


def triangle_count(ends: Ends, nodes: int) -> int:
    """Return how many triangles there are."""
    return len(triangles(ends, nodes))


def star_count(ends: Ends, nodes: int, size: int, most: int) -> int:
    """Return how many stars of `size` edges there are: Σ over nodes of C(min(degree, most), size)."""
    held, times = np.unique(np.minimum(degrees(ends, nodes), most), return_counts=True)
    return sum(math.comb(int(degree), size) * int(count) for degree, count in zip(held, times, strict=True))


def pairs_by_common(ends: Ends, nodes: int) -> NDArray[np.int64]:
    """Return for a = 0, 1, 2, … the most nodes that are joined to exactly one of a pair with a common neighbours.

    Only pairs with a common neighbour count; −1 where there is no such pair. The pair itself is never counted.
    """
    matrix = adjacency(ends, nodes)
    held = degrees(ends, nodes)
    most = np.full(int(held.max(initial=0)) + 1, -1, np.int64)
    work = np.asarray(matrix @ held)
    for part in _parts(work):
        rows = matrix[part]
        common = (rows @ matrix).tocoo()
        joined = _looked_up(rows, common.row, common.col)
        one, other, both = common.row + part.start, common.col, common.data.astype(np.int64)
        only = held[one] + held[other] - 2 * both - 2 * joined
        kept = one < other
        np.maximum.at(most, both[kept], only[kept])
    return most


def _looked_up(rows: sparse.csr_array, row: NDArray[np.int32], column: NDArray[np.int32]) -> NDArray[np.int64]:
    """Return 1 where the matrix of 0 and 1 has an entry."""
    size = rows.shape[1]
    keys = np.sort(np.repeat(np.arange(rows.shape[0]), np.diff(rows.indptr)) * size + rows.indices)
    wanted = row.astype(np.int64) * size + column
    place = np.minimum(np.searchsorted(keys, wanted), max(len(keys) - 1, 0))
    return (keys[place] == wanted).astype(np.int64) if len(keys) else np.zeros(len(wanted), np.int64)


def _parts(work: NDArray[np.int64]) -> Iterator[slice]:
    """Yield slices that each hold about as much work as memory allows, and one element at least."""
    reached = np.cumsum(work)
    start = 0
    while start < len(work):
        done = reached[start - 1] if start else 0
        stop = max(int(np.searchsorted(reached, done + _MOST_AT_ONCE, side="right")), start + 1)
        yield slice(start, stop)
        start = stop


def _ramp(counts: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return 0, 1, …, count − 1 for each count, one after the other."""
    total = int(counts.sum())
    return np.arange(total) - np.repeat(np.cumsum(counts) - counts, counts)
