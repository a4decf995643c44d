"""Edge lists: where the edges of a graph are written down, and how they are read.

A text has one edge a line: two names with blanks, tabs, commas or semicolons between them; what follows is not read.
Lines that begin with # or % are remarks. In a .csv the first line names the columns. A table has the two ends in its
first two columns.

**Guarantee**: each line is read by itself, so what one line says changes nothing about another: a line that holds no
two names is left out.
"""

from __future__ import annotations

import gzip
import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from sordino.arguments import shown_path
from sordino.errors import ArgumentError, SourceError

from .frames import arrow_of

_LINE = r"^\s*(?P<one>[^\s,;#%]+)[\s,;]+(?P<other>[^\s,;]+)"
_MAGIC = {".gz": b"\x1f\x8b", ".parquet": b"PAR1"}
_TEXTS = (".txt", ".csv", ".tsv", ".edges")


@dataclass(frozen=True, eq=False)
class EdgeList:
    """Where edges are: a file, or a table in memory with two columns of texts."""

    path: Path | None = None
    table: pa.Table | None = field(default=None, repr=False)

    def check_ready(self, name: str) -> None:
        """Raise `SourceError` if the file is gone or begins as no such file does; reads two bytes or four."""
        if self.path is None:
            return
        magic = _MAGIC.get(self.path.suffix, b"")
        try:
            with self.path.open("rb") as file:
                sound = file.read(len(magic)) == magic
        except OSError:
            sound = False
        if not sound:
            raise SourceError(
                f"the file of {name!r} is gone, may not be read, or does not begin as a {self.path.suffix} file does; "
                "nothing was charged. Have the data's owner look at it",
                "SRD-R002",
            )

    def read(self) -> tuple[pa.Array, pa.Array]:
        """Return both ends of every edge as texts: secret."""
        if self.table is not None:
            one, other = (_texts(self.table.column(place)) for place in (0, 1))
        elif self.path is not None and self.path.suffix == ".parquet":
            found = pq.read_table(self.path)
            one, other = (_texts(found.column(place)) for place in (0, 1))
        else:
            one, other = _read_text(self.path)  # type: ignore[arg-type]
        both = pc.and_(pc.is_valid(one), pc.is_valid(other))
        return one.filter(both), other.filter(both)


def edge_list(name: str, source: Any) -> EdgeList:
    """Return where the edges of the graph `name` are; refuse what cannot be an edge list, without reading it."""
    if isinstance(source, str | os.PathLike):
        return _file(name, Path(source))
    if isinstance(source, np.ndarray):
        if source.ndim != 2 or source.shape[1] != 2 or source.dtype.kind not in "iu":
            raise ArgumentError(f"an array of edges of {name!r} must be whole numbers in two columns", "SRD-P501")
        return EdgeList(table=pa.table({"one": np.ascontiguousarray(source[:, 0]), "other": source[:, 1].copy()}))
    table = arrow_of(name, source)
    if table.num_columns < 2:
        raise ArgumentError(
            f"a table of edges of {name!r} has the two ends of an edge in its first two columns, and this one has "
            f"{table.num_columns}",
            "SRD-P501",
        )
    for place in (0, 1):
        kind = table.schema.field(place).type
        if not (pa.types.is_integer(kind) or pa.types.is_string(kind) or pa.types.is_large_string(kind)):
            raise ArgumentError(
                f"the ends of edges of {name!r} must be whole numbers or texts, and column {place + 1} is {kind}",
                "SRD-P501",
            )
    return EdgeList(table=table)


def _file(name: str, path: Path) -> EdgeList:
    plain = Path(path.stem).suffix if path.suffix == ".gz" else path.suffix
    if path.suffix != ".parquet" and plain not in _TEXTS:
        raise ArgumentError(
            f"the edges of {name!r} must be in a file called {', '.join(_TEXTS)} (or so with .gz behind it) or "
            f".parquet, not {shown_path(path)}",
            "SRD-P501",
        )
    if not path.is_file():
        raise ArgumentError(f"there is no file {shown_path(path)} to read the edges of {name!r} from", "SRD-P501")
    found = EdgeList(path=path)
    found.check_ready(name)
    return found


def _texts(column: Any) -> Any:
    whole = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    return whole.cast(pa.large_string())


def _read_text(path: Path) -> tuple[pa.Array, pa.Array]:
    content = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    # Every byte is a letter of Latin-1, so no text is refused; names only have to differ.
    lines = content.decode("latin-1").split("\n")
    named = path.name.removesuffix(".gz").endswith(".csv")
    ends = pc.extract_regex(pa.array(lines[named:], pa.large_string()), _LINE)
    return ends.field("one").filter(ends.is_valid()), ends.field("other").filter(ends.is_valid())
