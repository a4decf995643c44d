"""Inputs and outcomes as JSON, whole, so that a witness can be drawn again by somebody else.

Numbers, texts, truths, nothing, lists and dictionaries of these are as JSON has them. What it has no word for is an
object of one key that begins with ``$`` and says what it is. Whatever is none of these is told by its words alone, and
cannot be read again.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from collections.abc import Set as AbstractSet
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np

from sordino.errors import ArgumentError

_PARSED: dict[Any, Callable[[str], Any]] = {"$float": float, "$decimal": Decimal, "$fraction": Fraction}


def written(value: Any) -> Any:
    """Return a value as plain data.

    >>> written((1, float("inf")))
    {'$tuple': [1, {'$float': 'inf'}]}
    """
    if isinstance(value, np.generic):
        value = value.item()
    match value:
        case None | bool() | int() | str():
            return value
        case float():
            return value if math.isfinite(value) else {"$float": repr(value)}
        case Decimal():
            return {"$decimal": str(value)}
        case Fraction():
            return {"$fraction": str(value)}
        case list():
            return [written(part) for part in value]
        case tuple():
            return {"$tuple": [written(part) for part in value]}
    return _compound(value)


def _compound(value: Any) -> Any:
    if isinstance(value, Mapping):
        if all(isinstance(key, str) and not key.startswith("$") for key in value):
            return {key: written(part) for key, part in value.items()}
        return {"$items": [[written(key), written(part)] for key, part in value.items()]}
    if isinstance(value, AbstractSet):
        return {"$set": [written(part) for part in value]}
    if isinstance(value, np.ndarray) and value.dtype.kind in "biufU":
        return {"$array": written(value.tolist()), "$type": value.dtype.str}
    if isinstance(value, bytes):
        return {"$bytes": value.hex()}
    if hasattr(value, "to_dict") and hasattr(value, "columns"):  # a data frame
        return {"$frame": {str(name): written(list(column)) for name, column in value.to_dict("list").items()}}
    return {"$words": str(value)}


def read_again(plain: Any) -> Any:
    """Return the value that was written; refuse what only its words are known of."""
    match plain:
        case list():
            return [read_again(part) for part in plain]
        case {"$array": rows, "$type": kind}:
            return np.array(read_again(rows), dtype=kind)
        case {"$tuple": parts}:
            return tuple(read_again(part) for part in parts)
        case {"$set": parts}:
            return {read_again(part) for part in parts}
        case {"$items": pairs}:
            return {read_again(key): read_again(part) for key, part in pairs}
        case {"$bytes": text}:
            return bytes.fromhex(text)
        case {"$frame": columns}:
            return _frame({name: read_again(column) for name, column in columns.items()})
        case {"$words": words}:
            raise ArgumentError(
                f"of this input only its words were written, {words[:60]!r}; build it again and use replace(witness, "
                "pair=…)",
                "SRD-V005",
            )
    if not isinstance(plain, dict):
        return plain
    name = next(iter(plain), None)
    if len(plain) == 1 and name in _PARSED:
        return _PARSED[name](plain[name])
    return {key: read_again(part) for key, part in plain.items()}


def _frame(columns: dict[str, Any]) -> Any:
    from pandas import DataFrame

    return DataFrame(columns)
