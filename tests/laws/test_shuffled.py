"""Shuffled reports of known randomizers: no claim is below what small crowds show, enumerated in fractions."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
import scipy

from laws.shuffled_truth import Randomizer, largest_delta, response, unary, with_shared_reports
from sordino.accounting import binary_crowd, pure
from sordino.accounting.blanket import Blanket, blanket_delta
from sordino.accounting.event import Event
from sordino.accounting.events import ShuffledLocal, ShuffledResponse, ShuffledUnary

ODDS = (Fraction(5, 4), Fraction(2), Fraction(3))
DELTAS = (Fraction(1, 5), Fraction(1, 20), Fraction(1, 100))


def local(odds: Fraction) -> Fraction:
    """Return an ε₀ whose e^ε₀ is not below `odds`."""
    return Fraction(math.log(odds)) + Fraction(1, 10**15)


def factor(epsilon: Fraction, share: float = 1.0) -> Fraction:
    """Return a fraction that is not above e^ε."""
    return Fraction(math.exp(float(epsilon) * share)) * (1 - Fraction(1, 10**15))


def judge(event: Event, randomizer: Randomizer, reports: int, delta: Fraction) -> Fraction:
    """Hold a claim against the truth, and return it."""
    claimed = pure.total(event)
    assert largest_delta(randomizer, reports, factor(claimed)) <= delta
    return claimed


CROWDS = [(2, 2), (3, 2), (4, 2), (5, 2), (4, 3), (2, 4)]
LARGER = [(2, 3), (3, 3), (5, 3), (3, 4), (4, 4)]


@pytest.mark.parametrize(
    ("reports", "categories"), [*CROWDS, *(pytest.param(*crowd, marks=pytest.mark.slow) for crowd in LARGER)]
)
def test_no_claim_about_responses_is_below_any_small_crowd(reports: int, categories: int) -> None:
    for odds, delta in product(ODDS, DELTAS):
        event = ShuffledResponse(local(odds), categories, reports, delta)
        claimed = judge(event, response(odds, categories), reports, delta)
        anything = ShuffledLocal(local(odds), reports, delta)
        assert judge(anything, response(odds, categories), reports, delta) >= claimed


@pytest.mark.parametrize("reports", [2, 3, 5, 8])
def test_binary_claims_are_exact(reports: int) -> None:
    """They hold, and a thousandth less does not."""
    for odds, delta in product(ODDS, DELTAS):
        claimed = judge(ShuffledResponse(local(odds), 2, reports, delta), response(odds, 2), reports, delta)
        if claimed:
            assert largest_delta(response(odds, 2), reports, factor(claimed, 0.999)) > delta


@pytest.mark.parametrize("values", [2, 3])
@pytest.mark.parametrize("reports", [2, 3])
def test_no_claim_about_unary_reports_is_below_any_small_crowd(reports: int, values: int) -> None:
    coins = [(Fraction(1, 2), Fraction(1, 4)), (Fraction(2, 3), Fraction(1, 3)), (Fraction(9, 10), Fraction(1, 7))]
    for (own, other), delta in product(coins, DELTAS):
        judge(ShuffledUnary(own, other, reports, delta), unary(own, other, values), reports, delta)


@pytest.mark.parametrize("shared", [Fraction(0), Fraction(1, 4), Fraction(3, 4), Fraction(99, 100)])
def test_no_claim_about_any_randomizer_is_below_one_that_shares_reports(shared: Fraction) -> None:
    for odds, delta, reports in product(ODDS, DELTAS, (2, 3)):
        judge(ShuffledLocal(local(odds), reports, delta), with_shared_reports(odds, shared), reports, delta)


Claim = Callable[[Fraction, int, Fraction], Event]


@pytest.mark.parametrize(
    ("claim", "categories"),
    [
        (lambda odds, reports, delta: ShuffledResponse(local(odds), 2, reports, delta), 2),
        (lambda odds, reports, delta: ShuffledResponse(local(odds), 3, reports, delta), 3),
        (ShuffledLocal, 2),
    ],
)
def test_the_law_catches_claims_that_are_too_small(claim: Claim, categories: int) -> None:
    odds, reports, delta = Fraction(3), 4, Fraction(1, 20)
    event = claim(local(odds) if claim is ShuffledLocal else odds, reports, delta)
    claimed = pure.total(event)
    assert largest_delta(response(odds, categories), reports, factor(claimed)) <= delta
    assert largest_delta(response(odds, categories), reports, factor(claimed, 0.7)) > delta


# ---- the blanket, by plain sums --------------------------------------------------------------------------------------


def summed(odds: Fraction, masses: tuple[Fraction, ...], reports: int, at: Fraction) -> Fraction:
    """Return the mean of the positive part of the sum of all X, over the number of reports."""
    values = (odds - at, 1 - odds * at, odds * (1 - at), 1 - at, Fraction(0))
    law = {Fraction(0): Fraction(1)}
    for _ in range(reports):
        more: dict[Fraction, Fraction] = {}
        for (place, mass), (value, chance) in product(law.items(), zip(values, masses, strict=True)):
            more[place + value] = more.get(place + value, Fraction(0)) + mass * chance
        law = more
    return sum((mass * max(place, Fraction(0)) for place, mass in law.items()), Fraction(0)) / reports


BLANKETS = [
    (Fraction(2), (Fraction(1, 4), Fraction(1, 4), Fraction(0), Fraction(1, 4))),
    (Fraction(3), (Fraction(1, 4), Fraction(1, 4), Fraction(0), Fraction(0))),
    (Fraction(3), (Fraction(1, 8), Fraction(1, 8), Fraction(1, 24), Fraction(3, 8))),
    (Fraction(50), (Fraction(1, 60), Fraction(1, 60), Fraction(0), Fraction(1, 7))),
]


@pytest.mark.parametrize(("odds", "masses"), BLANKETS)
@pytest.mark.parametrize("reports", [2, 3, 8])
def test_transforms_are_never_below_the_plain_sum_and_close_to_it(
    odds: Fraction, masses: tuple[Fraction, ...], reports: int
) -> None:
    nobody = 1 - sum(masses)
    blanket = Blanket(float(odds), *map(float, masses), nobody=float(nobody))
    for epsilon in (0.0, 0.01, 0.1, 0.5, 0.65):
        true = summed(odds, (*masses, nobody), reports, Fraction(math.exp(epsilon)))
        assert float(true) * (1 - 1e-12) <= blanket_delta(blanket, reports, epsilon) <= float(true) * 1.01 + 1e-12


@pytest.mark.parametrize("share", [Fraction(1, 100), Fraction(1, 3), Fraction(9, 10)])
def test_what_two_laws_share_never_costs_more(share: Fraction) -> None:
    for odds, at, reports in product(ODDS, (Fraction(1), Fraction(21, 20), Fraction(6, 5)), (1, 2, 3, 5)):
        most, less = 1 / (odds + 1), (1 - share) / (odds + 1)
        without = (most, most, Fraction(0), Fraction(0), 1 - 2 * most)
        shared = (less, less, share / odds, Fraction(0), 1 - 2 * less - share / odds)
        assert summed(odds, shared, reports, at) <= summed(odds, without, reports, at)


# ---- larger crowds ---------------------------------------------------------------------------------------------------


def ones(reports: int, odds: float) -> list[np.ndarray]:
    """Return the law of the reports of 1 of all others, for each number of others that hold 1."""
    lie, others = 1 / (odds + 1), reports - 1
    binom = scipy.stats.binom.pmf
    return [
        np.convolve(binom(np.arange(j + 1), j, 1 - lie), binom(np.arange(others - j + 1), others - j, lie))
        for j in range(reports)
    ]


def test_a_crowd_of_equals_is_not_quite_the_worst() -> None:
    """At e^ε₀ = 50 one of 199 others holds another value: all crowds must be gone through."""
    odds, reports, lie = 50.0, 200, 1 / 51
    at = math.log(1.5)
    true = []
    for law in ones(reports, odds):
        less, more = np.append(law, 0.0), np.append(0.0, law)
        excess = lie * less + (1 - lie) * more - 1.5 * ((1 - lie) * less + lie * more)
        true.append(float(np.maximum(excess, 0).sum()))
    assert int(np.argmax(true)) == 198
    assert binary_crowd.ends_delta(odds, reports, at, 40.0) < max(true)
    assert not binary_crowd.all_crowds_below(odds, reports, at, max(true) * (1 - 1e-9))
    assert binary_crowd.all_crowds_below(odds, reports, at, max(true) * (1 + 1e-6))


def exact_pair(epsilon: float, reports: int, categories: int, at: float) -> float:
    """Return δ at ε of k-ary responses where all others hold a third value: by counts of the two values."""
    odds = math.exp(epsilon)
    lie = 1 / (odds + categories - 1)
    centre, reach = (reports - 1) * lie, 9 * math.sqrt(reports * lie) + 40
    counts = np.arange(max(0, int(centre - reach)), int(centre + reach))
    first = scipy.stats.binom.pmf(counts, reports - 1, lie)
    second = scipy.stats.binom.pmf(counts[None, :], reports - 1 - counts[:, None], lie / (1 - lie))
    crowd = first[:, None] * second
    one, two, rest = np.zeros_like(crowd), np.zeros_like(crowd), (categories - 2) * lie * crowd
    one[1:], two[:, 1:] = lie * crowd[:-1], lie * crowd[:, :-1]
    excess = odds * one + two + rest - math.exp(at) * (one + odds * two + rest)
    return float(np.maximum(excess, 0.0).sum())


@pytest.mark.slow
@pytest.mark.parametrize(
    ("epsilon", "reports", "categories", "most"),
    [(1, 10**4, 10, 0.0240), (4, 10**5, 10, 0.114), (4, 10**5, 1000, 0.0275)],
)
def test_many_responses_cost_little_and_not_less_than_an_exact_pair(
    epsilon: int, reports: int, categories: int, most: float
) -> None:
    claimed = float(pure.total(ShuffledResponse(epsilon, categories, reports, "1e-6")))
    assert claimed <= most
    assert exact_pair(epsilon, reports, categories, claimed) <= 1e-6
    assert exact_pair(epsilon, reports, categories, 0.98 * claimed) > 1e-6


@pytest.mark.slow
@pytest.mark.parametrize(
    ("epsilon", "reports", "binary", "any_"), [(1, 10**4, 0.0357, 0.0433), (4, 10**5, 0.0848, 0.1182)]
)
def test_many_reports_of_other_randomizers(epsilon: int, reports: int, binary: float, any_: float) -> None:
    """Crowds of equals at the claim of binary responses, and the bounds of Balle et al. for optimised bits."""
    two = float(pure.total(ShuffledResponse(epsilon, 2, reports, "1e-6")))
    assert 0.998 * binary < two <= binary
    equals = binary_crowd.ends_delta(math.exp(epsilon), reports, 0.999 * two, 40.0)
    assert equals > 1e-6
    assert pure.total(ShuffledLocal(epsilon, reports, "1e-6")) <= Fraction(any_)
    other = Fraction(1 / (math.exp(epsilon) + 1))
    bits = pure.total(ShuffledUnary(Fraction(1, 2), other, reports, "1e-6"))
    assert bits <= Fraction({1: 0.0302, 4: 0.0841}[epsilon])


@pytest.mark.parametrize("categories", [2, 3])
def test_reports_that_hardly_ever_lie_cost_nearly_what_each_costs(categories: int) -> None:
    """Among a million, a lie like the truth of one person is told with probability 10⁶·e^{−ε₀} or less."""
    claimed = float(pure.total(ShuffledResponse(299, categories, 10**6, "0.001")))
    assert 299 - math.log(10**6) - 0.01 <= claimed <= 299
