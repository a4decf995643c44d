"""Exact measurement where every outcome and its probability are known: nothing is drawn, and the verdict is final.

**Guarantee**: for laws P, Q of finite support the ε at δ is the largest ln((P(S) − δ)/Q(S)) over all sets S, and S may
be taken as the outcomes with the k largest ratios P/Q for some k: adding an outcome whose ratio is above
(P(S) − δ)/Q(S) raises that quotient, and adding one that is below lowers it. Both directions of every pair are looked
at. With fractions the verdict is exact (e^ε is compared to 60 digits); with floats it is so to one part in 10⁹.
**Source**: the hockey-stick divergence of Barthe, Olmedo 2013; Balle, Barthe, Gaboardi 2018.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal, localcontext
from fractions import Fraction
from typing import Any

import numpy as np

from sordino.arguments import rational
from sordino.errors import ArgumentError

from .claim import Claim
from .measured import Measured, Witness
from .subject import Law, Pairs, checked_pairs

__all__ = ["exact_epsilon", "hockey_stick", "measure_exactly"]

_SLACK = 1e-9
_DIGITS = 60
_NAMED = 5
_REPEATED = 0.99
"""The confidence of a bound from draws, should somebody draw the witness again."""

Chance = float | Fraction


@dataclass(frozen=True)
class OutcomeSet:
    """A set of outcomes, listed."""

    outcomes: tuple[Any, ...]

    def __call__(self, outputs: Iterable[Any]) -> Any:
        """Return for each output whether it is one of them."""
        listed = outputs.tolist() if isinstance(outputs, np.ndarray) else outputs
        return np.array([output in self.outcomes for output in listed], dtype=bool)

    def __str__(self) -> str:
        more = f" or {len(self.outcomes) - _NAMED} more" if len(self.outcomes) > _NAMED else ""
        return f"{{output is {' or '.join(map(str, self.outcomes[:_NAMED]))}{more}}}"


def measure_exactly(law: Law, pairs: Pairs, claim: Any = None, *, delta: float = 0.0) -> Measured:
    """Return the exact ε of a mechanism whose laws are known, and whether its claim holds, on all `pairs`.

    `law(value)` gives the probability of every outcome. A claim is tested at each of its δ's; the one that is broken by
    most, or comes nearest to it, is shown. Without a claim ε is measured at `delta`.
    """
    promised = None if claim is None else Claim.read(claim)
    points = promised.points if promised is not None else ((0.0, delta),)
    judged: list[tuple[float, Measured]] = []
    for first, second in checked_pairs(pairs):
        laws = _checked(law(first)), _checked(law(second))
        for at, (here, there) in (((first, second), laws), ((second, first), laws[::-1])):
            for epsilon, chance in points:
                found = _judge(at, here, there, (epsilon, chance), promised)
                judged.append((found.epsilon - epsilon, found))
    return max(judged, key=lambda entry: entry[0])[1]


def exact_epsilon(
    here: Mapping[Any, Chance], there: Mapping[Any, Chance], delta: float = 0.0
) -> tuple[float, tuple[Any, ...]]:
    """Return the ε at `delta` that tells `here` from `there`, and the outcomes that show it."""
    chance: Chance = rational("delta", delta) if _fractions(here) else delta
    best, shown = 0.0, ()
    mass: Chance = 0
    other: Chance = 0
    likely = [outcome for outcome, share in here.items() if share > 0]
    ranked = sorted(likely, key=lambda outcome: _ratio(here[outcome], there.get(outcome, 0)), reverse=True)
    for place, outcome in enumerate(ranked):
        mass, other = mass + here[outcome], other + there.get(outcome, 0)
        if mass <= chance:
            continue
        epsilon = _log(mass - chance, other) if other else math.inf
        if epsilon > best:
            best, shown = epsilon, tuple(ranked[: place + 1])
    return best, shown


def hockey_stick(here: Mapping[Any, Chance], there: Mapping[Any, Chance], epsilon: float) -> float:
    """Return the least δ at which (ε, δ) holds between the two laws: the sum of (P − e^ε·Q)₊."""
    ratio = math.exp(epsilon)
    return math.fsum(max(float(share) - ratio * float(there.get(outcome, 0)), 0.0) for outcome, share in here.items())


def _judge(
    pair: tuple[Any, Any],
    here: Mapping[Any, Chance],
    there: Mapping[Any, Chance],
    point: tuple[float, float],
    claim: Claim | None,
) -> Measured:
    epsilon, delta = point
    found, shown = exact_epsilon(here, there, delta)
    hits, misses = (sum((law.get(outcome, 0) for outcome in shown), start=Fraction(0)) for law in (here, there))
    refuted = claim is not None and bool(shown) and _breaks(hits, misses, epsilon, delta)
    witness = Witness(pair, OutcomeSet(shown), None, hits, misses, delta, _REPEATED) if shown else None
    return Measured(found, delta, 1.0, refuted, claim, draws=0, witness=witness, exact=True)


def _breaks(hits: Chance, misses: Chance, epsilon: float, delta: float) -> bool:
    """Whether P(S) > e^ε·Q(S) + δ, by more than rounding can explain."""
    if isinstance(hits, Fraction) and isinstance(misses, Fraction):
        with localcontext() as context:
            context.prec = _DIGITS
            ratio = Fraction(Decimal(epsilon).exp())
        return hits - rational("delta", delta) > ratio * misses * (1 + Fraction(1, 10 ** (_DIGITS - 5)))
    return float(hits) - delta > math.exp(epsilon) * float(misses) * (1 + _SLACK) + _SLACK * float(hits)


def _checked(law: Mapping[Any, Chance]) -> Mapping[Any, Chance]:
    """Return a law whose probabilities are not negative and add up to one."""
    total = sum(law.values(), start=Fraction(0)) if _fractions(law) else math.fsum(map(float, law.values()))
    if any(share < 0 for share in law.values()) or abs(float(total) - 1) > _SLACK or (_fractions(law) and total != 1):
        raise ArgumentError(
            f"the probabilities of a law must not be negative and must add up to 1, not to {float(total):.12g}",
            "SRD-V003",
        )
    return law


def _fractions(law: Mapping[Any, Chance]) -> bool:
    return all(isinstance(share, Fraction | int) for share in law.values())


def _ratio(here: Chance, there: Chance) -> Chance:
    return here / there if there else math.inf


def _log(above: Chance, below: Chance) -> float:
    return math.log(float(above)) - math.log(float(below))
