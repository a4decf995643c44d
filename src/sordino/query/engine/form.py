"""A task but for its rows: bounding and sums are translated once for all questions that only choose other rows.

**Guarantee**: a form is made without the task's relation, so nothing in it can depend on which rows a question chooses.
What a form gives over a relation is the query that `prepare` makes of the whole task, one part translated apart from
the other. The table that stands for the rows meanwhile has a name that occurs nowhere else in the form.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import count
from typing import Any

import ibis
from ibis.expr.operations import DatabaseTable

from sordino.data.metadata import Column
from sordino.query.model.relation import Relation
from sordino.query.model.task import Task

from .exact import Prepared, queries
from .group_keys import Groups
from .statement import Words, salt_on, words


@dataclass(frozen=True)
class Form:
    """Tasks that differ in their rows alone, as DuckDB reads them."""

    groups: Groups
    rows: str
    """What the table is called that stands for the rows."""
    totals: Words | None
    spreads: tuple[Words, ...]

    def over(self, task: Task, source: ibis.Table) -> Prepared:
        """Return the task about the rows of `source`."""
        rows = words(source.get_backend(), source)
        totals = None if self.totals is None else self.totals.over(self.rows, rows).run
        return Prepared(task, self.groups, totals, tuple(each.over(self.rows, rows).run for each in self.spreads))


@dataclass(frozen=True)
class _Unknown(Relation):
    """The relation of a task that is put into a form."""

    @property
    def columns(self) -> Mapping[str, Column]:
        """None: a form gets them beside the task."""
        return {}

    @property
    def inputs(self) -> tuple[Relation, ...]:
        """None."""
        return ()


@dataclass(frozen=True)
class Outline:
    """All that a form depends on: a task without its relation, and the columns of that with their types."""

    task: Task
    columns: tuple[tuple[str, Any], ...]

    @staticmethod
    def of(task: Task, source: ibis.Table) -> Outline:
        """Return the outline of a task about the rows of `source`."""
        return Outline(replace(task, relation=_Unknown()), tuple(source.schema().items()))

    def form(self, backend: Any) -> Form:
        """Return the form in the words of an engine."""
        rows = next(name for name in (f"sordino_rows_{number}" for number in count()) if name not in repr(self))
        standing_in = DatabaseTable(name=rows, schema=ibis.schema(dict(self.columns)), source=backend).to_expr()
        groups, salt = Groups.of_keys(self.task.keys), salt_on(backend.name, 0)
        totals, spreads = queries(self.task, groups, backend.name, salt, standing_in)
        told = None if totals is None else words(backend, totals)
        return Form(groups, rows, told, tuple(words(backend, each) for each in spreads))
