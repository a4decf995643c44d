"""The owner's own look at the data, before a budget opens: how much of it counts as declared, and what is lost.

Rows that nobody owns, lines that cannot be read, values that are not of the declared kind, or lie outside of bounds and
keys, never make a question fail: they are missing from its answers, without a word. Here whoever holds the data is told
how many there are, exactly.

**Guarantee**: none. What is told is a function of the data, for the owner's eyes alone: no account, no question and no
service shows it to an analyst, and nothing calls it but the owner. Bounds, keys and limits that are chosen by it may
give people away, so what a report shows stands in `Health.looked`; declared with it (``so.dataset(…, looked=…)``, the
field ``looked`` of a file), whatever is changed afterwards is marked as *set after looking* wherever it is told.
"""

from __future__ import annotations

import gzip
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import ibis

from .dataset import Dataset
from .delimited import header_of
from .local import csv_files
from .looked import Looked, looked_at
from .metadata import OwnedByColumn, OwnedByDay, OwnedByParent, Table

_LONGEST = 2_000_000
_LINES = 5
"""Lines of each fault whose numbers are told."""


@dataclass(frozen=True)
class ColumnHealth:
    """How many values of a column count: those that are there, of the declared kind, within bounds, among keys."""

    filled: int
    parsed: int
    in_bounds: int | None
    in_keys: int | None


@dataclass(frozen=True)
class TableHealth:
    """How many rows of a table count."""

    rows: int
    """Lines of a CSV file that are not empty, or rows."""
    readable: int
    owned: int | None
    """Rows that have an owner; None where rows are units, or belong to nobody."""
    within_limits: int | None
    """Rows that the declared limits let through; None where none are declared."""
    columns: Mapping[str, ColumnHealth]
    faults: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    """What is wrong with lines that cannot be read, with the numbers of the first."""


@dataclass(frozen=True)
class Health:
    """What the owner is told about each table, and what was declared when it was."""

    tables: Mapping[str, TableHealth]
    looked: Looked

    def __str__(self) -> str:
        return "\n".join(line for name, table in self.tables.items() for line in _lines(name, table))

    __repr__ = __str__


def health(dataset: Dataset) -> Health:
    """Return how much of a data set counts as it is declared. For its owner alone, before a budget is opened."""
    return Health({name: _table(dataset, name) for name in dataset.schema.tables}, looked_at(dataset.declaration))


def _table(dataset: Dataset, name: str) -> TableHealth:
    face, rows, declared = dataset.schema.tables[name], dataset.table(name), dataset.declaration.tables[name]
    found: dict[str, Any] = {"rows__": rows.count()}
    for column, known in face.columns.items():
        value = rows[column]
        found[f"{column}__parsed"] = value.count()
        if known.range is not None:
            inside = value.between(float(known.range.low), float(known.range.high))
            found[f"{column}__bounds"] = inside.sum()
        if known.keys is not None:
            listed = [key for key in known.keys if key is not None]
            found[f"{column}__keys"] = value.isin(listed).sum() if listed else ibis.literal(0)
    counted = {key: int(values[0] or 0) for key, values in rows.aggregate(**found).to_pyarrow().to_pydict().items()}
    lines = _Lines.of(csv_files(declared.source))
    columns = {
        column: ColumnHealth(
            lines.filled.get(column, counted[f"{column}__parsed"]),
            counted[f"{column}__parsed"],
            counted.get(f"{column}__bounds"),
            counted.get(f"{column}__keys"),
        )
        for column in face.columns
    }
    readable = counted["rows__"]
    owned, within = _owned(dataset, face, rows)
    return TableHealth(lines.rows or readable, readable, owned, within, columns, lines.faults)


def _owned(dataset: Dataset, face: Table, rows: Any) -> tuple[int | None, int | None]:
    """Return how many rows have an owner, and how many of them the declared limits let through."""
    owner = face.owner
    if isinstance(owner, OwnedByParent):
        parents = dataset.table(owner.parent)
        ours, theirs = rows.select(key=rows[owner.column]), parents.select(key=parents[owner.parent_column]).distinct()
        return int(ours.semi_join(theirs, "key").count().execute()), None
    if not isinstance(owner, OwnedByColumn | OwnedByDay):
        return None, None
    people = rows.filter(rows[owner.column].notnull()).group_by(owner.column).aggregate(rows__=ibis._.count())
    owned = int(people.rows__.sum().execute() or 0)
    if face.limits.rows is None:
        return owned, None
    return owned, int(ibis.least(people.rows__, face.limits.rows).sum().execute() or 0)


# ---- lines of CSV files ---------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Lines:
    """How many lines there are, what is wrong with some, and how many fields of each column are not empty."""

    rows: int = 0
    filled: Mapping[str, int] = field(default_factory=dict)
    faults: Mapping[str, tuple[int, ...]] = field(default_factory=dict)

    @classmethod
    def of(cls, files: tuple[str, ...]) -> _Lines:
        rows, filled, faults = 0, dict[str, int](), dict[str, tuple[int, ...]]()
        for file in files:
            header, separator = header_of(file)
            field_ = re.compile(rf'("(?:[^"]|"")*"|[^{re.escape(separator)}"]*){re.escape(separator)}')
            for number, line in _numbered(file):
                rows += 1
                fields = _fields(line, separator, field_)
                wrong = fields if isinstance(fields, str) else _wrong_length(fields, header)
                if wrong:
                    faults[wrong] = (*faults.get(wrong, ()), number)[: _LINES + 1]
                    continue
                for name, value in zip(header, fields, strict=True):
                    filled[name] = filled.get(name, 0) + (value not in ("", '""'))
        return cls(rows, filled, faults)


def _numbered(file: str) -> Iterator[tuple[int, bytes]]:
    """Yield the lines after the first that are not empty, with their numbers. Each CR and each LF ends one."""
    number = 0
    with (gzip.open if file.endswith(".gz") else open)(file, "rb") as lines:
        for line in lines:
            for bare in line.rstrip(b"\r\n").split(b"\r"):
                number += 1
                if number > 1 and bare:
                    yield number, bare


def _fields(line: bytes, separator: str, pattern: re.Pattern[str]) -> list[str] | str:
    """Return the fields of a line, or what is wrong with it."""
    if len(line) > _LONGEST:
        return "longer than two million bytes: split it"
    try:
        text = line.decode()
    except UnicodeDecodeError:
        return "not UTF-8: convert the file, as by iconv -f latin1 -t utf-8"
    if '"' not in text:
        return text.split(separator)
    found, place = [], 0
    whole = text + separator
    while match := pattern.match(whole, place):
        found.append(match[1])
        place = match.end()
        if place == len(whole):
            return found
    return "a quote that does not end in its line: write values without line breaks, or convert the file to Parquet"


def _wrong_length(fields: list[str], header: list[str]) -> str | None:
    if len(fields) == len(header):
        return None
    return f"not the {len(header)} fields of the header: quote values that hold the separator"


# ---- in words -------------------------------------------------------------------------------------------------------


def _lines(name: str, table: TableHealth) -> Iterator[str]:
    yield f"table {name}: {table.rows:,} rows"
    yield f"  readable       {_of(table.readable, table.rows)}"
    for fault, numbers in table.faults.items():
        shown = ", ".join(map(str, numbers[:_LINES])) + (" …" if len(numbers) > _LINES else "")
        yield f"    line{'s' if len(numbers) > 1 else ''} {shown}: {fault}"
    if table.owned is not None:
        yield f"  owned          {_of(table.owned, table.readable)}"
    if table.within_limits is not None:
        yield f"  within limits  {_of(table.within_limits, table.owned or 0)}"
    width = max(map(len, table.columns), default=0)
    for column, found in table.columns.items():
        said = [f"{_of(found.parsed, found.filled)} parsed"]
        if found.in_bounds is not None:
            said.append(f"{_of(found.in_bounds, found.parsed)} in bounds")
        if found.in_keys is not None:
            said.append(f"{_of(found.in_keys, found.parsed)} in keys")
        yield f"  {column:<{width}}  {', '.join(said)}"


def _of(some: int, everything: int) -> str:
    share = "" if not everything or some == everything else f" ({100 * some / everything:.3g} %)"
    return f"{some:,} of {everything:,}{share}"
