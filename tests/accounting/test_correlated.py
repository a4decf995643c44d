"""Correlated noise: its sensitivity against all patterns of participation, and its bands against their own blocks."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sordino.accounting import gaussian, pld, renyi, zcdp
from sordino.accounting.account import Account
from sordino.accounting.bound import Bound
from sordino.accounting.budget import Budget
from sordino.accounting.correlated import as_gaussian, poisson_over_bands
from sordino.accounting.declared import declare
from sordino.accounting.events import Correlated, Gaussian, PoissonSampled, Repeated, Replaced
from sordino.accounting.neighbours import Neighbours
from sordino.errors import ArgumentError

columns = st.lists(st.integers(0, 9), min_size=0, max_size=6).map(lambda rest: tuple(sorted((1, *rest), reverse=True)))


def strategy(column: tuple[int, ...], steps: int) -> list[list[int]]:
    return [[column[t - i] if 0 <= t - i < len(column) else 0 for i in range(steps)] for t in range(steps)]


def patterns(steps: int, separation: int, participations: int) -> list[tuple[int, ...]]:
    """Every set of steps in which a unit may take part, one by one."""
    return [
        chosen
        for often in range(1, participations + 1)
        for chosen in itertools.combinations(range(steps), often)
        if all(later - earlier >= separation for earlier, later in itertools.pairwise(chosen))
    ]


@given(column=columns, steps=st.integers(7, 9), separation=st.integers(1, 5), participations=st.integers(1, 4))
@settings(max_examples=60, deadline=None)
def test_the_sensitivity_is_that_of_the_worst_pattern(
    column: tuple[int, ...], steps: int, separation: int, participations: int
) -> None:
    matrix = strategy(column, steps)
    longest = max(
        sum(sum(row[i] for i in pattern) ** 2 for row in matrix)
        for pattern in patterns(steps, separation, participations)
    )
    event = Correlated(column, steps, separation, participations, 7, "0.25")
    assert as_gaussian(event) == Gaussian(7, Fraction(longest, 4))


def test_no_vectors_move_it_farther_than_equal_ones() -> None:
    """Two thousand draws of vectors of norm 1 in three dimensions, in every pattern."""
    column, steps = (5, 3, 1), 6
    draws = np.random.default_rng(3)
    matrix = np.array(strategy(column, steps))
    most = float(as_gaussian(Correlated(column, steps, 2, 3, 1)).sensitivity_squared)
    for pattern in patterns(steps, 2, 3):
        vectors = draws.normal(size=(100, len(pattern), 3))
        vectors /= np.linalg.norm(vectors, axis=2, keepdims=True)
        moved = np.einsum("tp,npd->ntd", matrix[:, list(pattern)], vectors)
        assert np.max(np.sum(moved**2, axis=(1, 2))) <= most * (1 + 1e-12)


def test_a_run_in_one_step_is_a_gaussian_in_every_calculus() -> None:
    event, plain = Correlated((2, 1), 5, 2, 2, 36), Gaussian(36, 10)
    orders = np.array([1.5, 4.0, 64.0])
    assert zcdp.rho(event) == zcdp.rho(plain) == Fraction(10, 72)
    assert gaussian.mu_squared(event) == gaussian.mu_squared(plain)
    np.testing.assert_array_equal(renyi.curve(event, orders), renyi.curve(plain, orders))
    assert pld.epsilon(event, "1e-6") == pytest.approx(pld.epsilon(plain, "1e-6"), rel=1e-3)
    assert gaussian.mu_squared(Replaced(event)) == 4 * gaussian.mu_squared(event)


def test_prefix_sums_without_correlation_cost_a_gaussian_in_each_step() -> None:
    assert gaussian.mu_squared(Correlated((1,), 100, 10, 10, 4)) == gaussian.mu_squared(Repeated(Gaussian(4), 10))
    assert gaussian.mu_squared(Correlated((1,), 100, 10, 99, 4)) == gaussian.mu_squared(Repeated(Gaussian(4), 10))


def test_steps_nearer_than_a_column_is_long_cost_more_than_blocks_of_their_own() -> None:
    whole = gaussian.mu_squared(Correlated((3, 2, 1), 6, 3, 2, 1))
    parts = 2 * gaussian.mu_squared(Correlated((3, 2, 1), 3, 3, 1, 1))
    assert whole == parts == 28
    assert gaussian.mu_squared(Correlated((3, 2, 1), 6, 1, 2, 1)) > parts


def test_long_runs_are_summed_exactly() -> None:
    column = tuple(range(1000, 0, -1))
    event = Correlated(column, 100_000, 2000, 50, 1)
    assert as_gaussian(event).sensitivity_squared == 50 * sum(each**2 for each in column)


def test_bands_are_blocks_of_their_own() -> None:
    """Columns m apart share no row, so the likelihood of a block depends on its own column alone."""
    column, steps = (3, 2, 2), 9
    matrix = np.array(strategy(column, steps))
    for band in range(3):
        of_band = matrix[:, band::3]
        products = of_band.T @ of_band
        assert np.all(products == np.diag(np.diag(products)))
        assert np.diag(products).max() == 17
    run = poisson_over_bands(column, steps, "0.2", 50)
    assert run == Repeated(PoissonSampled(Gaussian(50, 17), "0.2"), 3)
    assert poisson_over_bands(column, 10, "0.2", 50).count == 4


@pytest.mark.parametrize("epsilon", [0.0, 0.1, 0.5])
def test_one_band_against_the_joint_law_of_its_rows(epsilon: float) -> None:
    """Two rows, one column (2, 1), sampled with ½: δ by summation over a fine grid of the plane."""
    sigma, rate = 2.0, 0.5
    axis = np.linspace(-16, 20, 1201)
    width = (axis[1] - axis[0]) ** 2

    def density(first: float, second: float) -> np.ndarray:
        x, y = np.meshgrid(axis - first, axis - second, indexing="ij")
        return np.exp(-(x * x + y * y) / (2 * sigma**2)) / (2 * math.pi * sigma**2) * width

    absent = density(0, 0)
    present = (1 - rate) * absent + rate * density(2, 1)
    event = poisson_over_bands((2, 1), 2, "0.5", 4)
    assert event.count == 1
    true = max(
        float(np.sum(np.maximum(p - math.exp(epsilon) * q, 0))) for p, q in ((present, absent), (absent, present))
    )
    assert pld.delta_bracket(event, str(epsilon)).upper == pytest.approx(true, rel=2e-3)


def test_it_is_charged_whole_under_every_relation() -> None:
    event = Correlated((2, 1), 10, 2, 5, 2000)
    for relation in Neighbours:
        account = Account(Budget(epsilon=2, delta="1e-5"))
        account.reserve(declare(event, "1e-6"), Bound.scalar(1, neighbours=relation))


@pytest.mark.parametrize(
    "arguments",
    [
        ((), 5, 1, 1, 1),
        ((0,), 5, 1, 1, 1),
        ((1, 2), 5, 1, 1, 1),
        ((2, -1), 5, 1, 1, 1),
        ((2, 1, 1), 2, 1, 1, 1),
        ((2, "1"), 5, 1, 1, 1),
        (5, 5, 1, 1, 1),
        ((1,), 10**7, 1, 1, 1),
        ((1,), 5, 0, 1, 1),
        ((1,), 5, 1, 0, 1),
        ((1,), 5, 1, 1, 0),
    ],
    ids=str,
)
def test_bad_strategies_are_refused(arguments: tuple[object, ...]) -> None:
    with pytest.raises(ArgumentError):
        Correlated(*arguments)  # type: ignore[arg-type]
