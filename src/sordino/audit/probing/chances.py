"""How likely it is that a private service shows such a difference by chance."""

from __future__ import annotations

import math

import numpy as np

_CELLS = 4000


def chance(seen: int, seen_without: int, draws: int, epsilon: float = 0.0, delta: float = 0.0) -> float:
    """Return how likely counts like these are at most under (ε, δ)-differential privacy: a p-value.

    Something was seen in `seen` of `draws` answers with the person and in `seen_without` of as many without.

    **Guarantee**: of services whose probabilities keep p ≤ e^ε·p′ + δ, at most a share α has a chance of α or less.
    Proof: P[X ≥ seen] at p and P[Y ≤ seen_without] at p′ are independent p-values, so their product is z or less with
    probability at most z(1 − ln z) (Fisher 1925). The first factor grows with p′, the second falls; so on every cell of
    a partition of [0, 1] the first is taken at the upper end and the second at the lower, and the worst cell counts.

    >>> chance(24, 0, 24) < 1e-12
    True
    >>> chance(14, 10, 24) > 0.05
    True
    """
    from scipy.stats import binom

    edges = np.linspace(0.0, 1.0, _CELLS + 1)
    highest = np.minimum(1.0, np.exp(epsilon) * edges[1:] + delta)
    product = float(np.max(binom.sf(seen - 1, draws, highest) * binom.cdf(seen_without, draws, edges[:-1])))
    return min(1.0, product * (1 - math.log(product))) if product > 0 else 0.0
