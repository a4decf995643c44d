"""Tranches through a real ledger: charged before they run, settled after, never refunded; and what they cost in all."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sordino as so
from learn.worlds import BUDGET, account, divided
from sordino.accounting.account import Account
from sordino.accounting.events import Gaussian
from sordino.accounting.filter import Filter
from sordino.errors import ArgumentError, BudgetError, GrantError
from sordino.learn.run.paying import InTranches
from sordino.learn.run.plan import Recipe, TrainingPlan
from sordino.learn.run.pricing import budget_of_its_own, used_whole
from sordino.learn.run.sampling import sampler
from sordino.learn.run.tranches import Tranches


def recipe(steps: int = 10, tranche: int = 4, multiplier: Fraction = Fraction(2), way: str = "poisson") -> Recipe:
    return Recipe(
        "marks",
        so.ROW,
        sampler(way, 40, 400),
        steps,
        InTranches(tranche),
        58,
        Fraction(1),
        Fraction(1, 100),
        multiplier,
        "m",
    )


def run(tranches: Tranches, most: int = 10**9) -> int:
    done = 0
    while done < most and tranches.advance() is not None:
        tranches.step_is_run()
        done += 1
    return done


def test_each_tranche_is_its_own_reservation_and_settled(tmp_path: Path) -> None:
    with so.open(tmp_path / "budget.db") as house:
        data = house.account(divided(), BUDGET)
        tranches = Tranches(data, recipe(), lambda step: f"weights after {step}")
        assert run(tranches) == 10
        assert [each.plan.steps for each in tranches.settled] == [4, 4, 2]
        assert [json.loads(each.to_json())["weights"] for each in tranches.settled] == [
            "weights after 4",
            "weights after 8",
            "weights after 10",
        ]
        assert all(each.receipt is not None for each in tranches.settled)
        assert len(data.history) == 3
        assert house.verify().sound
        assert len(tranches.settled[0].to_json()) < 1000


def test_stopping_early_ends_reserving_and_says_what_was_run() -> None:
    data = account(divided())
    tranches = Tranches(data, recipe(), lambda _: "w")
    assert run(tranches, most=5) == 5
    tranches.settle()
    assert [(each.plan.first, each.plan.steps, each.steps) for each in tranches.settled] == [(0, 4, 4), (4, 4, 1)]
    again = Tranches(data, recipe(), lambda _: "w", next_step=5)
    assert run(again) == 5
    assert [each.plan.first for each in again.settled] == [5, 9]
    assert sum(entry.event.count for entry in data.history) == 4 + 4 + 4 + 1  # type: ignore[attr-defined]


def test_what_does_not_fit_is_refused_and_the_last_tranche_stays_settled() -> None:
    data = account(divided(), so.budget(epsilon=1, delta="1e-5"))
    tranches = Tranches(data, recipe(steps=400, tranche=40, multiplier=Fraction(4)), lambda _: "w")
    with pytest.raises(BudgetError):
        run(tranches)
    assert len(tranches.settled) == len(data.history) > 0
    assert tranches.next_step == 40 * len(tranches.settled)


def test_a_failed_tranche_stays_charged() -> None:
    data = account(divided())
    tranches = Tranches(data, recipe(), lambda _: "w")
    run(tranches, most=1)
    tranches.fail(ValueError("no words of it"))
    assert tranches.settled == []
    assert len(data.history) == 1


@settings(max_examples=15)
@given(
    st.integers(1, 60),
    st.integers(1, 60),
    st.fractions(Fraction(1, 2), Fraction(8), max_denominator=8),
)
def test_tranches_cost_together_what_the_whole_costs(steps: int, tranche: int, multiplier: Fraction) -> None:
    whole = recipe(steps, min(tranche, steps), multiplier)
    one, many = Account(BUDGET), Account(BUDGET)
    rule = Filter.open(BUDGET)
    if not rule.fits(one.spent, rule.charge(whole.whole().event())):
        return
    one.begin(whole.whole())
    for plan in whole.tranches():
        many.begin(plan)
    assert max(abs(a - b) for a, b in zip(one.spent, many.spent, strict=True)) <= len(
        whole.tranches()
    )  # units rounded up


def test_a_grant_runs_its_own_tranche_alone() -> None:
    first, second = recipe().tranches()[:2]
    assert first.event() == second.event()
    assert first.digest() != second.digest()
    work = account(divided()).begin(first)
    with pytest.raises(GrantError):
        work.grant.use_for(second)
    work.grant.use_for(first)
    with pytest.raises(GrantError):
        work.grant.use_for(first)


def test_the_recipe_is_all_of_the_digest() -> None:
    base = recipe()
    others = [recipe(steps=11), recipe(tranche=5), recipe(multiplier=Fraction(3)), recipe(way="one-pass")]
    assert len({TrainingPlan(each, 0, 4).digest() for each in (base, *others)}) == 5


def test_the_noise_is_the_least_that_fits() -> None:
    way = sampler("poisson", 40, 400)
    multiplier = used_whole(lambda each: way.event(Gaussian(each**2), 100), Filter.open(BUDGET))
    assert Account(BUDGET).begin(recipe(100, 100, multiplier).whole())
    with pytest.raises(BudgetError):
        Account(BUDGET).begin(recipe(100, 100, multiplier * Fraction(99, 100)).whole())


def test_what_may_be_spent_is_said_once() -> None:
    for words in ({}, {"epsilon": 1, "rho": 1}):
        with pytest.raises(ArgumentError, match="say what the training may spend"):
            budget_of_its_own(BUDGET, words.get("epsilon"), None, words.get("rho"))
    with pytest.raises(ArgumentError, match="needs a δ"):
        budget_of_its_own(so.budget(epsilon=1), 1, None, None)
    with pytest.raises(ArgumentError, match="must not exceed"):
        budget_of_its_own(BUDGET, 1, "1e-3", None)
    assert budget_of_its_own(BUDGET, 1, None, None) == so.budget(epsilon=1, delta="1e-5")


def test_a_replaced_unit_moves_twice_the_clip_where_batches_have_a_fixed_size() -> None:
    fixed, poisson = recipe(way="fixed-size").bound, recipe().bound
    assert fixed.neighbours is so.Neighbours.REPLACE_ONE
    assert fixed.l2_squared == 4 * poisson.l2_squared
    assert poisson.l2_squared == (1 + Fraction(1, 100)) ** 2
