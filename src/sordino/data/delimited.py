"""CSV files, read so that no line can touch another one, and nothing is guessed from rows.

A line is a row. DuckDB's own reader, as any that lets a quoted value run over several lines, lets one bad quote swallow
the rows of others; and it guesses types and dialect from the rows, so that one row can change them for all. Here every
line is parsed by itself, by RFC 4180 without line breaks in values: fields between commas (tabs in .tsv; semicolons
where the header has these and no comma, and then numbers may have decimal commas), in double quotes where needed,
``""`` for a quote. A first column without a name, as pandas writes its index, is called ``index``. Lines that are not
so, or have not as many fields as the header, are left out, and so are those that are no UTF-8 or longer than two
million bytes (the owner may ask which: ``health.py``). Each CR and each LF ends a line, whatever ends the others; empty
lines are none. Columns are of the kind that was declared, or text; what cannot be read as that, and what is empty, is
missing.
"""

from __future__ import annotations

import csv
import gzip
import re
from collections.abc import Mapping, Sequence

from sordino.errors import ArgumentError

from .declare import NOTHING, ColumnDeclaration
from .kinds import Kind

_TYPES = {
    Kind.BOOLEAN: "BOOLEAN",
    Kind.INTEGER: "BIGINT",
    Kind.REAL: "DOUBLE",
    Kind.TEXT: "VARCHAR",
    Kind.DATE: "DATE",
    Kind.TIMESTAMP: "TIMESTAMP",
}
_NOT_IN_TEXT = "\x1f"  # lines that hold it are left out
_NUMBER = re.compile(r"[-+]?[0-9.,]*[0-9][0-9.,]*(?:[eE][-+]?[0-9]+)?")


def loading(table: str, files: Sequence[str], columns: Mapping[str, ColumnDeclaration]) -> str:
    """Return the SQL that loads the files, which must have one header, into a new table of DuckDB."""
    header, separator = header_of(files[0])
    for file in files[1:]:
        if header_of(file) != (header, separator):
            raise ArgumentError(f"{file} has another header than {files[0]}; give them all the same", "SRD-A005")
    field = f"""("(?:[^"]|"")*"|[^{separator}"]*){separator}"""
    values = ", ".join(
        f"TRY_CAST({_value(place, kind_of(columns.get(name, NOTHING)), separator)} "
        f"AS {_TYPES[kind_of(columns.get(name, NOTHING))]}) "
        f"AS {identifier(name)}"
        for place, name in enumerate(header, start=1)
    )
    return f"""
        CREATE TABLE {table} AS
        WITH lines AS (
            FROM read_csv([{", ".join(map(literal, files))}], columns = {{'line': 'VARCHAR'}}, header = true,
                auto_detect = false, delim = '{_NOT_IN_TEXT}', quote = '', escape = '', new_line = '\\n',
                strict_mode = false, ignore_errors = true)
        ), split AS (
            SELECT CASE
                WHEN NOT contains(line, '"') THEN string_split(line, '{separator}')
                WHEN regexp_full_match(line || '{separator}', '(?:{field})+')
                THEN regexp_extract_all(line || '{separator}', '{field}', 1)
            END AS fields FROM lines
        )
        SELECT {values} FROM split WHERE len(fields) = {len(header)}
    """  # noqa: S608  (names and paths are quoted)


def _value(place: int, kind: Kind, separator: str) -> str:
    """Return a field without its quotes, NULL if it is empty."""
    value = f"nullif({_unquoted(f'fields[{place}]')}, '')"
    return f"replace({value}, ',', '.')" if separator == ";" and kind is Kind.REAL else value


def kind_of(declared: ColumnDeclaration) -> Kind:
    """Return what a column of text is read as: what was declared, or follows from it."""
    return declared.kind or declared.key_kind or (Kind.REAL if declared.range else Kind.TEXT)


def _unquoted(value: str) -> str:
    inner = f"""replace(substr({value}, 2, length({value}) - 2), '""', '"')"""
    return f"""CASE WHEN starts_with({value}, '"') THEN {inner} ELSE {value} END"""


def header_of(file: str) -> tuple[list[str], str]:
    """Return the names in the first line, which are public, and what is between them; no other line is looked at."""
    opened = gzip.open if file.endswith(".gz") else open
    try:
        with opened(file, "rt", encoding="utf-8-sig", errors="replace", newline="") as lines:
            first = next(lines, "")
            separator = _separator(file, first)
            header = next(csv.reader([first], delimiter=separator, strict=True), [])
    except (OSError, EOFError, csv.Error):
        raise ArgumentError(
            f"{file} cannot be read as CSV; check that it is whole, and what it is", "SRD-A005"
        ) from None
    if "\N{REPLACEMENT CHARACTER}" in "".join(header):
        raise ArgumentError(
            f"line 1 of {file} is not written in UTF-8; convert the file: iconv -f latin1 -t utf-8", "SRD-A005"
        )
    if header and not header[0] and "index" not in header[1:]:
        header[0] = "index"
    if 2 * sum(map(_is_number, header)) > len(header):
        raise ArgumentError(
            f"line 1 of {file} must name the columns, and most of it is numbers: write a line of names above it",
            "SRD-A005",
        )
    if not header or not all(header) or len({name.casefold() for name in header}) < len(header):
        raise ArgumentError(f"the first line of {file} must name every column, each by another name", "SRD-A005")
    return header, separator


def _is_number(name: str) -> bool:
    return bool(_NUMBER.fullmatch(name.strip()))


def _separator(file: str, header: str) -> str:
    if file.lower().removesuffix(".gz").endswith(".tsv"):
        return "\t"
    return ";" if ";" in header and "," not in header else ","


def literal(text: str) -> str:
    """Return a text as SQL writes it."""
    return "'" + text.replace("'", "''") + "'"


def identifier(name: str) -> str:
    """Return a name as SQL writes it."""
    return '"' + name.replace('"', '""') + '"'
