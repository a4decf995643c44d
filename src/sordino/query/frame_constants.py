"""Constants as they come from notebooks: NumPy's and pandas' scalars, enums and the like, read as plain Python values."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import date, datetime
from typing import Any

from sordino.errors import ArgumentError, QuestionError

from .expression import Value
from .literals import literal

_PLAIN = (bool, int, float, str, date, datetime, type(None))
_READ: tuple[tuple[type, Callable[[Any], Value]], ...] = (
    (int, int),
    (float, float),
    (str, str.__str__),
    (datetime, lambda moment: datetime.combine(moment.date(), moment.timetz())),
)


def constant(value: Any) -> Value:
    """Return the value as a question can hold it; refuse what it cannot.

    >>> import numpy as np
    >>> constant(np.int32(3))
    3
    """
    if hasattr(value, "item"):
        value = value.item()  # a scalar of NumPy
    if type(value) not in _PLAIN:
        value = _read(value)
    literal(value)
    return value


def _read(value: Any) -> Any:
    for kind, read in _READ:
        if isinstance(value, kind):
            if value != value:  # pandas' NaT
                raise QuestionError("a missing value cannot be part of a question; write .is_null()", "SRD-Q104")
            return read(value)
    return value


def constants(name: str, values: Any) -> tuple[Value, ...]:
    """Return the constants of a list or the like, in its order; sets have none, so theirs is made."""
    if isinstance(values, str) or not isinstance(values, Iterable):
        raise ArgumentError(f"{name} must be a list of constants, not {type(values).__name__}", "SRD-A001")
    listed = sorted(values, key=repr) if isinstance(values, set | frozenset) else values
    return tuple(constant(value) for value in listed)
