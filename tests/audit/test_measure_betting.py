"""The purse: under a true claim it is never rich too often, whatever is bet; and the test of that can fail."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from scipy.stats import binom

from sordino.audit.betting import Purse, best_bet
from sordino.audit.evidence import Evidence

CHANCE = 0.05
FEW, RUNS = 200, 4_000
LINES = 1e-4
"""How often one of these tests fails by chance."""


def share_allowed(runs: int) -> int:
    """Return how many of so many honest runs may be accused at most, but for a chance of `LINES`."""
    return int(binom.ppf(1 - LINES, runs, CHANCE))


def accused(first: Any, second: Any, point: tuple[float, float], *, runs: int, peek: bool, seed: int) -> int:
    """Return how many of so many runs refute the claim `point` on outputs in three zones of these probabilities.

    Each run bets in 6 batches of 40 draws by what it has seen before; with `peek`, by the batch that is bet on itself.
    """
    rng, rich = np.random.default_rng(seed), 0
    draws = [rng.multinomial(40, law, size=(runs, 7)) for law in (first, second)]
    for run in range(runs):
        here, there = (side[run].astype(float) for side in draws)
        purse = Purse(CHANCE)
        for batch in range(1, 7):
            known = slice(batch, batch + 1) if peek else slice(0, batch)
            seen = [(side[known].sum(axis=0) + 0.5) / (side[known].sum() + 1.5) for side in (here, there)]
            bet = best_bet(*seen, *point)
            if bet is not None:
                purse.settle(bet, here[batch], there[batch])
        rich += purse.refutes
    return rich


def response(epsilon: float) -> tuple[list[float], list[float]]:
    """Randomized response with exactly this ε, in the zones H and L."""
    truth = 1 / (1 + math.exp(-epsilon))
    return [truth, 0.0, 1 - truth], [1 - truth, 0.0, truth]


def failing(epsilon: float, delta: float) -> tuple[list[float], list[float]]:
    """The worst (ε, δ)-private mechanism: it fails with probability δ, and else is randomized response.

    What the two failures show cannot be mistaken, so the zones H and L hold them.
    """
    truth = (1 - delta) / (1 + math.exp(-epsilon))
    return [delta + truth, 0.0, 1 - delta - truth], [1 - delta - truth, 0.0, delta + truth]


@pytest.mark.parametrize(
    ("laws", "point"),
    [
        (response(1.0), (1.0, 0.0)),
        (response(0.1), (0.1, 0.0)),
        (response(3.0), (3.0, 0.0)),
        (failing(1.0, 0.1), (1.0, 0.1)),
        (failing(0.0, 0.2), (0.0, 0.2)),
        (([0.5, 0.3, 0.2], [0.5 / math.e, 0.5 - 0.5 / math.e, 0.5]), (1.0, 0.0)),
    ],
)
def test_an_honest_mechanism_at_the_very_edge_is_seldom_accused(laws: Any, point: tuple[float, float]) -> None:
    assert accused(*laws, point, runs=FEW, peek=False, seed=1) <= share_allowed(FEW)


def test_bets_that_peek_are_found_out_by_the_same_test() -> None:
    assert accused(*response(1.0), (1.0, 0.0), runs=FEW, peek=True, seed=1) > share_allowed(FEW)


def test_a_mechanism_beyond_its_claim_is_accused() -> None:
    assert accused(*response(1.6), (1.0, 0.0), runs=100, peek=False, seed=2) > 90


@pytest.mark.parametrize("delta", [0.0, 0.05])
def test_no_bet_is_better_than_fair_under_any_law_that_keeps_the_claim(delta: float) -> None:
    """The mean of what a coin becomes, computed exactly, for random bets and random laws within (ε, δ)."""
    rng, epsilon, largest = np.random.default_rng(3), 0.7, 0.0
    laws = [(p, q) for p, q in rng.dirichlet([1, 1, 1], (20_000, 2)) if not _broken(p, q, epsilon, delta)]
    first, second = (np.array(side) for side in zip(*laws, strict=True))
    for here, there in rng.dirichlet([1, 1, 1], (300, 2)):
        bet = best_bet(here, there, epsilon, delta)
        if bet is not None:
            largest = max(largest, float(np.max((first @ bet.first) * (second @ bet.second))))
    assert largest <= 1 + 1e-12
    assert largest > 0.9


def _broken(first: Any, second: Any, epsilon: float, delta: float) -> bool:
    ratio = math.exp(epsilon)
    return any(np.maximum(p - ratio * q, 0.0).sum() > delta for p, q in ((first, second), (second, first)))


def test_the_best_bet_is_the_likelihood_ratio_to_the_nearest_law_that_keeps_the_claim() -> None:
    """Laplace noise of scale 0.8 against ε = 1: 0.00728 a pair of draws, so about 1,900 pairs for a millionfold."""
    tail = math.exp(-1.25) / 2
    first, second = np.array([0.5, 0.5 - tail, tail]), np.array([tail, 0.5 - tail, 0.5])
    bet = best_bet(first, second, 1.0, 0.0)
    assert bet is not None
    share = 0.5 + tail
    nearest = np.array([share * math.e, (1 - share) * (1 + math.e), share]) / (1 + math.e)
    assert bet.first == pytest.approx(first / nearest, abs=1e-6)
    assert bet.growth == pytest.approx(0.00728, abs=1e-5)


def test_nothing_is_bet_on_what_the_claim_allows() -> None:
    assert best_bet(*map(np.array, response(0.9)), 1.0, 0.0) is None
    assert best_bet(np.array([0.2, 0.6, 0.2]), np.array([0.2, 0.6, 0.2]), 0.0, 0.0) is None


def honest_runs(runs: int, seed: int, *, peek: bool) -> int:
    """Return how many audits of randomized response of 20 values with exactly ε = 0.1 are accused at `CHANCE`.

    The whole search takes part, learnt events included. Four batches each; with `peek` the search learns and judges by
    the very batch that is bet on.
    """
    rng, rich, point = np.random.default_rng(seed), 0, (0.1, 0.0)
    truth = 1 / (1 + 19 * math.exp(-0.1))

    def release(value: int, draws: int) -> Any:
        others = (value + rng.integers(1, 20, draws)) % 20
        return np.where(rng.random(draws) < truth, value, others).astype(str)

    for _ in range(runs):
        evidence, purse = Evidence((1, 0), release, 80), Purse(CHANCE)
        for _ in range(4):
            tables = evidence.draw(80)
            known = _looking_at(evidence, tables) if peek else evidence
            wager = known.wager([point])
            if wager is not None:
                purse.settle(wager.bet, *(wager.zones(table) for table in tables))
            evidence.add(*tables)
        rich += purse.refutes
    return rich


def _looking_at(evidence: Evidence, tables: Any) -> Evidence:
    """Return evidence that learns from `tables` and takes them for fresh draws as well."""
    peeking = Evidence(evidence.pair, evidence.release, 2)
    peeking.add(*tables)
    peeking.add(*tables)
    return peeking


def test_the_whole_search_seldom_accuses_an_honest_mechanism() -> None:
    assert honest_runs(150, seed=4, peek=False) <= share_allowed(150)


def test_a_search_that_peeks_is_found_out() -> None:
    assert honest_runs(30, seed=4, peek=True) > share_allowed(30)


@pytest.mark.long
def test_honest_mechanisms_are_seldom_accused_at_length() -> None:
    assert accused(*response(1.0), (1.0, 0.0), runs=RUNS, peek=False, seed=6) <= share_allowed(RUNS)
    assert accused(*failing(1.0, 0.1), (1.0, 0.1), runs=RUNS, peek=False, seed=7) <= share_allowed(RUNS)
    assert honest_runs(RUNS // 4, seed=5, peek=False) <= share_allowed(RUNS // 4)
