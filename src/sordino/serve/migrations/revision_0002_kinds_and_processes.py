"""Jobs and approvals say their kind, which was a question until then; jobs may run in processes of their own."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    """Add the columns; SQLite makes the tables anew for it."""
    for table in ("serve_approvals", "serve_jobs"):
        with op.batch_alter_table(table) as changed:
            changed.add_column(sa.Column("kind", sa.Text, nullable=False, server_default="query"))
        with op.batch_alter_table(table) as changed:
            changed.alter_column("kind", server_default=None)
    with op.batch_alter_table("serve_jobs") as changed:
        for name in ("request", "role", "datasets", "progress", "claim"):
            changed.add_column(sa.Column(name, sa.Text))
        changed.add_column(sa.Column("beat", sa.BigInteger))
        changed.add_column(sa.Column("stopping", sa.Boolean))
        changed.create_index("ix_serve_jobs_key", ["key"])
