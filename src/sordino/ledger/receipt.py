"""Receipts: one release, what was charged for it, and the proof, checked offline with the ledger's public key alone.

**Guarantee.** What `verify_receipt` accepts was signed by the holder of the key: the charge stood at its place in the
ledger before the release was settled, the release is the one whose digest was settled, and both entries are in the
tree whose root the checkpoint signs. Whoever changes a byte of any of it must forge a signature or break SHA-256.
Under the same root stand the entries that opened every data set and group that was charged, and the newest before the
charge that set their budget anew. So whoever holds a receipt knows the columns of each budget, and prices the event
again in every one of them (``repricing.py``), and sees that no group of a data set was left out.
**Not in a receipt**: the rules of analysts and projects, which protect nobody; that all charges together kept within
the caps; that no scope was opened twice, with other columns. `verify` replays those. A receipt that leaves out a newer
budget lies about caps alone: columns are fixed when a scope is opened, and prices depend on nothing else in a rule.
**Assumes.** The verifying key came from the ledger's owner by another way than the receipt. That everybody is shown the
same ledger is seen by comparing checkpoints: with the witness, or with another's receipt by a proof of consistency.

A receipt holds no digest of data: the one digest is of the release, which is noisy already.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from sordino.errors import ArgumentError, LedgerError

from .canonical import decode, encode, from_base64, to_base64
from .checkpoint import Checkpoint
from .cosignature import Cosigned, Cosigner, cosigned
from .entries import Budgeted, Entry, Opened, Reserved, Settled, from_bytes
from .files import faults
from .keys import VerifyingKey
from .manifest import Manifest
from .rule import Rule, replaced
from .tree import HASH_BYTES, leaf_hash, verify_inclusion

VERSION = 2

Proof = tuple[bytes, ...]


class Placed(NamedTuple):
    """An entry as it stands in the ledger, with the proof that it does."""

    entry: bytes
    proof: Proof


@dataclass(frozen=True, slots=True)
class Receipt:
    """The entries of a release and of the rules that it was priced by, with the proofs that they are in the ledger.

    `release` is the body that was released, or None where the receipt shall not show it: then whoever has the body
    gives it to `verify_receipt`.
    """

    reserved: bytes
    reserved_proof: Proof
    settled: bytes
    settled_proof: Proof
    checkpoint: str
    """The signed note of a checkpoint that is larger than both positions."""
    key: str
    """The verifying key of the ledger: a hint of whom to ask, not a reason to believe."""
    release: bytes | None
    rules: tuple[Placed, ...]
    """What opened each data set and group that was charged, and what set its budget last before the charge."""

    def __post_init__(self) -> None:
        rules = [each for placed in self.rules for each in placed.proof]
        hashes = (*self.reserved_proof, *self.settled_proof, *rules)
        if not set(map(type, hashes)) <= {bytes} or not set(map(len, hashes)) <= {HASH_BYTES}:
            raise ArgumentError(f"a proof consists of hashes of {HASH_BYTES} bytes", "SRD-A001")
        if not isinstance(self.checkpoint, str) or not isinstance(self.key, str):
            raise ArgumentError("the checkpoint and the key of a receipt must be texts", "SRD-A001")

    @property
    def files(self) -> Manifest:
        """The files that belong to the release, each by name, digest and size, as the settlement lists them."""
        settled = from_bytes(self.settled)
        return settled.files if isinstance(settled, Settled) else ()

    def faults(self, directory: str | os.PathLike[str]) -> list[str]:
        """Return what is wrong with the release's files in a directory where each is named by its digest."""
        return faults(Path(directory), self.files)

    def to_json(self) -> str:
        """Return the receipt as one canonical JSON text; a release that is text stays readable in it."""
        plain = {
            "checkpoint": self.checkpoint,
            "key": self.key,
            "release": _spelt(self.release),
            "reserved": self.reserved.decode(),
            "reserved_proof": [to_base64(each) for each in self.reserved_proof],
            "rules": [[each.entry.decode(), *map(to_base64, each.proof)] for each in self.rules],
            "settled": self.settled.decode(),
            "settled_proof": [to_base64(each) for each in self.settled_proof],
            "v": VERSION,
        }
        return encode(plain).decode()

    @staticmethod
    def from_json(text: str) -> Receipt:
        """Return the receipt that `text` spells, or raise `LedgerError`; nothing in it has been verified.

        **Guarantee**: ``Receipt.from_json(text).to_json() == text``.
        """
        try:
            plain = decode(text.encode())
            receipt = Receipt(
                plain["reserved"].encode(),
                tuple(map(from_base64, plain["reserved_proof"])),
                plain["settled"].encode(),
                tuple(map(from_base64, plain["settled_proof"])),
                plain["checkpoint"],
                plain["key"],
                _read(plain["release"]),
                tuple(Placed(entry.encode(), tuple(map(from_base64, proof))) for entry, *proof in plain["rules"]),
            )
            same = receipt.to_json() == text
        except (AttributeError, KeyError, TypeError, ValueError, LedgerError):
            same = False
        if not same:
            raise LedgerError(
                "this is not a receipt of this version: a part is missing, unknown or in another spelling; take the "
                "file as it was given out, without a change in its layout",
                "SRD-L008",
            )
        return receipt


@dataclass(frozen=True, slots=True)
class Facts:
    """What a receipt proves."""

    reserved: Reserved
    settled: Settled
    checkpoint: Checkpoint
    release: bytes | None
    """The body that was released, if the receipt or the caller had it; None if only its digest is known."""
    rules: Mapping[str, Rule]
    """The rule of every data set and group that was charged, by the scope's text."""
    cosigned: tuple[Cosigned, ...] = ()
    """Which of the cosigners that were named have seen the checkpoint, and when: time from somebody else."""

    def __str__(self) -> str:
        charge, settled = self.reserved, self.settled
        scopes = ", ".join(f"{each.scope}{_on(each.days)}" for each in charge.charges)
        return (
            f"{self.checkpoint.origin} charged {scopes} at position {charge.sequence} for a {charge.what} of "
            f"{charge.analyst}, which protects each {charge.unit} under {charge.neighbours}, and settled it at "
            f"position {settled.sequence} with the release {settled.release}"
        )


def _on(days: tuple[str, ...]) -> str:
    """Say on which days a scope was charged, where days have budgets of their own."""
    if len(days) < 2:
        return "".join(f" on {day}" for day in days)
    return f" on each of {len(days)} days from {days[0]} to {days[-1]}"


def release_digest(body: bytes) -> str:
    """Return the digest of a released body as entries hold it: SHA-256 in hexadecimal, as ``sha256sum`` prints it."""
    return hashlib.sha256(body).hexdigest()


def verify_receipt(
    receipt: Receipt, key: str, release: bytes | None = None, cosigners: Sequence[Cosigner] = ()
) -> Facts:
    """Return what `receipt` proves to somebody who trusts `key`, or raise `LedgerError` that names what is wrong.

    Args:
        receipt: as it was given out.
        key: the text of the ledger's verifying key, known from elsewhere.
        release: the body that is said to have been released, where it is to be compared.
        cosigners: whose cosignatures on the checkpoint are to be believed.
    """
    verifier = VerifyingKey.parse(key)
    if receipt.key != verifier.text:
        raise LedgerError(f"this receipt is from the ledger with the key {receipt.key:.200}, not {key}", "SRD-L009")
    checkpoint = Checkpoint.open(receipt.checkpoint, verifier)
    reserved, settled = from_bytes(receipt.reserved), from_bytes(receipt.settled)
    if not isinstance(reserved, Reserved) or not isinstance(settled, Settled):
        raise LedgerError("the entries of this receipt are not a charge and its settlement", "SRD-L009")
    _check_place("charge", reserved, receipt.reserved, receipt.reserved_proof, checkpoint)
    _check_place("settlement", settled, receipt.settled, receipt.settled_proof, checkpoint)
    if reserved.id != settled.id or reserved.sequence >= settled.sequence or reserved.time > settled.time:
        raise LedgerError("the settlement in this receipt is of another charge, or came before it", "SRD-L009")
    for body in (receipt.release, release):
        if body is not None and release_digest(body) != settled.release:
            raise LedgerError(
                "the release was altered: its digest is not the one that the ledger settled for this charge", "SRD-L010"
            )
    body = receipt.release if release is None else release
    seen = cosigned(receipt.checkpoint, cosigners)
    return Facts(reserved, settled, checkpoint, body, _rules(receipt.rules, reserved, checkpoint), seen)


def _rules(placed: Sequence[Placed], reserved: Reserved, checkpoint: Checkpoint) -> dict[str, Rule]:
    """Return the rules that a receipt shows, which must be those of all whom the charge protects."""
    found: dict[str, Rule] = {}
    for data, proof in placed:
        entry = from_bytes(data)
        _check_place("rule", entry, data, proof, checkpoint)
        match entry:
            case Opened() if entry.scope.text not in found:
                found[entry.scope.text] = entry.rule
            case Budgeted() if entry.scope.text in found:
                found[entry.scope.text] = _changed(found[entry.scope.text], entry)
            case _:
                raise LedgerError("an entry of this receipt is no rule, or stands before what it changes", "SRD-L009")
        if entry.sequence >= reserved.sequence:
            raise LedgerError("a rule in this receipt is newer than the charge", "SRD-L009")
    protecting = {charge.scope.text for charge in reserved.charges if charge.scope.protects}
    groups = {f"group:{name}" for rule in found.values() for name in rule.groups}
    if set(found) != protecting or not groups <= protecting:
        raise LedgerError(
            "this receipt does not show the rules of exactly the data sets and groups that its charge concerns",
            "SRD-L009",
        )
    return found


def _changed(rule: Rule, entry: Budgeted) -> Rule:
    try:
        return replaced(rule, entry.budget, entry.caps)
    except ArgumentError as error:
        raise LedgerError(f"a budget in this receipt is none of its scope: {error.message}", "SRD-L009") from None


def _check_place(what: str, entry: Entry, data: bytes, proof: Proof, checkpoint: Checkpoint) -> None:
    """Refuse an entry that is not where it says it is, in the tree that was signed."""
    if not verify_inclusion(leaf_hash(data), entry.sequence, checkpoint.size, proof, checkpoint.root):
        raise LedgerError(
            f"the {what} in this receipt is not entry {entry.sequence} of the {checkpoint.size} that the checkpoint "
            "signs: the entry, its place or its proof was altered",
            "SRD-L009",
        )


def _spelt(release: bytes | None) -> dict[str, str] | None:
    if release is None:
        return None
    try:
        return {"text": release.decode()}
    except UnicodeDecodeError:
        return {"base64": to_base64(release)}


def _read(spelt: Any) -> bytes | None:
    match spelt:
        case None:
            return None
        case {"text": str(text)}:
            return text.encode()
        case {"base64": str(text)}:
            return from_base64(text)
    raise ValueError("not a release")
