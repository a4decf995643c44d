"""Queries as an engine reads them, run without a word of the engine's if they fail.

The salt, which decides what is kept of whom, is fresh for every run. On DuckDB it is a parameter of the query, bound by
the engine when the query runs, so that one text serves all runs; the constants that rows are filtered by can be
parameters as well. Elsewhere they are written into the query, and the query is translated for every run.

**Guarantee**: if the engine fails, the error says so and nothing more: no value, no row, no text of the engine's, not
even as the error's context.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from threading import Lock
from typing import Any, cast

import ibis
import ibis.expr.operations as ops
import pyarrow as pa
from ibis.backends.sql.compilers.duckdb import DuckDBCompiler
from sqlglot import ErrorLevel
from sqlglot import expressions as sge

from sordino.data.connections import lease
from sordino.errors import RunError

from .slots import Given

SALTS = 2**62
"""Salts are taken modulo this, so that every engine holds them in 64 bits."""
SALT = "sordino_salt"
_MARK = "sordino_parameter"

_ONE_AT_A_TIME = Lock()
"""For what Ibis has as a setting of the whole process."""

Statement = Callable[[int, Given], pa.Table]
"""Runs a query with a salt and with what stands in its slots."""


def _mark(called: Any) -> Any:
    """Stand for a parameter until the query is translated. No question can contain a function of this name."""


@cache
def _marked(kind: str) -> Any:
    return ibis.udf.scalar.builtin(_mark, name=_MARK, signature=(("string",), kind))


def parameter(name: str, kind: str) -> ibis.Value:
    """Return what is bound when the query runs, as a value of one of Ibis' types; for engines that take parameters."""
    return _marked(kind)(name)


class _Parametric(DuckDBCompiler):  # type: ignore[misc]  # Ibis has no types
    """Translates marks into parameters, and notes their names."""

    __slots__ = ("names",)

    def to_sqlglot(self, expression: ibis.Table, **options: Any) -> Any:
        """Return the expression's tree. Merging its subqueries is left to the engine, which does it in no time."""
        with _ONE_AT_A_TIME:
            merges, ibis.options.sql.fuse_selects = ibis.options.sql.fuse_selects, False
            try:
                return super().to_sqlglot(expression, **options)
            finally:
                ibis.options.sql.fuse_selects = merges

    def visit_ScalarUDF(self, op: Any, **arguments: Any) -> Any:  # noqa: N802  (the name that Ibis looks for)
        """Return a function's call, or a parameter."""
        if op.__func_name__ != _MARK:
            return super().visit_ScalarUDF(op, **arguments)
        name = op.args[0].value
        self.names.add(name)
        return sge.cast(sge.Parameter(this=sge.Var(this=name)), self.type_mapper.from_ibis(op.dtype))


_Parametric.lowered_ops = {}  # questions have none of the operations that these would replace


def takes_parameters(engine: str) -> bool:
    """Whether a statement on this engine serves every salt and whatever stands in slots."""
    return engine == "duckdb"


def salt_on(engine: str, salt: int) -> Any:
    """Return the salt as queries on an engine contain it."""
    return parameter(SALT, "int64") if takes_parameters(engine) else ibis.literal(str(salt % SALTS)).cast("int64")


def statement(expression: ibis.Table) -> Statement:
    """Return the expression, translated for its engine as far as that can be done before it runs."""
    backend = expression.get_backend()
    made: Statement = _silently(lambda: _STATEMENTS.get(backend.name, _plain)(backend, expression))
    return lambda salt, given: _silently(lambda: made(salt, given))


def fetch(expression: ibis.Table) -> pa.Table:
    """Run an expression without a salt on its engine."""
    return statement(expression)(0, {})


def _silently(work: Callable[[], Any]) -> Any:
    try:
        return work()
    except Exception:  # engines print cells in errors of many types; all of them are hidden here
        failure = RunError("the engine could not compute this answer; the charge stands", "SRD-R001")
    raise failure


def _plain(backend: Any, expression: ibis.Table) -> Statement:
    def run(*_: object) -> pa.Table:
        with lease(backend):
            return backend.to_pyarrow(expression)

    return run


def _on_spark(backend: Any, expression: ibis.Table) -> Statement:
    """Run on Spark, by Arrow there and back.

    By way of pandas, as in Ibis, integers with NULL would become floats, and a list of keys would be pickled row by row
    unless the session is set otherwise.
    """
    from ibis.backends.pyspark.datatypes import PySparkSchema

    lists = expression.op().find(ops.InMemoryTable)
    text = backend.compile(expression)

    def run(*_: object) -> pa.Table:
        for each in lists:
            rows = each.data.to_pyarrow(each.schema)
            backend._session.createDataFrame(rows, PySparkSchema.from_ibis(each.schema)).createTempView(each.name)
        try:
            return backend._session.sql(text).toArrow()
        finally:
            for each in lists:
                backend._session.catalog.dropTempView(each.name)

    return run


@dataclass(frozen=True)
class Words:
    """A query as DuckDB reads it, with the names of its parameters and the lists that are sent beside its text."""

    backend: Any
    text: str
    names: frozenset[str]
    lists: Mapping[str, pa.Table]

    def over(self, name: str, rows: Words) -> Words:
        """Return the query with `rows` in place of the table that it calls `name`; nothing else in it has this name."""
        text = self.text.replace(f'"{name}"', f"({rows.text})")
        return Words(self.backend, text, self.names | rows.names, {**self.lists, **rows.lists})

    def run(self, salt: int, given: Given) -> pa.Table:
        """Run the query with a salt and with what stands in its slots."""
        return _silently(lambda: self._run({SALT: salt % SALTS, **given}))

    def _run(self, known: Given) -> pa.Table:
        bound = {name: known[name] for name in self.names} or None
        with lease(self.backend) as connection:
            for name, rows in self.lists.items():
                connection.register(name, rows)
            try:
                return connection.sql(self.text, params=bound).to_arrow_table()
            finally:
                for name in self.lists:
                    connection.unregister(name)


def words(backend: Any, expression: ibis.Table) -> Words:
    """Return an expression in DuckDB's words."""
    return cast("Words", _silently(lambda: _words(backend, expression)))


def _words(backend: Any, expression: ibis.Table) -> Words:
    compiler = _Parametric()
    compiler.names = set()
    tree = compiler.to_sqlglot(expression)
    text = tree.sql(dialect=backend.dialect, copy=False, unsupported_level=ErrorLevel.RAISE)
    lists = {each.name: each.data.to_pyarrow(each.schema) for each in expression.op().find(ops.InMemoryTable)}
    return Words(backend, text, frozenset(compiler.names), lists)


_STATEMENTS: dict[str, Callable[[Any, ibis.Table], Statement]] = {
    "duckdb": lambda backend, expression: _words(backend, expression).run,
    "pyspark": _on_spark,
}
