"""How the used part of a budget rose, charge by charge: the one computation behind every part that is shown.

A charge is told as what it added to *used*, by the rule with which its price was told (`Filter.rise`). So prices,
what is used and left, the budget over time, sums by analyst and the table of mechanisms add up. All of it is counted
at the caps of today: where an owner changed them, what was charged before is another part than was told then.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass, field
from fractions import Fraction

from sordino.accounting.columns import Vector, add
from sordino.accounting.filter import Filter
from sordino.ledger.rule import Rule


@dataclass(frozen=True, slots=True)
class Step:
    """What changed in a scope at one time: a charge, or a new period (no amount)."""

    time: int
    analyst: str | None
    amount: Vector | None
    days: tuple[str, ...] = ()
    """The days that were charged, where each has a budget of its own."""


@dataclass(frozen=True, slots=True)
class Risen:
    """What one step did: by how much *used* rose, what it was then, and the column by which it was told."""

    rise: float
    used: float
    column: int


@dataclass
class Course:
    """The steps of one scope under one rule, taken in order; what was taken is not taken again."""

    rule: Rule
    taken: list[Risen] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._lock = threading.Lock()
        self._begin()

    def follow(self, steps: list[Step]) -> list[Risen]:
        """Return what each step did, and maybe later ones, having taken in those that are new."""
        with self._lock:
            for place in range(len(self.taken), len(steps)):
                self.taken.append(self._take(steps[place]))
            return self.taken

    @property
    def _filter(self) -> Filter:
        return self.rule.filter

    def _begin(self) -> None:
        nothing = self._filter.columns.nothing
        self._floor, self._largest = nothing, nothing
        self._days: dict[str, Vector] = {}

    def _take(self, step: Step) -> Risen:
        if step.amount is None:
            self._begin()
            return self._told(self._floor, Fraction(0))
        if len(step.amount) != len(self._filter.caps):  # charged under another calculus
            return self._told(self._largest, Fraction(0))
        if not step.days:  # where days have budgets: burnt on every one, for nobody knows which it was
            rise = self._filter.rise(self._largest, step.amount)
            self._floor, self._largest = add(self._floor, step.amount), add(self._largest, step.amount)
            self._days = {day: add(spent, step.amount) for day, spent in self._days.items()}
            return self._told(self._largest, rise)
        before = self._busiest(step.days)
        changed = {day: add(self._days.get(day, self._floor), step.amount) for day in step.days}
        self._days |= changed
        self._largest = tuple(map(max, self._largest, *changed.values()))
        after = self._busiest(step.days)
        return self._told(after, self._part(after) - self._part(before))

    def _busiest(self, days: tuple[str, ...]) -> Vector:
        """Return the vector that a price on these days is added to (``ledger/balance.py``)."""
        if self.rule.one_column_for_all_blocks:
            return self._largest
        return tuple(map(max, self._floor, self._floor, *(self._days.get(day, self._floor) for day in days)))

    def _part(self, spent: Vector) -> Fraction:
        return self._filter.part(spent, self._filter.telling(spent))

    def _told(self, after: Vector, rise: Fraction) -> Risen:
        return Risen(float(rise), min(float(self._part(self._largest)), 1.0), self._filter.telling(after))
