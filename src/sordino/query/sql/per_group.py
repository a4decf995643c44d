"""BigQuery's ``contribution_bounds_per_group``: what one person adds to one group is added up first, and clipped then.

``SUM(x, contribution_bounds_per_group => (0, 100))`` is asked as BigQuery runs it: each person's rows of a group become
one row, as by an inner GROUP BY that is keyed by the person, and the sums of these rows are clipped.

**Guarantee**: the relation asked about is a `PerPerson`, which keeps each person's rows their own; the bounds are those
of an ordinary CLIP. So what one person changes follows by the rules that hold for every question.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from sqlglot import exp

from sordino.data.metadata import Schema
from sordino.query.model.expression import ColumnRef, Expression
from sordino.query.model.lineage import owners
from sordino.query.model.operations import call
from sordino.query.model.question import Key, Options
from sordino.query.model.ranges import derive
from sordino.query.model.relation import PerPerson, Summary

from .aggregates import OutputReader
from .calls import AggregateCall, aggregate_call
from .expression import Reader
from .functions import clip
from .refusals import refuse, refuse_where_days_are_units
from .scope import Scope, unique_name
from .summary import FUNCTIONS, counts_all, summary_column

_SUMMARISED = ("SUM", "COUNT", "AVG", "MEAN", "COUNT_PEOPLE")
_MADE = tuple[str, Expression | None]


def bounded_per_group(select: exp.Select) -> bool:
    """Whether any aggregate of the SELECT bounds what a person adds to a group."""
    return any(called.bounds is not None and called.bounds.per_group for called in _calls(select))


def _calls(select: exp.Select) -> Iterator[AggregateCall]:
    clauses = (select.args.get(each) for each in ("having", "order", "qualify"))
    stack = [*select.expressions, *(each for each in clauses if each is not None)]
    while stack:
        node = stack.pop()
        called = aggregate_call(node)
        if called is not None:
            yield called
        else:
            stack.extend(node.iter_expressions())


class PerGroupReader(OutputReader):
    """Reads a SELECT whose aggregates are of one row for each person in each group."""

    def __init__(self, scope: Scope, keys: list[Expression], schema: Schema, select: exp.Select) -> None:
        super().__init__(scope, keys, schema)
        refuse_where_days_are_units(schema, "contribution_bounds_per_group")
        held = owners(scope.relation, schema)
        if not held:
            raise refuse(
                "contribution_bounds_per_group needs a column that holds the person",
                "join the table that has it, or clip each row: contribution_bounds_per_row => (low, high)",
                "SRD-Q105",
            )
        columns = scope.relation.columns
        person = min(held)
        named = [(f"g{place}", key, derive(key, columns)) for place, key in enumerate(keys)]
        owner = (unique_name(person, {name for name, _, _ in named}), ColumnRef(columns[person].kind, person))
        self._made: dict[_MADE, Summary] = {}
        for called in _calls(select):
            for function, argument in self._parts(called):
                column = summary_column(function, argument, scope.relation)
                made = (f"s{len(self._made)}", function, argument, column)
                self._made.setdefault((function, argument), made)
        self.people = PerPerson(scope.relation, ((*owner, columns[person]), *named), tuple(self._made.values()))

    def keys(self, named: tuple[Key, ...]) -> tuple[Key, ...]:
        """Return the question's keys as columns of the people's rows."""
        return tuple(
            replace(key, expression=ColumnRef(key.column.kind, f"g{place}")) for place, key in enumerate(named)
        )

    @staticmethod
    def options(given: Options) -> Options:
        """Return the options: a person has one row in each group."""
        return replace(given, rows_per_group=1)

    def aggregate(self, called: AggregateCall) -> Expression:
        """Return what a call of an aggregate stands for."""
        if _counts_people(called, self.scope, self.schema):
            return self.add("count_people")
        columns = [self._column(made) for made in self._parts(called)]
        if called.bounds is None:
            summed = [self.add("sum", column) for column in columns]
            return summed[0] if len(summed) == 1 else call("divide", *summed)
        low, high = self.rows.read(called.bounds.low), self.rows.read(called.bounds.high)
        value = clip(columns[0], low, high, derive(columns[0], self.people.columns))
        return self.add("mean" if called.name in ("AVG", "MEAN") else "sum", value)

    def _column(self, made: _MADE) -> ColumnRef:
        name, _, _, column = self._made[made]
        return ColumnRef(column.kind, name)

    def _parts(self, called: AggregateCall) -> list[_MADE]:
        """Return the summaries of a person's rows that the call is made from."""
        if called.name not in _SUMMARISED or (called.distinct and not _counts_people(called, self.scope, self.schema)):
            raise refuse(
                f"{called.name} cannot stand beside contribution_bounds_per_group",
                "ask it by itself, or clip each row everywhere: contribution_bounds_per_row => (low, high)",
                "SRD-Q108",
            )
        if _counts_people(called, self.scope, self.schema):
            return []
        if called.bounds is not None and not called.bounds.per_group:
            raise refuse("bounds per row do not go with bounds per group", "give one of the two", "SRD-Q108")
        plain = replace(called, bounds=None)
        if called.name == "COUNT":
            everything = counts_all(plain, self.rows) and called.where is None
            return [("count", None)] if everything else [FUNCTIONS["COUNT"](plain, self.rows)]
        if called.name == "SUM":
            return [FUNCTIONS["SUM"](plain, self.rows)]
        mean = FUNCTIONS["AVG"](plain, self.rows)
        return [mean] if called.bounds is not None else [("sum", mean[1]), ("count", mean[1])]


def _counts_people(called: AggregateCall, scope: Scope, schema: Schema) -> bool:
    if called.name == "COUNT_PEOPLE":
        return True
    if called.name != "COUNT" or not called.distinct or len(called.arguments) != 1 or called.where is not None:
        return False
    argument = Reader(scope).read(called.arguments[0])
    return isinstance(argument, ColumnRef) and argument.name in owners(scope.relation, schema)
