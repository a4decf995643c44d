"""A small language for linear and integer programs: columns with bounds, rows with limits; solved by HiGHS."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sordino.accounting.curve import Floats
from sordino.errors import ArgumentError

Columns = NDArray[np.int64]
_INFEASIBLE = 2  # SciPy's number for it


@dataclass
class Program:
    """A program that is written column by column and row by row; `copy` it to ask one thing more."""

    lower: list[float] = field(default_factory=list)
    upper: list[float] = field(default_factory=list)
    whole: list[int] = field(default_factory=list)
    rows: list[tuple[Columns, Floats, float, float]] = field(default_factory=list)

    def copy(self) -> Program:
        """Return a program that can grow apart from this one."""
        return Program(list(self.lower), list(self.upper), list(self.whole), list(self.rows))

    def columns(self, count: int, *, lower: float = 0.0, upper: float = np.inf, whole: bool = True) -> Columns:
        """Add `count` unknowns and return their places."""
        first = len(self.lower)
        self.lower += [lower] * count
        self.upper += [upper] * count
        self.whole += [int(whole)] * count
        return np.arange(first, first + count)

    def row(self, columns: Any, weights: Any, low: float = -np.inf, high: float = np.inf) -> None:
        """Demand that low ≤ Σ weight·unknown ≤ high."""
        places = np.asarray(columns, dtype=np.int64)
        self.rows.append((places, np.broadcast_to(np.asarray(weights, dtype=float), places.shape), low, high))

    def least(self, columns: Any, weights: Any, seconds: float) -> Floats | None:
        """Return the solution with the least Σ weight·unknown, or None if the program has no solution at all.

        **Guarantee**: what is returned has been proven to be least, or this raises; integers are rounded to integers.
        """
        from scipy.optimize import Bounds, LinearConstraint, milp

        cost = np.zeros(len(self.lower))
        cost[np.asarray(columns, dtype=np.int64)] = weights
        limits = Bounds(np.array(self.lower), np.array(self.upper))
        rows = LinearConstraint(self._matrix(), [row[2] for row in self.rows], [row[3] for row in self.rows])
        solved = milp(
            cost,
            integrality=np.array(self.whole),
            bounds=limits,
            constraints=rows,
            options={"time_limit": seconds, "mip_rel_gap": 0.0},
        )
        if solved.status == _INFEASIBLE:
            return None
        if not solved.success:
            raise ArgumentError(
                f"the solver did not finish within {seconds:g} s; give it more seconds=, or a smaller place", "SRD-V012"
            )
        return np.where(np.array(self.whole) == 1, np.round(solved.x), solved.x)

    def _matrix(self) -> Any:
        from scipy.sparse import csr_array

        lengths = [len(row[0]) for row in self.rows]
        places = np.concatenate([row[0] for row in self.rows])
        weights = np.concatenate([row[1] for row in self.rows])
        return csr_array((weights, places, np.concatenate([[0], np.cumsum(lengths)])), (len(lengths), len(self.lower)))
