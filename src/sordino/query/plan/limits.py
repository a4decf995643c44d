"""Which ways of bounding contributions a question allows, given what is declared."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import prod

from sordino.data.metadata import Limits
from sordino.errors import QuestionError
from sordino.query.model.bounding import Bounding
from sordino.query.model.limits import limits_of
from sordino.query.model.question import Question

from .spend import Spend


@dataclass(frozen=True)
class Demands:
    """What a question's aggregates ask of bounding."""

    rows: bool
    """Some aggregate adds up rows (rather than people)."""
    people: bool
    """The number of groups of a person must be limited: people are counted, or keys are private."""
    distincts: bool
    """Different values are counted, so rows must be kept or left out as a whole."""


def public_groups(question: Question) -> int | None:
    """Return the number of groups if the text and the metadata tell it, else None."""
    if question.key_table is not None:
        return None
    sizes = [None if key.column.keys is None else len(key.column.keys) for key in question.keys]
    return prod(size for size in sizes if size is not None) if all(size is not None for size in sizes) else None


def keys_are_public(question: Question) -> bool:
    """Return whether all groups are known beforehand."""
    return question.key_table is not None or public_groups(question) is not None


def check_keys(question: Question, spend: Spend) -> None:
    """Refuse private keys without a δ to select them by."""
    if not keys_are_public(question) and not spend.keys_delta:
        raise QuestionError(
            "the groups are not known beforehand, and showing which ones exist needs a δ: declare keys([...]) for the "
            "columns, or use a budget with a delta and give delta=… for this question",
            "SRD-Q305",
        )


def declared(question: Question) -> Limits:
    """Return the limits in force: those in the question's own text first, then what follows from the tables'."""
    names = frozenset[str]().union(*(key.expression.columns for key in question.keys))
    table, text = limits_of(question.relation, names, question.schema), question.options
    return Limits(text.rows or table.rows, text.groups or table.groups, text.rows_per_group or table.rows_per_group)


def by_row_bounding(question: Question) -> Bounding:
    """Return the only bounding of rows: none, but for how many rows of the relation one row can become.

    Partition selection takes one row for one unit in each group, so it is refused where one row can be several.
    """
    copies = max(question.relation.copies.values(), default=1)
    if copies > 1 and not keys_are_public(question):
        raise QuestionError(
            f"one row can occur {copies} times in this relation, so private keys cannot be selected; declare keys([…]) "
            "for the columns, or read each table once",
            "SRD-Q316",
        )
    return Bounding("row", rows=copies)


def candidates(question: Question, demands: Demands, limits: Limits) -> list[Bounding]:
    """Return the ways of bounding that suit the question, or [] if limits are missing that would have to be found."""
    if question.schema.by_row:
        return [by_row_bounding(question)]
    known = public_groups(question)
    groups = limits.groups if known is None else min(limits.groups or known, known)
    per_group = limits.rows_per_group or limits.rows
    if not demands.rows and not demands.distincts:
        per_group = 1
    ways = []
    if limits.rows is not None and not demands.people and not demands.distincts:
        ways.append(Bounding("weigh", rows=limits.rows))
    if groups is not None and per_group is not None and not demands.distincts:
        ways.append(Bounding("groups", groups=groups, rows_per_group=per_group))
    if limits.rows is not None and (demands.people or demands.distincts):
        ways.append(Bounding("sample", rows=limits.rows))
    return ways


def check(question: Question, demands: Demands, wish: Bounding) -> Bounding:
    """Return the bounding that was asked for, if it suits the question."""
    by_row = question.schema.by_row
    if by_row != (wish.method == "row"):
        raise QuestionError(
            "bounding by row is for data sets whose unit is the row, and all other ways are for people", "SRD-Q310"
        )
    if by_row and wish != by_row_bounding(question):
        raise QuestionError(
            "how many rows one row can become follows from the question; leave bounding out", "SRD-Q310"
        )
    if demands.distincts and wish.method not in ("row", "sample"):
        raise QuestionError("counting different values needs bounding by sample", "SRD-Q310")
    if demands.people and wish.l0 is None:
        raise QuestionError("counting people, and private keys, need bounding by groups or by sample", "SRD-Q310")
    return wish


MISSING: Mapping[bool, str] = {
    True: "how many groups one person may be in",
    False: "how many rows one person may have",
}


def missing(question: Question, demands: Demands) -> QuestionError:
    """Return the error for limits that are neither declared nor to be found."""
    what = MISSING[demands.people and not demands.rows]
    return QuestionError(
        f"nothing says {what}, so one {question.schema.unit.name} could change the answer without limit; declare "
        "limits(rows=…) or limits(groups=…, rows_per_group=…), or let sordino find them for a share of ε with "
        "find=True",
        "SRD-Q311",
    )
