"""What is said, free of charge, where days have budgets of their own: which of them, and who is protected."""

from __future__ import annotations

from typing import Any

from sordino.query.model.blocks import days_read
from sordino.query.model.question import Question


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


def day_facts(question: Question) -> dict[str, Any]:
    """Return the same for a receipt: the days as ranges from first to last."""
    blocks = question.schema.blocks
    if blocks is None:
        return {}
    ranges = [[first.isoformat(), last.isoformat()] for first, last in days_read(question.relation).ranges]
    return {"days": {"of": blocks.column, "read": ranges, "protects": question.schema.unit.name}}
