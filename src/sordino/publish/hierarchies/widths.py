"""How far off an estimate of a tree's counts is, at most, with some confidence: half the width of its interval.

An estimate is a sum of many independent draws of noise, and one of these may weigh more than all others together: that
of the estimate's own measurement. It has the weight a = V/σ² (V the estimate's variance, σ² its own noise's): for a
posterior's mean, ∂mean/∂measurement = V/σ². So the error is a·X + R, where X is discrete Gaussian of variance σ² and
the rest R has the variance V − a²σ² = V·(1 − V/σ²). Where σ is small, X has few values, and an interval of ±1.96·√V
could cover far less than 95 %: with σ = 1 and nothing else, 88 %.

**Guarantee**: with R normal, an interval of this half width covers with the confidence asked for; without R, exactly so
or more. **Assumes** that R, a sum of many, is close to normal.
"""

from __future__ import annotations

import numpy as np
from scipy.special import ndtr, ndtri

from .contrasts import Floats

_LARGE = 25.0
"""From this σ² on, noise on whole numbers is as good as normal for an interval: within 0.2 % of the confidence."""
_STEPS = 60
_DIGITS = 5
_REACH = 9


def half_widths(variances: Floats, noise: float | None, confidence: float) -> Floats:
    """Return half the width of intervals around estimates with these variances; `noise` is σ² of their own, if any."""
    normal = float(ndtri((1 + confidence) / 2))
    if not noise or noise >= _LARGE:
        return normal * np.sqrt(variances)
    scale = 10.0 ** (_DIGITS - np.floor(np.log10(variances)))
    rounded, where = np.unique(np.ceil(variances * scale) / scale, return_inverse=True)
    steps = np.arange(-np.ceil(_REACH * np.sqrt(noise)) - 1, np.ceil(_REACH * np.sqrt(noise)) + 2)
    chances = np.exp(-(steps**2) / (2 * noise))
    chances /= chances.sum()
    weight = np.minimum(rounded / max(float(chances @ steps**2), 1e-300), 1)[:, None]
    rest = np.sqrt(np.maximum(rounded * (1 - weight[:, 0]), 1e-18 * rounded))[:, None]
    low, high = np.zeros(len(rounded)), 2 * weight[:, 0] * (steps[-1] + 1) + 2 * normal * np.sqrt(rounded)
    for _ in range(_STEPS):
        middle = (low + high)[:, None] / 2
        within = ndtr((middle - weight * steps) / rest) - ndtr((-middle - weight * steps) / rest)
        enough = within @ chances >= confidence
        low, high = np.where(enough, low, middle[:, 0]), np.where(enough, middle[:, 0], high)
    found: Floats = high[where]
    return found
