"""Declarations in a YAML file: the same words as in Python, so that metadata can be kept and reviewed beside the data.

::

    name: shop
    unit: customer                # or: row
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
``unit``, which then names the column. A source may be left out and given in Python.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from fractions import Fraction
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import urlsplit, urlunsplit

from sordino.accounting.bound import ROW
from sordino.errors import ArgumentError
from sordino.query.model.metadata import Limits

from .dataset import Dataset, open_dataset
from .declare import ColumnDeclaration, TableDeclaration, column, limits, private, public
from .ownership import Declaration, person, unknown
from .sources import Source, source
from .strict_yaml import parse, write

_LARGEST_FILE = 64 * 2**20

Result = TypeVar("Result")


def dataset_from_file(path: str | os.PathLike[str], sources: Mapping[str, Any] | None = None) -> Dataset:
    """Open the data set that a YAML file declares; `sources` gives, by table, what the file does not say."""
    return open_dataset(read(path).at(sources or {}))


def read(path: str | os.PathLike[str]) -> Declaration:
    """Read the declarations of a data set from a YAML file."""
    where = Path(path)
    return from_dict(parse(file_text(where), str(where)), where.parent)


def to_yaml(declared: Dataset | Declaration) -> str:
    """Return the declarations as YAML; frames are left out, and so are passwords of databases."""
    declaration = declared.declaration if isinstance(declared, Dataset) else declared
    tables = {name: _table_to_dict(table) for name, table in declaration.tables.items()}
    only = tables.get(declaration.name)
    head = {"name": declaration.name, "unit": declaration.unit.name}
    if only is not None and len(tables) == 1 and "parent" not in only and only.get("unit", "row") == head["unit"]:
        return write(head | {word: value for word, value in only.items() if word != "unit"})
    return write(head | {"tables": tables})


def file_text(path: Path) -> str:
    """Return the text of a file of declarations."""
    try:
        if path.stat().st_size > _LARGEST_FILE:
            raise ArgumentError(f"{path} is larger than 64 MiB; is it a file of declarations?", "SRD-A006")
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        raise ArgumentError(f"{path} cannot be read as UTF-8 text; check the path", "SRD-A006") from None


def from_dict(given: Any, directory: Path) -> Declaration:
    """Return the declaration that the parsed file holds; paths are relative to `directory`."""
    top = _fields("the file", given, ("name", "unit", "tables", "source", "columns", "limits"), ("name", "unit"))
    unit = ROW if top["unit"] == ROW.name else person(top["unit"])
    if "tables" not in top:
        owner = {} if unit == ROW else {"unit": unit.name}
        rest = {word: value for word, value in top.items() if word not in ("name", "unit")}
        return Declaration(top["name"], unit, {top["name"]: _table(str(top["name"]), rest | owner, directory)})
    _fields("a file with tables", given, ("name", "unit", "tables"))
    tables = _mapping("tables", top["tables"])
    return Declaration(top["name"], unit, {name: _table(name, one, directory) for name, one in tables.items()})


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


def _table_to_dict(table: TableDeclaration) -> dict[str, Any]:
    parent = None if table.parent is None else {table.parent[0]: ".".join(table.parent[1:])}
    said = {
        "source": _source_to_yaml(table.source),
        "public": table.is_public or None,
        "unit": table.unit,
        "parent": parent,
        "limits": _limits_to_dict(table.limits) or None,
        "columns": {name: _column_to_dict(one) for name, one in table.columns.items()} or None,
    }
    return {word: value for word, value in said.items() if value is not None}


def _limits_to_dict(weight: Limits) -> dict[str, int]:
    named = {"rows": weight.rows, "groups": weight.groups, "rows_per_group": weight.rows_per_group}
    return {word: number for word, number in named.items() if number is not None}


def _column_to_dict(declared: ColumnDeclaration) -> dict[str, Any]:
    said = {
        "kind": None if declared.kind is None else declared.kind.value,
        "bounds": None if declared.range is None else [_decimal(declared.range.low), _decimal(declared.range.high)],
        "granularity": declared.granularity,
        "keys": None if declared.keys is None else list(declared.keys),
        "nullable": None if declared.nullable else False,
    }
    return {word: value for word, value in said.items() if value is not None}


def _decimal(exact: Fraction) -> int | float:
    if exact.denominator == 1:
        return exact.numerator
    if Fraction(repr(float(exact))) != exact:
        raise ArgumentError(f"the bound {exact} has no short decimal; declare one that has, to write it", "SRD-A006")
    return float(exact)


def _source_to_yaml(given: Any) -> str | dict[str, str] | None:
    if isinstance(given, Source) and isinstance(given.where, str):
        said = {"url": _without_password(given.where), "table": given.table, "schema": given.schema}
        return {word: text for word, text in said.items() if text is not None}
    if isinstance(given, str):
        return _without_password(given) if "://" in given else os.path.abspath(given)
    return os.path.abspath(given) if isinstance(given, os.PathLike) else None


def _without_password(url: str) -> str:
    parts = urlsplit(url)
    if parts.password is None:
        return url
    who, _, host = parts.netloc.rpartition("@")
    return urlunsplit(parts._replace(netloc=f"{who.partition(':')[0]}@{host}"))
