"""From what was released to the answer: estimates read, levels joined, polish applied, notes and receipt attached."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
from datetime import datetime
from fractions import Fraction
from typing import Any

import numpy as np

from sordino.data.metadata import Column
from sordino.query.answer.answer import Answer
from sordino.query.answer.arrange import assemble
from sordino.query.answer.details import Noisy, build_details
from sordino.query.estimate.estimate import Estimate, Several
from sordino.query.estimate.evaluate import Input
from sordino.query.estimate.polish import polish
from sordino.query.estimate.ratio import blank_where_empty
from sordino.query.model.blocks import days_read
from sordino.query.model.question import Aggregate, Question
from sordino.query.model.ranges import derive
from sordino.query.model.wording import describe_aggregate
from sordino.query.plan.encoding import weight_unit
from sordino.query.plan.notes import day_notes, notes
from sordino.query.plan.plan import QueryPlan
from sordino.query.plan.price import own_delta_of
from sordino.query.plan.reading import Released, read
from sordino.query.plan.whole import WholePlan
from sordino.query.words import Words

from .levels import join_levels
from .whole import Outcome

_COUNTS = frozenset({"count_rows", "count", "count_people", "count_distinct", "histogram"})


def answer_of(whole: WholePlan, outcome: Outcome, text: str, show: Words, begun: datetime) -> Answer:
    """Return the answer to the question that `text` asked, and that was `begun` to be run then."""
    plan, released = outcome.passes[0]
    said = notes(plan, outcome.found) + day_notes(whole.question)
    if whole.question.grouping_sets is None:
        values = inputs(plan, released)
    else:
        values, more = join_levels(whole.question, outcome.passes, add_up=show.consistent)
        said += more
    return assemble(
        whole.question,
        _polished(whole, values, show),
        notes=[*said, *(each.text(plan.question, show.confidence) for each in outcome.truncation)],
        details=_details(whole, plan, text, begun) | _truncation(outcome, show),
        events=(whole.event(),),
        confidence=show.confidence,
    )


def inputs(plan: QueryPlan, released: Released) -> dict[str, Input]:
    """Return what ``k0`` … and ``a0`` … stand for."""
    values: dict[str, Input] = {f"k{place}": column for place, column in enumerate(released.keys)}
    return values | {f"a{place}": blank_where_empty(each) for place, each in enumerate(read(plan, released))}


def _polished(whole: WholePlan, values: dict[str, Input], show: Words) -> dict[str, Input]:
    """Return the values with counts (and sums of what is not negative) made whole, or not negative, if asked for."""
    if not show.integers and not show.non_negative:
        return values
    columns = whole.question.relation.columns
    for place, aggregate in enumerate(whole.question.aggregates):
        value = values[f"a{place}"]
        counts = aggregate.function in _COUNTS
        positive = counts or (aggregate.function == "sum" and _not_negative(derive(aggregate.arguments[0], columns)))
        if isinstance(value, Estimate | Several) and positive:
            values[f"a{place}"] = polish(value, integers=show.integers and counts, non_negative=show.non_negative)
    return values


def _not_negative(column: Column) -> bool:
    return column.range is not None and column.range.low >= 0


def _details(whole: WholePlan, plan: QueryPlan, text: str, begun: datetime) -> dict[str, Any]:
    spend = whole.spend
    return build_details(
        question=text,
        dataset=whole.question.schema.name,
        bound=whole.bound,
        event=whole.event(),
        price={"epsilon": spend.epsilon, "rho": spend.rho, "delta": own_delta_of(whole)},
        bounding=plan.bounding,
        noises=_noises(plan),
        plan=_keys(plan) | _day_facts(whole.question),
        moment=begun,
    )


def _truncation(outcome: Outcome, show: Words) -> dict[str, Any]:
    """Return what was estimated of what bounding cut off, where that was asked for."""
    question = outcome.passes[0][0].question
    found = [each.facts(question, show.confidence) for each in outcome.truncation]
    return {"truncation": found} if found else {}


def _day_facts(question: Question) -> dict[str, Any]:
    """Return the same for a receipt: the days as ranges from first to last."""
    blocks = question.schema.blocks
    if blocks is None:
        return {}
    ranges = [[first.isoformat(), last.isoformat()] for first, last in days_read(question.relation).ranges]
    return {"days": {"of": blocks.column, "read": ranges, "protects": question.schema.unit.name}}


def _keys(plan: QueryPlan) -> dict[str, Any]:
    """Return how private keys were selected."""
    selection = plan.selection
    if selection is None:
        return {}
    rule = {each.name: str(getattr(selection.mechanism, each.name)) for each in fields(selection.mechanism)}
    named = {"rule": type(selection.mechanism).__name__, **rule, "shown_from": selection.least}
    return {"keys": {**named, "counts_of": [f"a{place}" for place in selection.counted]}}


def _noises(plan: QueryPlan) -> list[Noisy]:
    """Return what noise was added to, each by what was asked for that is read from it."""
    noises, first = [], 0
    for part in plan.blocks:
        last = first + len(part.block.features)
        read_from = [np.any(plan.reading.coefficients[list(rows), first:last]) for rows in plan.reading.rows]
        asked = [each for each, used in zip(plan.question.aggregates, read_from, strict=True) if used]
        step = Fraction(part.mechanism.grid.step) / weight_unit(part.block, plan.bounding) / part.block.reach
        noises.append(Noisy(_asked(asked, plan), last - first, part.mechanism.law, step))
        first = last
    for histogram in plan.histograms:
        many = plan.task.histograms[histogram.histogram].buckets
        step = Fraction(histogram.mechanism.grid.step) / plan.bounding.unit
        asked = [plan.question.aggregates[histogram.aggregate]]
        noises.append(Noisy(_asked(asked, plan), many, histogram.mechanism.law, step))
    return noises


def _asked(aggregates: Sequence[Aggregate], plan: QueryPlan) -> str:
    return ", ".join(dict.fromkeys(describe_aggregate(each, plan.question.relation) for each in aggregates))
