"""Targets of a regression, as they are handed over."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np
from sklearn.utils import check_array, column_or_1d
from sklearn.utils.validation import check_consistent_length

from sordino.errors import ArgumentError

from .whole_rows import Floats, as_floats

T = TypeVar("T")


def cells_unsaid(read: Callable[[], T]) -> T:
    """Return what is read; refuse what is no table of numbers without the cell, which NumPy would print."""
    try:
        return read()
    except OverflowError:
        pass
    except ValueError as error:
        if not str(error).startswith("could not convert"):
            raise
    raise ArgumentError("rows and targets must be numbers: encode texts and dates as numbers first", "SRD-A001")


def read_targets(X: Any, y: Any) -> Floats:
    """Return targets as floats, one column or several; missing ones are allowed, and counted out later."""
    if y is None:
        raise ArgumentError("a regression requires y to be passed, but the target y is None", "SRD-A001")
    found = cells_unsaid(
        lambda: check_array(y, ensure_2d=False, dtype=np.float64, ensure_all_finite=False, input_name="y")
    )
    check_consistent_length(X, found)
    return as_floats(found)


def read_one_target(X: Any, y: Any) -> Floats:
    """Return one target for each row; a column is taken for a list, with scikit-learn's warning."""
    return as_floats(column_or_1d(read_targets(X, y), warn=True))


def unfound_targets() -> ArgumentError:
    """Return the error for bounds of y that noise hid; it follows from what was released."""
    return ArgumentError(
        "no bounds of y could be found: at this epsilon there is hardly more than one sample with a target; declare "
        "bounds_y=(lowest, highest). What was charged stays charged",
        "SRD-A003",
    )
