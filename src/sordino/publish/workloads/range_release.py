"""What comes out of a column in cells: any range of it, with an interval, from now on without any cost."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from sordino.arguments import Number, whole
from sordino.errors import ArgumentError
from sordino.publish.files import arrays_from_bytes, arrays_to_bytes, table_to_bytes
from sordino.publish.intervals import reach
from sordino.publish.nested import Reals
from sordino.publish.released import Released, Saved

from .range_reading import Measured, Reading, reading_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MEASURED, CELLS = "measured.npz", "cells.parquet"


@dataclass(frozen=True)
class RangeAnswer:
    """How many rows lie in a range: the best estimate, an unbiased one, and the interval around that."""

    value: float
    unbiased: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.value:.0f} ({self.low:.0f} to {self.high:.0f})"


@dataclass(frozen=True, eq=False)
class Ranges(Released):
    """One column in cells. Whatever is asked of it is computed from what was released."""

    way: dict[str, Any] = field(default_factory=dict)
    """How it was measured, and with which noise."""
    cells: dict[str, Any] = field(default_factory=dict)
    """What the cells stand for: `edges` of a number, or `keys`."""
    noisy: Measured = field(default_factory=dict)
    """The noisy measurements."""

    @cached_property
    def reading(self) -> Reading:
        """How the measurements are read."""
        return reading_of(self.way, self.noisy)

    @cached_property
    def _estimates(self) -> tuple[Reals, Reals]:
        return self.reading.estimates(self.noisy)

    @property
    def unbiased(self) -> Reals:
        """The unbiased estimate of each cell; it may be below 0."""
        return self._estimates[0]

    @property
    def counts(self) -> Reals:
        """The estimate of each cell that is at least 0."""
        return self._estimates[1]

    def between(self, first: int, last: int, confidence: Number = 0.95) -> RangeAnswer:
        """Return how many rows are in the cells from `first` up to and with `last`, counted from 0."""
        size = len(self.counts)
        start, end = whole("first", first, least=0, most=size - 1), whole("last", last, least=0, most=size - 1)
        if end < start:
            raise ArgumentError(f"the range from cell {start} to cell {end} ends before it begins", "SRD-P303")
        query = np.zeros(size)
        query[start : end + 1] = 1
        off = math.sqrt(float(self.reading.variances(query)[0])) * reach(confidence)
        middle = float(query @ self.unbiased)
        return RangeAnswer(float(query @ self.counts), middle, max(middle - off, 0.0), max(middle + off, 0.0))

    def total(self, confidence: Number = 0.95) -> RangeAnswer:
        """Return how many rows are counted in all."""
        return self.between(0, len(self.counts) - 1, confidence)

    def error_by_length(self, lengths: Reals | None = None) -> tuple[Reals, Reals]:
        """Return lengths of ranges, in cells, and the root mean square error of unbiased answers of that length."""
        size = len(self.counts)
        asked = np.unique(np.geomspace(1, size, 24).round()) if lengths is None else np.asarray(lengths, dtype=float)
        off = []
        for length in asked.astype(int):
            starts = np.unique(np.linspace(0, size - length, 64).round().astype(int))
            place = np.arange(size)[None, :]
            queries = (place >= starts[:, None]) & (place < starts[:, None] + length)
            off.append(math.sqrt(float(self.reading.variances(queries.astype(float)).mean())))
        return asked, np.array(off)

    def table(self) -> pa.Table:
        """Return the cells: what they stand for, both estimates, and the standard deviation of the unbiased one."""
        size = len(self.counts)
        place = np.arange(size)
        off = np.concatenate(
            [
                np.sqrt(self.reading.variances((some[:, None] == place[None, :]).astype(float)))
                for some in np.array_split(place, -(-size // 512))
            ]
        )
        if "edges" in self.cells:
            edges = self.cells["edges"]
            stands = {"from": edges[:-1], "to": edges[1:]}
        else:
            stands = {"cell": self.cells["keys"]}
        return pa.table({**stands, "rows": self.counts, "unbiased": self.unbiased, "standard_deviation": off})

    def plot(self) -> Figure:
        """Draw the cells, and the error by length of range."""
        from .range_picture import drawn

        return drawn(self)

    def measured(self) -> dict[str, Any]:
        """Return how it was measured, and what the cells stand for."""
        return {"way": self.way, "cells": self.cells}

    def contents(self) -> Mapping[str, bytes]:
        """Return the noisy measurements, and the table of cells."""
        return {MEASURED: arrays_to_bytes(self.noisy), CELLS: table_to_bytes(self.table())}


def load(manifest: Mapping[str, Any], files: Mapping[str, bytes]) -> Ranges:
    """Return a release as it was."""
    said = manifest["measured"]
    return Ranges(Saved(manifest), None, said["way"], said["cells"], arrays_from_bytes(files[MEASURED]))
