"""What has been lost so far, as (ε, δ), at a moment that depends on the outcomes.

Adding up what was admitted and converting it once is not a valid statement when events were chosen adaptively: the
total itself then depends on the outcomes, and so do the order that looks best and the moment at which one looks.

**Guarantee**: let an analyst steer as she likes, look at any moment and read (ε, δ) here. The transcripts at which ε
understates the loss carry an excess of at most δ in all: Σ over levels ε of sup over S (P[S, ε] − e^ε Q[S, ε]) ≤ δ.
**Proof**: ε is the sum of pure ε's, which bounds the loss surely, or one of the `_LEVELS` fixed below. For each level
and order, "within this level at this order" is a filter (``filter.py``, step 1) with its own share of δ, and those add
up to δ: step 2 of the proof there, with pairs of order and level in place of orders. Own δ's add as in step 3.
**Source**: the idea, a ladder of filters, is in Feldman, Zrnic 2021.
"""

from __future__ import annotations

import math
from fractions import Fraction

from .columns import Columns, Vector
from .orders import HIGHEST_ORDER, epsilon_rounded_up
from .units import PER_DELTA, PER_EPSILON, SATURATED, exact

_LEVELS = tuple(Fraction(5**step, 4**step) / 64 for step in range(40))
"""From 1/64 to 94 in steps of a quarter."""


def loss_so_far(columns: Columns, spent: Vector, delta: Fraction) -> tuple[Fraction | float, Fraction]:
    """Return (ε, δ) for what was `spent`: ε may be infinite; δ is `delta` plus what events brought along.

    With `delta` 0 only what is certain is said: the sum of pure ε's, or infinity.
    """
    in_all = delta + exact(spent[0], PER_DELTA)
    if columns.calculus == "zcdp":
        return _from_rho(spent[1], delta), in_all
    certain = math.inf if spent[-1] == SATURATED else exact(spent[-1], PER_EPSILON)
    if not columns.orders or not delta:
        return certain, in_all
    share = delta / (len(columns.orders) * len(_LEVELS))
    pairs = zip(columns.orders, spent[1:-1], strict=True)
    likely = min((epsilon_rounded_up(order, units, share) for order, units in pairs if units < SATURATED), default=None)
    return min(certain, _level(likely)), in_all


def _from_rho(spent: int, delta: Fraction) -> Fraction | float:
    """Return ε for a sum of ρ's: the level is one of ρ, and at a level every order holds at once."""
    rho = _level(exact(spent, PER_EPSILON))
    if not spent:
        return Fraction(0)
    if not delta or rho == math.inf:
        return math.inf
    share = delta / len(_LEVELS)
    best = 1 + math.sqrt(-math.log(share) / rho)  # near the best order; any order is valid
    candidates = {min(max(round(best * eighths), 9), 8 * HIGHEST_ORDER) / 8 for eighths in range(4, 13)}
    return min(epsilon_rounded_up(order, math.ceil(rho * Fraction(order) * PER_EPSILON), share) for order in candidates)


def _level(value: Fraction | None) -> Fraction | float:
    """Return the least level that is not below `value`."""
    return next((level for level in _LEVELS if value is not None and value <= level), math.inf)
