"""Days that have budgets of their own: which of them a question reads, and so is charged on.

A data set whose data arrives by day may give every day a budget (``ledger/rule.py``). Each row of its private table
lies on one day, by a function of that row alone: the date in one column. A row without one is never read.

**Guarantee**. What a question releases depends on rows of the days in `days_read` alone. *By construction*: `on_days`
gives every scan of the table its days, the engine reads those and no others (``engine/scan.py``) and refuses a scan
without, and what is charged is read off the same scans, after everything that is found or estimated besides was built
upon them. That the days were found by looking at conditions (``days.py``) matters for the answer, not for the claim.

**Why charging these days is enough**. Let u be a unit, all of whose rows lie on the day b. By the invariant of
``relation.py`` a relation's rows are the units' own, each computed from that unit's rows; so if b is not read, u has no
rows in any relation, nor in what is found privately, and the law of what comes out is the same with u and without. So
only what reads b counts against u, which is what the budget of b adds up. That a unit's rows lie on one day is

* declared and enforced where people are protected: of each person only the rows of the first day count, ever;
* so by definition where the unit is a (person, day) or a single row.

As other rows of u are no longer rows of u, a filter on days may be moved below joins, windows and summaries, all of
which are within a unit: so the days of a filter anywhere above a scan are the days that it needs.

**Assumes**: the column's name and what is protected stay the same for the life of the budget; a person's first day does
not change, so that data arrives in the order of days; the data set has one private table.
**Source**: McSherry 2009, Theorem 4 (parallel composition); Lécuyer, Spahn, Vodrahalli, Geambasu, Hsu 2019 (blocks).
"""

from __future__ import annotations

from dataclasses import replace
from functools import reduce

from sordino.data.kinds import Kind
from sordino.data.metadata import Blocks
from sordino.errors import QuestionError

from .days import EVERY_DAY, NO_DAY, Days, days_where, is_day
from .lineage import origin
from .question import Key, Question
from .relation import Filter, Relation, Scan, UnionAll

MOST_DAYS = 3660
"""The days that one question may read: as many as one charge can name."""


def on_days(question: Question) -> Question:
    """Return the question with every scan on the days that it needs; as it is where days have no budgets.

    Keys that are the day itself become public: they are the days that are read.
    """
    blocks = question.schema.blocks
    if blocks is None:
        return question
    days = _checked(_needed(question.relation, blocks) & Days.between(blocks.first, blocks.last), blocks)
    keys = question.keys
    if question.key_table is None:
        keys = tuple(_listed(key, question.relation, blocks, days) for key in keys)
    return replace(question, relation=_placed(question.relation, days), keys=keys)


def days_read(relation: Relation) -> Days:
    """Return the days that all scans of a relation read; none where days have no budgets."""
    scans = (each.days for each in relation.walk() if isinstance(each, Scan))
    return reduce(Days.__or__, (days for days in scans if days is not None), NO_DAY)


def _needed(relation: Relation, blocks: Blocks) -> Days:
    """Return the days outside of which no row of the table can reach the top."""
    if isinstance(relation, Scan):
        return EVERY_DAY if relation.table.name == blocks.table else NO_DAY
    below = reduce(Days.__or__, (_needed(each, blocks) for each in relation.inputs))
    if isinstance(relation, Filter):
        return below & days_where(relation.condition, _day_columns(relation.source, blocks))
    return below


def _day_columns(relation: Relation, blocks: Blocks) -> frozenset[str]:
    place = (blocks.table, blocks.column)
    return frozenset(name for name in relation.columns if origin(relation, name) == place)


def _checked(days: Days, blocks: Blocks) -> Days:
    column = blocks.column
    between = f"WHERE {column} BETWEEN '2026-06-03' AND '2026-06-09'"
    if not len(days):
        raise QuestionError(
            f"no day that is declared can fulfil the conditions on {column}, so there is nothing to read; ask about "
            f"days {_declared(blocks)}",
            "SRD-Q321",
        )
    if len(days) > MOST_DAYS:
        raise QuestionError(
            f"each day of {column} has a budget of its own, and this question reads {len(days):,} of them; say which "
            f"days you mean, at most {MOST_DAYS:,}, by constants: {between}",
            "SRD-Q321",
        )
    return days


def _declared(blocks: Blocks) -> str:
    ends = [f"{word} {day}" for word, day in (("from", blocks.first), ("to", blocks.last)) if day is not None]
    return " ".join(ends) or "of the calendar"


def _listed(key: Key, relation: Relation, blocks: Blocks, days: Days) -> Key:
    """Return a key that is the day itself with the days that are read as its values."""
    ours = is_day(key.expression, _day_columns(relation, blocks)) and key.expression.kind is Kind.DATE
    if not ours or key.column.keys is not None:
        return key
    return replace(key, column=replace(key.column, keys=tuple(days)))


def _placed(relation: Relation, days: Days) -> Relation:
    """Return the same tree with all scans of tables that have blocks on these days."""
    if isinstance(relation, Scan):
        return replace(relation, days=days) if relation.table.blocks is not None else relation
    if isinstance(relation, UnionAll):
        return UnionAll(tuple(_placed(branch, days) for branch in relation.branches))
    return replace(relation, **{side: _placed(getattr(relation, side), days) for side in relation.sides})
