"""Accountants under audit: wrong ones are caught by the smallest event, those of the house are not accused."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import brentq

from sordino.accounting import accountants, renyi
from sordino.accounting.event import Event
from sordino.accounting.events import (
    Approximate,
    Composed,
    Concentrated,
    DiscreteGaussian,
    DiscreteLaplace,
    Exponential,
    Gaussian,
    Laplace,
    LaplaceNoisyMax,
    PartitionSelection,
    PermuteAndFlip,
    PoissonSampled,
    Pure,
    RandomizedResponse,
    Repeated,
    Replaced,
)
from sordino.accounting.pld import accountant as pld
from sordino.audit.accountants import floors as accountant_floors
from sordino.audit.accountants.elsewhere import dp_accounting
from sordino.audit.accountants.events import kinds, size, smaller, tried
from sordino.audit.accountants.floors import gaussian_epsilon, lost_at_least, unrolled
from sordino.audit.accountants.judging import AccountantAudit, accountant, shown
from sordino.audit.dice import dice
from sordino.errors import ArgumentError, UnsupportedError

SEEDS = [pytest.param(seed, marks=[pytest.mark.long] * (seed >= 3)) for seed in range(20)]
HALF = Fraction(1, 2)


def summed(event: Event, delta: float) -> float:
    """An honest accountant: sums of pure ε."""
    return accountants.epsilon(event, str(delta), "pure")


def quick(event: Event, delta: float) -> float:
    """Another one, which knows Gaussian noise and sampling as well."""
    return accountants.epsilon(event, str(delta), "zcdp")


def changed(change: Callable[[Event], Event], price: Callable[[Event, float], float] = summed) -> Callable[..., float]:
    return lambda event, delta: price(change(event), delta)


def once(event: Event) -> Event:
    """What an accountant sees that ignores `count`."""
    match event:
        case Repeated():
            return once(event.event)
        case Composed():
            return Composed(tuple(once(part) for part in event.events))
    return event


def once_for(kind: type[Event]) -> Callable[[Event], Event]:
    """The same for one kind of event alone."""

    def change(event: Event) -> Event:
        match event:
            case Repeated(event=kind()):
                return event.event
            case Composed():
                return Composed(tuple(change(part) for part in event.events))
        return event

    return change


def checks(found: AccountantAudit, *, unsound: bool) -> set[str]:
    return {each.check for each in found.broken if each.unsound is unsound}


# ---- accountants that are caught ------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", SEEDS)
def test_one_that_ignores_count_is_caught(seed: int) -> None:
    found = accountant(changed(once), rounds=1, seed=seed)
    assert found.refuted
    assert checks(found, unsound=True) == {"floor"}
    assert "count" in checks(found, unsound=False)
    smallest = min((each for each in found.broken if each.check == "count"), key=lambda each: size(each.event))
    assert isinstance(smallest.event, Repeated)
    assert smallest.event.count == 2


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("kind", [Exponential, RandomizedResponse, DiscreteLaplace])
def test_one_that_forgets_count_in_one_branch_is_caught_there_alone(kind: type[Event], seed: int) -> None:
    found = accountant(changed(once_for(kind)), rounds=1, seed=seed)
    assert found.refuted
    assert {name for each in found.broken for name in kinds(each.event)} == {kind.kind}


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("kind", [PermuteAndFlip, LaplaceNoisyMax])
def test_where_no_floor_is_known_the_count_law_still_tells(kind: type[Event], seed: int) -> None:
    found = accountant(changed(once_for(kind)), rounds=1, seed=seed)
    assert {(each.check, kinds(each.event)) for each in found.broken} == {("count", frozenset({kind.kind}))}
    assert not found.refuted


def central_limit(event: Event, delta: float) -> float:
    """The `gdp` accountant of Opacus, by its formula: Gaussian DP by the central limit (Bu et al. 2020)."""
    match event:
        case Repeated(event=PoissonSampled(event=Gaussian() as noise, rate=rate), count=count):
            scale = float(noise.sensitivity_squared / noise.variance)
            return gaussian_epsilon(float(rate) * math.sqrt(count * math.expm1(scale)), delta)
    raise UnsupportedError("only sampled Gaussian noise", "SRD-C001")


@pytest.mark.parametrize("seed", SEEDS)
def test_optimism_by_the_central_limit_is_caught(seed: int) -> None:
    found = accountant(central_limit, seed=seed)
    assert found.refuted
    assert checks(found, unsound=True) == {"floor"}
    assert all(kinds(each.event) == {"sampled gaussian"} for each in found.broken)


def twice(event: Event) -> Event:
    """What an accountant sees that doubles the Rényi charge of whoever is replaced: two runs for one."""
    match event:
        case Replaced():
            return Repeated(event.event, 2)
        case Repeated():
            return Repeated(twice(event.event), event.count)
        case Composed():
            return Composed(tuple(twice(part) for part in event.events))
    return event


def divergences(event: Event, delta: float) -> float:
    return renyi.epsilon(event, str(delta))


TENTH = Fraction(1, 10)
NOISE_REPLACED = [
    Replaced(Gaussian(1)),
    Replaced(Repeated(DiscreteGaussian(4), 3)),
    Replaced(Concentrated(TENTH)),
    Replaced(PoissonSampled(Gaussian(25), HALF)),
    Replaced(Repeated(PoissonSampled(Gaussian(4), TENTH), 64)),
    Composed((Replaced(PoissonSampled(Gaussian(4), TENTH)), Repeated(Replaced(Gaussian(100)), 7))),
]
"""Events whose Rényi divergences grow fourfold, and not twofold, where a unit is replaced."""


@pytest.mark.parametrize("event", NOISE_REPLACED, ids=shown)
def test_one_that_doubles_the_renyi_charge_of_who_is_replaced_is_caught(event: Event) -> None:
    assert not accountant(divergences, events=[event], rounds=0).broken
    found = accountant(changed(twice, divergences), events=[event], rounds=0)
    assert found.refuted
    assert checks(found, unsound=True) == {"floor"}
    assert all(name.startswith("replaced") for each in found.broken for name in kinds(each.event))


@pytest.mark.parametrize("seed", SEEDS)
def test_who_prices_a_replaced_unit_as_one_that_comes_or_goes_is_caught(seed: int) -> None:
    seldom = changed(lambda event: event.event if isinstance(event, Replaced) else event)
    found = accountant(seldom, rounds=1, seed=seed)
    assert found.refuted
    unsound = {name for each in found.broken if each.unsound for name in kinds(each.event)}
    known = ("laplace", "discrete-laplace", "exponential", "pure", "approximate")
    assert unsound <= {f"replaced {name}" for name in known}
    assert len(unsound) >= 3


SPECIMENS: dict[str, tuple[Callable[..., float], str]] = {
    "a sum taken for a root": (lambda event, delta: math.sqrt(summed(event, delta)), "floor"),
    "not a number": (lambda _event, _delta: math.nan, "number"),
    "less than nothing": (lambda event, delta: -summed(event, delta), "number"),
    "the first event alone": (
        changed(lambda event: event.events[0] if isinstance(event, Composed) else event),
        "order",
    ),
}


@pytest.mark.parametrize("name", SPECIMENS)
def test_other_mistakes_are_caught(name: str) -> None:
    price, check = SPECIMENS[name]
    assert check in {each.check for each in accountant(price, rounds=1, seed=0).broken}


def test_prices_that_fall_where_they_should_rise_are_caught() -> None:
    def rising(event: Event, delta: float) -> float:
        return 100 + 10 * math.log10(delta) + summed(event, delta)

    assert "delta" in checks(accountant(rising, rounds=1, seed=0), unsound=False)

    def louder_is_dearer(event: Event, delta: float) -> float:
        return 60 - summed(event, delta) / 10

    assert "noise" in checks(accountant(louder_is_dearer, rounds=1, seed=0), unsound=False)
    assert "more" in checks(accountant(louder_is_dearer, rounds=1, seed=0), unsound=False)

    def rarer_is_dearer(event: Event, delta: float) -> float:
        rate = event.rate if isinstance(event, PoissonSampled) else 1
        return quick(event, delta) + float(10 / rate)

    assert checks(accountant(rarer_is_dearer, rounds=1, seed=0), unsound=False) >= {"rate"}

    def free_when_sampled(event: Event, delta: float) -> float:
        return 0.0 if isinstance(event, PoissonSampled) else quick(event, delta)

    found = accountant(free_when_sampled, rounds=1, seed=0)
    assert (found.refuted, "identity" in checks(found, unsound=False)) == (True, True)


def test_a_delta_that_does_not_go_with_the_epsilon_is_caught() -> None:
    def price(event: Event, delta: float) -> float:
        return pld.epsilon_bracket(event, str(delta)).upper

    events = [Gaussian(4), Repeated(Laplace(2), 3)]
    for delta, check in ((lambda *_: 1e-20, "delta floor"), (lambda *_: 0.5, "inverse")):
        found = accountant(price, delta, events=events, rounds=0)
        assert {each.check for each in found.broken} == {check}
    honest = accountant(
        price, lambda event, epsilon: pld.delta_bracket(event, str(epsilon)).upper, events=events, rounds=0
    )
    assert not honest.broken


# ---- accountants that are not accused -------------------------------------------------------------------------------


@pytest.mark.parametrize("calculus", accountants.ACCOUNTANTS)
def test_accountants_of_the_house_break_no_law(calculus: str) -> None:
    slow = calculus in ("renyi", "pld")
    tries = [event for event in tried(dice(1), 1) if not slow or max(unrolled(event).values()) < 1000]
    found = accountant(
        lambda event, delta: accountants.epsilon(event, str(delta), calculus),
        events=tries[:: 3 if slow else 1],
        rounds=0,
        seed=2,
    )
    assert not found.broken, str(found)
    assert found.priced >= 3


@pytest.mark.long
@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("calculus", [accountants.BEST, *accountants.ACCOUNTANTS])
def test_accountants_of_the_house_break_no_law_at_length(calculus: str, seed: int) -> None:
    found = accountant(lambda event, delta: accountants.epsilon(event, str(delta), calculus), rounds=1, seed=seed)
    assert not found.broken, str(found)


@pytest.mark.long
def test_deltas_of_the_house_break_no_law() -> None:
    for calculus in (renyi, pld):

        def price(event: Event, delta: float, calculus: object = calculus) -> float:
            found = calculus.epsilon(event, str(delta))  # type: ignore[attr-defined]
            return found.upper if isinstance(found, pld.Bracket) else found

        def failure(event: Event, epsilon: float, calculus: object = calculus) -> float:
            found = calculus.delta(event, str(epsilon))  # type: ignore[attr-defined]
            return found.upper if isinstance(found, pld.Bracket) else found

        found = accountant(price, failure, rounds=1, seed=3)
        assert not found.broken, str(found)


def test_an_accountant_that_knows_nothing_is_told_so() -> None:
    found = accountant(lambda _event, _delta: None, rounds=1, seed=0)
    assert (found.priced, found.refuted) == (0, False)
    assert "0 of" in str(found)


# ---- somebody else's ------------------------------------------------------------------------------------------------


def quickly_priced(rounds: int) -> list[Event]:
    short = (event for event in tried(dice(0), rounds) if max(unrolled(event).values()) <= 7)
    slow = ("sampled", "gaussian", "laplace")  # theirs take seconds each
    return [event for event in short if not any(word in name for name in kinds(event) for word in slow)]


def test_the_count_that_dp_accounting_forgets_is_found_without_being_told_where() -> None:
    found = accountant(dp_accounting("pld"), events=quickly_priced(1), rounds=0, seed=0)
    assert {(each.check, kinds(each.event)) for each in found.broken} == {
        ("floor", frozenset({"randomized-response"})),
        ("count", frozenset({"randomized-response"})),
    }
    (floor,) = [each for each in found.broken if each.unsound]
    assert isinstance(floor.event, Repeated)
    assert floor.said < 0.51 * floor.due


def test_its_other_accountant_is_not_accused() -> None:
    found = accountant(dp_accounting("rdp"), rounds=1, seed=0)
    assert not found.broken, str(found)
    assert found.priced > 10


def convolved(runs: int, delta: float, step: float) -> float:
    """ε of Laplace noise of scale ½ on what is sampled at a tenth, run so often: by products of masses, no transform.

    Losses are split between two places of a lattice such that their mean stays, which errs by the square of the step.
    """
    rate, scale = 0.1, 0.5
    edges = np.linspace(0.0, 1.0, 200_001)

    def below(x: Any) -> Any:
        return np.where(x < 0, np.exp(-np.abs(x) / scale) / 2, 1 - np.exp(-np.abs(x) / scale) / 2)

    within = (1 - rate) * below(edges) + rate * below(edges - 1)
    masses = np.concatenate(([within[0]], np.diff(within), [1 - within[-1]]))
    places = np.concatenate(([0.0], (edges[1:] + edges[:-1]) / 2, [1.0]))
    losses = np.log1p(rate * np.expm1((2 * places - 1) / scale)) / step
    low = math.floor(losses.min())
    left = np.floor(losses).astype(int) - low
    part = losses - low - left
    one = np.append(np.bincount(left, masses * (1 - part)), 0.0) + np.bincount(left + 1, masses * part)
    every = np.array([1.0])
    for _ in range(runs):
        every = np.convolve(every, one)
    reached = (np.arange(len(every)) + runs * low) * step

    def excess(epsilon: float) -> float:
        return float(every @ -np.expm1(np.minimum(epsilon - reached, 0.0))) - delta

    return float(brentq(excess, 0.0, float(reached[-1]), xtol=1e-9))


def test_what_its_transform_loses_at_a_small_delta_is_found() -> None:
    event = Repeated(PoissonSampled(Laplace(Fraction(1, 2)), Fraction(1, 10)), 498)
    said, exact = dp_accounting("pld")(event, 1e-12), convolved(498, 1e-12, 4e-3)
    assert exact == pytest.approx(41.1311, abs=2e-3)
    floor = lost_at_least(event, 1e-12)
    assert said is not None
    assert said < floor < exact


@pytest.mark.long
@pytest.mark.parametrize("seed", range(5))
def test_the_same_at_length(seed: int) -> None:
    found = accountant(dp_accounting("pld"), rounds=1, seed=seed)
    assert found.refuted
    others = [each for each in found.broken if kinds(each.event) != {"randomized-response"}]
    assert len(others) < len(found.broken)
    for each in others:
        assert (each.check, each.delta) == ("floor", 1e-12), str(found)
        assert all("sampled" in name for name in kinds(each.event)), str(found)
        assert each.said > 0.999 * each.due


def test_events_without_a_twin_are_refused() -> None:
    for event in (PartitionSelection(1, "1e-9"), Composed((RandomizedResponse(1), Gaussian(1)))):
        with pytest.raises(UnsupportedError):
            dp_accounting("pld")(event, 1e-6)
    with pytest.raises(UnsupportedError):
        dp_accounting("rdp")(DiscreteLaplace(1), 1e-6)


# ---- floors ---------------------------------------------------------------------------------------------------------


def by_hand(epsilon: float, count: int, delta: float) -> float:
    """ε of binary randomized response, k-fold, from all 2^k outcomes."""
    truth = 1 / (1 + math.exp(-epsilon))
    outcomes = np.array(np.meshgrid(*[[0, 1]] * count)).reshape(count, -1).sum(axis=0)
    here = truth**outcomes * (1 - truth) ** (count - outcomes)
    there = (1 - truth) ** outcomes * truth ** (count - outcomes)
    low, high = 0.0, count * epsilon
    for _ in range(100):
        middle = (low + high) / 2
        low, high = (middle, high) if np.maximum(here - math.exp(middle) * there, 0).sum() > delta else (low, middle)
    return low


@pytest.mark.parametrize("count", [1, 4, 9])
@pytest.mark.parametrize("delta", [1e-1, 1e-3, 1e-9])
def test_floors_of_randomized_response_are_exact(count: int, delta: float) -> None:
    assert lost_at_least(Repeated(RandomizedResponse(HALF), count), delta) == pytest.approx(
        by_hand(0.5, count, delta), rel=1e-8, abs=1e-12
    )


@pytest.mark.parametrize(
    "event",
    [
        Repeated(RandomizedResponse(HALF, 3), 20),
        Repeated(Laplace(2), 10),
        Repeated(DiscreteLaplace(4, 3), 10),
        Repeated(DiscreteGaussian(9, 4), 10),
        Gaussian(4),
        Pure(1),
        Composed((Repeated(Gaussian(4), 3), Repeated(RandomizedResponse("0.3"), 7), Laplace(3))),
        Repeated(PoissonSampled(Gaussian(1), HALF), 7),
        Replaced(Repeated(Laplace(2), 10)),
        Replaced(Repeated(DiscreteLaplace(4, 3), 10)),
        Replaced(Gaussian(4)),
        Replaced(Pure(1)),
        Replaced(PoissonSampled(Gaussian(1), HALF)),
        Replaced(Repeated(PoissonSampled(Gaussian(1), TENTH), 64)),
        Replaced(Repeated(PoissonSampled(Laplace(1), TENTH), 20)),
        Composed((Replaced(PoissonSampled(Gaussian(1), TENTH)), Repeated(Gaussian(4), 3))),
    ],
    ids=shown,
)
@pytest.mark.parametrize("delta", [1e-2, 1e-6, 1e-12])
def test_floors_lie_below_the_truth_and_not_far_below(event: Event, delta: float) -> None:
    bracket = pld.epsilon_bracket(event, str(delta))
    assert 0.99 * bracket.lower <= lost_at_least(event, delta) <= bracket.upper * (1 + 1e-9)


def mixed(noise: Gaussian | Laplace, rate: float, epsilon: float) -> float:
    """δ at ε of a sampled noise whose unit is replaced, by integration over the outputs."""
    mpmath.mp.dps = 30
    if isinstance(noise, Gaussian):
        scale, move = mpmath.sqrt(float(noise.variance)), mpmath.sqrt(float(noise.sensitivity_squared))
        density = lambda x: mpmath.npdf(x, 0, scale)  # noqa: E731
    else:
        scale, move = mpmath.mpf(float(noise.scale)), mpmath.mpf(float(noise.sensitivity))
        density = lambda x: mpmath.exp(-abs(x) / scale) / (2 * scale)  # noqa: E731

    def excess(x: Any) -> Any:
        rest = (1 - rate) * density(x)
        first, second = rest + rate * density(x - move), rest + rate * density(x + move)
        return first - mpmath.exp(epsilon) * second

    places = sorted({-move, mpmath.mpf(0), move, *(move + scale * k for k in (1, 2, 4, 8, 16, 32))})
    low, high = places[0], places[-1]
    if excess(high) <= 0:
        return 0.0
    for _ in range(90):  # losses grow with the output
        low, high = ((low + high) / 2, high) if excess((low + high) / 2) <= 0 else (low, (low + high) / 2)
    return float(mpmath.quad(excess, [high, *(place for place in places if place > high)]))


@pytest.mark.parametrize("noise", [Gaussian(1), Gaussian(4, 3), Laplace(1), Laplace(3)], ids=shown)
@pytest.mark.parametrize("rate", [HALF, TENTH, Fraction(1, 100)])
@pytest.mark.parametrize("delta", [1e-2, 1e-6, 1e-12])
def test_floors_of_a_sample_are_those_of_the_mixtures(noise: Any, rate: Fraction, delta: float) -> None:
    floor = lost_at_least(Replaced(PoissonSampled(noise, rate)), delta)
    assert mixed(noise, float(rate), floor * (1 - 1e-9)) >= delta * (1 - 1e-6) or floor == 0
    assert mixed(noise, float(rate), 1.02 * floor + 1e-9) <= delta


@pytest.mark.parametrize("epsilon", ["0.1", "1", "2"])
@pytest.mark.parametrize("delta", ["0", "1e-9", "0.01"])
def test_floors_of_a_claim_come_from_two_steps_that_keep_it(epsilon: str, delta: str) -> None:
    grow, fail = math.exp(float(epsilon)), float(delta)

    def most(chance: Any) -> Any:
        """The largest power of a test that the claim allows."""
        return np.minimum(1, np.minimum(fail + grow * chance, 1 - (1 - fail - chance) / grow))

    corner = (1 - fail) / (1 + grow)
    corners = [0.0, max(0.0, (corner - fail) / grow), corner, 1 - fail - corner, 1.0]
    chances = np.concatenate((np.linspace(0, 1, 2001), corners))
    event = Approximate(epsilon, delta) if fail else Pure(epsilon)
    for budget in (0.3, 0.05, 1e-3, 1e-6):
        floor = lost_at_least(Replaced(event), budget)
        at = lambda said: float(np.max(most(most(chances)) - math.exp(said) * chances))  # noqa: E731
        if math.isinf(floor):
            assert fail * (1 + grow) >= budget
            continue
        assert at(floor * (1 - 1e-9)) >= budget * (1 - 1e-6) or floor == 0
        assert at(floor + 1e-2) <= budget


def test_a_choice_between_two_candidates_is_a_floor_for_the_exponential_mechanism() -> None:
    event = Repeated(Exponential(HALF), 100)
    assert 0.8 * 16.8 < lost_at_least(event, 1e-6) < min(16.8, renyi.epsilon(event, "1e-6"))


def test_what_fails_more_often_than_delta_has_no_price() -> None:
    assert lost_at_least(Repeated(PartitionSelection(1, "1e-6"), 20), 1e-5) == math.inf
    assert lost_at_least(Repeated(PartitionSelection(1, "1e-6"), 5), 1e-5) == 0.0


def test_a_wrong_floor_would_accuse_the_honest(monkeypatch: pytest.MonkeyPatch) -> None:
    accountant_floors._composed.cache_clear()
    monkeypatch.setitem(
        accountant_floors._PAIRS, Laplace, lambda event: accountant_floors._laplace(Laplace(event.scale / 2))
    )
    assert accountant(summed, events=[Laplace(2)], rounds=0).refuted
    accountant_floors._composed.cache_clear()


# ---- shrinking, telling, arguments ----------------------------------------------------------------------------------


@given(st.integers(0, 10**6))
@settings(max_examples=50, deadline=None)
def test_smaller_events_are_smaller_and_read_again(seed: int) -> None:
    for event in list(tried(dice(seed), 1))[::7]:
        assert Event.from_json(event.to_json()) == event
        for other in smaller(event):
            assert size(other) <= size(event)
            assert Event.from_json(other.to_json()) == other


def test_the_same_seed_tries_the_same() -> None:
    assert list(tried(dice(5), 2)) == list(tried(dice(5), 2))
    assert list(tried(dice(5), 2)) != list(tried(dice(6), 2))


def test_an_audit_tells_itself_plainly() -> None:
    told: list[tuple[int, int]] = []
    found = accountant(changed(once), rounds=1, seed=0, progress=lambda done, of: told.append((done, of)))
    assert told[-1] == (found.events, found.events)
    plain = json.loads(json.dumps(found.to_json()))
    assert plain["verdict"] == "refuted"
    assert Event.from_json(json.dumps(plain["broken"][0]["event"], sort_keys=True, separators=(",", ":")))
    assert str(found).splitlines()[-1].startswith("refuted: ")
    assert any(line.startswith("unsound: floor check at δ = ") and "2 × " in line for line in str(found).splitlines())


def test_arguments() -> None:
    for wrong in ({"deltas": ()}, {"deltas": (0.0,)}, {"rounds": -1}):
        with pytest.raises(ArgumentError):
            accountant(summed, **wrong)  # type: ignore[arg-type]
    with pytest.raises(ArgumentError):
        dp_accounting("pure")


def test_a_crash_is_told_with_the_smallest_event_and_is_no_verdict() -> None:
    def crashing(event: Event, delta: float) -> float:
        if isinstance(event, Gaussian):
            raise KeyError("sigma")
        if isinstance(event, Repeated):
            raise ValueError(f"count {event.count} is too large")
        return summed(event, delta)

    events = (Repeated(Pure(1), 7), Repeated(Composed((Pure(1), Pure(2))), 9), Gaussian(variance=1), Pure(1))
    found = accountant(crashing, events=events, rounds=0, seed=1)
    assert (found.refuted, found.verdict, found.exit_code) == (False, "crashed", 2)
    shown_by = {each.words.split(":")[0]: each.event for each in found.crashed}
    assert shown_by["KeyError"] == Gaussian(variance=1)
    assert shown_by["ValueError"] in [Repeated(Pure(1), count) for count in range(2, 8)]
    assert "crashed: KeyError: 'sigma'" in str(found)
    assert json.loads(json.dumps(found.to_json()))["crashed"][0]["event"]
    assert accountant(summed, events=events, rounds=0, seed=1).exit_code == 0
