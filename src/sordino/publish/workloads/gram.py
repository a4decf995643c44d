"""Workloads as implicit matrices: what the queries of one weigh together, without listing them.

A workload W of queries on n cells is known by its Gram matrix WᵀW, n × n: the mean squared error of estimates with
covariance Σ over all of its queries is tr(WᵀW·Σ)/(number of queries). All ranges of 1,024 cells are 524,800 queries.
**Source**: Li, Miklau, Hay, McGregor & Rastogi 2015, Section 3; products: McKenna, Miklau, Hay & Machanavajjhala 2018.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from typing import Literal

import numpy as np
from numpy.typing import NDArray

Reals = NDArray[np.float64]
Kind = Literal["ranges", "prefixes", "cells", "total"]
KINDS: tuple[Kind, ...] = ("ranges", "prefixes", "cells", "total")


@dataclass(frozen=True)
class Workload:
    """All queries of one kind over `cells` cells in a row."""

    kind: Kind
    cells: int

    @property
    def queries(self) -> int:
        """How many queries there are."""
        return {"ranges": self.cells * (self.cells + 1) // 2, "total": 1}.get(self.kind, self.cells)

    def gram(self) -> Reals:
        """Return WᵀW: in how many queries each two cells are together."""
        place = np.arange(1, self.cells + 1, dtype=float)
        last: Reals = self.cells + 1 - np.maximum.outer(place, place)
        if self.kind == "ranges":
            last *= np.minimum.outer(place, place)
            return last
        if self.kind == "prefixes":
            return last
        return np.eye(self.cells) if self.kind == "cells" else np.ones((self.cells, self.cells))

    def rows(self) -> Reals:
        """Return W itself, query by query: for small ones, and for tests."""
        ends = np.arange(self.cells)
        if self.kind == "cells":
            return np.eye(self.cells)
        if self.kind == "total":
            return np.ones((1, self.cells))
        starts = ends if self.kind == "ranges" else ends[:1]
        return np.array([(ends >= low) & (ends <= high) for low in starts for high in ends if low <= high], dtype=float)


@dataclass(frozen=True)
class Product:
    """All products of one query of each part: over the cells of a table whose columns are the parts' cells."""

    parts: tuple[Workload, ...]

    @property
    def queries(self) -> int:
        """How many queries there are."""
        return reduce(lambda found, part: found * part.queries, self.parts, 1)

    def gram(self) -> Reals:
        """Return the Kronecker product of the parts' Gram matrices."""
        found: Reals = np.ones((1, 1))
        for part in self.parts:
            found = np.asarray(np.kron(found, part.gram()), dtype=np.float64)
        return found


def lower_bound(gram: Reals, queries: int) -> float:
    """Return the least root mean square error of any strategy whose columns have norm 1 or less, with noise of σ = 1.

    **Source**: Li & Miklau 2013, Theorem 6: (Σ singular values of W)²/n is at most the sum of squared errors.
    """
    values = np.sqrt(np.maximum(np.linalg.eigvalsh(gram), 0.0))
    return float(values.sum() / np.sqrt(len(gram) * queries))
