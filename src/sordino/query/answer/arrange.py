"""From estimates to an answer: outputs, HAVING, ORDER BY and LIMIT, all on noisy values.

Rows come in the order of their keys. Sorting is stable, so ties stay in that order; NULL is last, up or down.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from sordino.accounting.event import Event
from sordino.arguments import Number
from sordino.query.estimate.convolution import Floats
from sordino.query.estimate.estimate import Rows
from sordino.query.estimate.evaluate import Evaluated, Input, evaluate
from sordino.query.estimate.words import Words
from sordino.query.model.question import Question

from .answer import Answer


def assemble(
    question: Question,
    values: Mapping[str, Input],
    *,
    notes: Sequence[str] = (),
    details: Mapping[str, Any] | None = None,
    events: Sequence[Event] = (),
    confidence: Number = 0.95,
) -> Answer:
    """Return the answer to the question; `values` holds ``k0`` … and ``a0`` …, each with one entry for each group."""
    outputs = [evaluate(output.expression, values) for output in question.outputs]
    rows = arrange(question, values)
    if rows is not None:
        outputs = [output.take(rows) for output in outputs]
    names = _distinct([output.name for output in question.outputs])
    notes = [*notes, *_choice_notes(question)]
    return Answer(names, outputs, notes=notes, details=details, events=events, confidence=confidence)


def arrange(question: Question, values: Mapping[str, Input]) -> Rows | None:
    """Return which groups are shown and in what order; None for all of them as they are."""
    if question.having is None and not question.order and question.limit is None and not question.offset:
        return None
    groups = evaluate(question.outputs[0].expression, values).groups
    rows = np.arange(groups)
    if question.having is not None:
        kept = evaluate(question.having, values).values
        rows = rows[[truth is True for truth in kept]]
    if question.order:
        sort_keys = [_sort_key(evaluate(expression, values), down)[rows] for expression, down in question.order]
        rows = rows[np.lexsort(sort_keys[::-1])]
    stop = None if question.limit is None else question.offset + question.limit
    return rows[question.offset : stop]


def _sort_key(column: Evaluated, down: bool) -> Floats:
    operand = column.sortable
    numbers = _ranks(operand) if isinstance(operand, Words) else operand.value
    signed = -numbers if down else numbers
    return np.where(np.isnan(signed), np.inf, signed)


def _ranks(words: Words) -> Floats:
    present = sorted({value for value in words.values if value is not None})
    place = {value: float(rank) for rank, value in enumerate(present)}
    return np.array([place.get(value, np.nan) for value in words.values], dtype=np.float64)


def _distinct(names: Sequence[str]) -> list[str]:
    """Return the names with a number behind those that have occurred before."""
    result: list[str] = []
    for name in names:
        fresh, count = name, 1
        while fresh in result:
            count += 1
            fresh = f"{name}_{count}"
        result.append(fresh)
    return result


def _choice_notes(question: Question) -> list[str]:
    notes = []
    if question.having is not None:
        notes.append("HAVING was decided by noisy values: groups near its limit may be missing or shown by chance")
    if question.limit is not None or question.offset:
        notes.append(
            "the rows shown were chosen by noisy values, which favours those that noise moved towards being chosen; "
            "intervals do not know about the choice"
            if question.order
            else "rows beyond LIMIT are left out"
        )
    return notes
