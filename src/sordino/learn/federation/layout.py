"""A model's arrays as one vector of numbers, and back: what is trained is every array of floats, in order."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from sordino.errors import ArgumentError
from sordino.learn.run.rows import Array


@dataclass(frozen=True)
class Layout:
    """The names, shapes and types of a model's arrays: public."""

    arrays: tuple[tuple[str, tuple[int, ...], str], ...]

    @classmethod
    def of(cls, arrays: Mapping[str, Array]) -> Layout:
        """Return the layout of these arrays; refuse a model without anything to train."""
        found = cls(tuple((name, each.shape, each.dtype.str) for name, each in arrays.items()))
        if not found.parameters:
            raise ArgumentError("a model must have arrays of floats to train", "SRD-A003")
        return found

    @property
    def parameters(self) -> int:
        """How many numbers are trained."""
        return sum(int(np.prod(shape, dtype=np.int64)) for _, shape, kind in self.arrays if _trained(kind))

    @property
    def trained(self) -> tuple[str, ...]:
        """The names of the arrays that are trained."""
        return tuple(name for name, _, kind in self.arrays if _trained(kind))

    def flat(self, arrays: Mapping[str, Array]) -> Array | None:
        """Return the trained arrays one after the other; None if they are not of this layout."""
        parts = []
        for name, shape, kind in self.arrays:
            if not _trained(kind):
                continue
            found = np.asarray(arrays.get(name))
            # A strategy may make a number of an array of no dimensions, or the other way round.
            if found.dtype.kind not in "iuf" or (found.shape != shape and (found.size, shape) != (1, ())):
                return None
            parts.append(found.ravel().astype(np.float64))
        return np.concatenate(parts)

    def restored(self, vector: Array, others: Mapping[str, Array]) -> dict[str, Array]:
        """Return arrays by name from a vector; what is not trained comes from `others`."""
        found, start = {}, 0
        for name, shape, kind in self.arrays:
            if not _trained(kind):
                found[name] = others[name]
                continue
            size = int(np.prod(shape, dtype=np.int64))
            with np.errstate(over="ignore"):
                found[name] = vector[start : start + size].reshape(shape).astype(kind)
            start += size
        return found


def _trained(kind: str) -> bool:
    return np.dtype(kind).kind == "f"
