"""What is to be published: a tree, the columns that make its cells, queries over them, and a share for each of these.

**Assumes**: the tree and the keys of all columns are public.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from math import lcm, prod
from typing import Any, ClassVar

from sordino.accounting.declared import claimed
from sordino.accounting.events import Declared
from sordino.arguments import Number, rational, shown, whole
from sordino.data.account import DataAccount
from sordino.data.declare import keys
from sordino.data.metadata import Schema
from sordino.errors import ArgumentError, UnsupportedError
from sordino.mechanisms.gaussian import DiscreteGaussian
from sordino.publish.measuring import Axis, bound_of, bounding_of, column_axis, number_axis, shape_of, table_of
from sordino.publish.publication import Publication
from sordino.publish.spending import Form, Spend

from .contrasts import Columns
from .design import HierarchyDesign
from .release import PlaceTables
from .tree import Tree

RESERVED = frozenset({"estimate", "count", "low", "high"})
"""Columns of the tables that are released."""

_LESS = tuple(Fraction(part, 64) for part in (64, 63, 62, 60, 56, 48, 32, 16))
"""What parts of ρ are tried, where the whole of it is not proven for discrete noise."""

_MOST = 10**100
Shares = Mapping[str, Number | Mapping[str, Number]]


@dataclass(frozen=True)
class HierarchyRecipe:
    """Counts of every place of `tree` by queries over `columns`, with a share of ρ for each level and query."""

    schema: Schema
    tree: Tree
    columns: tuple[str, ...]
    queries: tuple[tuple[str, Columns], ...]
    """Names, and which of the columns each counts by."""
    shares: tuple[tuple[Fraction, ...], ...]
    """Levels × queries; they add up to 1, and 0 means that a query is not asked there."""
    place: str
    """The column of the data that says in which leaf a row is."""
    table: str | None = None
    bins: tuple[tuple[str, int], ...] = ()
    """Into how many cells the bounds of a number are divided."""

    name: ClassVar[str] = "hierarchy"
    forms: ClassVar[tuple[Form, ...]] = ("concentrated",)
    adapts: ClassVar[bool] = False

    def __post_init__(self) -> None:
        shape_of(self.axes)
        _ = self.part
        bounding_of(self.schema, table_of(self.schema, self.table))

    @cached_property
    def axes(self) -> tuple[Axis, ...]:
        """The leaves, and the columns of the cells."""
        known = table_of(self.schema, self.table).columns
        return (self._leaves(known), *(self._axis(known, name) for name in self.columns))

    @property
    def exact(self) -> int | None:
        """The level whose totals are public, so that they are published as they are; None if there is none."""
        return _exact(self.schema, self.tree)

    @cached_property
    def part(self) -> Axis | None:
        """The column that holds the places of that level."""
        if self.exact is None:
            return None
        name = self.tree.levels[self.exact]
        column = _known(table_of(self.schema, self.table).columns, name)
        return column_axis(name, _with_keys(name, column, self.tree.places[self.exact]))

    def design(self, spend: Spend) -> HierarchyDesign:
        """Return all that is measured for so much ρ.

        Where the whole is declared at (ε, δ), ρ is what continuous noise may use. The loss of discrete noise is as
        good as the same, but where there is next to no noise it can be above it; then a little less of ρ is used.
        """
        designs = (self._designed(spend.part(share)) for share in _LESS)
        return next(each for each in designs if _is_proven(spend, each))

    def _designed(self, spend: Spend) -> HierarchyDesign:
        table = table_of(self.schema, self.table)
        bounding = bounding_of(self.schema, table)
        bound = bound_of(self.schema, bounding, prod(shape_of(self.axes)))
        noise = tuple(
            tuple(None if not share else DiscreteGaussian.for_rho(spend.part(share).amount, bound) for share in level)
            for level in self.shares
        )
        return HierarchyDesign(self, bound, bounding, noise)

    def plain(self) -> dict[str, Any]:
        """Return the parameters as JSON can hold them."""
        parts = lcm(*(share.denominator for row in self.shares for share in row))
        said: dict[str, Any] = {
            "tree": self.tree.plain(),
            "queries": {name: [self.columns[each] for each in query] for name, query in self.queries},
            "shares": {
                level: {name: int(share * parts) for (name, _), share in zip(self.queries, row, strict=True) if share}
                for level, row in zip(self.tree.levels, self.shares, strict=True)
            },
            "place": self.place,
        }
        if self.table is not None:
            said["table"] = self.table
        if self.bins:
            said["bins"] = dict(self.bins)
        return said

    def _leaves(self, known: Mapping[str, Any]) -> Axis:
        column = _known(known, self.place)
        return column_axis(self.place, _with_keys(self.place, column, self.tree.places[-1]))

    def _axis(self, known: Mapping[str, Any], name: str) -> Axis:
        column, cells = _known(known, name), dict(self.bins).get(name)
        if cells is None:
            return column_axis(name, column)
        if column.range is None:
            raise ArgumentError(
                f"column {name!r} has no bounds to be divided into cells; declare so.bounds(low, high)", "SRD-P004"
            )
        return number_axis(name, column, column.range, cells)


def hierarchy(
    account: DataAccount[Any],
    tree: Tree,
    *,
    queries: Mapping[str, Sequence[str]],
    shares: Shares | None = None,
    place: str | None = None,
    table: str | None = None,
    bins: Mapping[str, int] | None = None,
) -> Publication[PlaceTables]:
    """Return a publication of counts for every place of a tree, in the manner of the US Census's TopDown.

    Both come out: the best unbiased estimates of everything, with intervals; and non-negative integers that add up.

    **Guarantee**: noise is discrete Gaussian, on each level's and each query's counts, all fixed beforehand; everything
    else is computed from noisy counts. The whole costs the ρ that is said (or the (ε, δ) that this is proven to be).
    **Assumes**: the tree and the keys of columns are public.

    Args:
        account: what is charged: ``so.account(data, so.budget(rho=…))``, or one of a ledger.
        tree: the places: ``so.publish.tree(places, ["state", "county", "tract"])``.
        queries: by what is counted: ``{"total": [], "race": ["race"], "sex by age": ["sex", "age"], "cells": [all]}``;
            one must have all columns.
        shares: how ρ is divided, as weights: a number for each level, or for each level a number for each query. Left
            out: all alike.
        place: the column of the data that holds the leaf; left out, it is called as the last level.
        table: which private table is counted, where there are several.
        bins: for columns with bounds instead of keys, into how many equal cells these are divided.
    """
    if not isinstance(account, DataAccount) or not isinstance(getattr(account.protected, "schema", None), Schema):
        raise ArgumentError(
            "a hierarchy counts the rows of a table: pass so.account(so.dataset(…), so.budget(rho=…))", "SRD-A001"
        )
    return Publication(account, recipe_of(account.protected.schema, tree, queries, shares, place, table, bins))


def recipe_of(
    schema: Schema,
    tree: Tree,
    queries: Mapping[str, Sequence[str]],
    shares: Shares | None,
    place: str | None,
    table: str | None,
    bins: Mapping[str, int] | None,
) -> HierarchyRecipe:
    """Return the recipe after checking everything that metadata shows."""
    if not isinstance(tree, Tree):
        raise ArgumentError("tree must be so.publish.tree(places, levels)", "SRD-A001")
    columns, read_queries = _read_queries(queries)
    taken = {*tree.levels, *columns}
    if len(taken) < len(tree.levels) + len(columns) or taken & RESERVED:
        raise ArgumentError(
            f"levels and columns need names of their own, none of them {', '.join(sorted(RESERVED))}", "SRD-P204"
        )
    weights = _read_shares(shares, tree, read_queries, _exact(schema, tree))
    everything = tuple(range(len(columns)))
    if not any(share for (_, query), share in zip(read_queries, weights[-1], strict=True) if query == everything):
        raise ArgumentError(
            f"nothing measures the single cells of each {shown(tree.levels[-1])}, so they cannot be estimated; add a "
            f"query of all columns, {list(columns)}, with a share on that level",
            "SRD-P205",
        )
    counted = tuple((name, whole("bins", cells, least=1, most=2**31)) for name, cells in (bins or {}).items())
    where = tree.levels[-1] if place is None else place
    return HierarchyRecipe(schema, tree, columns, read_queries, weights, where, table, counted)


def _read_queries(given: Any) -> tuple[tuple[str, ...], tuple[tuple[str, Columns], ...]]:
    """Return the columns in the order in which they are first named, and each query's by their places."""
    wrong = not isinstance(given, Mapping) or not given or not all(isinstance(name, str) and name for name in given)
    if wrong or not all(
        isinstance(query, list | tuple) and all(isinstance(each, str) for each in query) for query in given.values()
    ):
        raise ArgumentError(
            'queries must say by which columns to count: {"total": [], "race": ["race"], "cells": ["sex", "race"]}',
            "SRD-A001",
        )
    columns = max(given.values(), key=len)
    columns = tuple(dict.fromkeys([*columns, *(each for query in given.values() for each in query)]))
    found = tuple((name, tuple(sorted({columns.index(each) for each in query}))) for name, query in given.items())
    if len({query for _, query in found}) < len(found):
        raise ArgumentError("two queries count by the same columns; leave out one of them", "SRD-A003")
    return columns, found


def _exact(schema: Schema, tree: Tree) -> int | None:
    return tree.levels.index(schema.within) if schema.within in tree.levels else None


def _read_shares(
    given: Any, tree: Tree, asked: tuple[tuple[str, Columns], ...], exact: int | None
) -> tuple[tuple[Fraction, ...], ...]:
    """Return levels × queries of shares that add up to 1; totals that are public have none."""
    queries = tuple(name for name, _ in asked)
    if given is None:
        given = dict.fromkeys(tree.levels, 1)
    if not isinstance(given, Mapping):
        raise ArgumentError('shares must be like {"state": 2, "county": {"total": 1, "cells": 2}}', "SRD-A001")
    for level in given:
        tree.level(level)
    rows = [_row(given.get(level, 0), queries) for level in tree.levels]
    for row in rows[: 0 if exact is None else exact + 1]:
        row[:] = [share if columns else Fraction(0) for share, (_, columns) in zip(row, asked, strict=True)]
    total = sum(sum(row) for row in rows)
    if not total:
        raise ArgumentError("no query has a share, so nothing would be measured", "SRD-A003")
    return tuple(tuple(share / total for share in row) for row in rows)


def _row(given: Any, queries: tuple[str, ...]) -> list[Fraction]:
    if not isinstance(given, Mapping):
        each = rational("a share", given, least=0, most=_MOST) / len(queries)
        return [each] * len(queries)
    for name in given:
        if name not in queries:
            raise ArgumentError(
                f"a share is given to {shown(name)}, and the queries are {', '.join(map(shown, queries))}", "SRD-P204"
            )
    return [rational("a share", given.get(name, 0), least=0, most=_MOST) for name in queries]


def _is_proven(spend: Spend, design: HierarchyDesign) -> bool:
    charged = spend.charged(design.event())
    try:
        return not isinstance(charged, Declared) or bool(claimed(charged))
    except UnsupportedError:
        return False


def _known(known: Mapping[str, Any], name: str) -> Any:
    if name not in known:
        raise ArgumentError(f"the table has no column {shown(name)}; it has {', '.join(map(shown, known))}", "SRD-P204")
    return known[name]


def _with_keys(name: str, column: Any, places: tuple[Any, ...]) -> Any:
    """Return a column with the leaves as its keys; they must be of its kind."""
    kind = keys(places).key_kind
    if kind is None or kind is not column.kind:
        is_ours = "not all known" if kind is None else kind.value
        raise ArgumentError(
            f"column {name!r} is {column.kind.value}, and the leaves of the tree are {is_ours}; write both alike",
            "SRD-P204",
        )
    return replace(column, keys=places)
