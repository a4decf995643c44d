"""One release as a report tells it: what was run, what it cost, how far off it is, what bounding can hide.

Without names (the default) nothing in it is a piece of anybody's question: no question, analyst, column or identifier.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from sordino.accounting.event import Event
from sordino.accounting.units import significant
from sordino.errors import SordinoError
from sordino.ledger.periods import moment
from sordino.ledger.vectors import vector_text

from .arithmetic import Spending, leaves
from .book import Charged

CONFIDENCE = Fraction(95, 100)
LAWS = {"DiscreteLaplace": "scale", "RoundedGaussian": "variance"}
"""Laws of noise by the name that receipts give them, and the parameter that says how wide they are."""


def told_release(
    charged: Charged, spending: Spending | None, body: Mapping[str, Any], *, named: bool
) -> dict[str, Any]:
    """Return one release as plain JSON without floats.

    `body` is what was released, empty where nothing was; without `spending` no part of the budget is told.
    """
    entry, facts = charged.reserved, body.get("details", {})
    event = json.loads(entry.event)
    found = {
        "position": entry.sequence,
        "time": moment(entry.time),
        "what": entry.what,
        "outcome": charged.outcome,
        "unit": entry.unit,
        "neighbours": entry.neighbours,
        "event": entry.event,
        "days": list(charged.days),
        "charge": vector_text(charged.amount),
        "share": None if spending is None else share_text(spending.share(charged.amount)),
        "price": facts.get("price"),
        "parts": told_parts(event, spending, facts.get("noise") or (), named=named),
        "noise": [told_noise(each, named=named) for each in facts.get("noise") or ()],
        "bounding": facts.get("bounding"),
        "hides": told_hiding(facts.get("bounding"), entry.unit),
        "version": facts.get("sordino"),
    }
    if not named:
        return found
    return found | {
        "id": entry.id,
        "analyst": entry.analyst,
        "question": facts.get("question"),
        "columns": [_column(each, body.get("confidence")) for each in body.get("columns", ())],
        "notes": list(body.get("notes", ())),
    }


def _column(column: Mapping[str, Any], confidence: Any) -> dict[str, Any]:
    """Return what a column is and how far off its widest interval says that it may be; no value of it."""
    ends = zip(_flat(column.get("low", ())), _flat(column.get("high", ())), strict=True)
    widths = [(high - low) / 2 if low is not None and high is not None else math.inf for low, high in ends]
    widest = max(widths, default=math.inf)
    return {
        "name": column["name"],
        "kind": column["kind"],
        "noisy": "low" in column,
        "half_width": f"{float(f'{widest:.4g}'):g}" if widest < math.inf else None,
        "confidence": None if confidence is None else f"{100 * confidence:.6g} %",
    }


def _flat(values: Any) -> list[Any]:
    """Return the numbers of a column, also where each row holds a list of them."""
    return [number for value in values for number in (value if isinstance(value, list) else [value])]


def told_words(event: Mapping[str, Any]) -> list[dict[str, str]]:
    """Return in words what an event ran: mechanism, law of the noise, numbers."""
    from sordino.serve.telling.event_words import told_of

    return [{"mechanism": each.name, "law": each.law, "figures": each.figures} for each in told_of(event)]


def share_text(part: Fraction) -> str:
    """Return a part of a budget as a decimal of four digits, rounded up."""
    return f"{significant(part, 4, 'ROUND_CEILING'):f}" if part else "0"


def half_width_in_rows(noise: Mapping[str, Any]) -> str | None:
    """Return how far off a count with this noise is at most, with 95 % confidence, in rows of the data."""
    from sordino.noise import DiscreteLaplace, RoundedGaussian
    from sordino.query.estimate.tails import half_width

    law, parameter = noise.get("law"), LAWS.get(str(noise.get("law")), "")
    if parameter not in noise:
        return None
    width = Fraction(noise[parameter])
    built = DiscreteLaplace(width) if law == "DiscreteLaplace" else RoundedGaussian(width)
    return f"{half_width([(built, float(Fraction(noise['step_in_rows'])))], CONFIDENCE):.4g}"


def told_noise(noise: Mapping[str, Any], *, named: bool) -> dict[str, Any]:
    """Return the law of a noise and the error to expect from it; what it was added to only with names."""
    kept = {name: value for name, value in noise.items() if named or name != "of"}
    return kept | {"half_width_in_rows": half_width_in_rows(noise)}


def told_parts(
    event: Mapping[str, Any], spending: Spending | None, noises: Any, *, named: bool
) -> list[dict[str, Any]]:
    """Return how the price of a release was divided among what it ran, equal parts together."""
    found: dict[str, dict[str, Any]] = {}
    for leaf in leaves(event):
        text = json.dumps(leaf, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
        if text in found:
            found[text]["times"] += 1
            continue
        part: dict[str, Any] = {"event": text, "times": 1, "words": told_words(leaf)}
        found[text] = part | ({"of": _of(leaf, noises)} if named else {})
    for text, part in found.items():
        part["share"] = None if spending is None else _share(text, part["times"], spending)
    return list(found.values())


def _share(event: str, times: int, spending: Spending) -> str | None:
    try:
        cost = spending.rule.filter.charge(Event.from_json(event))
    except SordinoError:
        return None
    return share_text(times * spending.share(cost))


def _of(leaf: Mapping[str, Any], noises: Any) -> str | None:
    """Return what the noise of a part was added to, where just one of the release's noises is as wide as that."""
    same = [
        each["of"]
        for each in noises
        if (name := LAWS.get(each["law"])) in leaf and Fraction(leaf[str(name)]) == Fraction(each[str(name)])
    ]
    return same[0] if len(same) == 1 else None


def told_hiding(limits: Mapping[str, Any] | None, unit: str) -> str | None:
    """Say what bounding can hide in a release."""
    from sordino.query.model.bounding import Bounding
    from sordino.query.plan.notes import bounding_note

    return None if not limits else bounding_note(Bounding(**limits), unit)
