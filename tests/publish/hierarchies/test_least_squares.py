"""The closed form against dense least squares: the same estimates, and the same variances, to the last digits."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest

from sordino.publish.hierarchies.contrasts import Contrasts, summed
from sordino.publish.hierarchies.least_squares import LeastSquares

Tree = list[np.ndarray]
SHAPES = [(), (3,), (2, 3), (2, 2, 3)]
TREES: list[list[list[int]]] = [[], [[0, 3]], [[0], [0, 2, 3]], [[0, 2], [0, 1, 4]]]
LEAVES = {0: 3, 1: 5, 2: 6}


def queries_of(shape: tuple[int, ...], seed: int, levels: int) -> list[dict[tuple[int, ...], float]]:
    """Return some queries for each level with a variance each; all cells are asked at the leaves."""
    dice = np.random.default_rng(seed)
    everything = tuple(range(len(shape)))
    subsets = [tuple(np.flatnonzero(each).tolist()) for each in product((0, 1), repeat=len(shape))]
    found = [{each: float(dice.uniform(0.5, 4)) for each in subsets if dice.random() < 0.5} for _ in range(levels)]
    found[-1][everything] = 1.5
    return found


def design_matrix(
    firsts: list[list[int]], leaves: int, shape: tuple[int, ...], noise: list[dict[tuple[int, ...], float]]
) -> tuple[np.ndarray, np.ndarray]:
    """Return what every measurement adds up of the leaves' cells, one by one, and its variance."""
    cells = int(np.prod(shape, dtype=int))
    groups = [[[leaf] for leaf in range(leaves)]]
    for first in reversed(firsts):
        ends = [*first[1:], len(groups[0])]
        groups.insert(0, [[leaf for each in groups[0][a:b] for leaf in each] for a, b in zip(first, ends, strict=True)])
    rows, variances = [], []
    for level, asked in zip(groups, noise, strict=True):
        for query, variance in asked.items():
            for members in level:
                for wanted in product(*(range(shape[column]) for column in query)):
                    row = np.zeros((leaves, cells))
                    for place, cell in enumerate(np.ndindex(shape)):
                        row[members, place] = all(cell[c] == v for c, v in zip(query, wanted, strict=True))
                    rows.append(row.reshape(-1))
                    variances.append(variance)
    return np.array(rows), np.array(variances)


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("firsts", TREES, ids=str)
@pytest.mark.parametrize("seed", range(3))
def test_the_closed_form_is_dense_least_squares(shape: tuple[int, ...], firsts: list[list[int]], seed: int) -> None:
    leaves = LEAVES[len(firsts)]
    noise = queries_of(shape, seed, len(firsts) + 1)
    matrix, variances = design_matrix(firsts, leaves, shape, noise)
    noisy = np.random.default_rng(seed).integers(-50, 50, len(matrix)).astype(float)
    scale = np.sqrt(variances)
    dense = np.linalg.lstsq(matrix / scale[:, None], noisy / scale, rcond=None)[0].reshape(leaves, -1)
    covariance = np.linalg.inv(matrix.T @ (matrix / variances[:, None]))

    starts = tuple(np.array(first) for first in firsts)
    solver = LeastSquares(starts, leaves, Contrasts(shape), noise)
    given, at = [], 0
    for level, asked in enumerate(noise):
        given.append({})
        for query in asked:
            size = solver.sizes[level] * int(np.prod([shape[c] for c in query], dtype=int))
            given[-1][query] = noisy[at : at + size].reshape(solver.sizes[level], -1)
            at += size
    found = solver.estimates(given)
    assert np.abs(found[-1] - dense).max() < 1e-9
    for first, above, below in zip(starts, found, found[1:], strict=False):
        assert np.abs(np.add.reduceat(below, first, axis=0) - above).max() < 1e-9
    every = [{tuple(np.flatnonzero(each).tolist()): 1.0 for each in product((0, 1), repeat=len(shape))}] * len(noise)
    for level, asked in enumerate(every):
        for query in asked:
            alone = [{} if other != level else {query: 1.0} for other in range(len(noise))]
            sums, _ = design_matrix(firsts, leaves, shape, alone)
            exact = np.einsum("ij,jk,ik->i", sums, covariance, sums).reshape(solver.sizes[level], -1)
            assert np.abs(exact - solver.variances_of(level, query)[:, None]).max() < 1e-9


def test_coefficients_and_tables_are_each_others_inverse() -> None:
    contrasts = Contrasts((2, 3, 4))
    tables = np.random.default_rng(1).normal(size=(7, 24))
    coefficients = contrasts.coefficients(tables, (0, 1, 2))
    assert np.abs(contrasts.tables(coefficients) - tables).max() < 1e-12
    assert np.abs((coefficients**2).sum() - (tables**2).sum()) < 1e-9
    for query in ((), (1,), (0, 2)):
        counts = summed(tables, (2, 3, 4), query)
        seen = contrasts.coefficients(counts, query)  # type: ignore[arg-type]
        assert np.abs(seen - contrasts.times(query) * coefficients[:, contrasts.places_of(query)]).max() < 1e-12


def test_a_measurement_that_is_left_out_makes_no_estimate_better() -> None:
    some: list[dict[Any, float]] = [{(): 2.0, (0,): 3.0}, {(0, 1): 1.0}]
    more: list[dict[Any, float]] = [some[0], {**some[1], (): 2.0}]
    for query in ((), (0,), (0, 1)):
        less, better = (
            LeastSquares((np.array([0, 2]),), 5, Contrasts((2, 3)), noise).variances_of(1, query)
            for noise in (some, more)
        )
        assert (better <= less + 1e-12).all()
        assert (better <= more[1].get(query, np.inf)).all()
