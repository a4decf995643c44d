"""SQL, read into our own frozen `Question`: all names resolved, all kinds checked, no data seen.

``text``        text → one syntax tree, with limits on size and depth
``options``     BigQuery's ``WITH DIFFERENTIAL_PRIVACY OPTIONS(…)``
``select``      the outermost SELECT: ``keys``, ``aggregates``, ``key_table``
``relation``    FROM, WITH, subqueries, UNION ALL: ``join``, ``predicate``, ``person``, ``window``
``expression``  what is computed from one row: ``functions``, ``dates``
``refusals``    what is refused, and what to write instead

**Guarantee**: whatever the text, the outcome is a `Question` made of allow-listed parts, in which no piece of the text
survives but constants, or a `QuestionError` (`ArgumentError` for a number in OPTIONS); it depends on text and schema
alone.
"""

from __future__ import annotations

from sordino.data.metadata import Schema
from sordino.errors import QuestionError
from sordino.query.model.lineage import owner_column
from sordino.query.model.question import Question

from .relation import new_context
from .select import read_question
from .text import read_text, too_deep


def parse(text: str, schema: Schema) -> Question:
    """Return the question that a SQL text asks about the tables of a schema.

    >>> from sordino.data.kinds import Kind
    >>> from sordino.data.metadata import Column, OwnedByRow, Schema, Table
    >>> trips = Table("trips", {"city": Column(Kind.TEXT)}, OwnedByRow())
    >>> question = parse("SELECT city, COUNT(*) AS n FROM trips GROUP BY city", Schema("taxi", {"trips": trips}))
    >>> [output.name for output in question.outputs], question.aggregates[0].function
    (['city', 'n'], 'count_rows')
    """
    tree, options, unit = read_text(text)
    if unit is not None:
        _check_unit(unit, schema)
    try:
        return read_question(tree, new_context(schema), options)
    except RecursionError:
        raise too_deep() from None


def _check_unit(named: str, schema: Schema) -> None:
    """Refuse a privacy_unit_column that is not who the schema protects."""
    if schema.by_row:
        raise QuestionError(
            "privacy_unit_column names a column, but this data set protects single rows; leave it out", "SRD-Q108"
        )
    columns = {owner_column(table, schema) for table in schema.tables.values()} - {None}
    known = {schema.unit.name.lower(), *(str(column).lower() for column in columns)}
    if named.split(".")[-1].lower() not in known:
        raise QuestionError(
            f"privacy_unit_column is {named[:60]!r}, but this data set protects {schema.unit.name!r}; write that",
            "SRD-Q108",
        )
