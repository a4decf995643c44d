"""GROUP BY and DISTINCT in a subquery, to our `PerPerson`: keyed by the person, so everyone is summarised alone."""

from __future__ import annotations

from sqlglot import exp

from sordino.errors import QuestionError
from sordino.query.model.expression import ColumnRef, Expression
from sordino.query.model.lineage import hold_owner
from sordino.query.model.literals import literal
from sordino.query.model.ranges import derive
from sordino.query.model.relation import Filter, NamedExpression, PerPerson, Relation, Summary

from .calls import AggregateCall
from .context import Context
from .grouped import GroupedReader, group_keys, refuse_real
from .names import items, output_names
from .refusals import only, refuse, refuse_where_days_are_units
from .scope import Scope, column_names, keyed_by_person, project, unique_name
from .summary import FUNCTIONS, summary_column


class _SummaryReader(GroupedReader):
    """Reads a subquery's SELECT and HAVING, and collects the summaries that they need."""

    def __init__(self, scope: Scope, keys: list[NamedExpression]) -> None:
        super().__init__(scope, [(key, ColumnRef(key.kind, name)) for name, key, _ in keys])
        self._taken = {each for name, _, _ in keys for each in (name, name.removesuffix("__"))}
        """Engines compute the argument of a summary s0 as s0__ beside the keys."""
        self._collected: dict[tuple[str, Expression | None], Summary] = {}

    @property
    def summaries(self) -> tuple[Summary, ...]:
        """Those read so far."""
        return tuple(self._collected.values())

    def aggregate(self, called: AggregateCall) -> Expression:
        """Return the column in which the summary will stand."""
        if called.name not in FUNCTIONS:
            raise refuse(
                f"{called.name} is not possible in a subquery", f"for each person there are {', '.join(FUNCTIONS)}"
            )
        function, argument = FUNCTIONS[called.name](called, self.rows)
        made = (function, argument)
        if made not in self._collected:
            column = summary_column(function, argument, self.scope.relation)
            name = unique_name(f"s{len(self._collected)}", self._taken)
            self._taken.add(name)
            self._collected[made] = (name, function, argument, column)
        name, _, _, column = self._collected[made]
        return ColumnRef(column.kind, name)


def summarised(select: exp.Select, scope: Scope, context: Context) -> Scope:
    """Return the rows of a subquery with GROUP BY."""
    group = select.args.get("group")
    if group is not None:
        only(group, "expressions")
    refuse_unkeyed(scope.relation, context, "an inner GROUP BY")
    keys = _keys(select, scope)
    if scope.relation.is_public and not keys:
        keys = [_key("g0", literal(1), scope.relation)]
    plain = {key.name for _, key, _ in keys if isinstance(key, ColumnRef)}
    if not scope.relation.is_public and not hold_owner(plain, scope.relation, context.schema):
        raise _not_keyed(scope, context, "GROUP BY in a subquery", "GROUP BY")
    reader = _SummaryReader(scope, keys)
    listed = items(select, scope)
    outputs = [reader.read(item.node) for item in listed]
    names = output_names(listed)
    reader.named = dict(zip((name.lower() for name in names), outputs, strict=True))
    having = select.args.get("having")
    condition = None if having is None else reader.condition(having.this)
    grouped: Relation = PerPerson(scope.relation, tuple(keys), reader.summaries)
    grouped = grouped if condition is None else Filter(grouped, condition)
    return project(grouped, outputs, names)


def distinct_rows(scope: Scope, context: Context) -> Scope:
    """Return each person's different rows."""
    refuse_unkeyed(scope.relation, context, "DISTINCT")
    if not scope.relation.is_public and not hold_owner(
        {seen.column for seen in scope.visible}, scope.relation, context.schema
    ):
        raise _not_keyed(scope, context, "DISTINCT in a subquery", "SELECT DISTINCT")
    columns = scope.relation.columns
    keys = [
        _key(seen.column, ColumnRef(columns[seen.column].kind, seen.column), scope.relation) for seen in scope.visible
    ]
    return scope.with_relation(PerPerson(scope.relation, tuple(keys), ()))


def refuse_unkeyed(relation: Relation, context: Context, what: str) -> None:
    """Refuse what summarises rows of people where each row is a person of its own."""
    if context.schema.by_row and not relation.is_public:
        raise refuse(
            f"{what} is not possible where single rows are protected",
            "each row is a unit of its own; aggregate at the outside, or declare a unit of people",
            "SRD-Q105",
        )


def _not_keyed(scope: Scope, context: Context, what: str, where: str) -> QuestionError:
    refuse_where_days_are_units(context.schema, f"{what} without both the person and the day")
    return refuse(
        f"{what} must be keyed by the person, else one person's rows would change what others are counted as",
        f"{keyed_by_person(scope, context.schema, where + ' {}, …')}; or aggregate at the outside alone",
        "SRD-Q105",
    )


def _keys(select: exp.Select, scope: Scope) -> list[NamedExpression]:
    group = select.args.get("group")
    read = [] if group is None else group_keys(group.expressions, select, scope)
    return [_key(*pair, scope.relation) for pair in zip(column_names(read, "g"), read, strict=True)]


def _key(name: str, expression: Expression, source: Relation) -> NamedExpression:
    refuse_real(expression)
    return name, expression, derive(expression, source.columns)
