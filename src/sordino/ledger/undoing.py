"""Entries on trial: a state takes them in so that the next can be decided, and gives them back if the commit fails."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from .balance import Balance, Held
from .entries import Budgeted, Checkpointed, Entry, Failed, Frozen, Opened, Part, Refreshed, Reserved, Settled
from .state import State

_ABSENT: Any = object()

Place = tuple[dict[str, Any], str]

_Step = tuple[int, int, str | None, list[tuple[Balance, Held]], list[tuple[dict[str, Any], str, Any]]]
"""Size, time, why frozen, balances and places of a state before it took an entry, as far as the entry changes them."""


class Trial:
    """Entries that a state has taken in before they are committed.

    **Guarantee**: after `undo` has returned True the state is what it was, to the last byte of its snapshot.
    """

    def __init__(self, state: State) -> None:
        self._state = state
        self._steps: list[_Step | None] = []
        self._whole = True

    def take(self, entries: Iterable[Entry]) -> None:
        """Let the state take `entries`, or raise the `LedgerError` of the first that breaks a rule and take none."""
        before = len(self._steps)
        try:
            for entry in entries:
                self._steps.append(_step(self._state, entry))
                self._state.apply(entry)
        except BaseException:
            self.undo(before)
            raise

    def undo(self, back_to: int = 0) -> bool:
        """Give back all but the first so many entries; return False if there is one that cannot be given back."""
        while len(self._steps) > back_to:
            step = self._steps.pop()
            if step is None:
                self._whole = False
            else:
                _go_back(self._state, step)
        return self._whole


def _step(state: State, entry: Entry) -> _Step | None:
    places = _PLACES.get(type(entry))
    if places is None:  # a restoration changes everything; it is read again instead
        return None
    before = [(where, key, where.get(key, _ABSENT)) for where, key in places(state, entry)]
    return state.size, state.time, state.frozen, _balances(state, entry), before


def _balances(state: State, entry: Entry) -> list[tuple[Balance, Held]]:
    """Return the balances that an entry changes, with what they hold."""
    if isinstance(entry, Reserved):
        charged = [(scope.text, days) for scope, days, _ in entry.charges]
    elif isinstance(entry, _ONE_SCOPE):
        charged = [(entry.scope.text, ())]
    else:
        return []
    return [(found, found.held(days)) for text, days in charged if (found := state.balances.get(text)) is not None]


def _go_back(state: State, step: _Step) -> None:
    state.size, state.time, state.frozen, balances, places = step
    for balance, held in balances:
        balance.go_back(held)
    for where, key, before in places:
        if before is _ABSENT:
            where.pop(key, None)
        else:
            where[key] = before
    state.forget()


def _reserved(state: State, entry: Reserved) -> list[Place]:
    places: list[Place] = [(state.open, entry.id), (state.last, entry.analyst)]
    return places if entry.key is None else [*places, (state.keys, entry.key)]


def _closed(state: State, entry: Settled | Failed) -> list[Place]:
    found = state.open.get(entry.id)
    places: list[Place] = [(state.open, entry.id)]
    return places if found is None or found.key is None else [*places, (state.keys, found.key)]


_ONE_SCOPE = (Refreshed, Budgeted)

_PLACES: dict[type[Entry], Callable[[State, Any], list[Place]]] = {
    Opened: lambda state, entry: [(state.balances, entry.scope.text)],
    Reserved: _reserved,
    Part: lambda state, entry: [(state.open, entry.id)],
    Settled: _closed,
    Failed: _closed,
    **dict.fromkeys((Budgeted, Refreshed, Checkpointed, Frozen), lambda _state, _entry: []),
}
"""What else an entry changes: a key in one of the state's dictionaries."""
