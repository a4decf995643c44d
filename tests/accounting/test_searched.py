"""The best of a random number of runs, against its exact law: generating functions, enumeration, a peer."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from fractions import Fraction

import mpmath as mp
import numpy as np
import pytest
from dp_accounting import dp_event
from dp_accounting.rdp import RdpAccountant
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from sordino.accounting import approximate, pure, renyi, zcdp
from sordino.accounting.curve import curve
from sordino.accounting.event import Event
from sordino.accounting.events import (
    Approximate,
    Gaussian,
    PoissonSampled,
    PoissonSearched,
    Pure,
    RandomizedResponse,
    Repeated,
    Replaced,
    Searched,
)
from sordino.accounting.neighbours import Neighbours
from sordino.accounting.relation import relations
from sordino.accounting.searched import mean_runs
from sordino.errors import ArgumentError, UnsupportedError

ORDERS = np.array([1.05, 1.5, 2.0, 3.0, 5.0, 10.0, 40.0, 200.0])
Law = NDArray[np.float64]
STOPPING = (Fraction(9, 10), Fraction(3, 10), Fraction(1, 100), Fraction(1, 10_000))
SHAPES = (Fraction(-9, 10), Fraction(-1, 2), Fraction(0), Fraction(1, 2), Fraction(1), Fraction(3))


def generating(stopping: Fraction, shape: Fraction) -> Callable[[Law], Law]:
    """Return f(x) = E[x^K] of the truncated negative binomial law."""
    kept, power = 1 - float(stopping), float(shape)
    if shape == 0:
        return lambda x: np.log1p(-kept * x) / math.log1p(-kept)
    return lambda x: ((1 - kept * x) ** -power - 1) / ((1 - kept) ** -power - 1)


def best(law: Law, chance: Callable[[Law], Law]) -> Law:
    """Return the law of the best of many outcomes, the last being the best; first of all, that there is none."""
    below = np.concatenate(([0.0], np.cumsum(law)))
    return np.concatenate((chance(below[:1]), np.diff(chance(below))))


def divergence(p: Law, q: Law, order: float) -> float:
    seen = p > 0
    exponents = order * np.log(p[seen]) + (1 - order) * np.log(q[seen])
    return float(np.logaddexp.reduce(exponents)) / (order - 1)


def response(epsilon: float, categories: int) -> tuple[Law, Law]:
    odds = math.exp(-epsilon)
    own = 1 / (1 + (categories - 1) * odds)
    p, q = np.full(categories, own * odds), np.full(categories, own * odds)
    p[0] = q[1] = own
    return p, q


def rankings(categories: int) -> list[list[int]]:
    """Every order of what tells neighbours apart, and of one outcome that does not."""
    first = range(min(categories, 3))
    return [[*order, *range(3, categories)] for order in itertools.permutations(first)]


@pytest.mark.parametrize("epsilon", ["0.01", "0.3", "1", "3", "8"])
@pytest.mark.parametrize("categories", [2, 3, 5])
def test_never_below_the_exact_law(epsilon: str, categories: int) -> None:
    one = RandomizedResponse(epsilon, categories)
    p, q = response(float(epsilon), categories)
    searches: list[tuple[Event, Callable[[Law], Law]]] = [
        (Searched(one, stopping, shape), generating(stopping, shape)) for stopping in STOPPING for shape in SHAPES
    ]
    searches += [
        (PoissonSearched(one, str(mean)), lambda x, mean=mean: np.exp(mean * (x - 1)))
        for mean in (0.01, 0.5, 1.0, 30.0)
    ]
    for event, chance in searches:
        claimed, most = curve(event, "renyi")(event, ORDERS), float(pure.total(event))
        for order in rankings(categories):
            a, b = best(p[order], chance), best(q[order], chance)
            assert a.sum() == pytest.approx(1, abs=1e-9)
            for alpha, bound in zip(ORDERS, claimed, strict=True):
                assert divergence(a, b, alpha) <= bound * (1 + 1e-9) + 1e-12
            seen = a > 0
            assert np.max(np.log(a[seen] / b[seen])) <= most * (1 + 1e-9) + 1e-9


def test_the_bound_is_attained() -> None:
    """A rare outcome that gains e^ε while all better ones lose as much: (2 + η)·ε, to 1 %."""
    epsilon, rare, better, gamma = 0.5, 1e-9, 0.01, Fraction(1, 10**7)
    q = np.array([1 - rare - better, rare, better])
    p = np.array([0.0, rare * math.exp(epsilon), better * math.exp(-epsilon)])
    p[0] = 1 - p.sum()
    for shape in SHAPES:
        a, b = (best(law, generating(gamma, shape)) for law in (p, q))
        claimed = float(pure.total(Searched(Pure(str(epsilon)), gamma, shape)))
        assert 0.99 * claimed < math.log(a[2] / b[2]) <= claimed


def test_enumeration_in_fractions() -> None:
    """Each trial ends the search with probability 1/3: all sequences of up to 12 trials, in exact fractions."""
    low, high = Fraction(1, 4), Fraction(3, 4)
    stop = Fraction(1, 3)

    def chance_of_low(one: Fraction) -> tuple[Fraction, Fraction]:
        known = sum((stop * (1 - stop) ** (runs - 1) * one**runs for runs in range(1, 13)), Fraction(0))
        return known, known + (1 - stop) ** 12

    by_p, by_q = chance_of_low(low), chance_of_low(high)
    event = Searched(RandomizedResponse(str(math.log(3))), stop)
    most = mp.exp(mp.mpf(pure.total(event).numerator) / pure.total(event).denominator)
    assert by_q[1] / by_p[0] <= Fraction(float(most)) * Fraction(1 + 1e-12)
    assert (1 - by_p[0]) / (1 - by_q[1]) <= Fraction(float(most))


@given(stopping=st.fractions("1e-6", "0.999"), shape=st.fractions(Fraction(-19, 20), 5))
@settings(max_examples=60)
def test_the_mean_is_rounded_up(stopping: Fraction, shape: Fraction) -> None:
    if abs(shape) < Fraction(1, 10**6):
        shape = Fraction(0)
    found = mean_runs(Searched(Gaussian(1), stopping, shape))
    with mp.workdps(60):
        gamma, eta = (mp.mpf(each.numerator) / each.denominator for each in (stopping, shape))
        truth = (1 / gamma - 1) / mp.log(1 / gamma) if eta == 0 else eta * (1 - gamma) / (gamma * (1 - gamma**eta))
        claimed = mp.mpf(found.numerator) / found.denominator
        assert truth * (1 - mp.mpf("1e-50")) <= claimed <= truth * (1 + mp.mpf("1e-20"))


@pytest.mark.parametrize("shape", [0, 1, 2])
@pytest.mark.parametrize("stopping", [0.5, 0.1, 0.01])
def test_a_peer_agrees(shape: int, stopping: float) -> None:
    run = Repeated(PoissonSampled(Gaussian(16), "0.01"), 1000)
    event = Searched(run, stopping, shape)
    inner = dp_event.SelfComposedDpEvent(dp_event.PoissonSampledDpEvent(0.01, dp_event.GaussianDpEvent(4.0)), 1000)
    peer = RdpAccountant()
    peer.compose(dp_event.RepeatAndSelectDpEvent(inner, float(mean_runs(event)), shape))
    ours = renyi.epsilon(event, "1e-5")
    assert ours <= peer.get_epsilon(1e-5) * (1 + 1e-6)
    assert ours == pytest.approx(peer.get_epsilon(1e-5), rel=0.01)


def test_a_peer_agrees_on_poisson_but_for_no_run() -> None:
    run = Repeated(PoissonSampled(Gaussian(16), "0.01"), 1000)
    inner = dp_event.SelfComposedDpEvent(dp_event.PoissonSampledDpEvent(0.01, dp_event.GaussianDpEvent(4.0)), 1000)
    peer = RdpAccountant()
    peer.compose(dp_event.RepeatAndSelectDpEvent(inner, 10, math.inf))
    assert renyi.epsilon(PoissonSearched(run, 10), "1e-5") == pytest.approx(peer.get_epsilon(1e-5), rel=0.02)


@pytest.mark.parametrize("make", [lambda e: Searched(e, "0.1"), lambda e: PoissonSearched(e, 10)])
def test_failures_of_all_runs_add_up(make: Callable[[Event], Event]) -> None:
    event = make(Approximate("0.5", "1e-6"))
    assert approximate.own_delta(event) == Fraction(1, 10**5)
    assert pure.total(event) == pure.total(make(Approximate("0.5", "1e-9")))
    assert approximate.own_delta(make(Approximate("0.5", "0.5"))) == 1


def test_given_that_no_run_failed_the_number_of_runs_is_smaller_and_so_is_the_price() -> None:
    for shape in SHAPES:
        prices = [renyi.curve(Searched(Gaussian(4), g, shape), ORDERS) for g in ("0.1", "0.1009", "0.2", "0.9")]
        assert all(np.all(dearer >= cheaper * (1 - 1e-12)) for dearer, cheaper in itertools.pairwise(prices))
    prices = [renyi.curve(PoissonSearched(Gaussian(4), m), ORDERS) for m in (10, "9.99", 2, "0.1")]
    assert all(np.all(dearer >= cheaper * (1 - 1e-12)) for dearer, cheaper in itertools.pairwise(prices))


def test_for_a_unit_that_is_replaced_every_run_is_replaced() -> None:
    step = PoissonSampled(Gaussian(4), "0.1")
    for make in (lambda e: Searched(e, "0.1"), lambda e: PoissonSearched(e, 5)):
        np.testing.assert_array_equal(
            renyi.curve(Replaced(make(step)), ORDERS), renyi.curve(make(Replaced(step)), ORDERS)
        )
        assert np.all(renyi.curve(Replaced(make(step)), ORDERS) > renyi.curve(make(step), ORDERS))
        assert relations(make(step)) == {Neighbours.ADD_REMOVE}


def test_without_a_pure_epsilon_there_is_no_rho() -> None:
    with pytest.raises(UnsupportedError):
        zcdp.rho(Searched(Gaussian(1), "0.1"))
    assert math.isfinite(renyi.epsilon(Searched(Gaussian(1), "0.1"), "1e-5"))


@pytest.mark.parametrize(
    "arguments", [(0,), (1,), ("1e-13",), ("0.5", -1), ("0.5", "1e-7"), ("0.5", 1001), ("0.5", math.nan), ("x",)]
)
def test_bad_laws_are_refused(arguments: tuple[object, ...]) -> None:
    with pytest.raises(ArgumentError):
        Searched(Gaussian(1), *arguments)  # type: ignore[arg-type]


@pytest.mark.parametrize("mean", [0, -1, 10**10, math.inf])
def test_bad_means_are_refused(mean: object) -> None:
    with pytest.raises(ArgumentError):
        PoissonSearched(Gaussian(1), mean)  # type: ignore[arg-type]
