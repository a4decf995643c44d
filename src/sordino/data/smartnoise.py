"""Metadata of SmartNoise SQL, read as declarations: a collection of schemas of tables, with columns beside settings.

A table is called as SmartNoise's queries call it, ``PUMS.PUMS``: schema and table; ``PUMS`` alone will do in questions.

What SmartNoise trusts, sordino enforces; what it would take from the data or from luck is not used. Each such
difference is said in the declaration's `remarks`.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from sordino.accounting.bound import ROW, Unit
from sordino.arguments import shown
from sordino.errors import ArgumentError, QuestionError

from .dataset import Dataset, open_dataset
from .declarations_file import file_text
from .declare import ColumnDeclaration, TableDeclaration, column, limits, private
from .ownership import Declaration, person, unknown
from .strict_yaml import parse

_KINDS = {"int": "integer", "float": "real", "string": "text", "boolean": "boolean", "datetime": "timestamp"}
_SETTINGS: dict[str, tuple[Any, str]] = {
    "rows": (None, "the number of rows is not used: it is not public unless it was released"),
    "rows_exact": (None, "the exact number of rows is not used: it is not public unless it was released"),
    "sample_max_ids": (True, "max_ids is always enforced"),
    "censor_dims": (True, "rare keys are always protected; declare keys to have all of them returned"),
    "clamp_columns": (True, "bounds are always enforced"),
    "clamp_counts": (False, "negative counts are a matter of the answer's post-processing"),
    "use_dpsu": (False, "the way in which rare keys are protected is chosen by the planner"),
}
_COLUMN_FIELDS: dict[str, str | None] = {
    "type": None,
    "lower": None,
    "upper": None,
    "nullable": None,
    "private_id": None,
    "name": None,
    "bounded": None,
    "cardinality": "the cardinality is not used; declare keys instead",
    "missing_value": "missing values stay missing; they are not replaced",
    "sensitivity": "the sensitivity follows from the bounds",
}


def dataset_from_smartnoise(
    metadata: str | os.PathLike[str] | Mapping[str, Any], sources: Mapping[str, Any], *, name: str | None = None
) -> Dataset:
    """Open a data set declared by SmartNoise's metadata; `sources` gives by table where the data is."""
    declared = read(metadata, name=name)
    return open_dataset(declared.at({_named(table, declared): source for table, source in sources.items()}))


def _named(table: str, declared: Declaration) -> str:
    """Return the one table that a name means, with or without its schema."""
    ending = [each for each in declared.tables if each.endswith(f".{table}")]
    return ending[0] if table not in declared.tables and len(ending) == 1 else table


def read(metadata: str | os.PathLike[str] | Mapping[str, Any], *, name: str | None = None) -> Declaration:
    """Read SmartNoise's metadata (a YAML file or the dict in it) as the declarations of a data set.

    `name` is what the data set is called, if not like the collection. ``max_ids`` becomes a limit of rows per person
    (1 if nothing is said, as in SmartNoise), ``row_privacy`` the protection of single rows.
    """
    given = _tree(metadata)
    collections = {str(word): tree for word, tree in given.items() if word != "engine"}
    if len(collections) != 1:
        raise _off(f"it must hold one collection, not {len(collections)}")
    collection, schemas = next(iter(collections.items()))
    remarks: list[str] = []
    tables: dict[str, TableDeclaration] = {}
    for table, settings in _tables(schemas):
        tables[table] = _table(table, settings, remarks.append)
    return Declaration(name or collection or "data", _unit(tables), tables, tuple(remarks))


def _tree(metadata: Any) -> Mapping[Any, Any]:
    if not isinstance(metadata, Mapping):
        path = Path(metadata)
        metadata = parse(_in_lower_case(file_text(path)), str(path))
    if not isinstance(metadata, Mapping):
        raise _off("it must be a mapping")
    return metadata


_CAPITAL_TRUTHS = re.compile(r"(?m)(?<=:)([ \t]+)(True|TRUE|False|FALSE)(?=[ \t]*(?:#.*)?$|[ \t]*[,}])")


def _in_lower_case(text: str) -> str:
    """Return SmartNoise's YAML as it is read here: its own files write True and False, which YAML 1.2 does not know."""
    return _CAPITAL_TRUTHS.sub(lambda found: found[1] + found[2].lower(), text)


def _tables(schemas: Any) -> Iterator[tuple[str, Mapping[str, Any]]]:
    for schema, tables in _mapping("the collection", schemas).items():
        for table, settings in _mapping(f"schema {shown(schema)}", tables).items():
            # an empty name stands for the engine's default schema
            yield ".".join(filter(None, (str(schema or ""), str(table)))), _mapping(f"table {shown(table)}", settings)


def _table(name: str, given: Mapping[str, Any], remark: Callable[[str], None]) -> TableDeclaration:
    for setting, (usual, why) in _SETTINGS.items():
        if setting in given and given[setting] != usual:
            remark(f"{name}: {setting}: {why}")
    by_row = _truth(f"{name}: row_privacy", given.get("row_privacy", False))
    described = {
        word: _mapping(f"{name}.{word}", value)
        for word, value in given.items()
        if word not in (*_SETTINGS, "row_privacy", "max_ids")
    }
    people = [word for word, said in described.items() if _truth(f"{name}.{word}", said.get("private_id", False))]
    if not by_row and len(people) != 1:
        raise QuestionError(
            f"table {name!r} must have one column with private_id: true, or row_privacy: true; it has {len(people)} of "
            "the first",
            "SRD-Q203",
        )
    columns = {word: _column(f"{name}.{word}", said, remark) for word, said in described.items()}
    return private(
        None,
        unit=None if by_row else people[0],
        columns={word: one for word, one in columns.items() if one is not None},
        limits=None if by_row else limits(rows=given.get("max_ids", 1)),
    )


def _column(where: str, said: Mapping[str, Any], remark: Callable[[str], None]) -> ColumnDeclaration | None:
    for word in said:
        if word not in _COLUMN_FIELDS:
            raise _off(f"column {where} has the field {unknown(str(word), _COLUMN_FIELDS)}")
        if _COLUMN_FIELDS[word] is not None:
            remark(f"{where}: {_COLUMN_FIELDS[word]}")
    kind = said.get("type")
    if kind == "unknown":
        remark(f"{where}: a column of unknown type is left as the engine has it")
        return None
    if kind not in _KINDS:
        raise _off(f"column {where} has the type {unknown(str(kind), _KINDS)}")
    ends: tuple[Any, Any] = (said.get("lower"), said.get("upper"))
    if ends.count(None) == 1:
        remark(f"{where}: one bound alone is not used; declare lower and upper")
    if said.get("private_id"):  # compared as the engine has it; a clipped or cast identity would merge people
        return None
    return column(
        kind=_KINDS[kind],
        bounds=None if None in ends else ends,
        nullable=_truth(f"{where}: nullable", said.get("nullable", True)) or said.get("missing_value") is not None,
    )


def _unit(tables: Mapping[str, TableDeclaration]) -> Unit:
    people = {table.unit for table in tables.values()}
    if people == {None}:
        return ROW
    named = people - {None}
    return person(next(iter(named))) if len(named) == 1 else Unit("person")


def _truth(where: str, given: Any) -> bool:
    if not isinstance(given, bool):
        raise _off(f"{where} must be true or false, not {shown(given)}")
    return given


def _mapping(where: str, given: Any) -> Mapping[str, Any]:
    if not isinstance(given, Mapping):
        raise _off(f"{where} must be a mapping (name: value), not {type(given).__name__}")
    return given


def _off(what: str) -> ArgumentError:
    return ArgumentError(f"this is not metadata of SmartNoise: {what}", "SRD-A006")
