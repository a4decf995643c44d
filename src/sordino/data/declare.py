"""What the data's owner says about columns and tables. Plain frozen values; no data and no engine is looked at here.

>>> fare = bounds(0, 100)
>>> city = keys(["Oslo", "Rome", "Bern"])
>>> stars = column(bounds=(1, 5), keys=[1, 2, 3, 4, 5])
"""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Set
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from fractions import Fraction
from types import MappingProxyType
from typing import Any

import numpy as np

from sordino.arguments import Number, one_of, rational, rounded_down, shown, whole
from sordino.errors import ArgumentError

from .kinds import Kind, Range
from .metadata import KeyValue, Limits

MOST_KEYS = 10_000_000
_MOST_ROWS = 2**31
_LARGEST_BOUND = 10**150  # what arithmetic in a question is kept within


@dataclass(frozen=True)
class ColumnDeclaration:
    """What is said about one column; None where nothing is said. Built by `bounds`, `keys` and `column`."""

    kind: Kind | None = None
    range: Range | None = None
    keys: tuple[KeyValue, ...] | None = None
    nullable: bool = True
    granularity: float | None = None

    @property
    def key_kind(self) -> Kind | None:
        """The one kind that all keys are of."""
        return None if self.keys is None else next(_KEY_KINDS[type(key)] for key in self.keys if key is not None)


NOTHING = ColumnDeclaration()
NO_COLUMNS: Mapping[str, ColumnDeclaration] = MappingProxyType({})


def bounds(low: Number, high: Number, *, nullable: bool = True, granularity: Number | None = None) -> ColumnDeclaration:
    """Declare that a column holds numbers from `low` to `high`: values outside are clipped when they are added up.

    **Guarantee**: whatever the data holds, one row adds at most what lies within the bounds.

    Args:
        low: the least value that counts as itself.
        high: the greatest.
        nullable: False says that no value is missing. If one is all the same, it counts as the middle of the bounds.
        granularity: the finest step that matters, for medians and quantiles.
    """
    return column(bounds=(low, high), nullable=nullable, granularity=granularity)


def keys(values: Iterable[Any], *, nullable: bool = True) -> ColumnDeclaration:
    """Declare all values that rows may be grouped by: texts, whole numbers, booleans, dates or times; one kind of them.

    All of them are returned always, in this order, also those without rows; rows with other values are left out. List
    ``None`` to keep the rows in which the value is missing. What is listed must be public knowledge: it is shown.
    """
    return column(keys=values, nullable=nullable)


def column(
    *,
    bounds: tuple[Number, Number] | None = None,
    keys: Iterable[Any] | None = None,
    kind: str | None = None,
    nullable: bool = True,
    granularity: Number | None = None,
) -> ColumnDeclaration:
    """Declare several things about one column at once; see `bounds` and `keys`.

    `kind` (boolean, integer, real, text, date, timestamp) says how to read a column of a CSV file, in which all is
    text; what cannot be read so is missing. Elsewhere the engine's own type decides, and must not contradict it.
    """
    if not isinstance(nullable, bool):
        raise ArgumentError(f"nullable must be True or False, not {type(nullable).__name__}", "SRD-A001")
    read = None if keys is None else _keys(keys)
    if read is not None and not nullable and None in read:
        raise ArgumentError("None is among the keys, so the column is nullable; leave out one of the two", "SRD-A003")
    declared = None if bounds is None else _range(bounds)
    return ColumnDeclaration(
        kind=None if kind is None else Kind(one_of("kind", kind, [each.value for each in Kind])),
        range=declared,
        keys=read,
        nullable=nullable,
        granularity=None if granularity is None else _granularity(granularity, declared),
    )


def limits(rows: int | None = None, groups: int | None = None, rows_per_group: int | None = None) -> Limits:
    """Declare how much one person may weigh in one question. Whoever has more is cut down, each by themselves."""
    given = {"rows": rows, "groups": groups, "rows_per_group": rows_per_group}
    return Limits(**{name: whole(name, n, least=1, most=_MOST_ROWS) for name, n in given.items() if n is not None})


@dataclass(frozen=True)
class PersonalDeclaration:
    """An ε for each public class of people. Build it with `personal`."""

    column: str
    classes: tuple[tuple[KeyValue, Fraction], ...]


def personal(column: str, epsilons: Mapping[Any, Number]) -> PersonalDeclaration:
    """Declare that people are protected by classes: `column` (or "table.column") says who is in which.

    People of the class with the largest ε count in full, all others in proportion to their ε: so a budget of the
    largest ε keeps each class within its own. Who is in no class that is named here does not count at all.

    >>> personal("consent", {"strict": 0.1, "open": 1}).classes
    (('strict', Fraction(1, 10)), ('open', Fraction(1, 1)))
    """
    if not isinstance(column, str) or not column:
        raise ArgumentError("column must be the name of the column that holds each person's class", "SRD-A001")
    if not isinstance(epsilons, Mapping) or not epsilons:
        raise ArgumentError('epsilons must say an ε for each class, such as {"strict": 0.1, "open": 1}', "SRD-A001")
    if None in epsilons:
        raise ArgumentError("who is in no class does not count, so there is no class None; leave it out", "SRD-A002")
    values = _keys(list(epsilons))
    amounts = [rational("epsilon", epsilon, above=0) for epsilon in epsilons.values()]
    return PersonalDeclaration(column, tuple(zip(values, amounts, strict=True)))


@dataclass(frozen=True)
class TableDeclaration:
    """What is said about one table of several. Built by `private` and `public`."""

    source: Any = field(repr=False, compare=False)
    columns: Mapping[str, ColumnDeclaration] = field(default_factory=dict)
    is_public: bool = False
    unit: str | None = None
    parent: tuple[str, str, str] | None = None
    """Own column, parent table, parent's column."""
    limits: Limits = field(default_factory=Limits)

    def __post_init__(self) -> None:
        object.__setattr__(self, "columns", MappingProxyType(dict(self.columns)))


def private(
    source: Any,
    *,
    unit: str | None = None,
    parent: Mapping[str, str] | None = None,
    columns: Mapping[str, ColumnDeclaration] | None = None,
    limits: Limits | None = None,
) -> TableDeclaration:
    """Declare a table about people, as one of several.

    Whose a row is, is said by `unit`, the column that identifies the person; or by `parent`, a foreign key to a private
    table that knows: ``parent={"customer_id": "customers.id"}``; or, if the data set protects single rows, by nothing.
    """
    if unit is not None and parent is not None:
        raise ArgumentError("a row is owned by unit=… or by parent=…, not by both; leave out one", "SRD-A003")
    if unit is not None and not isinstance(unit, str):
        raise ArgumentError(f"unit must be the name of a column, not {type(unit).__name__}", "SRD-A001")
    return TableDeclaration(
        source=source,
        columns=column_declarations(columns),
        unit=unit,
        parent=None if parent is None else _parent(parent),
        limits=table_limits(limits),
    )


def public(source: Any, *, columns: Mapping[str, ColumnDeclaration] | None = None) -> TableDeclaration:
    """Declare a table that speaks about nobody: countries, calendars, prices. It may be joined to freely.

    **Assumes**: it is public indeed. Nothing in it is protected, and it must not be derived from the private tables.
    """
    return TableDeclaration(source=source, columns=column_declarations(columns), is_public=True)


def column_declarations(given: Mapping[str, ColumnDeclaration] | None) -> Mapping[str, ColumnDeclaration]:
    """Return the declarations of columns by name, checked to be such."""
    if given is None:
        return NO_COLUMNS
    if not isinstance(given, Mapping) or not all(isinstance(name, str) for name in given):
        raise ArgumentError('columns must be a dict from names, like {"fare": so.bounds(0, 100)}', "SRD-A001")
    for name, one in given.items():
        if not isinstance(one, ColumnDeclaration):
            raise ArgumentError(
                f"column {shown(name)} must be declared by so.bounds(…), so.keys(…) or so.column(…), "
                f"not by {type(one).__name__}",
                "SRD-A001",
            )
    return given


def table_limits(given: Limits | None) -> Limits:
    """Return the limits, checked to be such."""
    if given is None:
        return Limits()
    if not isinstance(given, Limits):
        raise ArgumentError(f"limits must be so.limits(…), not {type(given).__name__}", "SRD-A001")
    return limits(given.rows, given.groups, given.rows_per_group)


def _parent(given: Any) -> tuple[str, str, str]:
    pair = next(iter(given.items())) if isinstance(given, Mapping) and len(given) == 1 else (None, None)
    table, _, its_column = str(pair[1]).rpartition(".")
    if not all(isinstance(text, str) for text in pair) or not (table and its_column):
        raise ArgumentError('parent must be like {"customer_id": "customers.id"}: own column, its parent', "SRD-A001")
    return str(pair[0]), table, its_column


def _range(given: Any) -> Range:
    if not isinstance(given, tuple | list) or len(given) != 2:
        raise ArgumentError("bounds must be a pair (low, high)", "SRD-A001")
    most = _LARGEST_BOUND
    low, high = (rational(name, n, least=-most, most=most) for name, n in zip(("low", "high"), given, strict=True))
    if not low < high:
        raise ArgumentError(f"low ({given[0]}) must be below high ({given[1]})", "SRD-A003")
    return Range(low, high)


def _granularity(given: Any, declared: Range | None) -> float:
    exact = rational("granularity", given, above=0)
    if declared is None:
        raise ArgumentError(
            "granularity is the finest step between bounds; declare bounds=(low, high), too", "SRD-A003"
        )
    if exact > declared.high - declared.low:
        raise ArgumentError(f"granularity ({given}) must not be wider than the bounds", "SRD-A003")
    return rounded_down(exact)


def _keys(values: Any) -> tuple[KeyValue, ...]:
    if isinstance(values, str | bytes | Mapping | Set) or not isinstance(values, Iterable):
        raise ArgumentError(
            f"keys must be a list in the order in which they are to be returned, not {type(values).__name__}",
            "SRD-A001",
        )
    found = tuple(_key(value) for value in values)
    if len(found) > MOST_KEYS:
        raise ArgumentError(f"more than {MOST_KEYS:,} keys: put them in a public table and group by that", "SRD-A002")
    kinds = {_KEY_KINDS[type(key)] for key in found if key is not None}
    if not kinds:
        raise ArgumentError("keys must list one value at least", "SRD-A002")
    if len(kinds) > 1:
        names = " and ".join(sorted(kind.value for kind in kinds))
        raise ArgumentError(f"keys must be of one kind, not {names} together", "SRD-A001")
    if len(set(found)) < len(found):
        twice = Counter(found).most_common(1)[0][0]
        raise ArgumentError(
            f"keys must differ, but {shown(twice)} is listed twice (texts are compared as NFC)", "SRD-A003"
        )
    return found


def _key(value: Any) -> KeyValue:
    plain = _without_numpy(value)
    for kind, read in _KEY_READERS:
        if isinstance(plain, kind):
            return read(plain)
    remedy = "; round it to whole steps first: reals that look equal may differ" if isinstance(plain, float) else ""
    raise ArgumentError(
        f"a key must be a text, a whole number, a boolean, a date or a time, not {type(plain).__name__}{remedy}",
        "SRD-A001",
    )


def _without_numpy(value: Any) -> Any:
    if isinstance(value, np.datetime64):
        days = np.datetime_data(value.dtype)[0] in ("Y", "M", "W", "D")
        return value.astype("datetime64[D]" if days else "datetime64[us]").item()
    return value.item() if isinstance(value, np.generic) else value


def _text_key(value: str) -> str:
    if "\0" in value or any("\ud800" <= letter <= "\udfff" for letter in value):
        raise ArgumentError("a text key must hold neither NUL nor half a surrogate pair: engines refuse it", "SRD-A002")
    return unicodedata.normalize("NFC", str(value))


def _time_key(value: datetime) -> datetime:
    if value != value:  # pandas' NaT is a datetime
        raise ArgumentError("NaT is not a key; list None for missing values", "SRD-A001")
    there = value if value.tzinfo is None else value.astimezone(UTC).replace(tzinfo=None)
    return datetime(*there.timetuple()[:6], there.microsecond)


_KEY_READERS: tuple[tuple[type, Callable[[Any], KeyValue]], ...] = (
    (type(None), lambda missing: missing),
    (bool, bool),
    (int, lambda number: whole("a key", number, least=-(2**63), most=2**63 - 1)),
    (str, _text_key),
    (datetime, _time_key),
    (date, lambda day: date(day.year, day.month, day.day)),
)
_KEY_KINDS = {
    bool: Kind.BOOLEAN,
    int: Kind.INTEGER,
    str: Kind.TEXT,
    date: Kind.DATE,
    datetime: Kind.TIMESTAMP,
}
