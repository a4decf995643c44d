"""The one place where data is touched: exact numbers from the engine, noise at once, and nothing else ever leaves.

**Guarantee**: what `measure` returns depends on the data through the noise of the plan's mechanisms alone. Inside of
`mute`, whatever goes wrong is told as a `RunError` without a word of the engine's, and the charge stands.
**Assumes**: ``whole.run_whole`` has used the grant; the engine computes what it is asked, and its machine is as
trusted as the data.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from sordino import noise
from sordino.accounting.grant import Grant
from sordino.accounting.work import muted
from sordino.mechanisms.grid import LIMIT
from sordino.mechanisms.grouped_choice import GroupedHistogram, GroupedQuantile
from sordino.query.model.task import Exact, Task
from sordino.query.plan import rungs
from sordino.query.plan.encoding import Distinct, People, Statistic
from sordino.query.plan.plan import Choice, NoisyBlock, NoisyHistogram, QueryPlan
from sordino.query.plan.reading import Released
from sordino.query.plan.selection import Selection

Result = TypeVar("Result")
Compute = Callable[[Task, int], Exact]
"""Runs a task on the data's engine, with a salt for the order in which rows are sampled."""


def mute(work: Callable[[], Result]) -> Result:
    """Return what `work` returns, or raise a `RunError` that says nothing about why."""
    return muted(
        work,
        "the engine could not finish this question; what was charged stays charged. Ask the data's owner to look at "
        "the engine's own log",
    )


def measure(plan: QueryPlan, compute: Compute) -> Released:
    """Return the noisy answer of a plan whose grant has been used."""
    exact = compute(plan.task, noise.uniform(2**62))
    counts = None
    if plan.selection is not None:
        exact, counts = _select(plan.selection, exact)
    vectors = [_features(part, plan.task, exact) for part in plan.blocks]
    laws = [part.mechanism.law for part in plan.blocks for _ in part.block.features]
    worth = [plan.worth_of(part) for part in plan.blocks for _ in part.block.features]
    return Released(
        exact.keys,
        np.concatenate(vectors) if vectors else np.zeros((0, exact.groups)),
        tuple(laws),
        np.array(worth),
        tuple(_bins(part, plan, exact) for part in plan.histograms),
        tuple(_choose(part, exact) for part in plan.choices),
        counts,
    )


def _inner(part: Any, mechanism: Any) -> Grant:
    """Return a grant for one mechanism of a plan whose own grant has been used."""
    return Grant(mechanism.event(part.bound), part.bound)


def _select(selection: Selection, exact: Exact) -> tuple[Exact, NDArray[np.int64] | None]:
    """Return only those groups that partition selection lets out, and their noisy counts where they are asked for."""
    if exact.people is None:
        raise TypeError("the engine was not asked to count people")
    keep, counts = selection.mechanism.release(exact.people, _inner(selection, selection.mechanism))
    places = np.flatnonzero(keep)
    renumbered = np.cumsum(keep) - 1
    histograms = []
    for rows in exact.histograms:
        kept = rows[keep[rows[:, 0]]] if len(rows) else rows
        histograms.append(np.column_stack((renumbered[kept[:, 0]], kept[:, 1:])) if len(kept) else kept)
    shown = Exact(
        tuple([values[place] for place in places] for values in exact.keys),
        exact.sums[:, places],
        exact.people[places],
        exact.distincts[:, places],
        tuple(histograms),
    )
    return shown, counts if selection.counted else None


def _features(part: NoisyBlock, task: Task, exact: Exact) -> NDArray[np.float64]:
    """Return a block's features with noise, in steps of the noise."""
    noisy = part.mechanism.release_steps(exact_steps(part, task, exact), _inner(part, part.mechanism))
    return np.asarray(noisy, dtype=np.float64)


def exact_steps(part: NoisyBlock, task: Task, exact: Exact) -> NDArray[np.int64]:
    """Return a block's features (× groups) as whole steps of its noise, before the noise: secret."""
    return np.stack([_steps(feature, part, task, exact) for feature in part.block.features])


def _steps(feature: tuple[tuple[Statistic, int], ...], part: NoisyBlock, task: Task, exact: Exact) -> NDArray[np.int64]:
    """Return one feature's exact sums in steps of the noise; in int64 where nothing can overflow, else in Python's.

    A coefficient alone may be too large for int64, which is an error even where there is nothing but zeros to multiply.
    """
    columns = [(_column(statistic, task, exact), coefficient) for statistic, coefficient in feature]
    grid = part.mechanism.grid
    largest = sum(max(_largest(column), 1) * abs(coefficient) for column, coefficient in columns)
    if largest < LIMIT >> max(-grid.exponent, 0):
        total = np.asarray(sum(column * coefficient for column, coefficient in columns), dtype=np.int64)
        steps: NDArray[np.int64] = grid.to_steps(total)
        return steps
    return grid.whole_to_steps(np.asarray(sum(column.astype(object) * coefficient for column, coefficient in columns)))


def _largest(column: NDArray[Any]) -> int:
    return max(abs(int(column.max())), abs(int(column.min()))) if column.size else 0


def _column(statistic: Statistic, task: Task, exact: Exact) -> NDArray[Any]:
    if isinstance(statistic, People):
        if exact.people is None:
            raise TypeError("the engine was not asked to count people")
        return exact.people
    if isinstance(statistic, Distinct):
        column: NDArray[Any] = exact.distincts[statistic.place]
        return column
    sums: NDArray[Any] = exact.sums[task.monomials.index(statistic)]
    return sums


def _bins(part: NoisyHistogram, plan: QueryPlan, exact: Exact) -> NDArray[np.float64]:
    """Return a histogram with noise in every bin of every group, in rows."""
    counts = np.zeros((exact.groups, plan.task.histograms[part.histogram].buckets), dtype=np.int64)
    rows = exact.histograms[part.histogram]
    counts[rows[:, 0], rows[:, 1]] = rows[:, 2]
    noisy = part.mechanism.release(counts, _inner(part, part.mechanism))
    return np.asarray(noisy, dtype=np.float64) / plan.bounding.unit


def _choose(part: Choice, exact: Exact) -> tuple[NDArray[np.int64], ...]:
    rows, first = exact.histograms[part.histogram].reshape(-1, 3), part.mechanisms[0]
    values = first.release(GroupedHistogram(rows, exact.groups), _inner(part, first))
    if not isinstance(first, GroupedQuantile):
        return (values,)
    nearby = rungs.to_rungs(rows[:, 1], values[rows[:, 0]], first.buckets)
    around = GroupedHistogram(np.column_stack((rows[:, 0], nearby, rows[:, 2])), exact.groups)
    return part.with_ends(values, lambda end: end.release(around, _inner(part, end)))
