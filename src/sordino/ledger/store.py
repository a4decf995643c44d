"""Where a ledger is kept: one interface over SQL, with a half for SQLite and a half for PostgreSQL.

A store only keeps rows; it decides nothing and is believed in nothing. What it must get right is two things.

**Guarantee.** Between `Store.writing` and the end of its block nobody else commits (SQLite: ``BEGIN IMMEDIATE``;
PostgreSQL: the head's row is locked, at READ COMMITTED, so that what is read after the lock is the newest there is and
not a snapshot from before the wait). When the block has ended without an error, all that was put is on disk, together.
**Assumes.** The disk keeps what it has been told to sync. A process that is killed loses its lock: at once on SQLite,
and on PostgreSQL as soon as the server sees its connection end.
"""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import chain
from typing import Any, NamedTuple

from sqlalchemy import Engine, Table
from sqlalchemy.engine.interfaces import DBAPICursor
from sqlalchemy.exc import DBAPIError
from sqlalchemy.pool import PoolProxiedConnection

from sordino.errors import LedgerError

from .schema import COSIGNATURES, ENTRIES, FORM, RELEASES, STATEMENTS, Statement, insertion

BATCH = 4096
"""How many entries are read at a time when many are."""
_MOST_ROWS = 64  # in one statement
_HEAD_KINDS = (int, bytes, str)
_RELEASE_KINDS = (str, int, bytes)
BUSY = "SRD-L051"
"""The code of a store whose writers had to wait for too long."""


class Head(NamedTuple):
    """What the store says about the newest entry; believed only where `note` is signed and agrees."""

    size: int
    frontier: bytes
    note: str


class Snapshot(NamedTuple):
    """A state that was written down when the ledger had `size` entries; believed only where `note` is signed."""

    size: int
    body: bytes
    note: str


IN_A_FILE = b""
"""What the row of a release holds whose body is a file, named by the digest that was settled."""


class Release(NamedTuple):
    """What was released under the reservation `id`, and the position where that was settled."""

    id: str
    settled: int
    body: bytes


class Kept(NamedTuple):
    """A checkpoint of `size` entries as somebody cosigned it; believed only by the signatures in `note`."""

    size: int
    cosigner: str
    note: str


class UnknownOutcomeError(LedgerError):
    """The store did not say whether a commit succeeded: whoever asked must look."""


class Store(ABC):
    """Rows of one ledger. One thread writes at a time; any number may read."""

    begin = "BEGIN"
    """How a writer's transaction begins."""
    alone: str | None = None
    """What makes others who open this store wait until the transaction ends, where its beginning does not."""

    def __init__(self, engine: Engine, place: str) -> None:
        self.engine = engine
        self.place = place
        """How messages call this store; no password in it."""
        # The second is what Python's driver makes of an error of SQLite that quotes damaged text.
        self.failures: tuple[type[Exception], ...] = (engine.dialect.loaded_dbapi.Error, UnicodeDecodeError)
        self._any_failure: tuple[type[Exception], ...] = (*self.failures, DBAPIError)
        self._statements = {name: Statement(clause, engine.dialect) for name, clause in STATEMENTS.items()}
        self._insertions: dict[tuple[str, int], str] = {}
        self._turn = threading.Lock()
        self._writer: PoolProxiedConnection | None = None
        try:
            self._prepare()
        except BaseException:
            self.close()
            raise

    def _prepare(self) -> None:
        """Bring the tables up to date, while others who open the store wait."""
        try:
            with self.engine.connect() as connection:
                connection.exec_driver_sql(self.begin)
                if self.alone is not None:
                    connection.exec_driver_sql(self.alone)
                FORM.bring_up_to_date(connection)
                connection.exec_driver_sql("COMMIT")
        except self._any_failure as error:
            raise self._meaning(error) from None

    @abstractmethod
    def explain(self, error: BaseException | None) -> LedgerError:
        """Return the error that says in our words what went wrong in the store."""

    def check_place(self) -> None:  # noqa: B027  (a server needs no check)
        """Raise if what this store has open is no longer what its place names."""

    def check_room(self) -> None:  # noqa: B027  (a server looks after its own disk)
        """Raise if there may be no room for what becomes of a charge."""

    def writer(self, connection: PoolProxiedConnection) -> DBAPICursor:
        """Return a cursor for a writer's transaction."""
        return connection.cursor()

    def refused(self, error: BaseException) -> bool:  # noqa: ARG002
        """Return whether a commit that failed with `error` has certainly changed nothing."""
        return False

    def locked_head(self, cursor: DBAPICursor) -> Any:
        """Return the row of the head, which nobody else can change until this transaction ends."""
        return self.statement("lock_head").run(cursor, {}).fetchone()

    @contextmanager
    def writing(self) -> Iterator[Writing]:
        """Hold the lock of writers; commit at the end, undo everything if the block raises.

        Raises `UnknownOutcomeError` where the commit itself failed: the rows may be there or not.
        """
        self.check_place()
        with self._turn:
            cursor, committing = self._begun(), False
            try:
                yield Writing(self, cursor)
                committing = True
                cursor.execute("COMMIT")
            except self.failures as error:
                meaning = self.explain(error)
                if not committing or self.refused(error):
                    self._undo(cursor)
                    raise meaning from None
                self._forget()
                raise UnknownOutcomeError(
                    f"{self.place} did not say whether it kept what was written ({meaning.message})", "SRD-L055"
                ) from None
            except BaseException:
                self._undo(cursor)
                raise
            cursor.close()

    def _begun(self) -> DBAPICursor:
        """Return a cursor with a transaction open, on a new connection if the old one has broken meanwhile."""
        fresh = self._writer is None
        try:
            connection = self._writer = self._writer or self.engine.raw_connection()
            cursor = self.writer(connection)
            self.start(cursor)
        except self._any_failure as error:
            self._forget()
            meaning = self._meaning(error)
            if fresh or meaning.code == BUSY:
                raise meaning from None
            return self._begun()
        return cursor

    def start(self, cursor: DBAPICursor) -> None:
        """Begin a writer's transaction."""
        cursor.execute(self.begin)

    def _meaning(self, error: Exception) -> LedgerError:
        return self.explain(error.orig if isinstance(error, DBAPIError) else error)

    def _undo(self, cursor: DBAPICursor) -> None:
        try:
            cursor.execute("ROLLBACK")
            cursor.close()
        except self.failures:  # broken, or undone already: closing the connection undoes whatever is left
            self._forget()

    def _forget(self) -> None:
        connection, self._writer = self._writer, None
        if connection is not None:
            connection.invalidate()

    @contextmanager
    def reading(self) -> Iterator[Reading]:
        """Give a connection of its own to read with; each statement sees what was committed before it."""
        try:
            connection = self.engine.raw_connection()
            try:
                yield Reading(self, connection.cursor())
            except self.failures:
                connection.invalidate()
                raise
            finally:
                connection.close()
        except self._any_failure as error:
            raise self._meaning(error) from None

    def statement(self, name: str) -> Statement:
        """Return a statement by its name in ``schema.py``."""
        return self._statements[name]

    def insertion(self, table: Table, rows: int) -> str:
        """Return the SQL that inserts so many rows at once; its parameters stand row by row."""
        found = self._insertions.get((table.name, rows))
        if found is None:
            found = self._insertions[table.name, rows] = insertion(table, rows, self.engine.dialect)
        return found

    def close(self) -> None:
        """Give back every connection."""
        with self._turn:
            if self._writer is not None:
                self._writer.close()
                self._writer = None
            self.engine.dispose()


class Reading:
    """What can be read."""

    def __init__(self, store: Store, cursor: DBAPICursor) -> None:
        self._store = store
        self._cursor = cursor

    def _run(self, name: str, **values: Any) -> DBAPICursor:
        return self._store.statement(name).run(self._cursor, values)

    def _rows(self, name: str, kinds: tuple[type, ...], **values: Any) -> list[Any]:
        """Return the rows that a statement finds; raise if a damaged or altered one holds what its table cannot."""
        return self._checked(name, kinds, list(self._run(name, **values).fetchall()))

    def _checked(self, name: str, kinds: tuple[type, ...], rows: list[Any]) -> list[Any]:
        for column, kind in zip(zip(*rows, strict=True), kinds, strict=bool(rows)):
            if set(map(type, column)) != {kind}:
                place = next(at for at, value in enumerate(column) if type(value) is not kind)
                raise LedgerError(
                    f"{self._store.place}: in what {name} reads, row {rows[place][0]!r:.40} is damaged; verify",
                    "SRD-L053",
                )
        return rows

    def head(self) -> Head | None:
        """Return the head, or None before the first commit."""
        return next(map(Head._make, self._rows("head", _HEAD_KINDS)), None)

    def bodies(self, start: int, stop: int) -> list[tuple[int, bytes]]:
        """Return position and bytes of the entries from `start` up to `stop`, in order, as far as they are there."""
        return self._rows("bodies", (int, bytes), start=start, stop=stop)

    def batches(self, start: int, stop: int) -> Iterator[list[tuple[int, bytes]]]:
        """Yield the same in batches of `BATCH`."""
        for first in range(start, stop, BATCH):
            yield self.bodies(first, min(first + BATCH, stop))

    def signature(self, start: int, stop: int) -> tuple[int, bytes] | None:
        """Return the first stored signature at a position from `start` up to `stop`, with its position."""
        return next(iter(self._rows("signature", (int, bytes), start=start, stop=stop)), None)

    def signatures(self, start: int, stop: int) -> list[tuple[int, bytes]]:
        """Return position and signature where commits left one, from `start` up to `stop`, in order."""
        return self._rows("signatures", (int, bytes), start=start, stop=stop)

    def beyond(self, size: int) -> int | None:
        """Return the first position at or after `size` that has a row, though the head knows none."""
        return next((row[0] for row in self._rows("beyond", (int,), size=size)), None)

    def tiles(self, level: int, start: int, stop: int) -> list[tuple[int, bytes]]:
        """Return place and hash of the tiles of one level from place `start` up to `stop`, in order."""
        return self._rows("tiles", (int, bytes), level=level, start=start, stop=stop)

    def release(self, identifier: str) -> Release | None:
        """Return what was released under a reservation."""
        return next(map(Release._make, self._rows("release", _RELEASE_KINDS, id=identifier)), None)

    def releases(self, start: int, stop: int) -> list[Release]:
        """Return what was settled at positions from `start` up to `stop`, in order."""
        return list(map(Release._make, self._rows("releases", _RELEASE_KINDS, start=start, stop=stop)))

    def cosigned(self, least: int) -> list[Kept]:
        """Return what was cosigned of at least so many entries, in order."""
        return list(map(Kept._make, self._rows("cosigned", (int, str, str), least=least)))

    def snapshots(self) -> list[Snapshot]:
        """Return the snapshots, the newest first."""
        return list(map(Snapshot._make, self._rows("snapshots", _HEAD_KINDS)))


class Writing(Reading):
    """What can be put, under the lock of writers."""

    def lock_head(self) -> Head | None:
        """Return the head, which nobody else can change until this transaction ends."""
        row = self._store.locked_head(self._cursor)
        return None if row is None else Head(*self._checked("head", _HEAD_KINDS, [row])[0])

    def put_entries(self, first: int, bodies: Sequence[bytes], signature: bytes | None) -> None:
        """Append entries from position `first`, the last with a signature; a position that is taken raises."""
        rows = [(first + at, body, None) for at, body in enumerate(bodies[:-1])]
        self._insert(ENTRIES, [*rows, (first + len(rows), bodies[-1], signature)])

    def lock_opening(self) -> Head | None:
        """Let others who open this store wait, and return the head if one of them was quicker."""
        if self._store.alone is not None:
            self._cursor.execute(self._store.alone)
        return self.head()

    def begin_head(self, head: Head) -> None:
        """Write the first head of a new ledger."""
        self._run("begin_head", one=1, size=head.size, frontier=head.frontier, note=head.note)

    def put_head(self, head: Head) -> None:
        """Replace the head."""
        self._run("put_head", size=head.size, frontier=head.frontier, note=head.note)

    def put_tile(self, level: int, place: int, value: bytes) -> None:
        """Write down the hash of a complete subtree."""
        self._run("put_tile", level=level, place=place, hash=value)

    def put_releases(self, releases: Sequence[Release]) -> None:
        """Keep what was released."""
        self._insert(RELEASES, releases)

    def put_cosigned(self, kept: Sequence[Kept]) -> None:
        """Keep what somebody cosigned."""
        self._insert(COSIGNATURES, kept)

    def _insert(self, table: Table, rows: Sequence[tuple[Any, ...]]) -> None:
        """Insert rows with few statements: at each, other threads of this process take over for a while."""
        for at in range(0, len(rows), _MOST_ROWS):
            some = rows[at : at + _MOST_ROWS]
            self._cursor.execute(self._store.insertion(table, len(some)), list(chain.from_iterable(some)))

    def drop_snapshots(self) -> None:
        """Remove all snapshots."""
        self._run("drop_snapshots")

    def put_snapshot(self, snapshot: Snapshot) -> None:
        """Write a snapshot down in place of all earlier ones."""
        self.drop_snapshots()
        self._run("put_snapshot", size=snapshot.size, body=snapshot.body, note=snapshot.note)
