"""(ε, δ): what failure probability the events bring along, and what is left of a target δ for the curves.

An event with a δ of its own is, on each pair of neighbours, a mixture that fails with probability δ and otherwise
follows its curves. Failures add up (a union bound), whatever calculus prices the rest.
"""

from __future__ import annotations

from fractions import Fraction

from sordino.arguments import Number, rational, shown
from sordino.errors import ArgumentError

from .curve import curve
from .event import Event
from .relation import parts

_LEAST = Fraction(1, 10**300)  # below it, floats run out of digits


def own_delta(event: Event) -> Fraction:
    """Return the sum of the failure probabilities that the events bring along (0 for most)."""
    return sum((curve(part, "own_delta")(part) * count for part, count in parts(event).items()), Fraction(0))


def target(delta: Number) -> Fraction:
    """Return a target δ as an exact fraction: 0, or in [10⁻³⁰⁰, 1)."""
    exact = rational("delta", delta, least=0)
    if 0 < exact < _LEAST:
        raise ArgumentError(f"delta must be 0 or at least 1e-300, not {shown(delta)}: floats end there", "SRD-A002")
    if exact >= 1:
        raise ArgumentError(f"delta must be below 1, not {shown(delta)}: at 1 nothing is promised", "SRD-A002")
    return exact


def remaining(event: Event, delta: Number) -> Fraction:
    """Return what is left of the target `delta` after the events' own failures; refuse a target that is too small.

    Less than 10⁻³⁰⁰ counts as nothing, which is safe: what holds at a smaller δ holds at a larger one.
    """
    exact, own = target(delta), own_delta(event)
    if own > exact:
        raise ArgumentError(
            f"delta ({float(exact):.3g}) is below what the events bring along by themselves ({float(own):.3g}); "
            "ask for a larger delta, or run the events with smaller ones",
            "SRD-A003",
        )
    left = exact - own
    return left if left >= _LEAST else Fraction(0)
