"""Prices, found again: an owner who changes the accounting is found out by whoever holds a receipt."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from ledger.samples import TENTH, TRIPS, request, reserved, rule
from sordino.accounting.budget import budget
from sordino.accounting.columns import Vector
from sordino.accounting.events import Composed, Gaussian, Laplace
from sordino.accounting.neighbours import Neighbours
from sordino.errors import LedgerError
from sordino.ledger.decisions import Request
from sordino.ledger.entries import Budgeted, Opened, from_bytes
from sordino.ledger.ledger import Ledger
from sordino.ledger.receipt import Placed, Receipt, verify_receipt
from sordino.ledger.repricing import repriced
from sordino.ledger.reservation import Reservation
from sordino.ledger.rule import Rule
from sordino.ledger.scope import Scope

BUDGET = budget(epsilon=1, delta="1e-6")
NOISE = Gaussian(variance=1)
RIDERS = Scope("group", "riders")
ANN = Scope("analyst", "ann")


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[Ledger]:
    with Ledger.open(tmp_path / "ledger.db") as opened:
        opened.open_scope(RIDERS, rule(budget(epsilon=3, delta="1e-6")), by="owner")
        opened.open_scope(TRIPS, rule(BUDGET, groups=("riders",)), by="owner")
        yield opened


def cheap(columns: slice, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the ledger charge nothing in some columns, as an owner can who changes the accounting."""
    real = Request.price_in

    def price_in(self: Request, by: Rule, held: Neighbours) -> Vector:
        found = list(real(self, by, held))
        found[columns] = [0] * len(found[columns])
        return tuple(found)

    monkeypatch.setattr(Request, "price_in", price_in)


def settled(ledger: Ledger, event: object = NOISE) -> Receipt:
    found = ledger.reserve(request(event))  # type: ignore[arg-type]
    assert isinstance(found, Reservation)
    return ledger.settle(found, b"answer")


def judged(receipt: Receipt, ledger: Ledger) -> tuple[list[str], list[str], list[str]]:
    facts = verify_receipt(Receipt.from_json(receipt.to_json()), ledger.key.text)
    return repriced(facts.reserved, facts.rules)


def test_an_honest_receipt_is_priced_again_in_every_column(ledger: Ledger) -> None:
    width = len(ledger.look(lambda state: state.balance(TRIPS).rule.caps))
    for event in (Gaussian(variance=900), Laplace(scale=50), Composed((TENTH, Gaussian(variance=800)))):
        covered, short, unchecked = judged(settled(ledger, event), ledger)
        assert covered[0] == f"data set 'trips' in all of its {width} columns"
        assert covered[1].startswith("group 'riders' in all of its ")
        assert (len(covered), short, unchecked) == (2, [], [])
    assert ledger.verify(reprice=True).sound
    assert ledger.verify(reprice=True).repriced


@pytest.mark.parametrize("columns", [slice(1, -1), slice(5, 6), slice(1, 2)], ids=str)
def test_fifty_gaussians_under_an_epsilon_of_one_are_found_out(
    ledger: Ledger, columns: slice, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        cheap(columns, patch)
        receipts = [settled(ledger) for _ in range(50 if columns == slice(1, -1) else 1)]
    assert ledger.verify().sound  # for it replays charges, whatever they are
    covered, short, _ = judged(receipts[-1], ledger)
    assert covered == []
    assert "data set 'trips' was charged less than its event costs, in Rényi ε of order" in short[0]
    assert "group 'riders'" in short[1]
    report = ledger.verify(reprice=True)
    assert {problem.code for problem in report.problems} == {"SRD-L074"}
    assert report.problems[0].position == 2
    assert not report.sound
    assert ledger.frozen is None  # a newer version may price an event higher than the one that charged it


def test_the_newest_budget_before_the_charge_is_shown(ledger: Ledger) -> None:
    ledger.set_budget(TRIPS, budget(epsilon=2, delta="1e-6"), "owner", "more")
    ledger.set_budget(TRIPS, budget(epsilon=3, delta="1e-6"), "owner", "still more")
    held = reserved(ledger)
    ledger.set_budget(TRIPS, budget(epsilon=4, delta="1e-6"), "owner", "later")
    receipt = ledger.settle(held, b"answer")
    for found in (receipt, ledger.receipt(held.id)):
        shown = [from_bytes(placed.entry) for placed in found.rules]
        assert [(type(entry), entry.sequence) for entry in shown] == [(Opened, 1), (Budgeted, 3), (Opened, 0)]
        facts = verify_receipt(found, ledger.key.text)
        assert facts.rules["dataset:trips"].budget == budget(epsilon=3, delta="1e-6")


def test_budgets_are_shown_after_a_restart_from_a_snapshot(ledger: Ledger, tmp_path: Path) -> None:
    ledger.set_budget(TRIPS, budget(epsilon=2, delta="1e-6"), "owner", "more")
    with ledger._session.turn():
        ledger._session._write_snapshot()
    ledger.close()
    with Ledger.open(tmp_path / "ledger.db") as again:
        assert again._session._snapshot == 3
        assert [from_bytes(each.entry).sequence for each in settled(again, TENTH).rules] == [1, 2, 0]
        assert again.verify().sound


def test_what_a_policy_charges_is_called_not_checked(ledger: Ledger) -> None:
    ledger.open_scope(ANN, Rule.open(budget(epsilon=1, delta="1e-6")), by="owner")
    covered, short, unchecked = judged(settled(ledger, TENTH), ledger)
    assert (len(covered), short, unchecked) == (2, [], ["analyst 'ann'"])
    assert ledger.verify(reprice=True).sound


def test_a_receipt_without_a_rule_or_with_others_does_not_hold(ledger: Ledger) -> None:
    first = settled(ledger, TENTH)
    ledger.open_scope(Scope("dataset", "other"), rule(BUDGET), by="owner")
    ledger.set_budget(TRIPS, budget(epsilon=2, delta="1e-6"), "owner", "later")
    receipt = ledger.receipt(from_bytes(first.reserved).id)  # type: ignore[attr-defined]
    trips, riders = receipt.rules
    other, later, charge = (Placed(ledger.entry(position), ledger.inclusion(position)) for position in (4, 5, 2))
    for rules in ((), (trips,), (riders,), (trips, riders, riders), (trips, riders, other), (trips, riders, later)):
        with pytest.raises(LedgerError, match="SRD-L009"):
            verify_receipt(replace(receipt, rules=rules), ledger.key.text)
    for rules in ((trips, riders, charge), (trips._replace(proof=riders.proof), riders)):
        with pytest.raises(LedgerError, match="SRD-L009"):
            verify_receipt(replace(receipt, rules=rules), ledger.key.text)
    assert verify_receipt(replace(receipt, rules=(riders, trips)), ledger.key.text)


def test_all_receipts_of_a_checkpoint_share_their_proofs(ledger: Ledger) -> None:
    ids = [reserved(ledger).id for _ in range(3)]
    for identifier in ids:
        ledger.settle(identifier, b"answer")
    shown = [ledger.receipt(identifier).rules for identifier in ids]
    assert shown[0][0].proof is shown[1][0].proof is shown[2][0].proof
