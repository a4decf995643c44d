"""Each law against its own formula, with the power to notice a wrong scale; and its words."""

from __future__ import annotations

import math
import pickle
from decimal import Decimal
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from scipy import stats

from sordino.errors import ArgumentError
from sordino.noise import (
    Binomial,
    DiscreteGaussian,
    DiscreteLaplace,
    Geometric,
    Poisson,
    RoundedGaussian,
    Skellam,
    TruncatedNegativeBinomial,
)

N = 60_000


def _laplace_above(k, scale):
    """P[X > k] for the discrete Laplace law."""
    twice = 1 + math.exp(-1 / scale)
    return math.exp(-(k + 1) / scale) / twice if k >= 0 else 1 - math.exp(k / scale) / twice


def _discrete_gaussian_above(k, deviation):
    if deviation > 100:  # the sum over the integers is the integral, to far below what N draws can show
        return stats.norm.sf((k + 0.5) / deviation)
    support = np.arange(-2000, 2001)
    weights = np.exp(-(support**2) / (2 * deviation**2))
    return weights[support > k].sum() / weights.sum()


ABOVE = {
    DiscreteLaplace: _laplace_above,
    DiscreteGaussian: _discrete_gaussian_above,
    RoundedGaussian: lambda k, deviation: stats.norm.sf((k + 0.5) / deviation),
    Geometric: lambda k, scale: math.exp(-(k + 1) / scale) if k >= 0 else 1.0,
    Poisson: lambda k, rate: stats.poisson.sf(k, rate),
    Skellam: lambda k, variance: stats.skellam.sf(k, variance / 2, variance / 2),
}


def _law(kind, scale):
    return kind(Fraction(scale) ** 2) if kind in (DiscreteGaussian, RoundedGaussian) else kind(Fraction(scale))


def _cells(kind, scale):
    """Cut points that hold about equal shares, and at most 40 of them."""
    if kind is Poisson:
        centre, spread = scale, math.sqrt(scale)
    else:
        centre, spread = 0.0, math.sqrt(scale) if kind is Skellam else scale
    return sorted({math.floor(centre + spread * share) for share in np.linspace(-6, 6, 41)})


def _counts(draws, cuts):
    return np.bincount(np.searchsorted(np.array(cuts), draws, side="left"), minlength=len(cuts) + 1)


def _chances(kind, scale, cuts):
    above = [1.0] + [ABOVE[kind](cut, scale) for cut in cuts] + [0.0]
    return [max(high - low, 0.0) for high, low in pairwise(above)]


SCALED = [(kind, scale) for kind in ABOVE for scale in ("1", "10", "1000", "1000000")]
WIDE = (DiscreteLaplace, DiscreteGaussian, RoundedGaussian, Geometric)
SCALED += [(kind, str(2**power)) for kind in WIDE for power in (40, 50)]
SCALED += [(Poisson, str(10**12)), (Skellam, str(10**8)), (DiscreteLaplace, "0.3"), (RoundedGaussian, "0.4")]
SCALED += [(DiscreteGaussian, "0.5"), (DiscreteGaussian, "127.9"), (RoundedGaussian, "8"), (RoundedGaussian, "7.99")]


@pytest.mark.parametrize(("kind", "scale"), SCALED, ids=lambda part: getattr(part, "__name__", part))
def test_the_law_is_accepted_and_other_scales_are_rejected(kind, scale, fits, differs):
    draws = _law(kind, scale).draw(N)
    assert draws.dtype == np.int64
    cuts = _cells(kind, float(scale))
    counts = _counts(draws, cuts)
    fits(counts, _chances(kind, float(scale), cuts))
    for factor in (0.7, 1.3):
        differs(counts, _chances(kind, float(scale) * factor, cuts))


@pytest.mark.long
@pytest.mark.parametrize(("kind", "scale"), SCALED, ids=lambda part: getattr(part, "__name__", part))
def test_twenty_million_draws_tell_a_scale_from_one_that_is_two_percent_off(kind, scale, fits, differs):
    law, cuts = _law(kind, scale), _cells(kind, float(scale))
    counts = sum(_counts(law.draw(2 * 10**6), cuts) for _ in range(10))
    fits(counts, _chances(kind, float(scale), cuts))
    for factor in (0.98, 1.02):
        differs(counts, _chances(kind, float(scale) * factor, cuts))


@pytest.mark.parametrize(
    ("trials", "probability"), [(1, "0.3"), (12, "0.3"), (1000, "0.999"), (10**6, "0.5"), (10**10, "0.25")]
)
def test_binomial(trials, probability, fits, differs):
    draws = Binomial(trials, probability).draw(N)
    chance = float(probability)
    deviation = math.sqrt(trials * chance * (1 - chance))
    cuts = sorted({math.floor(trials * chance + deviation * share) for share in np.linspace(-5, 5, 31)})
    counts = _counts(draws, cuts)

    def chances(p):
        above = [1.0, *(stats.binom.sf(cut, trials, p) for cut in cuts), 0.0]
        return [max(high - low, 0.0) for high, low in pairwise(above)]

    fits(counts, chances(chance))
    differs(counts, chances(chance * 0.7))
    differs(counts, chances(1 - (1 - chance) * 1.3))


@pytest.mark.parametrize("kind", [DiscreteLaplace, DiscreteGaussian, RoundedGaussian], ids=lambda kind: kind.__name__)
def test_tails_have_the_right_weight(kind, fits, differs):
    """Far out, where a chi-square over the middle would not look."""
    scale, n = 1000, 400_000
    far = 7000 if kind is DiscreteLaplace else 3300
    beyond = int(np.count_nonzero(np.abs(_law(kind, scale).draw(n)) > far))
    for factor, check in ((1.0, fits), (0.7, differs), (1.3, differs)):
        chance = 2 * ABOVE[kind](far, scale * factor)
        check([beyond, n - beyond], [chance, 1 - chance])


@pytest.mark.parametrize(
    "law", [DiscreteLaplace(2**50), DiscreteGaussian(2**100), RoundedGaussian(2**90), Geometric(2**45)], ids=repr
)
def test_low_bits_of_wide_noise_are_uniform(law, fits):
    draws = law.draw(N)
    fits(np.bincount(draws & 63, minlength=64), [1 / 64] * 64)
    fits(np.bincount(draws >> 20 & 63, minlength=64), [1 / 64] * 64)
    assert np.abs(draws).max() < 2**57


SMALLEST = [DiscreteLaplace("0.001"), DiscreteGaussian("0.000001"), RoundedGaussian("1e-6"), Geometric("0.001")]


@pytest.mark.parametrize("law", SMALLEST, ids=repr)
def test_the_smallest_scales_give_zeros(law):
    assert not law.draw(10_000).any()
    assert law.draw() == 0
    assert law.variance == pytest.approx(0, abs=1e-300)
    assert law.tail("0.999999") == 0


def test_single_draws_have_the_same_law_as_arrays(fits, differs):
    for kind, scale in ((DiscreteLaplace, 1000), (DiscreteGaussian, 3)):
        law = _law(kind, scale)
        draws = [law.draw() for _ in range(20_000)]
        assert type(draws[0]) is int
        cuts = _cells(kind, float(scale))
        fits(_counts(draws, cuts), _chances(kind, scale, cuts))
        differs(_counts(draws, cuts), _chances(kind, scale * 1.3, cuts))


def test_every_integer_of_a_block_is_drawn_as_it_should(fits):
    """Within blocks, not only across them: the residues near the mode follow the law."""
    law = DiscreteGaussian(150**2)
    assert law.width_bits == 1
    draws = law.draw(400_000)
    near = draws[np.abs(draws) <= 60] + 60
    weights = np.exp(-(np.arange(-60, 61) ** 2) / (2 * 150.0**2))
    fits(np.bincount(near, minlength=121), weights / weights.sum())


def test_draws_are_independent_of_their_neighbours():
    draws = DiscreteLaplace(1000).draw(200_000).astype(float)
    for lag in (1, 2, 7):
        correlation = float(np.corrcoef(draws[lag:], draws[:-lag])[0, 1])
        assert abs(correlation) < 5.5 / math.sqrt(len(draws)), correlation


LAWS = [
    DiscreteLaplace("2.5"),
    DiscreteLaplace(3000),
    DiscreteGaussian(2),
    DiscreteGaussian("0.2"),
    DiscreteGaussian(10**7),
    RoundedGaussian("0.5"),
    RoundedGaussian(10**7),
    Geometric(4),
    Geometric(4000),
    Poisson("0.7"),
    Poisson(10**6),
    Binomial(20, "0.4"),
    Skellam(5),
    Skellam(10**4),
    Skellam(10**7),
    TruncatedNegativeBinomial("0.1"),
    TruncatedNegativeBinomial("0.02", 0),
    TruncatedNegativeBinomial("0.05", "0.5"),
]


@pytest.mark.parametrize("law", LAWS, ids=repr)
def test_variance_and_tail_describe_the_draws(law):
    draws = law.draw(200_000)
    assert law.variance == pytest.approx(float(draws.var()), rel=0.03)
    assert isinstance(law.variance, float)
    previous = -1
    for confidence in (0.5, 0.9, 0.99):
        t = law.tail(confidence)
        inside = np.count_nonzero(np.abs(draws) <= t) / len(draws)
        assert inside > confidence - 0.01
        # Not needlessly large: a radius that is 3 % and one step smaller does not hold.
        assert np.count_nonzero(np.abs(draws) <= int(t * 0.97) - 1) / len(draws) < confidence + 0.01
        assert t >= previous
        previous = t


def test_tails_against_closed_forms():
    for scale in (0.5, 3, 50, 700, 10**6):
        for confidence in (0.5, 0.95, 1 - 1e-9):
            least = math.ceil(scale * (-math.log(1 - confidence) + math.log(2 / (1 + math.exp(-1 / scale))))) - 1
            t = DiscreteLaplace(scale).tail(confidence)
            assert max(least, 0) <= t <= max(least, 0) + 1 + least * 1e-4
    assert RoundedGaussian(10**12).tail(0.95) == pytest.approx(1.959964e6, rel=1e-4)
    assert DiscreteGaussian(10**12).tail(0.95) == pytest.approx(1.959964e6, rel=1e-4)
    assert Poisson(10**6).tail(0.95) == pytest.approx(stats.poisson.ppf(0.95, 10**6), abs=2)
    assert Poisson(50).tail(0.95) == stats.poisson.ppf(0.95, 50)
    assert 0 <= Poisson(10**6).tail(0.01) - stats.poisson.ppf(0.01, 10**6) <= 5
    assert Binomial(10**6, "0.3").tail(0.99) == pytest.approx(stats.binom.ppf(0.99, 10**6, 0.3), abs=2)
    assert Skellam(30).tail(0.95) == next(t for t in range(99) if 2 * stats.skellam.sf(t, 15, 15) <= 0.05)
    assert 1.959 < Skellam(10**12).tail(0.95) / 10**6 < 1.961


def test_tails_reach_far_confidences():
    assert DiscreteLaplace(10).tail(1 - Fraction(1, 2**150)) == pytest.approx(150 * math.log(2) * 10, rel=0.01)
    assert DiscreteLaplace(10**6).tail(1 - Fraction(1, 2**150)) == pytest.approx(150 * math.log(2) * 10**6, rel=0.001)
    with pytest.raises(ArgumentError, match="confidence"):
        DiscreteLaplace(10).tail(1 - Fraction(1, 2**300))


@pytest.mark.parametrize("confidence", [0, 1, 2, -0.5, math.nan, True, None, "much"])
def test_bad_confidences_are_refused(confidence):
    for law in (DiscreteLaplace(1), Skellam(1)):
        with pytest.raises(ArgumentError, match="confidence"):
            law.tail(confidence)


def test_variances_against_sums():
    for scale in (0.3, 1, 20):
        q = math.exp(-1 / scale)
        assert DiscreteLaplace(scale).variance == pytest.approx(2 * q / (1 - q) ** 2)
        assert Geometric(scale).variance == pytest.approx(q / (1 - q) ** 2)
    assert DiscreteGaussian(100).variance == 100.0
    assert DiscreteGaussian("3.99").variance == pytest.approx(3.99, rel=1e-9)
    assert RoundedGaussian(100).variance == pytest.approx(100 + 1 / 12)
    assert RoundedGaussian("3.99").variance == pytest.approx(3.99 + 1 / 12, rel=1e-9)
    assert Skellam("2.5").variance == 2.5
    assert Poisson("2.5").variance == 2.5
    assert Binomial(10, "0.5").variance == 2.5


KINDS = [DiscreteLaplace, DiscreteGaussian, RoundedGaussian, Geometric, Poisson, Skellam]


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
@pytest.mark.parametrize(
    "value", [math.nan, math.inf, -math.inf, "NaN", True, np.True_, None, 0, -1, -0.0, "ten", [1], 1j, "1e400", 2**101]
)
def test_bad_parameters_are_refused(kind, value):
    with pytest.raises(ArgumentError) as error:
        kind(value)
    assert error.value.code in ("SRD-A001", "SRD-A002")
    assert any(name in str(error.value) for name in ("scale", "variance", "rate"))


def test_absurd_scales_name_the_remedy():
    with pytest.raises(ArgumentError, match="finer grid"):
        DiscreteLaplace("0.0009")
    with pytest.raises(ArgumentError, match="finer grid"):
        DiscreteGaussian("0.0000009")
    with pytest.raises(ArgumentError, match="coarser grid"):
        Geometric(2**50 + 1)
    with pytest.raises(ArgumentError, match="coarser grid"):
        RoundedGaussian(2**100 + 1)


@pytest.mark.parametrize(
    ("trials", "probability"),
    [(-1, 0.5), (2.0, 0.5), (True, 0.5), (2**61, 0.5), (5, -0.1), (5, 1.1), (5, math.nan), (5, False)],
)
def test_bad_binomials_are_refused(trials, probability):
    with pytest.raises(ArgumentError, match=r"trials|probability"):
        Binomial(trials, probability)


@pytest.mark.parametrize(
    ("stopping", "shape"), [(0, 1), (1, 1), (-1, 0), (True, 1), ("0.1", -1), ("0.1", 2), ("0.1", math.nan)]
)
def test_bad_numbers_of_tries_are_refused(stopping, shape):
    with pytest.raises(ArgumentError, match=r"stopping|shape"):
        TruncatedNegativeBinomial(stopping, shape)


def test_tries_reach_far_confidences():
    law = TruncatedNegativeBinomial("0.1")
    assert law.mean == pytest.approx(10)
    assert law.tail(0.5) == 7
    assert law.tail(1 - Fraction(1, 2**100)) == pytest.approx(100 * math.log(2) / -math.log(0.9), abs=25)
    assert TruncatedNegativeBinomial("0.1", 0).mean == pytest.approx(0.9 / (0.1 * math.log(10)))


@pytest.mark.parametrize("size", [-1, 1.5, True, "3", (2, -1), (2, None), [3]])
def test_bad_sizes_are_refused(size):
    with pytest.raises(ArgumentError, match="size"):
        DiscreteLaplace(1).draw(size)


def test_sizes():
    law = DiscreteLaplace(1000)
    for size, shape in ((0, (0,)), (5, (5,)), ((2, 3), (2, 3)), ((), ()), ((4, 0), (4, 0)), (np.int64(3), (3,))):
        assert law.draw(size).shape == shape
        assert law.draw(size).dtype == np.int64
    assert type(law.draw(None)) is int
    assert type(Skellam(3).draw()) is int
    assert Skellam(3).draw((2, 2)).shape == (2, 2)


def test_laws_are_values():
    assert DiscreteLaplace(0.1) == DiscreteLaplace("0.1") == DiscreteLaplace(Decimal("0.1")) != DiscreteLaplace("0.2")
    assert DiscreteLaplace(5) != Geometric(5)
    assert len({Poisson(3), Poisson("3"), Poisson(4)}) == 2
    with pytest.raises(AttributeError):
        DiscreteLaplace(1).scale = 2
    for law in [*LAWS, Binomial(3, "0.5")]:
        law.draw()
        assert pickle.loads(pickle.dumps(law)) == law  # noqa: S301


def test_whole_rates_and_rates_near_the_limit():
    draws = Poisson(2**60).draw(2000)
    assert abs(draws.astype(float).mean() / 2.0**60 - 1) < 1e-9
    assert draws.min() > 0
    assert Poisson("1e-12").draw(1000).sum() == 0
