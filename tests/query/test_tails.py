from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from sordino import noise
from sordino.errors import ArgumentError
from sordino.noise import DiscreteGaussian, DiscreteLaplace, RoundedGaussian
from sordino.query.estimate import tails
from sordino.query.estimate.convolution import Component, chernoff, reach
from sordino.query.estimate.laplace_sums import reaches
from sordino.query.estimate.tails import Noises, envelope, half_width, variance

DRAWS = 200_000
SIGMAS = 5.0  # a correct half width fails a check with probability 3·10⁻⁷

CASES: dict[str, Noises] = {
    "one": [(DiscreteLaplace(7), -3.0)],
    "difference": [(DiscreteLaplace(1000), 1.0), (DiscreteLaplace(1000), -1.0)],
    "different": [(DiscreteLaplace(900), 1.0), (DiscreteLaplace(400), 5.0)],
    "small": [(DiscreteLaplace(1), 1.0), (DiscreteLaplace(1), 1.0)],
    "no common step": [(DiscreteLaplace(1), 1.0), (DiscreteLaplace(2), math.sqrt(2))],
    "three": [(DiscreteLaplace(3), 1.0), (DiscreteLaplace(5), 0.3), (DiscreteLaplace(700), 0.01)],
    "normal": [(RoundedGaussian(10**8), 1.0), (RoundedGaussian(10**7), -4.0)],
    "narrow normal": [(RoundedGaussian(4), 1.0), (RoundedGaussian(9), 0.5)],
    "mixed": [(DiscreteLaplace(30), 1.0), (RoundedGaussian(400), 1.0)],
    "mixed, wide": [(DiscreteLaplace(30_000), 1.0), (DiscreteLaplace(30_000), 1.0), (RoundedGaussian(10**9), 1.0)],
    "far apart": [(DiscreteLaplace(1), 1.0), (DiscreteLaplace(10**6), 1.0), (RoundedGaussian(5), 3.0)],
    "many": [(DiscreteLaplace(20), 1.0)] * 60,
    "nearly nothing": [(DiscreteLaplace("0.05"), 1.0), (DiscreteLaplace("0.05"), 0.3)],
}


def sums(noises: Noises, draws: int = DRAWS) -> np.ndarray:
    return np.abs(sum(coefficient * law.draw(draws).astype(np.float64) for law, coefficient in noises))


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("confidence", [0.5, 0.95, 0.999])
def test_covers_as_claimed_and_is_hardly_too_wide(name: str, confidence: float) -> None:
    noises = CASES[name]
    reached, drawn = half_width(noises, confidence), sums(noises)
    error = SIGMAS * math.sqrt(confidence * (1 - confidence) / DRAWS)
    covered = float(np.mean(drawn <= reached * (1 + 1e-12)))
    assert covered >= confidence - error, (reached, covered)
    # Were it more than 1 % too wide, then 0.99 of it would cover as well. Steps of the grid may be wider than that.
    least_step = min(abs(coefficient) for _, coefficient in noises)
    narrower = float(np.mean(drawn <= 0.99 * reached - 1.001 * least_step))
    assert narrower <= confidence + error, (reached, narrower)


@pytest.mark.parametrize("name", CASES)
def test_the_check_above_has_power(name: str) -> None:
    reached, drawn = half_width(CASES[name], 0.95), sums(CASES[name])
    if reached > 0:
        assert np.mean(drawn < 0.9 * reached) < 0.95 - 2 * SIGMAS * math.sqrt(0.95 * 0.05 / DRAWS)


def exact_laplace_sum(scale: int, confidence: float) -> int:
    """Add up the law of the sum of two discrete Laplace noises, term by term."""
    k = np.arange(-60 * scale, 60 * scale + 1)
    law = np.exp(-np.abs(k) / scale)
    law /= law.sum()
    both = np.convolve(law, law)
    middle = len(both) // 2
    inside = both[middle] + 2 * np.cumsum(both[middle + 1 :])
    return int(np.searchsorted(inside, confidence)) + 1


@pytest.mark.parametrize("scale", [1, 2, 5, 20])
@pytest.mark.parametrize("confidence", [0.9, 0.95, 0.99])
def test_a_small_sum_is_exact(scale: int, confidence: float) -> None:
    assert half_width([(DiscreteLaplace(scale), 1), (DiscreteLaplace(scale), -1)], confidence) == pytest.approx(
        exact_laplace_sum(scale, confidence), rel=1e-9
    )


def test_one_law_is_its_own_tail() -> None:
    assert half_width([(DiscreteLaplace(10), 2.0)], "0.95") == 2 * DiscreteLaplace(10).tail("0.95")
    assert half_width([(DiscreteLaplace(10), 2.0), (DiscreteLaplace(3), 0.0)], 0.95) == 60


def test_no_noise_reaches_nowhere() -> None:
    assert half_width([], 0.95) == envelope([], 0.95) == 0.0
    assert half_width([(DiscreteLaplace("0.001"), 5.0)], 0.95) == 0.0


def test_order_and_sign_do_not_matter_and_coefficients_scale() -> None:
    first = [(DiscreteLaplace(30), 1.0), (RoundedGaussian(400), 2.0)]
    other = [(RoundedGaussian(400), -2.0), (DiscreteLaplace(30), -1.0)]
    tripled = [(law, 3 * coefficient) for law, coefficient in first]
    assert half_width(first, 0.95) == half_width(other, 0.95)
    assert half_width(tripled, 0.95) == pytest.approx(3 * half_width(first, 0.95), rel=0.005)


def test_convolution_agrees_with_the_closed_form() -> None:
    parts = [tails._laplace(2.0, 1), tails._laplace(5.0, 1)]
    closed = float(reaches(np.array([[5.0], [2.0]]), 0.01)[0])
    assert closed * (1 - 1e-6) <= reach(parts, 0.01) <= closed * 1.003


@pytest.mark.parametrize("laws", [[DiscreteLaplace(40)] * 3, [DiscreteLaplace(40), RoundedGaussian(900)]])
def test_many_envelopes_are_the_same_as_one_after_the_other(laws: list[tails.Noise]) -> None:
    coefficients = np.array([[1.0, 0.0, -3.0, 0.0], [2.0, 1.0, 0.5, 0.0], [0.1, 0.0, 2.0, 0.0]])[: len(laws)]
    several = tails.envelopes(laws, coefficients, 0.95)
    single = [envelope(list(zip(laws, column, strict=True)), 0.95) for column in coefficients.T.tolist()]
    assert several.tolist() == pytest.approx(single, rel=0.004)
    assert several[-1] == 0.0


@given(
    st.lists(st.floats(-5, 5), min_size=3, max_size=3),
    st.lists(st.floats(-5, 5), min_size=3, max_size=3),
    st.sampled_from([0.5, 0.9, 0.99]),
)
@example([0.0, 5e-324, 0.0], [0.0, 5e-324, 1e-310], 0.9)
@example([5e-324, 0.0, 5e-324], [0.0, 2.2e-308, 1.0], 0.9)
@example([0.0, 6.6685740379641316e-40, 1.0166429447499794e-140], [1.0, 0.0, 0.0], 0.5)
@settings(max_examples=40)
def test_envelopes_keep_below_their_chords(left: list[float], right: list[float], confidence: float) -> None:
    laws = [DiscreteLaplace(10_000), DiscreteLaplace(7_000), RoundedGaussian(10**8)]
    middle = [(a + b) / 2 for a, b in zip(left, right, strict=True)]
    ends = [envelope(list(zip(laws, side, strict=True)), confidence) for side in (left, right)]
    # The computed envelope is above the true one by up to 0.3 % of a deviation; at the ends it is never below it.
    deviation = math.sqrt(variance(list(zip(laws, middle, strict=True))))
    assert envelope(list(zip(laws, middle, strict=True)), confidence) <= sum(ends) / 2 + 0.003 * deviation + 1e-6


@given(st.sampled_from(sorted(CASES)), st.sampled_from([0.3, 0.9, 0.9999]))
def test_the_envelope_is_never_below(name: str, confidence: float) -> None:
    assert envelope(CASES[name], confidence) >= half_width(CASES[name], confidence)


def test_discrete_laplace_is_as_close_to_its_continuous_law_as_claimed() -> None:
    for scale in (0.05, 0.5, 1.0, 7.0, 1e6):
        allowed = tails._rounding(DiscreteLaplace(str(scale)))
        shift = scale * math.log(2 / (1 + math.exp(-1 / scale)))
        for k in range(1, 6):  # P[Z ≥ k] = P[L ≥ k − d]
            z = math.exp(-k / scale) / (1 + math.exp(-1 / scale))
            assert z == pytest.approx(0.5 * math.exp(-(k - shift) / scale), rel=1e-9)
        assert allowed == pytest.approx(max(shift, 1 - shift), rel=1e-6)
        assert 0.5 <= allowed <= 1


def test_extreme_confidence_is_answered_by_chernoff() -> None:
    noises = [(DiscreteLaplace(1), 1.0), (DiscreteLaplace(2), math.sqrt(2))]
    almost = half_width(noises, 1 - Fraction(1, 10**12))
    assert half_width(noises, 0.999999) < almost < envelope(noises, 1 - Fraction(1, 10**13))
    parts = [tails._laplace(1.0, 1), tails._laplace(1.0, 1)]
    assert chernoff(parts, 0.05) >= float(reaches(np.array([[1.0], [1.0]]), 0.05)[0])


def test_a_reach_beyond_the_transform_is_the_bound_itself() -> None:
    heavy = Component(lambda x: np.full(len(x), 0.5), lambda rate: rate**2, 1.0, math.inf)
    assert reach([heavy], 0.05) == pytest.approx(chernoff([heavy], 0.05 * 1e-3))


def test_results_are_remembered() -> None:
    noises: Sequence[tuple[noise.DiscreteLaplace, float]] = [
        (DiscreteLaplace(12345), 1.0),
        (DiscreteLaplace(54321), 1.0),
    ]
    half_width(noises, 0.95)
    before = tails._half_width.cache_info().hits
    half_width(list(reversed(noises)), "0.95")
    assert tails._half_width.cache_info().hits == before + 1


def test_variance_adds_up() -> None:
    laws = DiscreteLaplace(3), RoundedGaussian(10)
    assert variance([(laws[0], 2.0), (laws[1], -1.0)]) == 4 * laws[0].variance + laws[1].variance


@pytest.mark.parametrize("confidence", [0, 1, -0.5, "1.5", float("nan"), True])
def test_impossible_confidences_are_refused(confidence: object) -> None:
    with pytest.raises(ArgumentError):
        half_width([(DiscreteLaplace(1), 1.0)], confidence)  # type: ignore[arg-type]


def test_other_laws_and_endless_coefficients_are_refused() -> None:
    with pytest.raises(ArgumentError, match="DiscreteGaussian"):
        half_width([(DiscreteGaussian(1), 1.0)], 0.95)  # type: ignore[list-item]
    with pytest.raises(ArgumentError, match="finite"):
        half_width([(DiscreteLaplace(1), math.inf)], 0.95)


FAINT = [0.0, 5e-324, 1e-310, 2.2e-308, 1e-200, 1e-160, 1e-20, 1.0, 1e200]


@pytest.mark.parametrize("coefficients", list(itertools.product(FAINT, repeat=3)))
def test_denormal_coefficients_neither_overflow_nor_vanish(coefficients: tuple[float, ...]) -> None:
    """Half widths are those of the largest coefficient or more, and no more than those of all being as large."""
    laws = [DiscreteLaplace(10_000), DiscreteLaplace(7_000), RoundedGaussian(10**8)]
    largest = max(coefficients)
    most = half_width([(law, 1.0) for law in laws], 0.9) * 1.02
    several = tails.envelopes(laws, np.array(coefficients)[:, None], 0.9)[0]
    tails.envelopes(laws[:2], np.array(coefficients[:2])[:, None], 0.9)
    noises = list(zip(laws, coefficients, strict=True))
    for width in (half_width(noises, 0.9), envelope(noises, 0.9), several):
        assert 7_000 * largest <= width <= most * largest + 5e-324
