"""The ledger as an auditor reads it: checkpoints, entries, proofs, a full verification; and being another's witness."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import Row, insert, select, update
from sqlalchemy.exc import IntegrityError

from sordino.errors import ArgumentError, LedgerError
from sordino.ledger.canonical import from_base64, to_base64
from sordino.ledger.checkpoint import Checkpoint
from sordino.ledger.entries import to_bytes
from sordino.ledger.entry import Entry
from sordino.ledger.keys import VerifyingKey
from sordino.ledger.ledger import Ledger
from sordino.ledger.periods import moment
from sordino.ledger.scope import Scope
from sordino.ledger.told import told_bytes
from sordino.ledger.tree import verify_consistency
from sordino.ledger.vectors import read_vector, vector_text
from sordino.ledger.verify import Progress
from sordino.serve.asking.premises import Premises
from sordino.serve.keeping.identity import Principal
from sordino.serve.keeping.registry import milliseconds
from sordino.serve.keeping.tables import WITNESSED
from sordino.serve.refusals import StateError, UnknownError

MOST_ENTRIES = 1000


def entries(ledger: Ledger, start: int, end: int) -> list[dict[str, Any]]:
    """Return entries from `start` up to `end`, at most a thousand, each as it is hashed and as people read it."""
    if not 0 <= start <= end:
        raise ArgumentError("start and end are positions, and start does not lie after end", "SRD-A002")
    return [shown_entry(entry) for entry in ledger.entries(start, min(end, start + MOST_ENTRIES))]


def shown_entry(entry: Entry) -> dict[str, Any]:
    """Return an entry as it is hashed and as people read it."""
    canonical = to_bytes(entry).decode()
    said = {"canonical": canonical, "entry": json.loads(canonical)}
    return {"position": entry.sequence, "kind": entry.kind, "time": moment(entry.time), **said}


def checkpoint(ledger: Ledger) -> dict[str, Any]:
    """Return the newest signed checkpoint, and the key that it is checked with."""
    note = ledger.checkpoint()
    found = Checkpoint.open(note, ledger.key)
    return {
        "note": note,
        "origin": found.origin,
        "size": found.size,
        "root": to_base64(found.root),
        "key": ledger.key.text,
    }


def inclusion(ledger: Ledger, position: int, size: int | None) -> dict[str, Any]:
    """Return the proof that an entry is in the tree."""
    whole = ledger.size if size is None else size
    return {
        "position": position,
        "size": whole,
        "proof": [to_base64(each) for each in ledger.inclusion(position, whole)],
    }


def consistency(ledger: Ledger, old: int, new: int | None) -> dict[str, Any]:
    """Return the proof that the tree only grew."""
    whole = ledger.size if new is None else new
    return {"old": old, "new": whole, "proof": [to_base64(each) for each in ledger.consistency(old, whole)]}


def verify(ledger: Ledger, progress: Progress | None) -> dict[str, Any]:
    """Read the whole ledger again and judge it; one that is not sound freezes."""
    report = ledger.verify(progress)
    return {
        "verdict": report.verdict,
        "sound": report.sound,
        "size": report.size,
        "replayed": report.replayed,
        "checkpoint": report.checkpoint,
        "problems": [{"position": each.position, "code": each.code, "reason": each.reason} for each in report.problems],
        "text": str(report),
    }


@dataclass(frozen=True)
class Told:
    """What another ledger tells its witness: a checkpoint, the proof that it extends the last one, what was spent."""

    key: str
    note: str
    old_size: int = 0
    proof: tuple[str, ...] = ()
    spent: Mapping[str, str] = field(default_factory=dict)
    anew: bool = False
    """Whether its owner restored it from an old copy, so that it need not extend what was told before."""
    signature: str = ""
    """The signature of the ledger's key over all of it, in base64."""

    def __post_init__(self) -> None:
        for scope, amount in self.spent.items():
            try:
                Scope.parse(scope), read_vector(amount)
            except ValueError:
                raise ArgumentError("spent must be an object from scopes to vectors of units", "SRD-A001") from None

    def check_signed(self, verifier: VerifyingKey) -> None:
        """Refuse what the ledger's own key has not signed."""
        told = told_bytes(self.key, self.note, self.old_size, self.spent, anew=self.anew)
        if not verifier.verify(told, from_base64(self.signature)):
            raise LedgerError(
                f"what is told of {verifier.name:.200} is not signed by its key, so anybody with a token may have made "
                "it up; tell it with a version that signs what was spent",
                "SRD-L006",
            )


def add_checkpoint(house: Premises, told: Told, who: Principal) -> dict[str, Any]:
    """Remember the newest checkpoint of another ledger, if it extends what is remembered of it.

    **Guarantee**: what is remembered of a key only ever grows, by proofs of consistency that were checked here, unless
    an owner lets it begin anew; and so does what its scopes had spent. All of it was signed by that key, and told by
    who told of this ledger first.
    """
    verifier = VerifyingKey.parse(told.key)
    new = Checkpoint.open(told.note, verifier)
    told.check_signed(verifier)
    known = _remembered(house, told.key)
    _check_own(known, who, anew=told.anew)
    values = {"size": new.size, "note": told.note, "by": known.by if known else who.subject, "time": milliseconds()}
    if known is None:
        if told.old_size:
            raise _nothing()
        return _begin(house, told.key, values | {"spent": json.dumps(dict(told.spent)), "anew": told.anew})
    if told.anew and told.key in house.settings.witness_for:
        raise StateError(
            "this service cosigns that log, and never two histories of it; begin under another key", "SRD-S017"
        )
    if told.anew:
        return _replace(house, known, values | {"spent": json.dumps(dict(told.spent)), "anew": True})
    if known.size != told.old_size:
        raise StateError(
            f"the newest checkpoint that is remembered has size {known.size}, not {told.old_size}", "SRD-S016"
        )
    old = Checkpoint.open(known.note, verifier)
    if not verify_consistency(old.size, old.root, new.size, new.root, [from_base64(each) for each in told.proof]):
        raise StateError(
            "this checkpoint does not extend the one that is remembered: the ledger was rolled back, or its history "
            "was changed",
            "SRD-S017",
        )
    spent = _grown(json.loads(known.spent), told.spent)
    return _replace(house, known, values | {"spent": json.dumps(spent, sort_keys=True)})


def witnessed(house: Premises, key: str, who: Principal) -> dict[str, Any]:
    """Return what is remembered of another ledger; of another's, nothing is."""
    row = _remembered(house, key)
    if row is None or (who.role != "owner" and row.by != who.subject):
        raise _nothing()
    return {
        "key": key,
        "size": row.size,
        "note": row.note,
        "spent": json.loads(row.spent),
        "anew": row.anew,
        "time": moment(row.time),
    }


def _remembered(house: Premises, key: str) -> Row[Any] | None:
    with house.registry.engine.connect() as connection:
        return connection.execute(select(WITNESSED).where(WITNESSED.c.key == key)).one_or_none()


def _check_own(known: Row[Any] | None, who: Principal, *, anew: bool) -> None:
    """Refuse who is not the one that told of this ledger so far; an owner may let it begin anew."""
    if known is not None and known.by != who.subject and not (anew and who.role == "owner"):
        raise StateError("somebody else tells this witness of this ledger; ask by whose token", "SRD-S016")


def _nothing() -> UnknownError:
    return UnknownError("nothing is remembered of this ledger; begin with old_size = 0", "SRD-S020")


def _grown(known: Mapping[str, str], told: Mapping[str, str]) -> dict[str, str]:
    """Return the larger of both in every column: totals only grow, but replicas do not tell them in order.

    A scope keeps its columns for life, so other columns are refused: they would let a total that was told be forgotten.
    """
    found = dict(known)
    for scope, amount in told.items():
        old, new = read_vector(known.get(scope, amount)), read_vector(amount)
        if len(old) != len(new):
            raise ArgumentError(f"the total of {scope} had {len(old)} columns, and now has {len(new)}", "SRD-A003")
        found[scope] = vector_text(tuple(map(max, old, new)))
    return found


def _replace(house: Premises, known: Row[Any], values: dict[str, Any]) -> dict[str, Any]:
    """Remember other values in place of what is known, if nobody else was faster."""
    same = WITNESSED.c.key == known.key, WITNESSED.c.size == known.size, WITNESSED.c.note == known.note
    asked = update(WITNESSED).where(*same, WITNESSED.c.spent == known.spent)
    with house.registry.engine.begin() as connection:
        if not connection.execute(asked.values(**values)).rowcount:
            raise StateError("another checkpoint was remembered meanwhile; look again", "SRD-S016")
    return {"key": known.key, "size": values["size"]}


def _begin(house: Premises, key: str, values: dict[str, Any]) -> dict[str, Any]:
    try:
        with house.registry.engine.begin() as connection:
            connection.execute(insert(WITNESSED).values(key=key, **values))
    except IntegrityError:
        raise StateError("another checkpoint was remembered meanwhile; look again", "SRD-S016") from None
    return {"key": key, "size": values["size"]}
