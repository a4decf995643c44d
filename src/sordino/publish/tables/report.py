"""How good synthetic rows are, told by what was paid for already, and by rows that are public.

Nothing here touches the data. Each marginal that was measured has noise of a known size, so the rows' distance from it
can be held against the distance that noise alone makes; the true marginal is not needed. A model that is trained on
synthetic rows is tried on rows that the owner declares public, beside one that is trained on those.
"""

from __future__ import annotations

import html
import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from sordino.errors import ArgumentError

from .coding import cells_of_table
from .fields import Field
from .fitting import Measured
from .junction import Clique
from .naive_bayes import area_under_curve, chances, learned
from .release import SyntheticTable

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Line:
    """One marginal: how far the rows are from the noisy one that was paid for, and how far noise alone is."""

    columns: tuple[str, ...]
    distance: float
    """Total variation: half of the sum of differences of shares."""
    noise: float
    association: float | None
    """Cramér's V of a pair, by the noisy marginal."""
    association_of_rows: float | None


@dataclass(frozen=True)
class Trained:
    """How well models tell one column from the others, on public rows: areas under the ROC curve, mean over values."""

    target: str
    synthetic: float
    """Trained on synthetic rows."""
    public: float
    """Trained on the other half of the public rows."""


@dataclass(frozen=True)
class Report:
    """The quality of synthetic rows."""

    lines: tuple[Line, ...]
    trained: Trained | None

    def __str__(self) -> str:
        width = max(len(", ".join(each.columns)) for each in self.lines)
        found = [f"{'marginal':<{width}}  rows off  noise  association (noisy, rows)"]
        for each in self.lines:
            both = "" if each.association is None else f"{each.association:.2f}, {each.association_of_rows:.2f}"
            found.append(
                f"{', '.join(each.columns):<{width}}  {each.distance:8.3f}  {each.noise:5.3f}  {both}".rstrip()
            )
        if self.trained is not None:
            found.append(
                f"a model of {self.trained.target}, tried on public rows: area {self.trained.synthetic:.3f} if trained "
                f"on synthetic rows, {self.trained.public:.3f} on public ones"
            )
        return "\n".join(found)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return f"<pre>{html.escape(str(self))}</pre>"


def report_of(made: SyntheticTable, public: Any, target: str | None) -> Report:
    """Return the report; refuse public rows without a column to tell, or the other way round."""
    if (public is None) != (target is None):
        raise ArgumentError("a model needs public rows and a column to tell: report(public=…, target=…)", "SRD-A003")
    rows = cells_of_table(made.fields, made.first)
    lines = tuple(_line(made, clique, noisy, rows) for clique, noisy in sorted(made.noisy.items()))
    if target is None:
        return Report(lines, None)
    return Report(lines, _trained(made, rows, cells_of_table(made.fields, _arrow(public)), made.place(target)))


def counted(fields: tuple[Field, ...], clique: Clique, cells: NDArray[np.int64]) -> Floats:
    """Return how many rows are in each cell of some columns."""
    shape = [fields[place].size for place in clique]
    flat = np.ravel_multi_index([cells[:, place] for place in clique], shape)
    return np.bincount(flat, minlength=math.prod(shape)).reshape(shape).astype(np.float64)


def _line(made: SyntheticTable, clique: Clique, noisy: Measured, cells: NDArray[np.int64]) -> Line:
    ours, total = counted(made.fields, clique, cells), max(made.model.total, 1.0)
    off = float(np.abs(ours / max(len(cells), 1) - noisy.numbers / total).sum()) / 2
    deviation = np.broadcast_to(noisy.precision, noisy.numbers.shape) ** -0.5
    alone = math.sqrt(2 / math.pi) * float(deviation.sum()) / total / 2
    names = tuple(made.fields[place].name for place in clique)
    if len(clique) != 2:
        return Line(names, off, alone, None, None)
    return Line(names, off, alone, cramers_v(noisy.numbers, float(np.mean(deviation**2))), cramers_v(ours, 0.0))


def cramers_v(table: Floats, variance: float) -> float:
    """Return Cramér's V of a pair of columns; what noise of this variance adds to χ² is taken off (never below 0)."""
    kept = np.maximum(table, 0)
    total = kept.sum()
    if total <= 0 or min(table.shape) < 2:
        return 0.0
    expected = kept.sum(axis=1, keepdims=True) * kept.sum(axis=0, keepdims=True) / total
    seen = expected >= 1
    chi = float((((table - expected) ** 2 - variance)[seen] / expected[seen]).sum())
    return min(math.sqrt(max(chi, 0.0) / (float(total) * (min(table.shape) - 1))), 1.0)


def _trained(made: SyntheticTable, ours: NDArray[np.int64], public: NDArray[np.int64], target: int) -> Trained:
    sizes = [field.size for field in made.fields]
    half = np.arange(len(public)) % 2 == 0
    answers = public[:, target]
    from_ours = chances(learned(ours, sizes, target), public)
    other = np.empty_like(from_ours)
    for part in (half, ~half):
        other[part] = chances(learned(public[~part], sizes, target), public[part])
    return Trained(made.fields[target].name, area_under_curve(from_ours, answers), area_under_curve(other, answers))


def _arrow(public: Any) -> pa.Table:
    if isinstance(public, pa.Table):
        return public
    try:
        return pa.Table.from_pandas(public, preserve_index=False)
    except (AttributeError, TypeError, ValueError, pa.ArrowInvalid):
        raise ArgumentError("public rows are an Arrow table or a pandas frame", "SRD-A001") from None
