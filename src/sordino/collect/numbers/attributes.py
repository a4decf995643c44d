"""Several numbers of one person, of which the device draws one and answers for it with the whole of ε.

To answer each with its part of ε costs more: the variance grows with the square of 1/ε, the number of people who answer
falls only in proportion.

**Guarantee**: ε for replacing all numbers of one person at once, exactly: which is drawn does not depend on them, and
one report of an ε-private way is all that is sent. ε is the largest of the ways.
**Assumes**: one draw a report. A device that answers again draws again, and pays again.
**Source**: Nguyên et al. 2016; Wang et al. 2019, section 4 (with one attribute a report).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from sordino.accounting import events
from sordino.accounting.event import Event
from sordino.arguments import whole
from sordino.collect.coins import WORD
from sordino.collect.randomizer import Codes, Counts, Payloads
from sordino.noise.keystream import SOURCE, BitSource

from .parts import Parts


@dataclass(frozen=True)
class Attributes:
    """One of several ways, drawn by the device; all alike, but for 2⁻⁵⁶ at most."""

    ways: tuple[Any, ...]

    protocol: ClassVar[str] = "attributes"

    def __post_init__(self) -> None:
        object.__setattr__(self, "ways", tuple(self.ways))
        Parts(self.ways)

    @cached_property
    def parts(self) -> Parts:
        """The ways in one payload."""
        return Parts(self.ways)

    @property
    def epsilon(self) -> Fraction:
        """The largest of the ways."""
        return max(Fraction(way.epsilon) for way in self.ways)

    @property
    def size(self) -> int:
        """As many bytes as the longest way, and one."""
        return self.parts.size

    @property
    def _words(self) -> int:
        return -(-WORD // len(self.ways))

    def event(self) -> Event:
        """Return what one report costs."""
        return events.Pure(self.epsilon)

    def shuffled(self, reports: int, delta: Fraction) -> Event:
        """Return shuffled reports of any randomizer with this ε."""
        return events.ShuffledLocal(self.epsilon, reports, delta)

    def public(self) -> Mapping[str, Any]:
        """Return each way."""
        return {"protocol": self.protocol, "ways": [dict(way.public()) for way in self.ways]}

    def report(self, value: Sequence[int], source: BitSource) -> bytes:
        """Return a report for one of the codes: the first word says which, the others answer."""
        which = min(source.word() // self._words, len(self.ways) - 1) if len(self.ways) > 1 else 0
        return self.parts.wrapped(which, self.ways[which].report(value[which], source))

    def reports(self, values: Codes) -> Payloads:
        """Return payloads for many people: one row of codes each."""
        words = SOURCE.words(len(values)) // np.uint64(min(self._words, WORD - 1))
        which = np.minimum(words.astype(np.int64), len(self.ways) - 1)
        return self.parts.reports(which, [values[:, number] for number in range(len(self.ways))])

    def well_formed(self, payloads: Payloads) -> NDArray[np.bool_]:
        """Tell which a device can have sent."""
        return self.parts.well_formed(payloads)

    def count(self, payloads: Payloads) -> Counts:
        """Return the counts of each way, one after the other."""
        return self.parts.count(payloads)

    def estimate(self, counts: Counts, reports: float) -> tuple[Any, ...]:
        """Return what each way's reports say about all `reports` people, of whom it heard a part."""
        return tuple(way.estimate(part, reports) for way, part in zip(self.ways, self.parts.apart(counts), strict=True))

    def error(self, people: int) -> tuple[float, ...]:
        """Return the largest standard error of each mean, with who was drawn for it."""
        each = whole("people", people, least=1) / len(self.ways)
        return tuple(math.sqrt(way.linear.worst_drawn / each) for way in self.ways)

    def poison(self, people: int, colluding: int) -> tuple[float, ...]:
        """Return how far so many can move each mean: they need not draw, and may all answer for the same number."""
        count = whole("people", people, least=1)
        liars = whole("colluding", colluding, least=0, most=count)
        weight = liars / ((count - liars) / len(self.ways) + liars)
        return tuple(weight * (way.linear.reach + 0.5) for way in self.ways)
