"""An outer SELECT over released groups: ``SELECT k, n / 2 FROM (SELECT k, COUNT(*) AS n … GROUP BY k) WHERE n > 9``.

The inner query is the question; what stands outside is computed from its noisy answer, as HAVING and ORDER BY are. So
its names are put in for, and nothing of it reaches the data.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from sqlglot import exp

from sordino.data.metadata import Column
from sordino.errors import QuestionError
from sordino.query.estimate.evaluate import refuse_lists
from sordino.query.model.expression import Expression
from sordino.query.model.operations import call
from sordino.query.model.question import Aggregate, Output, Question
from sordino.query.model.relation import Constants

from .calls import has_aggregates
from .expression import Reader
from .grouped import position
from .names import Item, item, output_names
from .refusals import only, refuse, unknown_name
from .scope import Scope

_OUTER = ("expressions", "from_", "where", "order", "limit", "offset", "with_")
_LISTS = ("histogram", "top", "regression")


@dataclass(frozen=True)
class Over:
    """A SELECT that stands over another one, and what that one is called."""

    select: exp.Select
    inner: exp.Expr
    name: str


def over_released(select: exp.Select) -> Over | None:
    """Return the one aggregating subquery, or name given by WITH, that a SELECT is over; None for anything else."""
    clause = select.args.get("from_")
    summed = select.args.get("group") is not None or has_aggregates(select.expressions)
    if clause is None or select.args.get("joins") or summed:
        return None
    source = clause.this
    if isinstance(source, exp.Subquery):
        inner, name = source.this.copy(), source.alias
        given = select.args.get("with_")
        if given is not None and isinstance(inner, exp.Select):
            inner.set("with_", given.copy())
        return Over(select, inner, name) if _aggregates(inner) else None
    if not isinstance(source, exp.Table) or len(source.parts) != 1:
        return None
    listed = list(select.args["with_"].expressions) if select.args.get("with_") is not None else []
    if not listed or listed[-1].alias.lower() != source.name.lower() or listed[-1].args["alias"].args.get("columns"):
        return None  # only the last name can use all others
    inner = listed[-1].this.copy()
    if len(listed) > 1:
        inner.set("with_", exp.With(expressions=[each.copy() for each in listed[:-1]]))
    return Over(select, inner, source.alias or source.name) if _aggregates(inner) else None


def _aggregates(inner: exp.Expr) -> bool:
    if not isinstance(inner, exp.Select):
        return False
    grouped = inner.args.get("group") is not None or inner.args.get("distinct") is not None
    return grouped or has_aggregates(inner.expressions) or over_released(inner) is not None


class _OuterReader(Reader):
    """Reads expressions in which the columns of the answer stand for what they are computed from."""

    def __init__(self, columns: Mapping[str, Expression], qualifier: str) -> None:
        super().__init__(Scope(Constants("none", Column(next(iter(columns.values())).kind)), ()))
        self.columns = {name.lower(): expression for name, expression in columns.items()}
        self._names = list(columns)
        self._qualifier = qualifier.lower()

    def read(self, node: exp.Expr) -> Expression:
        """Return the expression that the node stands for."""
        if isinstance(node, exp.Window):
            raise refuse(
                "a window over released groups is not possible", "ask for totals by ROLLUP, or rank the answer itself"
            )
        return super().read(node)

    def column(self, node: exp.Column) -> Expression:
        """Return what a column of the answer is computed from."""
        only(node, "this", "table")
        if node.table and node.table.lower() != self._qualifier:
            raise unknown_name("table or alias", node.table, [self._qualifier])
        found = self.columns.get(node.name.lower())
        if found is None:
            raise unknown_name("column", node.name, self._names)
        return found

    def known(self, _: Expression) -> Column | None:
        """Return None: values of answers are no columns of rows."""
        return None


def outer_question(over: Over, inner: Question) -> Question:
    """Return the inner question with what the outer SELECT makes of its answer."""
    select = over.select
    only(select, *_OUTER)
    cut = inner.limit is not None or bool(inner.offset)
    clauses = [word for word in ("where", "order", "limit", "offset") if select.args.get(word) is not None]
    if cut and clauses:
        raise refuse(
            f"{clauses[0].upper()} outside of a LIMIT is not possible", "put it inside, before the LIMIT", "SRD-Q102"
        )
    reader = _OuterReader({output.name: output.expression for output in inner.outputs}, over.name)
    lists = frozenset(f"a{place}" for place, each in enumerate(inner.aggregates) if _is_list(each))
    listed = _items(select, inner)
    expressions = [reader.read(each.node) for each in listed]
    for expression in expressions:
        refuse_lists(expression, lists)
    outputs = tuple(Output(name, made) for name, made in zip(output_names(listed), expressions, strict=True))
    having = inner.having
    if select.args.get("where") is not None:
        only(select.args["where"], "this")
        condition = reader.condition(select.args["where"].this)
        having = condition if having is None else call("and", having, condition)
    return replace(inner, outputs=outputs, having=having, order=_order(select, reader, outputs) or inner.order)


def _items(select: exp.Select, inner: Question) -> list[Item]:
    """Return what is selected; a star is every column of the answer."""
    listed: list[Item] = []
    for node in select.expressions:
        if isinstance(node, exp.Star):
            only(node)
            listed += [item(exp.column(output.name, quoted=True)) for output in inner.outputs]
        else:
            listed.append(item(node))
    return listed


def _order(
    select: exp.Select, reader: _OuterReader, outputs: tuple[Output, ...]
) -> tuple[tuple[Expression, bool], ...]:
    clause = select.args.get("order")
    if clause is None:
        return ()
    only(clause, "expressions")
    named = {output.name.lower(): output.expression for output in outputs}
    order: list[tuple[Expression, bool]] = []
    for one in clause.expressions:
        only(one, "this", "desc", "nulls_first")
        node = one.this
        if isinstance(node, exp.Literal) and not node.is_string:
            expression = outputs[position(str(node.this), len(outputs))].expression
        elif isinstance(node, exp.Column) and not node.table and node.name.lower() in named:
            expression = named[node.name.lower()]
        else:
            expression = reader.read(node)
        order.append((expression, bool(one.args.get("desc"))))
    return tuple(order)


def _is_list(aggregate: Aggregate) -> bool:
    return aggregate.function in _LISTS or (aggregate.function == "quantile" and len(aggregate.parameters) != 1)


def is_worth_trying(refusal: QuestionError) -> bool:
    """Whether a question that was refused as a whole may still be one about an answer."""
    return refusal.code in ("SRD-Q102", "SRD-Q105")
