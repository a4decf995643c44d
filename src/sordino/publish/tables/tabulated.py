"""A table's exact marginals, over its columns as cells: each counted by the engine when it is first asked for.

All of them use one salt, so that whose rows are kept where someone has too many is the same for a whole publication.
What comes back is secret and must meet noise.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sordino import noise
from sordino.data.metadata import Table
from sordino.publish.measuring import Axis, counts, marginal, scan
from sordino.query.model.bounding import Bounding

from .fields import Field
from .junction import Clique


class Tabulated:
    """Counts of cells of one table; `compute` runs a task on the data's engine."""

    def __init__(self, compute: Callable[..., Any], table: Table, bounding: Bounding) -> None:
        self._compute = compute
        self._table = table
        self._bounding = bounding
        self._salt = noise.uniform(2**62)
        self._axes: list[Axis] = []
        self._kept: dict[Clique, NDArray[np.int64]] = {}

    def over(self, fields: Sequence[Field]) -> None:
        """Count over these columns in these cells from now on."""
        self._axes = [field.axis(self._table.columns[field.name]) for field in fields]
        self._kept.clear()

    def exact(self, clique: Clique) -> NDArray[np.int64]:
        """Return the rows in each cell of some columns: secret."""
        if clique not in self._kept:
            self._kept[clique] = self.alone([self._axes[place] for place in clique])
        return self._kept[clique]

    def alone(self, axes: Sequence[Axis]) -> NDArray[np.int64]:
        """Return the rows in each cell of these axes: secret."""
        return counts(self._compute, marginal(scan(self._table), axes, self._bounding), self._salt)
