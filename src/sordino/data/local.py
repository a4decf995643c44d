"""A DuckDB of the data set's own, in memory: files and frames are read where they are, and everything else is locked.

**Guarantee**: once `lock` was called, the connection reads no file but those named to it and writes none (what does not
fit into memory fails rather than being spilled to disk), opens no network connection, installs and loads no extension,
and none of this can be turned on again.
"""

from __future__ import annotations

import glob
import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import duckdb

from sordino.arguments import shown_path
from sordino.errors import ArgumentError

from . import delimited
from .compilers import duckdb_backend
from .connections import share
from .declare import NO_COLUMNS, ColumnDeclaration

_DUCKDB = duckdb_backend()
_SETTINGS = {
    "autoinstall_known_extensions": False,
    "autoload_known_extensions": False,
    "allow_community_extensions": False,
}
_TRUSTING = frozenset({"filter_pushdown", "statistics_propagation"})
"""The optimisers of DuckDB that believe what Parquet files say about their values."""
_SPECIAL = frozenset("*?[]{}")
_LOOSE = "sordino_loose"
"""The database in memory that files are found in. Unlike what is temporary, every cursor sees it."""
_ON_EVERY_CURSOR = ("TimeZone = 'UTC'", "python_enable_replacements = false")
"""What Ibis sets on the connection that it makes, and a cursor must have as well."""


class LocalTables:
    """Tables of one data set in one locked DuckDB."""

    def __init__(self, database: Path | None = None) -> None:
        self.backend = connect(database)
        self.backend.con.execute(f"ATTACH ':memory:' AS {_LOOSE} (READ_WRITE)")
        self._cursors = share(self.backend)
        self._files: list[str] = []
        self._database = database

    def add_files(
        self, name: str, pattern: str | os.PathLike[str], columns: Mapping[str, ColumnDeclaration] = NO_COLUMNS
    ) -> Any:
        """Register the Parquet files that match now, or load the CSV files, whose columns are read as declared."""
        files = find_files(pattern)
        add = _FORMATS[_format(files[0])]
        if len({_format(file) for file in files}) > 1:
            raise ArgumentError(
                f"the files of {name!r} must be of one format; name them by a narrower pattern", "SRD-A005"
            )
        self._files += files
        return add(self, name, files, columns)

    def add_arrow(self, name: str, table: Any) -> Any:
        """Register an Arrow table, without a copy."""
        try:
            self._cursors.register(_physical(name), table)
            return self.backend.table(_physical(name))
        except duckdb.Error:  # what it says may quote a value
            kinds = ", ".join(sorted({str(column.type) for column in table.schema}))
            raise ArgumentError(
                f"the frame of {name!r} has columns of types that DuckDB does not read, among {kinds}; cast them to "
                "numbers, texts, dates or times, or leave them out",
                "SRD-A001",
            ) from None

    @property
    def read_in_place(self) -> tuple[str, ...]:
        """The files that must be there whenever something is asked; CSV files were loaded once."""
        named = () if self._database is None else (str(self._database),)
        return (*named, *(file for file in self._files if _format(file) == "parquet"))

    def lock(self) -> None:
        """Give up every right but to read what was registered."""
        allowed = ", ".join(map(delimited.literal, self._files))
        distrust_statistics(self.backend.con)
        for setting in (
            *(f"GLOBAL {each}" for each in _ON_EVERY_CURSOR),
            "temp_directory = ''",
            f"allowed_paths = [{allowed}]",
            "enable_external_access = false",
            "lock_configuration = true",
        ):
            self.backend.con.execute(f"SET {setting}")

    def _add_parquet(self, name: str, files: Sequence[str], _: Mapping[str, ColumnDeclaration]) -> Any:
        if len(files) > 1:
            self._refuse_different_schemas(files)
        listed = ", ".join(map(delimited.literal, files))
        try:
            self.backend.con.execute(f"CREATE VIEW {_place(name)} AS FROM read_parquet([{listed}])")
        except duckdb.Error:
            raise _unreadable(files[0], "Parquet") from None
        return self._loose(name)

    def _refuse_different_schemas(self, files: Sequence[str]) -> None:
        """Without this DuckDB would cast every file to the first one's types, row by row, and some rows could fail."""
        query = "SELECT file_name, list((name, duckdb_type, num_children)) FROM parquet_schema(?) GROUP BY 1"
        try:
            schemas = dict(self.backend.con.execute(query, [list(files)]).fetchall())
        except duckdb.Error:
            raise _unreadable(files[0], "Parquet") from None
        for file in files[1:]:
            if schemas[file] != schemas[files[0]]:
                raise ArgumentError(
                    f"{file} has other columns or types than {files[0]}; write them all with one schema", "SRD-A005"
                )

    def _add_csv(self, name: str, files: Sequence[str], columns: Mapping[str, ColumnDeclaration]) -> Any:
        loading = delimited.loading(_place(name), files, columns)
        try:
            self.backend.con.execute(loading)
        except duckdb.Error:  # what it says may quote a line
            raise ArgumentError(
                f"the CSV files of {name!r} could not be loaded; check that each is whole and that all fit into memory "
                "together, or convert them to Parquet, which is read where it is",
                "SRD-A005",
            ) from None
        return self._loose(name)

    def _loose(self, name: str) -> Any:
        return self.backend.table(_physical(name), database=(_LOOSE, "main"))


_FORMATS: dict[str, Callable[[LocalTables, str, Sequence[str], Mapping[str, ColumnDeclaration]], Any]] = {
    "parquet": LocalTables._add_parquet,
    "csv": LocalTables._add_csv,
}
_ENDINGS = {
    ".parquet": "parquet",
    ".pq": "parquet",
    ".csv": "csv",
    ".tsv": "csv",
    ".csv.gz": "csv",
    ".tsv.gz": "csv",
}


def distrust_statistics(connection: Any) -> None:
    """Have DuckDB read what is stored rather than what files say about it; for all connections to that database.

    By a file's statistics, which leave NaN out, DuckDB would skip checks that NaN fails: then one row makes a cast
    fail, and whether a filter sees a row with NaN depends on the rows beside it in the file.
    """
    (known,) = connection.execute("SELECT current_setting('disabled_optimizers')").fetchone()
    off = {each.strip() for each in known.split(",") if each.strip()}
    if off >= _TRUSTING:
        return
    try:
        connection.execute(f"SET disabled_optimizers = '{','.join(sorted(off | _TRUSTING))}'")
    except duckdb.Error:
        raise ArgumentError(
            "the configuration of this DuckDB is locked, and it trusts statistics that leave NaN out; before it is "
            f"locked, run SET disabled_optimizers = '{','.join(sorted(_TRUSTING))}'",
            "SRD-A005",
        ) from None


def _physical(name: str) -> str:
    """Return a name that no table of an opened database file has."""
    return f"sordino_{name}"


def _place(name: str) -> str:
    return f"{_LOOSE}.main.{delimited.identifier(_physical(name))}"


def connect(database: Path | None = None) -> Any:
    """Return an Ibis backend over DuckDB: in memory, or over a database file that is only read."""
    if database is None:
        return _DUCKDB.connect(**_SETTINGS)
    if not database.is_file():
        raise ArgumentError(f"there is no database file {database}; check the path", "SRD-A005")
    try:
        return _DUCKDB.connect(database, read_only=True, **_SETTINGS)
    except duckdb.Error:
        raise ArgumentError(
            f"{database} could not be opened for reading; is it a DuckDB file of this version, "
            "and does no other process hold it open for writing?",
            "SRD-A005",
        ) from None


def find_files(pattern: str | os.PathLike[str]) -> list[str]:
    """Return the absolute paths of the files that match, sorted; refuse what is missing or of an unknown format."""
    text = os.path.abspath(os.path.expanduser(os.fspath(pattern)))
    found = sorted(glob.glob(text, recursive=True))
    if not found:
        raise ArgumentError(
            f"no file matches {shown_path(pattern)}; check the path, or the working directory",
            "SRD-A005",
        )
    for file in found:
        if os.path.isdir(file):
            raise ArgumentError(f"{shown_path(file)} is a directory; name its files, like folder/*.parquet", "SRD-A005")
        if _SPECIAL & set(file):
            raise ArgumentError(
                f"{shown_path(file)} has one of {' '.join(sorted(_SPECIAL))} in its name; rename it",
                "SRD-A005",
            )
        _format(file)
    return found


def csv_files(given: Any) -> tuple[str, ...]:
    """Return the CSV files that a source names; none if it is anything else."""
    if not isinstance(given, str | os.PathLike) or (isinstance(given, str) and "://" in given):
        return ()
    return tuple(file for file in find_files(given) if _format(file) == "csv")


def _format(file: str) -> str:
    for ending, name in _ENDINGS.items():
        if file.lower().endswith(ending):
            return name
    raise ArgumentError(
        f"{shown_path(file)} is of no known format; it must end in one of {', '.join(_ENDINGS)}", "SRD-A005"
    )


def _unreadable(file: str, form: str) -> ArgumentError:
    return ArgumentError(f"{file} cannot be read as {form}; check that it is whole, and what it is", "SRD-A005")
