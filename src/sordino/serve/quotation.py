"""The price of a question as the service tells it. A pure function: no ledger, no lock and no data is in reach."""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from sordino.errors import BudgetError
from sordino.gate import ApprovalError, Policy
from sordino.query.ask import Ask, DataAccount
from sordino.query.release.goal import largest_that_fits
from sordino.query.release.price import Price

from .quoting import Quote
from .reading import Read


def quotation(data: DataAccount, quote: Quote, policy: Policy, read: Read) -> dict[str, Any]:
    """Return what a question costs, whether that fits, what would, and how far off each column will be."""
    ask = read.ask(data)
    found = ask.price(**read.words)
    part = _part(quote, found)
    return {
        "dataset": read.dataset,
        "sql": read.text,
        "epsilon": _text(found.epsilon),
        "rho": _text(found.rho),
        "delta": _text(found.delta),
        "charge": found.charge,
        "part": float(part),
        "used": min(quote.used, 1.0),
        "used_after": quote.used_after(found.event),
        "fits": found.fits,
        "short": quote.short(found.event) or None,
        "would_fit": None if found.fits else would_fit(ask, quote, read.words),
        "policy": _verdict(policy, part),
        "columns": [_column(each) for each in found.columns],
        "confidence": float(found.confidence),
        "notes": list(found.notes),
        "event": found.event.to_json(),
    }


def would_fit(ask: Ask, quote: Quote, words: Mapping[str, Any]) -> dict[str, str] | None:
    """Return the largest ε or ρ at which the question would still fit, or None if hardly any would."""
    spend = ask.plan(**words).spend
    word = "epsilon" if spend.epsilon is not None else "rho"
    rest = {name: value for name, value in words.items() if name not in ("epsilon", "rho", "error", "noise")}

    def fits(amount: Fraction) -> bool:
        return quote.price(ask.plan(**rest, **{word: amount}).event()).fits

    best = largest_that_fits(fits, spend.amount)
    return None if best is None else {word: _text(best) or ""}


def _part(quote: Quote, found: Price) -> Fraction:
    charged = quote.price(found.event)
    return Fraction(charged.charge[charged.column], quote.filter.caps[charged.column])


def _verdict(policy: Policy, part: Fraction) -> dict[str, Any]:
    try:
        policy.check(part, approved=False)
    except ApprovalError as error:
        return {"allows": "approval", "message": error.message, "code": error.code}
    except BudgetError as error:
        return {"allows": "nothing", "message": error.message, "code": error.code}
    return {"allows": "run", "message": None, "code": None}


def _column(column: Any) -> dict[str, Any]:
    widths = {f"{size:g}": width if math.isfinite(width) else None for size, width in column.half_widths.items()}
    return {
        "name": column.name,
        "half_widths": widths,
        "depends_on_size": column.depends_on_size,
        "text": str(column),
    }


def _text(value: Fraction | None) -> str | None:
    """Return an exact decimal where there is one, else a fraction."""
    if value is None:
        return None
    text = f"{float(value):.15g}"
    return text if Fraction(text) == value else str(value)
