"""Patterns that sparse matrices find are those that are found by hand."""

from __future__ import annotations

import math
from itertools import combinations

import numpy as np
import pytest

from publish.graphs.every_graph import all_graphs, ends_of, triangles_by_hand
from sordino.publish.graphs import patterns
from sordino.publish.graphs.patterns import pairs_by_common, paths_of_two, star_count, triangle_count, triangles


@pytest.mark.parametrize("at_once", [1, 2**23])
def test_all_graphs_of_four_nodes(monkeypatch: pytest.MonkeyPatch, at_once: int) -> None:
    monkeypatch.setattr(patterns, "_MOST_AT_ONCE", at_once)
    for edges in all_graphs(4):
        ends = ends_of(edges)
        assert triangle_count(ends, 4) == triangles_by_hand(edges, 4)
        found = {tuple(sorted(each)) for each in triangles(ends, 4).tolist()}
        assert found == {t for t in combinations(range(4), 3) if set(combinations(t, 2)) <= edges}
        held = [sum(node in pair for pair in edges) for node in range(4)]
        for size in (2, 3):
            assert star_count(ends, 4, size, 3) == sum(math.comb(d, size) for d in held)
        assert star_count(ends, 4, 2, 2) == sum(math.comb(min(d, 2), 2) for d in held)
        paths = paths_of_two(ends, 4).tolist()
        assert len(paths) == star_count(ends, 4, 2, 3)
        assert all({tuple(sorted((m, a))), tuple(sorted((m, b)))} <= edges and a < b for m, a, b in paths)
        _check_pairs(edges, pairs_by_common(ends, 4))


def _check_pairs(edges: frozenset[tuple[int, int]], found: np.ndarray) -> None:
    def joined(a: int, b: int) -> bool:
        return tuple(sorted((a, b))) in edges

    best: dict[int, int] = {}
    for i, j in combinations(range(4), 2):
        others = [w for w in range(4) if w not in (i, j)]
        common = sum(joined(i, w) and joined(j, w) for w in others)
        only = sum(joined(i, w) != joined(j, w) for w in others)
        if common:
            best[common] = max(best.get(common, -1), only)
    assert {a: int(b) for a, b in enumerate(found) if b >= 0} == best


def test_a_larger_graph_against_cubes_of_its_matrix() -> None:
    rng = np.random.default_rng(7)
    full = np.triu(rng.random((60, 60)) < 0.2, 1)
    ends = np.argwhere(full)
    both = (full | full.T).astype(int)
    assert triangle_count(ends, 60) == np.trace(both @ both @ both) // 6
    assert triangle_count(np.zeros((0, 2), np.int64), 0) == 0
