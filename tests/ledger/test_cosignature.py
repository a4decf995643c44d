"""Cosignatures and add-checkpoint: the published example, what a witness must refuse, and receipts with time."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from ledger.samples import TRIPS, reserved, rule
from ledger.tampering import tamper
from sordino.errors import LedgerError
from sordino.ledger.canonical import from_base64, to_base64
from sordino.ledger.checkpoint import Checkpoint
from sordino.ledger.cosignature import Cosigned, Cosigner, cosign, cosigned, with_lines
from sordino.ledger.keys import SigningKey, VerifyingKey
from sordino.ledger.ledger import Ledger
from sordino.ledger.note import text_of
from sordino.ledger.receipt import Receipt, verify_receipt
from sordino.ledger.tree import consistency_proof, leaf_hashes, root_of
from sordino.ledger.verify import verify_store
from sordino.ledger.witness import NoWitness
from sordino.ledger.witness_protocol import SIZE_TYPE, Answer, answer, asked

LOG, OTHER, WITNESS = (SigningKey.generate(f"{name}.example.org") for name in ("log", "other", "witness"))
WHO = Cosigner(WITNESS.verifier)
HASHES = leaf_hashes(b"%d" % number for number in range(20))
NOW = 1_763_208_000


def checkpoint(size: int, hashes: list[bytes] = HASHES) -> Checkpoint:
    return Checkpoint(LOG.name, size, root_of(hashes[:size]) if size else hashlib.sha256(b"").digest())


def proof(old: int, new: int) -> tuple[bytes, ...]:
    return consistency_proof(old, new, lambda start, end: root_of(HASHES[start:end]))


class Remembering:
    """A witness and its memory."""

    def __init__(self) -> None:
        self.memory: dict[str, str] = {}
        self.late = False

    def __call__(self, body: bytes) -> Answer:
        return answer(body, {LOG.name: LOG.verifier}, WITNESS, NOW, self.memory.get, self._remember)

    def _remember(self, origin: str, before: str | None, now: str) -> bool:
        if self.late or self.memory.get(origin) != before:
            return False
        self.memory[origin] = now
        return True


def test_a_cosignature_is_made_as_the_specification_says() -> None:
    text = checkpoint(7).text()
    line = cosign(WITNESS, text, NOW)
    content = from_base64(line.split(" ")[2].strip())
    public = WITNESS.verifier.public
    assert content[:4] == hashlib.sha256(WITNESS.name.encode() + b"\n\x04" + public).digest()[:4]
    assert int.from_bytes(content[4:12], "big") == NOW
    assert WITNESS.verifier.verify(f"cosignature/v1\ntime {NOW}\n{text}".encode(), content[12:])
    assert Cosigner.parse(WHO.text) == WHO
    for wrong in (WITNESS.verifier.text, f"{WHO.text}\n", "", "a+b", WHO.text.replace("witness", "witnesz")):
        with pytest.raises(LedgerError, match="SRD-L003"):
            Cosigner.parse(wrong)


def test_cosignatures_on_a_note_are_those_of_whom_one_named() -> None:
    note = checkpoint(7).sign(LOG)
    line = cosign(WITNESS, text_of(note), NOW)
    whole = with_lines(note, cosign(OTHER, text_of(note), 5) + line, [WHO])
    assert whole == note + line
    assert cosigned(whole, [WHO]) == (Cosigned(WITNESS.name, NOW),)
    assert cosigned(whole, []) == ()
    assert Checkpoint.open(whole, LOG.verifier) == checkpoint(7)
    content = bytearray(from_base64(line.split(" ")[2].strip()))
    for at in (5, 11, 12, 40, 75):
        altered = content.copy()
        altered[at] ^= 1
        with pytest.raises(LedgerError, match="SRD-L006"):
            cosigned(f"{note}\u2014 {WITNESS.name} {to_base64(bytes(altered))}\n", [WHO])
    with pytest.raises(LedgerError, match="SRD-L006"):
        cosigned(f"{note}\u2014 {WITNESS.name} {to_base64(bytes(content[:9]))}\n", [WHO])


def test_a_witness_cosigns_what_extends_what_it_cosigned() -> None:
    witness, old = Remembering(), 0
    for size in (0, 1, 7, 7, 20):
        note = checkpoint(size).sign(LOG)
        found = witness(asked(old, proof(old, size), note))
        assert (found.status, found.type) == (200, "text/plain; charset=utf-8")
        assert cosigned(note + found.body, [WHO]) == (Cosigned(WITNESS.name, NOW),)
        assert cosigned(witness.memory[LOG.name], [WHO]) == (Cosigned(WITNESS.name, NOW),)
        old = size


def test_a_witness_refuses_as_the_specification_says() -> None:
    witness = Remembering()
    good = checkpoint(7).sign(LOG)
    assert witness(asked(3, (), good)) == Answer(409, "0\n", SIZE_TYPE)
    assert witness(asked(0, proof(1, 7), good)).status == 422
    assert witness(asked(0, (), good)).status == 200
    kept = dict(witness.memory)
    forked = checkpoint(20, [*HASHES[:3], *HASHES[4:], HASHES[3]])
    for body, status in (
        (asked(0, (), checkpoint(20).sign(LOG)), 409),
        (asked(7, proof(6, 20), checkpoint(20).sign(LOG)), 422),
        (asked(7, proof(7, 20), forked.sign(LOG)), 422),
        (asked(7, (), checkpoint(7, HASHES[1:]).sign(LOG)), 422),
        (asked(8, (), good), 400),
        (asked(7, (), checkpoint(7).sign(OTHER)), 403),
        (asked(7, (), Checkpoint(OTHER.name, 7, bytes(32)).sign(OTHER)), 404),
        (asked(7, (bytes(32),) * 64, checkpoint(20).sign(LOG)), 400),
        (asked(7, (bytes(31),), checkpoint(20).sign(LOG)), 400),
        (b"old 07\n\n" + good.encode(), 400),
        (b"old 7\n" + good.encode(), 400),
        (b"\xff", 400),
        (b"", 400),
    ):
        assert witness(body).status == status, body
    assert witness.memory == kept
    assert witness(asked(3, proof(3, 20), checkpoint(20).sign(LOG))) == Answer(409, "7\n", SIZE_TYPE)
    witness.late = True
    assert witness(asked(7, proof(7, 20), checkpoint(20).sign(LOG))) == Answer(409, "7\n", SIZE_TYPE)


def test_a_receipt_says_when_somebody_else_saw_it(tmp_path: Path) -> None:
    with Ledger.open(tmp_path / "ledger.db", key=LOG, witness=NoWitness("a test")) as ledger:
        ledger.open_scope(TRIPS, rule(), by="owner")
        plain = ledger.settle(reserved(ledger), b"42")
    noted = with_lines(plain.checkpoint, cosign(WITNESS, text_of(plain.checkpoint), NOW), [WHO])
    receipt = Receipt.from_json(plain.to_json().replace(_quoted(plain.checkpoint), _quoted(noted)))
    assert verify_receipt(receipt, LOG.verifier.text, cosigners=[WHO]).cosigned == (Cosigned(WITNESS.name, NOW),)
    assert verify_receipt(receipt, LOG.verifier.text).cosigned == ()
    assert verify_receipt(plain, LOG.verifier.text, cosigners=[WHO]).cosigned == ()
    assert isinstance(LOG.verifier, VerifyingKey)


def test_what_was_cosigned_is_kept_checked_and_put_into_receipts(tmp_path: Path) -> None:
    place = tmp_path / "ledger.db"
    with Ledger.open(place) as ledger:
        ledger.open_scope(TRIPS, rule(), by="owner")
        settled = ledger.settle(reserved(ledger), b"42")
        identifier = verify_receipt(settled, ledger.key.text).settled.id
        note = ledger.checkpoint()
        assert ledger.cosignatures.seen_by(WHO) == 0
        lines = cosigned_at(note, NOW)
        assert [ledger.cosignatures.keep(lines, [WHO]) for _ in range(2)] == [1, 1]
        with pytest.raises(LedgerError, match="SRD-L006"):
            ledger.cosignatures.keep(cosigned_at(checkpoint(1).sign(LOG), NOW), [WHO])
        reserved(ledger)
        assert ledger.cosignatures.seen_by(WHO) == 3
        again = ledger.receipt(identifier)
        found = verify_receipt(again, ledger.key.text, cosigners=[WHO])
        assert (found.cosigned, found.checkpoint.size) == ((Cosigned(WITNESS.name, NOW),), 3)
        assert Receipt.from_json(again.to_json()) == again
        assert ledger.verify().sound
        for change, code in (
            (lines.replace("\n3\n", "\n2\n"), "SRD-L079"),
            (note, "SRD-L079"),
            (cosigned_at(checkpoint(3).sign(LOG), NOW), "SRD-L079"),
            (cosigned_at(note, 2**40), "SRD-L078"),
        ):
            tamper(str(place), "UPDATE ledger_cosignatures SET note = ?", change)
            report = verify_store(ledger._session.log.store, ledger.key)
            assert [each.code for each in report.problems] == [code]


def cosigned_at(note: str, seconds: int) -> str:
    return note + cosign(WITNESS, text_of(note), seconds)


def _quoted(text: str) -> str:
    return text.replace("\n", "\\n")
