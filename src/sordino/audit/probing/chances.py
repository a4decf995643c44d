"""How likely it is that a private service shows such a difference by chance."""

from __future__ import annotations

import numpy as np

_CELLS = 4000


def chance(seen: int, seen_without: int, draws: int, epsilon: float = 0.0, delta: float = 0.0) -> float:
    """Return the largest probability of counts like these under (ε, δ)-differential privacy.

    Something was seen in `seen` of `draws` answers with the person and in `seen_without` of as many without.

    **Guarantee**: a bound from above on sup P[X ≥ seen]·P[Y ≤ seen_without] over independent binomials X, Y whose
    probabilities keep p ≤ e^ε·p′ + δ. The first factor grows with p′, the second falls; so on every cell of a partition
    of [0, 1] the first is taken at the upper end and the second at the lower.

    >>> chance(24, 0, 24) < 1e-13
    True
    >>> chance(14, 10, 24) > 0.05
    True
    """
    from scipy.stats import binom

    edges = np.linspace(0.0, 1.0, _CELLS + 1)
    highest = np.minimum(1.0, np.exp(epsilon) * edges[1:] + delta)
    return float(np.max(binom.sf(seen - 1, draws, highest) * binom.cdf(seen_without, draws, edges[:-1])))
