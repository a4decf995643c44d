"""An answer as one JSON text: what a ledger keeps the digest of, and what a service sends."""

from __future__ import annotations

import json
import math
from datetime import date
from typing import TYPE_CHECKING, Any

from sordino.data.kinds import Kind
from sordino.query.estimate.estimate import Picked, Several
from sordino.query.estimate.evaluate import Evaluated

from .arrow import column_list, number_list

if TYPE_CHECKING:
    from .answer import Answer


def to_json(answer: Answer) -> str:
    """Return columns (name, kind, values, low and high ends where there is noise), notes, confidence and details."""
    columns = []
    for name in answer.names:
        column = answer.column(name)
        body: dict[str, Any] = {"name": name, "kind": _kind(column), "values": column_list(column)}
        ends = column.interval(answer.confidence)
        if ends is not None:
            body["low"], body["high"] = map(number_list, ends)
        columns.append(_plain(body))
    whole = {
        "columns": columns,
        "confidence": float(answer.confidence),
        "notes": answer.notes,
        "details": answer.details,
    }
    return json.dumps(whole, ensure_ascii=False, sort_keys=True, separators=(",", ":"), allow_nan=False)


def _kind(column: Evaluated) -> str:
    """Return what the values are: a count with noise of fractions is a real number, until it is rounded."""
    bare = column.bare
    whole = all(part.whole for part in bare.parts) if isinstance(bare, Several) else column.whole or not column.noisy
    fractional = column.kind is Kind.INTEGER and not whole and not isinstance(bare, Picked)
    return (Kind.REAL if fractional else column.kind).value


def _plain(value: Any) -> Any:
    """Return what JSON can hold: dates as ISO texts, ends without a limit as null."""
    if isinstance(value, dict):
        return {key: _plain(each) for key, each in value.items()}
    if isinstance(value, list):
        return [_plain(each) for each in value]
    if isinstance(value, date):
        return value.isoformat()
    return None if isinstance(value, float) and not math.isfinite(value) else value
