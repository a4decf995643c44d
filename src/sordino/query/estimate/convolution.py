"""How far a sum of independent noises reaches, by convolution on a grid, with every error on the safe side.

Each noise Xᵢ is moved to the nearest multiple of a step h. The sum of what was moved has a law on the grid, which one
Fourier transform per noise gives to float precision; what the moving can change is bounded and added to the answer:
by n·h/2 for n noises, and by 5·h·√n but for a probability of 2e⁻⁵⁰ (Hoeffding 1963: the n changes are independent,
symmetric and at most h/2). The transform is circular; what lies beyond its half period L is bounded by Chernoff's
inequality and counted as outside. Where all noises live on one coarse grid anyway, h is its step and nothing is moved.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

_FINENESS = 0.003  # of a standard deviation: what step and moving together may add to the answer
_MOST_POINTS = 2**21
_MOST_LATTICE_POINTS = 2**15
_UNSEEN = 1e-3  # of the probability outside, for what lies beyond the period of the transform
_FLOAT_ERROR = 1e-12  # of a sum of probabilities from a transform: some 10⁻¹⁵ in truth
_LEAST_OUTSIDE = 1e-9  # below it Chernoff's inequality alone answers


@dataclass(frozen=True)
class Component:
    """`times` independent copies of one symmetric noise."""

    survival: Callable[[Floats], Floats]
    """P[X > x] for x ≥ 0."""
    log_moment: Callable[[Floats], Floats]
    """An upper bound for ln E[exp(λX)], for 0 < λ < `pole`."""
    variance: float
    pole: float
    times: int = 1


def reach(components: Sequence[Component], outside: float, lattice: float | None = None) -> float:
    """Return t with P[|ΣX| > t] ≤ `outside`: the least one, or one that is larger by a few thousandths.

    `lattice` is a step of which every X is a whole multiple, if there is one.
    """
    if outside < _LEAST_OUTSIDE:
        return chernoff(components, outside)
    beyond = outside * _UNSEEN
    limit = chernoff(components, beyond)
    step, moved = _step(components, limit, lattice)
    points = 2 ** max(3, math.ceil(math.log2(2 * limit / step + 2)))
    inside = _distribution(components, step, points)
    enough = 1 - outside + beyond + _FLOAT_ERROR
    place = int(np.searchsorted(inside, enough))
    return limit if place >= len(inside) else min(limit, place * step + moved)


def chernoff(components: Sequence[Component], outside: float) -> float:
    """Return t with P[|ΣX| > t] ≤ `outside` by the best of many exponential moments. Safe, and some 20 % too wide."""
    deviation = math.sqrt(sum(part.times * part.variance for part in components))
    logarithm = math.log(2 / outside)
    most = min(20 * math.sqrt(2 * logarithm) / deviation, 0.999 * min(part.pole for part in components))
    rates: Floats = most * np.concatenate([np.geomspace(1e-3, 1, 150), np.linspace(0.01, 1, 150)])
    with np.errstate(all="ignore"):
        moments = np.sum([part.times * part.log_moment(rates) for part in components], axis=0)
    return float(np.min((moments + logarithm) / rates))


def _step(components: Sequence[Component], limit: float, lattice: float | None) -> tuple[float, float]:
    """Return the step of the grid and how far the sum can be moved to it."""
    if lattice is not None and limit / lattice <= _MOST_LATTICE_POINTS:
        return lattice, 0.0
    count = sum(part.times for part in components)
    spread = min(count / 2, 5 * math.sqrt(count))
    deviation = math.sqrt(sum(part.times * part.variance for part in components))
    step = max(deviation * _FINENESS / (spread + 1), 2 * limit / (_MOST_POINTS - 2))
    return step, spread * step


def _distribution(components: Sequence[Component], step: float, points: int) -> Floats:
    """Return P[|ΣX| ≤ k·step] on the grid, for k = 0, 1, … What a noise has beyond the period is left out: safe."""
    half = points // 2
    edges: Floats = (np.arange(half, dtype=np.float64) + 0.5) * step
    spectrum = np.ones(half + 1)
    with np.errstate(all="ignore"):  # far out, whatever the caller has set: what under- or overflows is 0
        for part in components:
            masses = _masses(part.survival(edges), points)
            spectrum = spectrum * np.fft.rfft(masses).real ** part.times
    law = np.fft.irfft(spectrum, points)[:half]
    law[1:] *= 2
    return np.cumsum(law)


def _masses(above: Floats, points: int) -> Floats:
    """Return the probabilities of the grid's points 0, 1, … and, from the end, −1, −2, …"""
    half = len(above)
    masses = np.zeros(points)
    masses[0] = 1 - 2 * above[0]
    masses[1:half] = above[:-1] - above[1:]
    masses[half + 1 :] = masses[half - 1 : 0 : -1]
    return masses
