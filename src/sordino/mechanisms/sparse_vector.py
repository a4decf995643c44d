"""Sparse vector: which of a stream of answers are above a threshold, paying only for the few that are.

**Guarantee**: with c `positives`, whole-step sensitivity m of every answer, threshold noise of scale s₁ and query noise
of scale s₂ (both in steps), all outputs together are ε₁ + ε₂ differentially private, ε₁ = m/s₁ and ε₂ = 2cm/s₂, or
ε₂ = cm/s₂ if one unit moves all answers in the same direction (`monotone`). Numeric answers cost ε₃ = cm/s₃ more. It
stops after c positives; whoever wants more needs a new grant.
**Assumes**: one unit moves no single answer by more than ``bound.linf``. The queries may be chosen as the answers come.
**Source**: Lyu, Su & Li 2017, Algorithms 1 and 7, Theorems 2, 4 and 5; the split of ε by their Section 4.2.

**Proof**, for integer noise. Let aⱼ, a'ⱼ be the answers on neighbours, T the threshold, ρ its noise, νⱼ fresh noise. An
output is a list of at most c "above" (aⱼ + νⱼ ≥ T + ρ) and any number of "below". Its probability is
Σ_z P[ρ = z] · Π_below P[ν < T + z − aⱼ] · Π_above P[ν ≥ T + z − aⱼ]. Put z + m for z on the side of a': P[ρ = z] ≤
e^(m/s₁)·P[ρ = z + m]; "below" only becomes likelier, as a'ⱼ ≤ aⱼ + m, for any number of them and free of charge; for
"above" the least noise rises by m + aⱼ − a'ⱼ ≤ 2m, which costs e^(2m/s₂) each, and there are at most c. If all a'ⱼ ≥
aⱼ, it rises by at most m. If all a'ⱼ ≤ aⱼ, leave z as it is: "below" becomes likelier again and "above" costs e^(m/s₂)
at most. Adaptive queries depend on earlier outputs only, which are fixed in the sum. A number that is released is the
answer plus noise of its own, a Laplace mechanism of m/s₃ each, at most c times. ∎

A variant in circulation has threshold noise Lap(2/ε) and query noise Lap(4/(3ε)) for any number of positives and calls
that ε-private. It is not: at ε = 1 it leaks 2 for one positive and 8 for five. Nor may the number that was compared be
released: only fresh noise is paid for.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from sordino import noise
from sordino.accounting import events
from sordino.accounting.bound import Bound
from sordino.accounting.grant import Grant
from sordino.arguments import Number, numbers, probability, rational, whole
from sordino.errors import ArgumentError

from .additive import checked_grid
from .grid import INTEGERS, LIMIT, Grid
from .mechanism import remembered, use_grant
from .selection import check_flag, directions, fitting_grid
from .watch import NumericWatch, Watch

_SHARES = 10**6


@dataclass(frozen=True)
class AboveThreshold:
    """Says of each answer in turn whether it is above `threshold`, and stops after `positives` that are.

    >>> alarm = AboveThreshold.for_epsilon(1, Bound.scalar(1), threshold=100, positives=4)
    >>> alarm.scale_threshold, alarm.scale_queries  # the split is 1 : (2·4)^(2/3) = 1 : 4
    (Fraction(5, 1), Fraction(10, 1))
    """

    threshold: Fraction
    scale_threshold: Fraction
    scale_queries: Fraction
    positives: int = 1
    grid: Grid = INTEGERS
    monotone: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "threshold", rational("threshold", self.threshold))
        object.__setattr__(self, "scale_threshold", rational("scale_threshold", self.scale_threshold, above=0))
        object.__setattr__(self, "scale_queries", rational("scale_queries", self.scale_queries, above=0))
        object.__setattr__(self, "positives", whole("positives", self.positives, least=1))
        checked_grid(self.grid)
        check_flag("monotone", self.monotone)
        _ = self.threshold_law, self.query_law  # an absurd scale is refused here rather than at the first release
        if abs(self.threshold) > LIMIT * self.grid.step:
            raise ArgumentError("threshold is beyond ±2^62 steps of the grid; choose a coarser grid", "SRD-A002")

    @classmethod
    def for_epsilon(
        cls,
        epsilon: Number,
        bound: Bound,
        threshold: Number,
        positives: int = 1,
        *,
        grid: Grid | None = INTEGERS,
        monotone: bool = False,
    ) -> Self:
        """Return the mechanism that costs `epsilon` in all, split so that comparisons are least noisy.

        The noise of a comparison has variance 2·s₁² + 2·s₂², least where ε₁ : ε₂ = 1 : (2c)^(2/3), or c^(2/3) if
        monotone; that ratio is rounded to a millionth, the sum is exactly `epsilon`.
        """
        total = rational("epsilon", epsilon, above=0)
        fine = fitting_grid(grid, total, bound)
        plan = cls(rational("threshold", threshold), Fraction(1), Fraction(1), positives, fine, monotone)
        ratio = (directions(monotone, bound) * plan.positives) ** (2 / 3)
        share = Fraction(max(1, round(_SHARES / (1 + ratio))), _SHARES)
        unit = plan.event(bound)
        return replace(
            plan,
            scale_threshold=unit.epsilon_threshold / (total * share),
            scale_queries=unit.epsilon_queries / (total * (1 - share)),
        )

    @remembered
    def event(self, bound: Bound) -> events.SparseVector:
        """Return the whole run, up to the last positive, for answers of sensitivity ``bound.linf``."""
        size = self.grid.sensitivity(bound).linf * self.grid.step
        queries = directions(self.monotone, bound) * self.positives * size / self.scale_queries
        return events.SparseVector(size / self.scale_threshold, queries, self.positives)

    def release(self, value: Any, grant: Grant) -> NDArray[np.bool_]:
        """Return whether each answer of the list `value` is above, up to and with the last positive allowed."""
        steps = answers_to_steps(self.grid, value)
        use_grant(self, grant)
        return self.compare(steps)

    def start(self, grant: Grant) -> Watch:
        """Use `grant` up and return a watch over answers that are yet to come."""
        use_grant(self, grant)
        return self.watch()

    def error(self, confidence: float = 0.95, queries: int = 1) -> float:
        """Return how far from the threshold a wrong answer can be, at most, for all of `queries` with `confidence`."""
        share = (1 - float(probability("confidence", confidence))) / 2
        count = whole("queries", queries, least=1)
        widest = self.threshold_law.tail(1 - share) + self.query_law.tail(1 - share / count)
        return float(self.grid.step) * (widest + (0 if self.grid.exact else 1))

    def compare(self, steps: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Return noisy comparisons of answers in steps up to the last positive allowed; the grant is used by now."""
        above = steps + self.query_law.draw(steps.size) >= self._noisy_threshold()
        last = np.flatnonzero(above)[self.positives - 1 : self.positives]
        return above[: int(last[0]) + 1] if last.size else above

    def watch(self) -> Watch:
        """Return a fresh watch; the grant is used by now."""
        return Watch(self._noisy_threshold(), self.query_law, self.grid, self.positives)

    @cached_property
    def threshold_law(self) -> noise.DiscreteLaplace:
        """The threshold's noise, in steps of the grid."""
        return noise.DiscreteLaplace(self.scale_threshold / self.grid.step)

    @cached_property
    def query_law(self) -> noise.DiscreteLaplace:
        """The noise of each comparison, in steps of the grid."""
        return noise.DiscreteLaplace(self.scale_queries / self.grid.step)

    @cached_property
    def threshold_steps(self) -> int:
        """The threshold in steps. Any whole number is as private as any other, so it may be rounded for free."""
        return round(self.threshold / self.grid.step)

    def _noisy_threshold(self) -> int:
        return self.threshold_steps + self.threshold_law.draw()


@dataclass(frozen=True)
class NumericAboveThreshold:
    """As `comparison`, and says of each positive how large it is, with fresh noise of `scale_values`."""

    comparison: AboveThreshold
    scale_values: Fraction

    def __post_init__(self) -> None:
        if not isinstance(self.comparison, AboveThreshold):
            raise ArgumentError("comparison must be an AboveThreshold", "SRD-A001")
        object.__setattr__(self, "scale_values", rational("scale_values", self.scale_values, above=0))
        _ = self.value_law

    @remembered
    def event(self, bound: Bound) -> events.SparseVector:
        """Return the whole run, the numbers of all positives with it."""
        size = self.comparison.grid.sensitivity(bound).linf * self.comparison.grid.step
        values = self.comparison.positives * size / self.scale_values
        return replace(self.comparison.event(bound), epsilon_values=values)

    def release(self, value: Any, grant: Grant) -> NDArray[np.float64]:
        """Return a noisy number for each answer above, NaN for each below, up to the last positive allowed."""
        grid = self.comparison.grid
        steps = answers_to_steps(grid, value)
        use_grant(self, grant)
        above = self.comparison.compare(steps)
        numbers = np.full(above.size, np.nan)
        chosen = steps[: above.size][above]
        numbers[above] = grid.from_steps(chosen + self.value_law.draw(chosen.size))
        return numbers

    def start(self, grant: Grant) -> NumericWatch:
        """Use `grant` up and return a watch over answers that are yet to come."""
        use_grant(self, grant)
        return NumericWatch(self.comparison.watch(), self.value_law)

    def error(self, confidence: float = 0.95) -> float:
        """Return how far off one released number is, at most, with probability `confidence`."""
        grid = self.comparison.grid
        widest = self.value_law.tail(float(probability("confidence", confidence)))
        return float(grid.step) * (widest + (0 if grid.exact else 0.5))

    @cached_property
    def value_law(self) -> noise.DiscreteLaplace:
        """The noise of each number that is released, in steps of the grid."""
        return noise.DiscreteLaplace(self.scale_values / self.comparison.grid.step)


def answers_to_steps(grid: Grid, value: Any) -> NDArray[np.int64]:
    """Return a one-dimensional list of answers in steps, or refuse without showing any."""
    answers = numbers("the value", value)
    if answers.ndim != 1:
        raise ArgumentError("the value must be a one-dimensional list of answers", "SRD-A001")
    steps: NDArray[np.int64] = grid.to_steps(answers)
    return steps
