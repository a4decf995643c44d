"""Noise that members share: its law, its price for the fewest honest survivors, and room for it in the masks."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

import sordino as so
from sordino.accounting.accountants import epsilon
from sordino.accounting.events import Gaussian, PoissonSampled, Repeated
from sordino.accounting.neighbours import Neighbours
from sordino.data.account import DataAccount
from sordino.errors import ArgumentError, BudgetError
from sordino.learn.federation.noise_shares import (
    SHARES,
    DiscreteGaussianShares,
    NoiseLaw,
    ServerNoise,
    SkellamShares,
    reach,
)
from sordino.learn.federation.plan import Recipe
from sordino.learn.federation.populations import Population, check_account, population
from sordino.learn.federation.recipes import recipe_for
from sordino.learn.federation.roster import Quorum
from sordino.learn.federation.steps import ClippedSteps

BUDGET = so.budget(epsilon=4, delta="1e-5")
STUDY = population("study", members=5, unit="patient", size=1000)
PHONES = population("phones", members=100)
KNOWN = population("known", members=5, neighbours=Neighbours.ZERO_OUT)
THRESHOLD = 1e-6
"""The p-value below which a law is rejected."""


def fit(draws: np.ndarray, variance: float) -> float:
    """Return the p-value of n·s²/σ² under its normal limit."""
    n, ratio = len(draws), float(np.mean(np.square(draws.astype(float))) / variance)
    return float(2 * stats.norm.sf(abs(ratio - 1) / math.sqrt(2 / n)))


@pytest.mark.parametrize("law", [DiscreteGaussianShares, SkellamShares])
def test_shares_of_the_honest_add_up_to_the_noise_that_is_priced(law: type) -> None:
    variance = 90_000
    shares = law(4, Fraction(variance))
    total = sum(shares.draw(40_000) for _ in range(4))
    n, p = len(total), fit(total, variance)
    assert p > THRESHOLD, (n, p)
    for factor in (0.7, 1.3):
        assert fit(total, variance * factor**2) < THRESHOLD
    assert abs(total.mean()) < 5 * math.sqrt(variance / n)


def test_the_server_draws_all_of_the_noise_once() -> None:
    draws = ServerNoise(1, Fraction(400)).draw(40_000)
    assert fit(draws, 400) > THRESHOLD
    assert fit(draws, 400 * 0.7**2) < THRESHOLD
    assert fit(draws, 400 * 1.3**2) < THRESHOLD


@pytest.mark.parametrize("law", [*SHARES.values(), ServerNoise])
def test_the_price_is_that_of_independent_sums(law: type) -> None:
    """On one number, by summing the losses of the convolved masses: δ at ε from the definition, against the claim."""
    parties, variance, moved = 3, 30.0, 5
    shares: NoiseLaw = law(1 if law is ServerNoise else parties, Fraction(variance))
    clipped = ClippedSteps(1, Fraction(moved), ClippedSteps.fitting(1, Fraction(2**10)).grid)
    assert (clipped.squared, clipped.total) == (25, 5)
    claimed = epsilon(Repeated(shares.event(clipped), 1), "1e-5", "renyi")
    mass = _masses(shares, parties, variance)
    upper, lower = mass[moved:], mass[:-moved]
    delta = float(np.maximum(upper - math.exp(claimed) * lower, 0).sum())
    assert delta <= 1e-5
    tighter = claimed * 0.7
    assert float(np.maximum(upper - math.exp(tighter) * lower, 0).sum()) > 1e-5


def _masses(law: NoiseLaw, parties: int, variance: float) -> np.ndarray:
    places = np.arange(-120, 121)
    if isinstance(law, SkellamShares):
        return stats.skellam.pmf(places, variance / 2, variance / 2)
    if isinstance(law, ServerNoise):
        return np.diff(stats.norm.cdf(np.append(places - 0.5, 120.5), scale=math.sqrt(variance)))
    one = np.exp(-(np.arange(-60, 61) ** 2) / (2 * variance / parties))
    one /= one.sum()
    total = one
    for _ in range(parties - 1):
        total = np.convolve(total, one)
    middle = len(total) // 2
    return total[middle - 120 : middle + 121]


@pytest.mark.parametrize("law", [DiscreteGaussianShares, SkellamShares])
@pytest.mark.parametrize("variance", [2, 1000])
def test_noise_beyond_its_reach_is_rarer_than_is_said(law: type, variance: int) -> None:
    far = reach(law(2, Fraction(variance)), 4, 10)
    total = 2 * variance
    beyond = (
        2 * stats.skellam.sf(far, total / 2, total / 2)
        if law is SkellamShares
        else 2 * stats.norm.sf((far - 1) / math.sqrt(total)) * 2
    )
    assert 10 * beyond < 2.0**-100
    assert far < 40 * math.sqrt(total) + 100


def test_the_noise_is_the_least_that_fits_and_is_counted_for_the_honest_alone() -> None:
    words = {"parameters": 20, "rounds": 30, "clip": 1, "rate": "0.1", "epsilon": 2}
    five = recipe_for(STUDY, BUDGET, quorum=Quorum(5, 5, 0), **words)
    three = recipe_for(STUDY, BUDGET, quorum=Quorum(5, 4, 1), **words)
    assert five.multiplier == three.multiplier
    share = {each: each.law.variance / each.law.parties for each in (five, three)}
    assert share[three] / share[five] == Fraction(5, 3)
    alike = Repeated(PoissonSampled(Gaussian(five.multiplier**2), Fraction(1, 10)), 30)
    assert epsilon(alike, "1e-5", "renyi") == pytest.approx(epsilon(five.event(), "1e-5", "renyi"), rel=1e-3)
    own = _charged(five)
    with pytest.raises(BudgetError):
        own.begin(five.round(30))
    with pytest.raises(BudgetError):
        _charged(five.with_multiplier(five.multiplier * Fraction(98, 100)))


def test_a_curious_member_takes_its_own_share_away_and_the_claim_still_holds() -> None:
    """By default, and with the fewest survivors: what is left are the shares of threshold − 1, as is priced."""
    words = {"parameters": 1, "rounds": 1, "clip": 1, "noise": 2}
    careful = recipe_for(STUDY, quorum=Quorum(5, 4), **words)
    one = careful.law.variance / careful.law.parties
    assert one * (4 - 1) == careful.law.variance == 4 * careful.steps.squared
    trusting = recipe_for(STUDY, quorum=Quorum(5, 4, 0), **words)
    assert trusting.law.variance / trusting.law.parties * (4 - 1) == trusting.law.variance * Fraction(3, 4)
    assert one / (trusting.law.variance / 4) == Fraction(4, 3)  # what it costs: shares of 4/3 the variance


def _charged(recipe: Recipe) -> DataAccount[Population]:
    """Return an account of ε = 2 after all rounds of a recipe."""
    own = so.account(STUDY, so.budget(epsilon=2, delta="1e-5"))
    for number in range(recipe.rounds):
        own.begin(recipe.round(number))
    return own


def test_a_class_that_is_promised_less_is_clipped_shorter_and_pays_its_own_epsilon() -> None:
    words = {"parameters": 9, "rounds": 40, "clip": 3, "rate": "0.2"}
    both = recipe_for(PHONES, BUDGET, epsilon={"minors": "0.5", "adults": 2}, **words)
    alone = recipe_for(PHONES, BUDGET, epsilon=2, **words)
    assert both.multiplier == alone.multiplier
    assert both.step == alone.step
    minors = both.steps_of("minors")
    assert minors.clip < Fraction(3, 2)
    assert both.steps_of("adults") == both.steps
    assert both.steps_of("nobody") == minors
    rounds = Repeated(PoissonSampled(both.law.event(minors), both.rate), 40)
    own = so.account(PHONES, so.budget(epsilon="0.5", delta="1e-5"))
    assert own.account.price(rounds).part <= 1  # type: ignore[union-attr]
    longer = Repeated(PoissonSampled(Gaussian(both.law.variance, Fraction(minors.squared) * 11 / 10), both.rate), 40)
    assert own.account.price(longer).part > 1  # type: ignore[union-attr]


def test_sums_have_room() -> None:
    recipe = recipe_for(STUDY, BUDGET, parameters=20, rounds=3, clip=1, epsilon=2, quorum=Quorum(5, 4))
    largest = 5 * recipe.cap + reach(recipe.law, 5, 20)
    assert largest < 2 ** (recipe.bits - 1)
    known = recipe_for(KNOWN, BUDGET, parameters=20, rounds=3, clip=1, epsilon=2, quorum=Quorum(5, 4))
    assert known.bits == 32
    assert known.bound.neighbours is Neighbours.ZERO_OUT
    crowd = population("crowd", members=5, unit="patient", size=10**18)
    with pytest.raises(ArgumentError, match="64 bits"):
        _ = recipe_for(crowd, BUDGET, parameters=20, rounds=3, clip=1, epsilon=2, quorum=Quorum(5, 4)).bits


def test_what_cannot_be_promised_is_refused_before_anything_is_charged() -> None:
    words = {"parameters": 20, "rounds": 3, "clip": 1, "epsilon": 2}
    for given, more, match in (
        (STUDY, {}, "must not be seen by the server"),
        (STUDY, {"quorum": Quorum(4, 3)}, "both must name all"),
        (KNOWN, {"quorum": Quorum(5, 4), "rate": "0.5"}, "hides nobody"),
        (PHONES, {"quorum": Quorum(100, 60)}, "ZERO_OUT"),
        (PHONES, {"rate": 0}, "greater than 0"),
        (PHONES, {"clip": 0}, "greater than 0"),
        (PHONES, {"epsilon": None}, "say what the training may spend"),
        (KNOWN, {"quorum": Quorum(5, 4), "shares": "laplace"}, "one of"),
        (STUDY, {"quorum": Quorum(5, 4), "epsilon": {"a": 1}}, "for clients"),
    ):
        with pytest.raises(ArgumentError, match=match):
            recipe_for(given, BUDGET, **(words | more))
    with pytest.raises(ArgumentError, match="account of a population"):
        check_account(so.account(PHONES, BUDGET).account)


def test_the_recipe_is_all_of_the_digest() -> None:
    words = {"parameters": 20, "rounds": 3, "clip": 1, "noise": 2, "quorum": Quorum(5, 4)}
    recipes: list[Recipe] = [
        recipe_for(STUDY, **(words | more))
        for more in ({}, {"rounds": 4}, {"noise": 3}, {"shares": "skellam"}, {"quorum": Quorum(5, 5)}, {"rate": "0.5"})
    ]
    assert len({each.round(0).digest() for each in recipes}) == len(recipes)
    assert recipes[0].round(0).digest() != recipes[0].round(1).digest()
