"""What a ledger says about one data set: its rules, its charges and what came of them, and what was burnt."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from sordino.accounting.columns import Vector
from sordino.errors import LedgerError
from sordino.ledger.entries import Budgeted, Entry, Failed, Opened, Reserved, Restored, Settled
from sordino.ledger.rule import Rule, replaced
from sordino.ledger.scope import Scope


@dataclass(frozen=True)
class Ruled:
    """From this position on, the data set has this rule."""

    position: int
    time: int
    rule: Rule


@dataclass(frozen=True)
class Charged:
    """One charge, and the entry that ended it."""

    reserved: Reserved
    ended: Settled | Failed | Restored | None
    days: tuple[str, ...]
    amount: Vector

    @property
    def outcome(self) -> str:
        """What became of it: settled, failed or open."""
        if self.ended is None:
            return "open"
        return "settled" if isinstance(self.ended, Settled) else "failed"


@dataclass(frozen=True)
class Burnt:
    """What was charged for entries that were lost."""

    position: int
    time: int
    amount: Vector


@dataclass(frozen=True)
class Book:
    """Everything in a ledger that concerns one data set, in order."""

    dataset: str
    rules: tuple[Ruled, ...]
    charges: tuple[Charged, ...]
    burnt: tuple[Burnt, ...]
    positions: tuple[int, ...]
    """Where all of this stands in the ledger."""

    @property
    def rule(self) -> Rule:
        """The rule of today."""
        return self.rules[-1].rule

    def charge(self, identifier: str) -> Charged:
        """Return a charge by its id."""
        for each in self.charges:
            if each.reserved.id == identifier:
                return each
        raise LedgerError(
            f"nothing was charged to dataset:{self.dataset} under {identifier[:80]!r}; take the id from the receipt",
            "SRD-L072",
        )


def read_book(entries: Iterable[Entry], dataset: str) -> Book:
    """Return what the entries of a whole ledger say about a data set, or raise `LedgerError` where that is nothing."""
    scope = Scope("dataset", dataset)
    rules: list[Ruled] = []
    begun: dict[str, Reserved] = {}
    ended: dict[str, Settled | Failed | Restored] = {}
    burnt: list[Burnt] = []
    positions: list[int] = []
    for entry in entries:
        match entry:
            case Opened() if entry.scope == scope:
                rules.append(Ruled(entry.sequence, entry.time, entry.rule))
            case Budgeted() if entry.scope == scope:
                rule = replaced(rules[-1].rule, entry.budget, entry.caps)
                rules.append(Ruled(entry.sequence, entry.time, rule))
            case Reserved() if any(charge.scope == scope for charge in entry.charges):
                begun[entry.id] = entry
            case Settled() | Failed() if entry.id in begun:
                ended[entry.id] = entry
            case Restored():
                ended |= {name: entry for name in begun if name not in ended}
                burnt += [Burnt(entry.sequence, entry.time, lost) for held, lost in entry.burnt if held == scope]
            case _:
                continue
        positions.append(entry.sequence)
    if not rules:
        raise LedgerError(f"{scope} has no budget in this ledger, so there is nothing to report on", "SRD-L022")
    charges = tuple(_charged(entry, ended.get(entry.id), scope) for entry in begun.values())
    return Book(dataset, tuple(rules), charges, tuple(burnt), tuple(positions))


def _charged(entry: Reserved, ended: Settled | Failed | Restored | None, scope: Scope) -> Charged:
    (charge,) = [each for each in entry.charges if each.scope == scope]
    return Charged(entry, ended, charge.days, charge.amount)
