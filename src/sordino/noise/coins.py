"""Uniform integers and coins, exactly: rational coins, coins of e^-x, logistic coins.

Every coin compares a uniform real U, of which 64 bits are drawn, with a probability p that is known as an enclosure.
Where the bits and the enclosure decide U < p, they decide as infinitely many bits would; the others (one in 2**63, or
one in 2**39 where p is a float) reveal more bits of U and narrow p until they are decided, which happens with
probability one.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sordino.arguments import Number, numbers, rational, shape, whole
from sordino.errors import ArgumentError

from .enclosure import Enclosure, exp_negative
from .keystream import SOURCE, BitSource
from .law import Shape
from .partition import Unfolding

_FAST_BITS = 64
_MARGIN = 2.0**-40
LARGEST_RATE = 2**64  # beyond it a difference of one in a score decides everything; and floats would overflow

Probability = Callable[[int], Enclosure]
"""A probability, as the function that encloses it at a number of bits."""


@overload
def uniform(below: int) -> int: ...


@overload
def uniform(below: int, size: None) -> int: ...


@overload
def uniform(below: int, size: Shape) -> NDArray[np.int64]: ...


def uniform(below: int, size: Shape | None = None) -> int | NDArray[np.int64]:
    """Return an integer, or an int64 array of integers, uniform on 0, …, below - 1; `below` is at most 2**63."""
    limit = whole("below", below, least=1, most=2**63)
    if size is None:
        return _uniform_one(limit, SOURCE)
    sizes = shape("size", size)
    return _uniform(limit, math.prod(sizes), SOURCE).reshape(sizes)


def _uniform_one(below: int, source: BitSource) -> int:
    usable = 2**64 - 2**64 % below
    while (word := source.word()) >= usable:
        pass
    return word % below


def _uniform(below: int, count: int, source: BitSource) -> NDArray[np.int64]:
    """Words below the largest multiple of `below` leave uniform remainders; the other words are drawn again."""
    words = source.words(count)
    spare = 2**64 % below
    if spare:
        largest = np.uint64(2**64 - spare - 1)
        while len(again := np.flatnonzero(words > largest)):
            words[again] = source.words(len(again))
    return (words % np.uint64(below)).view(np.int64)


@overload
def bernoulli(probability: Number) -> bool: ...


@overload
def bernoulli(probability: Number, size: None) -> bool: ...


@overload
def bernoulli(probability: Number, size: Shape) -> NDArray[np.bool_]: ...


def bernoulli(probability: Number, size: Shape | None = None) -> bool | NDArray[np.bool_]:
    """Return a coin, or an array of independent coins, each True with exactly this probability (from 0 to 1)."""
    chance = rational("probability", probability, least=0, most=1)

    def enclosed(bits: int) -> Enclosure:
        scaled = chance.numerator << bits
        return scaled // chance.denominator, -(-scaled // chance.denominator)

    return _shaped(enclosed, size)


@overload
def logistic(epsilon: Number, others: int = 1) -> bool: ...


@overload
def logistic(epsilon: Number, others: int, size: None) -> bool: ...


@overload
def logistic(epsilon: Number, others: int = 1, *, size: Shape) -> NDArray[np.bool_]: ...


@overload
def logistic(epsilon: Number, others: int, size: Shape) -> NDArray[np.bool_]: ...


def logistic(epsilon: Number, others: int = 1, size: Shape | None = None) -> bool | NDArray[np.bool_]:
    """Return a coin, or an array of coins, each True with probability e^ε/(e^ε + others), exactly; ε is at least 0."""
    exponent = rational("epsilon", epsilon, least=0)
    rivals = whole("others", others, least=1, most=2**63)

    def enclosed(bits: int) -> Enclosure:
        low, high = exp_negative(exponent.numerator, exponent.denominator, bits)  # p = 1/(1 + others·e^-ε)
        one = 1 << bits
        return (one << bits) // (one + rivals * high), -(-(one << bits) // (one + rivals * low))

    return _shaped(enclosed, size)


def _shaped(chance: Probability, size: Shape | None) -> bool | NDArray[np.bool_]:
    if size is None:
        return _below(chance, Unfolding(SOURCE.word(), _FAST_BITS, SOURCE))
    sizes = shape("size", size)
    return _coins(chance, math.prod(sizes), SOURCE).reshape(sizes)


def _coins(chance: Probability, count: int, source: BitSource) -> NDArray[np.bool_]:
    """Toss `count` coins of one probability."""
    low, high = chance(_FAST_BITS)
    words = source.words(count)
    # U < p is certain where word + 1 ≤ low, and U ≥ p where word ≥ high; the limits are shifted to fit into 64 bits.
    heads = words <= np.uint64(max(low - 1, 0)) if low else np.zeros(count, dtype=np.bool_)
    unsure = ~heads & (words <= np.uint64(min(high, 2**64) - 1)) if high else np.zeros(count, dtype=np.bool_)
    for place in np.flatnonzero(unsure).tolist():
        heads[place] = _below(chance, Unfolding(int(words[place]), _FAST_BITS, source))
    return heads


def _below(chance: Probability, u: Unfolding) -> bool:
    """Tell whether the uniform real is below the probability. Exact."""
    bits = _FAST_BITS
    while True:
        low, high = chance(bits)
        prefix = u.first(bits)
        if prefix < low:
            return True
        if prefix >= high:
            return False
        bits *= 2


def flip(exponents: ArrayLike, rate: Number = 1) -> NDArray[np.bool_]:
    """Return one coin per exponent, True with probability e^(-rate·exponent), exactly.

    Args:
        exponents: nonnegative integers that fit into int64, in any shape.
        rate: a nonnegative exact number, at most 2**64.
    """
    powers = integers("exponents", exponents)
    if powers.size and int(powers.min()) < 0:
        raise ArgumentError("exponents must not be negative; e^-x is a probability only for x ≥ 0", "SRD-A002")
    return _flip(powers.ravel(), rational("rate", rate, least=0, most=LARGEST_RATE), SOURCE).reshape(powers.shape)


def _flip(exponents: NDArray[np.int64], rate: Fraction, source: BitSource) -> NDArray[np.bool_]:
    """Compare in float64 where that is certain.

    With x = rate·exponent, float x is off by a factor 1 ± 2**-51 and so e^-x by at most x·e^-x·2**-51 < 2**-52, and by
    2**-45 for ``exp`` itself; U is off by 2**-53. That is less than the margin of 2**-40.
    """
    words = source.words(len(exponents))
    with np.errstate(under="ignore"):  # the caller's setting must not turn an exponent into an exception
        chance = np.exp(exponents * -float(rate))
    u = words.astype(np.float64) * 2.0**-64
    heads: NDArray[np.bool_] = u < chance
    for place in np.flatnonzero(np.abs(u - chance) <= _MARGIN).tolist():
        heads[place] = _flip_exactly(int(exponents[place]) * rate, int(words[place]), source)
    return heads


def _flip_exactly(x: Fraction, word: int, source: BitSource) -> bool:
    def enclosed(bits: int) -> Enclosure:
        return exp_negative(x.numerator, x.denominator, bits) if x else (1 << bits, 1 << bits)

    return _below(enclosed, Unfolding(word, _FAST_BITS, source))


def integers(name: str, value: Any) -> NDArray[np.int64]:
    """Return `value` as an int64 array if it holds whole numbers only."""
    found = numbers(name, value, "iu")
    if found.dtype == np.uint64 and found.size and int(found.max()) > np.iinfo(np.int64).max:
        raise ArgumentError(f"{name} must fit into int64; use a coarser grid", "SRD-A002")
    return found.astype(np.int64)
