"""A case for the checks: one mechanism with the inputs on which it is to be judged.

Cases hold made-up data that is public, never anyone's. Whoever writes a mechanism writes a case beside it; the better
its `value` and `neighbour` bring out the worst, the sharper the audit.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from sordino.accounting.bound import Bound
from sordino.accounting.event import Event
from sordino.accounting.grant import Grant
from sordino.mechanisms.mechanism import Mechanism


class FailedCheckError(AssertionError):
    """A mechanism does not do what all mechanisms do; the text says which check, and by how much."""


@dataclass(frozen=True)
class Case:
    """A mechanism under judgement.

    `build(level)` returns it with `level` times the claimed noise; level 1 is what is judged.
    `bound` is the bound that `value` and `neighbour`, two inputs of neighbouring data sets, keep.
    `outcome` turns what is released into a label, few enough that each is seen often.
    `law(value, level)` gives the probability of each label for an input when the noise is `level` times the claimed.
    It must not use the mechanism's own sampler. Without it the checks of power and of order are not judged.
    `claim` states ε where no calculus prices the event, or where a tighter one than the event's holds for this pair.
    `tightness` is the part of the claim that the audit must be able to show; 0 where that would take too many draws.
    """

    name: str
    build: Callable[[Fraction], Mechanism]
    bound: Bound
    value: Any
    neighbour: Any
    outcome: Callable[[Any], Hashable] = lambda released: released
    law: Callable[[Any, float], Mapping[Any, float]] | None = None
    claim: Fraction | None = None
    tightness: float = 0.0
    delta: float = 1e-5
    draws: int = 4000

    @property
    def mechanism(self) -> Mechanism:
        """The mechanism with the noise that it claims."""
        return self.build(Fraction(1))

    @property
    def event(self) -> Event:
        """What one release of it runs."""
        return self.mechanism.event(self.bound)

    def grant(self) -> Grant:
        """Return a fresh grant for one release: nobody's budget is touched, the data being made up."""
        return Grant(self.event, self.bound)

    def sample(self, value: Any, draws: int) -> list[Hashable]:
        """Return the labels of so many releases of `value`."""
        mechanism = self.mechanism
        event = mechanism.event(self.bound)
        return [self.outcome(mechanism.release(value, Grant(event, self.bound))) for _ in range(draws)]
