"""Regions of a grid that are split where there is something to see: partitions, each finer than the one before.

A partition is the region of each cell. One that is split falls into the blocks of the next finer size; one that is not
stays, and is measured again with the others.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

SIDE = 4
"""A block has 4 × 4 of the next finer size: sixteen parts cost less noise in all than four times four."""


@dataclass(frozen=True, eq=False)
class Partition:
    """The region of each cell, numbered from 0, and for each region the one of the partition before."""

    region: NDArray[np.int64]
    parent: NDArray[np.int64]

    @property
    def size(self) -> int:
        """The number of regions."""
        return len(self.parent)

    @property
    def areas(self) -> NDArray[np.int64]:
        """The number of cells of each region."""
        found: NDArray[np.int64] = np.bincount(self.region, minlength=self.size)
        return found

    def added_up(self, cells: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the counts of the regions, in whole numbers."""
        found = np.zeros(self.size, dtype=np.int64)
        np.add.at(found, self.region, cells)
        return found


def blocks_of(rows: int, columns: int, side: int) -> NDArray[np.int64]:
    """Return for each cell, row by row, the block of `side` × `side` cells that it lies in."""
    row, column = np.divmod(np.arange(rows * columns, dtype=np.int64), columns)
    found: NDArray[np.int64] = row // side * -(-columns // side) + column // side
    return found


def sides_of(rows: int, columns: int) -> tuple[int, ...]:
    """Return the sides of blocks from the coarsest, of which there are at least two, down to single cells."""
    found = [1]
    while -(-rows // (found[0] * SIDE)) * -(-columns // (found[0] * SIDE)) > 1:
        found.insert(0, found[0] * SIDE)
    return tuple(found)


def whole(rows: int, columns: int) -> Partition:
    """Return the partition into one region."""
    return Partition(np.zeros(rows * columns, dtype=np.int64), np.zeros(1, dtype=np.int64))


def split(before: Partition, chosen: NDArray[np.bool_], blocks: NDArray[np.int64]) -> Partition:
    """Return the partition in which the regions that are `chosen` fall into blocks."""
    label = np.where(chosen[before.region], before.size + blocks, before.region)
    _, first, region = np.unique(label, return_index=True, return_inverse=True)
    return Partition(region.ravel().astype(np.int64), before.region[first])
