"""Whether the source of a data set answers: asked before a question is charged, as what fails after that is paid for.

**Guarantee**: no row is read and none is counted. What is found out is about machines: whether an engine answers, and
whether files are there and may be read.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from typing import Any

from sordino.errors import SourceError


def check_ready(name: str, backend: Any, files: Iterable[str]) -> None:
    """Raise `SourceError` if the engine or a file of data set `name` does not answer."""
    try:
        _ASK[backend.name](backend)
        ready = all(os.access(file, os.R_OK) for file in files)
    except Exception:  # whatever an engine says may hold data, so nothing of it is told
        ready = False
    if not ready:
        raise SourceError(
            f"the source of data set {name!r} does not answer, or a file of it is gone; nothing was charged. Ask again "
            "later, or have the data's owner look at it",
            "SRD-R002",
        )


def _ask_postgres(backend: Any) -> None:
    with backend.con.cursor() as cursor:
        cursor.execute("SELECT 1").fetchall()


_ASK: dict[str, Callable[[Any], None]] = {
    "duckdb": lambda backend: backend.con.cursor().execute("SELECT 1").fetchall(),
    "postgres": _ask_postgres,
    "pyspark": lambda backend: backend._session.sql("SELECT 1").collect(),
}
