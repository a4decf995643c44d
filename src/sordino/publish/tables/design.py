"""All that is run for synthetic rows: bins for numbers, functions for what is determined, then the method.

**Guarantee**: the claim is what is spent. Every noisy count and every choice is paid by `purse.Purse` from an account
of exactly that budget, so together they stay within it.
**Proof**: `Running.rounds` is a filter (``accounting/filter.py``); bins, functions and models are computed from what
was released for its grants. ∎
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from sordino.accounting.bound import Bound
from sordino.accounting.event import Event
from sordino.arguments import Number
from sordino.data.metadata import Schema, Table
from sordino.publish.measuring import bound_of, bounding_of
from sordino.publish.price import Expected
from sordino.publish.publication import Running
from sordino.publish.spending import Spend

from .aim import CHOICE, ROUNDS_PER_COLUMN, Wanted
from .bins import chosen_starts, shares_within
from .cells import Empty, empty_cells, joined, of_function, place_of
from .constraints import Constraint, Determines
from .fields import Field
from .fitting import Measured
from .junction import Clique
from .methods import METHODS
from .purse import FINENESS, Purse, choice, noise_of, rounded_down
from .release import SyntheticTable, released
from .tabulated import Tabulated
from .values import Spread
from .workload import candidates

_FOR_BINS, _FOR_FUNCTIONS = Fraction(1, 10), Fraction(1, 20)


@dataclass(frozen=True)
class SyntheticDesign:
    """Synthetic rows, with what may be spent on them."""

    schema: Schema
    table: Table
    fields: tuple[Field, ...]
    """All columns in their finest cells."""
    workload: tuple[Clique, ...]
    constraints: tuple[Constraint, ...]
    method: str
    most_cells: int
    bins: int
    spend: Spend

    def __post_init__(self) -> None:
        """Build the smallest round that there can be, so that what is absurdly little is refused before a price."""
        least = rounded_down(self.spend.amount * CHOICE / (2 * ROUNDS_PER_COLUMN * len(self.fields)))
        noise_of(self.spend, least, self.bound)
        choice(self.spend, least, 2, FINENESS, self.bound)

    @property
    def bound(self) -> Bound:
        """What one unit can change in the counts of the first column."""
        return self.bound_of(self.fields[0].size)

    def bound_of(self, cells: int) -> Bound:
        """Return what one unit can change in the counts of disjoint cells."""
        return bound_of(self.schema, bounding_of(self.schema, self.table), cells)

    def event(self) -> Event:
        """Return the claim."""
        return self.spend.claim()

    @property
    def binned(self) -> tuple[int, ...]:
        """The columns whose bins are chosen privately."""
        return tuple(place for place, field in enumerate(self.fields) if field.numeric and field.parts > self.bins)

    @property
    def found(self) -> tuple[Determines, ...]:
        """The functions that are found privately."""
        return tuple(each for each in self.constraints if isinstance(each, Determines) and each.given is None)

    def share(self, part: Fraction, among: int) -> Fraction:
        """Return what each of several measurements of a part of the budget may spend."""
        return rounded_down(self.spend.amount * part / among)

    def expected(self, confidence: Number) -> tuple[Expected, ...]:
        """Return how far off the columns' own counts are when they are measured first; of the rest nothing is known."""
        sense = f"half the width of a {float(confidence):.0%} interval of a count, as measured"
        lines = []
        for place, field in enumerate(self.fields):
            if place in self.binned:
                amount = self.share(_FOR_BINS, len(self.binned))
                sized = f"{sense}, of each of {field.parts} cells before they are merged"
            elif self.method == "aim":
                amount, sized = self._first_round(), sense
            else:
                continue
            mechanism = noise_of(self.spend, amount, self.bound_of(field.size))
            lines.append(Expected(field.name, mechanism.error(float(confidence)), sized))
        off = "mean total variation of synthetic rows, which depends on the data"
        return (*lines, Expected("rows", float("inf"), off, at_most=True))

    def notes(self) -> tuple[str, ...]:
        """Return what was chosen and why."""
        said = [f"{self.method} on {len(self.workload)} marginals, a model of at most {self.most_cells:,} numbers"]
        if self.binned:
            names = ", ".join(self.fields[place].name for place in self.binned)
            said.append(f"a tenth of what is spent chooses bins for {names}")
        if self.found:
            names = ", ".join(each.target for each in self.found)
            said.append(f"a twentieth of what is spent finds what determines {names}")
        return tuple(said)

    def run(self, running: Running) -> SyntheticTable:
        """Measure, fit, and return the rows."""
        data = Tabulated(running.data.compute, self.table, bounding_of(self.schema, self.table))  # type: ignore[attr-defined]
        purse = Purse(running, self.spend, data.exact, self.bound_of, self.spend.amount)
        fields, spreads, known = self._bins(data, purse)
        data.over(fields)
        empty, known = self._functions(fields, purse, known)
        wanted = Wanted(
            tuple(field.size for field in fields), self.workload, candidates(self.workload), empty, self.most_cells
        )
        knowledge = METHODS[self.method](purse, wanted, known)
        running.stage("writing")
        return released(running.plan, fields, spreads, self.constraints, knowledge.model, knowledge.measured)

    def _first_round(self) -> Fraction:
        parts = (bool(self.binned) * _FOR_BINS) + (bool(self.found) * _FOR_FUNCTIONS)
        return self.spend.amount * (1 - parts) / (ROUNDS_PER_COLUMN * len(self.fields)) * Fraction(9, 10)

    def _bins(
        self, data: Tabulated, purse: Purse
    ) -> tuple[tuple[Field, ...], dict[str, Spread], dict[Clique, Measured]]:
        """Choose the bins of numbers, from noisy counts of their finest cells."""
        fields, spreads, known = list(self.fields), dict[str, Spread](), dict[Clique, Measured]()
        for place in self.binned:
            field = self.fields[place]
            axis = field.axis(self.table.columns[field.name])
            noisy = purse.noisy(data.alone([axis]), self.share(_FOR_BINS, len(self.binned)))
            fields[place], spreads[field.name], known[(place,)] = binned(field, noisy, self.bins)
        return tuple(fields), spreads, known

    def _functions(
        self, fields: Sequence[Field], purse: Purse, known: dict[Clique, Measured]
    ) -> tuple[Empty, dict[Clique, Measured]]:
        """Find what is determined: for each cell of the source the cell of the target with the highest noisy count."""
        found = []
        for each in self.found:
            source, target = place_of(fields, each.source), place_of(fields, each.target)
            pair = (min(source, target), max(source, target))
            noisy = purse.measure(pair, self.share(_FOR_FUNCTIONS, len(self.found)))
            known = {**known, pair: noisy}
            images = np.argmax(noisy.numbers if source < target else noisy.numbers.T, axis=1)
            found.append(of_function(fields, each, images))
        return joined(empty_cells(fields, self.constraints), found), known


def binned(field: Field, noisy: Measured, most: int) -> tuple[Field, Spread, Measured]:
    """Return a column in bins, how rows are spread within them, and the bins' own noisy counts."""
    numbers, deviation = noisy.numbers[: field.parts], float(noisy.precision) ** -0.5
    forced = {place for place, edge in enumerate(field.edges) if edge in field.forced}
    starts = chosen_starts(numbers, deviation, most, forced)
    ends = [*starts[1:], field.parts]
    bins = field.merged([*(field.edges[start] for start in starts), field.edges[-1]])
    widths = np.array([float(high - low) for low, high in zip(field.edges, field.edges[1:], strict=False)])
    shares = np.zeros((len(starts), field.parts))
    for row, (start, end) in enumerate(zip(starts, ends, strict=True)):
        shares[row, start:end] = shares_within(numbers[start:end], deviation, widths[start:end])
    counts = np.append(np.add.reduceat(numbers, starts), noisy.numbers[field.parts :])
    merged = np.append(np.subtract(ends, starts), np.ones(bins.size - bins.parts))
    return bins, Spread(field.edges, shares), Measured(counts, noisy.precision / merged)
