"""Decisions: from a wish and the state to the entry that may be appended, or the reason why not. Pure functions.

Whoever calls them holds the store's writer lock and has caught up, so that the state is that of all entries. What they
return, `State.apply` takes; nothing here changes the state.

**Guarantee**: what is decided depends on the entries so far, the wish and the clock, never on data.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from operator import attrgetter
from typing import TypeVar

from sordino.accounting.bound import Bound, Unit
from sordino.accounting.budget import Budget
from sordino.accounting.columns import Vector
from sordino.accounting.event import Event
from sordino.accounting.neighbours import Neighbours
from sordino.accounting.relation import charged_as
from sordino.accounting.tally import check_priced_for, check_protects
from sordino.accounting.units import SATURATED
from sordino.errors import ArgumentError, BudgetError, ConflictError, FrozenError, LedgerError, UnsupportedError

from .balance import Balance
from .continuing import Joint
from .entries import (
    Budgeted,
    Charge,
    Checkpointed,
    Continued,
    Entry,
    Failed,
    Frozen,
    Opened,
    Part,
    Refreshed,
    Reserved,
    Restored,
    Settled,
    norms_text,
)
from .manifest import Manifest
from .periods import LATEST, moment
from .refusal import Shortfall, refusal
from .rule import Rule
from .scope import Scope
from .state import Keyed, State

E = TypeVar("E", bound=Entry)

_ASKED = ("analyst", "project", "what", "plan", "key", "request", "parts")  # what an entry says in a request's words
_asked = attrgetter(*_ASKED)


@dataclass(frozen=True)
class Request:
    """A wish to release: what will be run, under which bound, from which data sets, for whom.

    `days` are charged in those data sets whose days have budgets of their own, and must hold every day that will be
    read. `token` is 16 to 64 random hexadecimal digits. `plan` and `request` are SHA-256 digests of the plan and of all
    that was asked, `key` of the caller's idempotency key; none may depend on data.
    """

    event: Event
    bound: Bound
    datasets: tuple[Scope, ...]
    analyst: str
    what: str
    plan: str
    request: str
    token: str
    days: tuple[str, ...] = ()
    project: str | None = None
    key: str | None = None
    pause: int = 0
    """The milliseconds that must lie between two reservations of one analyst."""
    parts: int = 0
    """How many parts it may release before it is settled."""

    _prices: list[tuple[Rule, Neighbours, Vector]] = field(default_factory=list, init=False, repr=False, compare=False)

    def price_in(self, rule: Rule, held: Neighbours) -> Vector:
        """Return what the event costs under a rule that counts by the relation `held`; found once for each."""
        for known, relation, price in self._prices:
            if known is rule and relation is held:
                return price
        price = rule.filter.charge(self.counted(held))
        self._prices.append((rule, held, price))
        return price

    def counted(self, held: Neighbours) -> Event:
        """Return the event by which a scope under the relation `held` is charged."""
        return charged_as(self.event, self.bound.neighbours, held)


@dataclass(frozen=True)
class Decision:
    """What follows from a request: entries to append in order, or an earlier request under the same key, or a refusal.

    The words of a refusal take milliseconds to find, so they are found when `refusal()` is called: outside of the lock.
    """

    entries: tuple[Entry, ...] = ()
    reserved: Reserved | None = None
    """The last of `entries`."""
    earlier: Keyed | None = None
    """What became of the same request before; nothing is to be appended."""
    shortfalls: tuple[Shortfall, ...] = field(default=(), repr=False)

    def refusal(self) -> BudgetError:
        """Return the error that says what remains, what would fit and when budgets begin anew, for every scope."""
        return refusal(self.shortfalls)


def charges_of(state: State, request: Request) -> tuple[Charge, ...]:
    """Return what `request` costs each scope that it concerns, or raise for one that cannot be charged at all.

    Prices are remembered, so calling this before the lock is taken keeps the time under it short.
    """
    check_priced_for(request.event, request.bound)
    if not request.datasets or any(scope.kind != "dataset" or scope.day for scope in request.datasets):
        raise ArgumentError("datasets must name one or more whole data sets", "SRD-A003")
    for scope in request.datasets:
        rule = state.balance(scope).rule
        bound = request.bound
        same = rule.unit == bound.unit.name and rule.neighbours is bound.neighbours
        if not same and rule.unit is not None and rule.neighbours is not None:
            check_protects(str(scope), (Unit(rule.unit), rule.neighbours), bound.unit, bound.neighbours)
    charges = []
    for scope, balance in state.route(request.datasets, request.analyst, request.project):
        rule = balance.rule
        held = rule.neighbours or state.relation_of(request.datasets)
        charges.append(Charge(scope, _days(scope, rule, request), _price(scope, rule, request, held)))
    return tuple(charges)


def decide_reserve(state: State, request: Request, now: int) -> Decision:
    """Return what follows from `request` when the clock says `now`, in milliseconds since 1970.

    **Guarantee**: all scopes or none. A key that was used before for the same request gives what became of it, without
    a second charge; for another request it raises `ConflictError`.
    """
    _check_alive(state)
    if request.key is not None and (earlier := state.keys.get(request.key)) is not None:
        if earlier.request != request.request:
            raise ConflictError(
                "this idempotency key was used before for another request; use a new key for a new request",
                "SRD-L030",
            )
        return Decision(earlier=earlier)
    time, charges = _time(state, now), charges_of(state, request)
    _check_pause(state, request, time)
    shortfalls = tuple([each for charge in charges for each in _shortfalls(state, charge, request, time)])
    if shortfalls:
        return Decision(shortfalls=shortfalls)
    refreshes = _due(state, charges, time)
    reserved = _reserved(request, charges, state.size + len(refreshes), time)
    return Decision((*refreshes, reserved), reserved)


def decide_open(state: State, scope: Scope, rule: Rule, by: str, now: int) -> Opened:
    """Return the entry that opens `scope`."""
    return _checked(state, Opened(state.size, _time(state, now), scope, rule, by))


def decide_budget(state: State, scope: Scope, budget: Budget, by: str, reason: str, now: int) -> Budgeted:
    """Return the entry that gives `scope` another budget, at the orders by which it has counted so far."""
    rule = state.balance(scope).rule.with_budget(budget)
    return _checked(state, Budgeted(state.size, _time(state, now), scope, budget, rule.caps, by, reason))


def decide_part(
    state: State, identifier: str, number: int, release: str, files: Manifest, now: int
) -> tuple[Part, ...]:
    """Return the entry that records one more release under an open reservation; none if it was recorded before."""
    found = state.open.get(identifier)
    if found is not None and number <= found.last:
        return ()
    return (_checked(state, Part(state.size, _time(state, now), identifier, number, release, files)),)


def decide_settle(state: State, identifier: str, release: str, now: int, files: Manifest = ()) -> Settled:
    """Return the entry that settles a reservation with the digests of what was released."""
    time = _time(state, now)
    values = {"sequence": state.size, "time": time, "id": identifier, "release": release, "files": files}
    return _checked(state, Settled.made(values))


def decide_fail(state: State, identifier: str, code: str, now: int) -> Failed:
    """Return the entry that says that a reservation came to nothing; its charge stands."""
    return _checked(state, Failed(state.size, _time(state, now), identifier, code))


def decide_checkpoint(state: State, note: str, now: int) -> Checkpointed:
    """Return the entry that keeps a signed checkpoint."""
    return _checked(state, Checkpointed(state.size, _time(state, now), note))


def decide_freeze(state: State, code: str, now: int) -> Frozen:
    """Return the entry that freezes the ledger."""
    return _checked(state, Frozen(state.size, _time(state, now), code))


def decide_restore(
    state: State,
    witnessed: Mapping[Scope, Vector],
    lost_to: int,
    by: str,
    reason: str,
    now: int,
    joint: Joint | None = None,
) -> Restored:
    """Return the entry by which the owner goes on from an old copy, burning what the lost entries may have charged.

    `witnessed` holds the lifetime totals (`State.lifetimes`) that the witness saw at size `lost_to`. A scope is charged
    what its total there exceeds its total here; one that the witness does not know loses all that it has. With a
    `joint` the ledger is another log from then on, as it must be where entries that were signed are not in this copy.
    """
    texts = {scope.text: amount for scope, amount in witnessed.items()}
    for text, balance in state.balances.items():
        seen = texts.get(text)
        known = seen is not None and len(seen) == balance.width
        texts[text] = _lost(balance, seen) if seen is not None and known else _everything(balance)
    burnt = tuple((Scope.parse(text), texts[text]) for text in sorted(texts))
    said = (state.size, _time(state, now), min(state.size, lost_to), lost_to, by, reason, burnt)
    if joint is None:
        entry = Restored(*said)
    else:
        keys = joint.previous.verifier.text, joint.key.text
        entry = Continued(*said, *keys, joint.lost, joint.handover(state.size))
    state.check(entry)
    return entry


def _lost(balance: Balance, seen: Vector) -> Vector:
    """Return what is missing from `seen`; a total that stopped at saturation may hide any amount."""
    here = balance.lifetime
    return tuple(SATURATED if s == SATURATED else max(s - h, 0) for s, h in zip(seen, here, strict=True))


def _everything(balance: Balance) -> Vector:
    """Return an amount after which nothing fits, however a budget is raised.

    With one column beside own δ nobody can have spent more than its cap, and a raise may build on that. With several
    nobody knows which of them the lost entries kept, so none may be trusted again.
    """
    caps = balance.rule.caps
    return caps if len(caps) <= 2 else (SATURATED,) * len(caps)


def _checked(state: State, entry: E) -> E:
    _check_alive(state)
    state.check(entry)
    return entry


def _check_pause(state: State, request: Request, time: int) -> None:
    ready = state.last.get(request.analyst, -request.pause) + request.pause
    if time < ready:
        raise BudgetError(
            f"the owner asks for a pause of {request.pause / 1000:g} s between two releases; ask again after "
            f"{moment(ready)}",
            "SRD-B003",
        )


def _shortfalls(state: State, charge: Charge, request: Request, time: int) -> Iterator[Shortfall]:
    """Yield where a charge does not fit the balance of its scope."""
    scope, days, amount = charge
    balance = state.balance(scope)
    if balance.due(time) is None and balance.paid(days, amount) is not None:
        return  # the rule, and by far the quickest to find
    for day, seen in balance.seen(days, time):
        if not balance.rule.filter.fits(seen, amount):
            where = scope.block(day) if day else scope
            event = request.counted(balance.rule.neighbours or state.relation_of(request.datasets))
            yield Shortfall(where, balance.rule.filter, seen, event, balance.next_start(time))


def _check_alive(state: State) -> None:
    if state.frozen is not None:
        raise FrozenError(
            f"this ledger is frozen ({state.frozen}): it charges and releases nothing until its owner restores it",
            "SRD-L028",
        )


def _price(scope: Scope, rule: Rule, request: Request, held: Neighbours) -> Vector:
    try:
        return request.price_in(rule, held)
    except UnsupportedError as error:
        raise UnsupportedError(
            f"{scope} is counted in {rule.budget.calculus}, which cannot hold this: {error.message}", error.code
        ) from error


def _days(scope: Scope, rule: Rule, request: Request) -> tuple[str, ...]:
    if rule.blocks is None:
        return ()
    if not request.days:
        raise LedgerError(
            f"every day of {scope} has a budget of its own, so a question must say which days it reads; give days",
            "SRD-L029",
        )
    return tuple(sorted(set(request.days)))


def _time(state: State, now: int) -> int:
    if type(now) is not int or not 0 <= now <= LATEST:
        raise ArgumentError("now must be in whole milliseconds since 1970", "SRD-A001")
    return state.next_time(now)


def _due(state: State, charges: tuple[Charge, ...], time: int) -> list[Refreshed]:
    entries: list[Refreshed] = []
    for charge in charges:
        due = state.balance(charge.scope).due(time)
        if due is not None:
            entries.append(Refreshed(state.size + len(entries), time, charge.scope, due))
    return entries


def _reserved(request: Request, charges: tuple[Charge, ...], sequence: int, time: int) -> Reserved:
    bound, values = request.bound, dict(zip(_ASKED, _asked(request), strict=True))
    values |= {"sequence": sequence, "time": time, "id": f"{sequence}-{request.token}", "charges": charges}
    values |= {"event": _event_text(request.event), "unit": bound.unit.name, "norms": norms_text(bound)}
    values["neighbours"] = bound.neighbours.value
    return Reserved.made(values)


@lru_cache(maxsize=4096)
def _event_text(event: Event) -> str:
    """Return the canonical text of an event that has a price: so it is of a type whose equals are spelled alike."""
    return event.to_json()
