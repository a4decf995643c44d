"""A question while it is being written by method calls: keys, aggregates, and what is done with their values."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from typing import Any, Literal, Self

from sqlglot import exp

from sordino.arguments import whole
from sordino.data.metadata import Schema
from sordino.errors import ArgumentError, QuestionError
from sordino.query.model.expression import ColumnRef
from sordino.query.model.question import KeyTable, Options, Question
from sordino.query.sql.context import Context
from sordino.query.sql.predicate import conditions_of
from sordino.query.sql.relation import read_query
from sordino.query.sql.scope import Scope
from sordino.query.sql.select import read_question

from .expression import Formula, Place, as_formula, chained, identifier
from .words import Named, aliased, order_node, ordered

_MOST_ROWS = 10**9 - 1

Sets = Literal["rollup", "cube"] | tuple[tuple[int, ...], ...]
"""What ROLLUP or CUBE stands for, or the places of the keys in each set."""


def context_over(schema: Schema, scope: Scope) -> Context:
    """Return the context in which every SELECT is from the rows of the scope."""
    return Context(schema, read_query, lambda select, _: (scope, conditions_of(select)))


@dataclass(frozen=True)
class Draft:
    """What has been said so far. It reads itself as SQL would be read, with all of SQL's rules."""

    schema: Schema
    scope: Scope
    text: str
    keys: tuple[Named, ...] = ()
    sets: Sets | None = None
    """Which totals over the keys are asked for."""
    public_keys: Scope | None = None
    """The rows of a public table that list the keys."""
    aggregates: tuple[Named, ...] = ()
    condition: Formula | None = None
    order: tuple[tuple[Formula, bool], ...] = ()
    limit: int | None = None
    offset: int = 0

    @property
    def question(self) -> Question:
        """The question, read and checked."""
        question = read_question(self._select(), context_over(self.schema, self.scope), Options())
        if self.public_keys is None:
            return question
        return replace(question, key_table=self._key_table(question, self.public_keys))

    def _select(self) -> exp.Select:
        rows = Place(self.scope)
        above = Place(self.scope, {name: key for name, key in self.keys if name is not None}, aggregates=True)
        select = exp.Select(
            expressions=[
                *(aliased(name, key.node(rows)) for name, key in self.keys),
                *(aliased(name, formula.node(above)) for name, formula in self.aggregates),
            ]
        )
        if self.keys:
            select.set("group", self._group(rows))
        if self.condition is not None:
            select.set("having", exp.Having(this=self.condition.node(replace(above, named={}))))
        if self.order:
            select.set("order", order_node(self.order, replace(above, named={})))
        if self.limit is not None:
            select.set("limit", exp.Limit(expression=exp.Literal.number(self.limit)))
            select.set("offset", exp.Offset(expression=exp.Literal.number(self.offset)))
        return select

    def _group(self, rows: Place) -> exp.Group:
        nodes = [key.node(rows) for _, key in self.keys]
        if self.sets is None:
            return exp.Group(expressions=nodes)
        if isinstance(self.sets, str):
            kind = {"rollup": exp.Rollup, "cube": exp.Cube}[self.sets]
            return exp.Group(**{self.sets: [kind(expressions=nodes)]})
        sets = [exp.Tuple(expressions=[nodes[place] for place in places]) for places in self.sets]
        return exp.Group(grouping_sets=[exp.GroupingSets(expressions=sets)])

    def _key_table(self, question: Question, listed: Scope) -> KeyTable:
        if not listed.relation.is_public:
            raise QuestionError("keys come from a public table; these are private rows", "SRD-Q404")
        names = {output.expression: output.name for output in reversed(question.outputs)}
        columns: list[str] = []
        for place, key in enumerate(question.keys):
            name = names[ColumnRef(key.expression.kind, f"k{place}")]
            column = listed.find(exp.Column(this=identifier(name))).column
            if listed.relation.columns[column].kind is not key.expression.kind:
                raise QuestionError(
                    f"the key {name[:60]!r} is {key.expression.kind.value}, but the keys' table has "
                    f"{listed.relation.columns[column].kind.value}; cast one of them",
                    "SRD-Q404",
                )
            columns.append(column)
        return KeyTable(listed.relation, tuple(columns))


class Arranged(ABC):
    """What can be done with the values of an answer, for free: they are noisy already."""

    _draft: Draft

    @abstractmethod
    def _redrafted(self, draft: Draft) -> Self:
        """Return the question that the draft now asks."""

    def having(self, *conditions: Any) -> Self:
        """Keep the groups for which the conditions hold; columns are those of the answer."""
        self._refuse_after_limit("having")
        asked = [as_formula(condition) for condition in conditions]
        if not asked:
            raise ArgumentError('having needs a condition, such as col("rides") > 100', "SRD-A003")
        before = () if self._draft.condition is None else (self._draft.condition,)
        text = f"{self._draft.text}.having({', '.join(one.text for one in asked)})"
        return self._redrafted(replace(self._draft, condition=chained("&", *before, *asked), text=text))

    def order_by(self, *columns: str | Formula) -> Self:
        """Order the groups by columns of the answer, descending where a name begins with a minus: ``"-rides"``."""
        self._refuse_after_limit("order_by")
        if not columns:
            raise ArgumentError('order_by needs a column, such as "-rides"', "SRD-A003")
        text = f"{self._draft.text}.order_by({', '.join(repr(column) for column in columns)})"
        return self._redrafted(replace(self._draft, order=ordered(columns) + self._draft.order, text=text))

    def limit(self, count: int, offset: int = 0) -> Self:
        """Keep the first groups, `offset` of them left out. It comes last."""
        self._refuse_after_limit("limit")
        most = whole("count", count, least=0, most=_MOST_ROWS)
        skipped = whole("offset", offset, least=0, most=_MOST_ROWS)
        text = f"{self._draft.text}.limit({most}{f', {skipped}' if skipped else ''})"
        return self._redrafted(replace(self._draft, limit=most, offset=skipped, text=text))

    def _refuse_after_limit(self, verb: str) -> None:
        if self._draft.limit is not None:
            raise QuestionError(f"{verb} after limit is not possible; put limit last", "SRD-Q403")
