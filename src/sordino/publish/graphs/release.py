"""What comes out of a graph: counts, and degrees in order."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from sordino.publish.files import table_from_bytes, table_to_bytes
from sordino.publish.released import Released, Saved

from .ordered import Floats, band, falling, gaussian_growth, laplace_growth

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_FILE = "degrees.parquet"


@dataclass(frozen=True, eq=False)
class Counts(Released):
    """Noisy counts of a graph, by name; with the cap that was chosen for each where nodes are protected."""

    counts: Mapping[str, float] = field(default_factory=dict)
    caps: Mapping[str, int] = field(default_factory=dict)

    @property
    def value(self) -> float:
        """The count, or for clustering the coefficient: 3 · triangles / stars of two edges, from 0 to 1."""
        if len(self.counts) == 1:
            return next(iter(self.counts.values()))
        triangles, stars = self.counts["triangles"], self.counts["stars"]
        return min(max(3 * triangles / stars, 0.0), 1.0) if stars > 0 else 0.0

    def measured(self) -> dict[str, Any]:
        """Return the counts."""
        return {"counts": dict(self.counts), "caps": dict(self.caps)}

    def contents(self) -> Mapping[str, bytes]:
        """Return nothing: all of it is in the manifest."""
        return {}

    def plot(self) -> Figure:
        """Return a bar for each count."""
        from .picture import draw_counts

        return draw_counts(self)

    def __str__(self) -> str:
        lines = [f"{name}: {count:,.6g}" for name, count in self.counts.items()]
        lines += [f"  at most {cap:,} at one node" for cap in self.caps.values()]
        return "\n".join([*lines, *([f"clustering: {self.value:.4g}"] if len(self.counts) > 1 else [])])

    __repr__ = __str__


@dataclass(frozen=True, eq=False)
class Degrees(Released):
    """How many edges nodes have, the most first."""

    noisy: NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, np.int64))
    law: str = "laplace"
    """Which noise each number has."""
    spread: Fraction = Fraction(1)
    """Its scale, or its variance."""

    @property
    def fitted(self) -> Floats:
        """The falling sequence nearest to the noisy one."""
        return falling(self.noisy)

    def intervals(self, confidence: float = 0.95) -> tuple[Floats, Floats]:
        """Return a band that holds each true number with this probability at least."""
        spread = float(self.spread)
        if self.law == "laplace":
            return band(self.noisy, laplace_growth(spread), (1 - 1e-9) / spread, confidence)
        return band(self.noisy, gaussian_growth(spread), 40 / spread**0.5, confidence)

    def table(self, confidence: float = 0.95) -> pa.Table:
        """Return place, noisy and fitted number, and both ends of its interval."""
        low, high = self.intervals(confidence)
        place = np.arange(1, len(self.noisy) + 1)
        return pa.table({"place": place, "noisy": self.noisy, "fitted": self.fitted, "low": low, "high": high})

    def to_parquet(self, path: str | Path) -> None:
        """Write the table into a file."""
        Path(path).write_bytes(table_to_bytes(self.table()))

    def plot(self) -> Figure:
        """Return the curve of degrees with its band, on logarithmic axes."""
        from .picture import draw_degrees

        return draw_degrees(self)

    def measured(self) -> dict[str, Any]:
        """Return how many numbers there are, and which noise they have."""
        return {"nodes": len(self.noisy), "law": self.law, "spread": str(self.spread)}

    def contents(self) -> Mapping[str, bytes]:
        """Return the noisy numbers."""
        return {_FILE: table_to_bytes(pa.table({"noisy": self.noisy}))}


def counts_again(manifest: Mapping[str, Any]) -> Counts:
    """Return counts as they were released."""
    measured = manifest["measured"]
    return Counts(Saved(manifest), None, measured["counts"], measured["caps"])


def degrees_again(manifest: Mapping[str, Any], files: Mapping[str, bytes]) -> Degrees:
    """Return degrees as they were released."""
    noisy = table_from_bytes(files[_FILE])["noisy"].to_numpy()
    measured = manifest["measured"]
    return Degrees(Saved(manifest), None, noisy, measured["law"], Fraction(measured["spread"]))
