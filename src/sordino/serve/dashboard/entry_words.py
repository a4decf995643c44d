"""Entries of the ledger in plain words, and what to do about a ledger that is frozen."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from sordino.serve.telling import event_words

Plain = Mapping[str, Any]

KINDS = (
    *("opened", "budgeted", "reserved", "part", "settled", "failed", "refreshed"),
    *("checkpointed", "frozen", "restored", "continued"),
)
"""The kinds of entries, in the order in which pages offer them."""
_SCOPES = {"dataset": "data set", "group": "group", "analyst": "analyst", "project": "project"}


def scope(text: str) -> str:
    """Say whom a scope's text means.

    >>> scope("dataset:trips")
    'data set trips'
    """
    kind, _, name = text.partition(":")
    return f"{_SCOPES.get(kind, kind)} {name}"


def sentence(shown: Plain) -> str:
    """Say what an entry means, in one sentence or two."""
    said = _SENTENCES.get(shown["kind"])
    if said is None or "entry" not in shown:
        return f"These bytes are no entry that this version can read: {shown.get('reason', 'an unknown kind')}"
    return said(shown["entry"])


def _budget(text: str) -> str:
    return event_words.price(json.loads(text))


def _opened(entry: Plain) -> str:
    rule = entry["rule"]
    said = f"{entry['by']} opened {scope(entry['scope'])} with a budget of {_budget(rule['budget'])}."
    if rule["unit"]:
        said += f" Each {rule['unit']} is protected ({rule['neighbours']})."
    if rule["refresh"]:
        said += f" It begins anew each {rule['refresh']}." if isinstance(rule["refresh"], str) else " It begins anew."
    return said


def _reserved(entry: Plain) -> str:
    scopes = ", ".join(scope(charged) + _days(days) for charged, days, _ in entry["charges"])
    what = "; ".join(told.name for told in event_words.told_of(json.loads(entry["event"])))
    return f"Before any data was touched, a {entry['what']} of {entry['analyst']} was charged to {scopes}: {what}."


def _days(days: list[str]) -> str:
    """Say which days of a data set were charged, where days have budgets of their own.

    >>> _days([]), _days(["2026-11-03"]), _days(["2026-11-03", "2026-11-04"])
    ('', ' on 2026-11-03', ' on 2 days from 2026-11-03 to 2026-11-04')
    """
    if len(days) < _SEVERAL:
        return f" on {days[0]}" if days else ""
    return f" on {len(days)} days from {days[0]} to {days[-1]}"


_SEVERAL = 2


def _checkpointed(entry: Plain) -> str:
    return f"A signed checkpoint of the first {entry['note'].split(chr(10))[1]} entries was kept among them."


def _restored(entry: Plain) -> str:
    lost = entry["lost_to"] - entry["lost_from"]
    return f"{entry['by']} went on from an old copy, {lost} entries lost and burnt. The reason: {entry['reason']}"


def _continued(entry: Plain) -> str:
    origin = entry["key"].partition("+")[0]
    return f"The ledger is another log from here on, {origin}, with a key of its own. {_restored(entry)}"


_SENTENCES: dict[str, Callable[[Plain], str]] = {
    "opened": _opened,
    "budgeted": lambda entry: (
        f"{entry['by']} set the budget of {scope(entry['scope'])} to {_budget(entry['budget'])}. "
        f"The reason: {entry['reason']}"
    ),
    "reserved": _reserved,
    "part": lambda entry: (
        f"Part {entry['number']} of what is released under {entry['id']} was recorded: its digest stands here for good."
    ),
    "settled": lambda entry: f"What was released under {entry['id']} was settled: its digest stands here for good.",
    "failed": lambda entry: f"Nothing came of {entry['id']} ({entry['code']}). What was charged stays charged.",
    "refreshed": lambda entry: f"The budget of {scope(entry['scope'])} began anew: period {entry['period']}.",
    "checkpointed": _checkpointed,
    "frozen": lambda entry: f"The ledger was frozen ({entry['code']}): only a restoration may follow.",
    "restored": _restored,
    "continued": _continued,
}

_PUT_BACK = (
    "Put the newest copy of the ledger back, if there is one, and start the service again.",
    "If there is none, the owner goes on from this copy: sordino ledger restore --by NAME --reason WORDS. What lost "
    "entries may have spent is burnt.",
)
_ALTERED = (
    "Keep the files as they are: they are the evidence. Find out who could write to them.",
    "Put a copy back that verifies (sordino ledger verify), together with nothing older than its witness.",
)
REMEDIES: dict[str, tuple[str, ...]] = {
    "SRD-L028": (
        "Find out why it was frozen: the newest entries say when, and by which word.",
        "Then the owner lets it go on: sordino ledger restore --by NAME --reason WORDS.",
    ),
    "SRD-L061": _PUT_BACK,
    "SRD-L062": _PUT_BACK,
    "SRD-L068": (
        "Put the witness back where it was, and start the service again.",
        "If it is lost, the owner may restore: sordino ledger restore --by NAME --reason WORDS. All that is left is "
        "burnt, for nobody knows what the newest copy had spent.",
    ),
    "SRD-L063": ("See that the witness can be reached and written to, and is the one of this ledger.",),
    "SRD-L066": ("Put the newest file back in its place, and start the service again.",),
    "SRD-L067": ("Put the newest file back in its place, and start the service again.",),
    "SRD-L069": ("Find out who changed the snapshot, delete it, and start the service again.",),
}
"""What to do about a frozen ledger, by its code."""


def remedies(code: str) -> tuple[str, ...]:
    """Say what to do about a ledger that is frozen for this reason, step by step."""
    return REMEDIES.get(code, _ALTERED)
