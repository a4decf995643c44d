"""Snapshots of a state, which only make opening fast: who verifies a ledger ignores them and replays everything.

The spelling is canonical, so two states are the same if and only if their snapshots are the same bytes.
"""

from __future__ import annotations

from typing import Any

from sordino.errors import LedgerError

from .balance import Balance
from .canonical import decode, encode
from .rule import Rule
from .scope import Scope, checked_day
from .state import Keyed, Open, State
from .vectors import read_vector, vector_text

VERSION = 2


def snapshot(state: State) -> bytes:
    """Return `state` as canonical JSON."""
    return encode(
        {
            "balances": [(text, *_balance(balance)) for text, balance in sorted(state.balances.items())],
            "frozen": state.frozen,
            "last": sorted(state.last.items()),
            "keys": [(key, *keyed) for key, keyed in sorted(state.keys.items())],
            "lost": sorted(state.lost),
            "open": [(identifier, *held) for identifier, held in sorted(state.open.items())],
            "size": state.size,
            "time": state.time,
            "v": VERSION,
        }
    )


def from_snapshot(data: bytes) -> State:
    """Return the state that `snapshot` wrote, or raise `LedgerError`."""
    body = decode(data)
    try:
        state = _state(body)
        same = snapshot(state) == data
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise LedgerError("this is no snapshot of this version; replay the entries instead", "SRD-L031") from error
    if not same:
        raise LedgerError("this snapshot holds what this version does not know; replay the entries instead", "SRD-L031")
    return state


def _state(body: dict[str, Any]) -> State:
    state = State()
    state.size, state.time, state.frozen = body["size"], body["time"], body["frozen"]
    state.balances = {Scope.parse(text).text: _read_balance(*rest) for text, *rest in body["balances"]}
    state.open = {identifier: Open(*rest) for identifier, *rest in body["open"]}
    state.keys = {key: Keyed(*rest) for key, *rest in body["keys"]}
    state.last = dict(body["last"])
    state.lost = {Scope.parse(text).text for text in body["lost"]}
    return state


def _balance(balance: Balance) -> tuple[Any, ...]:
    vectors = (vector_text(each) for each in (balance.spent, balance.before, balance.floor))
    days = [(day, vector_text(held)) for day, held in sorted(balance.days.items())]
    return (balance.rule.to_plain(), list(balance.ruled), balance.period, *vectors, days)


def _read_balance(rule: dict[str, Any], ruled: list[int], number: int, *rest: Any) -> Balance:
    *vectors, days = rest
    balance = Balance(Rule.from_plain(rule), 0, tuple(ruled))
    spent, before, floor = map(read_vector, vectors)
    balance.restore(number, spent, before, floor, {checked_day(day): read_vector(held) for day, held in days})
    return balance
