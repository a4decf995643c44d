"""An answer as a page shows it: a table with intervals, drawings, and what was bounded; all of it was released."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sordino.serve.dashboard import charts
from sordino.serve.dashboard.pages import number, percent
from sordino.serve.kinds.page import Page
from sordino.serve.telling import event_words
from sordino.serve.telling.event_words import price

MOST_SHOWN = 1000
"""Rows that a page shows; the receipt has all of them."""


def page_of(answer: Mapping[str, Any]) -> Page:
    """Return what the page of a release shows: the question, the answer, what was bounded, the noise."""
    facts = answer["details"]
    values = {
        "facts": facts,
        "shown": shown_answer(answer),
        "bounding": event_words.bounding(facts["bounding"], facts["unit"]),
    }
    return Page(values, "release_question.html")


def shown_answer(answer: Mapping[str, Any]) -> dict[str, Any]:
    """Return what ``answer.html`` needs, from the body of a release."""
    columns = answer["columns"]
    count = max((len(column["values"]) for column in columns), default=0)
    drawn = charts.intervals(answer)
    return {
        "columns": columns,
        "numbers": [place for place, column in enumerate(columns) if column["kind"] in ("integer", "real")],
        "rows": [[_cell(column, row) for column in columns] for row in range(min(count, MOST_SHOWN))],
        "in_all": count,
        "confidence": percent(answer["confidence"]),
        "notes": answer["notes"],
        "drawings": drawn,
        "drawn": min(count, charts.drawn_rows(answer)),
        "price": price(answer["details"].get("price")),
    }


def _cell(column: Mapping[str, Any], row: int) -> dict[str, Any]:
    """Return a value, and its interval in words where it is noisy; both with digits that make sense."""
    value = column["values"][row]
    low, high = (column[end][row] if end in column else None for end in ("low", "high"))
    if isinstance(value, list):
        count = len(value)
        triples = list(zip(value, low or [None] * count, high or [None] * count, strict=True))
        intervals = [_interval(*ends) for _, *ends in triples] if "low" in column else []
        return {"value": ", ".join(_value(*each) for each in triples), "interval": "; ".join(intervals)}
    noisy = "low" in column and value is not None
    return {"value": _value(value, low, high), "interval": _interval(low, high) if noisy else ""}


def _value(value: Any, low: float | None, high: float | None) -> str:
    return number(value, _spread(low, high))


def _interval(low: float | None, high: float | None) -> str:
    if low is None and high is None:
        return "without limit"
    spread = _spread(low, high)
    ends = ("below" if low is None else number(low, spread), "above" if high is None else number(high, spread))
    return " to ".join(ends)


def _spread(low: float | None, high: float | None) -> float | None:
    return None if low is None or high is None or low == high else (high - low) / 2
