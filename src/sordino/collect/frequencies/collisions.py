"""Sketches: values share cells, by a few hash functions that all devices share; what that adds to an estimate's error.

A value d is estimated from the cells that it has under each of `hashes` functions. Another value w has the same cell
under about one in `cells` of them. If n(w) people hold it, and each device draws one function, then on top of what the
coins and the draws add, the estimate of d is off by n(w) times (the share of functions that collide − 1/cells), which
has mean 0 over the salt and, scaled as the estimate is, the variance n(w)² / ((cells − 1)·hashes). A survey has one
salt, so this part does not shrink with more people; the standard errors here count it.

**Source**: Cormode, Muthukrishnan 2005; Alon, Matias, Szegedy 1996 (the sum of squares out of the sketch itself).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sordino.collect.estimate import Estimate


def with_collisions(plain: Estimate, squares: float, *, cells: int, hashes: int) -> Estimate:
    """Return the estimate with what shared cells add to its errors; squared counts of all values sum to `squares`."""
    own = np.square(np.clip(plain.values, 0.0, plain.reports))
    extra = np.maximum(squares - own, 0.0) / ((cells - 1) * hashes)
    return Estimate(plain.values, np.sqrt(np.square(plain.standard_errors) + extra), plain.reports, plain.slope)


def squares_of(seen: NDArray[np.float64], variances: NDArray[np.float64], reports: int) -> float:
    """Return an estimate of the sum of squared counts, from each function's shares of cells and their variances.

    The squares of a function's shares sum to Σ f² + (1 − Σ f²)/cells on average over the salt, f being what shares of
    all people hold each value; their variances are taken away.
    """
    cells = seen.shape[1]
    raw = (np.square(seen) - variances).sum(axis=1)
    shares = np.clip((np.mean(raw) - 1 / cells) * cells / (cells - 1), 0.0, 1.0)
    return float(shares) * reports**2
