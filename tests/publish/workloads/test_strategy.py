"""Strategies: near the bound that no strategy beats, whole, and of the sensitivity that trying all changes gives."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from publish.replaying import within
from sordino.accounting.bound import ROW
from sordino.accounting.neighbours import Neighbours
from sordino.publish.workloads.gram import KINDS, Kind, Product, Workload, lower_bound
from sordino.publish.workloads.strategy import Strategy, optimum, strategy_for


@pytest.mark.parametrize("kind", KINDS)
def test_a_workload_is_its_matrix(kind: Kind) -> None:
    workload = Workload(kind, 7)
    rows = workload.rows()
    assert len(rows) == workload.queries
    np.testing.assert_array_equal(workload.gram(), rows.T @ rows)


def test_a_product_is_that_of_all_pairs() -> None:
    both = Product((Workload("ranges", 3), Workload("prefixes", 4)))
    rows = np.kron(both.parts[0].rows(), both.parts[1].rows())
    assert both.queries == len(rows)
    np.testing.assert_array_equal(both.gram(), rows.T @ rows)


def expected_error(kind: Kind, cells: int) -> float:
    strategy, workload = strategy_for(kind, cells), Workload(kind, cells)
    longest = strategy.inner.diagonal().max()
    return float(np.sqrt(strategy.mean_squared_error(workload) * longest)) / lower_bound(
        workload.gram(), workload.queries
    )


@pytest.mark.parametrize(("kind", "most"), [("ranges", 1.02), ("prefixes", 1.04)])
def test_strategies_are_close_to_the_bound(kind: Kind, most: float) -> None:
    assert 1 <= expected_error(kind, 96) <= most


@pytest.mark.long
@pytest.mark.parametrize("kind", ["ranges", "prefixes"])
def test_strategies_of_1024_cells_are_within_three_percent_of_the_bound(kind: Kind) -> None:
    assert 1 <= expected_error(kind, 1024) <= 1.03


def test_the_gap_is_a_proof() -> None:
    best = optimum("ranges", 24)
    assert best.gap < 1.013
    gram = Workload("ranges", 24).gram()
    strategy = strategy_for("ranges", 24)
    found = np.vdot(gram, strategy.covariance) * strategy.inner.diagonal().max()
    root = np.sqrt(best.weights)
    dual = np.sqrt(np.linalg.eigvalsh(gram * np.outer(root, root))).sum() ** 2 / best.weights.sum()
    assert dual <= found <= 1.014 * dual
    for other in (np.eye(24), np.tril(np.ones((24, 24))) / np.sqrt(24)):  # identity, and all prefixes as they are
        assert np.vdot(gram, np.linalg.inv(other.T @ other)) >= dual


@pytest.mark.parametrize("neighbours", [Neighbours.ADD_REMOVE, Neighbours.REPLACE_ONE])
def test_sensitivity_covers_every_change_of_one_unit(neighbours: Neighbours) -> None:
    strategy = Strategy(np.array([[3, -1, 2], [0, 4, -5], [7, 1, 1], [-2, 2, 0]]))
    bound = strategy.moves(2, ROW, neighbours)
    owned = [np.array(each) for each in product(range(3), repeat=3) if sum(each) <= 2]
    changes = [v - w for v in owned for w in owned] if neighbours is Neighbours.REPLACE_ONE else owned
    moved = [strategy.products(each) for each in changes]
    for each in moved:
        within(each, np.zeros(4), bound)
    assert max(sum(each**2) for each in moved) == bound.l2_squared


def test_what_is_decoded_without_noise_is_exact() -> None:
    strategy = strategy_for("prefixes", 40)
    counts = np.arange(40) ** 2
    np.testing.assert_allclose(strategy.decoded(strategy.products(counts)), counts, atol=1e-6)
    assert strategy.matrix.dtype == np.int64


def test_the_nonnegative_fit_meets_the_conditions_of_optimality() -> None:
    strategy = strategy_for("ranges", 20)
    plain = np.random.default_rng(3).normal(0, 5, 20)
    found = strategy.nonnegative(plain)
    slope = strategy.inner @ (found - plain) / strategy.inner.diagonal().max()
    assert np.all(found >= 0)
    assert np.all(slope > -1e-3)
    assert np.abs(slope[found > 1e-6]).max() < 1e-3
