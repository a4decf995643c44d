"""What the price of a question says beside the charge. A pure function: no ledger, no lock and no data is in reach."""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from sordino.query.ask import Ask, TableAccount
from sordino.query.plan.goal import largest_that_fits
from sordino.serve.kinds.kind import Quoted

from .reading import Read

_SPENDING = ("epsilon", "rho", "error", "noise")


def quoted(data: TableAccount, read: Read) -> Quoted:
    """Return what a question costs by itself, what would fit, and how far off each column will be."""
    ask = read.ask(data)
    found = ask.price(**read.words)
    said = {
        "sql": read.text,
        "epsilon": _text(found.epsilon),
        "rho": _text(found.rho),
        "delta": _text(found.delta),
        "would_fit": None if found.fits else would_fit(ask, data, read.words),
        "columns": [_column(each) for each in found.columns],
        "confidence": float(found.confidence),
        "notes": list(found.notes),
    }
    return Quoted(found.event, found.ran, said)


def would_fit(ask: Ask, data: TableAccount, words: Mapping[str, Any]) -> dict[str, str] | None:
    """Return the largest ε or ρ at which the question would still fit, or None if hardly any would."""
    spend = ask.plan(**words).spend
    word = "epsilon" if spend.epsilon is not None else "rho"
    rest = {name: value for name, value in words.items() if name not in _SPENDING}

    def fits(amount: Fraction) -> bool:
        spent: dict[str, Any] = {word: amount}
        return data.price(ask.plan(**rest, **spent)).fits

    best = largest_that_fits(fits, spend.amount)
    return None if best is None else {word: _text(best) or ""}


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
