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

    `units` is how many units are really there.
    """

    places: tuple[Tensor, ...]
    units: int

    @property
    def batch(self) -> Batch:
        """The shape of each pass."""
        return Batch(*self.places[0].shape)


def seated(count: int, batch: Batch) -> Iterator[Seating]:
    """Yield where `count` units with all their rows, one after another, sit."""
    for start in range(0, count, batch.units):
        numbers = torch.arange(start * batch.rows, (start + batch.units) * batch.rows)
        numbers[numbers >= count * batch.rows] = NOBODY
        yield Seating((numbers.view(batch.units, batch.rows),), min(batch.units, count - start))


def seated_by_owner(owner: Tensor, batch: Batch) -> Iterator[Seating]:
    """Yield where the rows of owners sit: each owner is a unit, in the order of their numbers.

    An owner with more rows than a unit has places takes passes alone, as many as it needs, in the same shape.
    """
    owners, inverse, counts = torch.unique(owner, return_inverse=True, return_counts=True)
    by_owner = torch.argsort(inverse, stable=True).split(counts.tolist()) if len(owners) else ()
    small = [rows for rows in by_owner if len(rows) <= batch.rows]
    for start in range(0, len(small), batch.units):
        some = small[start : start + batch.units]
        places = torch.full((batch.units, batch.rows), NOBODY)
        for at, rows in enumerate(some):
            places[at, : len(rows)] = rows
        yield Seating((places,), len(some))
    for rows in by_owner:
        if len(rows) > batch.rows:
            yield Seating(tuple(_alone(part, batch) for part in rows.split(batch.examples)), 1)


def _alone(rows: Tensor, batch: Batch) -> Tensor:
    places = torch.full((1, batch.examples), NOBODY)
    places[0, : len(rows)] = rows
    return places


def taken(values: Tensor, places: Tensor) -> Tensor:
    """Return the rows that sit at `places`, with zeros for nobody."""
    flat = places.flatten()
    found = values[flat.clamp(min=0)]
    found[flat == NOBODY] = 0
    return found


def weights(places: Tensor, each: float) -> Tensor:
    """Return what each row weighs in its unit: `each`, and nobody nothing."""
    return torch.where(places.flatten() == NOBODY, 0.0, each)
