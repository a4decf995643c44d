"""Which way to answer: by the squared error and the size of a report, for the domain and ε, with the reason in words.

The squared error of an estimate, averaged over all values, is known beforehand and the same for every population. All
ways within 2 % of the best are as good; of these the one with the shortest reports is taken, and of equals the first in
`WAYS`, which begins with the simplest. Hashing is left out where counting would take more than a thousand steps a
report.
"""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from sordino.arguments import Number, one_of, whole
from sordino.collect.coins import local_epsilon
from sordino.collect.estimate import Estimate
from sordino.collect.frequencies import subset, unary
from sordino.collect.frequencies.hadamard import Hadamard
from sordino.collect.frequencies.hashing import LocalHashing
from sordino.collect.frequencies.k_ary import KAry
from sordino.collect.frequencies.subset import Subset
from sordino.collect.frequencies.unary import Unary
from sordino.collect.randomizer import Counts, FrequencyRandomizer
from sordino.errors import ArgumentError

AS_GOOD = 1.02
"""Squared errors within this factor of the best count as equal."""
LARGEST = 2**22
"""Values at most: each has an estimate. Beyond it most estimates are noise, and those that are not must be searched."""
_MOST_STEPS = 1000

Value = str | int


@dataclass(frozen=True)
class Way:
    """One way to answer: its name, how it is made, and for how many values at most."""

    name: str
    make: Callable[[int, Fraction], FrequencyRandomizer]
    largest: int = LARGEST


WAYS = (
    Way("k-ary", KAry),
    Way("hadamard", Hadamard),
    Way("hashing-fast", lambda domain, epsilon: LocalHashing(domain, epsilon, "fast")),
    Way("hashing", LocalHashing),
    Way("subset", Subset, subset.LARGEST),
    Way("unary", Unary, unary.LARGEST),
    Way("unary-symmetric", lambda domain, epsilon: Unary(domain, epsilon, "symmetric"), unary.LARGEST),
)
"""What `frequency` chooses from."""


@dataclass(frozen=True)
class Frequency:
    """How often each of `values` is held: what a survey asks, by which randomizer, and why by that one.

    Codes are places in `values`; where only their number was given, they are the values.
    """

    values: tuple[Value, ...] | None
    randomizer: FrequencyRandomizer
    why: str
    _codes: dict[Value, int] = field(default_factory=dict, repr=False, compare=False)

    def __post_init__(self) -> None:
        for code, value in enumerate(self.values or ()):
            self._codes[value] = code

    def code(self, value: Value) -> int:
        """Return the code of a value; refuse another without showing it."""
        named = unicodedata.normalize("NFC", value) if isinstance(value, str) else value
        if isinstance(named, bool) or not isinstance(named, str | int):
            found = None
        elif self.values is None:
            found = named if isinstance(named, int) and 0 <= named < self.randomizer.domain else None
        else:
            found = self._codes.get(named)
        if found is None:
            raise ArgumentError("the answer is none of the values that are asked for; send one of them", "SRD-C104")
        return found

    def public(self) -> Mapping[str, Any]:
        """Return the values and how one is told."""
        values = None if self.values is None else list(self.values)
        return {"values": values, "randomizer": dict(self.randomizer.public())}

    def estimate(self, counts: Counts, reports: int) -> Estimate:
        """Return how many hold each value."""
        return self.randomizer.estimate(counts, reports)

    def poison(self, people: int, colluding: int) -> float:  # noqa: ARG002  (a count moves alike among however many)
        """Return how far so many liars can move a count."""
        return self.randomizer.poison().shift(colluding)

    def error(self, people: int) -> float:
        """Return the root of the mean squared error of an estimated count, if so many people answer."""
        return math.sqrt(whole("people", people, least=1) * self.randomizer.mean_squared_error())


def frequency(
    values: int | Iterable[Value],
    *,
    epsilon: Number,
    way: str | None = None,
    most_bytes: int | None = None,
) -> Frequency:
    """Return how to ask which of `values` (texts and whole numbers, or how many there are) each person holds.

    Args:
        values: the values, none twice; or a number n for 0 … n − 1.
        epsilon: what one report may lose, at most 32.
        way: one of `WAYS` by name, where the best is not wanted.
        most_bytes: how long a report's payload may be.

    >>> frequency(["tea", "coffee", "water"], epsilon=2).why
    'k-ary: squared error 0.26 a report, the best; 1 byte'
    """
    named = named_values(values)
    domain = whole("values", values if named is None else len(named), least=2, most=LARGEST)
    exact = local_epsilon(epsilon)
    longest = math.inf if most_bytes is None else whole("most_bytes", most_bytes, least=1)
    if way is not None:
        return _asked_for(named, domain, exact, one_of("way", way, [each.name for each in WAYS]))
    made = {each.name: _made(each, domain, exact) for each in WAYS if domain <= each.largest}
    found = {name: each for name, each in made.items() if each is not None and each.size <= longest}
    if not found:
        raise ArgumentError(f"no way to answer has reports of at most {most_bytes} bytes; allow more", "SRD-C105")
    errors = {name: randomizer.mean_squared_error() for name, randomizer in found.items()}
    best = min(errors, key=lambda name: errors[name])
    good = [name for name in found if errors[name] <= AS_GOOD * errors[best]]
    name = min(good, key=lambda each: found[each].size)
    return Frequency(named, found[name], _reason(name, best, found, errors))


def _made(way: Way, domain: int, epsilon: Fraction) -> FrequencyRandomizer | None:
    """Return the randomizer, if its coins are fine enough and its reports can be counted."""
    try:
        randomizer = way.make(domain, epsilon)
    except ArgumentError:
        return None
    countable = not isinstance(randomizer, LocalHashing) or randomizer.functions.steps <= _MOST_STEPS
    return randomizer if countable else None


def _asked_for(named: tuple[Value, ...] | None, domain: int, epsilon: Fraction, name: str) -> Frequency:
    way = next(each for each in WAYS if each.name == name)
    if domain > way.largest:
        raise ArgumentError(
            f"{name} takes at most {way.largest} values, not {domain}; leave `way` out, or take 'hashing'", "SRD-C105"
        )
    randomizer = way.make(domain, epsilon)
    error = randomizer.mean_squared_error()
    return Frequency(named, randomizer, f"{name}: asked for; squared error {error:.2g} a report; {_bytes(randomizer)}")


def named_values(values: object) -> tuple[Value, ...] | None:
    """Return the values as they are named; None where only their number was given."""
    return None if isinstance(values, int) and not isinstance(values, bool) else _named(values)


def _named(values: object) -> tuple[Value, ...]:
    """Return the values, texts in the form NFC; refuse what is neither text nor whole number, and what comes twice."""
    if isinstance(values, str | bytes | bool) or not isinstance(values, Iterable):
        raise ArgumentError("values must be a list of texts and whole numbers, or how many there are", "SRD-A001")
    found: list[Value] = []
    for value in values:
        if isinstance(value, bool) or not isinstance(value, str | int):
            raise ArgumentError(f"each value must be a text or a whole number, not {type(value).__name__}", "SRD-A001")
        found.append(unicodedata.normalize("NFC", value) if isinstance(value, str) else int(value))
        if len(found) > LARGEST:
            break
    if len(set(found)) < len(found):
        raise ArgumentError("a value comes twice; texts are compared in Unicode's form NFC", "SRD-A002")
    return tuple(found)


def _reason(name: str, best: str, found: dict[str, FrequencyRandomizer], errors: dict[str, float]) -> str:
    told = f"{name}: squared error {errors[name]:.2g} a report, "
    if name == best:
        return told + f"the best; {_bytes(found[name])}"
    above = 100 * (errors[name] / errors[best] - 1)
    return told + f"{above:.1f} % above the best ({best}); {_bytes(found[name])} where that takes {found[best].size}"


def _bytes(randomizer: FrequencyRandomizer) -> str:
    return f"{randomizer.size} byte{'s' if randomizer.size != 1 else ''}"
