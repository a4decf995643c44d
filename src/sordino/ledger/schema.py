"""The tables of a ledger, and the newest form of them.

``ledger_entries``    the log: one row for each entry, by position. `signature` is the key's, over the checkpoint that
                      was current right after this entry, so that whoever finds an edit can prove where it begins;
                      entries committed together share the signature of the last of them.
``ledger_tiles``      the hash of each complete aligned subtree of 256^level leaves, so that proofs read few rows.
``ledger_head``       one row: the size, the frontier of the tree and the signed checkpoint. Writers queue for it.
``ledger_snapshots``  signed states, which only make opening fast.
``ledger_releases``   what was released (noise included), for idempotent replay and receipts, and where it was settled.

Nothing but the log and the head is believed, and these only by signature; there is no balance to be tampered with.
"""

from __future__ import annotations

from pathlib import Path

from sqlalchemy import BigInteger, Column, Integer, LargeBinary, MetaData, Table, Text

from .migrating import Form

NEWEST = "0001"
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
FORM = Form("this ledger was", Path(__file__).parent / "migrations", VERSION_TABLE, NEWEST, METADATA)
"""How a store is brought to the newest form of these tables."""
