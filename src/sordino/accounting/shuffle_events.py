"""The event types of shuffled reports whose randomizer is known.

Here for the length of a file alone: `sordino.accounting.events` has them all. See ``shuffled_reports.py``.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from sordino.arguments import rational, whole
from sordino.errors import ArgumentError

from .event import Event, event_type
from .event_fields import Positive, Probability, Several

MOST_REPORTS = 10**12
_LEAST = Fraction(1, 10**20)  # of a coin, of its other side and of what two coins differ by


@event_type("shuffled-local")
@dataclass(frozen=True)
class ShuffledLocal(Event):
    """`reports` people's reports by one ε₀-private randomizer, whichever, seen only in random order (replace-one).

    What `Shuffled` describes, with a price that was proven later; the events of records keep theirs.
    """

    epsilon: Positive
    reports: Several
    delta: Probability

    def __post_init__(self) -> None:
        super().__post_init__()
        whole("reports", self.reports, most=MOST_REPORTS)


@event_type("shuffled-response")
@dataclass(frozen=True)
class ShuffledResponse(Event):
    """`reports` people's randomized responses over `categories` values, seen only in random order (replace-one).

    Each tells the truth with probability e^ε₀/(e^ε₀+k−1) or less, else one of the k−1 other values, all alike.
    """

    epsilon: Positive
    categories: Several
    reports: Several
    delta: Probability

    def __post_init__(self) -> None:
        super().__post_init__()
        whole("reports", self.reports, most=MOST_REPORTS)
        whole("categories", self.categories, most=MOST_REPORTS)


@event_type("shuffled-unary")
@dataclass(frozen=True)
class ShuffledUnary(Event):
    """`reports` people's unary reports, seen only in random order (replace-one).

    Everyone holds one value and sends a bit for each value that there is: for the one held it is 1 with probability
    `own`, for each other with probability `other`, all independent. With own = 1 − other it is the symmetric encoding,
    with own = ½ the optimised one.
    """

    own: Fraction
    other: Fraction
    reports: Several
    delta: Probability

    def __post_init__(self) -> None:
        super().__post_init__()
        whole("reports", self.reports, most=MOST_REPORTS)
        for name in ("own", "other"):
            exact = rational(name, getattr(self, name), least=_LEAST, most=1 - _LEAST)
            object.__setattr__(self, name, exact)
        if self.own - self.other < _LEAST:
            raise ArgumentError("own must be greater than other, by 1e-20 at least", "SRD-A002")
