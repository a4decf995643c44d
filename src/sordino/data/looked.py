"""What was declared when the owner looked at the data: what differs from it now was set after looking.

It is part of the declarations, as they are public: a mark for each thing that was said, without what it said.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any

from sordino.arguments import shown
from sordino.errors import ArgumentError

from .ownership import Declaration

Looked = Mapping[str, str]
"""By ``table.column``, or ``table`` for its limits: the digest of what was declared; nothing where nothing was."""

_DIGITS = 16


def looked_at(declaration: Declaration) -> Looked:
    """Return the marks of everything that is declared now, and of what was when its owner looked first."""
    return {**_marks(declaration), **(declaration.looked or {})}


def set_after_looking(declaration: Declaration) -> tuple[str, ...]:
    """Return which columns (their bounds, keys or kinds) and tables (their limits) were declared after a look."""
    if declaration.looked is None:
        return ()
    now = _marks(declaration)
    return tuple(name for name in sorted({*now, *declaration.looked}) if now.get(name) != declaration.looked.get(name))


def checked_looked(given: Any) -> Looked | None:
    """Return marks as they were handed over: names and digests."""
    if given is None:
        return None
    if not isinstance(given, Mapping) or not all(isinstance(each, str) for pair in given.items() for each in pair):
        raise ArgumentError(f"looked must be what a health report holds, not {shown(given)}", "SRD-A001")
    return dict(given)


def _marks(declaration: Declaration) -> dict[str, str]:
    marks: dict[str, str] = {}
    for name, table in declaration.tables.items():
        marks |= {f"{name}.{column}": _digest(said) for column, said in table.columns.items()}
        marks[name] = _digest(table.limits)
    return marks


def _digest(said: object) -> str:
    return hashlib.sha256(repr(said).encode()).hexdigest()[:_DIGITS]
