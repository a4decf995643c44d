"""Ways to answer as cases for the laws: one report is one release, and its law is the textbook's, in floats."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations, product
from typing import Any

from laws import references as reference
from sordino.accounting.bound import Bound
from sordino.accounting.event import Event
from sordino.accounting.grant import Grant
from sordino.accounting.neighbours import Neighbours
from sordino.arguments import whole
from sordino.collect.frequencies.hadamard import Hadamard
from sordino.collect.frequencies.hashing import LocalHashing
from sordino.collect.frequencies.k_ary import KAry
from sordino.collect.frequencies.subset import Subset
from sordino.collect.frequencies.unary import Unary
from sordino.errors import ArgumentError
from sordino.mechanisms.checks.case import Case
from sordino.mechanisms.mechanism import use_grant
from sordino.noise.keystream import SOURCE

REPLACED = Bound.scalar(1, neighbours=Neighbours.REPLACE_ONE)
_DOMAIN = 4
_EPSILON = Fraction(5, 4)


@dataclass(frozen=True)
class Answer:
    """A randomizer as a mechanism: the value is one person's code."""

    randomizer: Any

    def event(self, bound: Bound) -> Event:
        if bound.neighbours is Neighbours.ADD_REMOVE:
            raise ArgumentError("who takes part is public; state the bound with replace-one", "SRD-A003")
        return self.randomizer.event()  # type: ignore[no-any-return]

    def release(self, value: Any, grant: Grant) -> int:
        code = whole("code", value, least=0, most=self.randomizer.domain - 1)
        use_grant(self, grant)
        return int.from_bytes(self.randomizer.report(code, SOURCE), "little")

    def error(self, confidence: float = 0.95) -> float:
        return math.sqrt(self.randomizer.mean_squared_error() / (1 - confidence))


def _unary(own: Callable[[float], float], other: Callable[[float], float]) -> Callable[[int, float], reference.Law]:
    def law(value: int, level: float) -> reference.Law:
        chances = [own(1.25 / level) if each == value else other(1.25 / level) for each in range(_DOMAIN)]
        return {
            sum(bit << place for place, bit in enumerate(bits)): math.prod(
                chance if bit else 1 - chance for bit, chance in zip(bits, chances, strict=True)
            )
            for bits in product((0, 1), repeat=_DOMAIN)
        }

    return law


def _hadamard(value: int, level: float) -> reference.Law:
    truth = 1 / (1 + math.exp(-1.25 / level))
    even = {place: (place & (value + 1)).bit_count() % 2 == 0 for place in range(8)}
    return {place: (truth if even[place] else 1 - truth) / 4 for place in even}


def _subset(value: int, level: float) -> reference.Law:
    """One value of four at ε from 0.7 on: sets of one."""
    weights = {1 << one: math.exp(1.25 / level) if one == value else 1.0 for (one,) in combinations(range(_DOMAIN), 1)}
    return {told: weight / sum(weights.values()) for told, weight in weights.items()}


def _case(name: str, make: Callable[[Fraction], Any], law: Any = None, neighbour: int = 0) -> Case:
    return Case(
        name,
        lambda level: Answer(make(_EPSILON / level)),
        REPLACED,
        value=2,
        neighbour=neighbour,
        law=law,
        tightness=0.3,
        draws=16000,
    )


FREQUENCIES = (
    _case("k-ary", lambda e: KAry(_DOMAIN, e), lambda v, n: reference.randomized_response(v, 1.25 / n, _DOMAIN)),
    _case("unary", lambda e: Unary(_DOMAIN, e), _unary(lambda _: 0.5, lambda e: 1 / (1 + math.exp(e)))),
    _case(
        "unary-symmetric",
        lambda e: Unary(_DOMAIN, e, "symmetric"),
        _unary(lambda e: 1 / (1 + math.exp(-e / 2)), lambda e: 1 / (1 + math.exp(e / 2))),
    ),
    _case("hadamard", lambda e: Hadamard(_DOMAIN, e), _hadamard),
    _case("subset", lambda e: Subset(_DOMAIN, e), _subset),
    _case("hashing", lambda e: LocalHashing(_DOMAIN, e)),
    _case("hashing-fast", lambda e: LocalHashing(_DOMAIN, e, "fast")),
)
