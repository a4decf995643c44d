"""The tables of a ledger, and how a store is brought to the newest form of them.

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
from typing import Any

from sqlalchemy import BigInteger, Column, Connection, Integer, LargeBinary, MetaData, Table, Text, inspect, select

from sordino.errors import LedgerError

NEWEST = "0001"
"""The revision that this version of the code reads and writes."""
VERSION_TABLE = "ledger_version"
_SCRIPTS = Path(__file__).parent / "migrations"

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
_VERSION = Table(VERSION_TABLE, MetaData(), Column("version_num", Text))


def revision_of(connection: Connection) -> str | None:
    """Return the revision of the tables that a store has, or None where it has none."""
    if not inspect(connection).has_table(VERSION_TABLE):
        return None
    found: str | None = connection.execute(select(_VERSION.c.version_num)).scalar()
    return found


def bring_up_to_date(connection: Connection) -> None:
    """Create or migrate the tables, inside the transaction that the caller holds; refuse a form that is newer."""
    found = revision_of(connection)
    if found == NEWEST:
        return
    # Here, as only a store that must change pays for loading it.
    from alembic.config import Config
    from alembic.runtime.environment import EnvironmentContext
    from alembic.script import ScriptDirectory

    scripts = ScriptDirectory(str(_SCRIPTS), version_locations=[str(_SCRIPTS)])
    if found is not None and found not in {script.revision for script in scripts.walk_revisions()}:
        raise LedgerError(
            f"this ledger was written by a newer version of sordino (form {found!r}, while this version knows up to "
            f"{NEWEST}); open it with that version or a later one",
            "SRD-L052",
        )

    def steps(revision: Any, _: Any) -> Any:
        return scripts._upgrade_revs("head", revision)

    with EnvironmentContext(Config(), scripts, fn=steps) as environment:
        # All revisions succeed together or none does: the caller holds the transaction.
        environment.configure(connection, version_table=VERSION_TABLE, transactional_ddl=True)
        environment.run_migrations()
