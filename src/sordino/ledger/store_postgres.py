"""A ledger that several machines share: PostgreSQL, one ledger in each schema."""

from __future__ import annotations

from typing import Any, Self, cast

import psycopg
from sqlalchemy import create_engine
from sqlalchemy.engine import make_url
from sqlalchemy.engine.interfaces import DBAPICursor
from sqlalchemy.exc import ArgumentError as UnreadableURL
from sqlalchemy.pool import PoolProxiedConnection

from sordino.errors import ArgumentError, LedgerError

from .store import BUSY, Store

PATIENCE = 60.0
"""Seconds that a writer waits for its turn."""

_OPENING = 7_306_086_967_853_314_159  # the advisory lock of those who open a ledger; any number that is ours alone
_BUSY = {"55P03", "40P01", "57014"}  # lock not available, deadlock, cancelled by a timeout
_GONE = ("08", "57P")  # the connection or the server went away, perhaps after the commit
_WRITES = ("INSERT ", "UPDATE ", "DELETE ")
_DAMAGED = {"23505", "42P01", "42703", "42804"}  # a row too many, no such table or column, a column of another type


class Gathering(psycopg.ClientCursor[Any]):
    """A cursor that sends statements which only write together with the next that does not, mostly the commit.

    So a charge takes two ways to the server and back, however much is written. If a statement among them fails, the
    server carries out none that follow it, and the transaction comes to nothing.
    """

    def __init__(self, connection: Any) -> None:
        super().__init__(connection)
        self._waiting: list[str] = []

    def execute(self, query: Any, params: Any = None, **rest: Any) -> Self:
        """Execute a statement now, after those that wait; or let it wait, if it only writes."""
        if query.startswith(_WRITES):
            self._waiting.append(self.mogrify(query, params))
            return self
        waiting, self._waiting = self._waiting, []
        if query == "ROLLBACK" or not waiting:
            return super().execute(query, params, **rest)
        last = query if params is None else self.mogrify(query, params)
        super().execute("; ".join([*waiting, last]).encode(), **rest)
        while self.nextset():  # to what the last one found
            pass
        return self


class PostgresStore(Store):
    """The rows of a ledger in the first schema of the connection's search path."""

    # Said at each beginning, as a server may be set to another level; a stale snapshot would admit too much.
    begin = "BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE"
    alone = f"SELECT pg_advisory_xact_lock({_OPENING})"

    def __init__(self, url: str, *, patience: float = PATIENCE) -> None:
        try:
            parsed = make_url(url).set(drivername="postgresql+psycopg")
        except (UnreadableURL, ValueError):
            raise ArgumentError(
                "where must be a path or a URL such as postgresql://user@host/database; this is neither", "SRD-A001"
            ) from None
        milliseconds = int(patience * 1000)
        # A commit that others may rely on is on disk; and whoever hangs in the middle of one does not hold up the rest.
        settings = {
            "lock_timeout": milliseconds,
            "idle_in_transaction_session_timeout": milliseconds,
            "synchronous_commit": "on",
        }
        options = " ".join([*_asked(parsed.query.get("options")), *(f"-c{name}={v}" for name, v in settings.items())])
        engine = create_engine(
            parsed.update_query_dict({"options": options}),
            isolation_level="AUTOCOMMIT",
            connect_args={"keepalives_idle": 30, "connect_timeout": 10},
        )
        super().__init__(engine, parsed.render_as_string(hide_password=True))

    def start(self, cursor: DBAPICursor) -> None:
        """Begin a transaction and lock the head, on one way to the server and back."""
        cursor.execute(f"{self.begin}; {self.statement('lock_head').text}")

    def locked_head(self, cursor: DBAPICursor) -> Any:
        """Return the row of the head that was locked at the start."""
        cursor.nextset()
        return cursor.fetchone()

    def writer(self, connection: PoolProxiedConnection) -> DBAPICursor:
        """Return a cursor that sends all that is written together with the commit."""
        found: Any = Gathering(connection.driver_connection)
        return cast("DBAPICursor", found)

    def refused(self, error: BaseException) -> bool:
        """Return whether the server itself said no, so that it has undone the transaction."""
        state = getattr(error, "sqlstate", None)
        return state is not None and not state.startswith(_GONE)

    def explain(self, error: BaseException | None) -> LedgerError:
        """Return what PostgreSQL's state code means; its own words may show parameters."""
        state = getattr(error, "sqlstate", None)
        if state in _BUSY:
            return LedgerError(f"{self.place}: others kept it locked for too long; try again ({state})", BUSY)
        if state in _DAMAGED:
            return LedgerError(
                f"{self.place}: its tables are not those of a ledger, or hold a row too many; verify ({state})",
                "SRD-L053",
            )
        return LedgerError(
            f"{self.place} cannot be reached or written ({state or 'connection lost'}); try again", "SRD-L050"
        )


def _asked(options: str | tuple[str, ...] | None) -> tuple[str, ...]:
    return (options,) if isinstance(options, str) else tuple(options or ())
