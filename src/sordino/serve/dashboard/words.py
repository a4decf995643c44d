"""What was declared about data, and what an owner allows, in plain words."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any

from .pages import number, percent

_KEYS_AT_ONCE = 12

_KINDS = {
    "integer": "whole number",
    "real": "number",
    "text": "text",
    "boolean": "true or false",
    "date": "date",
    "timestamp": "date and time",
}

_OWNED: dict[str, Callable[[Mapping[str, Any], str], str]] = {
    "row": lambda _, unit: f"Each row belongs to one {unit} and is protected on its own.",
    "column": lambda owned, unit: f"The column {owned['column']} says to which {unit} a row belongs.",
    "person-day": lambda owned, unit: (
        f"A row belongs to whoever {owned['column']} names, on the row's day: each {unit}."
    ),
    "parent": lambda owned, unit: (
        f"A row belongs to the {unit} of the row in {owned['parent']} whose {owned['parent_column']} is its "
        f"{owned['column']}."
    ),
    "nobody": lambda _, unit: f"This table is public: it holds nothing about any {unit}.",
}


_NEIGHBOURS = {
    "add-remove": "one of them has all the rows of one {unit} and the other has none of them",
    "replace-one": "the rows of one {unit} are others in each",
    "zero-out": "the rows of one {unit} count as nothing in one of them",
}


def neighbour_words(neighbours: str, unit: str) -> str:
    """Say which two versions of the data must look alike."""
    return _NEIGHBOURS[neighbours].format(unit=unit)


def block_words(blocks: Mapping[str, Any]) -> str:
    """Say that days have budgets of their own, and which."""
    days = f"Every day of {blocks['table']}.{blocks['days']} has a budget of its own"
    ends = [f"{word} {blocks[end]}" for word, end in (("from", "first"), ("to", "last")) if blocks[end]]
    return " ".join([days, *ends]) + ": a question is charged to the days that it reads."


def owner_words(table: Mapping[str, Any], unit: str) -> str:
    """Say whose the rows of a table are, and how many of one person's count."""
    limits = table["limits"]
    said = [_OWNED[table["owned"]["by"]](table["owned"], unit)]
    if "rows" in limits:
        said.append(f"At most {limits['rows']} rows of each {unit} count in one question.")
    if "groups" in limits:
        each = f", and {limits['rows_per_group']} rows in each" if "rows_per_group" in limits else ""
        said.append(f"Each {unit} counts in at most {limits['groups']} groups{each}.")
    return " ".join(said)


def column_words(column: Mapping[str, Any]) -> dict[str, Any]:
    """Say what is public about a column: its kind, where its values lie, and the keys that it may have."""
    said = []
    if "bounds" in column:
        low, high = column["bounds"]
        said.append(f"from {number(low)} to {number(high)}; what lies beyond counts as the nearer end")
    if "granularity" in column:
        said.append(f"in steps of {column['granularity']}")
    keys = column.get("keys", [])
    shown = ", ".join(str(key) for key in keys[:_KEYS_AT_ONCE])
    if keys:
        more = column["keys_in_all"] - len(keys[:_KEYS_AT_ONCE])
        said.append(f"one of {shown}" + (f" and {number(more)} more" if more else ""))
    return {
        "kind_words": _KINDS.get(column["kind"], column["kind"]) + ("" if column["nullable"] else ", never missing"),
        "public": "; ".join(said) or "nothing: no bounds, no keys",
    }


def policy_words(policy: Mapping[str, Any]) -> list[str]:
    """Say what an owner allows for one release."""
    least, most = Fraction(policy["least"]), Fraction(policy["most"])
    said = []
    if most < 1:
        said.append(f"One release may cost at most {percent(float(most))} of the budget.")
    if least > 0:
        said.append(
            f"One release must cost at least {percent(float(least))} of the budget: less would be mostly noise."
        )
    if policy["approval"] is not None:
        said.append(
            f"Above {percent(float(Fraction(policy['approval'])))} of the budget, the owner must approve first."
        )
    if policy["pause"]:
        said.append(f"Between two releases, one analyst waits {_duration(policy['pause'])}.")
    if policy["degrade"]:
        said.append("A question that no longer fits is answered with the noise that does, and says so.")
    return said or ["Whatever the budget holds may be asked for, in one release or in many."]


def _duration(seconds: int) -> str:
    """Say how long something takes.

    >>> _duration(90), _duration(3600), _duration(172800), _duration(1)
    ('90 seconds', '1 hour', '2 days', '1 second')
    """
    for size, word in ((86400, "day"), (3600, "hour"), (60, "minute"), (1, "second")):
        if seconds % size == 0:
            count = seconds // size
            return f"{count} {word}" + ("" if count == 1 else "s")
    return f"{seconds} seconds"
