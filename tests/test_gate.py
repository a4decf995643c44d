"""The gate: policy before the charge, the charge before the data, and what became of it written down."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import sordino as so
from sordino.data.dataset import Dataset
from sordino.errors import ArgumentError, BudgetError, ConflictError, LedgerError, RunError
from sordino.gate import ApprovalError, Gate, Policy
from sordino.ledger.account import LedgerAccount, ReplayedError
from sordino.ledger.entries import Entry, Failed, Reserved, Settled
from sordino.ledger.receipt import verify_receipt
from sordino.ledger.scope import Scope
from sordino.query.ask import TableAccount
from sordino.serve.local import House

QUESTION = "SELECT COUNT(*) AS rides FROM rides"


@pytest.fixture(scope="module")
def rides() -> Dataset:
    table = pa.table({"rider": [1, 1, 2, 3], "fare": [9.0, 5.0, 7.0, 8.0]})
    return so.dataset("rides", table, unit="rider", columns={"fare": so.bounds(0, 100)}, limits=so.limits(rows=2))


@pytest.fixture
def house(tmp_path: Path) -> Iterator[House]:
    with so.open(tmp_path / "budget.db") as opened:
        yield opened


def entries(house: House) -> list[Entry]:
    return list(house.ledger.entries())


def gated(house: House, rides: Dataset, **words: Any) -> TableAccount:
    house.account(rides, so.budget(epsilon=1))
    account = LedgerAccount(house.ledger, Scope("dataset", "rides"), "ada")
    return TableAccount(rides, Gate(account, **words))


def test_an_answer_is_charged_first_and_settled_with_a_receipt_that_verifies(house: House, rides: Dataset) -> None:
    stages: list[str] = []
    answer = gated(house, rides, stage=stages.append).sql(QUESTION).run(epsilon=0.25)
    assert stages == ["planned", "reserved", "settled"]
    _, reserved, settled = entries(house)
    assert isinstance(reserved, Reserved)
    assert isinstance(settled, Settled)
    assert settled.release == hashlib.sha256(answer.to_json().encode()).hexdigest()
    facts = verify_receipt(answer.receipt, house.ledger.key.text, answer.to_json().encode())
    assert facts.checkpoint.size == 3
    assert house.verify().sound


def test_a_run_that_fails_keeps_its_charge_and_says_only_that(
    house: House, rides: Dataset, monkeypatch: pytest.MonkeyPatch
) -> None:
    data, stages = gated(house, rides, stage=lambda stage: stages.append(stage)), []
    monkeypatch.setattr(TableAccount, "compute", lambda *_: 1 / 0)
    with pytest.raises(RunError) as caught:
        data.sql(QUESTION).run(epsilon=0.25)
    assert "zero" not in str(caught.value)
    assert stages == ["planned", "reserved", "failed"]
    failed = entries(house)[-1]
    assert isinstance(failed, Failed)
    assert failed.code == caught.value.code
    assert data.account.used == 0.25


def test_an_interrupt_is_written_down_as_a_failure(
    house: House, rides: Dataset, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    data = gated(house, rides)
    monkeypatch.setattr(TableAccount, "compute", interrupted)
    with pytest.raises(KeyboardInterrupt):
        data.sql(QUESTION).run(epsilon=0.25)
    assert isinstance(entries(house)[-1], Failed)


@pytest.mark.parametrize(
    ("policy", "epsilon", "code"),
    [
        (Policy(least=Fraction(1, 10)), 0.05, "SRD-B004"),
        (Policy(most=Fraction(1, 2)), 0.6, "SRD-B004"),
        (Policy(approval=Fraction(1, 4)), 0.5, "SRD-B005"),
    ],
)
def test_a_policy_refuses_before_anything_is_charged(
    house: House, rides: Dataset, policy: Policy, epsilon: float, code: str
) -> None:
    data = gated(house, rides, policy=policy)
    with pytest.raises(BudgetError) as caught:
        data.sql(QUESTION).run(epsilon=epsilon)
    assert caught.value.code == code
    assert len(entries(house)) == 1
    data.sql(QUESTION).run(epsilon=0.25)


def test_what_the_owner_approved_is_run(house: House, rides: Dataset) -> None:
    policy = Policy(approval=Fraction(1, 4))
    with pytest.raises(ApprovalError):
        gated(house, rides, policy=policy).sql(QUESTION).run(epsilon=0.5)
    gated(house, rides, policy=policy, approved=True).sql(QUESTION).run(epsilon=0.5)


def test_a_pause_between_two_releases(house: House, rides: Dataset) -> None:
    data = gated(house, rides, policy=Policy(pause=3600))
    data.sql(QUESTION).run(epsilon=0.1)
    with pytest.raises(BudgetError, match=r"3600 s.*SRD-B003"):
        data.sql(QUESTION).run(epsilon=0.1)
    bob = LedgerAccount(house.ledger, Scope("dataset", "rides"), "bob")
    other = TableAccount(rides, Gate(bob, policy=Policy(pause=3600)))
    other.sql(QUESTION).run(epsilon=0.1)
    assert data.account.used == 0.2


def test_what_does_not_fit_is_refused_or_answered_for_what_does(house: House, rides: Dataset) -> None:
    gated(house, rides).sql(QUESTION).run(epsilon=0.75)
    with pytest.raises(BudgetError, match=r"epsilon=0.25 would fit.*SRD-B001"):
        gated(house, rides).sql(QUESTION).run(epsilon=0.5)
    degrading = gated(house, rides, policy=Policy(degrade=True))
    answer = degrading.sql(QUESTION).run(epsilon=0.5)
    assert "asked for epsilon = 0.5, and answered for the 0.25" in answer.notes[-1]
    assert answer.details["price"]["epsilon"] == "1/4"
    verify_receipt(answer.receipt, house.ledger.key.text, answer.to_json().encode())
    assert degrading.account.used == 1
    with pytest.raises(BudgetError, match="nothing of it would fit"):
        degrading.sql(QUESTION).run(epsilon=0.5)


def test_a_key_gives_the_same_answer_without_a_second_charge(house: House, rides: Dataset) -> None:
    key, asked = (hashlib.sha256(text).hexdigest() for text in (b"key", b"asked"))
    answer = gated(house, rides, key=key, asked=asked).sql(QUESTION).run(epsilon=0.25)
    with pytest.raises(ReplayedError) as caught:
        gated(house, rides, key=key, asked=asked).sql(QUESTION).run(epsilon=0.25)
    assert caught.value.replay.release == answer.to_json().encode()
    with pytest.raises(ConflictError):
        gated(house, rides, key=key, asked=key).sql(QUESTION).run(epsilon=0.25)
    assert gated(house, rides).account.used == 0.25


def test_a_budget_outlives_the_process_and_is_raised_with_a_reason(tmp_path: Path, rides: Dataset) -> None:
    with so.open(tmp_path / "budget.db") as house:
        house.account(rides, so.budget(epsilon=1)).sql(QUESTION).run(epsilon=0.75)
    with so.open(tmp_path / "budget.db") as house:
        data = house.account(rides)
        assert data.account.used == 0.75
        with pytest.raises(BudgetError):
            data.sql(QUESTION).run(epsilon=0.5)
        house.raise_budget("rides", so.budget(epsilon=2), reason="the second year", by="office")
        assert data.sql(QUESTION).run(epsilon=0.5)
        with pytest.raises(LedgerError, match="raise_budget"):
            house.account(rides, so.budget(epsilon=1))


def test_a_data_set_without_a_budget_is_refused(house: House, rides: Dataset) -> None:
    with pytest.raises(LedgerError, match=r"budget\(epsilon=1\)"):
        house.account(rides)
    with pytest.raises(ArgumentError, match="dataset"):
        house.account("rides")  # type: ignore[arg-type]
    assert "House(Ledger(" in repr(house)


@pytest.mark.parametrize("words", [{"least": -1}, {"most": 2}, {"approval": "much"}, {"pause": -1}, {"pause": 0.5}])
def test_a_policy_that_cannot_be(words: dict[str, Any]) -> None:
    with pytest.raises(ArgumentError):
        Policy(**words)


def test_a_release_says_all_of_itself_in_json(house: House, rides: Dataset) -> None:
    data = house.account(rides, so.budget(epsilon=1000))
    answer = data.sql("SELECT AVG(fare) AS fare FROM rides").run(epsilon=500)  # so that no mean is blank
    body = json.loads(answer.to_json())
    (column,) = body["columns"]
    assert column["name"] == "fare"
    assert column["low"][0] <= column["values"][0] <= column["high"][0]
    assert body["notes"] == answer.notes
    assert body["details"] == answer.details
