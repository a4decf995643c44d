"""Budgets as people read them: the cap, what is used, who used it, the budget over time, and when it begins anew."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from sordino.accounting.budget import Budget, budget
from sordino.accounting.columns import Vector
from sordino.errors import ArgumentError, LedgerError, SordinoError
from sordino.ledger.periods import moment
from sordino.ledger.rule import Rule
from sordino.ledger.scope import Scope
from sordino.ledger.state import State
from sordino.serve.asking.premises import Premises
from sordino.serve.keeping.identity import Principal

from .course import Risen, Step
from .journal import Journal

_MOST_POINTS = 500
_MOST_DAYS = 366
_NUMBERS = ("epsilon", "delta", "rho", "own_delta_share")


@dataclass(frozen=True)
class _Held:
    """What the ledger says about a scope at one moment."""

    rule: Rule
    counted: Vector
    lifetime: Vector
    next_start: int | None
    days: tuple[tuple[str, Vector], ...]
    """What was spent on the last days that were charged, where each has a budget of its own."""

    @property
    def column(self) -> int:
        """The column that has most left, by which it is told; the first is the events' own δ."""
        return self.rule.filter.telling(self.counted)


def read_budget(given: Mapping[str, Any]) -> Budget:
    """Return the budget that a dictionary says: epsilon with or without delta, or rho."""
    return budget(**{name: given[name] for name in _NUMBERS if given.get(name) is not None})


def summary(house: Premises, name: str) -> dict[str, Any] | None:
    """Return a data set's budget in short, or None where it has none yet."""
    try:
        held = _held(house, Scope("dataset", name))
    except LedgerError as error:
        if error.code != "SRD-L022":
            raise
        return None
    return _short(held)


def lifetime(house: Premises, name: str) -> dict[str, Any]:
    """Return all that was ever charged to a data set: in the column that has most left, and as an honest (ε, δ)."""
    held = _held(house, Scope("dataset", name))
    named = held.rule.filter.columns.names[held.column]
    return {
        "counted_in": named,
        "spent": held.rule.filter.columns.describe(held.lifetime)[named],
        "loss": _loss(held),
    }


def report(house: Premises, journal: Journal, who: Principal, kind: str, name: str) -> dict[str, Any]:
    """Return all about the budget of a scope; an analyst sees the others' spending as one sum."""
    scope = Scope(kind, name)  # type: ignore[arg-type]  # checked there
    held = _held(house, scope)
    steps = journal.course(scope.text, held.rule)
    left = held.rule.filter.remaining(held.counted)
    named = held.rule.filter.columns.names[held.column]
    return {
        "scope": scope.text,
        "name": name,
        **_short(held),
        "promise": held.rule.promise,
        "unit": held.rule.unit,
        "neighbours": None if held.rule.neighbours is None else held.rule.neighbours.value,
        "blocks": held.rule.blocks,
        "groups": list(held.rule.groups),
        "counted_in": named,
        "spent": held.rule.filter.columns.describe(held.counted)[named],
        "cap": held.rule.filter.columns.describe(held.rule.filter.caps)[named],
        "lifetime": held.rule.filter.columns.describe(held.lifetime)[named],
        "loss": _loss(held),
        "remaining": str(left),
        "remaining_epsilon": _float(left.epsilon),
        "remaining_rho": _float(left.rho),
        "remaining_own_delta": _float(left.own_delta),
        "by_analyst": _by_analyst(steps, who),
        "points": _points(steps),
        "by_day": [{"day": day, "used": held.rule.filter.used(spent)} for day, spent in held.days],
    }


def _held(house: Premises, scope: Scope) -> _Held:
    now = house.ledger.now()

    def look(state: State) -> _Held:
        balance, time = state.balance(scope), state.next_time(now)
        fresh = balance.due(time) is not None
        counted = balance.rule.filter.columns.nothing if fresh else balance.busiest
        days = tuple(sorted(balance.days.items())[-_MOST_DAYS:])
        return _Held(balance.rule, counted, balance.lifetime, balance.next_start(time), days)

    return house.ledger.look(look)


def _short(held: _Held) -> dict[str, Any]:
    cap = held.rule.budget
    return {
        "budget": str(cap),
        "calculus": cap.calculus,
        "epsilon": _float(cap.epsilon),
        "rho": _float(cap.rho),
        "delta": float(cap.delta),
        "used": min(held.rule.filter.used(held.counted), 1.0),
        "refresh": held.rule.refresh,
        "refreshes_at": None if held.next_start is None else moment(held.next_start),
    }


def _loss(held: _Held) -> dict[str, float] | None:
    """Return an honest (ε, δ) of everything ever charged, where there is one."""
    cap = held.rule.budget
    try:
        epsilon, delta = held.rule.filter.spent_as(held.lifetime, cap.rest_delta if cap.calculus == "renyi" else 0)
    except SordinoError:
        return None
    return {"epsilon": float(epsilon), "delta": float(delta)} if math.isfinite(epsilon) else None


def _by_analyst(steps: list[tuple[Step, Risen]], who: Principal) -> list[dict[str, Any]]:
    sums: dict[str, float] = {}
    counts: dict[str, int] = {}
    for step, risen in steps:
        if step.amount is not None:
            name = step.analyst or "lost entries"
            if who.role == "analyst" and name != who.subject:
                name = "others"
            sums[name] = sums.get(name, 0.0) + risen.rise
            counts[name] = counts.get(name, 0) + 1
    found = [{"analyst": name, "part": total, "charges": counts[name]} for name, total in sums.items()]
    return sorted(found, key=lambda each: (-each["part"], each["analyst"]))


def _points(steps: list[tuple[Step, Risen]]) -> list[tuple[str, float]]:
    """Return the used part over time, of the busiest day where days have budgets; thinned where there are very many."""
    points = [(moment(step.time), risen.used) for step, risen in steps]
    stride = max(1, math.ceil(len(points) / _MOST_POINTS))
    return points[::-1][::stride][::-1]


def _float(value: Fraction | None) -> float | None:
    return None if value is None else float(value)


def checked_kind(kind: str) -> str:
    """Return the kind of a scope whose budget an owner may cap beside data sets."""
    if kind not in ("analyst", "project", "group"):
        raise ArgumentError("a cap is for an analyst, a project or a group; a data set has set_budget", "SRD-A002")
    return kind
