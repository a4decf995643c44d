"""Asking by method calls: the same frozen `Question` as from SQL.

``budget.table("trips").group_by("city").agg(rides=so.count(), fare=so.mean("fare"))``

A `Frame` is a relation and the names of its columns. Each verb is read as the piece of SQL that it stands for, by the
functions that read SQL, when it is called: so mistakes are found where they are made, and one set of rules decides
whose rows may meet whose.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Generic, NoReturn, TypeVar

from sqlglot import exp

from sordino.arguments import one_of
from sordino.data.metadata import Column, Schema
from sordino.errors import ArgumentError, QuestionError
from sordino.query.model.lineage import owners
from sordino.query.sql.context import Context
from sordino.query.sql.expression import chain
from sordino.query.sql.join import joined
from sordino.query.sql.person import distinct_rows, refuse_unkeyed, summarised
from sordino.query.sql.predicate import narrowed
from sordino.query.sql.refusals import refuse_where_days_are_units
from sordino.query.sql.relation import new_context, read_query, read_source
from sordino.query.sql.scope import Scope, Visible, unique_name
from sordino.query.sql.text import DEEPEST

from . import words as words
from .draft import Draft, Sets, context_over
from .expression import Formula, Place, as_formula, chained, identifier
from .words import Named, On

Asked = TypeVar("Asked")


class _NotYet:
    """What cannot be run, and what to write first."""

    def run(self, **_words: Any) -> NoReturn:
        """Refuse: there is nothing to run yet."""
        raise QuestionError(
            "single rows are never shown, so there is nothing to price or run yet; say what to compute: "
            '.agg(rides=so.count(), fare=so.mean("fare"))',
            "SRD-Q403",
        )

    price = plan = run


@dataclass(frozen=True, eq=False, repr=False)
class Grouped(_NotYet, Generic[Asked]):
    """Rows in groups, waiting for what to compute of them."""

    draft: Draft
    ask: Callable[[Draft], Asked]

    def rollup(self) -> Grouped[Asked]:
        """Also ask for totals over the last key, the last two, and so on up to all."""
        return self._totalled("rollup", "rollup")

    def cube(self) -> Grouped[Asked]:
        """Also ask for totals over every choice of keys."""
        return self._totalled("cube", "cube")

    def grouping_sets(self, *sets: str | Sequence[str]) -> Grouped[Asked]:
        """Ask for groups by these choices of keys and no others: ``grouping_sets(["city", "month"], "city", [])``."""
        asked = words.key_sets([name for name, _ in self.draft.keys], sets)
        return self._totalled("grouping_sets", asked, ", ".join(map(repr, sets)))

    def keys(self) -> Asked:
        """Return the question which groups there are, where that is not public: with nothing computed of them."""
        return self.ask(replace(self.draft, text=f"{self.draft.text}.keys()"))

    def agg(self, **aggregates: Formula) -> Asked:
        """Return the question that asks for these aggregates of each group, and can be priced and run."""
        asked = words.aggregates("agg", aggregates)
        words.differently_named("agg", (*self.draft.keys, *asked))
        return self.ask(replace(self.draft, aggregates=asked, text=f"{self.draft.text}.agg({words.said(asked)})"))

    def __repr__(self) -> str:
        return self.draft.text

    def _totalled(self, verb: str, sets: Sets, said: str = "") -> Grouped[Asked]:
        if self.draft.sets is not None or not self.draft.keys or self.draft.public_keys is not None:
            raise QuestionError(f"{verb} needs a group_by with keys, once, and without listed_in", "SRD-Q401")
        return replace(self, draft=replace(self.draft, sets=sets, text=f"{self.draft.text}.{verb}({said})"))


@dataclass(frozen=True, eq=False, repr=False)
class Frame(_NotYet, Generic[Asked]):
    """Rows of tables, to be narrowed, joined and summarised. Nothing is computed before `run`."""

    schema: Schema
    scope: Scope
    name: str
    """How its columns are called after a join: ``col("trips.city")``."""
    text: str
    ask: Callable[[Draft], Asked]
    steps: int = 0
    filtered: tuple[Scope, Formula] | None = None
    """What the last verb narrowed, and by which condition, so that another one joins it."""

    @classmethod
    def over(cls, schema: Schema, name: str, ask: Callable[[Draft], Asked]) -> Frame[Asked]:
        """Return all rows of a table; `ask` makes a question of a draft."""
        if not isinstance(name, str) or not name:
            raise ArgumentError(f"a table is named by a text, not by {type(name).__name__}", "SRD-A001")
        scope = read_source(exp.Table(this=identifier(name)), new_context(schema))
        return cls(schema, scope, name, f"table({name!r})", ask)

    def __repr__(self) -> str:
        return self.text

    @property
    def columns(self) -> dict[str, Column]:
        """What is known about each column, by name."""
        found: dict[str, Column] = {}
        for seen in self.scope.starred():
            found[unique_name(seen.name, set(found))] = self.scope.relation.columns[seen.column]
        return found

    def filter(self, *conditions: Any) -> Frame[Asked]:
        """Keep the rows for which all conditions hold."""
        if not conditions:
            raise ArgumentError('filter needs a condition, such as col("fare") > 20', "SRD-A003")
        asked = [as_formula(condition) for condition in conditions]
        source, before = self.filtered or (self.scope, None)
        every = chained("&", *asked) if before is None else chained("&", before, *asked)
        parts = chain(every.node(Place(source)), exp.And)
        scope = narrowed(source, parts, context_over(self.schema, source))
        said = ", ".join(one.text for one in asked)
        return replace(self._next(scope, f"filter({said})"), filtered=(source, every))

    def select(self, *columns: str | Formula, **renamed: str | Formula) -> Frame[Asked]:
        """Keep these columns alone, or expressions under new names."""
        listed = words.columns("select", columns, renamed)
        return self._projected(listed, f"select({words.said(listed)})")

    def with_columns(self, **added: Any) -> Frame[Asked]:
        """Add columns, or replace those of that name. Texts are constants here; columns are named by `col`."""
        if not added:
            raise ArgumentError('with_columns needs a column, such as dear=col("fare") > 20', "SRD-A003")
        new = words.differently_named("with_columns", [(name, as_formula(value)) for name, value in added.items()])
        left = {str(name).lower(): (name, formula) for name, formula in new}
        kept = [left.pop(str(name).lower(), (name, formula)) for name, formula in words.all_of(self.scope)]
        return self._projected((*kept, *left.values()), f"with_columns({words.said(new)})")

    def distinct(self) -> Frame[Asked]:
        """Keep each person's different rows."""
        return self._next(distinct_rows(self._flat().scope, self._context), "distinct()")

    def join(self, other: str | Frame[Asked], on: On, how: str = "inner") -> Frame[Asked]:
        """Join rows that agree on columns: with a public table, or with rows of the same person.

        Private rows meet private rows only where `on` has the person's column, so that nobody's rows depend on
        another's. Columns that both sides have are told apart by the table: ``col("trips.city")``.
        """
        right = self._other(other)
        side = {"inner": "", "left": "LEFT"}[one_of("how", how, ("inner", "left"))]
        pairs, same = words.join_pairs(on)
        condition: dict[str, Any] = (
            {"using": [identifier(name) for name, _ in pairs]}
            if same
            else {"on": words.equal(self.scope, right.scope, pairs)}
        )
        scope = joined(self.scope, right.scope, exp.Join(side=side, **condition), self.schema)
        said = "" if how == "inner" else f", how={how!r}"
        return self._next(scope, f"join({other!r}, on={on!r}{said})", right.steps)

    def semi_join(self, other: str | Frame[Asked], on: On) -> Frame[Asked]:
        """Keep the rows that agree with some row of the other side: public, or the person's own."""
        return self._membered(other, on, "semi_join", negated=False)

    def anti_join(self, other: str | Frame[Asked], on: On) -> Frame[Asked]:
        """Keep the rows that agree with no row of the other side: public, or the person's own."""
        return self._membered(other, on, "anti_join", negated=True)

    def union(self, other: str | Frame[Asked]) -> Frame[Asked]:
        """Put the rows of two frames together, all of them; both need the same columns, in any order."""
        right = self._other(other)
        lone = {name.lower() for name in self.columns} ^ {name.lower() for name in right.columns}
        if lone:
            raise QuestionError(
                f"both sides of a union need the same columns; only one has {', '.join(sorted(lone))}", "SRD-Q401"
            )
        sides = {"left": self._flat(), "right": right._flat(tuple(self.columns))}
        context = replace(new_context(self.schema), named={name: side.scope for name, side in sides.items()})
        first, second = (
            exp.Select(expressions=[exp.Star()], from_=exp.From(this=exp.Table(this=identifier(name))))
            for name in sides
        )
        union = read_query(exp.Union(this=first, expression=second, distinct=False), context)
        return self._next(self._renamed(union), f"union({other!r})", right.steps)

    def per_person(self, *keys: str | Formula, **summaries: Formula) -> Frame[Asked]:
        """Summarise each person's rows by themselves: one row for each person, or for each person and key.

        The result has the person's column, the keys, and what was asked for: counts, sums, means, minima, maxima.
        """
        owner = self._owner("per_person")
        chosen = words.columns("per_person", keys, {}, least=0)
        asked = words.aggregates("per_person", summaries)
        listed = words.differently_named("per_person", ((owner.name, words.seen_formula(owner)), *chosen, *asked))
        rows, above = Place(self.scope), Place(self.scope, aggregates=True)
        select = exp.Select(
            expressions=[words.aliased(name, formula.node(above)) for name, formula in listed],
            group=exp.Group(expressions=[formula.node(rows) for _, formula in listed[: 1 + len(chosen)]]),
        )
        scope = self._renamed(summarised(select, self.scope, self._context))
        return self._next(scope, f"per_person({words.said(listed[1:])})")

    def group_by(
        self, *keys: str | Formula, listed_in: str | Frame[Asked] | None = None, **renamed: str | Formula
    ) -> Grouped[Asked]:
        """Group the rows by columns and expressions; `agg` then says what to compute.

        `listed_in` is a public table whose columns, named like the keys, list the groups that are wanted: all of them
        are in the answer, always.
        """
        listed = words.columns("group_by", keys, renamed, least=0)
        public = None if listed_in is None else self._other(listed_in).scope
        parts = [words.said(listed)] * bool(listed) + ([] if public is None else [f"listed_in={listed_in!r}"])
        text = f"{self.text}.group_by({', '.join(parts)})"
        return Grouped(Draft(self.schema, self.scope, text, keys=listed, public_keys=public), self.ask)

    def agg(self, **aggregates: Formula) -> Asked:
        """Return the question that asks for these aggregates of all rows."""
        return Grouped(Draft(self.schema, self.scope, self.text), self.ask).agg(**aggregates)

    @property
    def _context(self) -> Context:
        return context_over(self.schema, self.scope)

    def _next(self, scope: Scope, verb: str, other_steps: int = 0) -> Frame[Asked]:
        steps = max(self.steps, other_steps) + 1
        if steps > DEEPEST:
            raise QuestionError(f"a question may have {DEEPEST} steps, one upon another; put some together", "SRD-Q401")
        return Frame(self.schema, scope, self.name, f"{self.text}.{verb}", self.ask, steps)

    def _renamed(self, scope: Scope) -> Scope:
        return replace(scope, visible=tuple(replace(seen, qualifier=self.name) for seen in scope.visible))

    def _projected(self, listed: tuple[Named, ...], verb: str) -> Frame[Asked]:
        place = Place(self.scope, person=lambda: words.seen_node(self._owner("a window")))
        select = exp.Select(expressions=[words.aliased(name, formula.node(place)) for name, formula in listed])
        return self._next(self._renamed(read_query(select, self._context)), verb)

    def _flat(self, names: tuple[str, ...] | None = None) -> Frame[Asked]:
        """Return the frame with its columns (in the order of `names`) under one table's name."""
        own = tuple(self.columns)
        wanted = own if names is None else names
        if len(self.scope.qualifiers) == 1 and [name.lower() for name in own] == [name.lower() for name in wanted]:
            return self
        listed = dict(zip((name.lower() for name in own), words.all_of(self.scope), strict=True))
        return self._projected(tuple((name, listed[name.lower()][1]) for name in wanted), "select(…)")

    def _other(self, other: Any) -> Frame[Asked]:
        """Return the other side of a join, its tables renamed where they are called like some on this side."""
        if isinstance(other, str):
            other = Frame.over(self.schema, other, self.ask)
        if not isinstance(other, Frame):
            raise ArgumentError(
                f"the other side must be a table's name or a frame, not {type(other).__name__}", "SRD-A001"
            )
        if other.schema != self.schema:
            raise QuestionError("two data sets cannot be asked in one question; declare them as one", "SRD-Q401")
        renamed: dict[str, str] = {}
        for name in dict.fromkeys(seen.qualifier for seen in other.scope.visible):
            others = other.scope.qualifiers - {name.lower()}
            renamed[name] = unique_name(name, {*self.scope.qualifiers, *others, *renamed.values()})
        visible = tuple(replace(seen, qualifier=renamed[seen.qualifier]) for seen in other.scope.visible)
        return replace(other, scope=replace(other.scope, visible=visible))

    def _membered(self, other: Any, on: On, verb: str, *, negated: bool) -> Frame[Asked]:
        members = self._other(other)
        condition = words.equal(self.scope, members.scope, words.join_pairs(on)[0])
        exists = exp.Exists(this=exp.Select(expressions=[exp.Literal.number(1)], where=exp.Where(this=condition)))
        part = exp.Not(this=exists) if negated else exists
        scope = narrowed(self.scope, [part], context_over(self.schema, members.scope))
        return self._next(scope, f"{verb}({other!r}, on={on!r})", members.steps)

    def _owner(self, verb: str) -> Visible:
        """Return the column that holds the person."""
        refuse_unkeyed(self.scope.relation, self._context, verb)
        refuse_where_days_are_units(self.schema, verb)
        held = owners(self.scope.relation, self.schema)
        for seen in self.scope.starred():
            if seen.column in held:
                return seen
        raise QuestionError(
            f"no column here holds the {self.schema.unit.name}, so {verb} is not possible; keep that column in "
            "select(…), or join the table that has it",
            "SRD-Q404",
        )
