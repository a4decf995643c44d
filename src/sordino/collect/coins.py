"""Coins that every language tosses alike: chances are whole multiples of 2⁻⁶⁴, and a coin is one comparison of a word.

**Guarantee**: `odds` is at most e^ε, so whatever is built on it in fractions, and rounded towards privacy, loses no
more than ε. What a device sends is a function of the survey, the value and random words alone (`Replayed`).
"""

from __future__ import annotations

import decimal
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np

from sordino.arguments import rational
from sordino.errors import ArgumentError
from sordino.noise.keystream import BitSource, Words

WORD = 2**64
"""How many words there are: the denominator of every chance."""

MOST_EPSILON = 32
"""Of one report. Beyond it chances of 2⁻⁶⁴ are too coarse, and there is no privacy to speak of."""

LEAST_EPSILON = Fraction(1, 10**6)
"""Of one report: below it an estimate would need more than 10¹² people."""

_DIGITS = 60


def local_epsilon(value: Any) -> Fraction:
    """Return the ε of one report, as an exact number within what coins can keep."""
    return rational("epsilon", value, least=LEAST_EPSILON, most=MOST_EPSILON)


@lru_cache(maxsize=256)
def odds(epsilon: Fraction) -> Fraction:
    """Return a fraction that is at most e^ε, and falls short of it by less than one part in 10⁵⁷.

    Decimal's ``exp`` is correctly rounded, and the quotient before it is rounded down: one digit is taken away for it.
    """
    context = decimal.Context(prec=_DIGITS, rounding=decimal.ROUND_FLOOR)
    exponent = context.divide(decimal.Decimal(epsilon.numerator), decimal.Decimal(epsilon.denominator))
    power = context.exp(exponent)
    return max(Fraction(context.next_minus(power)), Fraction(1))


def at_least(chance: Fraction) -> int:
    """Return the least number of words whose share is at least `chance`."""
    return -(-chance.numerator * WORD // chance.denominator)


def at_most(chance: Fraction) -> int:
    """Return the largest number of words whose share is at most `chance`."""
    return chance.numerator * WORD // chance.denominator


def below(limit: int, source: BitSource) -> int:
    """Return a number uniform on 0 … limit − 1, exactly: a word of the last 2⁶⁴ mod `limit` gives way to the next."""
    while (word := source.word()) >= WORD - WORD % limit:
        pass
    return word % limit


class Replayed:
    """Words that are given, eight bytes each, the lowest first: a source of bits for vectors and other languages."""

    def __init__(self, given: bytes) -> None:
        self._left = np.frombuffer(given, dtype="<u8")

    def word(self) -> int:
        """Return the next word."""
        return int(self.words(1)[0])

    def words(self, count: int) -> Words:
        """Return the next `count` words; refuse if there are too few."""
        if count > len(self._left):
            raise ArgumentError("too few random bytes were given for one report; give more", "SRD-C101")
        found, self._left = self._left[:count], self._left[count:]
        return found.astype(np.uint64)
