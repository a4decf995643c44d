"""Strategies: what is decoded is the truth plus the noise that was promised, computed by dense matrices elsewhere."""

from __future__ import annotations

import math

import mpmath
import numpy as np
import pytest

from sordino.collect.stream.buffered import Exponentials, fitted, square_root
from sordino.collect.stream.buffered_sum import Buffered
from sordino.collect.stream.people import Arrivals
from sordino.collect.stream.square_root import SquareRoot
from sordino.collect.stream.strategy import Strategy
from sordino.collect.stream.tree import Tree
from sordino.errors import ArgumentError

MILLION = 10**6


def run(strategy: Strategy, arrivals: Arrivals, counts: np.ndarray, sizes: list[int]) -> np.ndarray:
    """All totals, without noise, where steps come in batches of these sizes."""
    encoder, decoder = strategy.begin(arrivals)
    taken, totals = 0, []
    for size in sizes:
        steps, encoder = strategy.encode(arrivals, encoder, taken, counts[taken : taken + size])
        total, decoder = strategy.decode(arrivals, decoder, taken, size, steps)
        totals.append(total)
        taken += size
    return np.concatenate(totals)


STRATEGIES = [Buffered.over(300, 8), Buffered.over(300, 3), SquareRoot(300), Tree(300), Tree(300, weighted=True)]


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("sizes", [[300], [1] * 300, [63, 1, 64, 65, 107], [7] * 42 + [6]])
def test_without_noise_the_truth_comes_out_whatever_the_batches(strategy: Strategy, sizes: list[int]) -> None:
    arrivals = Arrivals(cells=2, most=1000)
    counts = np.random.default_rng(5).integers(0, 1000, size=(300, 2))
    reach = strategy.rounding(arrivals) * 2.0 ** strategy.exponent(arrivals) * strategy.reaches(None)
    assert np.all(np.abs(run(strategy, arrivals, counts, sizes) - np.cumsum(counts, axis=0)) <= reach[:, None] + 1e-6)


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_measurements_do_not_depend_on_the_batches(strategy: Strategy) -> None:
    arrivals = Arrivals(most=1000)
    counts = np.random.default_rng(6).integers(0, 1000, size=(300, 1))
    whole, _ = strategy.encode(arrivals, strategy.begin(arrivals)[0], 0, counts)
    state, taken, parts = strategy.begin(arrivals)[0], 0, []
    for size in (1, 62, 2, 64, 171):
        steps, state = strategy.encode(arrivals, state, taken, counts[taken : taken + size])
        parts.append(steps)
        taken += size
    assert sorted(whole.ravel().tolist()) == sorted(np.concatenate(parts).ravel().tolist())


def noise_of_totals(strategy: Strategy, steps: int) -> np.ndarray:
    """The matrix from noise on measurements to totals, by handing over one draw after the other."""
    arrivals = Arrivals(cells=strategy.most_measured, most=1)
    rows = len(
        strategy.encode(arrivals, strategy.begin(arrivals)[0], 0, np.zeros((steps, arrivals.cells), np.int64))[0]
    )
    unit = 1 << 40
    noise = unit * np.eye(rows, arrivals.cells, dtype=np.int64)
    totals, _ = strategy.decode(arrivals, strategy.begin(arrivals)[1], 0, steps, noise)
    return totals / (unit * 2.0 ** strategy.exponent(arrivals))


@pytest.mark.parametrize("window", [None, 1, 5])
@pytest.mark.parametrize("strategy", [Buffered.over(45, 5), SquareRoot(45), Tree(45), Tree(45, weighted=True)])
def test_deviations_are_those_of_the_noise(strategy: Strategy, window: int | None) -> None:
    matrix = noise_of_totals(strategy, 45)
    if window is not None:
        matrix = matrix - np.concatenate([np.zeros((window, matrix.shape[1])), matrix[:-window]])
    found = np.sqrt(np.sum(np.square(matrix), axis=1))
    said = strategy.deviations(window)
    assert np.all(found <= said * (1 + 1e-9))
    assert np.all(np.sum(np.abs(matrix), axis=1) <= strategy.reaches(window) * (1 + 1e-9))
    if window is None or not isinstance(strategy, Tree):
        np.testing.assert_allclose(found, said, rtol=1e-6)


def test_buffers_are_inverted_as_forty_digits_say() -> None:
    shape = fitted(10**4, 8)
    with mpmath.workdps(40):
        column = [
            sum(mpmath.mpf(w) * mpmath.mpf(d) ** t for d, w in zip(shape.decays, shape.weights, strict=True))
            for t in range(200)
        ]
        response: list[mpmath.mpf] = []
        for t in range(200):  # c·h = 1, 1, 1, …
            response.append((1 - sum(column[j] * response[t - j] for j in range(1, t + 1))) / column[0])
    np.testing.assert_allclose(shape.column(200), [float(each) for each in column], rtol=1e-12)
    np.testing.assert_allclose(shape.response(200), [float(each) for each in response], rtol=1e-9)
    assert all(each > 0 for each in shape.inverse()[2])


def test_the_square_root_is_one() -> None:
    root = square_root(200)
    np.testing.assert_allclose(np.convolve(root, root)[:200], np.ones(200), rtol=1e-12)


@pytest.mark.parametrize("steps", [2, 10, 1000, 10**5, MILLION])
def test_eight_buffers_are_as_good_as_the_square_root(steps: int) -> None:
    strategy = Buffered.over(steps, 8)
    error = math.sqrt(strategy.moved_squared(Arrivals(most=1000))) * strategy.deviations(None)
    assert float(error.max()) <= 1.003 * float(np.sum(np.square(square_root(steps))))


def test_a_million_steps_against_trees() -> None:
    arrivals = Arrivals(most=10**5)

    def errors(strategy: Strategy) -> tuple[float, float]:
        error = math.sqrt(strategy.moved_squared(arrivals)) * strategy.deviations(None)
        return float(error.max()), math.sqrt(float(np.mean(np.square(error))))

    ours, plain, honaker = (
        errors(Buffered.over(MILLION, 8)),
        errors(Tree(MILLION)),
        errors(Tree(MILLION, weighted=True)),
    )
    assert plain[0] == pytest.approx(19.4936, rel=1e-4)
    assert honaker[0] == pytest.approx(14.3550, rel=1e-4)
    assert ours[0] <= 0.29 * plain[0]
    assert ours[0] <= 0.39 * honaker[0]
    assert ours[1] <= 0.39 * plain[1]
    assert ours[1] <= 0.53 * honaker[1]


@pytest.mark.parametrize(
    ("decays", "weights"),
    [((), ()), ((0.5,), (1.0, 2.0)), ((1.0,), (1.0,)), ((0.5,), (0.0,)), ((0.2, 0.5), (1.0, 1.0))],
)
def test_exponentials_that_are_none(decays: tuple[float, ...], weights: tuple[float, ...]) -> None:
    with pytest.raises(ArgumentError):
        Exponentials(decays, weights)
