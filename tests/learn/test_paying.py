"""Two ways to pay: in tranches as it goes, or whole before it begins; which is cheaper; what a crash leaves charged."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn

import sordino as so
from learn.worlds import BUDGET, account, divided, model
from sordino.accounting import pld
from sordino.accounting.event import Event
from sordino.accounting.events import Declared, Gaussian, PoissonSampled, Repeated
from sordino.data.account import DataAccount
from sordino.errors import ArgumentError, BudgetError
from sordino.learn.descent.train import train
from sordino.learn.descent.training import Training
from sordino.learn.run.paying import InTranches, Whole
from sordino.learn.run.plan import Recipe
from sordino.learn.run.sampling import sampler
from sordino.learn.run.tranches import Tranches

LOSS = nn.CrossEntropyLoss()
WORDS: dict[str, Any] = {"batch": 100, "clip": 1, "epochs": 2}


def recipe(multiplier: Fraction = Fraction(3), delta: Fraction = Fraction(1, 10**6)) -> Recipe:
    way = sampler("poisson", 40, 400)
    return Recipe("marks", so.ROW, way, 10, Whole(delta), 58, Fraction(1), Fraction(1, 100), multiplier, "m")


def training(data: DataAccount[Any] | None = None, **words: Any) -> Training:
    given = divided()
    return Training(model(), LOSS, given, **({"budget": data or account(given), "epsilon": 2} | WORDS | words))


def steps_of(event: Event) -> int:
    assert isinstance(event, Declared)
    assert isinstance(event.event, Repeated)
    return event.event.count


def test_whole_is_one_reservation_of_the_epsilon_given() -> None:
    given = divided()
    data = account(given)
    run = train(model(), LOSS, given, budget=data, epsilon=2, pay="whole", **WORDS)
    (entry,) = data.history
    assert isinstance(entry.event, Declared)
    assert entry.event.delta == Fraction(1, 4 * 10**5)  # the quarter of δ that is set aside
    assert Fraction(1999, 1000) < entry.event.epsilon <= 2
    assert [each.steps for each in run.settled] == [8]


def test_the_noise_is_the_least_that_is_proven_for_it() -> None:
    multiplier = training(pay="whole", delta="1e-6").recipe.multiplier
    for factor, enough in ((1, True), (Fraction(99, 100), False)):
        run = Repeated(PoissonSampled(Gaussian((multiplier * factor) ** 2), "0.25"), 8)  # type: ignore[arg-type]
        assert (pld.epsilon(run, "1e-6") <= 2) is enough
    assert multiplier < training().recipe.multiplier


def test_noise_that_is_given_says_what_it_costs() -> None:
    event = training(epsilon=None, noise=4, pay="whole").recipe.whole().event()
    assert isinstance(event, Declared)
    assert float(event.epsilon) == pytest.approx(pld.epsilon(event.event, event.delta), rel=2e-3)
    assert float(event.epsilon) >= pld.epsilon(event.event, event.delta)


def test_an_account_that_holds_just_this_run_is_told_to_pay_whole_and_a_larger_one_to_pay_as_it_goes() -> None:
    given = divided()
    exact = training(account(given, so.budget(epsilon=2, delta="1e-5"))).ways()
    assert exact.whole is not None
    assert exact.cheaper == "whole"
    assert 0.05 < exact.saved_noise < 0.2
    assert exact.whole.cost.fits
    assert 'for the same ε, pay="whole" needs' in str(exact)
    large = training(account(given, so.budget(epsilon=20, delta="1e-5"))).ways()
    assert large.cheaper == "tranches"
    assert 'pay="tranches" takes less of this account' in str(large)


def test_the_comparison_does_not_depend_on_which_way_was_chosen() -> None:
    chosen = [training(pay=pay).ways() for pay in ("tranches", "whole")]
    assert chosen[0] == chosen[1]
    noisy = training(epsilon=None, noise=5).ways()
    assert noisy.saved_noise == 0
    assert noisy.whole is not None
    assert noisy.whole.multiplier == noisy.tranches.multiplier == 5


def test_where_whole_cannot_be_had_the_reason_is_said() -> None:
    given = divided()
    data = account(given, so.budget(epsilon=2, delta="1e-5", own_delta_share=0))
    ways = training(data).ways()
    assert ways.whole is None
    assert ways.cheaper == "tranches"
    assert "own_delta_share" in str(ways)


@pytest.mark.parametrize(
    ("budget", "words", "said"),
    [
        (so.budget(epsilon=4), {}, "this account holds none"),
        (so.budget(epsilon=4, delta="1e-5", own_delta_share=0), {}, "own_delta_share above 0"),
        (so.budget(rho=1), {}, "this account holds none"),
        (BUDGET, {"delta": "1e-5"}, "must not exceed 2.5e-06"),
        (BUDGET, {"delta": 0}, "delta"),
        (BUDGET, {"tranche": 4}, "leave one of them out"),
        (BUDGET, {"epsilon": None, "rho": 1}, "declared by its ε"),
        (BUDGET, {"epsilon": None}, "declared by its ε"),
        (BUDGET, {"pay": "later"}, "pay must be one of"),
        (BUDGET, {"pay": None}, "pay must be one of"),
    ],
)
def test_what_cannot_be_paid_whole_is_refused_with_what_to_do(
    budget: so.Budget, words: dict[str, Any], said: str
) -> None:
    data = account(divided(), budget)
    with pytest.raises(ArgumentError, match=said):
        training(data, **({"pay": "whole"} | words))
    assert data.history == ()


def test_without_a_cap_a_delta_must_be_said() -> None:
    given = divided()
    data = so.account(given, so.unlimited("a test"))
    with pytest.raises(ArgumentError, match="say delta="):
        training(data, pay="whole")
    whole = training(data, pay="whole", delta="1e-6")
    assert whole.recipe.payment == Whole(Fraction(1, 10**6))
    assert whole.ways().cheaper == "whole"  # by noise, as there is no budget to take a part of
    assert "this account" not in str(whole.ways())


def test_a_run_that_is_too_much_is_refused_and_nothing_is_charged() -> None:
    data = account(divided(), so.budget(epsilon=1, delta="1e-5"))
    with pytest.raises(BudgetError), training(data, pay="whole", epsilon=2) as steps:
        next(iter(steps))
    assert data.history == ()


def run(tranches: Tranches, most: int = 10**9) -> int:
    done = 0
    while done < most and tranches.advance() is not None:
        tranches.step_is_run()
        done += 1
    return done


def test_stopping_early_leaves_all_of_it_charged() -> None:
    data = account(divided())
    tranches = Tranches(data, recipe(), lambda _: "w")
    assert run(tranches, most=3) == 3
    spent = data.account.spent
    tranches.settle()
    assert [(each.plan.steps, each.steps) for each in tranches.settled] == [(10, 3)]
    assert data.account.spent == spent


@pytest.mark.parametrize(
    "end", [lambda tranches: tranches.fail(ValueError()), lambda tranches: tranches.settle(), lambda _: None]
)
def test_what_is_left_after_a_crash_is_declared_and_charged_anew(end: Callable[[Tranches], None]) -> None:
    data = account(divided())
    tranches = Tranches(data, recipe(), lambda _: "w")
    run(tranches, most=4)
    end(tranches)
    again = Tranches(data, recipe(), lambda _: "w", next_step=2)  # the checkpoint was two steps behind
    assert run(again) == 8
    first, second = (entry.event for entry in data.history)
    assert (steps_of(first), steps_of(second)) == (10, 8)
    assert isinstance(first, Declared)
    assert isinstance(second, Declared)
    assert second.epsilon < first.epsilon
    assert data.account.spent[0] == 2 * 10**12  # both have a δ of their own
    run_in_all, charged = 4 + 8, 10 + 8
    assert run_in_all <= charged


def test_a_second_run_that_finds_no_own_delta_left_is_refused() -> None:
    data = account(divided())
    once = recipe(delta=Fraction(2, 10**6))
    run(Tranches(data, once, lambda _: "w"))
    with pytest.raises(BudgetError):
        run(Tranches(data, once, lambda _: "w"))
    assert len(data.history) == 1


def test_a_checkpoint_goes_on_however_it_is_paid(tmp_path: Path) -> None:
    path = tmp_path / "run.npz"
    first = training(pay="whole", checkpoint=path)
    optimizer = torch.optim.SGD(first.model.parameters(), lr=0.1)
    with first as steps:
        for step in steps:
            step.gradient()
            optimizer.step()
            if step.number == 2:
                break
    data = account(divided())
    noise = first.recipe.multiplier
    again = training(data, epsilon=None, noise=noise, checkpoint=path, tranche=2)
    with again as steps:
        assert again.step == 3
        for step in steps:
            step.gradient()
    assert [each.plan.steps for each in again.settled] == [2, 2, 1]
    with pytest.raises(ArgumentError, match="another training"), training(noise=2, epsilon=None, checkpoint=path):
        pass


@pytest.mark.parametrize("pay", ["tranches", "whole"])
def test_under_replace_one_the_epsilon_given_is_the_epsilon_spent(pay: str) -> None:
    given = divided(neighbours=so.Neighbours.REPLACE_ONE)
    data = account(given, so.budget(epsilon=2, delta="1e-5"))
    said = Training(model(), LOSS, given, budget=data, epsilon=2, batch=20, clip=1, steps=20, pay=pay)
    cost = said.price()
    assert cost.fits
    assert float(cost.part or 0) > 0.99
    apart = Training(
        model(), LOSS, divided(), budget=account(divided()), epsilon=2, batch=20, clip=1, steps=20, pay=pay
    )
    assert said.recipe.multiplier > apart.recipe.multiplier * Fraction(21, 20)


def test_tranches_and_whole_know_their_length() -> None:
    assert (InTranches(4).length(10), InTranches(4).length(3), Whole(Fraction(1, 10**6)).length(10)) == (4, 3, 10)
