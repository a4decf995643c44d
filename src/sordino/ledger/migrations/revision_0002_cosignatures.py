"""Checkpoints that somebody else has cosigned."""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"

_POSITION = sa.BigInteger().with_variant(sa.Integer, "sqlite")


def upgrade() -> None:
    """Create the table."""
    op.create_table(
        "ledger_cosignatures",
        sa.Column("size", _POSITION, primary_key=True, autoincrement=False),
        sa.Column("cosigner", sa.Text, primary_key=True),
        sa.Column("note", sa.Text, nullable=False),
    )
