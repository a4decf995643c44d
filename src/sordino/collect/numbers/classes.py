"""People of public classes answer with the ε that they declare; one estimate for all of them.

Each report says its class. The estimate weighs a report by the inverse of its largest variance, which is known before
anybody answers: so it is unbiased if classes hold alike numbers, and the most that can be made of them. If they do not,
the weights say whose mean it is: `estimate` tells each class by itself, a mean that weighs people alike, and how likely
it is that classes differ as much if they hold alike numbers.

**Guarantee**: for replacing one person's number, the ε of the class that they declare, exactly. The class itself is not
hidden.
**Source**: Jorgensen, Yu, Cormode 2015 (an ε for each person), for the central model; weights: Gauss-Markov.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from sordino.accounting import events
from sordino.accounting.event import Event
from sordino.arguments import whole
from sordino.collect.randomizer import Codes, Counts, Payloads
from sordino.errors import ArgumentError
from sordino.noise.keystream import BitSource

from .estimated import Estimated, people
from .parts import Parts


@dataclass(frozen=True)
class OfClasses:
    """What people of several classes say together and apart."""

    together: Estimated
    """Weighted by inverse variances: of people who hold alike numbers, whatever their class."""
    of_people: Estimated
    """Each person weighs alike: of those who answered, whatever classes hold. Farther off."""
    apart: Mapping[str, Estimated]
    """Each class by itself; one that nobody declared is left out."""
    differ: float
    """The chance that classes differ as much as they do if they hold alike numbers (Cochran's Q)."""

    def in_units(self, low: float, high: float) -> OfClasses:
        """Return shares of a range in the units of its bounds."""
        apart = {name: each.in_units(low, high) for name, each in self.apart.items()}
        return OfClasses(self.together.in_units(low, high), self.of_people.in_units(low, high), apart, self.differ)


@dataclass(frozen=True)
class EpsilonClasses:
    """A way to answer with a number for each class, by its name."""

    names: tuple[str, ...]
    ways: tuple[Any, ...]

    protocol: ClassVar[str] = "epsilon-classes"

    def __post_init__(self) -> None:
        if len(set(self.names)) != len(self.ways) or not all(hasattr(way, "linear") for way in self.ways):
            raise ArgumentError("give each class a name of its own and a way to answer for means", "SRD-C206")

    @cached_property
    def parts(self) -> Parts:
        """The ways in one payload."""
        return Parts(self.ways)

    @property
    def epsilon(self) -> Fraction:
        """The largest of the classes."""
        return max(Fraction(way.epsilon) for way in self.ways)

    @property
    def size(self) -> int:
        """As many bytes as the longest way, and one."""
        return self.parts.size

    def event(self) -> Event:
        """Return what one report costs whom."""
        return events.Personalised(tuple(Fraction(way.epsilon) for way in self.ways))

    def shuffled(self, reports: int, delta: Fraction) -> Event:  # noqa: ARG002  (as all ways have it)
        """Refuse: a report shows its class, so nobody hides among people of another one."""
        raise ArgumentError(
            "reports of several classes gain nothing for each other when they are shuffled, for each shows its class; "
            "ask under local trust, or open a shuffled survey for each class by itself",
            "SRD-C208",
        )

    def public(self) -> Mapping[str, Any]:
        """Return each class, its ε and its way."""
        named = zip(self.names, self.ways, strict=True)
        ways = [{"class": name, "epsilon": str(way.epsilon), **way.public()} for name, way in named]
        return {"protocol": self.protocol, "ways": ways}

    def report(self, value: tuple[int, int], source: BitSource) -> bytes:
        """Return a report for (class, code)."""
        return self.parts.wrapped(value[0], self.ways[value[0]].report(value[1], source))

    def reports(self, values: Codes) -> Payloads:
        """Return payloads for many people: one row of (class, code) each."""
        return self.parts.reports(values[:, 0], [values[:, 1]] * len(self.ways))

    def well_formed(self, payloads: Payloads) -> NDArray[np.bool_]:
        """Tell which a device can have sent."""
        return self.parts.well_formed(payloads)

    def count(self, payloads: Payloads) -> Counts:
        """Return the counts of each class, one after the other."""
        return self.parts.count(payloads)

    def estimate(self, counts: Counts, reports: float) -> OfClasses:  # noqa: ARG002  (counts tell it)
        """Return the mean of all, and what says whether it may be one."""
        own, alike = {}, []
        for name, way, part in zip(self.names, self.ways, self.parts.apart(counts), strict=True):
            if part.any():
                own[name] = way.estimate(part, 0)
                found = way.estimate(part, math.inf)  # of the people whom all classes were drawn from
                alike.append((found, found.reports / way.worst))
        people(len(own))
        total = sum(each.reports for each in own.values())
        people_weights = [each.reports / total for each in own.values()]
        weights = np.array([weight for _, weight in alike])
        together = _combined([found for found, _ in alike], (weights / weights.sum()).tolist())
        return OfClasses(together, _combined(list(own.values()), people_weights), own, _differ([a for a, _ in alike]))

    def error(self, people: int) -> float:
        """Return the largest standard error of the weighted mean, if classes have as many people each."""
        each = whole("people", people, least=1) / len(self.ways)
        weights = np.array([each / way.worst for way in self.ways])
        spread = np.array([way.linear.worst_drawn / each for way in self.ways])
        return float(math.sqrt(np.square(weights / weights.sum()) @ spread))

    def poison(self, people: int, colluding: int) -> float:
        """Return how far so many can move the weighted mean, if they declare the class that counts most."""
        count = whole("people", people, least=1)
        liars = whole("colluding", colluding, least=0, most=count)
        honest = (count - liars) / len(self.ways) * sum(1 / way.worst for way in self.ways)
        if liars == 0:
            return 0.0
        return max(float((way.linear.reach + 0.5) / (1 + honest * way.worst / liars)) for way in self.ways)


def _combined(found: list[Estimated], weights: list[float]) -> Estimated:
    values = sum(weight * each.values for weight, each in zip(weights, found, strict=True))
    spread = sum(np.square(weight * each.standard_errors) for weight, each in zip(weights, found, strict=True))
    return Estimated(np.asarray(values), np.sqrt(np.asarray(spread)), sum(each.reports for each in found))


def _differ(found: list[Estimated]) -> float:
    from scipy.special import chdtrc

    if len(found) == 1:
        return 1.0
    weights = np.array([1 / max(each.standard_error, 1e-300) ** 2 for each in found])
    values = np.array([each.value for each in found])
    middle = weights @ values / weights.sum()
    return float(chdtrc(len(found) - 1, weights @ np.square(values - middle)))
