"""Paying for a training as it goes: each tranche is reserved before its first step and settled after its last.

In a filter tranches of independently noised steps cost together what the whole costs. So whoever stops early just stops
reserving: no refund exists. Whatever interrupts a tranche leaves it charged; steps that are run again are paid again.

**Guarantee**: the steps that were run are at most the steps that were charged, at every moment and after any crash.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sordino.accounting.work import Work
from sordino.data.account import DataAccount

from .plan import Recipe, Trained, TrainingPlan

Kept = Callable[[int], str]
"""Told that so many steps of the training are behind it; keeps a checkpoint, and returns the weights' digest."""


class Tranches:
    """The way of one training through the gate. `next_step` is the next one to run, from 0."""

    def __init__(self, account: DataAccount[Any], recipe: Recipe, kept: Kept, next_step: int = 0) -> None:
        self.next_step = next_step
        self.settled: list[Trained] = []
        self._account = account
        self._recipe = recipe
        self._kept = kept
        self._open: tuple[TrainingPlan, Work] | None = None

    def advance(self) -> tuple[TrainingPlan, int] | None:
        """Return the charged plan of the next step, and its number within it; None when all steps are done."""
        if self._open is not None and self._ran == self._open[0].steps:
            self.settle()
        if self.next_step >= self._recipe.steps:
            return None
        if self._open is None:
            plan = self._recipe.tranche_from(self.next_step)
            work = self._account.begin(plan)
            work.grant.use_for(plan)
            self._open = plan, work
        return self._open[0], self._ran

    def step_is_run(self) -> None:
        """Say that the step was run, before anything of it leaves."""
        self.next_step += 1

    def settle(self) -> None:
        """Keep what came of the tranche in flight, if there is one, and settle it."""
        if self._open is None:
            return
        plan, work = self._open
        with work:
            ran, weights = self._ran, self._kept(self.next_step)
            self._open = None
            self.settled.append(work.finish(Trained(plan, ran, weights)))

    def fail(self, error: BaseException) -> None:
        """Give the tranche in flight up; its charge stands."""
        if self._open is not None:
            self._open[1].fail(error)
            self._open = None

    @property
    def _ran(self) -> int:
        return 0 if self._open is None else self.next_step - self._open[0].first
