"""A policy: public classes of units, each with an ε of its own.

*Personalised* privacy lets each person name an ε; *heterogeneous* privacy sets it by rule: by kind of data, by
contract, by country. For the mechanisms they are one thing: every unit belongs to a class, the classes and who belongs
to which are public, and what is promised to a unit is the ε of its class.

**The classes must not depend on the data that they protect.** If people with something to hide choose a small ε, the
class tells; then the class is data, and this is the wrong tool.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sordino.accounting import events
from sordino.arguments import Number, array, rational, shown
from sordino.errors import ArgumentError

LARGEST_EPSILON = 1000


@dataclass(frozen=True)
class Classes:
    """The ε of each class, by name.

    >>> Classes.of({"minors": 0.1, "adults": 1}).epsilon("minors")
    Fraction(1, 10)
    """

    classes: tuple[tuple[str, Fraction], ...]

    def __post_init__(self) -> None:
        if not isinstance(self.classes, tuple) or not self.classes:
            raise ArgumentError("a policy names at least one class; build it with Classes.of({name: ε})", "SRD-A001")
        read = tuple((_name(name), _epsilon(name, epsilon)) for name, epsilon in self.classes)
        if len({name for name, _ in read}) != len(read):
            raise ArgumentError("a policy names each class once", "SRD-A003")
        object.__setattr__(self, "classes", read)

    @classmethod
    def of(cls, epsilons: Mapping[str, Number]) -> Classes:
        """Return the policy that gives each named class its ε."""
        if not isinstance(epsilons, Mapping):
            raise ArgumentError(f"epsilons must map class names to ε, not {type(epsilons).__name__}", "SRD-A001")
        return cls(tuple((name, _epsilon(name, value)) for name, value in epsilons.items()))

    @property
    def epsilons(self) -> tuple[Fraction, ...]:
        """The ε of each class, in the order of `classes`."""
        return tuple(epsilon for _, epsilon in self.classes)

    def epsilon(self, name: str) -> Fraction:
        """Return the ε of the class `name`."""
        for known, epsilon in self.classes:
            if known == name:
                return epsilon
        raise ArgumentError(f"the policy has no class {shown(name)}; it has {self._names()}", "SRD-A003")

    def capped(self, most: Fraction) -> Classes:
        """Return the policy in which no class has more than `most`."""
        return Classes(tuple((name, min(epsilon, most)) for name, epsilon in self.classes))

    def event(self) -> events.Personalised:
        """Return a release that keeps this policy; a budget is charged the highest ε in it."""
        return events.Personalised(self.epsilons)

    def places(self, classes: Any) -> NDArray[np.intp]:
        """Return for each unit the place of its class in `classes` of the policy.

        A unit whose class the policy does not have is as careful as its most careful one: to refuse would tell of it.
        """
        names = array("classes", classes)
        if names.ndim != 1 or (names.size > 0 and names.dtype.kind != "U"):
            raise ArgumentError("classes must be a one-dimensional list of class names, one for each unit", "SRD-A001")
        if names.size == 0:
            return np.zeros(0, dtype=np.intp)
        known = np.array([name for name, _ in self.classes])
        order = np.argsort(known)
        found = order[np.minimum(np.searchsorted(known, names.astype(known.dtype), sorter=order), known.size - 1)]
        careful = min(range(known.size), key=lambda place: self.classes[place][1])
        return np.asarray(np.where(known[found] == names, found, careful), dtype=np.intp)

    def _names(self) -> str:
        return ", ".join(shown(name) for name, _ in self.classes)


def _name(name: Any) -> str:
    if not isinstance(name, str) or not name:
        raise ArgumentError(f"a class's name must be a text that is not empty, not {shown(name)}", "SRD-A001")
    return name


def _epsilon(name: str, epsilon: Any) -> Fraction:
    return rational(f"the ε of class {shown(name)}", epsilon, above=0, most=LARGEST_EPSILON)
