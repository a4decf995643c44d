"""The first tables: data sets, tokens, members, sessions, approvals, jobs, other ledgers.

A revision says what it did in words of its own: it must go on doing the same when the tables in ``tables.py`` change.
There is no way back: whoever wants an older form puts a backup back.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None


def upgrade() -> None:
    """Create the tables."""
    _tables_of_rights()
    op.create_table(
        "serve_datasets",
        sa.Column("name", sa.Text, primary_key=True),
        sa.Column("sort", sa.Text, nullable=False),
        sa.Column("declarations", sa.Text, nullable=False),
        sa.Column("policy", sa.Text, nullable=False),
        sa.Column("owner", sa.Text, nullable=False),
        sa.Column("version", sa.Integer, nullable=False),
        sa.Column("time", sa.BigInteger, nullable=False),
    )
    op.create_table(
        "serve_jobs",
        sa.Column("id", sa.Text, primary_key=True),
        sa.Column("subject", sa.Text, nullable=False, index=True),
        sa.Column("kind", sa.Text, nullable=False),
        sa.Column("dataset", sa.Text, nullable=False),
        sa.Column("key", sa.Text, nullable=False, index=True),
        sa.Column("instance", sa.Text, nullable=False),
        sa.Column("stage", sa.Text, nullable=False),
        sa.Column("release", sa.Text),
        sa.Column("code", sa.Text),
        sa.Column("message", sa.Text),
        sa.Column("created", sa.BigInteger, nullable=False),
        sa.Column("finished", sa.BigInteger),
        sa.Column("request", sa.Text),
        sa.Column("role", sa.Text),
        sa.Column("datasets", sa.Text),
        sa.Column("progress", sa.Text),
        sa.Column("claim", sa.Text),
        sa.Column("beat", sa.BigInteger),
        sa.Column("stopping", sa.Boolean),
    )
    op.create_table(
        "serve_witnessed",
        sa.Column("key", sa.Text, primary_key=True),
        sa.Column("size", sa.BigInteger, nullable=False),
        sa.Column("note", sa.Text, nullable=False),
        sa.Column("spent", sa.Text, nullable=False),
        sa.Column("anew", sa.Boolean, nullable=False),
        sa.Column("by", sa.Text, nullable=False),
        sa.Column("time", sa.BigInteger, nullable=False),
    )


def _tables_of_rights() -> None:
    op.create_table(
        "serve_tokens",
        sa.Column("id", sa.Text, primary_key=True),
        sa.Column("digest", sa.Text, nullable=False, unique=True),
        sa.Column("subject", sa.Text, nullable=False),
        sa.Column("role", sa.Text, nullable=False),
        sa.Column("datasets", sa.Text),
        sa.Column("issuer", sa.Text, nullable=False),
        sa.Column("created", sa.BigInteger, nullable=False),
        sa.Column("expires", sa.BigInteger, nullable=False),
        sa.Column("revoked", sa.BigInteger),
    )
    op.create_table(
        "serve_members",
        sa.Column("subject", sa.Text, primary_key=True),
        sa.Column("role", sa.Text, nullable=False),
        sa.Column("datasets", sa.Text),
        sa.Column("admitted_by", sa.Text, nullable=False),
        sa.Column("time", sa.BigInteger, nullable=False),
    )
    op.create_table(
        "serve_sessions",
        sa.Column("digest", sa.Text, primary_key=True),
        sa.Column("subject", sa.Text, nullable=False),
        sa.Column("token", sa.Text),
        sa.Column("expires", sa.BigInteger, nullable=False),
    )
    op.create_table(
        "serve_approvals",
        sa.Column("id", sa.Text, primary_key=True),
        sa.Column("dataset", sa.Text, nullable=False, index=True),
        sa.Column("subject", sa.Text, nullable=False),
        sa.Column("digest", sa.Text, nullable=False, index=True),
        sa.Column("kind", sa.Text, nullable=False),
        sa.Column("question", sa.Text, nullable=False),
        sa.Column("message", sa.Text, nullable=False),
        sa.Column("state", sa.Text, nullable=False),
        sa.Column("created", sa.BigInteger, nullable=False),
        sa.Column("decided", sa.BigInteger),
        sa.Column("decided_by", sa.Text),
        sa.Column("reason", sa.Text),
    )
