"""Reservations under one idempotency key: numbered, found again by any process, judged as a whole by the policy."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest

import sordino as so
from sordino.accounting.bound import ROW, Bound
from sordino.accounting.events import Gaussian, Repeated
from sordino.accounting.neighbours import Neighbours
from sordino.accounting.plan import Single
from sordino.errors import BudgetError
from sordino.gate import ApprovalError, Gate, Policy
from sordino.learn.run.examples import examples
from sordino.ledger.account import LedgerAccount
from sordino.ledger.chain import Chain
from sordino.ledger.scope import Scope
from sordino.serve.local import House

KEY, ASKED = "a" * 64, "b" * 64
STEP = Gaussian(400)
WHOLE = Repeated(STEP, 10)
PLAN = Single(STEP, Bound.scalar(1, unit=ROW))
ADDED = Neighbours.ADD_REMOVE


@dataclass(frozen=True)
class Said:
    number: int
    receipt: Any = None
    files: ClassVar[dict[str, bytes]] = {}

    def to_json(self) -> str:
        return str(self.number)

    def with_receipt(self, receipt: Any) -> Said:
        return Said(self.number, receipt)


@pytest.fixture
def house(tmp_path: Path) -> Iterator[House]:
    with so.open(tmp_path / "budget.db") as opened:
        opened.account(examples("d", np.zeros((1, 1)), size=1), so.budget(epsilon=2, delta="1e-5"))
        yield opened


def gate(house: House, **words: Any) -> Gate:
    return Gate(LedgerAccount(house.ledger, Scope("dataset", "d"), "ann"), key=KEY, asked=ASKED, **words)


def test_each_is_charged_by_itself_and_all_are_found_again(house: House) -> None:
    tranches = gate(house).in_tranches(WHOLE, ADDED)
    assert tranches.chain is not None
    assert tranches.chain.newest() is None
    for number in range(3):
        tranches.begin(PLAN).finish(Said(number))
    elsewhere = Chain(house.ledger, KEY)
    newest = elsewhere.newest()
    assert newest is not None
    assert (newest.release, newest.request) == (b"2", ASKED)
    assert elsewhere.events() == [STEP] * 3
    assert house.ledger.replayed(KEY) is None  # the key itself stands for all of them, and for none
    again = gate(house).in_tranches(WHOLE, ADDED)
    work = again.begin(PLAN)
    assert (len(elsewhere.events()), elsewhere.newest().running) == (4, True)  # type: ignore[union-attr]
    elsewhere.settle_left(Said(3))
    assert elsewhere.newest().release == b"3"  # type: ignore[union-attr]
    elsewhere.fail_left("SRD-R009")  # nothing is left
    assert work.id == elsewhere.newest().id  # type: ignore[union-attr]
    again.begin(PLAN)
    elsewhere.fail_left("SRD-R009")
    assert elsewhere.newest().failed  # type: ignore[union-attr]
    assert house.verify().sound


def test_the_policy_judges_the_whole_once(house: House) -> None:
    part = gate(house).price(WHOLE, ADDED).part
    assert part is not None
    small = gate(house).price(STEP, ADDED).part
    assert small is not None
    with pytest.raises(ApprovalError):
        gate(house, policy=Policy(approval=part / 2)).in_tranches(WHOLE, ADDED)
    with pytest.raises(BudgetError):
        gate(house, policy=Policy(most=part / 2)).in_tranches(WHOLE, ADDED)
    least = Policy(least=2 * small, pause=1000)
    tranches = gate(house, policy=least).in_tranches(WHOLE, ADDED)
    for number in range(2):  # neither too small nor too soon: the whole was let in
        tranches.begin(PLAN).finish(Said(number))
    gate(house, policy=Policy(approval=part / 2)).in_tranches(WHOLE, ADDED).begin(PLAN)  # it was let in before
    with pytest.raises(BudgetError, match="pause"):
        Gate(tranches.account, key="c" * 64, policy=Policy(pause=1000)).in_tranches(WHOLE, ADDED).begin(PLAN)


def test_a_whole_that_does_not_fit_is_not_begun(house: House) -> None:
    with pytest.raises(BudgetError) as refused:
        gate(house).in_tranches(Repeated(STEP, 10**6), ADDED)
    assert refused.value.code == "SRD-B001"
    assert house.ledger.look(lambda state: state.size) == 1
