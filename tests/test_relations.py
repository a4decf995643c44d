"""One budget for people in several data sets of any relation: replace-one takes add/remove at its own price."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import sordino as so
from sordino.accounting.bound import Bound, Unit
from sordino.accounting.budget import Budget
from sordino.accounting.events import DiscreteLaplace, Pure, RandomizedResponse
from sordino.accounting.neighbours import Neighbours
from sordino.data.declarations_file import dataset_from_file
from sordino.errors import ArgumentError, LedgerError
from sordino.ledger.entries import Opened, Reserved
from sordino.ledger.rule import Rule
from sordino.ledger.scope import Scope
from sordino.serve.local import House
from works import Noisy, Rehearsal

RIDER = Unit("rider")
REPLACED = Bound.scalar(neighbours=Neighbours.REPLACE_ONE, unit=RIDER)
COUNT = "SELECT COUNT(*) AS n FROM rides"
GROUP = Scope("group", "riders")


@dataclass(frozen=True)
class Survey:
    """Answers of riders, each by randomized response: how many answered is public."""

    name: str = "survey"
    unit: Unit = RIDER
    neighbours: Neighbours = Neighbours.REPLACE_ONE


def rides(neighbours: Neighbours = Neighbours.ADD_REMOVE, **words: Any) -> Any:
    table = pa.table({"rider": [1, 2, 3], "day": ["2026-11-02"] * 3})
    return so.dataset("rides", table, unit="rider", limits=so.limits(rows=1), neighbours=neighbours, **words)


@pytest.fixture
def house(tmp_path: Path) -> Iterator[House]:
    with so.open(tmp_path / "budget.db") as opened:
        yield opened


def grouped(house: House, neighbours: Neighbours, budget: Budget) -> None:
    house.ledger.open_scope(GROUP, Rule.open(budget, unit="rider", neighbours=neighbours), "office")


def spent(house: House, scope: Scope) -> Fraction:
    return Fraction(house.ledger.look(lambda state: state.lifetime(scope))[-1], 10**12)


def test_a_survey_and_a_table_share_one_budget(house: House) -> None:
    grouped(house, Neighbours.REPLACE_ONE, so.budget(epsilon=4))
    groups = ("riders",)
    survey = house.account(Survey(), so.budget(epsilon=4), groups=groups)
    table = house.account(rides(), so.budget(epsilon=4), groups=groups)
    response = RandomizedResponse(1)
    survey.carry_out(Rehearsal(REPLACED, run=response), lambda _: Noisy("yes"))
    table.sql(COUNT).run(epsilon=Fraction(1, 2))
    assert spent(house, Scope("dataset", "survey")) == 1
    assert spent(house, Scope("dataset", "rides")) == Fraction(1, 2)
    assert spent(house, GROUP) == 2, "the table's ½ counts twice where a rider is replaced"
    _, second = (entry for entry in house.ledger.entries() if isinstance(entry, Reserved))
    assert second.neighbours == "add-remove", "the entry says what was run"
    assert second.bound.neighbours is Neighbours.ADD_REMOVE
    assert house.ledger.verify(reprice=True).sound
    with pytest.raises(so.errors.BudgetError, match="epsilon=1 would fit"):  # type: ignore[attr-defined]
        table.sql(COUNT).run(epsilon="1.1")
    table.sql(COUNT).run(epsilon=1)
    assert spent(house, GROUP) == 4


def test_the_price_of_the_group_covers_an_enumerated_instance(house: House) -> None:
    """Two riders, each with an answer (yes or no) and a number from −1 to 1; both answers by randomized response, and
    the sum of the numbers with discrete Laplace noise; all pairs in which one rider is replaced, all outputs."""
    grouped(house, Neighbours.REPLACE_ONE, so.budget(epsilon=4))
    survey = house.account(Survey(), so.budget(epsilon=4), groups=("riders",))
    table = house.account(Survey("rides", neighbours=Neighbours.ADD_REMOVE), so.budget(epsilon=4), groups=("riders",))
    survey.carry_out(Rehearsal(REPLACED, run=RandomizedResponse(_SURVEY)), lambda _: Noisy("yes"))
    table.carry_out(Rehearsal(Bound.scalar(unit=RIDER), run=DiscreteLaplace(_SCALE)), lambda _: Noisy("3"))
    riders = list(product((0, 1), (-1, 0, 1)))
    worst = max(
        math.log(_chance((one, other), output) / _chance((replaced, other), output))
        for one, replaced, other in product(riders, repeat=3)
        for output in product((0, 1), (0, 1), range(-6, 7))
    )
    charged = float(spent(house, GROUP))
    assert worst <= charged + 1e-9
    assert worst >= charged - 1e-9, "and the price is that of the worst pair"


_SURVEY, _SCALE = Fraction(7, 10), 2


def _chance(riders: Any, output: tuple[int, int, int]) -> float:
    """Return the probability of two reports and a noisy sum."""
    *reports, shown = output
    honest = 1 / (1 + math.exp(-_SURVEY))
    kept = [honest if answer == report else 1 - honest for (answer, _), report in zip(riders, reports, strict=True)]
    ratio = math.exp(-1 / _SCALE)
    total = sum(number for _, number in riders)
    return math.prod(kept) * (1 - ratio) / (1 + ratio) * ratio ** abs(shown - total)


def test_the_reverse_is_refused_with_the_reason(house: House) -> None:
    grouped(house, Neighbours.ADD_REMOVE, so.budget(epsilon=4))
    house.account(rides(), so.budget(epsilon=1), groups=("riders",))
    with pytest.raises(LedgerError, match="only a group under replace-one takes members under add-remove"):
        house.account(Survey(), so.budget(epsilon=1), groups=("riders",))


def test_members_of_a_group_name_one_unit(house: House) -> None:
    grouped(house, Neighbours.REPLACE_ONE, so.budget(epsilon=4))
    with pytest.raises(LedgerError, match="all members of a group name one unit"):
        house.account(Survey(unit=Unit("patient")), so.budget(epsilon=1), groups=("riders",))


@pytest.mark.parametrize("where", ["memory", "ledger"])
def test_a_table_that_is_declared_replace_one_is_charged_at_that_price(where: str, house: House) -> None:
    declared, budget = rides(Neighbours.REPLACE_ONE), so.budget(epsilon=1)
    data = so.account(declared, budget) if where == "memory" else house.account(declared, budget)
    ask = data.sql(COUNT)
    assert "100 % of the budget" in ask.price(epsilon=0.5).charge
    assert not ask.price(epsilon=0.6).fits
    with pytest.raises(so.errors.BudgetError, match=r"epsilon=0\.5 would fit"):  # type: ignore[attr-defined]
        ask.run(epsilon=0.6)
    ask.run(epsilon=0.25)
    assert data.account.used == 0.5
    (entry,) = data.history
    assert entry.bound.neighbours is Neighbours.ADD_REMOVE
    assert data.account.protects == (RIDER, Neighbours.REPLACE_ONE)


def test_the_relation_is_fixed_with_the_budget(house: House) -> None:
    house.account(rides(Neighbours.REPLACE_ONE), so.budget(epsilon=1))
    opened = next(house.ledger.entries())
    assert isinstance(opened, Opened)
    assert opened.rule.neighbours is Neighbours.REPLACE_ONE
    assert house.account(rides()).account.protects[1] is Neighbours.REPLACE_ONE, "declared otherwise, charged as opened"
    house.account(Survey("other", neighbours=Neighbours.ADD_REMOVE), so.budget(epsilon=1))
    with pytest.raises(ArgumentError, match="do not add up"):
        house.account(Survey("other"))


def test_files_of_declarations_say_it_too(tmp_path: Path) -> None:
    declared = rides(Neighbours.REPLACE_ONE)
    assert "neighbours: replace-one" in declared.to_yaml()
    assert "neighbours" not in rides().to_yaml()
    assert "under replace-one" in repr(declared)
    path = tmp_path / "rides.yaml"
    path.write_text(declared.to_yaml())
    table = pa.table({"rider": [1, 2, 3], "day": ["2026-11-02"] * 3})
    assert dataset_from_file(path, {"rides": table}).neighbours is Neighbours.REPLACE_ONE
    for nonsense in ("anything", "[]"):
        path.write_text(declared.to_yaml().replace("replace-one", nonsense))
        with pytest.raises(ArgumentError, match="replace-one"):
            dataset_from_file(path, {"rides": table})


def test_an_analyst_with_a_budget_counts_what_the_data_set_counts(house: House) -> None:
    house.ledger.open_scope(Scope("analyst", "ada"), Rule.open(so.budget(epsilon=3)), "office")
    house.account(rides(Neighbours.REPLACE_ONE), so.budget(epsilon=3), analyst="ada").sql(COUNT).run(epsilon=0.5)
    assert spent(house, Scope("analyst", "ada")) == spent(house, Scope("dataset", "rides")) == 1
    assert house.ledger.verify(reprice=True).sound


def test_what_has_no_replace_one_price_is_refused_before_the_charge(house: House) -> None:
    data = house.account(Survey(), so.budget(epsilon=3))
    with pytest.raises(ArgumentError):
        data.begin(Rehearsal(Bound.scalar(unit=RIDER, neighbours=Neighbours.ZERO_OUT), run=Pure(1)))
    assert len(list(house.ledger.entries())) == 1
