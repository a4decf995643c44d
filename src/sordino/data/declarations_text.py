"""Declarations as YAML, in the words that ``declarations_file`` reads."""

from __future__ import annotations

import os
from fractions import Fraction
from typing import Any
from urllib.parse import urlsplit, urlunsplit

from sordino.accounting.neighbours import Neighbours
from sordino.errors import ArgumentError

from .by_day import DaysDeclaration
from .declare import ColumnDeclaration, PersonalDeclaration, TableDeclaration
from .metadata import Limits
from .ownership import Declaration
from .sources import Source
from .strict_yaml import write


def to_yaml(declaration: Declaration) -> str:
    """Return the declarations as YAML; frames are left out, and so are passwords of databases."""
    tables = {name: _table_to_dict(table) for name, table in declaration.tables.items()}
    only = tables.get(declaration.name)
    head: dict[str, Any] = {"name": declaration.name, "unit": declaration.unit.name}
    if declaration.neighbours is not Neighbours.ADD_REMOVE:
        head["neighbours"] = declaration.neighbours.value
    if declaration.within is not None:
        head["within"] = declaration.within
    if declaration.personal is not None:
        head["personal"] = _personal_to_dict(declaration.personal)
    if declaration.blocks is not None:
        head["blocks"] = _blocks_to_dict(declaration.blocks)
    views = {"views": dict(declaration.views)} if declaration.views else {}
    if declaration.looked is not None:
        views["looked"] = dict(declaration.looked)
    if only is not None and len(tables) == 1 and "parent" not in only and only.get("unit", "row") == head["unit"]:
        return write(head | {word: value for word, value in only.items() if word != "unit"} | views)
    return write(head | {"tables": tables} | views)


def _blocks_to_dict(declared: DaysDeclaration) -> dict[str, Any]:
    said = {"days": declared.column, "protects": declared.protects, "first": declared.first, "last": declared.last}
    return {word: value for word, value in said.items() if value is not None}


def _personal_to_dict(declared: PersonalDeclaration) -> dict[str, Any]:
    classes = [{"is": value, "epsilon": _decimal(epsilon)} for value, epsilon in declared.classes]
    return {"column": declared.column, "classes": classes}


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
        raise ArgumentError(f"{exact} has no short decimal; declare a number that has, to write it", "SRD-A006")
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
