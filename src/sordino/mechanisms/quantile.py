"""Quantiles by the exponential mechanism, over all points of a public grid.

The score of a grid point x for the quantile q of n values is minus the distance of q·n from the ranks that x covers:
u(x) = −max(0, #{v < x} − q·n, q·n − #{v ≤ x}). A point that many values share covers all of their ranks, so ties
(ages, prices) do not hurt. Values are clipped to [low, high] and rounded to the grid first, each by itself.

**Guarantee**: ε-bounded range per quantile, and so pure ε, exactly: x is drawn with probability ∝ exp(ε·u(x)/(2Δ)).
**Proof of Δ**, for one unit that has up to k values. Add/remove: if k' ≤ k values come, j of which are below x, then
#{v < x} − q·n moves by j − q·k' and q·n − #{v ≤ x} by q·k' − j' with 0 ≤ j, j' ≤ k': both within k·max(q, 1−q), and
the maximum of three moves by no more than the most mobile of them. Replace-one: up to k values go and up to
k come. What goes and what comes each adds between −q·k and (1−q)·k to a term, so the difference is at most k.
Zero-out: whether the empty place counts as a value (n stays) or not, both move by at most k.
Scores are multiplied by q's denominator to be whole. The same score on a stretch of m grid points counts m times.
**Assumes**: the grant's bound says in `l1` how many values one unit has (a histogram of them has that 1-norm).
**Source**: McSherry, Talwar 2007, Theorem 6; Smith 2011 (intervals); Dong, Durfee, Rogers 2020 (range).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sordino import noise
from sordino.accounting.bound import Bound
from sordino.accounting.event import Event
from sordino.accounting.events import Exponential, Repeated
from sordino.accounting.grant import Grant
from sordino.accounting.neighbours import Neighbours
from sordino.arguments import numbers, probability, rational, rounded_up
from sordino.errors import ArgumentError

from .clipping import ClipValues
from .grid import Grid, Steps
from .mechanism import remembered, use_grant
from .weighted_choice import choose_weighted

_MOST_VALUES = 2**31
_FINEST_QUANTILE = 10**6
_LEAST_RATE = Fraction(1, 2**55)


@dataclass(frozen=True)
class Quantiles:
    """The `quantiles` of values in [`low`, `high`], each for a pure `epsilon` of its own, in ascending order.

    >>> Quantiles(("0.5",), epsilon=1, low=0, high=100).event(Bound.scalar(1))
    Exponential(epsilon=Fraction(1, 1))
    """

    quantiles: tuple[Fraction, ...]
    epsilon: Fraction
    low: Fraction
    high: Fraction
    grid: Grid = None  # type: ignore[assignment]  # filled in when it is left out

    def __post_init__(self) -> None:
        wanted = self.quantiles if isinstance(self.quantiles, tuple | list) else (self.quantiles,)
        exact = tuple(sorted(probability("quantiles", quantile) for quantile in wanted))
        if not exact or any(quantile.denominator > _FINEST_QUANTILE for quantile in exact):
            raise ArgumentError("quantiles must be one or more fractions with at most six decimals", "SRD-A002")
        object.__setattr__(self, "quantiles", exact)
        # Beyond these a choice could leave int64; both are far outside of what anyone should ask for.
        object.__setattr__(self, "epsilon", rational("epsilon", self.epsilon, least="1e-6", most="1e4"))
        clip = self._clip
        for name in ("low", "high", "grid"):
            object.__setattr__(self, name, getattr(clip, name))

    @remembered
    def event(self, bound: Bound) -> Event:
        """Return what one release runs: one exponential mechanism for each quantile."""
        if any(self.rate(quantile, bound) < _LEAST_RATE for quantile in self.quantiles):
            raise ArgumentError("one unit has too many values for this epsilon; bound them more tightly", "SRD-A002")
        one = Exponential(self.epsilon)
        return one if len(self.quantiles) == 1 else Repeated(one, len(self.quantiles))

    def release(self, value: Any, grant: Grant) -> NDArray[Any]:
        """Return the noisy quantiles of the numbers in `value`, ascending; NaN counts as the middle of the range."""
        array = numbers("the values", value)
        if array.ndim != 1 or array.size >= _MOST_VALUES:
            raise ArgumentError("the values must be one array of fewer than 2^31 numbers", "SRD-A003")
        steps = np.sort(self._clip.steps(array))
        bound = use_grant(self, grant)
        chosen = [self._one(steps, quantile, bound) for quantile in self.quantiles]
        answer: NDArray[Any] = self.grid.from_steps(np.sort(np.array(chosen, dtype=np.int64)))
        return answer

    def error(self, confidence: float = 0.95) -> float:
        """Return how many ranks off a quantile is, at most, with probability `confidence`, for one value per unit.

        The exponential mechanism's bound, Δ·(2/ε)·ln(N/(1 − confidence)) over N grid points; in ranks, as how far off
        that is in value depends on the data. A point of score zero always exists, so the bound is for ranks as such.
        """
        failure = 1 - probability("confidence", confidence)
        first, last = self._clip.range
        logarithm = math.log(last - first + 1) - math.log(failure)
        worst = max(max(quantile, 1 - quantile) for quantile in self.quantiles)
        return rounded_up(worst * 2 / self.epsilon * Fraction(logarithm))

    def rate(self, quantile: Fraction, bound: Bound) -> Fraction:
        """Return ε/(2Δ) for scores that are multiplied by the quantile's denominator."""
        above, below = quantile.numerator, quantile.denominator - quantile.numerator
        moved = max(above, below) if bound.neighbours is Neighbours.ADD_REMOVE else quantile.denominator
        return self.epsilon / (2 * _values_per_unit(bound) * moved)

    @cached_property
    def _clip(self) -> ClipValues:
        return ClipValues(self.low, self.high, self.grid)

    def _one(self, steps: Steps, quantile: Fraction, bound: Bound) -> int:
        starts, counts, scores = stretches(steps, self._clip.range, quantile)
        index = choose_weighted(scores, counts, self.rate(quantile, bound))
        return int(starts[index]) + noise.uniform(int(counts[index]))


def stretches(steps: Steps, span: tuple[int, int], quantile: Fraction) -> tuple[Steps, Steps, Steps]:
    """Return stretches of grid points that have one score each: first points, numbers of points, whole scores.

    `steps` are the sorted values, within `span`. Each value in use is a stretch of its own, and so is each gap.
    """
    first, last = span
    taken, multiplicity = np.unique(steps, return_counts=True)
    starts = np.concatenate((np.array([first]), np.column_stack((taken, taken + 1)).ravel()))
    counts = np.diff(np.append(starts, last + 1))
    reached = np.cumsum(multiplicity)
    below = np.concatenate((np.array([0]), np.column_stack((reached - multiplicity, reached)).ravel()))
    upto = np.concatenate((np.array([0]), np.column_stack((reached, reached)).ravel()))
    scale, target = quantile.denominator, quantile.numerator * len(steps)
    scores = -np.maximum(0, np.maximum(scale * below - target, target - scale * upto))
    present = counts > 0
    return starts[present], counts[present], scores[present]


def _values_per_unit(bound: Bound) -> int:
    if bound.l1.denominator != 1:
        raise ArgumentError(
            f"the bound's l1 says how many values one unit has, so it must be whole, not {bound.l1}", "SRD-A003"
        )
    return bound.l1.numerator
