"""What bounding and clipping did, and what that can hide: said with every price and every answer, free of charge."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction

from sordino.data.kinds import Kind, Range
from sordino.data.metadata import Limits, Schema
from sordino.mechanisms.grouped_extreme import GroupedExtreme
from sordino.query.model.blocks import days_read
from sordino.query.model.bounding import Bounding
from sordino.query.model.expression import Call, ColumnRef, Expression
from sordino.query.model.limits import limits_of
from sordino.query.model.question import Question
from sordino.query.model.ranges import derive
from sordino.query.model.relation import MOST_ROWS, Join, Relation, Scan, joins, most_per_key
from sordino.query.model.task import Measure
from sordino.query.model.wording import describe

from . import limits as contribution
from .discovery import Found
from .finding import SHARE, Finding
from .plan import QueryPlan
from .selection import Selection

_METHODS: dict[str, Callable[[Bounding, str], str]] = {
    "row": lambda way, _: "each row counts by itself" + (f", up to {way.rows} times" if way.rows != 1 else ""),
    "sample": lambda way, unit: (
        f"{way.rows} row{'s' if way.rows != 1 else ''} of each {unit} are kept, chosen at random: the rows of whoever "
        "has more are missing from counts and sums"
    ),
    "weigh": lambda way, unit: (
        f"the rows of each {unit} weigh {way.rows} in all at most: whoever has more rows counts less, and counts and "
        "sums are too low by that"
    ),
    "groups": lambda way, unit: (
        f"each {unit} counts in {way.groups} group{'s' if way.groups != 1 else ''} at most, with the weight of "
        f"{way.rows_per_group} row{'s' if way.rows_per_group != 1 else ''} in each: what goes beyond is missing from "
        "counts and sums"
    ),
    "norm": lambda way, unit: (
        f"the rows of each {unit} are scaled down to a norm of {way.rows} over groups: whoever has more counts less"
    ),
}


def bounding_note(bounding: Bounding, unit: str) -> str:
    """Return what a way of bounding does to whoever goes beyond it."""
    return _METHODS[bounding.method](bounding, unit)


def notes(plan: QueryPlan, found: Found | None = None) -> list[str]:
    """Return everything that keeps the answer from being the plain one, apart from noise."""
    question = plan.question
    texts = _contribution_notes(plan) + _join_notes(plan)
    if found is not None:
        texts += _found_notes(found, question.relation, question.schema.unit.name)
    shown = {
        (measure.expression, measure.range)
        for measure in plan.task.measures[: plan.reading.weight_place]
        if not _is_marker(measure) and not _lies_within(measure.expression, question.relation, measure.range)
    }
    measured = {expression for expression, _ in shown}
    shown |= {
        (each.expression, _values_of(each.expression, each.range))
        for each in plan.task.histograms
        if each.range is not None and each.expression not in measured
    }
    named = {(describe(expression, question.relation), _ends(spread)) for expression, spread in shown}
    for name, ends in sorted(named):
        texts.append(f"values of {name} outside of {ends} count as its ends: means and sums leave out what lies beyond")
    for histogram in plan.task.histograms:
        if histogram.range is None:
            name = describe(histogram.expression, question.relation)
            listed = "its edges" if histogram.categories is None else "the declared keys"
            texts.append(f"values of {name} outside of {listed} are left out")
    unbought = {plan.task.histograms[each.histogram] for each in plan.choices if each.without_interval}
    for name in sorted({describe(each.expression, question.relation) for each in unbought}):
        texts.append(
            f"no intervals were bought for quantiles of {name}, so they are the whole range of its values; the price "
            "says how far off the quantiles themselves are"
        )
    texts += _extreme_notes(plan)
    personal = question.schema.personal
    if personal is not None:
        most = max(epsilon for _, epsilon in personal.classes)
        shares = ", ".join(f"{value}: {float(epsilon / most):.3g}" for value, epsilon in personal.classes)
        texts.append(
            f"rows weigh by {personal.column} ({shares}; others 0), and towards each person the price is that part of "
            "it: counts and sums are weighted ones"
        )
    for key in question.keys:
        if key.column.keys is not None:
            declared = "declared " if isinstance(key.expression, ColumnRef) else ""
            texts.append(f"rows whose {key.name} is not among its {len(key.column.keys)} {declared}keys are left out")
    if any(aggregate.function == "mean" for aggregate in question.aggregates):
        texts.append("a mean is blank where the noisy number of rows cannot be told from 0 at 95 %")
    if plan.selection is not None:
        texts += _selection_notes(plan.selection, question.schema.unit.name)
    return texts + looked_notes(question.schema)


def looked_notes(schema: Schema) -> list[str]:
    """Say which declarations the owner made after a look at the data: what these tell, no budget covers."""
    if not schema.after_looking:
        return []
    named = ", ".join(schema.after_looking)
    return [f"set after looking at the data, which no budget covers: what is declared of {named}"]


def day_notes(question: Question) -> list[str]:
    """Return which days were charged and what that promises; nothing where days have no budgets."""
    blocks, days = question.schema.blocks, days_read(question.relation)
    if blocks is None:
        return []
    many = "1 day is" if len(days) == 1 else f"{len(days):,} days are"
    notes = [
        f"{many} read, and charged where each has a budget of its own: {days}; rows of other days, or without a "
        f"{blocks.column}, do not count"
    ]
    unit = question.schema.unit.name
    if blocks.per_unit:
        notes.append(
            f"the unit is {unit}: what one did on one day is protected; whoever comes on several days is protected on "
            "each, not over all"
        )
    elif not question.schema.by_row:
        notes.append(f"each {unit} counts on one day alone: whoever comes again is left out from then on")
    return notes


def _found_notes(found: Found, relation: Relation, unit: str) -> list[str]:
    texts = [
        f"the bounds {_ends(spread)} of {describe(expression, relation)} were found privately, for a part of the price"
        f"{_beyond(found.findings.get(expression, ()), unit, 'have values beyond them')}"
        for expression, spread in found.ranges.items()
    ]
    if found.limits is not None:
        texts.append(
            f"the limit of {found.limits.rows} rows was found privately, for a part of the price, to cut off "
            f"{float(100 * SHARE):g} % of the rows at most, as far as noise lets see"
            f"{_beyond(found.findings.get(None, ()), unit, 'have more rows')}"
        )
    return texts


def _beyond(findings: tuple[Finding, ...], unit: str, what: str) -> str:
    """Say how many lie beyond what was found, which was paid for, and warn where more do than noise explains."""
    if not all(each.sure for each in findings):
        return f"; too few {unit}s for anything to stand out from noise, so they are a guess: declare them"
    texts = []
    for each in findings:
        many = f"{max(0, round(each.beyond)):,} ± {math.ceil(each.within):,} {unit}s"
        texts.append(f"about {many} {what}" + (", and are clipped" if each.clips else ""))
    return f": {'; at the other end '.join(texts)}" if texts else ""


def _extreme_notes(plan: QueryPlan) -> list[str]:
    """Say how far inside extremes are looked for: a bias that is part of their intervals."""
    texts = set()
    for choice in plan.choices:
        first = choice.mechanisms[0]
        if isinstance(first, GroupedExtreme):
            name = describe(plan.task.histograms[choice.histogram].expression, plan.question.relation)
            rows = abs(first.offset) / plan.bounding.unit
            which = "largest" if first.quantile else "least"
            texts.add(
                f"the {which} value of {name} is looked for about {rows:.2g} rows inside (a twentieth of a "
                "group at most), as nothing tells empty values beyond it apart; more ε or closer bounds bring it nearer"
            )
    return sorted(texts)


def _selection_notes(selection: Selection, unit: str) -> list[str]:
    many = selection.size_shown(Fraction(95, 100))
    texts = [
        f"groups of few are left out: one of {many:,} {unit}s is shown with probability 0.95, smaller ones more "
        "rarely; intervals hold for the groups shown"
    ]
    if selection.counted:
        texts.append(
            f"groups are shown where the noisy number of {unit}s is {selection.least:,} or more, which is the number "
            "given: keys cost nothing besides. Numbers close to that are too high on average; intervals allow for it"
        )
    return texts


def _contribution_notes(plan: QueryPlan) -> list[str]:
    question, bounding = plan.question, plan.bounding
    if limits_of(question.relation, (), question.schema) == Limits(1, 1, 1):
        return []  # one row for each person, which is all that is kept of anyone
    if {aggregate.function for aggregate in question.aggregates} == {"count_people"} and bounding.method == "groups":
        if bounding.groups == contribution.public_groups(question):
            return []
        return [f"each {question.schema.unit.name} counts in {bounding.groups} groups at most"]
    return [bounding_note(bounding, question.schema.unit.name)]


def _join_notes(plan: QueryPlan) -> list[str]:
    """Return what joins leave out, which the tree alone says: whether they do is a matter of the data."""
    relation, schema = plan.question.relation, plan.question.schema
    return list(
        dict.fromkeys(text for join in joins(relation) if (text := _join_note(join, most_per_key(relation), schema)))
    )


def _join_note(join: Join, most_per_key: int, schema: Schema) -> str | None:
    if join.on_owner:
        if {limits_of(side, (), schema).rows for side in join.inputs} == {1}:
            return None
        unit = schema.unit.name
        return (
            f"{MOST_ROWS:,} rows of each {unit} go into each side of the join with {_tables(join.right)} at most: "
            "whoever has more lacks what goes beyond"
        )
    if join.left.is_public:
        return None
    most = 1 if join.single else most_per_key
    key = ", ".join(describe(ColumnRef(join.right.columns[name].kind, name), join.right) for _, name in join.on)
    rows = "one row" if most == 1 else f"{most:,} rows"
    each = f" for each {key}" if key else ""
    return f"of {_tables(join.right)} {rows}{each} can be joined at most: further ones are left out"


def _tables(relation: Relation) -> str:
    if isinstance(relation, Scan):
        return relation.table.name
    return ", ".join(dict.fromkeys(_tables(below) for below in relation.inputs))


def _lies_within(expression: Expression, relation: Relation, spread: Range) -> bool:
    """Return whether no value can lie outside of a range, whatever is in the tables: nothing is clipped then."""
    unbounded = {name: replace(column, range=None) for name, column in relation.columns.items()}
    certain = derive(expression, unbounded).range
    return certain is not None and spread.low <= certain.low and certain.high <= spread.high


def _is_marker(measure: Measure) -> bool:
    """Return whether a measure only says where a value is missing, so that nothing is clipped."""
    return measure.steps == 1 and isinstance(measure.expression, Call) and measure.range == Range.of(-1, 1)


def _values_of(expression: Expression, buckets: Range) -> Range:
    """Return the range of values that buckets stand for: the last bucket of integers starts at its end."""
    by_number = expression.kind is Kind.INTEGER and buckets.high - buckets.low > 1
    return Range(buckets.low, buckets.high - 1) if by_number else buckets


def _ends(spread: Range) -> str:
    return f"[{float(spread.low):g}, {float(spread.high):g}]"
