"""From what a user says about a training to its course and its noise, for one account; and which payment is cheaper."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from sordino.accounting.budget import Budget
from sordino.accounting.event import Event
from sordino.accounting.neighbours import Neighbours
from sordino.accounting.relation import charged_as
from sordino.data.account import DataAccount
from sordino.errors import ArgumentError, SordinoError

from .adaptive import Adaptive
from .comparing import Way, Ways
from .correlation import Banded, Correlation, Independent
from .course import Course, courses
from .paying import TRANCHES, WHOLE, InTranches, Pay, Whole
from .plan import Recipe
from .pricing import Build, Spent
from .sampling import Poisson, Sampler


@dataclass(frozen=True)
class Said:
    """What a user says about the steps of a training, but for how they are paid."""

    sampler: Sampler
    steps: int
    size: int
    spent: Spent
    correlation: Banded | None = None

    def settled(self, pay: Pay, account: Budget | None, held: Neighbours | None) -> tuple[Course, Fraction]:
        """Return the course whose weights will be the least off, and its noise multiplier.

        It is for an account of this budget that protects units against the change `held`, or has not said it yet.
        """
        wish = self.correlation
        if not isinstance(wish, Banded | None):
            raise ArgumentError("correlation must be what banded(…) returns, or left out", "SRD-A001")
        undecided = wish is not None and wish.bands is None and self.spent.noise is not None
        if undecided and isinstance(self.sampler, Poisson):
            raise ArgumentError(
                "how many bands are best depends on what may be spent; say epsilon=… instead of noise=…, or "
                "banded(bands=…)",
                "SRD-A003",
            )
        found = [
            (each, self.spent.multiplier(_counted(each, held), each.payment, account))
            for each in courses(self.sampler, self.steps, self.size, pay, wish, account)
        ]
        return found[0] if len(found) == 1 else min(found, key=lambda pair: pair[0].error(pair[1]))

    def ways(self, recipe: Recipe, account: DataAccount[Any]) -> Ways:
        """Return what this training would take if it were paid in tranches, and if it were paid whole."""
        given = recipe.payment.delta if isinstance(recipe.payment, Whole) else None
        own = self
        if given is not None and account.budget is not None:  # that is the δ of the run, not of a budget of its own
            own = replace(self, spent=replace(self.spent, delta=None))
        tranches = own._recipe(Pay(TRANCHES), recipe, account)
        try:
            whole = self._recipe(Pay(WHOLE, delta=given), recipe, account)
            alike = replace(whole, payment=InTranches(whole.steps))
            return Ways(_way(tranches, account), _way(whole, account), _way(alike, account))
        except SordinoError as refused:  # an account that cannot hold it: the words say why, and what to do
            return Ways(_way(tranches, account), None, None, str(refused))

    def _recipe(self, pay: Pay, recipe: Recipe, account: DataAccount[Any]) -> Recipe:
        course, multiplier = self.settled(pay, account.budget, held_by(account))
        return replace(
            recipe,
            sampler=course.sampler,
            payment=course.payment,
            correlation=course.correlation,
            multiplier=multiplier,
        )


def _way(recipe: Recipe, account: DataAccount[Any]) -> Way:
    return Way(recipe.multiplier, account.price(recipe.whole()))


def held_by(account: DataAccount[Any]) -> Neighbours | None:
    """Return the change of a unit that an account protects against; None where it has not said it yet."""
    held = account.account.protects
    return None if held is None else held[1]


def check_adaptive(adaptive: Adaptive, correlation: Correlation, multiplier: Fraction, sampler: Sampler) -> None:
    """Refuse what does not go together with a clip that adapts, before anything is charged."""
    if not isinstance(correlation, Independent):
        raise ArgumentError(
            "correlated noise cancels between steps with one clip, and a clip that adapts changes from step to step; "
            'take clipping="flat", or independent noise',
            "SRD-A003",
        )
    adaptive.rest(multiplier, sampler.batch, sampler.neighbours)  # a count that costs more than the step


def _counted(course: Course, held: Neighbours | None) -> Build:
    """Return what builds, from a noise multiplier, all that is run, as the account counts it."""
    ran = course.sampler.neighbours

    def build(multiplier: Fraction) -> Event:
        event = course.event(multiplier)
        return event if held is None else charged_as(event, ran, held)

    return build
