"""Buffered linear Toeplitz noise (BLT): a column of a few exponentials, all but the square root's, without a history.

The column is cₜ = Σᵢ ωᵢ·θᵢᵗ with ωᵢ > 0 and 0 < θᵢ < 1: positive and decreasing. It is fitted to the coefficients of
(1 − x)^−½, the square root of summation, whose largest error is the best of all Toeplitz strategies up to lower terms.
With decays that are evenly apart on a logarithmic scale, and weights by least squares of the relative error, 8 buffers
add 0.2 % to the largest error of 10⁶ steps, fewer steps less.

**Decoding**: c(x) = Σ ωᵢ/(1 − θᵢx) has a pole at each 1/θᵢ and, as all weights are positive, one zero between any two
neighbours; so 1/((1 − x)·c(x)) = h* + Σⱼ κⱼ/(1 − ζⱼx) with as many poles: 1 and one ζ between any two neighbouring θ,
all κ positive. Totals are sums of that many exponential averages of what was released: post-processing.
**Source**: McMahan, Xu, Zhang 2024, *A hassle-free algorithm for strong differential privacy in federated learning
systems*; Dvijotham, McMahan, Pillutla, Steinke, Thakurta 2024, *Efficient and near-optimal noise generation for
streaming differential privacy*; Fichtenberger, Henzinger, Upadhyay 2023 (the square root).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

import numpy as np

from sordino.arguments import whole
from sordino.errors import ArgumentError

from .people import MOST_STEPS
from .strategy import Real

_SLOWEST, _FASTEST = 0.6, 0.8
"""1 − θ goes from 0.6 over the horizon to 0.8: the best of what was tried for 10² to 10⁶ steps."""


@dataclass(frozen=True)
class Exponentials:
    """c as weights ω and decays θ, the slowest first; build it with `fitted`."""

    decays: tuple[float, ...]
    weights: tuple[float, ...]

    def __post_init__(self) -> None:
        if not self.decays or len(self.decays) != len(self.weights):
            raise ArgumentError("a buffer needs a decay and a weight", "SRD-A003")
        if any(not 0 < each < 1 for each in self.decays) or any(not 0 < each < 2**20 for each in self.weights):
            raise ArgumentError("decays must be between 0 and 1, and weights positive", "SRD-A002")
        if list(self.decays) != sorted(set(self.decays), reverse=True):
            raise ArgumentError("decays must differ, the slowest first", "SRD-A003")

    def column(self, steps: int) -> Real:
        """Return c₀, c₁, …"""
        return _series(self.decays, self.weights, steps)

    def response(self, steps: int) -> Real:
        """Return h, the series of 1/((1 − x)·c(x))."""
        first, poles, residues = self.inverse()
        found = _series(poles, residues, steps)
        found[0] += first
        return found

    def inverse(self) -> tuple[float, tuple[float, ...], tuple[float, ...]]:
        """Return h*, the poles ζ and their κ."""
        return _inverse(self)


@lru_cache(maxsize=64)
def fitted(steps: int, buffers: int) -> Exponentials:
    """Return the exponentials that are closest to the square root of summation over so many steps.

    >>> len(fitted(1000, 4).decays)
    4
    """
    from scipy.optimize import nnls

    horizon = whole("steps", steps, least=2, most=MOST_STEPS)
    count = whole("buffers", buffers, least=1, most=64)
    root = square_root(horizon)
    places = np.unique(np.round(np.geomspace(1, horizon, 1500)).astype(np.int64)) - 1
    gaps = np.geomspace(min(_SLOWEST / horizon, _FASTEST / 2), _FASTEST, count)
    decays = 1.0 - gaps
    relative = np.exp(np.log(decays)[None, :] * places[:, None]) / root[places, None]
    weights, _ = nnls(relative, np.ones(len(places)))
    kept = [(float(decay), float(weight)) for decay, weight in zip(decays, weights, strict=True) if weight > 1e-12]
    return Exponentials(*map(tuple, zip(*kept, strict=True)))


def square_root(steps: int) -> Real:
    """Return the coefficients of (1 − x)^−½.

    >>> square_root(4).tolist()
    [1.0, 0.5, 0.375, 0.3125]
    """
    place = np.arange(1, steps, dtype=np.float64)
    return np.concatenate([[1.0], np.cumprod((2 * place - 1) / (2 * place))])


def _series(decays: tuple[float, ...], weights: tuple[float, ...], steps: int) -> Real:
    found = np.zeros(steps)
    place = np.arange(steps, dtype=np.float64)
    for decay, weight in zip(decays, weights, strict=True):
        found += weight * np.exp(math.log(decay) * place)
    return found


@lru_cache(maxsize=64)
def _inverse(given: Exponentials) -> tuple[float, tuple[float, ...], tuple[float, ...]]:
    """Return the partial fractions, found in 1 − θ, where neighbours near 1 are far apart."""
    gaps, weights = 1.0 - np.array(given.decays), np.array(given.weights)
    poles, residues = [1.0], [1.0 / float(np.sum(weights / gaps))]
    for low, high in pairwise(gaps):
        gap = _zero(gaps, weights, float(low), float(high))
        pole = 1.0 - gap
        slope = float(np.sum(weights * (1.0 - gaps) / np.square((gaps - gap) / pole)))  # c′ at 1/ζ
        poles.append(pole)
        residues.append(pole**2 / (gap * slope))
    return 1.0 / float(np.sum(weights)) - sum(residues), tuple(poles), tuple(residues)


def _zero(gaps: Real, weights: Real, low: float, high: float) -> float:
    """Return where Σ ω/(gap − x) = 0 between two poles, by halving: it grows from −∞ to ∞ there."""
    below, above = low, high
    for _ in range(200):
        middle = (below + above) / 2
        if not below < middle < above:
            break
        rising = float(np.sum(weights / (gaps - middle))) > 0
        below, above = (below, middle) if rising else (middle, above)
    return (below + above) / 2
