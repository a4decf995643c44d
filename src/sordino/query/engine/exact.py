"""The exact answer of a task: bounded contributions, added up by group in whole numbers, inside the engine.

**Guarantee**: with the same salt, the answers on a data set with and without one person differ by that person's bounded
contributions alone (``contributions.py``), each within what measures and monomials allow (``measures.py``): sums by at
most the weights of `Bounding` times the largest monomial, and all other groups not at all. Public keys come back all
and in their order. An engine's failure is told without a word of the engine's.
**Assumes**: tables do not change while the engine reads them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import reduce
from operator import and_, mul
from typing import Any

import ibis
import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from sordino.data.metadata import Schema
from sordino.query.model.expression import Expression
from sordino.query.model.task import Exact, Histogram, Monomial, Task

from .contributions import BUNDLED, ROWS, WEIGHT, Setting, bounded, bundled
from .expressions import lower_expression
from .group_keys import Groups, key_column, number
from .group_order import Order, PrivateOrder, PublicOrder
from .measures import bucket, step, whole
from .packing import Field
from .relations import lower_relation
from .scan import OWNER
from .slots import Given
from .statement import Statement, fetch, salt_on, statement
from .whole_numbers import as_whole, small_numbers, whole_numbers, whole_sum

Tables = Callable[[str], ibis.Table]

_PEOPLE = "people__"
_ALWAYS = "always__"


def compute(task: Task, schema: Schema, tables: Tables, salt: int) -> Exact:
    """Return the exact answer of a task. `salt` is drawn afresh by the caller; it decides which rows are sampled."""
    return prepare(task, schema, tables, salt).run(salt, {})


def prepare(task: Task, schema: Schema, tables: Tables, salt: int) -> Prepared:
    """Return the task in its engine's words; where that `takes_parameters`, it serves other salts than this as well."""
    source = lower_relation(task.relation, tables, schema)
    groups = _groups(task, schema, tables)
    engine = source.get_backend().name
    totals, spreads = queries(task, groups, engine, salt_on(engine, salt), source)
    return Prepared(task, groups, None if totals is None else statement(totals), tuple(map(statement, spreads)))


def queries(
    task: Task, groups: Groups, engine: str, salt: Any, source: ibis.Table
) -> tuple[ibis.Table | None, tuple[ibis.Table, ...]]:
    """Return what the engine is to find in the rows of `source`: totals by group, if any, and spreads over buckets."""
    translation = _Translation(task, groups, engine, salt)
    rows = translation.project(source)
    totals = translation.totals(rows) if translation.needs_totals else None
    return totals, tuple(translation.spread(rows, place) for place in range(len(task.histograms)))


@dataclass(frozen=True)
class Prepared:
    """One task, ready to run on one engine."""

    task: Task
    groups: Groups
    totals: Statement | None
    spreads: tuple[Statement, ...]

    def run(self, salt: int, given: Given) -> Exact:
        """Run the queries with what stands in their slots, and put their results in order."""
        task = self.task
        totals = None if self.totals is None else self.totals(salt, given)
        order = PublicOrder(self.groups) if self.groups.are_public else PrivateOrder(self.groups, totals)
        columns = {} if totals is None else _in_order(totals, order)
        sums = [columns[_sum(place)] for place in range(len(task.monomials))]
        distincts = [columns[_distinct(place)] for place in range(len(task.distincts))]
        return Exact(
            order.keys,
            np.stack(sums) if sums else np.zeros((0, order.size), np.int64),
            columns[_PEOPLE] if task.people else None,
            np.stack(distincts) if distincts else np.zeros((0, order.size), np.int64),
            tuple(_counted(spread(salt, given), order, place) for place, spread in enumerate(self.spreads)),
        )


def _groups(task: Task, schema: Schema, tables: Tables) -> Groups:
    if task.key_table is None:
        return Groups.of_keys(task.keys)
    public = lower_relation(task.key_table.relation, tables, schema)
    chosen = public.select(**{key_column(place): public[name] for place, name in enumerate(task.key_table.columns)})
    return Groups.of_table(task.keys, fetch(chosen.distinct()))


@dataclass(frozen=True)
class _Translation:
    """One task in the words of one engine."""

    task: Task
    groups: Groups
    engine: str
    salt: Any

    @property
    def _by_row(self) -> bool:
        return self.task.bounding.method == "row"

    def project(self, source: ibis.Table) -> ibis.Table:
        """Return what the task uses of each row, and nothing else: owner, keys, steps, values, buckets."""

        def lowered(expression: Expression) -> Any:
            return lower_expression(expression, source, self.engine)

        columns: dict[str, Any] = {} if self._by_row else {OWNER: source[OWNER]}
        columns |= {key_column(place): lowered(key.expression) for place, key in enumerate(self.task.keys)}
        for place, measure in enumerate(self.task.measures):
            columns[_measure(place)] = step(measure, lowered(measure.expression))
        columns |= {_distinct(place): lowered(expression) for place, expression in enumerate(self.task.distincts)}
        for place, histogram in enumerate(self.task.histograms):
            value = lowered(histogram.expression)
            columns[_bucket(place)] = value if histogram.categories is not None else bucket(histogram, value)
        rows = source.select(**(columns or {_ALWAYS: whole(1)}))
        for place, histogram in enumerate(self.task.histograms):
            if histogram.categories is not None:
                rows = _numbered(rows, _bucket(place), histogram)
        return rows if self._by_row else self.groups.code(rows)

    @property
    def needs_totals(self) -> bool:
        """Whether there is anything to add up by group, or groups are yet to be found."""
        task = self.task
        return bool(task.monomials or task.people or task.distincts or not self.groups.are_public)

    @property
    def _setting(self) -> Setting:
        return Setting(self.engine, self.salt, self.task.bounding, self.groups.columns, self._fields)

    @property
    def _fields(self) -> tuple[Field, ...] | None:
        """The ranges of all that a row is seen as, or None where some of it is not a number from a known range."""
        task = self.task
        if task.distincts or not self.groups.are_public:
            return None
        fields = [Field(name, 0, self.groups.size - 1) for name in self.groups.columns]
        fields += [Field(_measure(place), -each.steps, each.steps) for place, each in enumerate(task.measures)]
        return (*fields, *(Field(_bucket(place), 0, each.buckets - 1) for place, each in enumerate(task.histograms)))

    def totals(self, rows: ibis.Table) -> ibis.Table:
        """Return one line for each group that has rows: sums, people, distinct values."""
        lines, totals = self._bundle_totals(rows) if self.task.bounding.method in BUNDLED else self._row_totals(rows)
        totals |= {_distinct(place): lines[_distinct(place)].nunique() for place in range(len(self.task.distincts))}
        totals = {name: as_whole(total) for name, total in totals.items()}
        return self._by_group(lines, (), totals)

    def _row_totals(self, rows: ibis.Table) -> tuple[ibis.Table, dict[str, Any]]:
        kept = bounded(rows, self._setting)
        weight = kept[WEIGHT] if WEIGHT in kept.columns else None
        totals = {}
        for place, monomial in enumerate(self.task.monomials):
            factors = [each for each in (self._product(kept, monomial), weight) if each is not None]
            totals[_sum(place)] = whole_sum(self.engine, reduce(mul, factors)) if factors else kept.count()
        if self.task.people and not self._by_row:
            totals[_PEOPLE] = kept[OWNER].nunique()
        elif self.task.people or not totals:  # something must be asked of the groups if they are to be found
            totals[_PEOPLE] = kept.count()
        return kept, totals

    def _bundle_totals(self, rows: ibis.Table) -> tuple[ibis.Table, dict[str, Any]]:
        products = {_sum(place): self._product(rows, monomial) for place, monomial in enumerate(self.task.monomials)}
        inner = {name: whole_sum(self.engine, each) for name, each in products.items() if each is not None}
        lines = bundled(rows, self._setting, inner)
        totals = {
            name: whole_sum(self.engine, lines[WEIGHT] * (lines[ROWS] if each is None else lines[name]))
            for name, each in products.items()
        }
        return lines, {**totals, _PEOPLE: lines.count()}

    def spread(self, rows: ibis.Table, place: int) -> ibis.Table:
        """Return one line for each group and bucket that has rows: what they weigh."""
        name = _bucket(place)
        kept = bounded(rows, self._setting)
        kept = kept.filter(kept[name].notnull())
        weight = whole_sum(self.engine, kept[WEIGHT]) if WEIGHT in kept.columns else kept.count()
        return self._by_group(kept, (name,), {WEIGHT: as_whole(weight)})

    def _by_group(self, lines: ibis.Table, further: tuple[str, ...], totals: dict[str, Any]) -> ibis.Table:
        """Return totals by group. Rows that are units are numbered after they are added up: there are fewer then."""
        if not self._by_row:
            return lines.aggregate(by=[*self.groups.columns, *further], **totals)
        return self.groups.code(lines.aggregate(by=[*self.groups.raw_columns, *further], **totals))

    def _product(self, rows: ibis.Table, monomial: Monomial) -> Any:
        """Return the monomial of each row, None if it is 1 for all. NULL is nothing, as a step of zero is."""
        factors = [rows[_measure(place)] for place, power in enumerate(monomial.powers) for _ in range(power)]
        there = [
            rows[_measure(place)].notnull()
            for place in sorted(monomial.present)
            if not monomial.powers[place] and not self.task.measures[place].missing_is_middle
        ]
        if not there:
            return reduce(mul, factors) if factors else None
        return reduce(and_, there).ifelse(reduce(mul, factors, whole(1)), ibis.null("int64"))


def _numbered(rows: ibis.Table, name: str, histogram: Histogram) -> ibis.Table:
    return number(rows, name, histogram.expression.kind, histogram.categories or (), drop_others=False)


def _in_order(totals: pa.Table, order: Order) -> dict[str, NDArray[Any]]:
    """Return each column of whole numbers with its values at their groups' places, 0 where a group has none."""
    places = order.places(totals)
    columns = {}
    for name in totals.column_names:
        if pa.types.is_decimal(totals.schema.field(name).type):
            values = whole_numbers(totals[name])
            columns[name] = np.zeros(order.size, values.dtype)
            columns[name][places] = values
    return columns


def _counted(spread: pa.Table, order: Order, place: int) -> NDArray[np.int64]:
    """Return (group, bucket, weight) in ascending order."""
    buckets = small_numbers(spread[_bucket(place)])
    lines = np.column_stack((order.places(spread), buckets, whole_numbers(spread[WEIGHT]).astype(np.int64)))
    return lines[np.lexsort((lines[:, 1], lines[:, 0]))]


def _measure(place: int) -> str:
    return f"m{place}"


def _sum(place: int) -> str:
    return f"s{place}"


def _distinct(place: int) -> str:
    return f"d{place}"


def _bucket(place: int) -> str:
    return f"b{place}"
