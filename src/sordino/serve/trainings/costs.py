"""What a recipe costs for one data set, without data and without a model library.

**Guarantee**: what is quoted is at least what is charged: the price is that of Gaussian noise of the multiplier on
exact numbers, which the noise on a grid that is really added costs at most (``mechanisms.gaussian``).
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from sordino.accounting.budget import Budget
from sordino.accounting.columns import Columns
from sordino.accounting.declared import declare
from sordino.accounting.event import Event
from sordino.accounting.events import Composed, Gaussian
from sordino.accounting.filter import Filter
from sordino.accounting.orders import epsilon_rounded_up
from sordino.accounting.relation import charged_as
from sordino.accounting.units import PER_EPSILON
from sordino.errors import ArgumentError
from sordino.learn.run.adaptive import Adaptive, adaptive
from sordino.learn.run.correlation import Independent
from sordino.learn.run.course import Course
from sordino.learn.run.models import Written, written
from sordino.learn.run.paying import TRANCHES, Pay, Whole, in_tranches, steps_of
from sordino.learn.run.pricing import Spent, budget_of_its_own
from sordino.learn.run.said import Said, check_adaptive
from sordino.learn.run.sampling import Sampler, sampler
from sordino.serve.kinds.kind import Plain

from .declared import Declared
from .recipe import MOST_STEPS, Recipe

MOST_TRANCHES = 10_000
MOST_POINTS = 60
"""Points of the drawing of ε; what lies between them is left out."""
_ORDERS = (
    1.25,
    1.5,
    1.75,
    *(each / 2 for each in range(4, 40)),
    *range(20, 64, 2),
    64,
    80,
    96,
    128,
    192,
    256,
    512,
    1024,
)
"""Rényi orders by which a run alone is told: closer together than those that an account keeps."""


@dataclass(frozen=True)
class Costs:
    """A recipe for one data set: what is trained, how often noise is added, and what that costs."""

    declared: Declared
    model: Written
    loss: str
    course: Course
    multiplier: Fraction
    """The noise, in units of how far one unit can move what it is added to."""
    rule: Filter
    """That of a budget of the training's own; of the account's where noise alone was given, or it is paid whole."""

    @classmethod
    def of(cls, recipe: Recipe, declared: Declared, account: Budget | None) -> Costs:
        """Return what a recipe comes to; refuse what does not go with the data set."""
        loss = recipe.word("loss") or ("squared" if declared.classes is None else "cross-entropy")
        if (loss == "cross-entropy") != (declared.classes is not None):
            raise ArgumentError(
                "cross-entropy is for labels that are classes, and squared for numbers; leave loss out, or have the "
                "classes declared",
                "SRD-T202",
            )
        model = written(recipe.word("model"), declared.shape or (), declared.classes or 1)
        drawn = sampler(recipe.sampling, recipe.word("batch"), declared.size)
        steps = steps_of(recipe.word("steps"), recipe.word("epochs"), drawn.batch, declared.size)
        _check_length(recipe, drawn, steps, declared.size)
        epsilon, delta, rho, noise = (recipe.word(word) for word in ("epsilon", "delta", "rho", "noise"))
        by_account = noise is not None or recipe.pay != TRANCHES
        own = account if by_account else budget_of_its_own(account, epsilon, delta, rho)
        if own is None:
            raise ArgumentError(
                "noise alone, and what is paid whole, is priced by the budget of the data set, which has none",
                "SRD-A003",
            )
        said = Said(drawn, steps, declared.size, Spent(epsilon, delta, rho, noise), recipe.correlation)
        pay = Pay(recipe.pay, recipe.word("tranche"), delta)
        course, multiplier = said.settled(pay, account, declared.neighbours)
        clip = adaptive() if recipe.clipping == "adaptive" else recipe.clipping
        if isinstance(clip, Adaptive):
            check_adaptive(clip, course.correlation, multiplier, course.sampler)
        return cls(declared, model, loss, course, multiplier, Filter.open(own))

    @property
    def sampler(self) -> Sampler:
        """How units are drawn."""
        return self.course.sampler

    @property
    def steps(self) -> int:
        """How many steps there are."""
        return self.course.steps

    @property
    def tranche(self) -> int:
        """How many steps are charged at once."""
        return self.course.payment.length(self.steps)

    def ran(self, steps: int) -> Event:
        """Return what so many steps run."""
        correlation = self.course.correlation
        return correlation.event(self.sampler, Gaussian(self.multiplier**2 * correlation.gain(self.sampler)), steps)

    def event(self) -> Event:
        """Return what all steps are charged as."""
        return self.course.payment.charged(self.ran(self.steps))

    def spent(self, *events: Event) -> float:
        """Return what steps cost by themselves: their ε at the δ of the training, by the best Rényi order; or their ρ.

        True of a run whose length is fixed beforehand. An account keeps some of its δ for whoever steers by answers, so
        what it is charged there is a little more; `rule` says how much. What is paid whole costs what it is declared
        with, and what is run again is declared again.
        """
        counted = [charged_as(event, self.sampler.neighbours, self.declared.neighbours) for event in events]
        payment = self.course.payment
        if isinstance(payment, Whole):
            return float(sum(declare(event, payment.delta).epsilon for event in counted))
        calculus, delta = self.rule.budget.calculus, self.rule.budget.delta
        orders = _ORDERS if calculus == "renyi" else ()
        charge = Columns(calculus, orders).charge(Composed(tuple(counted)))
        found = (epsilon_rounded_up(order, amount, delta) for order, amount in zip(orders, charge[1:-1], strict=True))
        return float(min((Fraction(charge[-1], PER_EPSILON), *found)))

    @property
    def measure(self) -> str:
        """What `spent` tells."""
        whole = isinstance(self.course.payment, Whole)
        return "epsilon" if whole or self.rule.budget.epsilon is not None else "rho"

    def told(self) -> Plain:
        """Return what a price says beside the charge: all of it public."""
        payment, column = self.course.payment, self.course.correlation.column
        spent = self.spent(self.ran(self.steps))
        if isinstance(payment, Whole):
            within, delta = spent, payment.delta
        else:
            own = self.rule.budget
            within, delta = float(own.epsilon or own.rho or 0), own.delta
        return {
            "model": dict(self.model.plain),
            "parameters": self.model.parameters,
            "loss": self.loss,
            "batch": self.sampler.batch,
            "steps": self.steps,
            "pay": payment.name,
            "tranche": self.tranche,
            "noise_multiplier": float(self.multiplier),
            "bands": None if isinstance(self.course.correlation, Independent) else len(column),
            "measure": self.measure,
            "within": within,
            "spent": spent,
            "delta": float(delta) if delta and self.measure == "epsilon" else None,
            "by_tranche": [[end, self.spent(self.ran(end))] for end in self._ends()],
        }

    def _ends(self) -> list[int]:
        """Return after which steps ε is told: after each tranche, or after some where there are many."""
        ends = range(0, self.steps + self.tranche, self.tranche)
        every = -(-len(ends) // MOST_POINTS)
        return sorted({*(min(end, self.steps) for end in ends[::every]), self.steps} - {0})


def _check_length(recipe: Recipe, drawn: Sampler, steps: int, size: int) -> None:
    """Refuse more steps or tranches than are run from a recipe, before anything is computed from them."""
    own = recipe.word("tranche")
    at_once = recipe.pay != TRANCHES or (recipe.correlation is not None and own is None)
    tranche = steps if at_once else min(in_tranches(own, drawn, size).steps, steps)
    if steps > MOST_STEPS or steps > MOST_TRANCHES * tranche:
        raise ArgumentError(
            f"this training has {steps:,} steps, charged {tranche:,} at a time; at most {MOST_STEPS:,} steps and "
            f"{MOST_TRANCHES:,} tranches are run from a recipe: take fewer epochs, a larger batch or tranche",
            "SRD-T202",
        )
