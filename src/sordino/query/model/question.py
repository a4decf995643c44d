"""A question: what is asked of one private relation. Frozen, and made of our own words alone; no data was seen."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from typing import Literal as OneOf

from sordino.data.metadata import Column, Schema

from .expression import Expression
from .relation import Relation

Function = OneOf[
    "count_rows",
    "count",
    "count_people",
    "count_distinct",
    "sum",
    "mean",
    "variance",
    "deviation",
    "minimum",
    "maximum",
    "quantile",
    "histogram",
    "covariance",
    "correlation",
    "top",
    "regression",
]


@dataclass(frozen=True)
class Aggregate:
    """One number (or list of numbers) for each group.

    `parameters`: the fractions of a quantile; the edges of a histogram (k + 1 for k bins); how many of a top; for
    variance, deviation and covariance nothing: they are of the population (divided by n).
    `arguments`: none for count_rows and count_people; y, x₁, x₂ … for regression.
    """

    function: Function
    arguments: tuple[Expression, ...] = ()
    parameters: tuple[Fraction, ...] = ()


@dataclass(frozen=True)
class Key:
    """One expression to group by, and what is known about it: `column.keys` lists its values if they are public."""

    name: str
    expression: Expression
    column: Column


@dataclass(frozen=True)
class KeyTable:
    """Keys that come from a public table: the tuples of `columns` (in the order of the question's keys)."""

    relation: Relation
    columns: tuple[str, ...]


@dataclass(frozen=True)
class Output:
    """A column of the answer: an expression over noisy values, in which the column ``k0`` is the first key, ``a0`` the
    first aggregate, and so on. It is computed after the noise, so it costs nothing."""

    name: str
    expression: Expression


@dataclass(frozen=True)
class Options:
    """What the text itself asks for (BigQuery's OPTIONS); None where it says nothing."""

    epsilon: Fraction | None = None
    delta: Fraction | None = None
    groups: int | None = None
    rows: int | None = None
    rows_per_group: int | None = None
    public_groups: bool = False
    """Whether the groups must be known beforehand."""


@dataclass(frozen=True)
class Question:
    """Everything asked in one query: one pass over the data, one price."""

    schema: Schema
    relation: Relation
    aggregates: tuple[Aggregate, ...]
    outputs: tuple[Output, ...]
    keys: tuple[Key, ...] = ()
    key_table: KeyTable | None = None
    grouping_sets: tuple[tuple[int, ...], ...] | None = None
    """For ROLLUP, CUBE and GROUPING SETS: which keys each set groups by. None: by all keys."""
    having: Expression | None = None
    order: tuple[tuple[Expression, bool], ...] = ()
    """Expressions like those of outputs, and whether descending."""
    limit: int | None = None
    offset: int = 0
    options: Options = field(default_factory=Options)
