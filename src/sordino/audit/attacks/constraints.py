"""What was published about a place, as the rows of an integer program: its unknowns are the people in each cell."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .integer_program import Columns, Program
from .published import Fact, Place

_SLACK = 1e-6
"""Of a mean's rounding, so that a value half-way is not lost to floats."""


def constraints_of(facts: Sequence[Fact], place: Place) -> tuple[Program, Columns, tuple[Columns, Any]]:
    """Return the program of all facts, the columns of its people, and what is to be least."""
    program = Program()
    people = program.columns(len(place.cells))
    residuals: list[Columns] = []
    scales: list[float] = []
    for fact in facts:
        group = people[place.group(fact.group)]
        years = place.years[group]
        if fact.most is not None:
            program.row(group, 1.0, 0.0, fact.most)
        if fact.count is not None and fact.noise:
            off = program.columns(2, whole=False)
            program.row([*group, *off], [*np.ones(len(group)), -1.0, 1.0], fact.count, fact.count)
            residuals.append(off)
            scales += [1 / fact.noise] * 2
        elif fact.count is not None:
            program.row(group, 1.0, fact.count, fact.count)
        if fact.mean is not None and fact.count is not None:
            half = fact.count * (0.5 * 10.0**-fact.digits + _SLACK)
            program.row(group, years, fact.mean * fact.count - half, fact.mean * fact.count + half)
        if fact.median is not None and fact.count is not None:
            _median(program, group, years, int(fact.count), fact.median)
    joined = np.concatenate(residuals) if residuals else np.empty(0, dtype=np.int64)
    return program, people, (joined, np.array(scales))


def _median(program: Program, group: Columns, years: Any, count: int, median: float) -> None:
    """Demand that the middle one, or the mean of the two in the middle, is `median`."""
    if count % 2:
        program.row(group[years <= median], 1.0, low=count // 2 + 1)
        program.row(group[years >= median], 1.0, low=count // 2 + 1)
        return
    # The two in the middle are a and 2·median − a for one a: which, is an unknown of its own.
    half = count // 2
    present = {float(year) for year in years}
    lower = np.array(sorted(year for year in present if year <= median and 2 * median - year in present))
    chosen = program.columns(len(lower), upper=1.0)
    program.row(chosen, 1.0, 1.0, 1.0)
    for year in lower.tolist():
        upto, beyond = chosen[lower <= year], chosen[lower >= year]
        mirror = 2 * median - year
        # If the chosen a is at most `year`, half of the people are at most `year`; and at most half − 1 are below a.
        _at_least(program, group[years <= year], upto, half)
        _at_least(program, group[years >= mirror], upto, half)
        _at_most(program, group[years < year], beyond, half - 1, count)
        _at_most(program, group[years > mirror], beyond, half - 1, count)


def _at_least(program: Program, group: Columns, if_any: Columns, least: int) -> None:
    program.row([*group, *if_any], [*np.ones(len(group)), *np.full(len(if_any), -float(least))], low=0.0)


def _at_most(program: Program, group: Columns, if_any: Columns, most: int, count: int) -> None:
    weights = [*np.ones(len(group)), *np.full(len(if_any), float(count - most))]
    program.row([*group, *if_any], weights, high=float(count))
