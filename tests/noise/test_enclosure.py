"""The bounds against mpmath, which computes the same numbers by other means."""

from __future__ import annotations

from decimal import Decimal, getcontext, localcontext
from fractions import Fraction

import mpmath
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sordino.noise import Binomial, DiscreteGaussian, DiscreteLaplace, Geometric, Poisson, RoundedGaussian
from sordino.noise.enclosure import (
    context,
    digits_for,
    exp_negative,
    exp_of,
    gaussian_cell,
    gaussian_from_zero,
    ln_exponential,
    ln_factorial,
    multiply,
)

few = settings(deadline=None, max_examples=60)


def real(value: Fraction | Decimal | int) -> mpmath.mpf:
    if isinstance(value, Decimal):
        return mpmath.mpf(str(value))
    exact = Fraction(value)
    return mpmath.mpf(exact.numerator) / exact.denominator


def check(enclosure, value, bits, width):
    low, high = enclosure
    scaled = value * mpmath.mpf(2) ** bits
    assert low <= scaled <= high
    assert high - low <= width


@few
@given(st.fractions(min_value=0, max_value=300), st.sampled_from([64, 128, 160, 512]))
def test_exp_negative_encloses(x, bits):
    with mpmath.workdps(400):
        check(exp_negative(x.numerator, x.denominator, bits), mpmath.exp(-real(x)), bits, 3)


def test_exp_negative_of_the_extremes():
    assert exp_negative(0, 1, 64)[1] >= 2**64 >= exp_negative(0, 1, 64)[0]
    assert exp_negative(10**30, 1, 64) == (0, 1)
    assert exp_of(Decimal(-(10**30)), 64) == (0, 1)
    low, high = exp_of(Decimal("1e-60"), 64)  # a logarithm of zero that rounding made positive
    assert low <= 2**64 <= high


@few
@given(st.integers(0, 2**200), st.integers(0, 2**200))
def test_products_are_rounded_outwards(a, b):
    low, high = multiply((a, a + 1), (b, b + 2), 128)
    assert low * 2**128 <= a * b
    assert high * 2**128 >= (a + 1) * (b + 2)


@few
@given(st.one_of(st.integers(0, 200), st.integers(0, 2**62)), st.sampled_from([20, 50, 120]))
def test_ln_factorial(n, digits):
    with mpmath.workdps(digits + 60):
        expected = mpmath.loggamma(mpmath.mpf(n) + 1) - mpmath.log(2 * mpmath.pi) / 2
        assert abs(real(ln_factorial(n, digits)) - expected) < mpmath.mpf(10) ** -digits


@few
@given(st.fractions(min_value=64, max_value=2**100), st.integers(0, 40), st.sampled_from([30, 60]))
def test_gaussian_cell(variance, deviations, digits):
    k = deviations * int(mpmath.sqrt(real(variance)))
    with mpmath.workdps(digits + 60):
        sigma = mpmath.sqrt(real(variance))
        root = sigma * mpmath.sqrt(2)
        # erfc keeps the digits that the difference of two tails loses
        mpmath.mp.dps += 2 * int(mpmath.log10(sigma)) + 10
        mass = (mpmath.erfc((k - mpmath.mpf(1) / 2) / root) - mpmath.erfc((k + mpmath.mpf(1) / 2) / root)) / 2
        density = mpmath.exp(-(mpmath.mpf(k) ** 2) / (2 * real(variance))) / (sigma * mpmath.sqrt(2 * mpmath.pi))
        found = real(gaussian_cell(k, variance, digits))
        assert abs(found / (mass / density) - 1) < mpmath.mpf(10) ** -digits


@few
@given(st.fractions(min_value=0, max_value=10**7), st.sampled_from([20, 60]))
def test_gaussian_from_zero(square, digits):
    with mpmath.workdps(digits + 30):
        expected = mpmath.sqrt(mpmath.pi / 2) * mpmath.erf(mpmath.sqrt(real(square) / 2))
        assert abs(real(gaussian_from_zero(square, digits)) - expected) < mpmath.mpf(10) ** -digits


@few
@given(st.integers(0, 2**128 - 1))
def test_ln_exponential(prefix):
    low, high = ln_exponential(prefix, 128)
    with mpmath.workdps(150):
        whole = mpmath.mpf(2) ** 128
        if prefix:
            assert real(low) <= mpmath.log(-mpmath.log(1 - prefix / whole))
        if prefix < 2**128 - 1:
            assert real(high) >= mpmath.log(-mpmath.log(1 - (prefix + 1) / whole))


def test_ln_exponential_at_the_ends():
    assert ln_exponential(0, 64)[0].is_infinite()
    assert ln_exponential(2**64 - 1, 64)[1].is_infinite()


def _rounded(k, variance):
    root = mpmath.sqrt(2 * real(variance))
    half = mpmath.mpf(1) / 2
    return mpmath.erfc((abs(k) - half) / root) - mpmath.erfc((abs(k) + half) / root)


def _poisson(k, rate):
    return mpmath.exp(k * mpmath.log(real(rate)) - mpmath.loggamma(k + 1))


def _binomial(k, trials, p):
    logarithm = k * mpmath.log(real(p)) + (trials - k) * mpmath.log(1 - real(p))
    return mpmath.exp(logarithm - mpmath.loggamma(k + 1) - mpmath.loggamma(trials - k + 1))


RATIOS = [
    (DiscreteLaplace("1.7"), lambda k: mpmath.exp(-abs(k) / real(Fraction("1.7"))), 0, 9),
    (Geometric(900), lambda k: mpmath.exp(-mpmath.mpf(k) / 900), 32, 45),
    (DiscreteGaussian("3.3"), lambda k: mpmath.exp(-(k**2) / (2 * real(Fraction("3.3")))), 0, -7),
    (RoundedGaussian("0.3"), lambda k: _rounded(k, Fraction("0.3")), 0, 3),
    (RoundedGaussian("50"), lambda k: _rounded(k, Fraction(50)), -20, -31),
    (RoundedGaussian(10**8), lambda k: _rounded(k, Fraction(10**8)), 40_000, 40_050),
    (Poisson("4.5"), lambda k: _poisson(k, Fraction("4.5")), 4, 20),
    (Poisson(10**9), lambda k: _poisson(k, Fraction(10**9)), 10**9 + 10**5, 10**9 + 10**5 + 300),
    (Poisson(10**9), lambda k: _poisson(k, Fraction(10**9)), 10**9 - 10**5, 10**9 - 10**5 - 300),
    (Binomial(30, "0.2"), lambda k: _binomial(k, 30, Fraction("0.2")), 6, 30),
    (Binomial(10**12, "0.4"), lambda k: _binomial(k, 10**12, Fraction("0.4")), 4 * 10**11, 4 * 10**11 + 10**6),
]


@pytest.mark.parametrize("case", RATIOS, ids=lambda case: f"{case[0]}-{case[3]}")
@pytest.mark.parametrize("bits", [64, 160, 400])
def test_ratios_of_the_laws(case, bits):
    law, weight, origin, x = case
    with mpmath.workdps(300):
        check(law.ratio(x, origin, bits), weight(x) / weight(origin), bits, 4)


@pytest.mark.parametrize(
    "law",
    [
        DiscreteLaplace(700),
        DiscreteGaussian(30_000),
        RoundedGaussian(30_000),
        RoundedGaussian(3),
        Poisson(300),
        Poisson(10**5),
        Binomial(1000, "0.7"),
        Binomial(10**6, "0.01"),
    ],
    ids=repr,
)
@pytest.mark.parametrize("direction", [1, -1])
def test_heights_agree_with_ratios(law, direction):
    """Heights come by recurrences where those are faster; they enclose the same numbers as `ratio`."""
    for block, (low, high) in zip(range(60), law.heights(direction, 200), strict=False):
        node = law.mode + direction * (block << law.width_bits)
        least, most = law.support
        if (least is not None and node < least) or (most is not None and node > most):
            assert (low, high) == (0, 0)
            break
        other_low, other_high = law.ratio(node, law.mode, 200)
        assert low <= other_high
        assert other_low <= high
        assert high - low < 2**24


def test_rounded_gaussian_ratio_far_out_is_nothing():
    assert RoundedGaussian(100).ratio(10_000, 0, 64) == (0, 1)


def test_the_callers_decimal_context_is_neither_used_nor_changed():
    expected = Poisson(10**6).ratio(1_002_000, 1_000_000, 128)
    with localcontext() as local:
        local.prec = 3
        assert Poisson(10**6).ratio(1_002_000, 1_000_000, 128) == expected
        assert getcontext().prec == 3


def test_contexts_are_wide_enough_for_what_they_show():
    assert all(10 ** (digits_for(bits) - 8) > 2**bits for bits in range(1, 3000, 7))
    assert context(30).prec == 30
