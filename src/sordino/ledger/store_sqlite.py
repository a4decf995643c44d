"""A ledger in one file: SQLite with a write-ahead log that is synced at every commit."""

from __future__ import annotations

import os
import sqlite3
import time
from pathlib import Path
from typing import Any

from sqlalchemy import create_engine, event
from sqlalchemy.engine import URL

from sordino.errors import FrozenError, LedgerError

from .store import BUSY, Store

PATIENCE = 60.0
"""Seconds that a writer waits for its turn."""

ROOM = 4 << 20
"""Bytes that must be free before something is charged: a settlement with its release takes a few pages of the log."""

_SETTINGS = ("PRAGMA journal_mode=WAL", "PRAGMA synchronous=FULL", "PRAGMA trusted_schema=OFF")


class SqliteStore(Store):
    """The rows of a ledger in the file `path` and the two that SQLite keeps beside it."""

    begin = "BEGIN IMMEDIATE"

    def __init__(self, path: str | os.PathLike[str], *, patience: float = PATIENCE) -> None:
        self.path = Path(path).absolute()
        _make(self.path)
        self._directory = str(self.path.parent)
        self._identity = _identity(str(self.path))
        engine = create_engine(
            URL.create("sqlite", database=str(self.path)),
            isolation_level="AUTOCOMMIT",
            connect_args={"timeout": patience, "check_same_thread": False, "cached_statements": 256},
        )
        event.listen(engine, "connect", configure)
        super().__init__(engine, str(self.path))

    def check_place(self) -> None:
        """Raise if the file was replaced or removed: what is written to the open one would be lost with it."""
        if _identity(self.place) != self._identity:
            raise FrozenError(
                f"{self.path} was replaced or removed while this process had it open; close it, put the newest "
                "file back, and open it again",
                "SRD-L066",
            )

    def check_room(self) -> None:
        """Raise if the disk is so full that what becomes of a charge might not be written."""
        found = os.statvfs(self._directory)
        if found.f_bavail * found.f_frsize < ROOM:
            raise LedgerError(
                f"{self.place}: its disk has less than {ROOM >> 20} MiB left, so that what would be charged might "
                "never be settled; nothing was charged; make room and try again",
                "SRD-L050",
            )

    def explain(self, error: BaseException | None) -> LedgerError:
        """Return what SQLite's error code means."""
        name = (
            "SQLITE_CORRUPT" if isinstance(error, UnicodeDecodeError) else getattr(error, "sqlite_errorname", "unknown")
        )
        for beginning, (words, code) in _MEANINGS.items():
            if name.startswith(beginning):
                return LedgerError(f"{self.place}: {words} ({name})", code)
        return LedgerError(f"{self.place} cannot be read or written ({name}); nothing was charged", "SRD-L050")


_MEANINGS = {
    "SQLITE_BUSY": ("others kept it locked for too long; try again", BUSY),
    "SQLITE_FULL": ("the disk is full, and nothing was charged; make room and try again", "SRD-L050"),
    "SQLITE_READONLY": ("it cannot be written; check who owns it", "SRD-L050"),
    "SQLITE_CORRUPT": ("the file is damaged; put a backup back and restore", "SRD-L053"),
    "SQLITE_NOTADB": ("the file is no ledger, or damaged; put a backup back and restore", "SRD-L053"),
    "SQLITE_CONSTRAINT": ("a row is there that the head does not know; verify", "SRD-L053"),
    "SQLITE_ERROR": ("its tables are not those of a ledger; verify", "SRD-L053"),
    "SQLITE_MISMATCH": ("its tables are not those of a ledger; verify", "SRD-L053"),
}


def configure(connection: Any, _: object) -> None:
    """Set up a new connection: the journal, syncing, and no schema that runs anything."""
    cursor = connection.cursor()
    for setting in _SETTINGS:
        _set(cursor, setting)
    cursor.close()


def _set(cursor: Any, setting: str) -> None:
    """Try until others let it: SQLite makes nobody wait who changes the journal of a new file while another does."""
    until = time.monotonic() + PATIENCE
    while True:
        try:
            cursor.execute(setting)
            return
        except sqlite3.OperationalError as error:
            if error.sqlite_errorname != "SQLITE_BUSY" or time.monotonic() > until:
                raise
            time.sleep(0.01)


def _make(path: Path) -> None:
    """Make an empty file that its owner alone can read, unless there is one."""
    try:
        os.close(os.open(path, os.O_CREAT | os.O_RDWR, 0o600))
    except OSError as error:
        raise LedgerError(f"{path} cannot be opened or made ({error.strerror})", "SRD-L050") from None


def _identity(path: str) -> tuple[int, int] | None:
    try:
        found = os.stat(path)
    except FileNotFoundError:
        return None
    return found.st_dev, found.st_ino
