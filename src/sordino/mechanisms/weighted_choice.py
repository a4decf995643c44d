"""One choice among weighted items, exactly: the weights are whole numbers times exponentials of scores.

**Guarantee**: index i comes out with probability ∝ counts[i]·exp(rate·scores[i]), exactly.
**Proof.** Let t_i be whole numbers with exp(u·t_i) ≥ counts[i], where u = rate/parts. Index i is proposed with
probability ∝ exp(u·(parts·scores[i] + t_i)) and accepted with probability counts[i]·exp(−u·t_i) ≤ 1; the product is
∝ counts[i]·exp(rate·scores[i]), and starting over on a rejection does not change ratios. The coin compares a uniform
number, bit by bit, with ever tighter enclosures of its probability, so it is exact. As u ≤ 1/8 and t_i exceeds its
least value by two at most, more than three proposals in four are accepted.
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from sordino import noise
from sordino.errors import ArgumentError
from sordino.noise.enclosure import exp_negative

_FINEST = Fraction(1, 8)
_BITS = 62


def choose_weighted(scores: NDArray[np.int64], counts: NDArray[np.int64], rate: Fraction) -> int:
    """Return an index, drawn with probability ∝ counts[i]·exp(rate·scores[i]); counts are positive, below 2^62."""
    parts = math.ceil(rate / _FINEST)
    unit = rate / parts
    # The slack of 2^-40 and the added one cover the rounding of floats: a t_i too large costs time, never exactness.
    lifts = np.ceil(np.log(counts.astype(np.float64)) * (float(1 / unit) * (1 + 2.0**-40))).astype(np.int64) + 1
    # Scores too far below the best to be told from it in int64 are raised: that moves none by more than the best moves.
    lowest = int(scores.max()) - (2**62 - 1 - _most_lift(unit)) // parts
    proposal = (np.maximum(scores, lowest) - scores.max()) * parts + lifts
    while True:
        index = noise.choose(proposal, unit)
        if exponential_coin(int(counts[index]), unit * int(lifts[index])):
            return index


def _most_lift(unit: Fraction) -> int:
    """Return how large a lift can be, for as many counts as there may be; refuse what is public and leaves int64."""
    most = math.ceil(62 * math.log(2) * (float(1 / unit) * (1 + 2.0**-40))) + 1
    if most >= 2**61:
        raise ArgumentError("this choice leaves int64; take a larger epsilon or a coarser grid", "SRD-A002")
    return most


def exponential_coin(count: int, exponent: Fraction) -> bool:
    """Return True with probability count·exp(−exponent), which must not exceed one, exactly."""
    uniform, bits = 0, 0
    while True:
        uniform, bits = (uniform << _BITS) | noise.uniform(2**_BITS), bits + _BITS
        finer = count.bit_length()
        low, high = exp_negative(exponent.numerator, exponent.denominator, bits + finer)
        if (uniform + 1) << finer <= low * count:
            return True
        if uniform << finer >= high * count:
            return False
