"""The kinds of values that a question can speak about, and the ranges that they are known to lie in."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from fractions import Fraction

from sordino.arguments import Number, rational
from sordino.errors import ArgumentError


class Kind(Enum):
    """What a value is. Engines' many types are read as one of these; any other column cannot be asked about."""

    BOOLEAN = "boolean"
    INTEGER = "integer"
    REAL = "real"
    TEXT = "text"
    DATE = "date"
    TIMESTAMP = "timestamp"

    @property
    def is_number(self) -> bool:
        """Whether arithmetic is defined on it."""
        return self in (Kind.INTEGER, Kind.REAL)

    @property
    def can_be_key(self) -> bool:
        """Whether rows may be grouped by it. Reals may not: what looks equal may differ in the last bit."""
        return self is not Kind.REAL


@dataclass(frozen=True)
class Range:
    """A closed interval of numbers that values are clipped to. It is a promise of ours, never a trust in the data."""

    low: Fraction
    high: Fraction

    def __post_init__(self) -> None:
        low, high = rational("low", self.low), rational("high", self.high)
        if not low <= high:
            raise ArgumentError(f"low ({self.low}) must not be above high ({self.high})", "SRD-A003")
        object.__setattr__(self, "low", low)
        object.__setattr__(self, "high", high)

    @classmethod
    def of(cls, low: Number, high: Number) -> Range:
        """Return the range of the decimals as written."""
        return cls(rational("low", low), rational("high", high))

    @property
    def middle(self) -> Fraction:
        """The centre."""
        return (self.low + self.high) / 2

    @property
    def half(self) -> Fraction:
        """Half of the width."""
        return (self.high - self.low) / 2

    @property
    def reach(self) -> Fraction:
        """The largest distance from zero."""
        return max(abs(self.low), abs(self.high))
