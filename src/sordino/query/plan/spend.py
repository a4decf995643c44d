"""What one question may cost by itself, and how exact shares of it are cut."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from sordino.arguments import rational
from sordino.errors import ArgumentError

_FINEST = 10**12


@dataclass(frozen=True)
class Spend:
    """The price of a question: ε, with a δ where one is needed (private keys, Gaussian noise), or ρ with such a δ.

    `gaussian_delta` is the δ at which Gaussian noise may be calibrated to ε (0: only pure noise); `keys_delta` the one
    that partition selection may use.
    """

    epsilon: Fraction | None = None
    rho: Fraction | None = None
    gaussian_delta: Fraction = Fraction(0)
    keys_delta: Fraction = Fraction(0)

    def __post_init__(self) -> None:
        if (self.epsilon is None) == (self.rho is None):
            raise ArgumentError("a question is priced by epsilon or by rho: give one of the two", "SRD-A003")
        for name in ("epsilon", "rho"):
            if getattr(self, name) is not None:
                object.__setattr__(self, name, rational(name, getattr(self, name), above=0, most="1e4"))
        for name in ("gaussian_delta", "keys_delta"):
            object.__setattr__(self, name, rational(name, getattr(self, name), least=0))
            if getattr(self, name) >= 1:
                raise ArgumentError("delta must be below 1: a δ of 1 promises nothing at all", "SRD-A002")

    @property
    def amount(self) -> Fraction:
        """ε or ρ."""
        return self.epsilon if self.epsilon is not None else self.rho  # type: ignore[return-value]

    def part(self, amount: Fraction, *, keys_delta: Fraction | None = None) -> Spend:
        """Return the same with another amount of ε or ρ (and another δ for keys)."""
        delta = self.keys_delta if keys_delta is None else keys_delta
        if self.epsilon is not None:
            return Spend(amount, None, self.gaussian_delta, delta)
        return Spend(None, amount, self.gaussian_delta, delta)


def cut(amount: Fraction, shares: Sequence[float]) -> list[Fraction]:
    """Return exact parts of `amount` in about these proportions, which add up to it exactly; all are above zero.

    Parts are multiples of 10^-12 where the amount is, so that accounts, which count in that unit, round nothing up.
    """
    if len(shares) == 1:
        return [amount]
    whole = math.fsum(shares)
    unit = Fraction(1, _FINEST) if amount * 10**6 >= 1 else amount / _FINEST
    parts = [unit * max(1, math.floor(share / whole * float(amount / unit))) for share in shares]
    largest = max(range(len(parts)), key=lambda place: parts[place])
    parts[largest] += amount - sum(parts)
    return parts


def root_rounded_down(value: Fraction) -> Fraction:
    """Return √value, rounded down to a multiple of 10^-9: from ρ to the ε of a pure part, never too much."""
    return Fraction(math.isqrt(value.numerator * 10**18 // value.denominator), 10**9)
