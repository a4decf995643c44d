"""The three coins of RAPPOR: the best ones for two ε, and the ε of coins that are given.

With both floors together a bit is 1 with the chance q* where the filter has a 1, and p* elsewhere. Most bits are 0 in
most filters, so estimates are best where p*(1 − p*)/(q* − p*)² is smallest: at q* = ½, p* = 1/(e^(ε₁/h) + 1), if there
is a p ≥ 0 for it; else with p = 0. In words: q* and p* grow with p, and one report's loss falls with it as long as
p* < q* ≤ ½; so q is rounded first and p is taken up word by word until the loss is within ε₁, in fractions.
"""

from __future__ import annotations

import decimal
import math
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any

from sordino.arguments import rational
from sordino.collect.coins import WORD, at_least, odds
from sordino.errors import ArgumentError

_DIGITS = 40


@dataclass(frozen=True)
class RapporCoins:
    """Of 2⁶⁴ words: `flip` turn a permanent bit over, `one` and `zero` report a 1 for a permanent 1 and 0."""

    flip: int
    zero: int
    one: int

    def __post_init__(self) -> None:
        if not (1 <= self.flip < WORD // 2 and 0 <= self.zero < self.one < WORD):
            raise ArgumentError("RAPPOR's coins must keep 0 < f < 1 and 0 ≤ p < q < 1", "SRD-C152")

    @property
    def f(self) -> Fraction:
        """The paper's f: a permanent bit is random with this chance, so turned over with half of it."""
        return Fraction(2 * self.flip, WORD)

    @property
    def p(self) -> Fraction:
        """The paper's p: a 1 is reported for a permanent 0."""
        return Fraction(self.zero, WORD)

    @property
    def q(self) -> Fraction:
        """The paper's q: a 1 is reported for a permanent 1."""
        return Fraction(self.one, WORD)

    @property
    def own(self) -> Fraction:
        """The paper's q*: a 1 is reported for a 1 of the filter."""
        return (1 - self.f / 2) * self.q + self.f / 2 * self.p

    @property
    def other(self) -> Fraction:
        """The paper's p*: a 1 is reported for a 0 of the filter."""
        return self.f / 2 * self.q + (1 - self.f / 2) * self.p

    def ratios(self) -> tuple[Fraction, Fraction]:
        """Return how much one permanent bit tells, and two bits (one each way) of one report."""
        return (2 - self.f) / self.f, self.own * (1 - self.other) / (self.other * (1 - self.own))


def coins_of(f: Any, p: Any, q: Any) -> RapporCoins:
    """Return the coins of the paper's parameters, to 2⁻⁶⁴."""
    chances = [rational(name, each, least=0, most=1) for name, each in (("f", f), ("p", p), ("q", q))]
    return RapporCoins(at_least(chances[0] / 2), at_least(chances[1]), math.floor(chances[2] * WORD))


@lru_cache(maxsize=256)
def best_coins(longitudinal: Fraction, epsilon: Fraction, hashes: int) -> RapporCoins:
    """Return the coins with the smallest variance that keep both ε."""
    flip = at_least(1 / (1 + odds(longitudinal / (2 * hashes))))
    power, turned = odds(epsilon / hashes), Fraction(flip, WORD)
    own, other = Fraction(1, 2), 1 / (power + 1)
    contrast = (own - other) / (1 - 2 * turned)
    zero = other - turned * contrast
    one = zero + contrast
    if zero < 0:
        zero = Fraction(0)
        one = (power * turned - (1 - turned)) / (turned * (1 - turned) * (power - 1))
    found = RapporCoins(flip, at_least(zero), min(math.floor(one * WORD), WORD - 1))
    while found.ratios()[1] > power:
        found = RapporCoins(flip, found.zero + 1, found.one)
    return found


def epsilon_of(ratio: Fraction, times: int) -> Fraction:
    """Return `times`·ln(ratio), rounded up in the twelfth digit; `odds` of it is at least the ratio's power."""
    context = decimal.Context(prec=_DIGITS)
    quotient = context.divide(decimal.Decimal(ratio.numerator), decimal.Decimal(ratio.denominator))
    return Fraction(math.floor(Fraction(context.ln(quotient)) * times * 10**12) + 1, 10**12)
