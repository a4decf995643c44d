"""Where the examples of a batch lie in a tensor: along which dimension, and how they are merged with others there."""

from __future__ import annotations

from dataclasses import dataclass

from torch import Tensor


@dataclass(frozen=True)
class Batch:
    """A batch of one constant shape: so many units, each with so many rows (examples or views)."""

    units: int
    rows: int = 1

    @property
    def examples(self) -> int:
        """How many rows the batch has in all."""
        return self.units * self.rows


@dataclass(frozen=True)
class Place:
    """Examples lie along dimension `dim`, which holds `inner` entries of each.

    `together` says that the entries of one example follow each other; otherwise the first entries of all examples come
    first, as when a sequence is laid out before the batch.
    """

    dim: int
    inner: int = 1
    together: bool = True

    def by_unit(self, values: Tensor, batch: Batch) -> Tensor:
        """Return `values` as (units, rows × inner, whatever else)."""
        first = values.movedim(self.dim, 0)
        if self.together:
            return first.reshape(batch.units, batch.rows * self.inner, *first.shape[1:])
        apart = first.unflatten(0, (self.inner, batch.examples)).transpose(0, 1)
        return apart.reshape(batch.units, batch.rows * self.inner, *first.shape[1:])


def place_of(small: tuple[int, ...], large: tuple[int, ...], sizes: tuple[int, int]) -> Place | None:
    """Return where examples lie in a tensor whose shapes are these in batches of two `sizes`; None if not found."""
    moved = [dim for dim, (one, other) in enumerate(zip(small, large, strict=False)) if one != other]
    if len(small) != len(large) or len(moved) != 1:
        return None
    (dim,) = moved
    inner, rest = divmod(small[dim], sizes[0])
    return Place(dim, inner) if not rest and inner and large[dim] == inner * sizes[1] else None
