"""The entries of a reservation: a price is charged before any data is touched, and then it is settled or fails.

Work that stays open records numbered parts in between, under the same charge.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any, ClassVar, NamedTuple

from sordino.accounting.bound import Bound, Unit
from sordino.accounting.columns import Vector
from sordino.accounting.event import Event
from sordino.accounting.neighbours import Neighbours
from sordino.errors import ArgumentError

from .entry import Entry, Spelling, ascending, digests, is_count, require, word
from .manifest import MANIFEST, Manifest, check_manifest
from .scope import Scope, checked_day, checked_name
from .vectors import read_vector, vector_text

MOST_DAYS = 3660
"""The days that one reservation may name: ten years."""

_ID = re.compile(r"(0|[1-9][0-9]{0,15})-[0-9a-f]{16,64}", re.ASCII)
_SIZE = r"[0-9]{1,4000}(?:/[0-9]{1,4000})?"
_NORMS = re.compile(rf"[0-9]{{1,4000}} {_SIZE} {_SIZE} {_SIZE}", re.ASCII)
_RELATIONS = frozenset(relation.value for relation in Neighbours)


class Charge(NamedTuple):
    """What one scope pays: `amount` in each of its columns; on each of `days`, where days have budgets of their own."""

    scope: Scope
    days: tuple[str, ...]
    amount: Vector


def _write_charges(charges: tuple[Charge, ...]) -> list[tuple[str, tuple[str, ...], str]]:
    return [(scope.text, days, vector_text(amount)) for scope, days, amount in charges]


def _read_charges(plain: Any) -> tuple[Charge, ...]:
    return tuple([Charge(Scope.parse(scope), tuple(days), read_vector(amount)) for scope, days, amount in plain])


@dataclass(frozen=True)
class Reserved(Entry):
    """A price was charged, all scopes or none.

    `id` begins with the entry's own position, so that no two are alike and nobody has to remember them all.
    `event` is the canonical text of what will be run; `unit`, `neighbours` and `norms` are the bound that it was priced
    under. `plan` is a digest of the plan, `request` of all that was asked, and `key` of the caller's idempotency key.
    `parts` is how many parts it may release before it is settled.
    """

    id: str
    charges: tuple[Charge, ...]
    event: str
    unit: str
    neighbours: str
    norms: str
    analyst: str
    project: str | None
    what: str
    plan: str
    key: str | None
    request: str
    parts: int = 0

    kind: ClassVar[str] = "reserved"
    spelled: ClassVar[Mapping[str, Spelling]] = {"charges": Spelling(_write_charges, _read_charges)}

    def __post_init__(self) -> None:
        Entry.__post_init__(self)
        require(position_of(self.id) == self.sequence, "a reservation's id begins with its own position")
        require(type(self.event) is str and bool(self.event), "event must be the canonical text of an event")
        digests(self.plan, self.request, *(() if self.key is None else (self.key,)))
        _check_said(self.neighbours, self.what, self.parts)
        check_norms(self.norms)
        check_names(self.unit, self.analyst, self.project)
        _check_charges(self.charges)

    @property
    def bound(self) -> Bound:
        """What one unit could change, as it was when the price was charged."""
        l0, *sizes = self.norms.split(" ")
        l1, l2_squared, linf = map(Fraction, sizes)
        return Bound(int(l0), l1, l2_squared, linf, Neighbours(self.neighbours), Unit(self.unit))

    @property
    def priced(self) -> Event:
        """The event that was charged for; refused if this version does not know it."""
        return Event.from_json(self.event)


@dataclass(frozen=True)
class Settled(Entry):
    """What was reserved has been released: `release` is the digest of the (noisy) body, `files` of all beside it."""

    id: str
    release: str
    files: Manifest = ()

    kind: ClassVar[str] = "settled"
    spelled: ClassVar[Mapping[str, Spelling]] = {"files": MANIFEST}

    def __post_init__(self) -> None:
        Entry.__post_init__(self)
        position_of(self.id)
        digests(self.release)
        check_manifest(self.files)

    @property
    def row(self) -> str:
        """The name under which its body is kept."""
        return self.id


@dataclass(frozen=True)
class Part(Entry):
    """One more release under a reservation that stays open: never a charge. Numbers go up, each once."""

    id: str
    number: int
    release: str
    files: Manifest = ()

    kind: ClassVar[str] = "part"
    spelled: ClassVar[Mapping[str, Spelling]] = {"files": MANIFEST}

    def __post_init__(self) -> None:
        Entry.__post_init__(self)
        position_of(self.id)
        require(is_count(self.number) and self.number > 0, "number must count from 1")
        digests(self.release)
        check_manifest(self.files)

    @property
    def row(self) -> str:
        """The name under which its body is kept."""
        return part_row(self.id, self.number)


@dataclass(frozen=True)
class Failed(Entry):
    """What was reserved came to nothing; the charge stands. `code` is that of a mute error."""

    id: str
    code: str

    kind: ClassVar[str] = "failed"

    def __post_init__(self) -> None:
        Entry.__post_init__(self)
        position_of(self.id)
        word(self.code)


def position_of(identifier: str) -> int:
    """Return where the reservation with this id stands.

    >>> position_of("1042-00f3a1b2c3d4e5f6")
    1042
    """
    found = _ID.fullmatch(identifier)
    if found is None:
        raise ArgumentError("a reservation's id is its position, a dash and hexadecimal digits", "SRD-A001")
    return int(found[1])


def part_row(identifier: str, number: int) -> str:
    """Return the name under which the body of a part is kept.

    >>> part_row("1042-00f3a1b2c3d4e5f6", 3)
    '1042-00f3a1b2c3d4e5f6/3'
    """
    return f"{identifier}/{number}"


def norms_text(bound: Bound) -> str:
    """Return the norms of `bound`, exactly, as entries spell them."""
    return f"{bound.l0} {bound.l1} {bound.l2_squared} {bound.linf}"


@lru_cache(maxsize=4096, typed=True)
def _check_said(neighbours: str, what: str, parts: int) -> None:
    require(neighbours in _RELATIONS, "neighbours must be a neighbouring relation")
    word(what)
    require(is_count(parts), "parts must be a whole number")


@lru_cache(maxsize=4096)
def check_names(unit: str, analyst: str, project: str | None) -> None:
    """Refuse names that are not printable, or have another spelling."""
    for name in (unit, analyst) if project is None else (unit, analyst, project):
        checked_name("unit, analyst and project", name)


@lru_cache(maxsize=4096)
def check_norms(norms: str) -> None:
    """Refuse norms that are not four exact numbers in their shortest spelling."""
    require(bool(_NORMS.fullmatch(norms)), "norms must be l0, l1, l2 squared and l∞, exactly")
    plain = [str(Fraction(each)) for each in norms.split(" ")]
    require(" ".join(plain) == norms, "norms must be fractions in lowest terms")


@lru_cache(maxsize=4096)
def check_charged(texts: tuple[str, ...]) -> None:
    """Refuse charges to no scope, or to scopes that are not in order, each once."""
    require(bool(texts), "a reservation charges somebody")
    ascending(texts, "charges")


@lru_cache(maxsize=4096)
def check_days(days: tuple[str, ...]) -> None:
    """Refuse days that are not days, not in order, or too many."""
    require(len(days) <= MOST_DAYS, f"a reservation names at most {MOST_DAYS} days")
    ascending(map(checked_day, days), "days")


def _check_charges(charges: tuple[Charge, ...]) -> None:
    check_charged(tuple([charge.scope.text for charge in charges]))
    for scope, days, amount in charges:
        require(not scope.day and bool(amount), "a charge names a whole scope, its days beside it, and an amount")
        check_days(days)
