"""Declarations in a YAML file: the same words as in Python, so that metadata can be kept and reviewed beside the data.

::

    name: shop
    unit: customer                # or: row
    neighbours: add-remove        # or: replace-one, zero-out; may be left out
    tables:
      customers:
        source: customers.parquet # beside this file; or a URL; or {url: …, table: …, schema: …}
        unit: id
        columns:
          age: {bounds: [0, 120]}
          city: {keys: [Oslo, Rome, Bern]}
      orders:
        source: orders/*.parquet
        parent: {customer_id: customers.id}
        limits: {rows: 20}
      countries:
        source: countries.csv
        public: true

A data set of one table needs no ``tables``: its ``source``, ``columns`` and ``limits`` stand beside ``name`` and
``unit``, which then names the column. A source may be left out and given in Python. People who are protected by classes
are declared beside ``name`` as well::

    personal:
      column: consent             # or: customers.consent
      classes:
        - {is: strict, epsilon: 0.1}
        - {is: open, epsilon: 1}

and views, subqueries that can be asked about like tables::

    views:
      adults: SELECT * FROM customers WHERE age >= 18

and days, each of which has a budget of its own::

    blocks: {days: day, protects: person-day, first: 2026-06-01}

and, once the owner looked at the data, what a health report adds, by which later changes are marked::

    looked: {shop.age: 1f0c5a…, shop: 9b7d11…}

``declarations_text`` writes all this. Declarations of what is no table say of which `sort` they are (`tables` if it is
left out); a service knows who reads those, and ``head`` what all begin with.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from sordino.accounting.bound import ROW, Unit
from sordino.accounting.neighbours import Neighbours
from sordino.arguments import shown_path
from sordino.errors import ArgumentError

from .by_day import DaysDeclaration, days
from .dataset import Dataset, open_dataset
from .declare import ColumnDeclaration, PersonalDeclaration, TableDeclaration, column, limits, personal, private, public
from .looked import checked_looked
from .ownership import Declaration, checked_name, checked_relation, person, unknown
from .sources import source
from .strict_yaml import parse

_LARGEST_FILE = 64 * 2**20
TABLES = "tables"
"""The sort of declarations that this reads, and that is meant where none is named."""
_HEAD = ("name", "unit", "neighbours")
_OF_TABLES = ("personal", "views", "blocks", "within", "looked")
_RELATIONS = {relation.value: relation for relation in Neighbours}
_ONE_TABLE = ("source", "columns", "limits")

Result = TypeVar("Result")


def dataset_from_file(path: str | os.PathLike[str], sources: Mapping[str, Any] | None = None) -> Dataset:
    """Open the data set that a YAML file declares; `sources` gives, by table, what the file does not say."""
    return open_dataset(read(path).at(sources or {}))


def read(path: str | os.PathLike[str]) -> Declaration:
    """Read the declarations of a data set from a YAML file."""
    where = Path(path)
    return from_dict(parse(file_text(where), str(where)), where.parent)


def file_text(path: Path) -> str:
    """Return the text of a file of declarations."""
    try:
        if path.stat().st_size > _LARGEST_FILE:
            raise ArgumentError(f"{shown_path(path)} is larger than 64 MiB; is it a file of declarations?", "SRD-A006")
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        raise ArgumentError(f"{shown_path(path)} cannot be read as UTF-8 text; check the path", "SRD-A006") from None


@dataclass(frozen=True)
class Head:
    """What declarations of every sort say: what it is called, who is protected, and against which change of one."""

    name: str
    unit: Unit
    neighbours: Neighbours


def head(given: Any, known: Iterable[str] = (), needed: Iterable[str] = ()) -> tuple[Head, dict[str, Any]]:
    """Return what all declarations say, and the fields beside it, of which some are `known` and some `needed`."""
    top = _fields("the file", given, ("sort", *_HEAD, *known), ("name", "unit", *needed))
    relation = checked_relation(_RELATIONS.get(str(top.get("neighbours", "add-remove"))))
    unit = ROW if top["unit"] == ROW.name else person(top["unit"])
    name = checked_name("the data set's name", top["name"])
    return Head(name, unit, relation), {word: value for word, value in top.items() if word in known}


def from_dict(given: Any, directory: Path) -> Declaration:
    """Return the declaration of tables that the parsed file holds; paths are relative to `directory`."""
    said, top = head(given, (*_OF_TABLES, "tables", *_ONE_TABLE))
    if given.get("sort", TABLES) != TABLES:
        raise ArgumentError(
            "the file declares what is no table; register it with a service that knows its sort, or leave sort out",
            "SRD-A006",
        )
    if "tables" in top:
        _fields("a file with tables", given, ("sort", *_HEAD, *_OF_TABLES, "tables"))
        tables = {name: _table(name, one, directory) for name, one in _mapping("tables", top["tables"]).items()}
    else:
        owner = {} if said.unit == ROW else {"unit": said.unit.name}
        rest = {word: value for word, value in top.items() if word in _ONE_TABLE}
        tables = {said.name: _table(said.name, rest | owner, directory)}
    views = _mapping("views", top.get("views") or {})
    blocks, people = _blocks(top.get("blocks")), _personal(top.get("personal"))
    return Declaration(
        said.name,
        said.unit,
        tables,
        personal=people,
        views=views,
        blocks=blocks,
        neighbours=said.neighbours,
        within=top.get("within"),
        looked=checked_looked(top.get("looked")),
    )


def _blocks(given: Any) -> DaysDeclaration | None:
    if given is None:
        return None
    said = _fields("blocks", given, ("days", "protects", "first", "last"), ("days", "protects"))
    return _placed("blocks", lambda: days(said.pop("days"), **said))


def _personal(given: Any) -> PersonalDeclaration | None:
    if given is None:
        return None
    said = _fields("personal", given, ("column", "classes"), ("column", "classes"))
    if not isinstance(said["classes"], list):
        raise ArgumentError("classes of personal must be a list of {is: …, epsilon: …}", "SRD-A006")
    epsilons: dict[Any, Any] = {}
    for each in said["classes"]:
        one = _fields("a class of personal", each, ("is", "epsilon"), ("is", "epsilon"))
        if isinstance(one["is"], list | dict) or one["is"] in epsilons:
            raise ArgumentError("each class of personal says by is: … which value it is; each another one", "SRD-A006")
        epsilons[one["is"]] = one["epsilon"]
    return _placed("personal", lambda: personal(said["column"], epsilons))


def _table(name: str, given: Any, directory: Path) -> TableDeclaration:
    where = f"table {name!r}"
    said = _fields(where, given or {}, ("source", "unit", "parent", "public", "columns", "limits"))
    is_public = said.get("public", False)
    if not isinstance(is_public, bool):
        raise ArgumentError(f"public of {where} must be true or false", "SRD-A006")
    columns = {
        each: _column(f"column {each!r} of {where}", one)
        for each, one in _mapping(f"columns of {where}", said.get("columns") or {}).items()
    }
    found = _source(where, said.get("source"), directory)
    if is_public:
        _fields(f"the public {where}", given, ("source", "public", "columns"))
        return public(found, columns=columns)
    weight = _fields(f"limits of {where}", said.get("limits") or {}, ("rows", "groups", "rows_per_group"))
    return _placed(
        where,
        lambda: private(
            found, unit=said.get("unit"), parent=said.get("parent"), columns=columns, limits=limits(**weight)
        ),
    )


def _column(where: str, given: Any) -> ColumnDeclaration:
    said = _fields(where, given or {}, ("bounds", "keys", "kind", "nullable", "granularity"))
    return _placed(where, lambda: column(**said))


def _source(where: str, given: Any, directory: Path) -> Any:
    if given is None:
        return None
    if isinstance(given, str):
        return given if "://" in given else str(directory / given)
    said = _fields(f"source of {where}", given, ("url", "table", "schema"), ("url",))
    return _placed(where, lambda: source(said["url"], said.get("table"), said.get("schema")))


def _fields(where: str, given: Any, known: Iterable[str], needed: Iterable[str] = ()) -> dict[str, Any]:
    found = _mapping(where, given)
    for word in found:
        if word not in known:
            raise ArgumentError(f"{where} has the field {unknown(word, known)}", "SRD-A006")
    for word in needed:
        if found.get(word) is None:
            raise ArgumentError(f"{where} lacks the field {word!r}", "SRD-A006")
    return found


def _mapping(where: str, given: Any) -> dict[str, Any]:
    if not isinstance(given, dict):
        raise ArgumentError(f"{where} must be a mapping (name: value), not {type(given).__name__}", "SRD-A006")
    return given


def _placed(where: str, build: Callable[[], Result]) -> Result:
    """Return what is built; if it is refused, say where in the file that was."""
    try:
        return build()
    except ArgumentError as error:
        hint = "; in YAML, texts that look like numbers or dates need quotes" if "key" in error.message else ""
        raise ArgumentError(f"{where}: {error.message}{hint}", error.code) from None
