"""An answer as one JSON text: what a ledger keeps the digest of, and what a service sends."""

from __future__ import annotations

import json
import math
from datetime import date
from typing import TYPE_CHECKING, Any

from .arrow import column_array, ends_arrays

if TYPE_CHECKING:
    from .answer import Answer


def to_json(answer: Answer) -> str:
    """Return columns (name, kind, values, and low and high ends where there is noise), notes, confidence and facts."""
    columns = []
    for name in answer.names:
        column = answer.column(name)
        body: dict[str, Any] = {"name": name, "kind": column.kind.value, "values": column_array(column).to_pylist()}
        ends = column.interval(answer.confidence)
        if ends is not None:
            body["low"], body["high"] = (each.to_pylist() for each in ends_arrays(*ends))
        columns.append(_plain(body))
    whole = {
        "columns": columns,
        "confidence": float(answer.confidence),
        "notes": answer.notes,
        "receipt": answer.receipt,
    }
    return json.dumps(whole, ensure_ascii=False, sort_keys=True, separators=(",", ":"), allow_nan=False)


def _plain(value: Any) -> Any:
    """Return what JSON can hold: dates as ISO texts, ends without a limit as null."""
    if isinstance(value, dict):
        return {key: _plain(each) for key, each in value.items()}
    if isinstance(value, list):
        return [_plain(each) for each in value]
    if isinstance(value, date):
        return value.isoformat()
    return None if isinstance(value, float) and not math.isfinite(value) else value
