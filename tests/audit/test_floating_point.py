"""Impossible numbers: naive floats give the true answer away, grids do not, and nobody honest is accused."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

import sordino as so
from sordino import mechanisms
from sordino.audit.attacks.doubles import ANY_DOUBLE, NUMPY, TEXTBOOK, FloatSampler, lowest_bit, reachable
from sordino.audit.attacks.floating_point import Draw, Trace, impossible_outputs
from sordino.audit.attacks.rates import Rate
from sordino.errors import ArgumentError

DRAWS = 20_000


def numpy_laplace(seed: int = 1) -> Draw:
    dice = np.random.default_rng(seed)
    return lambda value, count: dice.laplace(value, 1.0, count)


def textbook_laplace(seed: int = 1) -> Draw:
    dice = np.random.default_rng(seed)
    return lambda value, count: value + dice.choice([-1.0, 1.0], count) * np.log(1 - dice.random(count))


def snapping(seed: int = 1) -> Draw:
    """Mironov's remedy: round what the naive sampler gives to a power of two that is not below the scale."""
    naive = textbook_laplace(seed)
    return lambda value, count: np.clip(np.round(naive(value, count)), -1024, 1024)


def grid_laplace(epsilon: float = 1) -> Draw:
    """Return sordino's own Laplace on its grid for reals."""
    mechanism = mechanisms.Laplace.for_epsilon(epsilon, so.Bound.scalar(1), grid=None)
    account = so.unlimited("a test")

    def draw(value: float, count: int) -> np.ndarray:
        bound = so.Bound.vector(l0=count, linf=1)
        return mechanism.release(np.full(count, value), account.reserve(mechanism.event(bound), bound))

    return draw


# ---- both halves ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("draw", "sampler"), [(numpy_laplace(), NUMPY), (textbook_laplace(), TEXTBOOK), (numpy_laplace(), None)]
)
def test_naive_noise_gives_the_answer_away(draw: Draw, sampler: FloatSampler | None) -> None:
    found = so.audit.impossible_outputs(draw, 0.0, 1.0, draws=DRAWS, sampler=sampler)
    assert found.share > 0.4
    assert found.epsilon > 5
    assert found.refutes(1)
    assert "give away" in str(found)


@pytest.mark.parametrize(("value", "neighbour"), [(0.0, 1.0), (0.3, 1.3), (0.1, 1.0 + 2**-40), (-5.0, -4.0)])
def test_our_noise_does_not(value: float, neighbour: float) -> None:
    found = impossible_outputs(grid_laplace(), value, neighbour, draws=DRAWS, sampler=TEXTBOOK)
    assert found.share == 0.0
    assert found.epsilon <= 1
    assert not found.refutes(1)


def test_snapping_does_not() -> None:
    found = impossible_outputs(snapping(), 0.0, 1.0, draws=DRAWS, sampler=TEXTBOOK)
    assert found.share == 0.0
    assert not found.refutes(1)


def test_naive_gaussian_noise_breaks_its_epsilon_and_delta_too() -> None:
    dice = np.random.default_rng(1)
    deviation = math.sqrt(mechanisms.Gaussian.for_epsilon(1, 1e-5, so.Bound.scalar(1)).variance)
    found = impossible_outputs(lambda value, n: value + dice.normal(0, deviation, n), 0.0, 1.0, draws=DRAWS)
    assert found.refutes(1, 1e-5)
    assert not found.refutes(1, 0.9)
    mechanism = mechanisms.Gaussian.for_epsilon(1, 1e-5, so.Bound.scalar(1), grid=None)
    account = so.unlimited("a test")

    def ours(value: float, count: int) -> np.ndarray:
        bound = so.Bound.vector(l0=count, linf=1)
        return mechanism.release(np.full(count, value), account.reserve(mechanism.event(bound), bound))

    assert not impossible_outputs(ours, 0.0, 1.0, draws=DRAWS).refutes(1, 1e-5)


def test_a_value_off_the_grid_of_its_noise_shows() -> None:
    """Whole-numbered noise on an answer that is not whole: its fraction stands in every output."""
    law = so.noise.DiscreteLaplace(1)
    found = impossible_outputs(lambda value, count: value + law.draw(count), 0.25, 1.0, draws=DRAWS)
    assert found.share == 1.0
    assert found.refutes(5)


def test_an_exact_laplace_that_is_rounded_at_the_end_is_not_accused() -> None:
    """Its outputs are no sums of two doubles, on either side: events that mean nothing here must not accuse."""
    law = so.noise.DiscreteLaplace(2**47)

    def rounded(value: float, count: int) -> np.ndarray:
        # Whole steps of 2^-57, added without rounding; then one rounding to a double, which is post-processing.
        steps = int(value) * 2**57 + law.draw(count) * 2**10 + so.noise.uniform(2**10, count)
        return steps.astype(float) * 2.0**-57

    outputs = rounded(1.0, DRAWS)
    assert not reachable(outputs[np.abs(outputs) < 0.25], 1.0, ANY_DOUBLE).all()
    found = impossible_outputs(rounded, 0.0, 1.0, draws=DRAWS, sampler=TEXTBOOK)
    assert found.share == 0.0
    assert not found.refutes(1)


def test_honest_noise_is_not_accused_in_many_tries() -> None:
    draw = grid_laplace()
    assert not any(impossible_outputs(draw, 0.0, 1.0, draws=2000).refutes(1) for _ in range(60))


# ---- which doubles can be reached -----------------------------------------------------------------------------------


@pytest.mark.parametrize(("draw", "sampler"), [(numpy_laplace(), NUMPY), (textbook_laplace(), TEXTBOOK)])
@pytest.mark.parametrize("value", [0.0, 1.0, 0.3, -7.7, 1e6])
def test_what_was_drawn_can_be_reached(draw: Draw, sampler: FloatSampler, value: float) -> None:
    outputs = draw(value, 30_000)
    assert reachable(outputs, value, sampler).all()
    assert reachable(outputs, value, ANY_DOUBLE).all()


def test_with_the_librarys_own_logarithm_more_is_seen() -> None:
    sharp = replace(TEXTBOOK, slack=0)
    outputs = textbook_laplace()(0.0, 30_000)
    assert reachable(outputs, 0.0, sharp).all()
    blurred = reachable(outputs, 1.0, TEXTBOOK).mean()
    assert reachable(outputs, 1.0, sharp).mean() < blurred - 0.1


def test_small_uniforms_are_enumerated_by_brute_force() -> None:
    """With 2^-12 in place of 2^-53 all noise can be listed: what is called out of reach is not on the list."""
    u = np.arange(1, 2**12 + 1) / 2**12
    noise = np.log(u)
    listed = np.unique(np.concatenate([1.0 + noise, 1.0 - noise]))
    assert reachable(listed, 1.0, TEXTBOOK).all()
    beside = np.nextafter(listed, np.inf)
    assert not reachable(beside[np.abs(beside - 1.0) > 3], 1.0, replace(TEXTBOOK, slack=0)).all()


def test_the_scale_of_noise_matters() -> None:
    dice = np.random.default_rng(1)
    outputs = 1.0 + 2.5 * dice.choice([-1.0, 1.0], 20_000) * np.log(1 - dice.random(20_000))
    assert reachable(outputs, 1.0, TEXTBOOK, 2.5).all()
    assert not reachable(outputs, 1.0, replace(TEXTBOOK, slack=0), 1.0).all()


def test_the_lowest_bit_is_exact() -> None:
    values = np.array([1.0, -1.0, 0.5, 3 * 2.0**-40, 2.0**-1074, 1e308, 0.1, 2.0**1023])
    for value, bit in zip(values.tolist(), lowest_bit(values).tolist(), strict=True):
        odd = Fraction(value) / Fraction(2) ** bit
        assert odd.denominator == 1
        assert odd.numerator % 2 == 1
    assert lowest_bit(np.array([0.0]))[0] > 1024


# ---- statistics, arguments, figures ---------------------------------------------------------------------------------


def test_a_trace_proves_no_more_than_it_may() -> None:
    rare = Trace("seen once", Rate(1, 1000), Rate(0, 1000))
    assert rare.only_one
    assert rare.epsilon("0.99") == 0.0
    clear = Trace("often", Rate(500, 1000), Rate(0, 1000))
    assert 4 < clear.epsilon("0.99") < math.log(500)
    assert clear.epsilon("0.999999") < clear.epsilon("0.99")
    assert Trace("never", Rate(0, 1000), Rate(0, 1000)).epsilon("0.99") == 0.0


@pytest.mark.parametrize(
    "call",
    [
        lambda: impossible_outputs(lambda _v, n: np.zeros(n - 1), 0.0, 1.0),
        lambda: impossible_outputs(lambda _v, n: np.full(n, math.inf), 0.0, 1.0),
        lambda: impossible_outputs(lambda _v, n: ["a"] * n, 0.0, 1.0, draws=10),
        lambda: impossible_outputs(numpy_laplace(), math.nan, 1.0),
        lambda: impossible_outputs(numpy_laplace(), 0.0, 1.0, draws=1),
        lambda: impossible_outputs(numpy_laplace(), 0.0, 1.0, scale=0),
    ],
)
def test_what_makes_no_sense_is_refused(call: Callable[[], object]) -> None:
    with pytest.raises(ArgumentError):
        call()


@pytest.mark.parametrize("draw", [numpy_laplace(), grid_laplace(), lambda _value, count: np.zeros(count)])
def test_figures_are_drawn(draw: Draw) -> None:
    found = impossible_outputs(draw, 0.0, 1.0, draws=2000)
    axes = found.figure().axes[0]
    assert len(axes.get_legend().get_texts()) == 2
    assert len(found.figure(beside=found).axes) == 2
