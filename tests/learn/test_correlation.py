"""Correlated noise: how far a unit can move a block, who is drawn, what the blocks cost, and what a crash leaves."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import combinations, pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from scipy.optimize import minimize

import sordino as so
from learn.worlds import account, divided
from sordino.accounting.correlated import as_gaussian, poisson_over_bands
from sordino.accounting.events import Composed, Correlated, Gaussian, Repeated
from sordino.accounting.gaussian import mu_squared
from sordino.errors import ArgumentError
from sordino.learn.run.correlation import InBlocks, Independent, banded
from sordino.learn.run.course import Course
from sordino.learn.run.paying import InTranches
from sordino.learn.run.plan import Recipe
from sordino.learn.run.sampling import Column, OverBands, Poisson, Separated, sampler
from sordino.learn.run.strategies import best_power, candidates, power, prefix_error
from sordino.learn.run.tranches import Tranches

columns = st.lists(st.integers(0, 6), min_size=1, max_size=4).map(
    lambda c: tuple(sorted([max(*c, 1), *c], reverse=True))
)


def matrix(column: Column, steps: int) -> np.ndarray[Any, np.dtype[np.int64]]:
    found = np.zeros((steps, steps), dtype=np.int64)
    for lag, each in enumerate(column[:steps]):
        found += each * np.eye(steps, k=-lag, dtype=np.int64)
    return found


def patterns(steps: int, apart: int) -> Iterator[tuple[int, ...]]:
    """All sets of steps that are `apart` from each other, or more."""
    for count in range(1, steps + 1):
        for chosen in combinations(range(steps), count):
            if all(later - earlier >= apart for earlier, later in pairwise(chosen)):
                yield chosen


@settings(max_examples=40)
@given(columns, st.integers(1, 8), st.integers(1, 4))
def test_no_pattern_of_steps_moves_a_block_further_than_its_gain(column: Column, steps: int, apart: int) -> None:
    """By enumeration of all patterns, with vectors that are alike: there is no worse, as no entry is negative."""
    c = matrix(column, steps)
    worst = max(int(np.square(c[:, list(chosen)].sum(1)).sum()) for chosen in patterns(steps, apart))
    way = Separated(1, apart)
    assert way.least == apart
    assert way.gain(steps, column) == worst
    signs = np.sign(np.random.default_rng(steps).normal(size=(20, steps)))
    for chosen in patterns(steps, apart):
        moved = c[:, list(chosen)] @ signs[:, : len(chosen)].T
        assert float(np.square(moved).sum(0).max()) <= worst


@settings(max_examples=40)
@given(columns, st.integers(1, 12))
def test_within_a_band_steps_do_not_meet_and_each_moves_by_the_gain_at_most(column: Column, steps: int) -> None:
    bands = len(column)
    c = matrix(column, steps)
    products = c.T @ c
    for first in range(steps):
        for second in range(first + bands, steps, bands):
            assert products[first, second] == 0
    assert int(products.diagonal().max()) == OverBands(1, bands, bands).gain(steps, column)


def test_blocks_are_priced_as_what_they_are() -> None:
    step, column = Gaussian(Fraction(25), Fraction(2)), (3, 2, 1)
    over = OverBands(10, 300, 3)
    assert InBlocks(column, 9).event(over, step, 9) == poisson_over_bands(column, 9, "0.1", 25, 2)
    apart = Separated(60, 300)
    block = Correlated(column, 10, 5, 2, Fraction(25), Fraction(2))
    assert InBlocks(column, 10).event(apart, step, 10) == block
    rest = Correlated(column, 3, 5, 1, Fraction(25), Fraction(2))
    assert InBlocks(column, 10).event(apart, step, 23) == Composed((Repeated(block, 2), rest))
    assert InBlocks(column, 10).event(apart, step, 2) == Correlated((3, 2), 2, 5, 1, Fraction(25), Fraction(2))
    assert Independent().event(apart, step, 10) == Repeated(step, 2)
    whole = Independent().event(apart, step, 10)
    assert mu_squared(whole) == mu_squared(as_gaussian(Correlated((1,), 10, 5, 2, Fraction(25), Fraction(2))))


def test_a_multiplier_means_the_run() -> None:
    for column in candidates(16, 20):
        course = Course(Separated(40, 400), 20, InTranches(20), InBlocks(column, 20))
        assert mu_squared(course.event(Fraction(3))) == Fraction(1, 9)
        over = Course(OverBands(40, 4000, len(column)), 20, InTranches(20), InBlocks(column, 20))
        event = over.event(Fraction(3))
        assert isinstance(event, Repeated)
        inner = event.event.event  # type: ignore[attr-defined]
        assert inner.sensitivity_squared / inner.variance == Fraction(1, 9)


def test_separated_units_come_at_their_slot_whoever_else_is_there() -> None:
    way = Separated(50, 200)
    draw = way.draws(4000)
    seen = [set(draw(step).tolist()) for step in range(10)]
    assert seen[0] == seen[4] == seen[8]
    assert seen[1] == seen[5] == seen[9]
    assert sorted(unit for slot in seen[:4] for unit in slot) == list(range(4000))
    assert stats.chisquare([len(slot) for slot in seen[:4]]).pvalue > 1e-6
    first = np.array([next(slot for slot in range(4) if unit in seen[slot]) for unit in range(4000)])
    neighbours = np.bincount(first[:-1] * 4 + first[1:], minlength=16)  # slots of one place and the next: independent
    assert stats.chisquare(neighbours).pvalue > 1e-6
    assert seen[0] != set(way.draws(4000)(0).tolist())


def test_over_bands_units_come_into_their_band_alone_and_by_chance() -> None:
    way = OverBands(100, 1200, 3)
    draw = way.draws(60_000)
    seen = [draw(step) for step in range(9)]
    for first in range(3):
        for second in range(first + 1, 3):
            ours = np.concatenate(seen[first::3])
            assert not np.isin(ours, np.concatenate(seen[second::3])).any()
    came = sum(len(each) for each in seen)
    assert stats.binomtest(came, 9 * 60_000, 1 / 12).pvalue > 1e-6
    again = np.intersect1d(seen[0], seen[3])
    assert stats.binomtest(len(again), len(seen[0]), 1 / 4).pvalue > 1e-6  # batch·bands/size, each time anew
    assert all(np.all(np.diff(each) > 0) for each in seen)


@settings(max_examples=30)
@given(columns, st.integers(1, 12))
def test_the_forecast_is_that_of_the_matrices(column: Column, steps: int) -> None:
    c = matrix(column, steps).astype(np.float64)
    decoded = np.tril(np.ones((steps, steps))) @ np.linalg.inv(c)
    assert prefix_error(column, steps) == pytest.approx(np.sqrt(np.square(decoded).sum() / steps), rel=1e-9)


@pytest.mark.parametrize(("bands", "steps"), [(8, 100), (64, 400), (400, 1000)])
def test_rounding_the_square_root_costs_less_than_a_hundredth(bands: int, steps: int) -> None:
    column = power(bands, 0.5)
    assert list(column) == sorted(column, reverse=True)
    real = np.cumprod([1.0, *((2 * j - 1) / (2 * j) for j in range(1, bands))])

    def error(c: Any) -> float:
        return float(np.sqrt(np.square(np.asarray(c, dtype=np.float64)).sum())) * prefix_error(tuple(c), steps)

    assert error(column) < 1.01 * error(real)


def test_powers_are_no_worse_than_the_square_root_and_close_to_the_best_of_all() -> None:
    for bands, steps in ((4, 60), (4, 300), (8, 300)):

        def error(c: Any, steps: int = steps) -> float:
            return float(np.linalg.norm(np.asarray(c, dtype=np.float64))) * prefix_error(tuple(c), steps)

        def column(ratios: Any) -> Any:  # every column that does not increase
            return np.concatenate([[1.0], np.cumprod(1 / (1 + np.exp(-np.asarray(ratios))))])

        found = best_power(bands, steps)
        best = minimize(lambda ratios: np.log(error(column(ratios))), np.ones(bands - 1), method="L-BFGS-B")
        assert list(found) == sorted(found, reverse=True)
        assert error(found) <= error(power(bands, 0.5))
        assert error(found) < 1.01 * error(column(best.x))
        assert error(column(best.x)) < error(found) * 1.001


def test_the_square_root_squared_is_summation() -> None:
    root = np.array(power(12, 0.5)) / 256
    assert np.abs(np.convolve(root, root)[:12] - 1).max() < 0.02


@pytest.mark.parametrize(("steps", "passes", "least"), [(100, 1, 2.5), (1000, 1, 5), (400, 4, 3)])
def test_where_nothing_is_amplified_correlated_noise_has_less_error_at_the_same_epsilon(
    steps: int, passes: int, least: float
) -> None:
    """Independent noise in each of `passes` passes against blocks of the whole run, both of one multiplier in all."""
    way = Separated(1, steps // passes)
    alone = Course(way, steps, InTranches(steps), Independent()).error(Fraction(passes))
    together = Course(way, steps, InTranches(steps), InBlocks(best_power(64, steps), steps))
    assert mu_squared(together.event(Fraction(passes))) == Fraction(1, passes**2)
    independent = Independent().event(way, Gaussian(Fraction(passes**3)), steps)
    assert mu_squared(independent) == Fraction(1, passes**2)  # a multiplier of √passes more is the same ε
    assert alone * passes**0.5 > least * together.error(Fraction(passes))


def recipe(steps: int = 24, block: int = 12, way: Any = None) -> Recipe:
    drawn = way or Separated(100, 400)
    return Recipe(
        "marks",
        so.ROW,
        drawn,
        steps,
        InTranches(block),
        58,
        Fraction(1),
        Fraction(1, 100),
        Fraction(5),
        "m",
        correlation=InBlocks((3, 2, 1), min(block, steps)),
    )


def run(tranches: Tranches, most: int = 10**9) -> list[tuple[int, int]]:
    done: list[tuple[int, int]] = []
    while len(done) < most and (found := tranches.advance()) is not None:
        tranches.step_is_run()
        done.append((found[0].first, found[1]))
    return done


def test_a_block_is_one_reservation_and_the_next_begins_anew() -> None:
    data = account(divided())
    tranches = Tranches(data, recipe(), lambda _: "w")
    done = run(tranches)
    assert [first for first, within in done if within == 0] == [0, 12]
    assert len(data.history) == 2
    assert all(isinstance(entry.event, Correlated) for entry in data.history)
    total = sum(mu_squared(entry.event) for entry in data.history)
    assert total == mu_squared(recipe().whole().event()) == Fraction(2, 25)


@pytest.mark.parametrize("stops", [1, 5, 12, 17])
@pytest.mark.parametrize("kept", [True, False])
def test_after_a_crash_or_a_pause_within_a_block_a_new_one_is_charged(stops: int, kept: bool) -> None:
    data = account(divided())
    points: list[int] = [0]

    def keep(step: int) -> str:
        points.append(step)
        return "w"

    first = Tranches(data, recipe(), keep)
    run(first, most=stops)
    if kept:
        first.settle()  # a pause: the checkpoint is where it was left
    else:
        first.fail(ValueError())
    begun, point = len(data.history), points[-1]
    again = Tranches(data, recipe(), keep, next_step=point)
    done = run(again)
    assert done[0] == (point, 0)  # no past, wherever it goes on
    assert again.next_step == 24
    assert len(data.history) == begun + -(-(24 - point) // 12)
    both = [Tranches(data, recipe(), keep, next_step=12) for _ in range(2)]
    before = len(data.history)
    for each in both:
        run(each, most=3)
    assert len(data.history) == before + 2  # two resumes of one checkpoint both pay


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: banded(0), "bands"),
        (lambda: banded(coefficients=[1, 2]), "do not increase"),
        (lambda: banded(coefficients=[]), "coefficients"),
        (lambda: banded(coefficients=[0]), "coefficients"),
        (lambda: banded(coefficients=["0.5"]), "coefficients"),
        (lambda: banded(3, coefficients=[2, 1]), "as many as bands"),
        (lambda: OverBands(100, 400, 5), "fewer bands"),
        (lambda: OverBands(100, 400, 2).gain(10, (3, 2, 1)), "as many bands"),
        (lambda: InBlocks((2, 1), 4).gain(Poisson(40, 400)), 'sampling="separated"'),
        (lambda: InBlocks((2, 1), 4).event(sampler("one-pass", 40, 400), Gaussian(Fraction(1)), 4), "separated"),
        (lambda: InBlocks((2, 1), 4).gain(sampler("fixed-size", 40, 400)), "separated"),
    ],
)
def test_bad_words_are_refused(make: Any, said: str) -> None:
    with pytest.raises(ArgumentError, match=said):
        make()
