"""ROLLUP, CUBE and GROUPING SETS: the answers of several levels as one table, counts and sums made to add up.

Levels can be made consistent where every row weighs the same at each of them: under row-level privacy, and where rows
are weighed by person. (A person's share of groups differs from level to level, and so do people and different values.)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from sordino.arguments import Number
from sordino.noise import DiscreteLaplace
from sordino.query.estimate.consistency import Level, consistent
from sordino.query.estimate.convolution import Floats
from sordino.query.estimate.estimate import Combined, Estimate, Interval, Linear, Picked, Rows, Several
from sordino.query.estimate.evaluate import Input
from sordino.query.estimate.ratio import blank_where_empty
from sordino.query.estimate.tails import variance
from sordino.query.model.question import Question
from sordino.query.plan.plan import QueryPlan
from sordino.query.plan.reading import Read, Released, read

_ADDITIVE = frozenset({"count_rows", "count", "sum"})
_SAME_WEIGHTS = frozenset({"row", "weigh"})


@dataclass(frozen=True, eq=False)
class Stacked(Estimate):
    """Estimates of several levels, one after the other, of which `rows` are shown."""

    parts: tuple[Estimate, ...]
    rows: Rows

    @property
    def values(self) -> Floats:  # type: ignore[override]
        """The values of all levels."""
        return np.concatenate([part.values for part in self.parts])[self.rows]

    def interval(self, confidence: Number) -> Interval:
        """Return each level's own intervals."""
        ends = [part.interval(confidence) for part in self.parts]
        return np.concatenate([low for low, _ in ends])[self.rows], np.concatenate([high for _, high in ends])[
            self.rows
        ]

    def take(self, rows: Rows) -> Stacked:
        """Return the estimate for these groups only."""
        return replace(self, rows=self.rows[rows])


def join_levels(
    question: Question, passes: Sequence[tuple[QueryPlan, Released]], *, add_up: bool
) -> tuple[dict[str, Input], list[str]]:
    """Return what ``k0`` … and ``a0`` … stand for over all levels, and what is to be said about it."""
    sets = question.grouping_sets or ()
    values: dict[str, Input] = {}
    for place in range(len(question.keys)):
        column: list[object] = []
        for keys, (_, released) in zip(sets, passes, strict=True):
            column += released.keys[keys.index(place)] if place in keys else [None] * released.groups
        values[f"k{place}"] = column
    estimates = [[blank_where_empty(each) for each in read(plan, released)] for plan, released in passes]
    able = add_up and all(plan.bounding.method in _SAME_WEIGHTS and plan.selection is None for plan, _ in passes)
    for place, aggregate in enumerate(question.aggregates):
        column_parts = [each[place] for each in estimates]
        if able and aggregate.function in _ADDITIVE:
            column_parts = _added_up(sets, passes, column_parts)
        values[f"a{place}"] = _stack(column_parts)
    notes = ["in the rows of totals the keys that were added up over are NULL"]
    if add_up:
        notes.append(
            "counts and sums were made to add up over levels, which brings them closer to the truth as well"
            if able
            else "totals need not be the sums of their parts: each has noise of its own"
        )
    return values, notes


def _added_up(
    sets: Sequence[tuple[int, ...]], passes: Sequence[tuple[QueryPlan, Released]], parts: Sequence[Read]
) -> list[Read]:
    levels, laplace = [], False
    for keys, (_, released), estimate in zip(sets, passes, parts, strict=True):
        if not isinstance(estimate, Linear):
            raise TypeError("counts and sums are linear")
        cells = list(zip(*released.keys, strict=True)) if keys else [()]
        spread = np.full(released.groups, variance(estimate.noises))
        laplace |= any(isinstance(law, DiscreteLaplace) for law, _ in estimate.noises)
        levels.append(Level(keys, cells, estimate.values, spread))
    return [Combined(level.values, level.variances, laplace) for level in consistent(levels)]


def _stack(parts: Sequence[Read]) -> Input:
    if all(isinstance(part, Estimate) for part in parts):
        flat = tuple(part for part in parts if isinstance(part, Estimate))
        return Stacked(flat, np.arange(sum(len(part.values) for part in flat)))
    if all(isinstance(part, Several) for part in parts):
        lists = [part.parts for part in parts if isinstance(part, Several)]
        stacked = (_stack(column) for column in zip(*lists, strict=True))
        return Several(tuple(part for part in stacked if isinstance(part, Estimate)))
    return Picked([value for part in parts if isinstance(part, Picked) for value in part.values])
