"""The tables of a ledger, the newest form of them, and what they are asked.

``ledger_entries``    the log: one row for each entry, by position. `signature` is the key's, over the checkpoint that
                      was current right after this entry, so that whoever finds an edit can prove where it begins;
                      entries committed together share the signature of the last of them.
``ledger_tiles``      the hash of each complete aligned subtree of 256^level leaves, so that proofs read few rows.
``ledger_head``       one row: the size, the frontier of the tree and the signed checkpoint. Writers queue for it.
``ledger_snapshots``  signed states, which only make opening fast.
``ledger_releases``   what was released (noise included), for idempotent replay and receipts, and where it was settled.
``ledger_cosignatures``  signed checkpoints that others have cosigned, by their keys.

Nothing but the log and the head is believed, and these only by signature; there is no balance to be tampered with.

What a store is asked is written in SQLAlchemy once and compiled once for each store; the hot ones are five of them.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from sqlalchemy import (
    BigInteger,
    ClauseElement,
    Column,
    Dialect,
    Integer,
    LargeBinary,
    MetaData,
    Table,
    Text,
    and_,
    bindparam,
    delete,
    insert,
    select,
    update,
)
from sqlalchemy.engine.interfaces import DBAPICursor

from .migrating import Form

NEWEST = "0002"
"""The revision that this version of the code reads and writes."""
VERSION_TABLE = "ledger_version"

METADATA = MetaData()
_POSITION = BigInteger().with_variant(Integer, "sqlite")  # SQLite stores rows by an INTEGER key, and by no other

ENTRIES = Table(
    "ledger_entries",
    METADATA,
    Column("position", _POSITION, primary_key=True, autoincrement=False),
    Column("body", LargeBinary, nullable=False),
    Column("signature", LargeBinary),
)
TILES = Table(
    "ledger_tiles",
    METADATA,
    Column("level", Integer, primary_key=True, autoincrement=False),
    Column("place", _POSITION, primary_key=True, autoincrement=False),
    Column("hash", LargeBinary, nullable=False),
)
HEAD = Table(
    "ledger_head",
    METADATA,
    Column("one", Integer, primary_key=True, autoincrement=False),
    Column("size", BigInteger, nullable=False),
    Column("frontier", LargeBinary, nullable=False),
    Column("note", Text, nullable=False),
)
SNAPSHOTS = Table(
    "ledger_snapshots",
    METADATA,
    Column("size", _POSITION, primary_key=True, autoincrement=False),
    Column("body", LargeBinary, nullable=False),
    Column("note", Text, nullable=False),
)
RELEASES = Table(
    "ledger_releases",
    METADATA,
    Column("id", Text, primary_key=True),
    Column("settled", BigInteger, nullable=False, index=True),
    Column("body", LargeBinary, nullable=False),
)
COSIGNATURES = Table(
    "ledger_cosignatures",
    METADATA,
    Column("size", _POSITION, primary_key=True, autoincrement=False),
    Column("cosigner", Text, primary_key=True),
    Column("note", Text, nullable=False),
)
FORM = Form("this ledger was", Path(__file__).parent / "migrations", VERSION_TABLE, NEWEST, METADATA)
"""How a store is brought to the newest form of these tables."""


class Statement:
    """One statement, compiled once; parameters by name."""

    def __init__(self, clause: ClauseElement, dialect: Dialect) -> None:
        compiled: Any = clause.compile(dialect=dialect)
        self.text = str(compiled)
        self._order: list[str] | None = compiled.positiontup
        self._fixed = {name: value for name, value in compiled.params.items() if value is not None}

    def run(self, cursor: DBAPICursor, values: Mapping[str, Any]) -> DBAPICursor:
        """Execute it on the driver's own cursor: what SQLAlchemy adds to one takes longer than SQLite does."""
        named = {**self._fixed, **values}
        cursor.execute(self.text, named if self._order is None else [named[name] for name in self._order])
        return cursor


def insertion(table: Table, rows: int, dialect: Dialect) -> str:
    """Return the SQL that inserts so many rows at once; its parameters stand row by row.

    It is put together here, as SQLAlchemy takes milliseconds to compile what has many rows.
    """
    mark = "?" if dialect.paramstyle == "qmark" else "%s"
    row = f"({', '.join([mark] * len(table.columns))})"
    return f"INSERT INTO {table.name} ({', '.join(table.columns.keys())}) VALUES {', '.join([row] * rows)}"  # noqa: S608


_HEAD = select(HEAD.c.size, HEAD.c.frontier, HEAD.c.note).order_by(HEAD.c.one)
_RELEASE = select(RELEASES.c.id, RELEASES.c.settled, RELEASES.c.body)


def _between(column: Any) -> Any:
    return and_(column >= bindparam("start"), column < bindparam("stop"))


STATEMENTS: dict[str, ClauseElement] = {
    "head": _HEAD,
    "lock_head": _HEAD.with_for_update(),  # says nothing on SQLite, where the transaction itself is the lock
    "bodies": select(ENTRIES.c.position, ENTRIES.c.body)
    .where(_between(ENTRIES.c.position))
    .order_by(ENTRIES.c.position),
    "signature": select(ENTRIES.c.position, ENTRIES.c.signature)
    .where(_between(ENTRIES.c.position), ENTRIES.c.signature.is_not(None))
    .order_by(ENTRIES.c.position)
    .limit(1),
    "signatures": select(ENTRIES.c.position, ENTRIES.c.signature)
    .where(_between(ENTRIES.c.position), ENTRIES.c.signature.is_not(None))
    .order_by(ENTRIES.c.position),
    "beyond": select(ENTRIES.c.position)
    .where(ENTRIES.c.position >= bindparam("size"))
    .order_by(ENTRIES.c.position)
    .limit(1),
    "tiles": select(TILES.c.place, TILES.c.hash)
    .where(TILES.c.level == bindparam("level"), _between(TILES.c.place))
    .order_by(TILES.c.place),
    "release": _RELEASE.where(RELEASES.c.id == bindparam("id")),
    "releases": _RELEASE.where(_between(RELEASES.c.settled)).order_by(RELEASES.c.settled),
    "snapshots": select(SNAPSHOTS.c.size, SNAPSHOTS.c.body, SNAPSHOTS.c.note).order_by(SNAPSHOTS.c.size.desc()),
    "cosigned": select(COSIGNATURES.c.size, COSIGNATURES.c.cosigner, COSIGNATURES.c.note)
    .where(COSIGNATURES.c.size >= bindparam("least"))
    .order_by(COSIGNATURES.c.size, COSIGNATURES.c.cosigner),
    "begin_head": insert(HEAD),
    "put_head": update(HEAD).values({name: bindparam(name) for name in ("size", "frontier", "note")}),
    "put_tile": insert(TILES),
    "drop_snapshots": delete(SNAPSHOTS),
    "put_snapshot": insert(SNAPSHOTS),
}
"""By the names under which `Reading` and `Writing` run them."""
