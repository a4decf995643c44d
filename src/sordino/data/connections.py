"""Connections to engines, each used by one run at a time: it has one result, and threads would take each other's.

| engine | how runs share it |
|---|---|
| DuckDB of the data set's own | each run has a cursor, a connection to the same database; they run side by side |
| a connection that somebody else opened, PostgreSQL | one after the other, as temporary tables are seen there alone |
| Spark | a session takes runs from all threads, and needs none of this |
"""

from __future__ import annotations

import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock
from typing import Any

_MOST_IDLE = 16
"""How many cursors are kept for the next runs."""


class Cursors:
    """Connections to one DuckDB, each with the same frames on it; all else that runs read must be seen by all of them.

    A frame is registered with a connection, without a copy, and another connection does not see it.
    """

    def __init__(self, connection: Any) -> None:
        self._connection = connection
        self._frames: dict[str, Any] = {}
        self._idle: list[Any] = []

    def register(self, name: str, frame: Any) -> None:
        """Have all connections see a frame; before the first run."""
        self._connection.register(name, frame)
        self._frames[name] = frame

    @contextmanager
    def lease(self) -> Iterator[Any]:
        """Give a connection for one run. One on which a run failed is not used again."""
        try:
            cursor = self._idle.pop()
        except IndexError:
            cursor = self._connection.cursor()
            for name, frame in self._frames.items():
                cursor.register(name, frame)
        try:
            yield cursor
        except BaseException:
            cursor.close()
            raise
        if len(self._idle) < _MOST_IDLE:
            self._idle.append(cursor)


_cursors: dict[int, Cursors] = {}
_turns: dict[int, Lock] = {}
_noting = Lock()


def share(backend: Any) -> Cursors:
    """Have runs on an Ibis backend over DuckDB share its database, not its connection."""
    found = _cursors[id(backend)] = Cursors(backend.con)
    weakref.finalize(backend, _cursors.pop, id(backend), None)
    return found


@contextmanager
def lease(backend: Any) -> Iterator[Any]:
    """Give what an Ibis backend is connected by, for one run: a cursor if it has some, else its connection in turn."""
    found = _cursors.get(id(backend))
    if found is not None:
        with found.lease() as cursor:
            yield cursor
        return
    with _noting:
        if id(backend) not in _turns:
            _turns[id(backend)] = Lock()
            weakref.finalize(backend, _turns.pop, id(backend), None)
        turn = _turns[id(backend)]
    with turn:
        yield getattr(backend, "con", None)
