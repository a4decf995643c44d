"""The dominating pairs of random allocation: the likelihood ratio is a mean of t independent ones, by convolution.

One step's ratio L = exp(√c·z − c/2) is first spread to multiples of a width h: what lies between two of them goes to
both, so that neither P nor Q of the cell changes. The spread pair dominates the step's (the step is made from it by a
function of the outcome), and where each step is made from a pair that dominates it, so is the run (``allocated.py``).
Then A = (L₁ + … + L_t)/t lies on multiples of h/t; its law under Q is a power of one transform, and under P, where one
step has its unit, that power but one times another. Widths are chosen so that spreading adds next to nothing to the
variance of L.

What is left out counts as a loss of +∞: the unit's ratio beyond the largest multiple, sums beyond the end of the
transform (bounded by Chernoff's inequality), and what rounding can move: the transform of Q is off by ulps times ‖q‖₂,
its power by t times that and |F|^{t−2}, and a law by no more in all than its transform in the 2-norm.
**Source**: Feldman, Shenfeld 2025; Chua et al. 2024 (the pair); Doroshenko et al. 2022 (connecting the dots).
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np
import scipy

from sordino.errors import UnsupportedError

from .curve import Floats
from .pair import Atoms, gaussian_pair

_FAR = 8.3  # deviations; further out lies 1e-16
_FINE = 0.04  # the width, in deviations of L
_LONGEST = 2**24
_ULPS = 16 * 2.0**-53  # of the transforms and their power
_LEAST = 1e-17  # a mass that is less is rounding of the transform


@lru_cache(maxsize=8)
def allocated_pairs(square: float, steps: int) -> tuple[Atoms, Atoms]:
    """Return the pairs of removal and addition, for a squared ratio c of sensitivity and noise."""
    width = _FINE * math.sqrt(math.expm1(min(square, 40.0)))
    count = math.ceil(math.exp(min(math.sqrt(square) * _FAR + square / 2, 700.0)) / width) + 1
    length = 2 * count + math.ceil(2 * steps / width) + 64
    if length > _LONGEST:
        raise UnsupportedError(
            "a privacy loss distribution of random allocation is computed for noise of at least about 0.7 of "
            "the sensitivity and up to some 100,000 steps; price it by Rényi, or describe each epoch as one step in "
            "which everybody takes part",
            "SRD-C017",
        )
    p, q = _spread(square, width, count)
    size = scipy.fft.next_fast_len(length, real=True)
    one = scipy.fft.rfft(q, size)
    others = one ** (steps - 1)
    present = scipy.fft.irfft(others * scipy.fft.rfft(p, size), size)
    absent = scipy.fft.irfft(others * one, size)
    energy = math.sqrt(2 * float(np.sum(np.abs(one) ** (2 * max(steps - 2, 0)))))
    rounding = _ULPS * steps * math.log2(size) * float(np.linalg.norm(q)) * energy
    return _atoms(present, absent, width / steps, _beyond(p, q, size, steps) + rounding)


def _spread(square: float, width: float, count: int) -> tuple[Floats, Floats]:
    """Return P and Q of the multiples 0, h, 2h, … of one step; P of what is beyond the last is missing."""
    multiples = np.arange(count + 1) * width
    with np.errstate(divide="ignore"):
        edges = np.log(multiples[1:-1])
    inside_p, inside_q = gaussian_pair(math.sqrt(square)).masses(edges)
    p, q = inside_p[:-1], inside_q[:-1]
    upper = np.clip((p - multiples[:-2] * q) / width, 0.0, q)
    spread = np.zeros(count)
    spread[:-1] += q - upper
    spread[1:] += upper
    spread[-1] += inside_q[-1]
    return multiples[:-1] * spread, spread


def _beyond(p: Floats, q: Floats, size: int, steps: int) -> float:
    """Return a bound on the chance that the sum S passes the end N, with the unit or without: E[e^{θS}]/e^{θN}."""
    places = np.arange(len(p))
    best = 0.0
    for rate in np.geomspace(1, 60, 40) / len(p):
        log_q = float(np.logaddexp.reduce(np.log(np.maximum(q, 1e-300)) + rate * places))
        log_p = float(np.logaddexp.reduce(np.log(np.maximum(p, 1e-300)) + rate * places))
        best = min(best, max(log_p, log_q) + (steps - 1) * log_q - rate * size)
    return 2 * math.exp(best)


def _atoms(present: Floats, absent: Floats, width: float, lost: float) -> tuple[Atoms, Atoms]:
    """Return both pairs from the laws of A: of each the law that comes first, and the other by the ratio.

    Whatever of the first is missing, or may be somewhere else, has a loss of +∞.
    """
    ratios = np.arange(len(present)) * width
    with np.errstate(divide="ignore"):
        losses = np.log(ratios)
    found = []
    for law, sign in ((present, 1), (absent, -1)):
        kept = law > _LEAST
        first, loss = law[kept], sign * losses[kept]
        with np.errstate(divide="ignore"):
            second = first * ratios[kept] ** -sign
        order = np.argsort(loss, kind="stable")
        missing = max(1 - math.fsum(first), 0.0) + lost
        found.append(
            Atoms(np.append(loss[order], np.inf), np.append(first[order], missing), np.append(second[order], 0.0))
        )
    removal, addition = found
    return removal, addition
