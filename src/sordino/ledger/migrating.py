"""How tables are brought to the newest form of them: revisions in a folder, run by alembic, each once.

An empty database gets the tables as they are declared, which the tests hold to be what all revisions make.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sqlalchemy import Column, Connection, MetaData, String, Table, inspect, select

from sordino.errors import LedgerError


@dataclass(frozen=True)
class Form:
    """A set of tables that changes together.

    A new form is a file ``revision_….py`` in the folder, whose ``down_revision`` is the newest so far, and its name as
    `newest`. The tests compare what the revisions make with what the code declares.
    """

    whose: str
    """How a refusal begins: whose tables they are."""
    revisions: Path
    """The folder of the revisions."""
    version_table: str
    """The table that says which revision a database is at."""
    newest: str
    """The revision that this version of the code reads and writes."""
    declared: MetaData
    """The tables in that form."""

    def revision_of(self, connection: Connection) -> str | None:
        """Return the revision of the tables that a database has, or None where it has none."""
        if not inspect(connection).has_table(self.version_table):
            return None
        found: str | None = connection.execute(select(self._version.c.version_num)).scalar()
        return found

    @property
    def _version(self) -> Table:
        """The table of the revision, as alembic makes it."""
        return Table(self.version_table, MetaData(), Column("version_num", String(32), primary_key=True))

    def bring_up_to_date(self, connection: Connection) -> None:
        """Create or migrate the tables, inside the transaction that the caller holds; refuse a form that is newer."""
        found = self.revision_of(connection)
        if found is None and not set(self.declared.tables).intersection(inspect(connection).get_table_names()):
            self.declared.create_all(connection, checkfirst=False)
            self._version.create(connection)
            connection.execute(self._version.insert().values(version_num=self.newest))
        elif found != self.newest:
            self.migrate(connection, found)

    def migrate(self, connection: Connection, found: str | None) -> None:
        """Run the revisions that come after the one found."""
        # Here, as only a database that must change pays for loading it.
        from alembic.config import Config
        from alembic.runtime.environment import EnvironmentContext
        from alembic.script import ScriptDirectory

        scripts = ScriptDirectory(str(self.revisions), version_locations=[str(self.revisions)])
        if found is not None and found not in {script.revision for script in scripts.walk_revisions()}:
            raise LedgerError(
                f"{self.whose} written by a newer version of sordino (form {found!r}, while this version knows up to "
                f"{self.newest}); open it with that version or a later one",
                "SRD-L052",
            )

        def steps(revision: Any, _: Any) -> Any:
            return scripts._upgrade_revs(self.newest, revision)

        with EnvironmentContext(Config(), scripts, fn=steps) as environment:
            # All revisions succeed together or none does: the caller holds the transaction.
            environment.configure(connection, version_table=self.version_table, transactional_ddl=True)
            environment.run_migrations()
