"""The table of curves: complete, right against brute force and peers, and obedient to the laws."""

from __future__ import annotations

import contextlib
import inspect
import math
import warnings
from fractions import Fraction

import numpy as np
import pytest
from dp_accounting import dp_event
from dp_accounting.privacy_accountant import NeighboringRelation
from dp_accounting.rdp import RdpAccountant
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import quad

from sordino.accounting import approximate, closed_forms, events, pure, renyi, zcdp
from sordino.accounting.curve import CURVES, curve
from sordino.accounting.event import Event
from sordino.accounting.events import (
    Allocated,
    Approximate,
    Composed,
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
    TruncatedPoissonSampled,
)
from sordino.errors import UnsupportedError

ORDERS = np.array([1.01, 1.3, 1.5, 2.0, 2.7, 3.0, 5.5, 8.0, 16.0, 31.5, 64.0])
CALCULI = ("pure", "zcdp", "renyi", "gaussian", "loss")
scales = st.fractions(min_value=Fraction(1, 20), max_value=50, max_denominator=50)
epsilons = st.fractions(min_value=Fraction(1, 100), max_value=12, max_denominator=100)

EXAMPLES: list[Event] = [
    Laplace(3),
    DiscreteLaplace(3, 2),
    Gaussian(4),
    DiscreteGaussian(4),
    Exponential(1),
    PermuteAndFlip(1),
    LaplaceNoisyMax(1),
    SparseVector("0.5", "0.5", 3, "0.25"),
    PartitionSelection(1, "1e-6"),
    RandomizedResponse(1, 5),
    SmoothLaplace(1, "1e-6"),
    SmoothCauchy(1),
    Ladder(1),
    Pure(1),
    Approximate(1, "1e-6"),
    Approximate(0, "1e-6"),
    Concentrated("0.1"),
    Personalised(("0.1", 1)),
    PoissonSampled(Laplace(1), "0.1"),
    PoissonSampled(Gaussian(1), "0.1"),
    FixedSizeSampled(Laplace(1), 10, 100),
    Shuffled(2, 1000, "1e-6"),
    ShuffledLocal(2, 1000, "1e-6"),
    ShuffledResponse(2, 5, 1000, "1e-6"),
    ShuffledUnary("0.5", "0.2", 1000, "1e-6"),
    SummedDiscreteGaussian(5, 1),
    Skellam(4),
    GaussianMixture(9, (0, 1, 2), ("0.5", "0.4", "0.1")),
    Allocated(5, 4),
    Allocated(117, 1, 2),
    Correlated((2, 1), 5, 2, 2, 36),
    Skellam(100, 5, 9),
    Declared(PoissonSampled(Gaussian(1), "0.1"), "1e-6", 4),
    Searched(Laplace(4), "0.1"),
    Searched(Laplace(4), "0.1", 0),
    PoissonSearched(Laplace(4), 10),
    Replaced(PoissonSampled(Laplace(1), "0.1")),
    Replaced(PoissonSampled(Gaussian(1), "0.1")),
]


def renyi_of(event: Event) -> np.ndarray:
    return np.asarray(curve(event, "renyi")(event, ORDERS))


def test_every_simple_event_type_has_one_row() -> None:
    types = {kind for _, kind in inspect.getmembers(events, inspect.isclass) if issubclass(kind, Event)}
    assert set(CURVES) == types - {Event, Repeated, Composed, TruncatedPoissonSampled}
    assert {type(event) for event in EXAMPLES} | {Sensitive} == set(CURVES)


def test_which_calculus_knows_which_event() -> None:
    known = {
        kind.__name__: {name for name in CALCULI if getattr(row, name) is not None} for kind, row in CURVES.items()
    }
    full = {"pure", "zcdp", "renyi", "loss"}
    exceptions = {
        "Gaussian": {"zcdp", "renyi", "gaussian", "loss"},
        "DiscreteGaussian": {"zcdp", "renyi", "loss"},
        "SummedDiscreteGaussian": {"zcdp", "renyi", "loss"},
        "Skellam": {"zcdp", "renyi", "loss"},
        "Concentrated": {"zcdp", "renyi"},
        "GaussianMixture": {"zcdp", "renyi", "loss"},
        "Allocated": {"zcdp", "renyi", "loss"},
        "Correlated": {"zcdp", "renyi", "gaussian", "loss"},
        "Sensitive": {"pure", "zcdp", "renyi", "gaussian", "loss"},  # all of them refuse, and say why
    }
    assert known == {name: exceptions.get(name, full) for name in known}


def test_sensitive_privacy_is_refused_by_every_calculus_and_says_why() -> None:
    event = Sensitive(1, "isolated points")
    for calculus in ("pure", "zcdp", "gaussian", "loss", "own_delta"):
        with pytest.raises(UnsupportedError, match=r"not differential privacy.*'isolated points'.*SRD-C003"):
            curve(event, calculus)(event)
    with pytest.raises(UnsupportedError, match="not differential privacy"):
        renyi.epsilon(event, 1e-5)


@pytest.mark.parametrize("event", EXAMPLES, ids=repr)
def test_curves_grow_with_the_order_and_stay_below_pure(event: Event) -> None:
    values = renyi_of(event)
    assert np.all(np.isfinite(values))
    assert np.all(values >= 0)
    assert np.all(np.diff(values) >= -1e-9 * values[:-1])
    if not isinstance(
        event, PoissonSampled | FixedSizeSampled | Searched | PoissonSearched | Skellam
    ):  # least of several
        slopes = np.diff((ORDERS - 1) * values) / np.diff(ORDERS)
        assert np.all(np.diff(slopes) >= -1e-9 * np.abs(slopes[1:])), "(α−1)·D_α must be convex"
    with contextlib.suppress(UnsupportedError):
        assert np.all(values <= float(pure.total(event)) * (1 + 1e-9))


@pytest.mark.parametrize("event", EXAMPLES, ids=repr)
def test_zcdp_is_above_renyi(event: Event) -> None:
    rho = float(zcdp.rho(event))
    assert np.all(renyi_of(event) <= ORDERS * rho * (1 + 1e-9) + 1e-300)


@pytest.mark.parametrize("event", EXAMPLES, ids=repr)
def test_count_law(event: Event) -> None:
    seven, one_by_one = Repeated(event, 7), Composed((event,) * 7)
    np.testing.assert_allclose(renyi.curve(seven, ORDERS), 7 * renyi.curve(event, ORDERS), rtol=1e-12)
    np.testing.assert_array_equal(renyi.curve(seven, ORDERS), renyi.curve(one_by_one, ORDERS))
    assert zcdp.rho(seven) == zcdp.rho(one_by_one) == 7 * zcdp.rho(event)
    assert approximate.own_delta(seven) == 7 * approximate.own_delta(event)


# ---- brute force ----------------------------------------------------------------------------------------------------


def renyi_by_sum(p: np.ndarray, q: np.ndarray, order: float) -> float:
    return float(np.log(np.sum(np.exp(order * np.log(p) + (1 - order) * np.log(q)))) / (order - 1))


@pytest.mark.parametrize(("scale", "shift"), [(1.0, 1), (0.7, 3), (4.0, 2), (20.0, 1)])
def test_discrete_laplace_against_its_sum(scale: float, shift: int) -> None:
    x = np.arange(-2000, 2001)
    weights = np.exp(-np.abs(x) / scale)
    log_mass = -np.abs(x) / scale - np.log(weights.sum())
    log_moved = -np.abs(x - shift) / scale - np.log(weights.sum())
    for order in ORDERS:
        exact = np.logaddexp.reduce(order * log_moved + (1 - order) * log_mass) / (order - 1)
        ours = closed_forms.discrete_laplace(scale, shift / scale, np.array([order]))[0]
        assert exact * (1 - 1e-11) <= ours <= exact * (1 + 1e-7)


@pytest.mark.parametrize("epsilon", [0.05, 0.5, 1.0, 4.0])
def test_laplace_against_its_integral(epsilon: float) -> None:
    for order in (1.3, 2.0, 5.5, 20.0):

        def integrand(x: float, order: float = order) -> float:
            return 0.5 * math.exp(-order * abs(x - epsilon) + (order - 1) * abs(x))

        value = sum(
            quad(integrand, *piece, epsabs=1e-14)[0] for piece in ((-60, 0), (0, epsilon), (epsilon, 60 + epsilon))
        )
        ours = closed_forms.laplace(epsilon, np.array([order]))[0]
        assert ours == pytest.approx(math.log(value) / (order - 1), rel=1e-7)


@pytest.mark.parametrize("categories", [2, 3, 7, 100])
@pytest.mark.parametrize("epsilon", [0.01, 0.1, 1.0, 3.0, 9.0])
def test_randomized_response_against_its_sum(epsilon: float, categories: int) -> None:
    total = math.exp(epsilon) + categories - 1
    p, q = np.full(categories, 1 / total), np.full(categories, 1 / total)
    p[0], q[1] = math.exp(epsilon) / total, math.exp(epsilon) / total
    ours = closed_forms.randomized_response(epsilon, ORDERS, categories)
    exact = np.array([renyi_by_sum(p, q, order) for order in ORDERS])
    np.testing.assert_allclose(ours, exact, rtol=1e-8, atol=1e-13)


@pytest.mark.parametrize("categories", [2, 3, 100])
def test_tiny_randomized_response_keeps_its_digits(categories: int) -> None:
    ours = closed_forms.randomized_response(1e-9, ORDERS, categories)
    np.testing.assert_allclose(ours, ORDERS * 1e-18 / categories, rtol=1e-6)


@given(epsilon=epsilons, place=st.floats(0, 1))
@settings(max_examples=60)
def test_bounded_range_covers_every_two_point_pair(epsilon: Fraction, place: float) -> None:
    wide = float(epsilon)
    t = place * wide
    q = -math.expm1(t - wide) / (math.exp(t) - math.exp(t - wide))
    ours = closed_forms.bounded_range(wide, ORDERS)
    with np.errstate(divide="ignore"):
        log_q = np.log([max(q, 0.0), max(1 - q, 0.0)])
    exact = np.logaddexp(log_q[0] + ORDERS * t, log_q[1] + ORDERS * (t - wide)) / (ORDERS - 1)
    assert np.all(ours >= exact - 1e-12)
    assert np.all(ours <= ORDERS * wide**2 / 8 * (1 + 1e-9))


def test_bounded_range_is_attained() -> None:
    places = np.linspace(1e-6, 1 - 1e-6, 20_001) * 2.0
    q = -np.expm1(places - 2) / (np.exp(places) - np.exp(places - 2))
    best = np.max(np.log(q * np.exp(5 * places) + (1 - q) * np.exp(5 * (places - 2)))) / 4
    assert closed_forms.bounded_range(2.0, np.array([5.0]))[0] == pytest.approx(best, rel=1e-7)


@given(epsilon=epsilons, categories=st.integers(2, 40), scale=scales, steps=st.integers(1, 5))
@settings(max_examples=60)
def test_rho_is_the_divergence_and_covers_all_orders(
    epsilon: Fraction, categories: int, scale: Fraction, steps: int
) -> None:
    near_one, orders = np.array([1.00001]), np.concatenate([ORDERS, [200.0, 4096.0]])
    for event in (
        Pure(epsilon),
        Laplace(scale),
        DiscreteLaplace(scale, steps),
        RandomizedResponse(epsilon, categories),
        Exponential(epsilon),
    ):
        rho = float(zcdp.rho(event))
        values = curve(event, "renyi")(event, orders)
        assert np.all(values <= orders * rho * (1 + 1e-9)), event
        if isinstance(event, Pure | Laplace | DiscreteLaplace):
            assert curve(event, "renyi")(event, near_one)[0] == pytest.approx(rho, rel=2e-3)


def test_rho_of_pure_is_below_the_textbook_half_square() -> None:
    assert float(pure.rho(Fraction(1))) == pytest.approx(math.tanh(0.5), rel=1e-15)
    assert pure.rho(Fraction(1)) > Fraction(math.tanh(0.5)) * (1 - Fraction(1, 10**15))
    assert pure.rho(Fraction(5000)) == 5000
    assert pure.rho(Fraction(1, 10**14)) == Fraction(1, 2 * 10**28)


def test_laplace_rho_values() -> None:
    assert float(zcdp.rho(Laplace(1))) == pytest.approx(math.exp(-1), rel=1e-15)
    assert zcdp.rho(DiscreteLaplace(10**7)) > zcdp.rho(Laplace(10**7))
    assert zcdp.rho(DiscreteLaplace("0.0001")) == pure.rho(Fraction(10**4))
    assert zcdp.rho(Laplace(10**13)) == Fraction(1, 2 * 10**26)


# ---- several coordinates --------------------------------------------------------------------------------------------


@given(first=st.integers(1, 4), second=st.integers(1, 4), scale=scales)
@settings(max_examples=40)
def test_spreading_a_change_over_coordinates_never_costs_more(first: int, second: int, scale: Fraction) -> None:
    for kind in (DiscreteLaplace, Laplace):
        whole, a, b = kind(scale, first + second), kind(scale, first), kind(scale, second)
        assert np.all(renyi_of(a) + renyi_of(b) <= renyi_of(whole) * (1 + 1e-9))
        assert zcdp.rho(a) + zcdp.rho(b) <= zcdp.rho(whole) * (1 + Fraction(1, 10**20))


# ---- peers ----------------------------------------------------------------------------------------------------------


def google(
    event: dp_event.DpEvent, relation: NeighboringRelation = NeighboringRelation.ADD_OR_REMOVE_ONE
) -> np.ndarray:
    accountant = RdpAccountant(ORDERS.tolist(), relation)
    accountant.compose(event)
    return np.asarray(accountant.rdp)


@given(noise=st.floats(0.1, 30))
@settings(max_examples=25)
def test_laplace_and_gaussian_agree_with_google(noise: float) -> None:
    np.testing.assert_allclose(renyi_of(Laplace(noise)), google(dp_event.LaplaceDpEvent(noise)), rtol=1e-7)
    np.testing.assert_allclose(
        renyi_of(Gaussian(Fraction(str(noise)) ** 2)), google(dp_event.GaussianDpEvent(noise)), rtol=1e-9
    )


@given(epsilon=st.floats(0.01, 8), categories=st.integers(2, 50))
@settings(max_examples=25)
def test_randomized_response_agrees_with_google(epsilon: float, categories: int) -> None:
    noise = categories / (math.exp(epsilon) + categories - 1)
    theirs = google(dp_event.RandomizedResponseDpEvent(noise, categories), NeighboringRelation.REPLACE_ONE)
    np.testing.assert_allclose(renyi_of(RandomizedResponse(epsilon, categories)), theirs, rtol=1e-6)


def test_curves_agree_with_autodp() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from autodp import rdp_bank
    for epsilon in (0.1, 0.5, 1.0, 3.0):
        p = math.exp(epsilon) / (1 + math.exp(epsilon))
        for order in (1.5, 2.0, 4.0, 17.0):
            at = np.array([order])
            assert closed_forms.laplace(epsilon, at)[0] == pytest.approx(
                rdp_bank.RDP_laplace({"b": 1 / epsilon}, order), rel=1e-7
            )
            assert closed_forms.randomized_response(epsilon, at)[0] == pytest.approx(
                rdp_bank.RDP_randresponse({"p": p}, order), rel=1e-7
            )
            assert (
                closed_forms.randomized_response(epsilon, at)[0] <= rdp_bank.RDP_pureDP({"eps": epsilon}, order) + 1e-9
            )


# ---- extremes -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("epsilon", ["1e-300", "1e-20", "1e-9", "1000", "1e9", "1e399"])
def test_absurd_parameters_stay_finite_or_become_infinite_but_never_fail(epsilon: str) -> None:
    exact = Fraction(epsilon)
    cases: list[Event] = [Pure(exact), Exponential(exact), RandomizedResponse(exact, 9), Laplace(1 / exact)]
    cases += [DiscreteLaplace(1 / exact), PoissonSampled(Pure(exact), "0.01"), FixedSizeSampled(Pure(exact), 1, 9)]
    for event in cases:
        values = renyi_of(event)
        assert not np.any(np.isnan(values))
        assert np.all(values >= 0)
        if exact < 1:
            assert np.all(values <= ORDERS * float(exact) ** 2 * 0.5000001 + 1e-300), event
        assert 0 < zcdp.rho(event) <= exact
