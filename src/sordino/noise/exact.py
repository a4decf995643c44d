"""The reference: the same laws in integers and fractions, as their papers state them. Readable, slow, and never wrong.

Nothing here is approximated: each function is a finite program over fair bits whose output law is a theorem. The fast
samplers are tested against it. Every function takes the source of its bits.

**Source**: Canonne, Kamath, Steinke, *The discrete Gaussian for differential privacy* (2020), algorithms 1 to 3.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import factorial

from .keystream import BitSource, bits


def uniform(below: int, source: BitSource) -> int:
    """Return an integer uniform on 0, …, below - 1: draw as many bits as it has, and again if they exceed it."""
    size = (below - 1).bit_length()
    while (value := bits(source, size)) >= below:
        pass
    return value


def bernoulli(probability: Fraction, source: BitSource) -> bool:
    """Return True with this probability."""
    return uniform(probability.denominator, source) < probability.numerator


def bernoulli_exp(exponent: Fraction, source: BitSource) -> bool:
    """Return True with probability e^-exponent (algorithm 1).

    For x ≤ 1, toss coins of x/1, x/2, x/3, … until one fails; it is an odd one with probability Σ (-x)^k/k! = e^-x.
    """
    while exponent > 1:
        if not bernoulli_exp(Fraction(1), source):
            return False
        exponent -= 1
    toss = 1
    while bernoulli(exponent / toss, source):
        toss += 1
    return toss % 2 == 1


def geometric(scale: Fraction, source: BitSource) -> int:
    """Return k ≥ 0 with probability ∝ e^(-k/scale)."""
    numerator, denominator = scale.numerator, scale.denominator
    while True:
        offset = uniform(numerator, source)
        if bernoulli_exp(Fraction(offset, numerator), source):
            break
    rounds = 0
    while bernoulli_exp(Fraction(1), source):
        rounds += 1
    return (offset + numerator * rounds) // denominator


def discrete_laplace(scale: Fraction, source: BitSource) -> int:
    """Return k with probability ∝ e^(-|k|/scale) (algorithm 2)."""
    while True:
        size = geometric(scale, source)
        negative = bernoulli(Fraction(1, 2), source)
        if size or not negative:
            return -size if negative else size


def discrete_gaussian(variance: Fraction, source: BitSource) -> int:
    """Return k with probability ∝ e^(-k²/(2·variance)) (algorithm 3)."""
    scale = 1
    while scale * scale <= variance:  # the whole part of σ, plus one
        scale += 1
    while True:
        candidate = discrete_laplace(Fraction(scale), source)
        distance = abs(candidate) - variance / scale
        if bernoulli_exp(distance * distance / (2 * variance), source):
            return candidate


def poisson(rate: Fraction, source: BitSource) -> int:
    """Return a Poisson count: the sum of counts of rate at most one.

    For a rate r ≤ 1, propose k with probability 2**-(k+1) and accept with probability (2r)^k/(2·k!), which is at most
    1.
    """
    parts = -(-rate.numerator // rate.denominator)
    return sum(_small_poisson(rate / parts, source) for _ in range(parts))


def _small_poisson(rate: Fraction, source: BitSource) -> int:
    while True:
        k = 0
        while bits(source, 1):
            k += 1
        if bernoulli((2 * rate) ** k / (2 * factorial(k)), source):
            return k


def binomial(trials: int, probability: Fraction, source: BitSource) -> int:
    """Return the number of heads in `trials` tosses."""
    return sum(bernoulli(probability, source) for _ in range(trials))


def skellam(variance: Fraction, source: BitSource) -> int:
    """Return the difference of two Poisson counts."""
    return poisson(variance / 2, source) - poisson(variance / 2, source)


def truncated_negative_binomial(stopping: Fraction, shape: Fraction, source: BitSource) -> int:
    """Return k ≥ 1 with probability ∝ (1-stopping)^k·Π (l+shape)/(l+1) over 0 ≤ l < k, for a shape up to one.

    Propose a geometric k whole, and accept it with the probability that its product has.
    """
    while True:
        k = 1
        while not bernoulli(stopping, source):
            k += 1
        kept = Fraction(1)
        for step in range(1, k):
            kept *= (step + shape) / (step + 1)
        if bernoulli(kept, source):
            return k


def race(scores: Sequence[int], rate: Fraction, count: int, source: BitSource) -> list[int]:
    """Return `count` indices, each drawn with probability ∝ e^(rate·score) among those left.

    Propose one of those left uniformly and accept it with probability e^(-rate·(best score left - its score)).
    """
    left = list(range(len(scores)))
    drawn: list[int] = []
    while len(drawn) < count:
        best = max(scores[i] for i in left)
        candidate = left[uniform(len(left), source)]
        if bernoulli_exp(rate * (best - scores[candidate]), source):
            drawn.append(candidate)
            left.remove(candidate)
    return drawn


def permutation(size: int, source: BitSource) -> list[int]:
    """Return 0, …, size - 1 in uniformly random order (Fisher and Yates)."""
    order = list(range(size))
    for last in range(size - 1, 0, -1):
        other = uniform(last + 1, source)
        order[last], order[other] = order[other], order[last]
    return order
