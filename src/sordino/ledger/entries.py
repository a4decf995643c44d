"""Entries: everything that may be written into a ledger, each kind with one canonical spelling.

Amounts are vectors of units (``accounting/columns.py``), spelled in decimals. What an entry means never changes once
shipped; a change is a new kind, or a new ``"v"``. Unknown kinds and fields are refused, never skipped.

No entry holds anything that depends on data, but for the digest of a release, which is noisy already.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from sordino.accounting.budget import Budget
from sordino.accounting.columns import Vector
from sordino.errors import ArgumentError, LedgerError

from .canonical import encode, utf8
from .charging import Charge, Failed, Part, Reserved, Settled, norms_text, part_row, position_of
from .checkpoint import Checkpoint
from .continuing import checked_handover
from .entry import Entry, Spelling, ascending, checked_reason, is_count, require, whole_scope, word
from .keys import VerifyingKey
from .quick import WRITERS, read_quickly
from .rule import Rule
from .scope import Scope, checked_name
from .vectors import read_vector, vector_text

__all__ = [
    "KINDS",
    "VERSION",
    "Budgeted",
    "Charge",
    "Checkpointed",
    "Continued",
    "Entry",
    "Failed",
    "Frozen",
    "Opened",
    "Part",
    "Refreshed",
    "Reserved",
    "Restored",
    "Settled",
    "from_bytes",
    "norms_text",
    "part_row",
    "position_of",
    "spelled",
    "to_bytes",
]

VERSION = 1

_LONGEST_NOTE = 65536


_SCOPE = Spelling(lambda scope: scope.text, Scope.parse)
_VECTOR = Spelling(vector_text, read_vector)
_BUDGET = Spelling(Budget.to_json, Budget.from_json)
_RULE = Spelling(Rule.to_plain, Rule.from_plain)
_BURNT = Spelling(
    lambda burnt: [(scope.text, vector_text(amount)) for scope, amount in burnt],
    lambda plain: tuple((Scope.parse(scope), read_vector(amount)) for scope, amount in plain),
)


@dataclass(frozen=True)
class Opened(Entry):
    """A scope was opened, with a rule, by somebody who may."""

    scope: Scope
    rule: Rule
    by: str

    kind: ClassVar[str] = "opened"
    spelled: ClassVar[Mapping[str, Spelling]] = {"scope": _SCOPE, "rule": _RULE}

    def __post_init__(self) -> None:
        Entry.__post_init__(self)
        whole_scope(self.scope)
        require(isinstance(self.rule, Rule), "rule must be a Rule; build it with Rule.open(budget, …)")
        self.rule.check_for(self.scope)
        checked_name("by", self.by)


@dataclass(frozen=True)
class Budgeted(Entry):
    """A scope's budget was set anew, with the caps that follow at the orders that the scope was opened with."""

    scope: Scope
    budget: Budget
    caps: Vector
    by: str
    reason: str

    kind: ClassVar[str] = "budgeted"
    spelled: ClassVar[Mapping[str, Spelling]] = {"scope": _SCOPE, "budget": _BUDGET, "caps": _VECTOR}

    def __post_init__(self) -> None:
        Entry.__post_init__(self)
        whole_scope(self.scope)
        require(isinstance(self.budget, Budget), "budget must be a Budget")
        checked_name("by", self.by)
        checked_reason(self.reason)


@dataclass(frozen=True)
class Refreshed(Entry):
    """A scope entered a new period, by the entry's time, and begins with nothing spent."""

    scope: Scope
    period: int

    kind: ClassVar[str] = "refreshed"
    spelled: ClassVar[Mapping[str, Spelling]] = {"scope": _SCOPE}

    def __post_init__(self) -> None:
        Entry.__post_init__(self)
        whole_scope(self.scope)
        require(is_count(self.period), "period must be a whole number")


@dataclass(frozen=True)
class Checkpointed(Entry):
    """A signed checkpoint of an earlier size, kept among the entries."""

    note: str

    kind: ClassVar[str] = "checkpointed"

    def __post_init__(self) -> None:
        Entry.__post_init__(self)
        require(type(self.note) is str and 0 < len(self.note) <= _LONGEST_NOTE, "note must be a text")


@dataclass(frozen=True)
class Frozen(Entry):
    """The ledger takes nothing more until it is restored; `code` names why."""

    code: str

    kind: ClassVar[str] = "frozen"

    def __post_init__(self) -> None:
        Entry.__post_init__(self)
        word(self.code)


@dataclass(frozen=True)
class Restored(Entry):
    """The owner went on from an old copy: entries from `lost_from` up to, not including, `lost_to` are gone.

    `burnt` is charged to each scope for what the lost entries may have charged.
    """

    lost_from: int
    lost_to: int
    by: str
    reason: str
    burnt: tuple[tuple[Scope, Vector], ...]

    kind: ClassVar[str] = "restored"
    spelled: ClassVar[Mapping[str, Spelling]] = {"burnt": _BURNT}

    def __post_init__(self) -> None:
        Entry.__post_init__(self)
        require(is_count(self.lost_from) and is_count(self.lost_to), "lost_from and lost_to must be positions")
        require(self.lost_from <= self.lost_to, "lost_from must not lie after lost_to")
        checked_name("by", self.by)
        checked_reason(self.reason)
        for scope, _ in self.burnt:
            whole_scope(scope)
        ascending([scope.text for scope, _ in self.burnt], "burnt")


@dataclass(frozen=True)
class Continued(Restored):
    """The owner went on from an old copy, and the ledger is another log from here on: under another origin and key.

    `previous` is the verifying key so far and `key` the one that signs from this entry on. `lost` is the newest
    checkpoint that is known to have been signed by the key so far, as its witness remembers it, and None where nobody
    remembers any. `handover` is what the key so far signed to say so (``continuing.py``).
    """

    previous: str
    key: str
    lost: str | None
    handover: str

    kind: ClassVar[str] = "continued"

    def __post_init__(self) -> None:
        Restored.__post_init__(self)
        for text in (self.previous, self.key, self.handover, self.lost or "none"):
            require(type(text) is str and len(text) <= _LONGEST_NOTE, "previous, key, lost and handover must be texts")
        require(self.lost != "", "lost must be a checkpoint or null")
        previous = VerifyingKey.parse(self.previous)
        said = checked_handover(self.handover, previous)
        require((said.size, said.key.text) == (self.sequence, self.key), "the handover is of another entry")
        if self.lost is not None:
            found = Checkpoint.open(self.lost, previous)
            require(found.size <= self.lost_to, "lost must not be larger than what is lost")


KINDS: dict[str, type[Entry]] = {
    each.kind: each
    for each in (
        Opened,
        Budgeted,
        Reserved,
        Part,
        Settled,
        Failed,
        Refreshed,
        Checkpointed,
        Frozen,
        Restored,
        Continued,
    )
}


def to_bytes(entry: Entry) -> bytes:
    """Return the canonical spelling of `entry`."""
    write = WRITERS.get(type(entry))
    if write is not None:
        return utf8(write(entry))
    return spelled(entry)


def spelled(entry: Entry) -> bytes:
    """Return the canonical spelling of `entry` in the plain way, whatever kind it is."""
    return encode({"kind": entry.kind, "v": VERSION, **entry.body()})


def from_bytes(data: bytes) -> Entry:
    """Return the entry that `data` spells, or raise `LedgerError` unless it is exactly what `to_bytes` would write.

    **Guarantee**: ``to_bytes(from_bytes(data)) == data``. So unknown, missing and repeated fields, white space, other
    spellings of a number or a name are all refused.
    """
    try:
        entry = read_quickly(data)
        if entry is not None:
            return entry
        body = json.loads(data)
        entry = KINDS[body["kind"]].read(body)
        same = to_bytes(entry) == data
    except (ArithmeticError, AttributeError, KeyError, TypeError, ValueError, RecursionError, LedgerError) as error:
        raise LedgerError(f"these bytes are no entry of this version: {_why(error)}", "SRD-L020") from error
    if not same:
        raise LedgerError(
            "these bytes are an entry, but not in its canonical spelling, or with fields that this version does not "
            "know; read a newer ledger with a newer version",
            "SRD-L020",
        )
    return entry


def _why(error: Exception) -> str:
    match error:
        case ArgumentError() | LedgerError():
            return error.message
        case KeyError():
            return "an unknown kind, or a field is missing"
    return "not what an entry is made of"
