"""Exact measurement where every outcome and its probability are known: nothing is drawn, and the verdict is final.

**Guarantee**: for laws P, Q of finite support the ε at δ is the largest ln((P(S) − δ)/Q(S)) over all sets S, and S may
be taken as the outcomes with the k largest ratios P/Q for some k: adding an outcome whose ratio is above
(P(S) − δ)/Q(S) raises that quotient, and adding one that is below lowers it. Both directions of every pair are looked
at. With fractions and a claim of ε or (ε, δ) the verdict is exact (e^ε is compared to 55 digits); with floats, and on
curves, it is so to one part in 10⁹.
**Source**: the hockey-stick divergence of Barthe, Olmedo 2013; Balle, Barthe, Gaboardi 2018.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal, localcontext
from fractions import Fraction
from typing import Any

import numpy as np

from sordino.arguments import rational
from sordino.errors import ArgumentError

from .claim import Claim
from .measured import Measured, Witness
from .subject import Law, Pairs, checked_pairs
from .writing import read_again, written

_SLACK = 1e-9
_DIGITS = 60
_LARGEST = 700.0
"""Beyond it e^ε is no float, and logarithms are compared."""
_CLOSELY = tuple(np.geomspace(1e-9, 0.5, 60).tolist())
"""Where a curve that is known in closed form is tested, beside the points of its claim."""
_NAMED = 5
_REPEATED = 0.99
"""The confidence of a bound from draws, should somebody draw the witness again."""

Chance = float | Fraction
Side = tuple[tuple[Any, Any], Mapping[Any, Chance], Mapping[Any, Chance]]
"""Two inputs, and the laws of what comes out on the first and on the second."""


@dataclass(frozen=True)
class OutcomeSet:
    """A set of outcomes, listed."""

    outcomes: tuple[Any, ...]

    def __call__(self, outputs: Iterable[Any]) -> Any:
        """Return for each output whether it is one of them."""
        listed = outputs.tolist() if isinstance(outputs, np.ndarray) else outputs
        return np.array([output in self.outcomes for output in listed], dtype=bool)

    def to_json(self) -> dict[str, Any]:
        """Return the outcomes as plain data."""
        return {"outcomes": [written(outcome) for outcome in self.outcomes]}

    @classmethod
    def from_json(cls, plain: Mapping[str, Any]) -> OutcomeSet:
        """Return the set that was written."""
        return cls(tuple(read_again(outcome) for outcome in plain["outcomes"]))

    def __str__(self) -> str:
        more = f" or {len(self.outcomes) - _NAMED} more" if len(self.outcomes) > _NAMED else ""
        return f"{{output is {' or '.join(map(str, self.outcomes[:_NAMED]))}{more}}}"


def measure_exactly(law: Law, pairs: Pairs, claim: Any = None, *, delta: float | None = None) -> Measured:
    """Return the exact ε of a mechanism whose laws are known, and whether its claim holds, on all `pairs`.

    `law(value)` gives the probability of every outcome. A claim is tested at each of its δ's; the one that is broken by
    most, or comes nearest to it, is shown. ε at `delta` is shown instead where that is given and nothing is broken, or
    where nothing is claimed (then it is 0 by default). A claim on a whole curve *holds* only where the curve is known
    in closed form, as that of Gaussian DP is.
    """
    promised = None if claim is None else Claim.read(claim)
    sides = []
    for first, second in checked_pairs(pairs):
        here, there = _checked(law(first)), _checked(law(second))
        sides += [((first, second), here, there), ((second, first), there, here)]
    worst = None if promised is None else _worst(sides, _tested(promised), promised)
    if worst is not None and (worst.refuted or delta is None):
        found = worst
    else:
        found = replace(_worst(sides, ((0.0, delta or 0.0),), None), claim=promised)
    if promised is None or found.refuted:
        return found
    one_point = promised.exact is not None
    return replace(found, holds=one_point or (promised.whole and all(_keeps(*side[1:], promised) for side in sides)))


def _tested(claim: Claim) -> Sequence[tuple[Chance, Chance]]:
    """Return ε and δ where a claim is tested: to the last digit if it is one pair, closely on a known curve."""
    if claim.exact is not None:
        return (claim.exact,)
    closely = _CLOSELY if claim.whole else ()
    return (*claim.points, *((claim.curve(delta), delta) for delta in closely))


def _worst(sides: Sequence[Side], points: Sequence[tuple[Chance, Chance]], claim: Claim | None) -> Measured:
    judged = [(_judge(side, point, claim), point[0]) for side in sides for point in points]
    return max(judged, key=lambda entry: (entry[0].refuted, entry[0].epsilon - float(entry[1])))[0]


def _keeps(here: Mapping[Any, Chance], there: Mapping[Any, Chance], claim: Claim) -> bool:
    """Whether no test between two laws errs less than the claim's curve allows.

    The best tests are the sets of the largest ratios, and coins between two of them; as the curve is convex, what lies
    above it at all of these sets lies above it between them.
    """
    ranked = _ranked(here, there)
    wrong = np.cumsum([0.0, *(float(there.get(outcome, 0)) for outcome in ranked)])
    missed = 1 - np.cumsum([0.0, *(float(here[outcome]) for outcome in ranked)])
    return bool(np.all(claim.trade_off(np.clip(wrong, 0.0, 1.0)) <= missed + _SLACK))


def _ranked(here: Mapping[Any, Chance], there: Mapping[Any, Chance]) -> list[Any]:
    """Return the outcomes that are possible here, those first that are likeliest here beside there."""
    likely = [outcome for outcome, share in here.items() if share > 0]
    return sorted(likely, key=lambda outcome: _ratio(here[outcome], there.get(outcome, 0)), reverse=True)


def exact_epsilon(
    here: Mapping[Any, Chance], there: Mapping[Any, Chance], delta: Chance = 0.0
) -> tuple[float, tuple[Any, ...]]:
    """Return the ε at `delta` that tells `here` from `there`, and the outcomes that show it."""
    exact = _fractions(here) and _fractions(there)
    chance: Chance = rational("delta", delta) if exact else float(delta)
    best: Chance = 1
    shown: tuple[Any, ...] = ()
    mass: Chance = 0
    other: Chance = 0
    ranked = _ranked(here, there)
    for place, outcome in enumerate(ranked):
        mass, other = mass + here[outcome], other + there.get(outcome, 0)
        if mass - chance <= (0 if exact or not chance else _SLACK * mass):
            continue
        quotient = _ratio(mass - chance, other)
        if quotient > best:
            best, shown = quotient, tuple(ranked[: place + 1])
    return _log(best), shown


def _judge(side: Side, point: tuple[Chance, Chance], claim: Claim | None) -> Measured:
    (pair, here, there), (epsilon, delta) = side, point
    found, shown = exact_epsilon(here, there, delta)
    hits, misses = (sum((law.get(outcome, 0) for outcome in shown), start=Fraction(0)) for law in (here, there))
    refuted = claim is not None and bool(shown) and _breaks(hits, misses, epsilon, delta)
    at = float(delta)
    witness = Witness(pair, OutcomeSet(shown), None, hits, misses, at, _REPEATED) if shown else None
    return Measured(found, at, 1.0, refuted, claim, draws=0, witness=witness, exact=True)


def _breaks(hits: Chance, misses: Chance, epsilon: Chance, delta: Chance) -> bool:
    """Whether P(S) > e^ε·Q(S) + δ: exactly where all four are fractions, else by more than rounding can explain."""
    exact = all(isinstance(number, Fraction) for number in (hits, misses, epsilon, delta))
    if misses == 0 or epsilon > _LARGEST:
        excess = hits - delta if exact else float(hits) - float(delta) - _SLACK * float(hits)
        return excess > 0 and (misses == 0 or _log(_ratio(excess, misses)) > epsilon)
    if exact:
        with localcontext() as context:
            context.prec = _DIGITS
            numerator, denominator = Fraction(epsilon).as_integer_ratio()
            ratio = Fraction((Decimal(numerator) / Decimal(denominator)).exp())
        return hits - delta > ratio * misses * (1 + Fraction(1, 10 ** (_DIGITS - 5)))
    return float(hits) - float(delta) > math.exp(epsilon) * float(misses) * (1 + _SLACK) + _SLACK * float(hits)


def _checked(law: Mapping[Any, Chance]) -> Mapping[Any, Chance]:
    """Return a law whose probabilities are not negative and add up to one."""
    total = sum(law.values(), start=Fraction(0)) if _fractions(law) else math.fsum(map(float, law.values()))
    if (
        not all(share >= 0 for share in law.values())
        or abs(float(total) - 1) > _SLACK
        or (_fractions(law) and total != 1)
    ):
        raise ArgumentError(
            f"the probabilities of a law must not be negative and must add up to 1, not to {float(total):.12g}",
            "SRD-V003",
        )
    return law


def _fractions(law: Mapping[Any, Chance]) -> bool:
    return all(isinstance(share, Fraction | int) for share in law.values())


def _ratio(here: Chance, there: Chance) -> Chance:
    return here / there if there else math.inf


def _log(ratio: Chance) -> float:
    """Return the logarithm, of fractions that no float can hold too."""
    if isinstance(ratio, Fraction) and not 1e-300 < ratio < 1e300:
        return math.log(ratio.numerator) - math.log(ratio.denominator)
    return math.log(ratio)
