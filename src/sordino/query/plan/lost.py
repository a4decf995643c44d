"""What each person loses to bounding: one row for each, with the number `lost`, from that person's rows alone.

A person with n rows of which c are in a group, under each way of bounding (``model/bounding.py``):

``weigh``, ``sample``  rows weigh R/n where n > R: of a sum x̄ over the person's clipped values, x̄·min(1, R/n) is left;
``groups``             of c rows in a group weigh K/c where c > K, and of g groups G/g are kept;
``norm``               rows weigh min(1, R/√Σc²).

So `lost` is what the person's plain sum is above that: what a sample would lose on average over its choices. Values
are taken as they are up to twice the cap, beyond which their owner is beyond the cap as well; NULL, NaN and infinite
ones are left out. No privacy hangs on any of it: what is added up is clipped where it is added up (``truncation.py``).
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Literal as OneOf

from sordino.data.kinds import Kind, Range
from sordino.data.metadata import Column
from sordino.query.model.bounding import Bounding
from sordino.query.model.expression import ColumnRef, Expression, Literal
from sordino.query.model.operations import call
from sordino.query.model.question import Question
from sordino.query.model.relation import NamedExpression, PerPerson, Project, Relation

from .discovery import with_declared_keys

LOST = "lost__"
_LARGEST = 1e300
_NUMBER = Column(Kind.REAL)
_COUNTED = Column(Kind.INTEGER, nullable=False)
_ONE = Literal(Kind.REAL, 1.0)
_GROUPS = ColumnRef(Kind.INTEGER, "groups")

What = OneOf["rows", "places", "sum", "people"]


@dataclass(frozen=True)
class Lost:
    """One estimate: a relation with the number `LOST` for each person, or row, and the public cap of that number."""

    what: What
    """Rows cut off by limits, places in groups, an amount of a sum, or people with a value outside of its bounds."""
    relation: Relation
    cap: Fraction
    by_row: bool
    of: Expression | None = None


def lost_by_limits(question: Question, bounding: Bounding, times: int) -> Lost:
    """Return how many rows the limits keep from counting; of counts of people alone, in how many groups."""
    only_people = {aggregate.function for aggregate in question.aggregates} == {"count_people"}
    if only_people and bounding.method == "groups":
        groups = PerPerson(_by_group(question, {}), (), (("groups", "count", None, _COUNTED),))
        beyond = call("subtract", _GROUPS, _constant(bounding.groups or 1))
        most = _above_zero(beyond)
        return Lost("places", _named(groups, most), Fraction(times * (bounding.groups or 1)), by_row=False)
    relation = _left(question, bounding, {"whole": _ONE, "inside": _ONE})
    return Lost("rows", relation, Fraction(times * _rows(bounding)), by_row=False)


def lost_of_sum(question: Question, bounding: Bounding, value: Expression, spread: Range, times: int) -> Lost:
    """Return how much of a sum clipping and limits keep from counting; negative where they add to it."""
    by_row = question.schema.by_row
    cap = times * spread.reach * (1 if by_row else _rows(bounding))
    if not cap:
        cap = Fraction(times)
    number = ColumnRef(value.kind, "value")
    parts = {"whole": _clipped(number, Range(-2 * cap, 2 * cap)), "inside": _clipped(number, spread)}
    if by_row:
        rows = Project(with_declared_keys(question), (("value", value, Column(value.kind)),))
        return Lost("sum", _named(rows, call("subtract", parts["whole"], parts["inside"])), cap, by_row=True, of=value)
    return Lost("sum", _left(question, bounding, parts, value), cap, by_row=False, of=value)


def outside(question: Question, value: Expression, spread: Range) -> Lost:
    """Return 1 for each person, or row, with a value outside of its bounds, for what is ranked and not added up."""
    rows: Relation = Project(with_declared_keys(question), (("value", value, Column(value.kind)),))
    least = most = ColumnRef(value.kind, "value")
    by_row = question.schema.by_row
    if not by_row:
        ends = (("least", "min", least, Column(value.kind)), ("most", "max", most, Column(value.kind)))
        rows = PerPerson(rows, (), ends)
        least, most = ColumnRef(value.kind, "least"), ColumnRef(value.kind, "most")
    low, high = (_constant(end) for end in (spread.low, spread.high))
    beyond = call("or", call("less", least, low), call("greater", most, high))
    counted = _named(rows, call("case", beyond, _ONE, _constant(0)))
    return Lost("people", counted, Fraction(1), by_row=by_row, of=value)


# ---- one row for each person ----------------------------------------------------------------------------------------


def _left(
    question: Question, bounding: Bounding, parts: dict[str, Expression], value: Expression | None = None
) -> Relation:
    """Return what each person has in the plain sum and not in the bounded one."""
    inner = _by_group(question, parts, value)
    weighed: Expression = _real("inside")
    if bounding.method == "groups":
        weighed = call("multiply", weighed, _share(bounding.rows_per_group, _real("rows")))
    outputs: tuple[NamedExpression, ...] = (
        *((name, _real(name), _NUMBER) for name in ("rows", "whole")),
        ("inside", weighed, _NUMBER),
        ("square", call("multiply", _real("rows"), _real("rows")), _NUMBER),
    )
    totals = tuple((name, "sum", _real(name), _NUMBER) for name in ("rows", "whole", "inside", "square"))
    person = PerPerson(Project(inner, outputs), (), (*totals, ("groups", "count", None, _COUNTED)))
    kept = {
        "groups": lambda: _share(bounding.groups, _GROUPS),
        "norm": lambda: _share(bounding.rows, call("sqrt", _real("square"))),
    }.get(bounding.method, lambda: _share(bounding.rows, _real("rows")))()
    return _named(person, call("subtract", _real("whole"), call("multiply", _real("inside"), kept)))


def _by_group(question: Question, parts: dict[str, Expression], value: Expression | None = None) -> Relation:
    """Return one row for each person and group: how many rows there are, and the sums of `parts` over them."""
    source = with_declared_keys(question)
    names = [(f"key{place}", key) for place, key in enumerate(question.keys)]
    outputs = [(name, key.expression, key.column) for name, key in names]
    if value is not None:
        outputs.append(("value", value, Column(value.kind)))
    outputs.append(("one", _ONE, _NUMBER))
    keys = tuple((name, ColumnRef(key.expression.kind, name), key.column) for name, key in names)
    summaries = tuple((name, "sum", part, _NUMBER) for name, part in parts.items())
    return PerPerson(Project(source, tuple(outputs)), keys, (("rows", "sum", _real("one"), _NUMBER), *summaries))


def _named(relation: Relation, number: Expression) -> Relation:
    return Project(relation, ((LOST, number, _NUMBER),))


def _share(most: int | None, count: Expression) -> Expression:
    """Return what weight rows keep, or what part of groups is kept, where there are `count`."""
    return call("least", _ONE, call("divide", _constant(most or 1), count))


def _above_zero(number: Expression) -> Expression:
    return call("case", call("greater", number, _constant(0)), number, _constant(0))


def _clipped(value: Expression, spread: Range) -> Expression:
    """Return a number between two ends, and nothing where it is none: NaN is above all numbers, as infinity is."""
    low, high = (_constant(end) for end in (spread.low, spread.high))
    missing = Literal(Kind.REAL, None)
    inside = value if value.kind is Kind.REAL else call("to_real", value)
    below = (call("less", value, _constant(-_LARGEST)), missing, call("less", value, low), low)
    above = (call("less_equal", value, _constant(_LARGEST)), high, missing)
    return call("case", *below, call("less_equal", value, high), inside, *above)


def _rows(bounding: Bounding) -> int:
    """Return what the limits let through of one person, in rows."""
    return bounding.l1 or bounding.linf


def _real(name: str) -> ColumnRef:
    return ColumnRef(Kind.REAL, name)


def _constant(value: Fraction | float) -> Literal:
    return Literal(Kind.REAL, float(value))
