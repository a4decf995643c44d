"""The plan of everything that one question runs: what is found first, and one pass for each set of keys.

ROLLUP, CUBE and GROUPING SETS are several questions over one relation; each gets an equal part of the price. Where
bounds must be found first, the passes can only be planned in detail afterwards, so the grant covers them by a claim:
pure ε (or ρ), which every division of it obeys.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import ClassVar

from sordino.accounting.bound import Bound
from sordino.accounting.digest import digest_of
from sordino.accounting.event import Event
from sordino.accounting.events import Approximate, Composed, Concentrated, Pure
from sordino.data.kinds import Range
from sordino.data.metadata import Limits
from sordino.errors import QuestionError
from sordino.query.model.blocks import days_read
from sordino.query.model.question import Question

from . import limits as contribution
from .discovery import SHARE, Discovery, Found, limits_unknown, plan_discovery, unknown_ranges, with_declared_keys
from .plan import QueryPlan
from .planner import Wishes, plan
from .spend import Spend, cut, root_rounded_down
from .truncation import SHARE as TRUNCATION_SHARE
from .truncation import Truncation, count_truncation, plan_truncation

_MOST_SHARE = 0.5
"""Finding bounds, and estimating truncation, take at most this part of what is there."""


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
    truncation: Truncation | None = None
    """What is estimated about how much bounding cuts off, if asked for."""

    kind: ClassVar[str] = "query"
    parts: ClassVar[int] = 0
    large: ClassVar[bool] = False

    @property
    def bound(self) -> Bound:
        """What one unit can change in the first thing that is released."""
        return self.discovery.bound if self.discovery is not None else self.passes[0].bound

    @property
    def days(self) -> tuple[str, ...]:
        """All days that anything of it reads, as 2026-06-03; none where days have no budgets of their own."""
        return tuple(day.isoformat() for day in days_read(self.question.relation))

    def digest(self) -> str:
        """Return the digest of the whole plan; how an answer is shown is no part of it, as that is post-processing."""
        return self._digest

    @cached_property
    def _digest(self) -> str:
        return digest_of(self)

    def event(self) -> Event:
        """Return everything that is run, as one event."""
        return self._event

    @cached_property
    def _event(self) -> Event:
        if self.discovery is None:
            parts = tuple(each.event() for each in self.passes)
        else:
            parts = (self.discovery.event(), *self._claims())
        if self.truncation is not None:
            parts = (*parts, *self.truncation.events())
        return parts[0] if len(parts) == 1 else Composed(parts)

    def _claims(self) -> tuple[Event, ...]:
        """Return what holds for any plan of the passes: they are made of pure parts (and Gaussian ones for ρ)."""
        failure = Fraction(0) if contribution.keys_are_public(self.question) else self.rest.keys_delta
        if self.rest.epsilon is not None:
            return (Approximate(self.rest.epsilon, failure) if failure else Pure(self.rest.epsilon),)
        claim = Concentrated(self.rest.rho)  # type: ignore[arg-type]
        return (claim, Approximate(Fraction(0), failure)) if failure else (claim,)


def plan_whole(
    question: Question, spend: Spend, wishes: Wishes, *, find: bool = True, truncation: bool = False
) -> WholePlan:
    """Return the plan of a question; bounds that are missing are found privately unless `find` is False.

    With `truncation`, how much bounding cuts off is estimated as well, for a part of the price.
    """
    extra = None
    whole = spend
    if truncation and (count := count_truncation(question)):
        share = min(TRUNCATION_SHARE * count, _MOST_SHARE)
        taken, left = cut(spend.amount, (share, 1 - share))
        extra = plan_truncation(question, _pure(taken / count, by_rho=spend.rho is not None))
        spend = spend.part(left)
    ranges = [each for each in unknown_ranges(question) if each not in wishes.ranges] if find else []
    find_limits = find and wishes.bounding is None and wishes.limits is None and limits_unknown(question)
    if question.schema.personal is not None and (extra or ranges or find_limits):
        raise QuestionError(
            "this data set protects people by classes, and what is found or estimated about people knows no classes; "
            "declare bounds(…) and limits(…), and leave truncation out",
            "SRD-Q317",
        )
    if not ranges and not find_limits:
        return WholePlan(question, whole, wishes, None, spend, passes_of(question, spend, wishes), extra)
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
    passes_of(question, left_over, with_found(question, wishes, placeholder))
    discovery = plan_discovery(
        question, found, ranges, left_over if find_limits else None, by_rho=spend.rho is not None
    )
    return WholePlan(question, whole, wishes, discovery, left_over, (), extra)


def _pure(amount: Fraction, *, by_rho: bool) -> Fraction:
    """Return the ε of a pure release that costs `amount`: of ε itself, or of ρ = ε²/2."""
    return root_rounded_down(2 * amount) if by_rho else amount


def with_found(question: Question, wishes: Wishes, found: Found) -> Wishes:
    """Return the wishes with what was found filled in beside what is declared."""
    limits = wishes.limits
    if found.limits is not None:
        limits = replace(contribution.declared(question), rows=found.limits.rows)
    return replace(wishes, limits=limits, ranges={**found.ranges, **wishes.ranges})


def passes_of(question: Question, spend: Spend, wishes: Wishes) -> tuple[QueryPlan, ...]:
    """Return one plan for each set of keys; all of them together cost `spend`."""
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
