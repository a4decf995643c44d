"""Falling sequences: one edge moves two numbers by one; the fit against the definition; the band holds the truth."""

from __future__ import annotations

import math

import numpy as np
import pytest

from publish.graphs.every_graph import all_graphs, ends_of, one_edge_more
from sordino.publish.graphs.ordered import band, falling, gaussian_growth, laplace_growth
from sordino.publish.graphs.patterns import degrees


def test_one_edge_moves_two_numbers_by_one() -> None:
    def ordered(edges: frozenset[tuple[int, int]]) -> np.ndarray:
        return np.sort(degrees(ends_of(edges), 5))[::-1]

    for graph in all_graphs(5):
        for other in one_edge_more(graph, 5):
            moved = ordered(other) - ordered(graph)
            assert sorted(moved.tolist()) == [0, 0, 0, 1, 1]


def test_the_fit_is_the_nearest_falling_sequence() -> None:
    noisy = np.array([3, 5, 5, 1, 2, -4])
    assert falling(noisy).tolist() == pytest.approx([13 / 3] * 3 + [1.5, 1.5, 0])
    assert falling(np.zeros(0, np.int64)).tolist() == []


def test_growth_is_that_of_the_law() -> None:
    scale, at = 2.0, 0.3
    near = np.arange(-400, 401)
    weights = np.exp(-np.abs(near) / scale)
    assert laplace_growth(scale)(at) == pytest.approx(math.log((weights * np.exp(at * near)).sum() / weights.sum()))
    assert laplace_growth(scale)(0.6) == math.inf
    assert gaussian_growth(4.0)(0.5) == pytest.approx(0.5)


@pytest.mark.parametrize("law", ["laplace", "gaussian"])
def test_the_band_holds_the_truth(law: str) -> None:
    rng = np.random.default_rng(5)
    truth = np.sort(rng.zipf(1.8, 400).clip(max=300))[::-1]
    growth, most = (laplace_growth(4.0), 0.249) if law == "laplace" else (gaussian_growth(32.0), 10.0)
    held, wide = [], []
    for _ in range(40):
        noise = rng.laplace(0, 4, 400) if law == "laplace" else rng.normal(0, math.sqrt(32), 400)
        low, high = band(np.round(truth + noise).astype(int), growth, most, 0.95)
        held.append(bool(((truth >= low) & (truth <= high)).all()))
        wide.append(np.median(high - low))
        assert (low <= high).all()
        assert (np.diff(high) <= 1e-9).all()
        assert (np.diff(low) <= 1e-9).all()
    assert sum(held) >= 37  # of 40; 95 % of bands hold every number
    assert np.mean(wide) < 12  # one noisy number alone has ± 12
