"""What a mobility report releases: noisy counts, and tables and drawings that are computed from them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, timedelta
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from sordino.arguments import Number, probability
from sordino.noise import DiscreteLaplace, RoundedGaussian
from sordino.publish.files import arrays_to_bytes, table_to_bytes
from sordino.publish.released import Released, Saved

from .changes import Changes, changes
from .window import region_name

if TYPE_CHECKING:
    from matplotlib.figure import Figure

COUNTS, TABLE = "counts.npz", "mobility.parquet"
SHOWN, UNCERTAIN = "shown", "uncertain"
_CONFIDENCE = 0.95


@dataclass(frozen=True, eq=False)
class MobilityReport(Released):
    """Counts of people by region and day, with noise; what was usual, and how days after it differ."""

    counts: NDArray[np.int64]
    """Regions × days."""
    law: Any
    """The noise of each count."""
    regions: list[Any]

    @classmethod
    def saved(cls, plan: Saved, counts: NDArray[np.int64]) -> MobilityReport:
        """Return a report from its manifest and its counts."""
        measured = plan.manifest["measured"]
        kind = DiscreteLaplace if measured["noise"] == "laplace" else RoundedGaussian
        return cls(plan, None, counts, kind(Fraction(measured["parameter"])), list(measured["regions"]))

    @property
    def parameters(self) -> Mapping[str, Any]:
        """What was asked for."""
        found: Mapping[str, Any] = self.plan.said()["parameters"]
        return found

    @cached_property
    def days(self) -> list[date]:
        """The days of the window."""
        first, last = (date.fromisoformat(each) for each in self.parameters["days"])
        return [first + timedelta(days=place) for place in range((last - first).days + 1)]

    @cached_property
    def _usual(self) -> NDArray[np.int64]:
        first, last = (date.fromisoformat(each) for each in self.parameters["baseline"])
        return np.array([place for place, day in enumerate(self.days) if first <= day <= last])

    @cached_property
    def later(self) -> NDArray[np.int64]:
        """The places of the days after the baseline."""
        return np.arange(int(self._usual[-1]) + 1, len(self.days))

    def changes(self, confidence: Number = _CONFIDENCE) -> Changes:
        """Return regions × later days: the change from what was usual, in percent, with intervals."""
        level = float(probability("confidence", confidence))
        weekdays = np.array([day.weekday() for day in self.days])
        return changes(self.counts.astype(np.float64), self.law, self._usual, self.later, weekdays, level)

    def table(self, confidence: Number = _CONFIDENCE) -> pa.Table:
        """Return a row for each region and later day: people, what is usual, the change and its interval.

        Where the interval is wider than was asked for, the cell is `uncertain`, and change and interval are missing.
        """
        found = self.changes(confidence)
        certain = found.certain(float(self.parameters["within"])).ravel()
        count = len(self.regions)
        days = [self.days[place] for place in self.later]

        def only(values: NDArray[np.float64]) -> pa.Array:
            return pa.array(np.where(certain, values.ravel(), 0.0), mask=~certain)

        return pa.table(
            {
                "region": pa.array([region for region in self.regions for _ in days]),
                "day": pa.array(days * count, pa.date32()),
                "people": pa.array(found.people.ravel()),
                "usual": pa.array(found.usual.ravel()),
                "change": only(found.change),
                "low": only(found.low),
                "high": only(found.high),
                "cell": pa.array(np.where(certain, SHOWN, UNCERTAIN)),
            }
        )

    def measured(self) -> dict[str, Any]:
        """Return the noise, the regions, and how many cells are shown."""
        laplace = isinstance(self.law, DiscreteLaplace)
        certain = self.changes().certain(float(self.parameters["within"]))
        return {
            "noise": "laplace" if laplace else "gaussian",
            "parameter": str(self.law.scale if laplace else self.law.sigma_squared),
            "regions": [region_name(each) for each in self.regions],
            "cells": int(certain.size),
            "cells shown": int(certain.sum()),
        }

    def contents(self) -> Mapping[str, bytes]:
        """Return the counts, and the table of changes."""
        return {COUNTS: arrays_to_bytes({"counts": self.counts}), TABLE: table_to_bytes(self.table())}

    def plot(self, regions: list[Any] | None = None, confidence: Number = _CONFIDENCE) -> Figure:
        """Return small multiples: the change in each region by day, with its interval; uncertain days are hatched."""
        from .picture import draw

        return draw(self, regions, confidence)
