"""Every graph on a few nodes, and the pairs of them that are neighbours: what proofs are held against."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

Ends = NDArray[np.int64]


def all_graphs(nodes: int) -> Iterator[frozenset[tuple[int, int]]]:
    pairs = list(combinations(range(nodes), 2))
    for chosen in range(2 ** len(pairs)):
        yield frozenset(pair for place, pair in enumerate(pairs) if chosen >> place & 1)


def ends_of(edges: frozenset[tuple[int, int]]) -> Ends:
    return np.array(sorted(edges), dtype=np.int64).reshape(-1, 2)


def one_edge_more(edges: frozenset[tuple[int, int]], nodes: int) -> Iterator[frozenset[tuple[int, int]]]:
    for pair in combinations(range(nodes), 2):
        if pair not in edges:
            yield edges | {pair}


def without_last(edges: frozenset[tuple[int, int]], nodes: int) -> frozenset[tuple[int, int]]:
    return frozenset(pair for pair in edges if nodes - 1 not in pair)


def triangles_by_hand(edges: frozenset[tuple[int, int]], nodes: int) -> int:
    return sum({(a, b), (a, c), (b, c)} <= edges for a, b, c in combinations(range(nodes), 3))
