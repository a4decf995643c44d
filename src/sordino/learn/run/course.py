"""How a training goes: who is drawn, in how many steps, how their noise hangs together, and how they are paid.

All but the amount of noise. From what a user says follow one or more courses; of several the one is taken whose weights
will be the least off.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

from sordino.accounting.budget import Budget
from sordino.accounting.event import Event
from sordino.accounting.events import Gaussian
from sordino.errors import ArgumentError

from .correlation import Banded, Correlation, InBlocks, Independent
from .paying import InTranches, Pay, Payment
from .sampling import OverBands, Poisson, Sampler
from .strategies import MOST_BANDS, best_power, candidates, prefix_error


@dataclass(frozen=True)
class Course:
    """All that is public about the steps of a training, but for the amount of noise."""

    sampler: Sampler
    steps: int
    payment: Payment
    correlation: Correlation

    def event(self, multiplier: Fraction) -> Event:
        """Return what all steps run with so much noise."""
        step = Gaussian(multiplier**2 * self.correlation.gain(self.sampler))
        return self.correlation.event(self.sampler, step, self.steps)

    def error(self, multiplier: Fraction) -> float:
        """Return the root mean square of the noise in a sum of steps, over all steps of the first reservation.

        In units of what one unit can move the sum of a step by, before the division by the batch.
        """
        deviation = float(multiplier) * math.sqrt(self.correlation.gain(self.sampler))
        return deviation * prefix_error(self.correlation.column, self.payment.length(self.steps))


def courses(
    sampler: Sampler, steps: int, size: int, pay: Pay, wish: Banded | None, account: Budget | None
) -> Iterator[Course]:
    """Yield the courses among which a training may choose: one, if all is said."""
    if wish is None:
        yield Course(sampler, steps, pay.payment(sampler, size, account), Independent())
        return
    for column in _columns(wish, min(steps, MOST_BANDS, size // sampler.batch), steps, pay.tranche or steps):
        spaced = OverBands(sampler.batch, size, len(column)) if isinstance(sampler, Poisson) else sampler
        paid = pay.payment(spaced, size, account)
        if pay.tranche is None and isinstance(paid, InTranches):
            paid = InTranches(steps)  # one event, unless the user says where to cut
        yield Course(spaced, steps, paid, InBlocks(column, paid.length(steps)))


def _columns(wish: Banded, most: int, steps: int, block: int) -> Iterator[tuple[int, ...]]:
    if wish.bands is None:
        yield from candidates(most, block)
        return
    if wish.bands > steps:
        raise ArgumentError(f"bands must not exceed the {steps} steps of the training", "SRD-A002")
    yield wish.column or best_power(wish.bands, block)
