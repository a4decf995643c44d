"""From cells back to values: categories are themselves, numbers are drawn within their cells.

Within a bin a number's finest cell is drawn by its share, and a value of that cell evenly: whole numbers stay whole,
steps of the granularity stay steps. Columns in order are drawn from the first to the last, each from what those before
and after leave of its cell, which is never nothing (``cells.py``). A column that is determined has one value a cell.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from sordino import noise
from sordino.data.kinds import Kind

from .constraints import Constraint, Determines, orders
from .fields import Field, coordinate_of
from .sampling import systematic

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

_FINE = 2**53
_TYPES = {
    Kind.BOOLEAN: pa.bool_(), Kind.INTEGER: pa.int64(), Kind.REAL: pa.float64(), Kind.TEXT: pa.string(),
    Kind.DATE: pa.date32(), Kind.TIMESTAMP: pa.timestamp("us"),
}  # fmt: skip
_DAY_ZERO = 719163  # the ordinal of 1970-01-01


@dataclass(frozen=True, eq=False)
class Spread:
    """How the rows of each bin are spread over finer cells: their edges, and the shares of each bin."""

    edges: tuple[Fraction, ...]
    shares: Floats
    """Bins × finest cells."""


def table_of_cells(
    fields: Sequence[Field], spreads: Mapping[str, Spread], constraints: Sequence[Constraint], cells: Integers
) -> pa.Table:
    """Return rows of cells as rows of values."""
    ordered = orders(constraints)
    determined = {each.target: each for each in constraints if isinstance(each, Determines)}
    in_order = {name for each in ordered for name in (each.lower, each.upper)}
    numbers: dict[str, Floats] = {}
    for field, places in zip(fields, cells.T, strict=True):
        if field.numeric and field.name in determined:
            numbers[field.name] = _only(field, determined[field.name])[places]
        elif field.numeric and field.name not in in_order:
            numbers[field.name] = _drawn(field, spreads.get(field.name), places)
    _draw_ordered(fields, [(each.lower, each.upper) for each in ordered], cells, numbers)
    arrays = []
    for field, places in zip(fields, cells.T, strict=True):
        arrays.append(_column(field, numbers[field.name]) if field.numeric else _category(field, places))
    return pa.table(arrays, names=[field.name for field in fields])


def _uniform(rows: int) -> Floats:
    drawn: Floats = noise.uniform(_FINE, size=(rows,)) / _FINE
    return drawn


def _drawn(field: Field, spread: Spread | None, places: Integers) -> Floats:
    """Return a coordinate in each row's cell; NaN where it is missing."""
    low, high = field.lowest(), field.highest()
    present = np.flatnonzero(places < field.parts)
    chosen = places[present]
    if spread is not None:
        chosen = systematic(spread.shares, chosen)
        finest = field.merged(spread.edges)
        low, high = finest.lowest(), finest.highest()
    found = np.full(len(places), np.nan)
    found[present] = _evenly(field, low[chosen], high[chosen])
    return found


def _evenly(field: Field, low: Floats, high: Floats) -> Floats:
    """Return an even draw from low to high: of whole steps where the field has some, and then high is one of them."""
    share = _uniform(len(low))
    if field.step is None:
        return low + share * (high - low)
    step, first = float(field.step), float(field.edges[0])
    begin, end = np.ceil((low - first) / step - 1e-9), np.floor((high - first) / step + 1e-9)
    steps = np.minimum(begin + np.floor(share * (end - begin + 1)), end)
    found: Floats = first + steps * step
    return found


def _draw_ordered(
    fields: Sequence[Field], ordered: list[tuple[str, str]], cells: Integers, numbers: dict[str, Floats]
) -> None:
    """Draw columns that are in order, the lowest first: each at least what lies below it, at most what is above."""
    named = {field.name: (field, cells[:, place]) for place, field in enumerate(fields)}
    waiting = {name for pair in ordered for name in pair if name not in numbers}
    while waiting:
        name = min(each for each in waiting if not any(upper == each and lower in waiting for lower, upper in ordered))
        field, places = named[name]
        low, high = (
            np.append(ends, np.nan)[np.minimum(places, field.parts)] for ends in (field.lowest(), field.highest())
        )
        for lower, upper in ordered:
            if upper == name:
                low = np.fmax(low, numbers[lower])
            elif lower == name:
                above, its = named[upper]
                fixed = numbers.get(upper, np.append(above.highest(), np.nan)[np.minimum(its, above.parts)])
                high = np.fmin(high, fixed)
        numbers[name] = np.full(len(places), np.nan)
        present = places < field.parts
        numbers[name][present] = _evenly(field, low[present], high[present])
        waiting.discard(name)


def _only(field: Field, said: Determines) -> Floats:
    """Return the one value of each cell: what is given, where something is, else the middle."""
    low, high = field.lowest(), field.highest()
    middle = (low + high) / 2
    if field.step is not None:
        step, first = float(field.step), float(field.edges[0])
        middle = first + np.floor((middle - first) / step) * step
    values = np.append(middle, np.nan)
    for _, image in said.given or ():
        if image is not None:
            at = coordinate_of(field.name, field.kind, image)
            place = int(np.searchsorted([float(edge) for edge in field.edges], float(at), side="right")) - 1
            values[min(max(place, 0), field.parts - 1)] = float(at)
    return values


def _category(field: Field, places: Integers) -> pa.Array:
    assert field.keys is not None  # noqa: S101  (it is a category)
    return pa.array(list(field.keys), type=_TYPES[field.kind]).take(pa.array(places))


def _column(field: Field, numbers: Floats) -> pa.Array:
    missing = np.isnan(numbers)
    kind = _TYPES[field.kind]
    if field.kind is Kind.REAL:
        digits = _digits(field.step)
        return pa.array(numbers if digits is None else np.round(numbers, digits), mask=missing)
    whole = np.rint(np.where(missing, 0, numbers)).astype(np.int64)
    if field.kind is Kind.DATE:
        return pa.array((whole - _DAY_ZERO).astype(np.int32), mask=missing).cast(kind)
    if field.kind is Kind.TIMESTAMP:
        return pa.array(whole * 1_000_000, mask=missing).cast(kind)
    return pa.array(whole, mask=missing)


def _digits(step: Fraction | None) -> int | None:
    """Return how many digits steps need, so that 0.1 + 0.2 is written as 0.3."""
    if step is None:
        return None
    return max(0, math.ceil(-math.log10(step)) + 2)
