"""A publication: a recipe for an account, ready to be priced and run once; both take the same words (``words.py``).

A `Recipe` says what is to be published, a `Design` everything that will be run for it, with its noise. Both are frozen
and public. The plan holds them; nothing of it has seen data.

**Guarantee**: a publication is charged whole before data is touched, by an event that covers all that its design runs:
the design's own list of events where all of it is fixed beforehand, else the claim of what was spent, and then an
account in memory with exactly that budget grants each round, so no round can overspend. The charge is the claim,
whatever was used. Errors while data is touched are mute, and the charge stands.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields, is_dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar, Generic, Protocol, TypeVar

from sordino.accounting.account import Account
from sordino.accounting.bound import Bound
from sordino.accounting.digest import digest_of
from sordino.accounting.event import Event
from sordino.accounting.grant import Grant
from sordino.accounting.work import muted
from sordino.arguments import Number
from sordino.data.account import DataAccount
from sordino.errors import ArgumentError
from sordino.query.plan.goal import cheapest

from .price import Expected, Price, line_of
from .released import Released
from .spending import Form, Spend, spend_of
from .words import Words, takes

R_co = TypeVar("R_co", bound=Released, covariant=True)
R = TypeVar("R", bound=Released)

Tell = Callable[..., None]
"""Told the stage (measuring, fitting, writing), and by words what of it is public, such as the share of ρ spent."""


def untold(_stage: str, **_public: Any) -> None:
    """Tell nobody."""


class Design(Protocol[R_co]):
    """Everything that one publication will run, with its noise: a frozen dataclass."""

    @property
    def bound(self) -> Bound:
        """What one unit can change in the first thing that is measured (unit and relation are those of all)."""
        ...

    def event(self) -> Event:
        """Return all that is run: a list of events, or the claim of what is spent where rounds adapt."""
        ...

    def expected(self, confidence: Number) -> tuple[Expected, ...]:
        """Return how far off what is published will be."""
        ...

    def notes(self) -> tuple[str, ...]:
        """Return what a reader of the price should know beside: what is not protected, what was chosen and why."""
        ...

    def run(self, running: Running) -> R_co:
        """Measure, fit, and return the release, without its receipt."""
        ...


class Recipe(Protocol[R_co]):
    """What is to be published, before it is known what may be spent: a frozen dataclass."""

    name: ClassVar[str]
    """As the ledger, pages and commands call it."""
    forms: ClassVar[tuple[Form, ...]]
    """What its noise can be: pure, concentrated, or either."""
    adapts: ClassVar[bool]
    """Whether later mechanisms depend on earlier results."""

    def design(self, spend: Spend) -> Design[R_co]:
        """Return all that is run for so much, or refuse."""
        ...

    def plain(self) -> dict[str, Any]:
        """Return the parameters as JSON can hold them, by the words of the function that makes the recipe."""
        ...


@dataclass(frozen=True)
class PublicationPlan(Generic[R_co]):
    """One publication of `dataset`. Keeps the Plan protocol of ``accounting``."""

    dataset: str
    recipe: Recipe[R_co]
    spend: Spend
    design: Design[R_co]

    kind: ClassVar[str] = "publication"
    parts: ClassVar[int] = 0
    large: ClassVar[bool] = True

    @property
    def days(self) -> tuple[str, ...]:
        """The days that are charged, where each has a budget of its own; a design that reads by day says `days`."""
        found: tuple[str, ...] = getattr(self.design, "days", ())
        return found

    @property
    def bound(self) -> Bound:
        """What one unit can change in the first thing that is measured."""
        return self.design.bound

    def event(self) -> Event:
        """Return what an account is charged for."""
        return self._event

    @cached_property
    def _event(self) -> Event:
        return self.spend.charged(self.design.event())

    def digest(self) -> str:
        """Return the digest of the whole plan."""
        return self._digest

    @cached_property
    def _digest(self) -> str:
        return digest_of((self.kind, self.dataset, self.recipe, self.spend, self.design))

    def said(self) -> dict[str, Any]:
        """Return what a manifest says of the plan."""
        return {
            "recipe": self.recipe.name,
            "dataset": self.dataset,
            "unit": self.bound.unit.name,
            "neighbours": self.bound.neighbours.value,
            "spend": str(self.spend),
            "parameters": self.recipe.plain(),
            "plan": self.digest(),
        }


class Running:
    """What a design has while it runs: the data's account, a budget for its rounds, and whom to tell how far it is."""

    def __init__(self, data: DataAccount[Any], plan: PublicationPlan[Any], tell: Tell) -> None:
        self.data = data
        self.plan = plan
        self.rounds = Account(plan.spend.inner())
        self.rounds.protect(plan.bound.unit, plan.bound.neighbours)
        self._tell = tell

    def release(self, mechanism: Any, bound: Bound, value: Any) -> Any:
        """Return `value` with the noise of `mechanism`, paid from the publication's own budget."""
        return mechanism.release(value, self.grant(mechanism.event(bound), bound))

    def grant(self, event: Event, bound: Bound) -> Grant:
        """Return a grant for one mechanism, paid from the publication's own budget."""
        return self.rounds.reserve(event, bound)

    def stage(self, name: str, **public: Any) -> None:
        """Say how far it is: measuring, fitting or writing, and the share of the budget that rounds have used."""
        self._tell(name, spent=round(self.rounds.used, 4), **public)


class Publication(Generic[R]):
    """Something to publish, ready to be priced and run; both take the same words (see ``words.py``)."""

    def __init__(self, data: DataAccount[Any], recipe: Recipe[R], tell: Tell = untold) -> None:
        if not isinstance(data, DataAccount):
            raise ArgumentError(
                "a publication is charged to an account: so.account(data, so.budget(epsilon=…)), or one of so.open(…)",
                "SRD-A001",
            )
        self.data = data
        self.recipe = recipe
        self._tell = tell

    def telling(self, tell: Tell) -> Publication[R]:
        """Return the same publication, which says how far it is to `tell(stage, spent=…)` while it runs."""
        return Publication(self.data, self.recipe, tell)

    @takes(Words)
    def price(self, words: Words) -> Price:
        """Return the cost and the error to expect; touches no data and charges nothing."""
        plan = self._plan(words)
        quote, spend, event = self.data.price(plan), plan.spend, plan.event()
        epsilon = spend.epsilon if spend.is_pure else spend.declared_epsilon
        if epsilon is None and words.epsilon is not None:
            epsilon = Fraction(words.epsilon)
        errors, notes = plan.design.expected(words.confidence), plan.design.notes()
        return Price(
            epsilon, spend.rho, spend.declared_delta, event, quote.fits, str(quote), errors, notes, words.confidence
        )

    @takes(Words)
    def plan(self, words: Words) -> PublicationPlan[R]:
        """Return the plan itself, for those who want to look inside or charge it elsewhere."""
        return self._plan(words)

    @takes(Words)
    def run(self, words: Words) -> R:
        """Charge the price, then publish. What was charged stays charged, whatever happens."""
        plan = self._plan(words)
        ready = getattr(self.data.protected, "check_ready", None)
        if ready is not None:
            ready()

        def release(grant: Grant) -> R:
            grant.use_for(plan)
            return muted(
                lambda: plan.design.run(Running(self.data, plan, self._tell)),
                "this publication could not be finished; what was charged stays charged. Ask the data's owner to look "
                "at the engine's own log",
            )

        return self.data.carry_out(plan, release)

    def _plan(self, words: Words) -> PublicationPlan[R]:
        if words.error is None:
            return self._planned(words, words.epsilon, words.rho)
        goal = words.error
        by_rho = self.data.budget is not None and self.data.budget.rho is not None

        def make(amount: Fraction) -> PublicationPlan[R]:
            return self._planned(words, None if by_rho else amount, amount if by_rho else None)

        def off(plan: PublicationPlan[R]) -> float:
            return line_of(plan.design.expected(goal.confidence), goal.of).amount

        return make(cheapest(make, off, float(goal.amount)))

    def _planned(self, words: Words, epsilon: Any, rho: Any) -> PublicationPlan[R]:
        recipe = self.recipe
        spend = spend_of(self.data.budget, epsilon, words.delta, rho, forms=recipe.forms, adapts=recipe.adapts)  # type: ignore[arg-type]
        return PublicationPlan(self.data.protected.name, recipe, spend, recipe.design(spend))

    def __repr__(self) -> str:
        said = fields(self.recipe) if is_dataclass(self.recipe) else ()
        return f"Publication({self.recipe.name} of {self.data.protected.name!r}, {len(said)} parameters)"
