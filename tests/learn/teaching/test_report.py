"""The report on labels, given the votes: its bound against numerical integration, its sensitivity by moving votes."""

from __future__ import annotations

from fractions import Fraction
from itertools import permutations
from typing import Any

import numpy as np
import pytest
from scipy import integrate, special, stats

from learn.worlds import account, divided
from sordino.accounting.bound import Unit
from sordino.accounting.grant import Grant
from sordino.errors import ArgumentError, GrantError
from sordino.learn.teaching import report as reports
from sordino.learn.teaching.ensemble import teachers
from sordino.learn.teaching.report import RANKS, ReportPlan, gaps_of, loss

SIDE = np.arange(4, dtype=np.float32)


def chances(votes: Any, deviation: float) -> Any:
    """Return how likely each class has the largest noisy number of votes, by quadrature."""
    grid = np.linspace(min(votes) - 12 * deviation, max(votes) + 12 * deviation, 8001)
    below = np.array([stats.norm.cdf(grid, each, deviation) for each in votes])
    found = [
        integrate.simpson(stats.norm.pdf(grid, each, deviation) * np.prod(np.delete(below, place, 0), 0), x=grid)
        for place, each in enumerate(votes)
    ]
    return np.array(found)


def neighbours(votes: list[int]) -> list[list[int]]:
    """Return all votes of which one was given to another class."""
    moved = []
    for giver, taker in permutations(range(len(votes)), 2):
        if votes[giver]:
            changed = list(votes)
            changed[giver] -= 1
            changed[taker] += 1
            moved.append(changed)
    return moved


@pytest.mark.parametrize(
    ("votes", "deviation"),
    [([60, 10], 8.0), ([90, 5, 5], 10.0), ([40, 30, 0], 4.0), ([25, 25], 3.0), ([200, 0, 50], 20.0), ([51, 49], 1.0)],
)
def test_the_loss_given_the_votes_is_never_above_its_bound(votes: list[int], deviation: float) -> None:
    bound = loss(float(gaps_of(np.array([votes]))[0]), len(votes), deviation)
    own = chances(votes, deviation)
    assert own.sum() == pytest.approx(1, abs=1e-7)
    for other in neighbours(votes):
        theirs = chances(other, deviation)
        for order, most in zip(reports._ORDERS, bound, strict=True):
            if order <= 40:
                found = special.logsumexp(order * np.log(own) + (1 - order) * np.log(theirs)) / (order - 1)
                assert found <= most + 1e-7


def test_a_clear_vote_loses_much_less_and_a_tie_as_much_as_any() -> None:
    assert (loss(0.0, 10, 40.0) >= reports._ORDERS / 1600).all()
    assert loss(240.0, 10, 40.0)[5] < 0.1 * loss(0.0, 10, 40.0)[5]
    gaps = [loss(float(gap), 10, 40.0)[20] for gap in range(0, 250, 10)]
    assert gaps == sorted(gaps, reverse=True)


def test_one_vote_moves_every_rank_by_two_at_most() -> None:
    draw = np.random.default_rng(5)
    for _ in range(200):
        votes = draw.integers(0, 9, (12, 4))
        moved = votes.copy()
        for row in moved:  # the same teacher votes otherwise on every thing, or abstains
            giver, taker = draw.integers(0, 4, 2)
            if row[giver]:
                row[giver] -= 1
                row[taker] += draw.integers(0, 2)
        apart = np.abs(np.sort(gaps_of(votes)) - np.sort(gaps_of(moved)))
        assert apart.max() <= 2


def plan(epsilon: str = "1", asked: int = 400, confidence: str = "0.9") -> ReportPlan:
    return ReportPlan(
        "d", Unit("row"), 10, asked, Fraction(40), Fraction("1e-5"), Fraction(confidence), Fraction(epsilon)
    )


def test_what_it_says_holds_as_often_as_it_says() -> None:
    one = plan()
    votes = np.zeros((400, 10), dtype=np.int64)
    votes[:, 0] = np.linspace(60, 250, 400).astype(int)
    votes[:, 1] = 250 - votes[:, 0]
    gaps = np.abs(2 * votes[:, 0] - 250)
    truth = reports.epsilon_of(sum(loss(float(gap), 10, 40.0) for gap in gaps), 1e-5)
    said = [one.run(votes, Grant(one.event(), one.bound, one.digest())) for _ in range(300)]
    short = sum(each.epsilon < truth for each in said)
    assert short <= 30 + 4 * np.sqrt(27)  # a tenth of 300 may be; gaps are shown in steps, so hardly any is
    assert all(truth * 0.9 < each.epsilon <= each.at_most * (1 + 1e-9) for each in said)


def test_it_is_charged_by_itself_and_run_once() -> None:
    marks = divided(600)
    budget = account(marks)
    ensemble = teachers(marks, count=30, classes=2, fit=lambda _: lambda asked: asked[:, 0] > 1, budget=budget)
    things = np.repeat(SIDE[:, None], 4, axis=0)
    labels = ensemble.label(things, sigma=20)
    before = len(budget.history)
    told = ensemble.report(things, sigma=20, epsilon="0.5")
    assert len(budget.history) == before + 1
    assert 0 < told.epsilon <= told.at_most
    assert labels.labels.shape == (16,)
    with pytest.raises(ArgumentError, match="SRD-A002"):
        ensemble.report(things[:3], sigma=8, epsilon="0.5")
    one = plan(asked=8)
    grant = Grant(one.event(), one.bound, one.digest())
    one.run(np.zeros((8, 10), dtype=np.int64), grant)
    with pytest.raises(GrantError):
        one.run(np.zeros((8, 10), dtype=np.int64), grant)


def test_its_noise_has_the_scale_that_it_is_charged_for() -> None:
    one = plan(epsilon="1", asked=RANKS)
    votes = np.zeros((RANKS, 10), dtype=np.int64)
    votes[:, 0] = 1000
    draws = np.concatenate(
        [
            np.asarray(one.mechanism.release(gaps_of(votes), Grant(one.event(), one.bound)), dtype=float) - 1000
            for _ in range(3000)
        ]
    )
    scale = np.abs(draws).mean()
    assert 0.95 * 2 * RANKS < scale < 1.05 * 2 * RANKS  # 0.7 and 1.3 times it are far outside
