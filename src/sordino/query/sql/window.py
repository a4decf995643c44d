"""Windows in SQL, to our `Windowed`: each is partitioned by the person, so only a person's own rows decide."""

from __future__ import annotations

from dataclasses import replace

from sqlglot import exp

from sordino.data.kinds import Kind
from sordino.data.metadata import Column, Schema
from sordino.errors import QuestionError
from sordino.query.model.expression import ColumnRef, Expression
from sordino.query.model.lineage import owners
from sordino.query.model.ranges import derive
from sordino.query.model.relation import Order, Relation, Window, Windowed

from .calls import aggregate_call
from .expression import Reader
from .refusals import only, refuse, refuse_where_days_are_units, unknown_function
from .scope import Scope, keyed_by_person, unique_name
from .summary import FUNCTIONS as SUMMARIES
from .summary import most_rows, row_count, summary_column

_NUMBERED, _MOVED = ("ROW_NUMBER", "RANK"), ("LAG", "LEAD")


class WindowReader(Reader):
    """Reads expressions with windows in them, and collects the windows."""

    def __init__(self, scope: Scope, schema: Schema) -> None:
        super().__init__(scope)
        self._schema = schema
        self._rows = Reader(scope)
        self._windows: dict[tuple[object, ...], Window] = {}

    @property
    def relation(self) -> Relation:
        """The rows, with a column for each window that was read so far."""
        source = self.scope.relation
        return Windowed(source, tuple(self._windows.values())) if self._windows else source

    def read(self, node: exp.Expr) -> Expression:
        """Return the expression that the node stands for."""
        return self._window(node) if isinstance(node, exp.Window) else super().read(node)

    def known(self, expression: Expression) -> Column | None:
        """Return what is known about a value of a row, windows included."""
        return derive(expression, self.relation.columns)

    def _window(self, node: exp.Window) -> Expression:
        only(node, "this", "partition_by", "order", "over")
        partition = self._partition(node)
        order = self._order(node)
        function, argument, column = self._function(node.this, order)
        made = (function, argument, partition, order)
        if made not in self._windows:
            taken = {*self.scope.relation.columns, *(window[0] for window in self._windows.values())}
            name = unique_name(f"w{len(self._windows)}", taken)
            self._windows[made] = (name, function, argument, partition, order, column)
        return ColumnRef(column.kind, self._windows[made][0])

    def _partition(self, node: exp.Window) -> tuple[Expression, ...]:
        refuse_where_days_are_units(self._schema, "a window")
        parts = [self._rows.read(part) for part in node.args.get("partition_by") or ()]
        held = owners(self.scope.relation, self._schema)
        others = tuple(part for part in parts if not (isinstance(part, ColumnRef) and part.name in held))
        if self._schema.by_row or self.scope.relation.is_public:
            raise refuse(
                "a window needs people who own the rows", "declare a unit of people, or leave it out", "SRD-Q105"
            )
        if len(others) == len(parts):
            raise refuse(
                "a window must be keyed by the person, else others' rows would decide about a row",
                keyed_by_person(self.scope, self._schema, "OVER (PARTITION BY {}, …)"),
                "SRD-Q105",
            )
        return others

    def _order(self, node: exp.Window) -> Order:
        clause = node.args.get("order")
        ordered = [] if clause is None else clause.expressions
        for one in ordered:
            only(one, "this", "desc", "nulls_first")
        return tuple((self._rows.read(one.this), bool(one.args.get("desc"))) for one in ordered)

    def _function(self, node: exp.Expr, order: Order) -> tuple[str, Expression | None, Column]:
        name = node.name.upper() if isinstance(node, exp.Anonymous) else ""
        if name in _NUMBERED or name in _MOVED:
            if not order:
                raise refuse(f"{name} needs an order", "write OVER (PARTITION BY … ORDER BY …)")
            return self._place(name, node.expressions)
        called = aggregate_call(node)
        if called is None or called.name not in SUMMARIES or called.distinct or called.where is not None:
            raise unknown_function(name or "this", [*SUMMARIES, *_NUMBERED, *_MOVED])
        if order:
            raise refuse(
                f"{name} over a window takes no ORDER BY", "leave the order out: it is of all rows of the person"
            )
        function, argument = SUMMARIES[called.name](called, self._rows)
        return function, argument, summary_column(function, argument, self.scope.relation)

    def _place(self, name: str, arguments: list[exp.Expr]) -> tuple[str, Expression | None, Column]:
        if name in _NUMBERED:
            if arguments:
                raise QuestionError(f"{name} takes no argument", "SRD-Q104")
            counted = row_count(most_rows(self.scope.relation))
            return name.lower(), None, replace(counted, kind=Kind.INTEGER)
        if len(arguments) != 1:
            raise refuse(f"{name} takes one argument", f"write {name}(x): the row next to this one", "SRD-Q104")
        argument = self._rows.read(arguments[0])
        known = derive(argument, self.scope.relation.columns)
        return name.lower(), argument, replace(known, nullable=True)
