"""A table of a data set as examples: its columns become numbers by rules that were declared, whatever a row holds.

| column | becomes |
|---|---|
| a number with bounds | clipped to them and scaled to −1 … 1; what is missing or NaN is in the middle, 0 |
| with keys | one number for each key, 1 for its own and else 0; another value than the keys is all zeros |
| true or false | 1 or −1; what is missing is 0 |
| the label: keys, true or false | the place of its key, from 0 (false, true); an example with any other is nobody's |
| the label: a number with bounds | clipped and scaled as above; an example in which it is missing or NaN is nobody's |

**Guarantee**: no value can raise, each row is read by itself, and rows come in an order that is a function of what they
hold, not of where they are stored. Rows without an owner are left out. Nothing is read before a run.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray

from sordino.accounting.bound import ROW
from sordino.arguments import shown, whole
from sordino.data.dataset import Dataset
from sordino.data.fetching import fetched
from sordino.data.kinds import Kind
from sordino.data.metadata import Column, KeyValue, OwnedByColumn, OwnedByRow, Table
from sordino.data.ownership import unknown
from sordino.errors import ArgumentError, QuestionError

from .examples import Examples
from .rows import Array, ArrayRows, Like

if TYPE_CHECKING:
    import pyarrow as pa

_NOWHERE = -1


class Encoding(Protocol):
    """How a column becomes numbers: public."""

    @property
    def width(self) -> int:
        """How many numbers each row has."""
        ...

    def of(self, values: pa.ChunkedArray) -> Array:
        """Return the numbers of all rows, as (rows, width)."""
        ...


@dataclass(frozen=True)
class Scaled:
    """Numbers clipped to [middle − half, middle + half] and scaled to [−1, 1]; what is missing becomes `missing`."""

    middle: float
    half: float
    missing: float = 0.0
    width: int = 1

    def of(self, values: pa.ChunkedArray) -> Array:
        """Return the scaled numbers."""
        import pyarrow as pa

        raw = np.asarray(values.cast(pa.float64(), safe=False).to_numpy(), dtype=np.float64)
        scaled = np.clip((np.clip(raw, -_FAR, _FAR) - self.middle) / self.half, -1, 1)
        return np.where(np.isnan(raw), self.missing, scaled).astype(np.float32)[:, None]


_FAR = 1e150
"""Beyond it, differences of floats would overflow; bounds lie far within."""


@dataclass(frozen=True)
class OneHot:
    """One number for each of `keys`."""

    kind: Kind
    keys: tuple[KeyValue, ...]

    @property
    def width(self) -> int:
        """As many as there are keys."""
        return len(self.keys)

    def of(self, values: pa.ChunkedArray) -> Array:
        """Return 1 at the place of each row's key."""
        places = self.places(values)
        hot: Array = (places[:, None] == np.arange(self.width)).astype(np.float32)
        return hot

    def places(self, values: pa.ChunkedArray) -> NDArray[np.int64]:
        """Return the place of each row's key, −1 for another value."""
        import pyarrow as pa
        import pyarrow.compute as pc

        kind = _arrow(self.kind)
        found = pc.index_in(values.cast(kind, safe=False), value_set=pa.array(self.keys, type=kind))
        return np.asarray(pc.fill_null(found, _NOWHERE).to_numpy(), dtype=np.int64)


def _arrow(kind: Kind) -> Any:
    import pyarrow as pa

    return {
        Kind.BOOLEAN: pa.bool_(),
        Kind.INTEGER: pa.int64(),
        Kind.TEXT: pa.string(),
        Kind.DATE: pa.date32(),
        Kind.TIMESTAMP: pa.timestamp("us"),
    }[kind]


@dataclass(frozen=True, eq=False, repr=False)
class TableRows:
    """Where the examples of a table lie: read whole, once for each run that asks."""

    dataset: Dataset
    table: str
    owner: str | None
    features: tuple[tuple[str, Encoding], ...]
    label: tuple[str, Scaled | OneHot]

    @property
    def like(self) -> tuple[Like, Like]:
        """Features side by side, and a label."""
        width = sum(encoding.width for _, encoding in self.features)
        return Like((width,), "<f4"), Like((), "<f4" if isinstance(self.label[1], Scaled) else "<i8")

    def check_ready(self) -> None:
        """Raise `SourceError` if the source does not answer; reads no data."""
        self.dataset.check_ready()

    def read(self) -> tuple[ArrayRows, Array | None]:
        """Return the examples in an order of their own, and whose each is. Secret: for a run that was charged."""
        names = [*(name for name, _ in self.features), self.label[0], *filter(None, [self.owner])]
        table = fetched(self.dataset, self.table, list(dict.fromkeys(names)))
        if self.owner is not None:
            table = table.filter(table.column(self.owner).is_valid())
        features = np.concatenate([encoding.of(table.column(name)) for name, encoding in self.features], axis=1)
        name, encoding = self.label
        values = table.column(name)
        labels = encoding.places(values) if isinstance(encoding, OneHot) else encoding.of(values)[:, 0]
        owners = None if self.owner is None else _numbered(table.column(self.owner))
        order = _order(features, labels, owners)
        return ArrayRows((features[order], labels[order])), None if owners is None else owners[order]


def _numbered(owners: pa.ChunkedArray) -> NDArray[np.int64]:
    """Return a number for each owner, in the order of who they are; texts are compared whole, as Arrow does."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if pa.types.is_floating(owners.type):
        owners = pc.add(owners, pa.scalar(0.0, owners.type))  # −0.0 is nobody else than 0.0
    encoded = owners.combine_chunks().dictionary_encode()
    places = np.argsort(np.asarray(pc.sort_indices(encoded.dictionary)))
    numbers: NDArray[np.int64] = places.astype(np.int64)[np.asarray(encoded.indices)]
    return numbers


def _order(features: Array, labels: Array, owners: Array | None) -> NDArray[np.intp]:
    """Return the rows' order by all that they hold; rows that hold the same may change places."""
    parts = [features, labels[:, None]] if owners is None else [owners[:, None], features, labels[:, None]]
    bytes_of = [
        np.ascontiguousarray(part).view(np.uint8) for part in parts
    ]  # (rows, bytes), where there are no rows too
    joined = np.ascontiguousarray(np.concatenate(bytes_of, axis=1))
    return np.argsort(joined.view(np.dtype((np.void, joined.shape[1]))).reshape(-1), kind="stable")


def examples_from(
    dataset: Dataset, *, features: Sequence[str], label: str, size: int, table: str | None = None
) -> Examples:
    """Declare the rows of a table as examples, charged to the data set's own account, as its questions are.

    Args:
        dataset: a data set, as `so.dataset(…)` declares it. Who is protected follows from it: each row, or whoever the
            owner's column identifies, with all of their rows.
        features: columns with bounds or keys, or of true and false; see ``learn.run.tables`` for what becomes of them.
        label: the column to be predicted, with keys (classes) or bounds (a number), or of true and false.
        size: about how many units there are, as is publicly known.
        table: which table, where there are several.
    """
    if not isinstance(dataset, Dataset):
        raise ArgumentError("examples_from takes a data set: so.dataset(name, source, unit=…, columns=…)", "SRD-A001")
    face = _face(dataset, table)
    if isinstance(features, str) or not features:
        raise ArgumentError("features must be a list of columns, one at least", "SRD-A001")
    given = tuple((name, _encoding(face, name)) for name in features)
    target = _target(face, label)
    owner = face.owner.column if isinstance(face.owner, OwnedByColumn) else None
    rows = TableRows(dataset, face.name, owner, given, (label, target))
    classes = target.width if isinstance(target, OneHot) else None
    return Examples(dataset.name, whole("size", size, least=1), dataset.unit, dataset.neighbours, rows, classes=classes)


def _face(dataset: Dataset, name: str | None) -> Table:
    tables = {each: face for each, face in dataset.schema.tables.items() if not face.is_public}
    if name is None and len(tables) > 1:
        raise ArgumentError(f"say which table is learned from: table={shown(next(iter(tables)))}, …", "SRD-A003")
    chosen = next(iter(tables)) if name is None else name
    if chosen not in tables:
        raise QuestionError(f"there is no private table {unknown(chosen, tables)}", "SRD-Q201")
    face = tables[chosen]
    if not isinstance(face.owner, OwnedByRow | OwnedByColumn) or (face.owner == OwnedByRow()) != (dataset.unit == ROW):
        raise QuestionError(
            f"whose the rows of table {chosen!r} are is found in another table or by day, and examples need a column "
            "of their own that says it; offer a table that has one",
            "SRD-Q203",
        )
    if dataset.schema.personal is not None or dataset.schema.blocks is not None:
        raise QuestionError(
            "a training is about all people and all days alike; days and classes of people with budgets of their own "
            "are for questions. Declare the table in a data set without them",
            "SRD-Q203",
        )
    return face


def _column(face: Table, name: str) -> Column:
    if name in face.hidden:
        raise QuestionError(f"column {face.name}.{name} cannot be used: {face.hidden[name]}", "SRD-Q202")
    if name not in face.columns:
        raise QuestionError(f"table {face.name!r} has no column {unknown(name, face.columns)}", "SRD-Q201")
    return face.columns[name]


def _encoding(face: Table, name: str, missing: float = 0.0) -> Scaled | OneHot:
    column = _column(face, name)
    if column.keys is not None:
        return OneHot(column.kind, column.keys)
    if column.kind is Kind.BOOLEAN:
        return Scaled(0.5, 0.5, missing)
    if column.kind.is_number and column.range is not None and column.range.half > 0:
        return Scaled(float(column.range.middle), float(column.range.half), missing)
    raise QuestionError(
        f"column {face.name}.{name} is no number with bounds and has no keys, so what it can do to a model is not "
        "known; declare bounds(low, high) for a number, or keys([…])",
        "SRD-Q202",
    )


def _target(face: Table, name: str) -> Scaled | OneHot:
    column = _column(face, name)
    if column.keys is None and column.kind is Kind.BOOLEAN:
        return OneHot(Kind.BOOLEAN, (False, True))
    return _encoding(face, name, missing=float("nan"))
