"""The first tables: entries, tiles, head, snapshots, releases.

A revision says what it did in words of its own: it must go on doing the same when the tables in ``schema.py`` change.
There is no way back: a ledger is never thrown away.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None

_POSITION = sa.BigInteger().with_variant(sa.Integer, "sqlite")


def upgrade() -> None:
    """Create the tables."""
    op.create_table(
        "ledger_entries",
        sa.Column("position", _POSITION, primary_key=True, autoincrement=False),
        sa.Column("body", sa.LargeBinary, nullable=False),
        sa.Column("signature", sa.LargeBinary),
    )
    op.create_table(
        "ledger_tiles",
        sa.Column("level", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("place", _POSITION, primary_key=True, autoincrement=False),
        sa.Column("hash", sa.LargeBinary, nullable=False),
    )
    op.create_table(
        "ledger_head",
        sa.Column("one", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("size", sa.BigInteger, nullable=False),
        sa.Column("frontier", sa.LargeBinary, nullable=False),
        sa.Column("note", sa.Text, nullable=False),
    )
    op.create_table(
        "ledger_snapshots",
        sa.Column("size", _POSITION, primary_key=True, autoincrement=False),
        sa.Column("body", sa.LargeBinary, nullable=False),
        sa.Column("note", sa.Text, nullable=False),
    )
    op.create_table(
        "ledger_releases",
        sa.Column("id", sa.Text, primary_key=True),
        sa.Column("settled", sa.BigInteger, nullable=False, index=True),
        sa.Column("body", sa.LargeBinary, nullable=False),
    )
