"""What synthetic tables release: rows, the model they come from, and every noisy marginal it was fitted to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from sordino.arguments import shown, whole
from sordino.data.kinds import Kind
from sordino.errors import ArgumentError
from sordino.publish.files import arrays_from_bytes, arrays_to_bytes, table_from_bytes, table_to_bytes
from sordino.publish.released import Released, Saved

from .constraints import Constraint, constraint_from, read_value, said_value
from .fields import Field, value_of
from .fitting import Measured, Model
from .junction import Clique
from .sampling import draw_rows
from .values import Spread, table_of_cells

MOST_ROWS = 100_000_000
_ROWS, _MODEL, _MEASURED, _SPREADS = "rows.parquet", "model.npz", "measured.npz", "spreads.npz"


@dataclass(frozen=True, eq=False)
class Marginal:
    """How many rows there are in each cell of some columns, by the model."""

    columns: tuple[str, ...]
    labels: tuple[tuple[Any, ...], ...]
    """For each column what its cells stand for: a key, the ends of a bin as a text, or None."""
    counts: NDArray[np.float64]

    def to_arrow(self) -> pa.Table:
        """Return a row for each cell."""
        places = np.unravel_index(np.arange(self.counts.size), self.counts.shape)
        arrays = {
            name: [labels[place] for place in at]
            for name, labels, at in zip(self.columns, self.labels, places, strict=True)
        }
        return pa.table({**arrays, "count": self.counts.ravel()})

    def to_pandas(self) -> Any:
        """Return a row for each cell, as a frame."""
        return self.to_arrow().to_pandas()


@dataclass(frozen=True, eq=False)
class Rows:
    """Synthetic rows as an Arrow table."""

    table: pa.Table

    def __len__(self) -> int:
        return int(self.table.num_rows)

    def to_arrow(self) -> pa.Table:
        """Return the table itself."""
        return self.table

    def to_pandas(self) -> Any:
        """Return a frame."""
        return self.table.to_pandas()

    def to_parquet(self, path: Any) -> None:
        """Write a Parquet file."""
        import pyarrow.parquet as pq

        pq.write_table(self.table, path, compression="zstd")


@dataclass(frozen=True, eq=False)
class SyntheticTable(Released):
    """Synthetic rows, and the model that makes more of them.

    **Guarantee**: everything here is computed from what was paid for, so rows and marginals are free, in any number.
    """

    fields: tuple[Field, ...]
    spreads: Mapping[str, Spread]
    constraints: tuple[Constraint, ...]
    model: Model
    noisy: Mapping[Clique, Measured]
    """Every noisy marginal, by places of columns; several of the same columns are one by now."""
    first: pa.Table
    """The rows that were released with it: as many as there are by the noisy counts."""

    def rows(self, number: int | None = None) -> Rows:
        """Return new rows, as many as are asked for; without a number those that were released."""
        if number is None:
            return Rows(self.first)
        return Rows(
            drawn(
                self.model, self.fields, self.spreads, self.constraints, whole("rows", number, least=0, most=MOST_ROWS)
            )
        )

    def marginal(self, *columns: str) -> Marginal:
        """Return how many rows there are in each cell of these columns, by the model."""
        places = [self.place(name) for name in columns]
        if not places or len(set(places)) < len(places):
            raise ArgumentError("name the columns of a marginal, each once", "SRD-P101")
        clique = tuple(sorted(places))
        counts = self.model.across.of(clique).transpose([clique.index(place) for place in places])
        return Marginal(tuple(columns), tuple(labels_of(self.fields[place]) for place in places), counts)

    def place(self, name: str) -> int:
        """Return which column is called so."""
        names = [field.name for field in self.fields]
        if name not in names:
            raise ArgumentError(f"there is no column {shown(name)}; there are {', '.join(names)}", "SRD-P101")
        return names.index(name)

    def report(self, public: Any = None, target: str | None = None) -> Any:
        """Return how good the rows are: against what was measured and paid for, and on public rows if there are some.

        Args:
            public: rows of the same columns that the owner declares public: an Arrow table, or a frame.
            target: the column that a model is trained to tell from the others, on synthetic rows and on public ones.
        """
        from .report import report_of

        return report_of(self, public, target)

    def plot(self, *columns: str) -> Any:
        """Return a picture of marginals, noisy against synthetic: of the pairs of these columns that were measured."""
        from .picture import pictured

        return pictured(self, [self.place(name) for name in columns])

    def measured(self) -> dict[str, Any]:
        """Return the columns in their cells, and which marginals were measured."""
        return {
            "rows": self.first.num_rows,
            "total": self.model.total,
            "columns": [plain_field(field) for field in self.fields],
            "spreads": {name: [str(edge) for edge in spread.edges] for name, spread in self.spreads.items()},
            "marginals": [[self.fields[place].name for place in clique] for clique in sorted(self.noisy)],
        }

    def contents(self) -> Mapping[str, bytes]:
        """Return rows, model and noisy marginals."""
        model: dict[str, NDArray[Any]] = {
            f"potential{_key(clique)}": table for clique, table in self.model.potentials.items()
        }
        model |= {f"empty{_key(clique)}": cells for clique, cells in self.model.empty.items()}
        noisy = {f"numbers{_key(clique)}": each.numbers for clique, each in self.noisy.items()}
        noisy |= {f"precision{_key(clique)}": np.asarray(each.precision) for clique, each in self.noisy.items()}
        shares = {f"shares_{self.place(name)}": spread.shares for name, spread in self.spreads.items()}
        return {
            _ROWS: table_to_bytes(self.first),
            _MODEL: arrays_to_bytes(model),
            _MEASURED: arrays_to_bytes(noisy),
            _SPREADS: arrays_to_bytes(shares),
        }


def released(
    plan: Any,
    fields: tuple[Field, ...],
    spreads: Mapping[str, Spread],
    constraints: tuple[Constraint, ...],
    model: Model,
    noisy: Mapping[Clique, Measured],
) -> SyntheticTable:
    """Return the release, with as many rows as there are by the noisy counts."""
    first = drawn(model, fields, spreads, constraints, min(round(model.total), MOST_ROWS))
    return SyntheticTable(plan, None, fields, spreads, constraints, model, noisy, first)


def drawn(
    model: Model, fields: Sequence[Field], spreads: Mapping[str, Spread], constraints: Sequence[Constraint], rows: int
) -> pa.Table:
    """Return rows of a model as values."""
    return table_of_cells(fields, spreads, constraints, draw_rows(model.beliefs, rows))


def labels_of(field: Field) -> tuple[Any, ...]:
    """Return what the cells of a column stand for."""
    if field.keys is not None:
        return field.keys
    ends = [
        (_short(field.kind, low), _short(field.kind, high))
        for low, high in zip(field.edges, field.edges[1:], strict=False)
    ]
    return (*(f"[{low}, {high})" for low, high in ends), *((None,) if field.missing else ()))


def _short(kind: Kind, coordinate: Fraction) -> str:
    return f"{float(coordinate):g}" if kind.is_number else str(value_of(kind, coordinate))


def load(manifest: Mapping[str, Any], files: Mapping[str, bytes]) -> SyntheticTable:
    """Return the release that was saved."""
    said = manifest["measured"]
    fields = tuple(field_from(each) for each in said["columns"])
    names = [field.name for field in fields]
    tables = arrays_from_bytes(files[_MODEL])
    model = Model(
        tuple(field.size for field in fields), _keyed(tables, "potential"), _keyed(tables, "empty"), said["total"]
    )
    noisy = arrays_from_bytes(files[_MEASURED])
    precisions = _keyed(noisy, "precision")
    measured = {clique: Measured(table, precisions[clique]) for clique, table in _keyed(noisy, "numbers").items()}
    shares = arrays_from_bytes(files[_SPREADS])
    spreads = {
        name: Spread(tuple(Fraction(edge) for edge in edges), shares[f"shares_{names.index(name)}"])
        for name, edges in said["spreads"].items()
    }
    constraints = tuple(constraint_from(each) for each in manifest["parameters"]["constraints"])
    return SyntheticTable(
        Saved(dict(manifest)), None, fields, spreads, constraints, model, measured, table_from_bytes(files[_ROWS])
    )


def _key(clique: Clique) -> str:
    return "".join(f"_{place}" for place in clique)


def _keyed(arrays: Mapping[str, NDArray[Any]], kind: str) -> dict[Clique, NDArray[Any]]:
    found: dict[Clique, NDArray[Any]] = {}
    for name, table in arrays.items():
        first, *places = name.split("_")
        if first == kind:
            found[tuple(map(int, places))] = table
    return found


def plain_field(field: Field) -> dict[str, Any]:
    """Return a column's cells as JSON can hold them."""
    return {
        "name": field.name,
        "kind": field.kind.value,
        "keys": None if field.keys is None else [said_value(key) for key in field.keys],
        "edges": [str(edge) for edge in field.edges],
        "step": None if field.step is None else str(field.step),
        "missing": field.missing,
    }


def field_from(plain: Mapping[str, Any]) -> Field:
    """Return the column that `plain_field` wrote."""
    keys = plain["keys"]
    return Field(
        plain["name"],
        Kind(plain["kind"]),
        None if keys is None else tuple(read_value(key) for key in keys),
        tuple(Fraction(edge) for edge in plain["edges"]),
        None if plain["step"] is None else Fraction(plain["step"]),
        plain["missing"],
    )
