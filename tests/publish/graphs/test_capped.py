"""Capped counts against a linear program of somebody else's, and over every pair of graphs that differ by a node."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from scipy.optimize import linprog

from publish.graphs.every_graph import all_graphs, ends_of, without_last
from sordino.publish.graphs import packing as solving
from sordino.publish.graphs.cap_choice import scores
from sordino.publish.graphs.capped import SLACK_BITS, capped, certified, packing
from sordino.publish.graphs.patterns import paths_of_two, triangles

STEPS = 2 ** (SLACK_BITS + 1)
SLACK = Fraction(1, 2**SLACK_BITS)


def program(patterns: np.ndarray, nodes: int, cap: int) -> float:
    if not len(patterns):
        return 0.0
    matrix = np.zeros((nodes, len(patterns)))
    for place, pattern in enumerate(patterns):
        matrix[pattern, place] = 1
    return -linprog(-np.ones(len(patterns)), A_ub=matrix, b_ub=np.full(nodes, cap), bounds=(0, 1)).fun


def random_graph(nodes: int, density: float, seed: int) -> np.ndarray:
    return np.argwhere(np.triu(np.random.default_rng(seed).random((nodes, nodes)) < density, 1))


@pytest.mark.parametrize("find", [lambda ends, _: ends, triangles, paths_of_two])
@pytest.mark.parametrize("cap", [1, 2, 8, 32])
def test_it_is_the_program(find, cap: int) -> None:  # type: ignore[no-untyped-def]
    for seed in range(3):
        patterns = find(random_graph(14, 0.5, seed), 14)
        found = Fraction(capped(patterns, 14, cap) * cap, STEPS)
        best = program(patterns, 14, cap)
        assert float(found) <= best + 1e-7
        assert best <= float(found + cap * SLACK) + 1e-7


@pytest.mark.parametrize(
    ("cap", "nodes"), [(1, 4), (2, 4), *(pytest.param(cap, 5, marks=pytest.mark.long) for cap in (1, 2))]
)
def test_over_every_pair_of_neighbours(cap: int, nodes: int) -> None:
    """Adding a node moves no capped count by more than the bound says, the certified gap included."""
    reach = cap * (1 + SLACK)
    for find in (lambda ends, _: ends, triangles, paths_of_two):
        known: dict = {}
        for graph in all_graphs(nodes):
            for each in (graph, without_last(graph, nodes)):
                if each not in known:
                    known[each] = Fraction(capped(find(ends_of(each), nodes), nodes, cap) * cap, STEPS)
            assert -cap * SLACK <= known[graph] - known[without_last(graph, nodes)] <= reach


def test_scores_of_caps_move_by_one_at_most() -> None:
    caps, halves = (1, 2, 4, 8), (Fraction(1, 2), Fraction(1, 2))
    worst = 0.0
    for seed in range(5):
        ends = random_graph(9, 0.5 + 0.1 * seed, seed)
        whole = [capped(triangles(ends, 9), 9, cap) for cap in caps]
        for node in range(9):
            left = ends[(ends != node).all(axis=1)]
            less = [capped(triangles(left, 9), 9, cap) for cap in caps]
            moved = np.abs(np.subtract(scores(caps, whole, *halves), scores(caps, less, *halves)))
            worst = max(worst, float(moved.max()))
    assert 0.3 < worst <= 1


def test_a_certificate_believes_nobody() -> None:
    patterns = triangles(random_graph(12, 0.7, 3), 12)
    packed = packing(patterns, 12, 4)
    best = program(patterns, 12, 4)
    rng = np.random.default_rng(1)
    groups, nodes = len(packed.counts), packed.heavy
    wrong = [
        (rng.normal(5, 50, groups), rng.normal(0, 3, nodes)),
        (np.full(groups, np.nan), np.full(nodes, np.inf)),
        (np.full(groups, np.inf), np.zeros(nodes)),
        (packed.counts * 1.0, np.ones(nodes)),
    ]
    for amounts, prices in wrong:
        low, high, bits = certified(packed, amounts, prices)
        assert Fraction(low, 2**bits) + packed.free <= best + 1e-7
        assert Fraction(high, 2**bits) + packed.free >= best - 1e-7


def test_it_works_on_where_the_first_method_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    patterns = triangles(random_graph(12, 0.7, 3), 12)
    expected = capped(patterns, 12, 4)
    monkeypatch.setattr(solving._Path, "steps", lambda _: iter(()))
    assert abs(capped(patterns, 12, 4) - expected) <= 2


def test_large_groups_are_one_variable() -> None:
    ends = np.array(list(combinations(range(3), 2)) + [(0, node) for node in range(3, 200)])
    packed = packing(ends, 200, 16)
    assert packed.heavy == 1
    assert packed.counts.tolist() == [199]
    assert capped(ends, 200, 16) * 16 // STEPS in (16, 17)
