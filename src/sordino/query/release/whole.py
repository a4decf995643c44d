"""The plan of everything that one question runs: what is found first, and one pass for each set of keys.

ROLLUP, CUBE and GROUPING SETS are several questions over one relation; each gets an equal part of the price. Where
bounds must be found first, the passes can only be planned in detail afterwards, so the grant covers them by a claim:
pure ε (or ρ), which every division of it obeys.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property

from sordino import noise
from sordino.accounting.bound import Bound
from sordino.accounting.event import Event
from sordino.accounting.events import Approximate, Composed, Concentrated, Pure
from sordino.accounting.grant import Grant
from sordino.errors import QuestionError
from sordino.query.model.blocks import days_read
from sordino.query.model.kinds import Range
from sordino.query.model.metadata import Limits
from sordino.query.model.question import Question
from sordino.query.plan import limits as contribution
from sordino.query.plan.plan import QueryPlan
from sordino.query.plan.planner import Wishes, plan
from sordino.query.plan.spend import Spend, cut, root_rounded_down

from .discovery import (
    SHARE,
    Discovery,
    Found,
    discover,
    limits_unknown,
    plan_discovery,
    unknown_ranges,
    with_declared_keys,
)
from .losses import SHARE as LOSS_SHARE
from .losses import Losses, count_losses, estimate_losses, plan_losses
from .released import Released
from .run import Compute, measure, mute

_MOST_SHARE = 0.5
"""Finding bounds, and estimating losses, take at most this part of what is there."""


@dataclass(frozen=True)
class WholePlan:
    """What a question runs. Keeps the Plan protocol of ``accounting``."""

    question: Question
    spend: Spend
    wishes: Wishes
    discovery: Discovery | None
    rest: Spend
    """What is left for the passes after `discovery`."""
    passes: tuple[QueryPlan, ...]
    """One for each set of keys; empty where bounds must be found first."""
    losses: Losses | None = None
    """What is estimated about how much bounding cuts off, if asked for."""

    @property
    def bound(self) -> Bound:
        """What one unit can change in the first thing that is released."""
        return self.discovery.bound if self.discovery is not None else self.passes[0].bound

    @property
    def days(self) -> tuple[str, ...]:
        """All days that anything of it reads, as 2026-06-03; none where days have no budgets of their own."""
        return tuple(day.isoformat() for day in days_read(self.question.relation))

    def event(self) -> Event:
        """Return everything that is run, as one event."""
        return self._event

    @cached_property
    def _event(self) -> Event:
        if self.discovery is None:
            parts = tuple(each.event() for each in self.passes)
        else:
            parts = (self.discovery.event(), *self._claims())
        if self.losses is not None:
            parts = (*parts, *self.losses.events())
        return parts[0] if len(parts) == 1 else Composed(parts)

    def _claims(self) -> tuple[Event, ...]:
        """Return what holds for any plan of the passes: they are made of pure parts (and Gaussian ones for ρ)."""
        failure = Fraction(0) if contribution.keys_are_public(self.question) else self.rest.keys_delta
        if self.rest.epsilon is not None:
            return (Approximate(self.rest.epsilon, failure) if failure else Pure(self.rest.epsilon),)
        claim = Concentrated(self.rest.rho)  # type: ignore[arg-type]
        return (claim, Approximate(Fraction(0), failure)) if failure else (claim,)


@dataclass(frozen=True, eq=False)
class Outcome:
    """What came out: what was found, and for each pass its plan and its noisy answer."""

    found: Found | None
    passes: tuple[tuple[QueryPlan, Released], ...]
    losses: tuple[str, ...] = ()
    """What bounding cut off, in words."""


def plan_whole(
    question: Question, spend: Spend, wishes: Wishes, *, find: bool = True, losses: bool = False
) -> WholePlan:
    """Return the plan of a question; bounds that are missing are found privately unless `find` is False.

    With `losses`, how much bounding cuts off is estimated as well, for a part of the price.
    """
    extra = None
    whole = spend
    if losses and (count := count_losses(question)):
        share = min(LOSS_SHARE * count, _MOST_SHARE)
        taken, left = cut(spend.amount, (share, 1 - share))
        extra = plan_losses(question, _pure(taken / count, by_rho=spend.rho is not None))
        spend = spend.part(left)
    ranges = [each for each in unknown_ranges(question) if each not in wishes.ranges] if find else []
    find_limits = find and wishes.bounding is None and wishes.limits is None and limits_unknown(question)
    if question.schema.personal is not None and (extra or ranges or find_limits):
        raise QuestionError(
            "this data set protects people by classes, and what is found or estimated about people knows no classes; "
            "declare bounds(…) and limits(…), and leave losses out",
            "SRD-Q317",
        )
    if not ranges and not find_limits:
        return WholePlan(question, whole, wishes, None, spend, _passes(question, spend, wishes), extra)
    if wishes.noise == "gaussian" and spend.rho is None:
        raise QuestionError(
            "Gaussian noise at (ε, δ) is planned before anything is found; declare bounds and limits, or price by rho",
            "SRD-Q306",
        )
    contribution.check_keys(question, spend)
    share = min(SHARE * (len(ranges) + find_limits), _MOST_SHARE)
    found, rest = cut(spend.amount, (share, 1 - share))
    left_over = replace(spend.part(rest), gaussian_delta=Fraction(0))
    # Whatever would be refused afterwards is refused now, before anything is charged.
    placeholder = Found(Limits(rows=1) if find_limits else None, {each: Range.of(-1, 1) for each in ranges})
    _passes(question, left_over, with_found(question, wishes, placeholder))
    discovery = plan_discovery(
        question, found, ranges, left_over if find_limits else None, by_rho=spend.rho is not None
    )
    return WholePlan(question, whole, wishes, discovery, left_over, (), extra)


def _pure(amount: Fraction, *, by_rho: bool) -> Fraction:
    """Return the ε of a pure release that costs `amount`: of ε itself, or of ρ = ε²/2."""
    return root_rounded_down(2 * amount) if by_rho else amount


def run_whole(whole: WholePlan, grant: Grant, compute: Compute) -> Outcome:
    """Run everything once for the grant."""
    grant.use(whole.event())
    return mute(lambda: _run(whole, compute))


def _run(whole: WholePlan, compute: Compute) -> Outcome:
    found, passes = None, whole.passes
    if whole.discovery is not None:
        found = discover(whole.discovery, compute, noise.uniform(2**62))
        passes = _passes(whole.question, whole.rest, with_found(whole.question, whole.wishes, found))
    released = tuple((each, measure(each, compute)) for each in passes)
    lost = () if whole.losses is None else tuple(estimate_losses(whole.losses, passes[0], compute))
    return Outcome(found, released, lost)


def with_found(question: Question, wishes: Wishes, found: Found) -> Wishes:
    """Return the wishes with what was found filled in beside what is declared."""
    limits = wishes.limits
    if found.limits is not None:
        limits = replace(contribution.declared(question), rows=found.limits.rows)
    return replace(wishes, limits=limits, ranges={**found.ranges, **wishes.ranges})


def _passes(question: Question, spend: Spend, wishes: Wishes) -> tuple[QueryPlan, ...]:
    levels = questions(question)
    if len(levels) == 1:
        return (plan(levels[0], spend, wishes),)
    amounts = cut(spend.amount, [1.0] * len(levels))
    delta = spend.keys_delta / len(levels)
    # Gaussian noise is calibrated to one (ε, δ); several such do not add up to the sum of their ε's at the same δ.
    shares = [replace(spend.part(amount, keys_delta=delta), gaussian_delta=Fraction(0)) for amount in amounts]
    return tuple(plan(level, share, wishes) for level, share in zip(levels, shares, strict=True))


def questions(question: Question) -> list[Question]:
    """Return one question for each set of keys."""
    if question.grouping_sets is None:
        return [question]
    if question.key_table is not None:
        raise QuestionError(
            "totals over several sets of keys need keys that are declared, not listed in a public table; declare "
            "keys([…]) for the columns, or ask for each set by itself",
            "SRD-Q319",
        )
    kept = with_declared_keys(question)
    return [
        replace(question, relation=kept, keys=tuple(question.keys[place] for place in places), grouping_sets=None)
        for places in question.grouping_sets
    ]
