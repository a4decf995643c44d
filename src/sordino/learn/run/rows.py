"""Where examples lie: arrays, Arrow tables, torch's map-style data sets. What is read here is secret.

**Guarantee**: what is known beforehand (`like`) comes from types and declarations, never from a value, and not from how
many rows there are.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from sordino.errors import ArgumentError

Array = NDArray[Any]
Batch = tuple[Array, ...]
"""Some examples: one array for each thing that an example consists of, such as its features and its label."""


@dataclass(frozen=True)
class Like:
    """What one part of every example looks like, which is public: its shape and its type."""

    shape: tuple[int, ...]
    dtype: str

    def made_up(self, count: int) -> Array:
        """Return `count` of them that nobody ever was: zeros."""
        return np.zeros((count, *self.shape), dtype=self.dtype)


class Rows(Protocol):
    """Examples that can be read by their number."""

    @property
    def like(self) -> tuple[Like, ...]:
        """What the parts of every example look like."""
        ...

    def count(self) -> int:
        """Return how many there are: secret, and asked for in a run only."""
        ...

    def take(self, places: NDArray[np.intp]) -> Batch:
        """Return the examples at these places, in this order."""
        ...


@runtime_checkable
class Stored(Protocol):
    """Examples that lie in an engine: read whole, with their owners, when a run begins."""

    @property
    def like(self) -> tuple[Like, ...]:
        """What the parts of every example look like."""
        ...

    def check_ready(self) -> None:
        """Raise `SourceError` if the engine does not answer."""
        ...

    def read(self) -> tuple[Rows, Array | None]:
        """Return the examples, and whose each is (None where each is a unit): secret."""
        ...


@dataclass(frozen=True, eq=False, repr=False)
class ArrayRows:
    """Arrays with one row for each example."""

    arrays: Batch

    @property
    def like(self) -> tuple[Like, ...]:
        """The arrays' types, and their shapes without the first number."""
        return tuple(Like(each.shape[1:], each.dtype.str) for each in self.arrays)

    def count(self) -> int:
        """Return how many rows the shortest array has: what has no label is no example."""
        return min(len(each) for each in self.arrays)

    def take(self, places: NDArray[np.intp]) -> Batch:
        """Return rows of each array."""
        return tuple(each[places] for each in self.arrays)


@dataclass(frozen=True, eq=False, repr=False)
class ItemRows:
    """A data set of the kind that torch has: items by number, each a tuple of arrays, tensors or numbers."""

    items: Any
    like: tuple[Like, ...]

    def count(self) -> int:
        """Return how many items there are."""
        return len(self.items)

    def take(self, places: NDArray[np.intp]) -> Batch:
        """Return the items' parts, each stacked to one array of the declared type."""
        found = [self.items[int(place)] for place in places]
        return tuple(
            np.stack([np.asarray(item[part], dtype=like.dtype).reshape(like.shape) for item in found])
            if found
            else like.made_up(0)
            for part, like in enumerate(self.like)
        )


def rows_of(parts: Sequence[Any], like: Sequence[Any] | None) -> Rows:
    """Return where examples lie, from what a user hands over; refuse what is neither."""
    if len(parts) == 1 and not _is_array(parts[0]) and hasattr(parts[0], "__getitem__") and not _is_table(parts[0]):
        if like is None:
            raise ArgumentError(
                "what one item looks like cannot be known without reading one: make one up, as like=(zeros, 0)",
                "SRD-A003",
            )
        return ItemRows(parts[0], tuple(_like(np.asarray(part)) for part in like))
    arrays = tuple(each for part in parts for each in _arrays(part))
    if any(each.ndim == 0 for each in arrays):
        raise ArgumentError("every part of the examples must have one row for each example", "SRD-A001")
    return ArrayRows(arrays)


def _like(made_up: Array) -> Like:
    return Like(made_up.shape, made_up.dtype.str)


def _is_table(part: Any) -> bool:
    return hasattr(part, "column_names") and hasattr(part, "column")


def _is_array(part: Any) -> bool:
    return hasattr(part, "__array__") or isinstance(part, list | tuple)


def _arrays(part: Any) -> list[Array]:
    if _is_table(part):  # of Arrow: its columns side by side, as one array
        return [np.stack([np.asarray(part.column(name)) for name in part.column_names], axis=1)]
    if not _is_array(part):
        raise ArgumentError(
            f"examples must be arrays, Arrow tables or a data set with numbered items, not {type(part).__name__}",
            "SRD-A001",
        )
    found = np.asarray(part)
    if found.dtype.kind not in "biuf":
        raise ArgumentError(
            "examples must be numbers: encode texts and dates as numbers before they are declared", "SRD-A001"
        )
    return [found]
