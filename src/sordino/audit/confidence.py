"""Bounds on a probability from counts, and on ε from the counts of one event on two neighbours.

**Guarantee**: Clopper–Pearson bounds hold with at least the confidence stated for any number of draws, however few.
**Source**: Clopper, Pearson 1934; their use for ε: Jagielski, Ullman, Oprea 2020; Bichsel et al. 2021, Lemma 2.
"""

from __future__ import annotations

import math

import numpy as np
import scipy

from sordino.accounting.curve import Floats


def at_least(hits: Floats | float, draws: Floats | float, chance: float) -> Floats:
    """Return what a probability is at least, up to `chance`, after `hits` of `draws`."""
    seen, total = np.asarray(hits, dtype=float), np.asarray(draws, dtype=float)
    bound = scipy.special.betaincinv(np.maximum(seen, 0.5), total - seen + 1, chance)
    return np.asarray(np.where(seen > 0, bound, 0.0))


def at_most(hits: Floats | float, draws: Floats | float, chance: float) -> Floats:
    """Return what a probability is at most, up to `chance`, after `hits` of `draws`."""
    seen, total = np.asarray(hits, dtype=float), np.asarray(draws, dtype=float)
    bound = scipy.special.betainccinv(seen + 1, np.maximum(total - seen, 0.5), chance)
    return np.asarray(np.where(seen < total, bound, 1.0))


def epsilon_at_least(here: int, there: int, draws: int, delta: float, confidence: float) -> float:
    """Return a lower bound on ε at `delta` from one event that came `here` times on one input, `there` on the other.

    (ε, δ) demands P(S) ≤ e^ε·Q(S) + δ, so ε ≥ ln((P(S) − δ)/Q(S)); each of the two probabilities takes half of the
    chance to be wrong. **Assumes**: the event was chosen before these draws were made.
    """
    share = (1 - confidence) / 2
    low, high = float(at_least(here, draws, share)) - delta, float(at_most(there, draws, share))
    return max(0.0, math.log(low / high)) if low > 0 else 0.0
