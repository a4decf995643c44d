"""Means and covariances of columns in a box, or of rows of bounded length: for components and covariances."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from sordino.arguments import rational

from .bounds import Bounds
from .finding import BOUNDS_SHARE
from .plan import EstimatorPlan
from .private import Boxed, finding_sums
from .releases import Floats, Releases
from .second_moments import Rows, noisy_moments
from .whole_rows import within_norm


@dataclass(eq=False, repr=False, kw_only=True)
class CentredMoments(Boxed):
    """An estimator that learns from the mean and the covariance of its columns."""

    data_norm: Any = None

    def _moments_plan(self, columns: int) -> EstimatorPlan:
        norm, declared = self._norm(), self._declared(columns)
        sums = finding_sums(bounds=columns if declared is None and norm is None else None, classes=False)
        sums.append(Rows(columns, norm is None).sum(1 - BOUNDS_SHARE * len(sums)))
        words = {"bounds": None if declared is None else declared.words(), "data_norm": norm}
        return self._plan(self._spending(), sums, words)

    def _norm(self) -> float | None:
        return None if self.data_norm is None else float(rational("data_norm", self.data_norm, above=0))

    def _noisy_covariance(self, rows: Floats, releases: Releases, *, centred: bool) -> tuple[float, Floats, Floats]:
        """Return how many rows there are, their mean and their covariance; noisy, in the columns' own measure."""
        norm, columns = self._norm(), rows.shape[1]
        if norm is None:
            box = self._found(rows, releases, self._declared(columns))
            x = box.boxed(rows)
        else:
            box, x = Bounds(np.full(columns, -norm), np.full(columns, norm)), within_norm(rows, norm)
        moments = noisy_moments(x, np.zeros((len(x), 0)), np.ones(len(x)), releases)
        scale = np.outer(box.half, box.half) / moments.count
        if centred:
            return moments.count, box.unboxed(moments.mean), moments.scatter * scale
        away = box.unboxed(moments.mean)
        return moments.count, np.zeros(columns), moments.scatter * scale + np.outer(away, away)
