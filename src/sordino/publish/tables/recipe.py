"""Synthetic rows of a table: which columns, what they are to be right about, what holds in every row."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date
from fractions import Fraction
from typing import Any, ClassVar

from sordino import keywords
from sordino.arguments import Number, one_of, rational, whole
from sordino.data.account import DataAccount
from sordino.data.metadata import OwnedByColumn, OwnedByDay, Schema, Table
from sordino.errors import ArgumentError
from sordino.publish.measuring import table_of
from sordino.publish.publication import Publication
from sordino.publish.spending import Form, Spend

from .cells import check_possible, place_of
from .constraints import AtMost, Constraint, Never, constraint_from, plain_of, read_value, said_value
from .design import SyntheticDesign
from .fields import Field, fields_of
from .methods import METHODS
from .release import SyntheticTable
from .workload import Workload, pairs

MOST_COLUMNS = 200
_BINS = 32
_WORDS = ("columns", "workload", "constraints", "method", "megabytes", "bins", "ranges", "table")


@dataclass(frozen=True)
class Synthetic:
    """Synthetic rows; see `synthetic`."""

    schema: Schema
    columns: tuple[str, ...]
    workload: Workload
    constraints: tuple[Constraint, ...]
    method: str
    megabytes: Fraction
    bins: int
    ranges: tuple[tuple[str, Any, Any], ...]
    table: str | None

    name: ClassVar[str] = "synthetic"
    forms: ClassVar[tuple[Form, ...]] = ("pure", "concentrated")
    adapts: ClassVar[bool] = True

    def __post_init__(self) -> None:
        fields = self.fields
        self.workload.cliques(self.columns)
        for each in self.constraints:
            for name in names_of(each):
                place_of(fields, name)
        check_possible(fields, self.constraints)

    @property
    def fields(self) -> tuple[Field, ...]:
        """All columns in their finest cells."""
        ranges = {name: (low, high) for name, low, high in self.ranges}
        return fields_of(self.found, self.columns, self.constraints, ranges)

    @property
    def found(self) -> Table:
        """The table."""
        return table_of(self.schema, self.table)

    def design(self, spend: Spend) -> SyntheticDesign:
        """Return all that is run for so much."""
        return SyntheticDesign(
            self.schema, self.found, self.fields, self.workload.cliques(self.columns), self.constraints, self.method,
            int(self.megabytes * 2**17), self.bins, spend,
        )  # fmt: skip

    def plain(self) -> dict[str, Any]:
        """Return the parameters as JSON can hold them."""
        return {
            "columns": list(self.columns),
            "workload": self.workload.plain(),
            "constraints": [plain_of(each) for each in self.constraints],
            "method": self.method,
            "megabytes": f"{float(self.megabytes):.3f}",
            "bins": self.bins,
            "ranges": {name: [said_value(low), said_value(high)] for name, low, high in self.ranges},
            "table": self.table,
        }


def names_of(constraint: Constraint) -> tuple[str, ...]:
    """Return the columns that a constraint is about."""
    if isinstance(constraint, Never):
        return tuple(name for name, _ in constraint.cells)
    if isinstance(constraint, AtMost):
        return constraint.lower, constraint.upper
    return constraint.source, constraint.target


def synthetic(
    account: DataAccount[Any],
    columns: Iterable[str] | None = None,
    *,
    workload: Workload | None = None,
    zeros: Iterable[Constraint] = (),
    method: str = "aim",
    megabytes: Number = 1,
    bins: int = _BINS,
    ranges: Mapping[str, tuple[Any, Any]] | None = None,
    table: str | None = None,
) -> Publication[SyntheticTable]:
    """Return synthetic rows of a table as something to price and run.

    **Guarantee**: what is released is within what is spent, ρ or pure ε, whatever rounds choose: each is paid from an
    account of its own with exactly that budget. All constraints hold in every row.
    **Assumes**: constraints and ranges are public knowledge.
    **Source**: McKenna, Mullins, Sheldon, Miklau 2022 (*AIM*); ``methods.py`` names the others.

    Args:
        account: an account for tables: `so.account(data, budget)`.
        columns: which are published, each with declared keys or bounds; all that have some, if left out.
        workload: which marginals matter: `pairs()` (all), `triples()`, `combinations([…])`.
        zeros: what holds in every row: `never(…)`, `at_most(…)`, `determines(…)`.
        method: aim, mst or mwem.
        megabytes: how large the model may be.
        bins: how many bins a number has at most, about.
        ranges: the first and last of columns of dates or times, or bounds of numbers that declare none.
        table: which table, where there are several.
    """
    if not isinstance(account, DataAccount) or not isinstance(getattr(account.protected, "schema", None), Schema):
        raise ArgumentError(
            "synthetic rows are made of tables, charged to their account: so.account(so.dataset(…), so.budget(…))",
            "SRD-A001",
        )
    return Publication(
        account,
        recipe(
            account.protected.schema, columns, workload=workload, zeros=zeros, method=method, megabytes=megabytes,
            bins=bins, ranges=ranges, table=table,
        ),
    )  # fmt: skip


def recipe(
    schema: Schema,
    columns: Iterable[str] | None,
    *,
    workload: Workload | None,
    zeros: Iterable[Constraint],
    method: str,
    megabytes: Number,
    bins: int,
    ranges: Mapping[str, tuple[Any, Any]] | None,
    table: str | None,
) -> Synthetic:
    """Return the recipe, after checking each of its parameters."""
    found = table_of(schema, table)
    if isinstance(columns, str):
        raise ArgumentError("columns is a list of names, not one name", "SRD-A001")
    names = _declared(found, ranges or {}) if columns is None else tuple(columns)
    if not names or len(set(names)) < len(names) or len(names) > MOST_COLUMNS:
        raise ArgumentError(f"name 1 to {MOST_COLUMNS} columns to publish, each once", "SRD-P101")
    said = tuple(zeros)
    if not all(isinstance(each, Constraint) for each in said):
        raise ArgumentError("zeros takes a list of never(…), at_most(…) and determines(…)", "SRD-A001")
    if workload is not None and not isinstance(workload, Workload):
        raise ArgumentError("workload must be pairs(), triples() or combinations([…])", "SRD-A001")
    return Synthetic(
        schema,
        names,
        pairs() if workload is None else workload,
        said,
        one_of("method", method, tuple(METHODS)),
        Fraction(round(rational("megabytes", megabytes, least="0.01", most=64) * 1000), 1000),
        whole("bins", bins, least=2, most=128),
        tuple(sorted((name, *_pair(name, given)) for name, given in (ranges or {}).items())),
        table,
    )


def read(protected: Any, plain: Mapping[str, Any]) -> Synthetic:
    """Return the recipe that `plain` describes, for what is protected."""
    keywords.check_names(plain, _WORDS, "synthetic rows have no parameter")
    if not isinstance(getattr(protected, "schema", None), Schema):
        raise ArgumentError("synthetic rows are made of tables: name a data set of tables", "SRD-A001")
    given = plain.get("workload")
    return recipe(
        protected.schema,
        plain.get("columns"),
        workload=None if given is None else Workload.read(given),
        zeros=[constraint_from(each) for each in plain.get("constraints", ())],
        method=plain.get("method", "aim"),
        megabytes=plain.get("megabytes", 1),
        bins=plain.get("bins", _BINS),
        ranges={name: (read_value(low), read_value(high)) for name, (low, high) in plain.get("ranges", {}).items()},
        table=plain.get("table"),
    )


def _declared(table: Table, ranges: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the columns of which enough is publicly known; who owns a row is none of them."""
    owner = table.owner.column if isinstance(table.owner, OwnedByColumn | OwnedByDay) else None
    return tuple(
        name
        for name, column in table.columns.items()
        if name != owner and (column.keys is not None or column.range is not None or name in ranges)
    )


def _pair(name: str, given: Any) -> tuple[Any, Any]:
    if not isinstance(given, tuple | list) or len(given) != 2:
        raise ArgumentError(f"ranges names a first and a last value for {name!r}: (first, last)", "SRD-A001")
    low, high = (each if isinstance(each, date) else rational("a range", each) for each in given)
    if isinstance(low, date) != isinstance(high, date) or not low < high:  # type: ignore[operator]
        raise ArgumentError(f"the range of {name!r} is two values of one kind, the first below the second", "SRD-A003")
    return low, high
