"""The state: what the entries so far add up to. It is never stored as a truth, only replayed.

`State.apply` is the judge of a ledger: it takes an entry if every rule allows it and refuses it otherwise, naming the
position and the reason. Whatever decides what to append (``decisions.py``) and whatever verifies what was appended goes
through the same few lines.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from typing import Any, NamedTuple

from sordino.accounting.columns import Vector
from sordino.accounting.neighbours import Neighbours
from sordino.errors import ArgumentError, LedgerError

from . import entries
from .balance import Balance, Paid
from .periods import moment
from .rule import Rule, replaced
from .scope import Scope

Change = Callable[[], None]
"""What an entry does to the state, once every rule allows it."""

_STRICTEST: tuple[Neighbours, ...] = (Neighbours.REPLACE_ONE, *Neighbours)


class Open(NamedTuple):
    """A reservation that is neither settled nor failed."""

    key: str | None
    """The digest of its idempotency key."""
    parts: int
    """How many parts it may release."""
    last: int = 0
    """The number of the last part that was recorded."""


_PLAIN = Open(None, 0)


class Keyed(NamedTuple):
    """What became of the request under an idempotency key."""

    id: str
    request: str
    """The digest of what was asked; another one under the same key is a conflict."""
    outcome: int | None = None
    """The position of the entry that settled or failed it; None while it is open."""
    failed: bool = False


class State:
    """What the first `size` entries of a ledger add up to.

    **Guarantee**: a state that took an entry keeps, for every scope, the rule of ``accounting/filter.py``: whatever was
    reserved, in any order and by whomever, fitted every scope that it concerns at the moment when it was charged.
    """

    def __init__(self) -> None:
        self.size = 0
        self.time = 0
        self.frozen: str | None = None
        self.balances: dict[str, Balance] = {}
        """By the scope's text."""
        self.open: dict[str, Open] = {}
        """Reservations that are neither settled nor failed, by their ids."""
        self.keys: dict[str, Keyed] = {}
        self.last: dict[str, int] = {}
        """When each analyst last reserved."""
        self.lost: set[str] = set()
        """Scopes that only entries which are gone knew; they cannot be opened again."""
        self.complete: dict[tuple[Any, ...], list[Balance]] = {}
        """Whom a combination of unit, relation and scopes charges, once it was found to be what it must be."""
        self.routes: dict[tuple[Any, ...], list[tuple[Scope, Balance]]] = {}
        """What `route` found before."""
        self._judged: entries.Entry | None = None
        """The newest entry that was checked and not applied yet, and what it changes."""
        self._change: Change = _nothing
        self._rules: dict[type[entries.Entry], Callable[[Any], Change]] = {
            entries.Opened: self._opened,
            entries.Budgeted: self._budgeted,
            entries.Reserved: self._reserved,
            entries.Part: self._parted,
            entries.Settled: self._closed,
            entries.Failed: self._closed,
            entries.Refreshed: self._refreshed,
            entries.Checkpointed: self._checkpointed,
            entries.Frozen: self._frozen,
            entries.Restored: self._restored,
            entries.Continued: self._restored,
        }

    def apply(self, entry: entries.Entry) -> None:
        """Take `entry` as the next one, or raise `LedgerError` and change nothing."""
        change = self._change if self._judged is entry else self._judge(entry)  # nothing has changed since
        self._judged = None
        change()
        self.size += 1
        self.time = entry.time

    def check(self, entry: entries.Entry) -> None:
        """Raise the `LedgerError` that `apply` would raise, and change nothing in any case."""
        self._judged = None
        self._change = self._judge(entry)
        self._judged = entry

    def forget(self) -> None:
        """Forget what was found out about the entries so far: a scope has come or gone."""
        self.complete.clear()
        self.routes.clear()
        self._judged = None

    def _judge(self, entry: entries.Entry) -> Change:
        """Return what `entry` changes, or raise `LedgerError` if it breaks a rule."""
        if entry.sequence != self.size:
            raise broken(
                entry, f"it stands at position {self.size}: entries are missing, repeated or out of order", "SRD-L021"
            )
        if entry.time < self.time:
            raise broken(entry, f"its time, {moment(entry.time)}, lies before that of the entry before it", "SRD-L021")
        if self.frozen is not None and not isinstance(entry, entries.Restored):
            raise broken(entry, "the ledger was frozen, and only its restoration may follow", "SRD-L028")
        return self._rules[type(entry)](entry)

    def balance(self, scope: Scope) -> Balance:
        """Return the balance of `scope`, or raise `LedgerError` if it was never opened."""
        found = self.balances.get(scope.text)
        if found is None:
            raise LedgerError(
                f"{scope.whole} has not been opened in this ledger; its owner must give it a budget", "SRD-L022"
            )
        return found

    @property
    def scopes(self) -> tuple[Scope, ...]:
        """All scopes that were opened, in alphabetical order."""
        return tuple(Scope.parse(text) for text in sorted(self.balances))

    def spent(self, scope: Scope) -> Vector:
        """Return what `scope`, or one day of it, has spent since its period began."""
        return self.balance(scope).on(scope.day)

    def lifetime(self, scope: Scope) -> Vector:
        """Return everything that was ever charged to `scope`."""
        return self.balance(scope).lifetime

    def lifetimes(self) -> Mapping[Scope, Vector]:
        """Return the lifetime totals of all scopes: what a witness remembers, and `decide_restore` burns up to."""
        return {scope: self.lifetime(scope) for scope in self.scopes}

    def next_time(self, now: int) -> int:
        """Return the time of an entry that is written when the clock says `now`: time never goes back."""
        return max(self.time, now)

    def _opened(self, entry: entries.Opened) -> Change:
        text = entry.scope.text
        if text in self.balances:
            raise broken(entry, f"{entry.scope} has been opened before; set its budget instead", "SRD-L022")
        if text in self.lost:
            raise broken(
                entry,
                f"{entry.scope} was opened and charged in entries that are lost, so what is left of it is unknown; "
                "choose another name only if nobody's protection rested on it",
                "SRD-L022",
            )
        for name in entry.rule.groups:
            group = self.balances.get(f"group:{name}")
            if group is None:
                raise broken(entry, f"group {name!r} has not been opened; open it before its data sets", "SRD-L022")
            self._check_member(entry, name, group.rule)
        return partial(self._open, text, entry)

    def _check_member(self, entry: entries.Opened, name: str, group: Rule) -> None:
        """Refuse a data set of other people than the group's, or one whose prices say nothing under its relation."""
        own = entry.rule
        if group.unit != own.unit:
            raise broken(
                entry,
                f"group {name!r} protects each {group.unit}, and {entry.scope} each {own.unit}: the two do not add up; "
                "all members of a group name one unit",
                "SRD-L022",
            )
        if group.neighbours is None or own.neighbours is None or not group.neighbours.takes(own.neighbours):
            raise broken(
                entry,
                f"group {name!r} is under another relation than {entry.scope}, so the two do not add up: only a group "
                "under replace-one takes members under add-remove as well; open such a group",
                "SRD-L022",
            )

    def _open(self, text: str, entry: entries.Opened) -> None:
        self.balances[text] = Balance(entry.rule, entry.time, (entry.sequence,))
        self.forget()

    def _budgeted(self, entry: entries.Budgeted) -> Change:
        balance = self._known(entry, entry.scope)
        try:
            rule = replaced(balance.rule, entry.budget, entry.caps)
        except ArgumentError as error:
            raise broken(entry, error.message, "SRD-L026") from error
        if not balance.would_hold(rule):
            raise broken(
                entry,
                f"{entry.scope} has spent more than {entry.budget} already; set at least what it spent",
                "SRD-L026",
            )
        return partial(balance.change_rule, rule, entry.sequence)

    def _reserved(self, entry: entries.Reserved) -> Change:
        shape = (
            entry.unit,
            entry.neighbours,
            entry.analyst,
            entry.project,
            *[charge[0].text for charge in entry.charges],
        )
        balances = self.complete.get(shape)
        if balances is None:
            self._check_complete(entry)
            balances = self.complete[shape] = [self.balances[charge.scope.text] for charge in entry.charges]
        if entry.key is not None and entry.key in self.keys:
            raise broken(entry, "its idempotency key was used before", "SRD-L025")
        paid = [
            (balance, self._paid(entry, balance, charge))
            for balance, charge in zip(balances, entry.charges, strict=True)
        ]
        return partial(self._reserve, entry, paid)

    def _reserve(self, entry: entries.Reserved, paid: list[tuple[Balance, Paid]]) -> None:
        for balance, after in paid:  # all scopes or none: by now every one of them has been found to fit
            balance.take(after)
        self.open[entry.id] = Open(entry.key, entry.parts) if entry.key or entry.parts else _PLAIN
        self.last[entry.analyst] = entry.time
        if entry.key is not None:
            self.keys[entry.key] = Keyed(entry.id, entry.request)

    def _check_complete(self, entry: entries.Reserved) -> None:
        """Refuse a reservation that leaves out a scope that it concerns, adds one, or protects somebody else."""
        charged, ran = [charge.scope for charge in entry.charges], Neighbours(entry.neighbours)
        for scope in charged:
            self._known(entry, scope)
        datasets = [scope for scope in charged if scope.kind == "dataset"]
        if not datasets:
            raise broken(entry, "it charges no data set", "SRD-L023")
        for scope in datasets:
            rule = self.balances[scope.text].rule
            if rule.unit != entry.unit or rule.neighbours is None or not rule.neighbours.takes(ran):
                raise broken(
                    entry, f"{scope} protects another unit or relation than the price was found for", "SRD-L023"
                )
        concerned = self.concerned(datasets, entry.analyst, entry.project)
        if {scope.text for scope in charged} != {scope.text for scope in concerned}:
            raise broken(entry, "it does not charge exactly the scopes that it concerns", "SRD-L023")

    def concerned(self, datasets: list[Scope], analyst: str, project: str | None) -> list[Scope]:
        """Return all scopes that a release from `datasets` must be charged to, in the order of entries.

        They are the data sets, the groups that these belong to, and the analyst and the project if they have budgets.
        """
        found = {scope.text for scope in datasets}
        for scope in datasets:
            found.update(f"group:{name}" for name in self.balance(scope).rule.groups)
        if (own := f"analyst:{analyst}") in self.balances:
            found.add(own)
        if project is not None and (common := f"project:{project}") in self.balances:
            found.add(common)
        return [Scope.parse(text) for text in (sorted(found) if len(found) > 1 else found)]

    def route(self, datasets: tuple[Scope, ...], analyst: str, project: str | None) -> list[tuple[Scope, Balance]]:
        """Return the same with their balances, found once; only for whoever has the turn, as others change it."""
        found = self.routes.get((datasets, analyst, project))
        if found is None:
            found = [(scope, self.balance(scope)) for scope in self.concerned(list(datasets), analyst, project)]
            self.routes[datasets, analyst, project] = found
        return found

    def relation_of(self, datasets: Iterable[Scope]) -> Neighbours:
        """Return the relation by which scopes count that protect nobody themselves: the strictest of the data sets'."""
        held = [self.balance(scope).rule.neighbours for scope in datasets]
        return next((each for each in _STRICTEST if each in held), Neighbours.ADD_REMOVE)

    def _paid(self, entry: entries.Reserved, balance: Balance, charge: entries.Charge) -> Paid:
        scope, days, amount = charge
        if len(amount) != balance.width or not any(amount):
            raise broken(entry, f"its price is no amount in the columns of {scope}", "SRD-L023")
        if bool(days) != balance.by_day:
            raise broken(entry, f"it must name days of {scope} exactly if these have budgets of their own", "SRD-L023")
        if balance.refresh is not None and balance.due(entry.time) is not None:
            raise broken(entry, f"{scope} should have entered a new period before", "SRD-L027")
        after = balance.paid(days, amount)
        if after is None:
            raise broken(entry, f"its price exceeds the caps of {scope}", "SRD-L023")
        return after

    def _parted(self, entry: entries.Part) -> Change:
        found = self._still_open(entry)
        if not found.last < entry.number <= found.parts:
            raise broken(
                entry,
                f"it is part {entry.number} after {found.last} of the {found.parts} that {entry.id} declared",
                "SRD-L033",
            )
        return partial(self.open.__setitem__, entry.id, found._replace(last=entry.number))

    def _closed(self, entry: entries.Settled | entries.Failed) -> Change:
        self._still_open(entry)
        return partial(self._close, entry.id, entry.sequence, type(entry) is entries.Failed)

    def _still_open(self, entry: entries.Settled | entries.Failed | entries.Part) -> Open:
        found = self.open.get(entry.id)
        if found is None:
            raise broken(
                entry, f"reservation {entry.id} is not open: never made, or settled or failed before", "SRD-L024"
            )
        return found

    def _close(self, identifier: str, outcome: int, failed: bool) -> None:
        key = self.open.pop(identifier).key
        if key is not None:
            self.keys[key] = self.keys[key]._replace(outcome=outcome, failed=failed)

    def _refreshed(self, entry: entries.Refreshed) -> Change:
        balance = self._known(entry, entry.scope)
        if balance.due(entry.time) != entry.period:
            raise broken(
                entry, f"{entry.scope} does not enter period {entry.period} at {moment(entry.time)}", "SRD-L027"
            )
        return partial(balance.enter, entry.period)

    def _checkpointed(self, _entry: entries.Checkpointed) -> Change:
        return _nothing  # signatures are for `verify` to check

    def _frozen(self, entry: entries.Frozen) -> Change:
        return partial(setattr, self, "frozen", entry.code)

    def _restored(self, entry: entries.Restored) -> Change:
        burnt = {scope.text: amount for scope, amount in entry.burnt}
        if entry.lost_from != min(entry.sequence, entry.lost_to):
            raise broken(entry, "what it says is lost does not begin where this copy ends", "SRD-L023")
        if not set(self.balances) <= set(burnt):
            raise broken(entry, "it leaves out a scope that the lost entries may have charged", "SRD-L023")
        if any(len(burnt[text]) != balance.width for text, balance in self.balances.items()):
            raise broken(entry, "what it burns is no amount in the columns of some scope", "SRD-L023")
        return partial(self._restore, entry.sequence, burnt)

    def _restore(self, sequence: int, burnt: dict[str, Vector]) -> None:
        self.lost |= set(burnt) - set(self.balances)
        for text, balance in self.balances.items():
            balance.burn(burnt[text])
        for identifier in list(self.open):  # they may have been settled in what was lost, so they are good no more
            self._close(identifier, sequence, failed=True)
        self.frozen = None

    def _known(self, entry: entries.Entry, scope: Scope) -> Balance:
        found = self.balances.get(scope.text)
        if found is None:
            raise broken(entry, f"{scope} has not been opened", "SRD-L022")
        return found


def rules_of(reserved: entries.Reserved, state: State) -> Iterator[int]:
    """Yield where the rules stand by which a charge protects: what opened each scope, and its newest budget by then."""
    for charge in reserved.charges:
        if charge.scope.protects:
            opened, *changed = state.balances[charge.scope.text].ruled
            yield opened
            yield from [position for position in changed if position < reserved.sequence][-1:]


def broken(entry: entries.Entry, why: str, code: str) -> LedgerError:
    """Return the error that says which entry breaks which rule."""
    return LedgerError(f"entry {entry.sequence} ({entry.kind}) breaks a rule: {why}", code)


def _nothing() -> None:
    """Change nothing."""
