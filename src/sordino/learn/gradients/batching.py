"""Batches of one constant shape: which rows go through the model together, and which units they belong to.

Whoever else is in a batch, and how many, changes neither the shape nor an example's own numbers. Places that nobody
takes are padded with zeros and weigh nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import torch
from torch import Tensor

from .place import Batch

NOBODY = -1
"""The row number of a place that nobody takes."""


@dataclass(frozen=True)
class Seating:
    """Who sits where in one or several passes whose gradients are added: (units, rows) of row numbers, −1 for nobody.

    `taken` are the seats, numbers of units, that are taken.
    """

    places: tuple[Tensor, ...]
    taken: Tensor

    @property
    def batch(self) -> Batch:
        """The shape of each pass."""
        return Batch(*self.places[0].shape)


def seated(count: int, batch: Batch, seats: Tensor | None = None) -> Iterator[Seating]:
    """Yield where `count` units with all their rows, one after another, sit: in order, or each in its own seat."""
    yield from _passes(torch.arange(count * batch.rows).view(count, batch.rows), batch, seats)


def seated_by_owner(owner: Tensor, batch: Batch, seats: Tensor | None = None) -> Iterator[Seating]:
    """Yield where the rows of owners sit: each owner is a unit, in the order of their numbers.

    An owner with more rows than a unit has places takes passes alone, as many as it needs, in the same shape.
    """
    owners, inverse, counts = torch.unique(owner, return_inverse=True, return_counts=True)
    rows = torch.argsort(inverse, stable=True)
    whose = inverse[rows]
    nth = torch.arange(len(rows)) - (counts.cumsum(0) - counts)[whose]
    few = counts <= batch.rows
    table = torch.full((len(owners), batch.rows), NOBODY)
    fitting = few[whose]
    table[whose[fitting], nth[fitting]] = rows[fitting]
    yield from _passes(table[few], batch, None if seats is None else seats[few])
    for number in (~few).nonzero().flatten().tolist():
        parts = rows[whose == number].split(batch.examples)
        yield Seating(tuple(_alone(part, batch) for part in parts), torch.zeros(1, dtype=torch.int64))


def _passes(rows: Tensor, batch: Batch, seats: Tensor | None) -> Iterator[Seating]:
    """Yield the passes in which anybody sits; `rows` holds those of each unit."""
    seats = torch.arange(len(rows)) if seats is None else seats
    for number in torch.unique(seats // batch.units).tolist():
        here = seats // batch.units == number
        places = torch.full((batch.units, batch.rows), NOBODY)
        places[seats[here] % batch.units] = rows[here]
        yield Seating((places,), seats[here] % batch.units)


def _alone(rows: Tensor, batch: Batch) -> Tensor:
    places = torch.full((1, batch.examples), NOBODY)
    places[0, : len(rows)] = rows
    return places


def taken(values: Tensor, places: Tensor) -> Tensor:
    """Return the rows that sit at `places`, with zeros for nobody."""
    flat = places.flatten()
    found = values[flat.clamp(min=0)]
    return found.index_fill_(0, (flat == NOBODY).nonzero().flatten(), 0)


def weights(places: Tensor, each: float) -> Tensor:
    """Return what each row weighs in its unit: `each`, and nobody nothing."""
    return torch.where(places.flatten() == NOBODY, 0.0, each)
