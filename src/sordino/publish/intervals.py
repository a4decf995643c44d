"""Intervals around estimates that several noisy numbers were added up for."""

from __future__ import annotations

import math

from scipy.special import ndtri

from sordino.arguments import Number, probability


def reach(confidence: Number) -> float:
    """Return how many standard deviations an interval takes, at least, whatever noise was added up.

    Sums of Laplace draws have tails between those of a single one and those of Gaussian noise; the wider is taken.
    """
    sure = float(probability("confidence", confidence))
    return max(float(ndtri((1 + sure) / 2)), -math.log1p(-sure) / math.sqrt(2))
