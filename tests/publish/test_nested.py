"""Nested partitions against dense least squares, and the projection against the conditions of optimality."""

from __future__ import annotations

import numpy as np
import pytest

from sordino.publish.nested import Nesting, Spread, by_blocks, by_fanout, divided, estimated, nonnegative

DICE = np.random.default_rng(20)


def dense(nesting: Nesting) -> list[np.ndarray]:
    """Return for each level the matrix that adds cells up."""
    found = [np.eye(nesting.sizes[0])]
    for parent, size in zip(nesting.parents, nesting.sizes[1:], strict=True):
        found.append((np.arange(size)[:, None] == parent[None, :]).astype(float) @ found[-1])
    return found


NESTINGS = [by_fanout(11, 3), by_fanout(16, 4, 4), by_blocks(5, 7, 2), by_fanout(6, 8)]


@pytest.mark.parametrize("nesting", NESTINGS)
@pytest.mark.parametrize("unmeasured", [(), (-1,), (1,)])
def test_estimates_and_variances_are_those_of_dense_least_squares(
    nesting: Nesting, unmeasured: tuple[int, ...]
) -> None:
    if unmeasured == (1,) and nesting.levels < 3:
        unmeasured = (-1,)
    variances = [float(each) for each in DICE.uniform(0.5, 4, nesting.levels)]
    for level in unmeasured:
        variances[level] = np.inf
    noisy = [DICE.normal(3, 5, size) for size in nesting.sizes]
    levels = dense(nesting)
    weight = sum(matrix.T @ matrix / variance for matrix, variance in zip(levels, variances, strict=True))
    right = sum(matrix.T @ noise / variance for matrix, noise, variance in zip(levels, noisy, variances, strict=True))
    covariance = np.linalg.inv(weight)
    cells = covariance @ right
    found = estimated(nesting, noisy, variances)
    for matrix, level in zip(levels, found, strict=True):
        np.testing.assert_allclose(level, matrix @ cells, atol=1e-9)
    spread = Spread(nesting, tuple(variances))
    queries = DICE.normal(0, 1, (5, nesting.sizes[0]))
    np.testing.assert_allclose(spread.of_sums(queries), ((queries @ covariance) * queries).sum(1), atol=1e-9)
    np.testing.assert_allclose(spread.of_cells(), covariance.diagonal(), atol=1e-9)


def test_the_projection_is_the_nearest_point() -> None:
    parent = np.array([0, 1, 0, 1, 1, 2, 0])
    values, variances = np.array([3.0, -1, 2, 5, 0.5, -4, -6]), np.array([1.0, 2, 3, 1, 0.5, 1, 2])
    totals = np.array([2.5, 0.0, 7.0])
    found = divided(parent, totals, values, variances)
    np.testing.assert_allclose(np.bincount(parent, found), totals, atol=1e-12)
    assert np.all(found >= 0)
    pull = (values - found) / variances  # one multiplier for each total, and no larger where the part is 0
    for each in (0, 2):
        inside = (parent == each) & (found > 0)
        assert np.ptp(pull[inside]) < 1e-12
        assert np.all(pull[parent == each] <= pull[inside][0] + 1e-12)


@pytest.mark.parametrize("nesting", NESTINGS)
@pytest.mark.parametrize("smooth", [False, True])
def test_what_is_not_negative_adds_up(nesting: Nesting, smooth: bool) -> None:
    noisy = [DICE.normal(0, 5, size) for size in nesting.sizes]
    found = nonnegative(nesting, noisy, (1.0,) * (nesting.levels - 1) + (np.inf,), smooth=smooth)
    for level, parent in enumerate(nesting.parents):
        assert np.all(found[level] >= 0)
        np.testing.assert_allclose(
            np.bincount(parent, found[level], nesting.sizes[level + 1]), found[level + 1], atol=1e-9
        )


def test_noise_alone_is_drawn_together_and_signals_are_not() -> None:
    nesting = by_fanout(64, 64)
    noise = DICE.normal(0, 1, 64)
    flat = nonnegative(nesting, [100 + noise, np.zeros(1)], (1.0, np.inf), smooth=True)[0]
    assert np.std(flat) < 0.5 * np.std(noise)
    steep = 100 * np.arange(64) + noise
    np.testing.assert_allclose(
        nonnegative(nesting, [steep + 10, np.zeros(1)], (1.0, np.inf), smooth=True)[0], steep + 10, atol=0.1
    )


def test_one_peak_does_not_keep_the_rest_apart() -> None:
    noisy = DICE.normal(0, 1, 64) + 900 * (np.arange(64) == 5)
    found = nonnegative(by_fanout(64, 64), [noisy, np.zeros(1)], (1.0, np.inf), smooth=True)[0]
    assert found[5] == pytest.approx(900, abs=20)
    assert np.std(np.delete(found, 5)) < 0.2 * np.std(np.delete(np.maximum(noisy, 0), 5))


def test_each_row_counts_once_on_each_level() -> None:
    for nesting in NESTINGS:
        for cell in range(nesting.sizes[0]):
            one = np.zeros(nesting.sizes[0], dtype=np.int64)
            one[cell] = 1
            assert [each.sum() for each in nesting.added_up(one)] == [1] * nesting.levels
