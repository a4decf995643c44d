"""What the revisions make of an empty database is what the code declares, for all tables, in both kinds of store."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from alembic.autogenerate import compare_metadata
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Column, Connection, MetaData, Table, Text

from sordino.ledger import schema
from sordino.ledger.migrating import Form
from sordino.serve.keeping import tables

SETS = {"ledger": (schema.FORM, schema.METADATA), "serve": (tables.FORM, tables.METADATA)}


@pytest.fixture
def connection(place: str) -> Iterator[Connection]:
    engine = tables.plain_engine_at(place)
    with engine.connect() as found:
        yield found
    engine.dispose()


def differences(connection: Connection, form: Form, declared: MetaData) -> list[object]:
    """Return what would have to change in a database for it to be as declared."""
    options = {"version_table": form.version_table, "compare_server_default": True}
    return list(compare_metadata(MigrationContext.configure(connection, opts=options), declared))


@pytest.mark.parametrize(("form", "declared"), SETS.values(), ids=SETS)
@pytest.mark.parametrize("empty", [True, False])
def test_revisions_make_what_is_declared(connection: Connection, form: Form, declared: MetaData, empty: bool) -> None:
    """By all revisions one after the other, and at once, as an empty database is served."""
    if empty:
        form.bring_up_to_date(connection)
    else:
        form.migrate(connection, None)
    assert differences(connection, form, declared) == []
    assert form.revision_of(connection) == form.newest


@pytest.mark.parametrize(("form", "declared"), SETS.values(), ids=SETS)
def test_a_column_without_a_revision_is_noticed(connection: Connection, form: Form, declared: MetaData) -> None:
    form.migrate(connection, None)
    wider = MetaData()
    for number, table in enumerate(declared.tables.values()):
        copied = table.to_metadata(wider)
        if number == 0:
            copied.append_column(Column("forgotten", Text))
    Table("forgotten", wider, Column("one", Text, primary_key=True))
    assert [change[0] for change in differences(connection, form, wider)] == ["add_table", "add_column"]  # type: ignore[index]


@pytest.mark.parametrize("form", [form for form, _ in SETS.values()], ids=SETS)
def test_revisions_are_one_line_that_ends_in_the_newest(form: Form) -> None:
    scripts = ScriptDirectory(str(form.revisions), version_locations=[str(form.revisions)])
    assert scripts.get_heads() == [form.newest]


def test_both_live_in_one_database(places: Callable[[], str]) -> None:
    engine = tables.plain_engine_at(places())
    with engine.begin() as connection:
        for form, _ in SETS.values():
            form.bring_up_to_date(connection)
    with engine.begin() as connection:
        assert {form.revision_of(connection) for form, _ in SETS.values()} == {form.newest for form, _ in SETS.values()}
    engine.dispose()
