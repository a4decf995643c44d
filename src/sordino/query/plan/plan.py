"""The plan of one pass: what the engine computes, what noise it gets, and what all of it costs. No data was seen."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np

from sordino.accounting.bound import Bound
from sordino.accounting.digest import digest_of
from sordino.accounting.event import Event
from sordino.accounting.events import Composed
from sordino.mechanisms.gaussian import Gaussian
from sordino.mechanisms.grouped_choice import GroupedQuantile, GroupedTop
from sordino.mechanisms.laplace import Laplace
from sordino.query.model.blocks import days_read
from sordino.query.model.bounding import Bounding
from sordino.query.model.question import Question
from sordino.query.model.task import Task

from . import rungs
from .encoding import Block, weight_unit
from .rungs import Places
from .selection import Selection
from .spend import Spend
from .strategy import Matrix, Target

Additive = Laplace | Gaussian


@dataclass(frozen=True)
class NoisyBlock:
    """Features and the noise that they get."""

    block: Block
    mechanism: Additive
    bound: Bound

    @property
    def event(self) -> Event:
        """What its release runs."""
        return self.mechanism.event(self.bound)


@dataclass(frozen=True)
class NoisyHistogram:
    """One histogram of the task, every bin of which gets noise, for the aggregate at `aggregate`."""

    aggregate: int
    histogram: int
    mechanism: Additive
    bound: Bound

    @property
    def event(self) -> Event:
        """What its release runs."""
        return self.mechanism.event(self.bound)


@dataclass(frozen=True)
class Choice:
    """Buckets chosen from one histogram of the task, for the aggregate at `aggregate`.

    A quantile is up to three choices: the value, and the ends of its interval that were bought. A top is one.
    """

    aggregate: int
    histogram: int
    mechanisms: tuple[GroupedQuantile, ...] | tuple[GroupedTop]
    bound: Bound

    @property
    def without_interval(self) -> bool:
        """Whether it is a quantile whose interval was not bought."""
        return len(self.mechanisms) == 1 and isinstance(self.mechanisms[0], GroupedQuantile)

    def with_ends(self, values: Places, chosen: Callable[[GroupedQuantile], Places]) -> tuple[Places, ...]:
        """Return a quantile's values and, if any end was bought, both: an end is the rung that is chosen for it.

        What was not bought is the end of the range.
        """
        buckets = self.mechanisms[0].buckets  # type: ignore[union-attr]  # a quantile's
        bought = {end.guard: end for end in self.mechanisms[1:]}
        if not bought:
            return (values,)
        return values, *(
            rungs.to_buckets(chosen(bought[side]), values, buckets, upper=side > 0)
            if side in bought
            else np.full_like(values, -1 if side < 0 else buckets)
            for side in (-1, 1)
        )

    @property
    def event(self) -> Event:
        """What its releases run together."""
        return Composed(tuple(mechanism.event(self.bound) for mechanism in self.mechanisms))


@dataclass(frozen=True)
class Reading:
    """How noisy features are read: the targets, and for each the coefficients of all features, block after block."""

    targets: tuple[Target, ...]
    coefficients: Matrix
    steps: tuple[int, ...]
    places: tuple[tuple[int, ...], ...]
    """For each aggregate the places of its measures."""
    rows: tuple[tuple[int, ...], ...]
    """For each aggregate which targets it is computed from."""
    weight_place: int | None = None
    """Where the weight of a person's class stands among the measures."""

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Reading) and self.targets == other.targets and self.steps == other.steps

    def __hash__(self) -> int:
        return hash((self.targets, self.steps))


@dataclass(frozen=True)
class QueryPlan:
    """Everything that one pass runs. Keeps the Plan protocol of ``accounting``.

    **Guarantee**: `event()` covers all that ``run.measure`` lets out about one unit, under add/remove neighbours.
    **Proof**: the relation's rows of one person depend on that person alone (``relation.py``), bounding limits their
    weight (``bounding.py``), features limit what weight can do (``encoding.py``), each mechanism's event holds for its
    bound, and the mechanisms' composition is the composed event. Everything after them is post-processing. ∎
    """

    question: Question
    spend: Spend
    task: Task
    bounding: Bounding
    blocks: tuple[NoisyBlock, ...]
    histograms: tuple[NoisyHistogram, ...]
    choices: tuple[Choice, ...]
    selection: Selection | None
    """How private keys are selected; None where all keys are public."""
    reading: Reading

    @property
    def bound(self) -> Bound:
        """What one unit can change in the first thing that is released (the unit and the relation are those of all)."""
        if self.selection is not None:
            return self.selection.bound
        return self._parts[0].bound

    @property
    def _parts(self) -> tuple[NoisyBlock | NoisyHistogram | Choice, ...]:
        return (*self.blocks, *self.histograms, *self.choices)

    def worth_of(self, part: NoisyBlock) -> float:
        """Return what one step of a block's noise is worth, in features of one row."""
        return float(part.mechanism.grid.step) / weight_unit(part.block, self.bounding)

    kind: ClassVar[str] = "query"
    parts: ClassVar[int] = 0
    large: ClassVar[bool] = False

    @property
    def days(self) -> tuple[str, ...]:
        """All days that it reads, as 2026-06-03; none where days have no budgets of their own."""
        return tuple(day.isoformat() for day in days_read(self.question.relation))

    def digest(self) -> str:
        """Return the digest of the whole plan."""
        return digest_of(self)

    def event(self) -> Event:
        """Return everything that is run, as one event."""
        return self._event

    @cached_property
    def _event(self) -> Event:
        parts = [part.event for part in self._parts]
        if self.selection is not None:
            parts.insert(0, self.selection.event)
        return parts[0] if len(parts) == 1 else Composed(tuple(parts))
