"""The quick way to read and write the two kinds of entries that make up nearly all of a ledger, without JSON.

The canonical spelling of an entry is one string of bytes, so a pattern can accept it and nothing else: the keys in
order, no white space, numbers without leading zeros, texts without escapes (but for quotes inside an event). What a
pattern does not accept is read as JSON in ``entries.py`` and spelled again, which says what is wrong, or takes it if it
was only unusual.

**Guarantee**: whatever is accepted here is accepted there, as the same entry, and what is written here is what
``canonical.py`` would write. Held by ``tests/ledger/test_entries.py``.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache
from json.encoder import encode_basestring as _quoted
from typing import Any

from sordino.accounting.columns import Vector

from .canonical import LARGEST_NUMBER
from .charging import Charge, Reserved, Settled, check_charged, check_days, check_names, check_norms
from .entry import Entry
from .periods import LATEST
from .scope import Scope
from .vectors import read_vector, vector_text

_NUMBER = r"(0|[1-9][0-9]{0,15})"
_TEXT = r'[^"\\\x00-\x1f]{1,200}'
_EVENT = r'[^"\\\x00-\x1f]*(?:\\"[^"\\\x00-\x1f]*)+'
_DIGEST = r"([0-9a-f]{64})"
_ID = r"((?:0|[1-9][0-9]{0,15})-[0-9a-f]{16,64})"
_DAY = r'"[0-9]{4}-[0-9]{2}-[0-9]{2}"'
_CHARGE = rf'\["({_TEXT})",\[((?:{_DAY}(?:,{_DAY})*)?)\],"([0-9 ]+)"\]'
_UNNAMED = re.sub(r"(?<!\\)\((?!\?)", "(?:", _CHARGE)

_SETTLED = re.compile(
    rf'\{{"files":\[\],"id":"{_ID}","kind":"settled","release":"{_DIGEST}","sequence":{_NUMBER},"time":{_NUMBER},"v":1\}}'
)
_ASKED = re.compile(rf'\{{"analyst":"({_TEXT})","charges":\[({_UNNAMED}(?:,{_UNNAMED})*)\],"event":"({_EVENT})')
_RESERVED = re.compile(
    rf'","id":"{_ID}","key":(?:null|"{_DIGEST}"),"kind":"reserved","neighbours":"(add-remove|replace-one|zero-out)",'
    rf'"norms":"([0-9/ ]+)","parts":{_NUMBER},"plan":"{_DIGEST}","project":(?:null|"({_TEXT})"),"request":"{_DIGEST}",'
    rf'"sequence":{_NUMBER},"time":{_NUMBER},"unit":"({_TEXT})","v":1,"what":"([a-zA-Z0-9][a-zA-Z0-9._-]{{0,63}})"\}}'
)
_CHARGES = re.compile(_CHARGE)

_EMPTY: tuple[str, ...] = ()


def read_quickly(data: bytes) -> Entry | None:
    """Return the entry that `data` spells, or None if it must be read as JSON; raises `ValueError` if it is wrong."""
    text = data.decode()
    found = _SETTLED.fullmatch(text)
    if found is not None:
        return _settled(*found.groups())
    end = text.find('","id":"')
    found = _RESERVED.fullmatch(text, end) if end > 0 else None
    return None if found is None else _reserved(text[:end], *found.groups())


def _settled(identifier: str, release: str, sequence: str, time: str) -> Entry | None:
    at, when = int(sequence), int(time)
    if at > LARGEST_NUMBER or when > LATEST:
        return None
    return Settled.trusted({"sequence": at, "time": when, "id": identifier, "release": release, "files": ()})


def _reserved(
    begins: str,
    identifier: str,
    key: str | None,
    relation: str,
    norms: str,
    parts: str,
    plan: str,
    project: str | None,
    request: str,
    place: str,
    time: str,
    unit: str,
    what: str,
) -> Entry | None:
    at, when, most, asked = int(place), int(time), int(parts), _asked(begins)
    if asked is None or max(at, most) > LARGEST_NUMBER or when > LATEST or identifier.partition("-")[0] != place:
        return None
    analyst, charges, event = asked
    check_norms(norms)
    check_names(unit, analyst, project)
    return Reserved.trusted(
        {
            "sequence": at,
            "time": when,
            "id": identifier,
            "charges": charges,
            "event": event,
            "unit": unit,
            "neighbours": relation,
            "norms": norms,
            "analyst": analyst,
            "project": project,
            "what": what,
            "plan": plan,
            "key": key,
            "request": request,
            "parts": most,
        }
    )


@lru_cache(maxsize=4096)
def _asked(begins: str) -> tuple[str, tuple[Charge, ...], str] | None:
    """Return the analyst, the charges and the event with which an entry begins: mostly like many before it."""
    found = _ASKED.fullmatch(begins)
    if found is None:
        return None
    analyst, spelled, event = found.groups()
    charges = tuple([_charge(*each) for each in _CHARGES.findall(spelled)])
    check_charged(tuple([charge.scope.text for charge in charges]))
    return analyst, charges, event.replace('\\"', '"')


def _charge(scope: str, days: str, amount: str) -> Charge:
    return Charge(Scope.parse(scope), _days(days) if days else _EMPTY, read_vector(amount))


@lru_cache(maxsize=4096)
def _days(spelled: str) -> tuple[str, ...]:
    days = tuple(spelled.replace('"', "").split(","))
    check_days(days)
    return days


def _write_settled(entry: Settled) -> str:
    files = ",".join([f'["{each.name}","{each.digest}",{each.size}]' for each in entry.files])
    return (
        f'{{"files":[{files}],"id":"{entry.id}","kind":"settled","release":"{entry.release}","sequence":{entry.sequence},'
        f'"time":{entry.time},"v":1}}'
    )


def _write_reserved(entry: Reserved) -> str:
    charges = ",".join([_write_charge(*charge) for charge in entry.charges])
    key = "null" if entry.key is None else f'"{entry.key}"'
    project = "null" if entry.project is None else _quoted(entry.project)
    return (
        f'{{"analyst":{_quoted(entry.analyst)},"charges":[{charges}],"event":{_quoted(entry.event)},"id":"{entry.id}",'
        f'"key":{key},"kind":"reserved","neighbours":"{entry.neighbours}","norms":"{entry.norms}","parts":{entry.parts},'
        f'"plan":"{entry.plan}","project":{project},"request":"{entry.request}","sequence":{entry.sequence},'
        f'"time":{entry.time},"unit":{_quoted(entry.unit)},"v":1,"what":"{entry.what}"}}'
    )


def _write_charge(scope: Scope, days: tuple[str, ...], amount: Vector) -> str:
    spelled = ",".join([f'"{day}"' for day in days])
    return f'[{_quoted(scope.text)},[{spelled}],"{vector_text(amount)}"]'


WRITERS: dict[type[Entry], Callable[[Any], str]] = {Settled: _write_settled, Reserved: _write_reserved}
"""How to spell an entry of each kind; its own checks have seen to it that only names and events need to be quoted."""
