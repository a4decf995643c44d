"""Receipts: one release, what was charged for it, and the proof, checked offline with the ledger's public key alone.

**Guarantee.** What `verify_receipt` accepts was signed by the holder of the key: the charge stood at its place in the
ledger before the release was settled, the release is the one whose digest was settled, and both entries are in the
tree whose root the checkpoint signs. Whoever changes a byte of any of it must forge a signature or break SHA-256.
**Assumes.** The verifying key came from the ledger's owner by another way than the receipt. That the ledger kept its
rules (caps, order, every scope) is not in a receipt; `verify` replays that. That everybody is shown the same ledger is
seen by comparing checkpoints: with the witness, or with another's receipt by a proof of consistency.

A receipt holds no digest of data: the one digest is of the release, which is noisy already.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Any

from sordino.errors import ArgumentError, LedgerError

from .canonical import decode, encode, from_base64, to_base64
from .checkpoint import Checkpoint
from .entries import Entry, Reserved, Settled, from_bytes
from .keys import VerifyingKey
from .tree import HASH_BYTES, leaf_hash, verify_inclusion

VERSION = 1

Proof = tuple[bytes, ...]


@dataclass(frozen=True, slots=True)
class Receipt:
    """The two entries of a release as they stand in the ledger, with the proofs that they do.

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
    release: bytes | None = None

    def __post_init__(self) -> None:
        hashes = (*self.reserved_proof, *self.settled_proof)
        if not set(map(type, hashes)) <= {bytes} or not set(map(len, hashes)) <= {HASH_BYTES}:
            raise ArgumentError(f"a proof consists of hashes of {HASH_BYTES} bytes", "SRD-A001")
        if not isinstance(self.checkpoint, str) or not isinstance(self.key, str):
            raise ArgumentError("the checkpoint and the key of a receipt must be texts", "SRD-A001")

    def to_json(self) -> str:
        """Return the receipt as one canonical JSON text; a release that is text stays readable in it."""
        plain = {
            "checkpoint": self.checkpoint,
            "key": self.key,
            "release": _spelt(self.release),
            "reserved": self.reserved.decode(),
            "reserved_proof": [to_base64(each) for each in self.reserved_proof],
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


def verify_receipt(receipt: Receipt, key: str, release: bytes | None = None) -> Facts:
    """Return what `receipt` proves to somebody who trusts `key`, or raise `LedgerError` that names what is wrong.

    Args:
        receipt: as it was given out.
        key: the text of the ledger's verifying key, known from elsewhere.
        release: the body that is said to have been released, where it is to be compared.
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
    return Facts(reserved, settled, checkpoint, receipt.release if release is None else release)


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
