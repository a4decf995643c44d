"""Tiny events, run astronomically often: nothing is rounded to zero before it is multiplied, so nothing is free.

Every event type is built so faint that squares of its parameters, or the parameters themselves, lie below the range of
floats, and is counted so often that the whole is far from free. The truth comes from nine hundred decimal digits.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction

import mpmath as mp
import numpy as np
import pytest

from sordino.accounting import accountants, composition, pure, renyi, shuffle, zcdp
from sordino.accounting.account import Account
from sordino.accounting.bound import Bound
from sordino.accounting.budget import Budget
from sordino.accounting.columns import Columns
from sordino.accounting.curve import CURVES
from sordino.accounting.event import Event
from sordino.accounting.events import (
    Allocated,
    Approximate,
    Concentrated,
    Correlated,
    Declared,
    DiscreteGaussian,
    DiscreteLaplace,
    Exponential,
    FixedSizeSampled,
    Gaussian,
    GaussianMixture,
    Ladder,
    Laplace,
    LaplaceNoisyMax,
    PartitionSelection,
    PermuteAndFlip,
    Personalised,
    PoissonSampled,
    PoissonSearched,
    Pure,
    RandomizedResponse,
    Repeated,
    Replaced,
    Searched,
    Sensitive,
    Shuffled,
    ShuffledLocal,
    ShuffledResponse,
    ShuffledUnary,
    Skellam,
    SmoothCauchy,
    SmoothLaplace,
    SparseVector,
    SummedDiscreteGaussian,
)
from sordino.accounting.units import PER_EPSILON, SATURATED
from sordino.errors import BudgetError, UnsupportedError

TRUTH_DIGITS = 900
ORDERS = np.array([1.25, 2.0, 3.5, 64.0, 4096.0])
SIZES = tuple(Fraction(1, 10**power) for power in (13, 62, 155, 390))
COUNTS = (1, 10**450)

Divergence = Callable[[mp.mpf, mp.mpf], mp.mpf]
"""From the size s of an event and an order α to D_α of one pair of neighbours of that event."""


def _response(s: mp.mpf, order: mp.mpf) -> mp.mpf:
    high, low = 1 / (1 + mp.exp(-s)), 1 / (1 + mp.exp(s))
    return mp.log(high**order * low ** (1 - order) + low**order * high ** (1 - order)) / (order - 1)


def _laplace(s: mp.mpf, order: mp.mpf) -> mp.mpf:
    rise, fall = order * mp.exp((order - 1) * s), (order - 1) * mp.exp(-order * s)
    return mp.log((rise + fall) / (2 * order - 1)) / (order - 1)


def _gaussian(s: mp.mpf, order: mp.mpf) -> mp.mpf:
    return order * s / 2


def _shifted_geometric(s: mp.mpf, order: mp.mpf) -> mp.mpf:
    """Integer noise P[k] ∝ e^{−s|k|} against itself one step aside: loss s on one half-line, −s on the other."""
    high, low = 1 / (1 + mp.exp(-s)), 1 / (1 + mp.exp(s))
    return mp.log(high * mp.exp((order - 1) * s) + low * mp.exp(-(order - 1) * s)) / (order - 1)


def _two_outcomes(s: mp.mpf, order: mp.mpf) -> mp.mpf:
    """An exponential mechanism over two outcomes whose scores move by s/2 in opposite directions, or less."""
    return _response(s / 2, order)


def _sampled_response(s: mp.mpf, order: mp.mpf) -> mp.mpf:
    """Randomized response of ε = 1 on a Poisson sample of rate s."""
    high, low = 1 / (1 + mp.exp(-1)), 1 / (1 + mp.exp(1))
    one, two = low + s * (high - low), high + s * (low - high)
    return mp.log(one**order * low ** (1 - order) + two**order * high ** (1 - order)) / (order - 1)


def _sampled_gaussian(s: mp.mpf, order: mp.mpf) -> mp.mpf:
    """D₂ = ln(1 + q²(e^{μ²} − 1)), and D_α grows with α; below 2 it is at least α/2 of that, to first order in q²."""
    return min(order / 2, 1) * mp.log(1 + s * s * (mp.e - 1)) * (1 - s)


def _best_of_geometric(s: mp.mpf, order: mp.mpf) -> mp.mpf:
    """The better of two outcomes of randomized response, over a number of runs that ends with probability ½ each."""
    high, low = 1 / (1 + mp.exp(-s)), 1 / (1 + mp.exp(s))
    p, q = high / (2 - high), low / (2 - low)
    return mp.log(p**order * q ** (1 - order) + (1 - p) ** order * (1 - q) ** (1 - order)) / (order - 1)


def _best_of_poisson(s: mp.mpf, order: mp.mpf) -> mp.mpf:
    """The same over a Poisson number of runs, one on average; no run at all looks alike on both sides."""
    none, high, low = mp.exp(-1), mp.exp(1 / (1 + mp.exp(-s)) - 1), mp.exp(1 / (1 + mp.exp(s)) - 1)
    p, q = high - none, low - none
    return mp.log(none + p**order * q ** (1 - order) + (1 - high) ** order * (1 - low) ** (1 - order)) / (order - 1)


Make = Callable[[Fraction], Event]
CASES: list[tuple[Make, Divergence]] = [
    (lambda s: Laplace(1 / s), _laplace),
    (lambda s: DiscreteLaplace(1 / s), _shifted_geometric),
    (lambda s: Gaussian(1 / s), _gaussian),
    (lambda s: DiscreteGaussian(1 / s), _gaussian),
    (lambda s: SummedDiscreteGaussian(2, 1 / s), lambda s, order: _gaussian(s / 2, order)),
    (lambda s: Skellam(1 / s), lambda s, order: _gaussian(s, order) / 2),  # which it is next to, less than half off
    (
        lambda s: Declared(Pure(s), "1e-9", 2 * s + Fraction(1, 10**300)),
        lambda s, order: _response(s, order) * mp.mpf("0.9"),
    ),
    (lambda s: Searched(Pure(s), "0.5"), _best_of_geometric),
    (lambda s: PoissonSearched(Pure(s), 1), _best_of_poisson),
    (lambda s: Correlated((1, 1), 3, 1, 2, 10 / s, 1), lambda s, order: _gaussian(s * 6 / 10, order)),  # 1 + 4 + 1
    (
        lambda s: GaussianMixture(1 / s, (0, 1), ("0.5", "0.5")),
        lambda s, order: min(order / 2, 1) * s / 4 * (1 - 2 * s),
    ),
    (lambda s: Allocated(2, 1 / s), lambda s, order: _gaussian(s / 2, order) * (1 - s)),
    (Exponential, _two_outcomes),
    (PermuteAndFlip, _two_outcomes),
    (LaplaceNoisyMax, _two_outcomes),
    (lambda s: SparseVector(s / 2, s / 2), lambda s, order: _response(s / 2, order)),
    (lambda s: PartitionSelection(s, "1e-9"), _response),
    (RandomizedResponse, _response),
    (lambda s: RandomizedResponse(s, 3), lambda s, order: _response(s / 2, order)),
    (lambda s: SmoothLaplace(s, "1e-9"), _response),
    (SmoothCauchy, _response),
    (Ladder, _response),
    (Pure, _response),
    (lambda s: Approximate(s, "1e-9"), _response),
    (lambda s: Concentrated(s / 2), _gaussian),
    (lambda s: Personalised((s,)), _response),
    (lambda s: Replaced(Pure(s)), _response),
    (lambda s: PoissonSampled(Laplace(1), s), lambda s, order: _sampled_response(s / 2, order)),
    (lambda s: PoissonSampled(Pure(1), s), _sampled_response),
    (lambda s: PoissonSampled(Gaussian(1), s), _sampled_gaussian),
    (lambda s: FixedSizeSampled(Pure(1), 1, int(1 / s)), _sampled_response),
    (lambda s: FixedSizeSampled(Gaussian(1), 1, int(1 / s)), lambda s, order: _sampled_gaussian(s, order) / 4),
]


NEVER_PURE = (
    *(Gaussian, DiscreteGaussian, GaussianMixture, Allocated, Correlated, SummedDiscreteGaussian, Skellam),
    Concentrated,
)


def _cases() -> Iterator[object]:
    for make, divergence in CASES:
        for size in SIZES:
            event = make(size)
            inner = getattr(event, "event", None)
            name = type(event).__name__ + ("" if inner is None else f"-{type(inner).__name__}")
            yield pytest.param(event, divergence, size, id=f"{name}-{len(str(size.denominator)) - 1}")


def test_every_event_type_has_a_case() -> None:
    covered = {type(make(Fraction(1, 10**13))) for make, _ in CASES}
    assert covered >= set(CURVES) - {Sensitive, Shuffled, ShuffledLocal, ShuffledResponse, ShuffledUnary}


@pytest.mark.parametrize(("event", "divergence", "size"), list(_cases()))
def test_no_faint_event_is_free(event: Event, divergence: Divergence, size: Fraction) -> None:
    with mp.workdps(TRUTH_DIGITS):
        s = mp.mpf(size.numerator) / size.denominator
        single = [divergence(s, mp.mpf(float(order))) for order in ORDERS]
        for count in COUNTS:
            run = Repeated(event, count)
            for got, truth in zip(renyi.curve(run, ORDERS), single, strict=True):
                assert mp.mpf(float(got)) >= truth * count
            charge = Columns("renyi", tuple(map(float, ORDERS))).charge(run)[1:-1]
            for units, truth in zip(charge, single, strict=True):
                assert units == SATURATED or units >= max(truth * count * PER_EPSILON, count)
        # D_α ≤ ρα at every α, so each order bounds ρ from below
        rho = zcdp.rho(event)
        claimed = mp.mpf(rho.numerator) / rho.denominator * (1 + mp.mpf("1e-50"))  # the truth's own rounding
        assert all(claimed >= d / float(order) for d, order in zip(single, ORDERS, strict=True))
        assert Columns("zcdp").charge(event)[1] >= 1


@pytest.mark.parametrize(("event", "divergence", "size"), list(_cases()))
def test_no_faint_pure_event_is_free(event: Event, divergence: Divergence, size: Fraction) -> None:
    if type(event) in NEVER_PURE or isinstance(getattr(event, "event", None), Gaussian):
        with pytest.raises(UnsupportedError):
            pure.total(event)
        return
    with mp.workdps(TRUTH_DIGITS):
        s = mp.mpf(size.numerator) / size.denominator
        truth = divergence(s, mp.mpf(4096))  # order ∞ is above every other
        got = pure.total(event)
        assert mp.mpf(got.numerator) / got.denominator >= truth
        assert composition.basic(Repeated(event, 10**1000))[0] == got * 10**1000
        assert Columns("pure").charge(event)[1] >= 1


@pytest.mark.parametrize(
    ("local", "delta"), [("1e-320", "1e-350"), ("1e-400", "1e-400"), ("1e-320", "1e-9"), (1, "1e-330")]
)
def test_faint_reports_in_a_shuffle_cost_what_each_costs_alone(local: str, delta: str) -> None:
    assert Fraction(shuffle.epsilon(local, 10, delta)) >= Fraction(local)
    for event in (ShuffledLocal(local, 10, delta), ShuffledResponse(local, 2, 10, delta)):
        assert pure.total(event) == Fraction(local)
    assert pure.total(ShuffledResponse(local, 7, 10, delta)) == Fraction(local)


@pytest.mark.parametrize("rate", [Fraction(1, 3 * 10**power) for power in (10, 11, 12, 13, 20, 36, 45, 59, 62, 100)])
@pytest.mark.parametrize("epsilon", ["1e-11", "0.5", "1", "30", "900"])
def test_a_sampled_pure_event_keeps_its_digits_at_every_rate(epsilon: str, rate: Fraction) -> None:
    got = pure.sampled(Fraction(epsilon), rate)
    with mp.workdps(600):
        truth = mp.log1p(mp.mpf(rate.numerator) / rate.denominator * mp.expm1(mp.mpf(epsilon)))
        claimed = mp.mpf(got.numerator) / got.denominator
        assert truth <= claimed <= truth * (1 + mp.mpf("1e-23"))


ENORMOUS = [
    Repeated(PoissonSampled(Laplace(1), "1e-62"), 10**70),
    Repeated(PoissonSampled(Pure(1), "1e-70"), 10**100),
    Repeated(Pure("1e-200"), 10**450),
    Repeated(Laplace("1e200"), 10**450),
    Repeated(Exponential("1e-200"), 10**450),
    Repeated(Gaussian("1e390"), 10**450),
    Repeated(PoissonSampled(Gaussian(1), "1e-170"), 10**400),
]


@pytest.mark.parametrize("event", ENORMOUS, ids=lambda event: type(event.event).__name__)
def test_what_is_enormous_fits_no_budget(event: Event) -> None:
    for budget in (Budget(epsilon=1), Budget(epsilon=1, delta="1e-6"), Budget(rho=1)):
        account = Account(budget)
        try:
            charge = account.charge(event)
        except UnsupportedError:
            continue
        assert all(charge[1:])
        with pytest.raises(BudgetError):
            account.reserve(event, Bound.scalar(1))


@pytest.mark.parametrize("power", [60, 155, 200, 320])
@pytest.mark.parametrize("make", [Pure, RandomizedResponse, lambda s: PartitionSelection(s, Fraction(1, 10**1000))])
def test_every_calculus_is_above_the_limit_of_many_coins(make: Make, power: int) -> None:
    """N coins of ε each with Nε² = 1 are, up to 1/√N (Berry, Esseen), Gaussian noise of μ = 1: ε = 4.8845 at 10⁻⁶."""
    event = Repeated(make(Fraction(1, 10**power)), 10 ** (2 * power))
    known = {quote.calculus: quote.epsilon for quote in accountants.side_by_side(event, "1e-6") if quote.epsilon}
    assert set(known) >= {"basic", "advanced", "optimal", "zcdp", "renyi"}
    assert min(known.values()) >= 4.88
