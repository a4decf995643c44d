"""Receipts: they hold offline, with the public key alone, and every change is named."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sordino.accounting.budget import budget
from sordino.accounting.neighbours import Neighbours
from sordino.errors import ArgumentError, LedgerError
from sordino.ledger.canonical import encode
from sordino.ledger.checkpoint import Checkpoint
from sordino.ledger.entries import Charge, Entry, Failed, Opened, Reserved, Settled, to_bytes
from sordino.ledger.keys import SigningKey
from sordino.ledger.note import sign
from sordino.ledger.receipt import Placed, Receipt, release_digest, verify_receipt
from sordino.ledger.rule import Rule
from sordino.ledger.scope import Scope
from sordino.ledger.tree import Frontier, aligned, inclusion_proof, leaf_hashes, root_of

KEY = SigningKey.generate("example.org/ledger")
FOREIGN = SigningKey.generate("example.org/ledger")
TRUSTED = KEY.verifier.text
BODY = '{"count":"1043","within":"±12"}'.encode()
OPENING, CHARGE, SETTLEMENT, SIZE = 2, 5, 8, 11


def charge(position: int, time: int = 1_700_000_000_000) -> Reserved:
    return Reserved(
        sequence=position,
        time=time,
        id=f"{position}-{'0123456789abcdef'}",
        charges=(
            Charge(Scope("analyst", "ann"), (), (0, 100_000_000_000)),
            Charge(Scope("dataset", "trips"), (), (0, 100_000_000_000)),
        ),
        event='{"kind":"laplace","scale":"10"}',
        unit="(person, day)",
        neighbours=Neighbours.ADD_REMOVE.value,
        norms="1 1 1 1",
        analyst="ann",
        project=None,
        what="query",
        plan="a" * 64,
        key=None,
        request="b" * 64,
    )


def opening(position: int, name: str = "trips", **words: Any) -> Opened:
    rule = Rule.open(budget(epsilon=1), unit="(person, day)", neighbours=Neighbours.ADD_REMOVE, **words)
    return Opened(position, 1, Scope("dataset", name), rule, "owner")


def settlement(of: Reserved, position: int, body: bytes = BODY, time: int | None = None) -> Settled:
    return Settled(position, of.time if time is None else time, of.id, release_digest(body))


def ledger_with(**changes: Entry) -> list[Entry]:
    """Return eleven entries: charges, with what opened their data set before, and the settlement of 5 at position 8."""
    entries: list[Entry] = [charge(position) for position in range(SIZE)]
    entries[OPENING] = opening(OPENING)
    entries[SETTLEMENT] = settlement(charge(CHARGE), SETTLEMENT)
    for name, entry in changes.items():
        entries[int(name.removeprefix("at_"))] = entry
    return entries


def receipt_of(
    entries: list[Entry],
    first: int = CHARGE,
    second: int = SETTLEMENT,
    signer: SigningKey = KEY,
    rules: tuple[int, ...] = (OPENING,),
    **changes: Any,
) -> Receipt:
    """Return the receipt that a ledger of these entries would give."""
    data = [to_bytes(entry) for entry in entries]
    leaves = leaf_hashes(data)

    def subtree(start: int, end: int) -> bytes:
        return root_of(leaves[start:end])

    size = len(entries)
    checkpoint = Checkpoint(
        "example.org/ledger", size, Frontier(size, tuple(subtree(*e) for e in aligned(0, size))).root
    )
    made = Receipt(
        reserved=data[first],
        reserved_proof=inclusion_proof(first, size, subtree),
        settled=data[second],
        settled_proof=inclusion_proof(second, size, subtree),
        checkpoint=checkpoint.sign(signer),
        key=TRUSTED,
        release=BODY,
        rules=tuple(Placed(data[at], inclusion_proof(at, size, subtree)) for at in rules),
    )
    return replace(made, **changes)


RECEIPT = receipt_of(ledger_with())


def refusal(receipt: Receipt, key: str = TRUSTED, release: bytes | None = None) -> LedgerError:
    with pytest.raises(LedgerError) as caught:
        verify_receipt(receipt, key, release)
    return caught.value


def test_a_receipt_holds_and_says_what_was_paid() -> None:
    facts = verify_receipt(Receipt.from_json(RECEIPT.to_json()), TRUSTED)
    assert facts.reserved == charge(CHARGE)
    assert facts.settled.release == release_digest(BODY)
    assert facts.checkpoint.size == SIZE
    assert facts.release == BODY
    assert str(facts) == (
        "example.org/ledger charged analyst 'ann', data set 'trips' at position 5 for a query of ann, which protects "
        f"each (person, day) under {charge(CHARGE).neighbours}, and settled it at position 8 with the release "
        f"{release_digest(BODY)}"
    )


def test_a_receipt_without_the_release_proves_its_digest() -> None:
    closed = replace(RECEIPT, release=None)
    assert verify_receipt(closed, TRUSTED).release is None
    assert verify_receipt(closed, TRUSTED, BODY).release == BODY
    assert "altered" in refusal(closed, release=BODY + b" ").message
    assert BODY.decode() not in closed.to_json()


def test_an_altered_release_is_named() -> None:
    error = refusal(replace(RECEIPT, release=BODY.replace(b"1043", b"1044")))
    assert (error.code, error.message[:23]) == ("SRD-L010", "the release was altered")
    assert refusal(RECEIPT, release=b"").code == "SRD-L010"


def test_a_key_of_another_is_named() -> None:
    assert "is from the ledger with the key" in refusal(RECEIPT, FOREIGN.verifier.text).message
    assert refusal(replace(RECEIPT, key=FOREIGN.verifier.text)).code == "SRD-L009"
    assert refusal(RECEIPT, "no key").code == "SRD-L003"


def test_a_checkpoint_by_another_is_named() -> None:
    assert refusal(receipt_of(ledger_with(), signer=FOREIGN)).code == "SRD-L006"
    relabelled = receipt_of(ledger_with(), signer=FOREIGN, key=FOREIGN.verifier.text)
    assert verify_receipt(relabelled, FOREIGN.verifier.text)
    assert refusal(relabelled).code == "SRD-L009"


def test_a_checkpoint_of_another_log_or_of_none_is_named() -> None:
    text = Checkpoint("example.org/elsewhere", SIZE, Checkpoint.open(RECEIPT.checkpoint, KEY.verifier).root)
    assert "of the log example.org/elsewhere" in refusal(replace(RECEIPT, checkpoint=text.sign(KEY))).message
    assert refusal(replace(RECEIPT, checkpoint=sign("hello\n", KEY))).code == "SRD-L007"
    assert refusal(replace(RECEIPT, checkpoint="hello\n")).code == "SRD-L005"


def test_a_charge_that_is_not_in_the_tree_is_named() -> None:
    cheaper = charge(CHARGE)
    cheaper = replace(cheaper, charges=(cheaper.charges[0]._replace(amount=(0, 1)), cheaper.charges[1]))
    error = refusal(replace(RECEIPT, reserved=to_bytes(cheaper)))
    assert (error.code, error.message[:10]) == ("SRD-L009", "the charge")
    elsewhere = replace(RECEIPT, reserved=to_bytes(charge(6)))
    assert "is not entry 6 of the 11" in refusal(elsewhere).message


def test_a_settlement_that_is_not_in_the_tree_is_named() -> None:
    forged = replace(RECEIPT, settled=to_bytes(settlement(charge(CHARGE), SETTLEMENT, b"x")), release=b"x")
    assert refusal(forged).message.startswith("the settlement in this receipt is not entry 8")


def test_an_entry_beyond_the_checkpoint_is_named() -> None:
    longer = receipt_of([*ledger_with(), settlement(charge(CHARGE), SIZE)], second=SIZE)
    shorter = Checkpoint.open(RECEIPT.checkpoint, KEY.verifier)
    assert "is not entry" in refusal(replace(longer, checkpoint=shorter.sign(KEY))).message


def test_proofs_too_long_too_short_or_swapped_are_refused() -> None:
    first, second = RECEIPT.reserved_proof, RECEIPT.settled_proof
    for changed in (first[:-1], first[1:], (*first, bytes(32)), (bytes(32), *first), (), first[::-1], second):
        assert refusal(replace(RECEIPT, reserved_proof=changed)).code == "SRD-L009"
    for changed in (second[:-1], (*second, second[0]), (), first):
        assert refusal(replace(RECEIPT, settled_proof=changed)).code == "SRD-L009"


def test_the_settlement_of_another_charge_is_named() -> None:
    other = receipt_of(ledger_with(at_8=settlement(charge(4), SETTLEMENT)))
    assert "of another charge" in refusal(other).message


def test_a_settlement_before_its_charge_is_named() -> None:
    early = receipt_of(ledger_with(at_3=settlement(charge(CHARGE), 3)), second=3)
    assert "came before it" in refusal(early).message
    backwards = receipt_of(ledger_with(at_8=settlement(charge(CHARGE), SETTLEMENT, time=1)))
    assert "came before it" in refusal(backwards).message


def test_other_entries_are_no_receipt() -> None:
    failed = receipt_of(ledger_with(at_8=Failed(SETTLEMENT, charge(CHARGE).time, charge(CHARGE).id, "SRD-R001")))
    assert "not a charge and its settlement" in refusal(failed).message
    swapped = receipt_of(ledger_with(), first=SETTLEMENT, second=CHARGE)
    assert "not a charge and its settlement" in refusal(swapped).message
    assert refusal(replace(RECEIPT, reserved=b"{}")).code == "SRD-L020"


def test_no_changed_byte_of_the_file_goes_unseen() -> None:
    whole = RECEIPT.to_json().encode()
    for place in range(len(whole)):
        changed = whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1 :]
        with pytest.raises(LedgerError):
            verify_receipt(Receipt.from_json(changed.decode("utf-8", "surrogateescape")), TRUSTED)


@given(st.none() | st.binary() | st.text().map(str.encode))
def test_every_release_comes_back(release: bytes | None) -> None:
    receipt = replace(RECEIPT, release=release)
    assert Receipt.from_json(receipt.to_json()) == receipt


def test_a_release_that_is_text_can_be_read_in_the_file() -> None:
    assert json.loads(RECEIPT.to_json())["release"] == {"text": BODY.decode()}
    assert json.loads(replace(RECEIPT, release=b"\xff").to_json())["release"] == {"base64": "/w=="}


PLAIN = json.loads(RECEIPT.to_json())
CHANGES: dict[str, Callable[[dict[str, Any]], Any]] = {
    "a part missing": lambda plain: {name: part for name, part in plain.items() if name != "key"},
    "a part too many": lambda plain: plain | {"extra": 1},
    "another version": lambda plain: plain | {"v": 1},
    "no rules": lambda plain: plain | {"rules": None},
    "a rule that is empty": lambda plain: plain | {"rules": [[]]},
    "a rule that is a number": lambda plain: plain | {"rules": [[1]]},
    "a number for the checkpoint": lambda plain: plain | {"checkpoint": 1},
    "a list for the key": lambda plain: plain | {"key": []},
    "a number for an entry": lambda plain: plain | {"reserved": 1},
    "a proof of numbers": lambda plain: plain | {"reserved_proof": [1]},
    "a proof of nothing": lambda plain: plain | {"reserved_proof": None},
    "a proof that is a text": lambda plain: plain | {"settled_proof": ""},
    "a proof of short hashes": lambda plain: plain | {"settled_proof": ["AAAA"]},
    "a proof in another base64": lambda plain: plain | {"settled_proof": [plain["settled_proof"][0].rstrip("=")]},
    "a release of two kinds": lambda plain: plain | {"release": {"base64": "", "text": ""}},
    "a text written as base64": lambda plain: plain | {"release": {"base64": "YQ=="}},
    "a release that is a text": lambda plain: plain | {"release": "a"},
    "a list": lambda plain: [plain],
    "a text": lambda _: "receipt",
    "nothing": lambda _: None,
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES.keys())
def test_files_that_are_no_receipts_are_refused(change: Callable[[dict[str, Any]], Any]) -> None:
    with pytest.raises(LedgerError) as caught:
        Receipt.from_json(encode(change(PLAIN)).decode())
    assert caught.value.code == "SRD-L008"


@pytest.mark.parametrize(
    "text", ["", "{}", "\ud800", json.dumps(PLAIN), f"{RECEIPT.to_json()}\n", "[" * 10_000], ids=len
)
def test_other_layouts_are_refused(text: str) -> None:
    with pytest.raises(LedgerError) as caught:
        Receipt.from_json(text)
    assert caught.value.code == "SRD-L008"


def test_receipts_that_cannot_be_are_not_built() -> None:
    for changes in ({"reserved_proof": (b"short",)}, {"settled_proof": ("x" * 32,)}, {"checkpoint": None}, {"key": 1}):
        with pytest.raises(ArgumentError):
            replace(RECEIPT, **changes)
