"""The privacy blanket of a randomizer: what all values have in common hides one person's report among the others'.

Let p = e^{ε₀}, and let a measure m lie below the law of every value, Σm ≤ 1. Each of the others draws from m with
probability Σm; let the rest of what they report be told, and who drew it. What is left is the report of one person
among draws from m, in random order. For two values of that person, with laws μ and μ′, at E = e^ε,

    δ(ε) ≤ E[(X₁ + … + X_n)₊] / n,   X = (μ − E·μ′)/m with probability m, and 0 with probability 1 − Σm.

*Proof*: with M others on the blanket, the density of the order's outcome is the mean of (μ/m)(yᵢ) over M + 1 draws from
m/Σm; P[M = j]/(j + 1) is P[Bin(n, Σm) = j + 1]/(n·Σm). **Source**: Balle et al. 2019, Lemma 5.3; by transforms: Su,
Cheng, Wang 2025.

Here μ/m and μ′/m are p or 1 everywhere, so a blanket is four masses: of reports for the own value, the other value,
both and neither, where X is p − E, 1 − pE, p(1 − E) and 1 − E.

**What is computed.** (x)₊ is convex, so spreading X to the next multiples of a width h on either side, its mean kept,
only adds. The law of the sum is a power of one transform, taken under the tilt e^{θx} that puts its middle where the
excess is: errors then are relative to δ, however small. *Rounding*: values are lifted by ulps of their terms, masses
are exact to ulps each, which n people multiply; a transform is off by ulps·log₂N, its power by n times that and
|F|^{n−1}, and the sum by no more than the product of 2-norms of error and weight (Parseval; Cauchy, Schwarz). Sums
beyond the end of the transform have a weight below that of the end; those that wrap around add.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import scipy

from .curve import Floats

_ULP = 2.0**-53
_FINENESS = (256, 64)  # the largest X over the width
_COARSEST, _MOST_PLACES = 8, 1024  # any |X| over the width
_LONG, _LONGEST = 2**18, 2**20
_FAR = 10.0  # tilted deviations that the transform holds at each side
_FADED = 45.0  # −ln of a weight that does not count


@dataclass(frozen=True)
class Blanket:
    """The masses of a blanket by which of two values make a report likely, and `odds`, which are e^{ε₀}.

    `nobody` is 1 − Σm, given beside, as a difference would lose its digits. All are within two ulps of the truth.
    """

    odds: float
    own: float
    other: float
    both: float
    neither: float
    nobody: float


def blanket_delta(blanket: Blanket, reports: int, epsilon: float) -> float:
    """Return a bound on δ at ε for `reports` shuffled reports, rounded up."""
    factor = math.exp(epsilon) * (1 - 4 * _ULP)
    if factor >= blanket.odds:
        return 0.0
    values, masses = _excesses(blanket, factor)
    largest = float(np.max(np.abs(values)))
    fine = ((max(float(values[0]) / fineness, largest / _MOST_PLACES), _LONG) for fineness in _FINENESS)
    for width, longest in (*fine, (largest / _COARSEST, _LONGEST)):
        places, law = _spread(values, masses, width)
        tilt = _tilt(places, law, reports)
        half = _half_length(places, law, reports, tilt)
        if 2 * half <= longest:
            return min(1.0, width * _excess(places, law, reports, tilt, half) / reports)
    return blanket_delta(blanket, max(reports // 2, 2), epsilon)  # who is left out would only hide better


def _excesses(blanket: Blanket, factor: float) -> tuple[Floats, Floats]:
    """Return the values of X, lifted, and their masses."""
    odds = blanket.odds
    values = np.array([odds - factor, 1 - odds * factor, odds * (1 - factor), 1 - factor, 0.0])
    lifts = np.array([odds, odds * factor, odds * factor, factor, 0.0]) * (8 * _ULP)
    masses = np.array([blanket.own, blanket.other, blanket.both, blanket.neither, blanket.nobody])
    return values + lifts, masses


def _spread(values: Floats, masses: Floats, width: float) -> tuple[Floats, Floats]:
    """Return whole places, of width h, and the law on them that has the same mean of each value."""
    below = np.floor(values / width)
    upper = np.clip(values / width - below, 0.0, 1.0)
    places, index = np.unique(np.concatenate([below, below + 1]), return_inverse=True)
    law = np.bincount(index, np.concatenate([masses * (1 - upper), masses * upper]))
    return places, law.astype(np.float64)


def _tilt(places: Floats, law: Floats, reports: int) -> float:
    """Return θ at which the tilted mean is 0, or where that is next to nothing one that moves little.

    What is found holds at any θ; at these neither the moment nor the length of the transform is large.
    """
    largest = float(np.max(np.abs(places)))
    low, high = 1 / max(math.sqrt(reports * float(law @ places**2)), largest), 600 / largest
    for _ in range(60):
        middle = math.sqrt(low * high)
        mean = float((law * places) @ np.exp(middle * places))
        low, high = (middle, high) if mean < 0 else (low, middle)
    return low


def _half_length(places: Floats, law: Floats, reports: int, tilt: float) -> int:
    """Return how far the transform must reach at each side."""
    tilted = law * np.exp(tilt * places)
    tilted /= tilted.sum()
    mean = float(tilted @ places)
    spread = math.sqrt(reports * float(tilted @ (places - mean) ** 2))
    reach = max(abs(reports * mean) + _FAR * spread + float(np.max(np.abs(places))), _FADED / tilt)
    return math.ceil(min(reach, 2.0**40)) + 1


def _excess(places: Floats, law: Floats, reports: int, tilt: float, half: int) -> float:
    """Return a bound on the mean of the positive part of the sum of the places of `reports` people."""
    excess = float(law @ np.expm1(tilt * places))
    log_moment = math.log1p(excess)
    size = scipy.fft.next_fast_len(2 * half, real=True)
    half = size // 2
    one = np.zeros(size)
    one[places.astype(np.int64) % size] = law * np.exp(tilt * places - log_moment)
    transform = scipy.fft.rfft(one)
    ulps = 8 * _ULP * math.log2(size)
    with np.errstate(divide="ignore"):
        bounds = np.exp((reports - 1) * np.log(np.abs(transform) + ulps))
    sums = scipy.fft.irfft(transform**reports, size)
    weights = np.arange(half) * np.exp(-tilt * np.arange(half))
    error = 2 * reports * ulps * math.sqrt(2 * float(bounds @ bounds) / size)
    beyond = half * math.exp(-tilt * half) if tilt * half >= 1 else math.inf
    inside = max(float(weights @ sums[:half]), 0.0) + float(np.linalg.norm(weights)) * error + beyond
    # the logarithm of the moment, the masses and the power are off by ulps for each report
    return math.exp(reports * log_moment) * inside * math.exp(64 * _ULP * (reports / min(1 + excess, 1.0) + half))
