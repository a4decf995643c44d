"""How much an engine has to read of a question, and the refusal of too much: before anything is charged.

Engines put a subquery's expressions wherever their columns are used, and move conditions down into every part of a
UNION ALL. Seven subqueries of ``c || c || c || c``, one upon another, are one expression of 16,384 columns to them, and
take minutes to plan. So a question is weighed here as engines see it: with all subqueries put into each other.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from sordino.errors import QuestionError

from .expression import Expression
from .question import Aggregate, Question
from .relation import Constants, Filter, Join, PerPerson, Project, Relation, Scan, SemiJoin, UnionAll, Windowed
from .weights import DEEPEST, LARGEST, LARGEST_TOGETHER, PLAIN, Weight, weigh

_MOST_FLOORS = 110
"""Selections within selections that what writes SQL, and every engine, can follow: measured, and halved."""
_PRIVATE_JOIN = 40
"""How many parts a join counts as in which both sides are first cut to some rows of each person."""


def refuse_large_question(question: Question) -> None:
    """Refuse a question of which an engine would have to read too much."""
    counting = _Counting({})
    rows = counting.read(question.relation)
    parts = rows.parts + counting.parts([key.expression for key in question.keys], rows)
    for aggregate in question.aggregates:
        parts += counting.parts(aggregate.arguments, rows) * _times(aggregate)
    (parts * max(len(question.grouping_sets or ()), 1)).refuse()
    if question.key_table is not None:
        counting.read(question.key_table.relation)


def _times(aggregate: Aggregate) -> int:
    """Return how often an aggregate reads its arguments: histograms compare them with each edge."""
    return len(aggregate.parameters) if aggregate.function == "histogram" else 2


@dataclass(frozen=True)
class _Parts:
    """How many parts something has: as it is written, and with all subqueries put into each other."""

    written: int
    together: int

    def __add__(self, other: _Parts) -> _Parts:
        return _Parts(self.written + other.written, self.together + other.together)

    def __mul__(self, times: int) -> _Parts:
        return _Parts(self.written * times, self.together * times)

    def refuse(self) -> None:
        """Refuse what is too much."""
        if self.written > LARGEST:
            raise QuestionError(
                f"the question has more than {LARGEST:,} parts, with all that is repeated so that no row can fail; ask "
                "in several questions",
                "SRD-Q101",
            )
        if self.together > LARGEST_TOGETHER:
            raise QuestionError(
                f"the question has more than {LARGEST_TOGETHER:,} parts, with all subqueries put into each other as an "
                "engine does; use the same columns fewer times, or ask in several questions",
                "SRD-Q101",
            )


@dataclass(frozen=True)
class _Read:
    """What an engine reads of a relation."""

    columns: Mapping[str, Weight]
    """The columns, as they are put into what is above; 1 for those that are not in it."""
    parts: _Parts
    """Of everything in it."""
    floors: int
    """How many selections stand one upon another."""
    branches: int = 1
    """Into how many parts of a UNION ALL that is moved which is above."""


@dataclass(frozen=True)
class _Counting:
    """One walk over a tree. A relation that WITH names may stand in it many times; it counts each time."""

    known: dict[int, _Read]

    def read(self, relation: Relation) -> _Read:
        """Return what an engine reads of the relation."""
        if id(relation) not in self.known:
            found = _NODES[type(relation)](self, relation)
            found.parts.refuse()
            if found.floors > _MOST_FLOORS:
                raise QuestionError(
                    "too many subqueries, joins or unions stand one upon another; ask in several questions", "SRD-Q101"
                )
            self.known[id(relation)] = found
        return self.known[id(relation)]

    def weigh(self, expression: Expression, source: _Read) -> Weight:
        """Return the weight of an expression over the columns of a relation."""
        weight = weigh(expression, source.columns)
        if weight.depth > DEEPEST:
            raise QuestionError(
                f"with all subqueries put into each other, an expression is nested more than {DEEPEST} deep; use the "
                "results of fewer subqueries one upon another",
                "SRD-Q101",
            )
        return weight

    def parts(self, expressions: Iterable[Expression | None], source: _Read) -> _Parts:
        """Return the parts of the expressions, those together in all branches; what is None counts as one."""
        listed = [each for each in expressions if each is not None]
        written = sum(weigh(each, {}).parts for each in listed)
        together = sum(self.weigh(each, source).parts for each in listed)
        return _Parts(written + 1, source.branches * together + 1)


def _plain(count: int) -> _Parts:
    return _Parts(count, count)


def _scan(_: _Counting, relation: Scan) -> _Read:
    return _Read({}, _plain(len(relation.columns)), 1)


def _filter(counting: _Counting, relation: Filter) -> _Read:
    source = counting.read(relation.source)
    parts = source.parts + counting.parts([relation.condition], source)
    return _Read(source.columns, parts, source.floors + 1, source.branches)


def _project(counting: _Counting, relation: Project) -> _Read:
    source = counting.read(relation.source)
    columns = {name: counting.weigh(expression, source) for name, expression, _ in relation.outputs}
    parts = source.parts + counting.parts((expression for _, expression, _ in relation.outputs), source)
    return _Read(columns, parts, source.floors + 1, source.branches)


def _join(counting: _Counting, relation: Join) -> _Read:
    left, right = counting.read(relation.left), counting.read(relation.right)
    columns = {**left.columns, **{new: right.columns[old] for old, new in relation.right_names if old in right.columns}}
    parts = left.parts + right.parts + _plain(len(relation.columns) + _PRIVATE_JOIN * relation.on_owner)
    floors = max(left.floors, right.floors) + (6 if relation.on_owner else 1)
    return _Read(columns, parts, floors, max(left.branches, right.branches))


def _semi_join(counting: _Counting, relation: SemiJoin) -> _Read:
    source, members = counting.read(relation.source), counting.read(relation.members)
    floors = max(source.floors, members.floors) + 1
    return _Read(source.columns, source.parts + members.parts + _plain(1), floors, source.branches)


def _union(counting: _Counting, relation: UnionAll) -> _Read:
    branches = [counting.read(branch) for branch in relation.branches]
    columns = {name: _heaviest([branch.columns.get(name, PLAIN) for branch in branches]) for name in relation.columns}
    parts = sum((branch.parts for branch in branches), _plain(1))
    floors = max(branch.floors for branch in branches) + 4
    return _Read(columns, parts, floors, sum(branch.branches for branch in branches))


def _heaviest(weights: list[Weight]) -> Weight:
    return Weight(max(weight.parts for weight in weights), max(weight.depth for weight in weights))


def _per_person(counting: _Counting, relation: PerPerson) -> _Read:
    """Summaries end what can be put together; conditions on keys are still moved below them."""
    source = counting.read(relation.source)
    columns = {name: counting.weigh(expression, source) for name, expression, _ in relation.keys}
    read = [expression for _, expression, _ in relation.keys] + [argument for _, _, argument, _ in relation.summaries]
    return _Read(columns, source.parts + counting.parts(read, source), source.floors + 4, source.branches)


def _windowed(counting: _Counting, relation: Windowed) -> _Read:
    source = counting.read(relation.source)
    parts = source.parts
    for _, _, argument, partition, order, _ in relation.windows:
        read = [argument, *partition, *(expression for expression, _ in order)]
        parts += counting.parts(read, source) + _plain(len(relation.columns))
    return _Read(source.columns, parts, source.floors + 4 * len(relation.windows), source.branches)


_NODES: dict[type[Relation], Callable[[_Counting, Any], _Read]] = {
    Scan: _scan,
    Constants: lambda _, relation: _Read({}, _plain(len(relation.column.keys or ())), 1),
    Filter: _filter,
    Project: _project,
    Join: _join,
    SemiJoin: _semi_join,
    UnionAll: _union,
    PerPerson: _per_person,
    Windowed: _windowed,
}
