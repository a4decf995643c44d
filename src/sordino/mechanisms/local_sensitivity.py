"""An answer together with how sensitive it is near the data at hand: what smooth sensitivity and the ladder take.

For k = 0, 1, 2, … let A_k(x) be an upper bound on the local sensitivity of the answer at distance up to k from x. All
that is needed of it: |f(x) − f(y)| ≤ A_0(x) and A_k(x) ≤ A_(k+1)(y) for all neighbours x, y. The exact "largest local
sensitivity within distance k" has both properties, and so have the following, which are all that is done to A here:
  the least of A_k and a global bound C (constant in x);   the largest of A_k and a constant;
  rounding up to whole steps (monotone);                   the running maximum over k.
Past the end of the list A is C. So that A_k(x) ≤ A_(k+1)(y) holds there as well, the lists of neighbours must not
differ in length by more than one: a public length, or one entry per record, will do.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np

from sordino.accounting.bound import Bound
from sordino.arguments import Number, numbers, rational
from sordino.errors import ArgumentError

from .grid import Grid, Steps


@dataclass(frozen=True)
class LocalAnswer:
    """An answer and the list A_0, A_1, … of its sensitivities at growing distance. It is data: its repr is silent."""

    value: int | float = field(repr=False)
    sensitivities: Any = field(repr=False)


def global_steps(name: str, sensitivity: Number, grid: Grid) -> int:
    """Return the global bound C in steps; refuse one that is beyond the range of noise."""
    steps = math.ceil(rational(name, sensitivity, above=0) / grid.step)
    if steps > 2**40:
        raise ArgumentError(f"{name} is more than 2^40 steps of the grid; choose a coarser grid", "SRD-A002")
    return steps


def check_bound(bound: Bound, sensitivity: Fraction) -> None:
    """Refuse a bound under which the answer could move further than the global sensitivity says."""
    if bound.l0 != 1 or bound.linf > sensitivity:
        raise ArgumentError(
            f"the answer is said to be one number that moves by {sensitivity} at most, but the bound says "
            f"l0={bound.l0}, linf={bound.linf}; a group's bound needs sensitivities of groups",
            "SRD-A003",
        )


def in_steps(answer: Any, grid: Grid, most: int) -> tuple[int, Steps]:
    """Return the answer and its sensitivities in whole steps of `grid`, with C = `most` at the end of the list.

    No number is refused: a negative sensitivity counts as 0, NaN as C.
    """
    if not isinstance(answer, LocalAnswer):
        raise ArgumentError(f"the answer must be a LocalAnswer, not {type(answer).__name__}", "SRD-A001")
    value = grid.to_steps(answer.value)
    if type(value) is not int:
        raise ArgumentError("the answer must be one number, not an array", "SRD-A001")
    sensitivities = numbers("the sensitivities", answer.sensitivities)
    floats = sensitivities.astype(np.float64)
    if sensitivities.dtype.kind != "f":  # ints beyond 2^53 may have been rounded down
        floats = np.where(floats >= 2.0**53, np.nextafter(floats, np.inf), floats)
    if floats.ndim != 1:
        raise ArgumentError("the sensitivities must be one list of numbers", "SRD-A003")
    floats = np.where(np.isnan(floats), np.inf, np.maximum(floats, 0))
    # Scaling by a power of two is exact unless it underflows; beyond `most` it does not matter by how much.
    with np.errstate(over="ignore", under="ignore"):
        steps = np.ceil(np.minimum(np.ldexp(floats, -grid.exponent), float(most)))
    steps[floats > 0] = np.maximum(steps[floats > 0], 1)
    return value, np.append(steps.astype(np.int64), most)
