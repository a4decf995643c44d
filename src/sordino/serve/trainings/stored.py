"""Examples in files: what they look like is known from headers and types, and their numbers are read by a job alone.

**Guarantee**: opening reads no value of anybody, and no row can make reading fail: what is no number is NaN (such an
example counts for nothing), a label that is no class is −1 (so does such an example), and whoever's owner is not
written down belongs to nobody and is left out: together they would pass for one person.
"""

from __future__ import annotations

import threading
import zipfile
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO, cast

import numpy as np
from numpy.typing import NDArray

from sordino.accounting.bound import ROW
from sordino.data.dataset import Dataset, dataset
from sordino.data.declare import column
from sordino.data.kinds import Kind
from sordino.errors import ArgumentError, SordinoError
from sordino.learn.run.examples import Examples
from sordino.learn.run.rows import Array, ArrayRows, Batch, Like

from .declared import Declared, Place

NO_CLASS = -1
_NUMBERS = (Kind.INTEGER, Kind.REAL, Kind.BOOLEAN)


@dataclass(frozen=True, eq=False, repr=False)
class StoredExamples(Examples):
    """Examples in a file, with what was declared about them."""

    declared: Declared = field(kw_only=True)


class _Held:
    """The numbers of a file, read when they are first asked for, and kept."""

    def __init__(self, load: Callable[[], tuple[Batch, Array | None]]) -> None:
        self._load = load
        self._found: tuple[Batch, Array | None] | None = None
        self._lock = threading.Lock()

    def found(self) -> tuple[Batch, Array | None]:
        """Return features and labels, and owners if there are any."""
        with self._lock:
            if self._found is None:
                self._found = self._load()
            return self._found


@dataclass(frozen=True, eq=False, repr=False)
class _Rows:
    """Examples by their number."""

    like: tuple[Like, ...]
    held: _Held

    def count(self) -> int:
        """Return how many there are: secret."""
        return ArrayRows(self.held.found()[0]).count()

    def take(self, places: NDArray[np.intp]) -> Batch:
        """Return some of them."""
        return ArrayRows(self.held.found()[0]).take(places)


@dataclass(frozen=True, eq=False, repr=False)
class _Owners:
    """Whose each example is, read when it is first asked for."""

    held: _Held

    def __getitem__(self, places: slice) -> Array:
        return cast("Array", self.held.found()[1])[places]


def opened(declared: Declared) -> StoredExamples:
    """Return what was declared, with its file behind it; refuse a file that does not hold it."""
    try:
        shape, load = _OPENING[declared.format](declared)
    except SordinoError:
        raise
    except (OSError, ValueError, EOFError, zipfile.BadZipFile):  # what it says may hold something of the file
        raise ArgumentError(
            f"the file of {declared.name!r} cannot be read as {declared.format}; check that it is there and whole",
            "SRD-A005",
        ) from None
    known = declared.opened(shape)
    held = _Held(lambda: _ready(known, *load()))
    like = (Like(known.shape or (), "<f4"), Like((), "<i8" if known.classes else "<f4"))
    owners = None if known.owner is None else cast("Array", _Owners(held))
    return StoredExamples(
        known.name, known.size, known.unit, known.neighbours, _Rows(like, held), owners, known.classes, declared=known
    )


Load = Callable[[], tuple[Array, Array, Array | None]]
Opening = Callable[[Declared], tuple[tuple[int, ...], Load]]


def _ready(known: Declared, features: Array, labels: Array, owners: Array | None) -> tuple[Batch, Array | None]:
    """Return arrays of one row for each example that has an owner: scaled features, labels of classes or numbers."""
    count = min(len(features), len(labels))
    with np.errstate(all="ignore"):
        numbers = scaled(known, features[:count])
        wanted = labels[:count].reshape(count).astype(np.float64)
        if known.classes:
            valid = (wanted >= 0) & (wanted < known.classes) & (wanted == np.floor(wanted))
            found: Array = np.where(valid, wanted, NO_CLASS).astype(np.int64)
        else:
            found = wanted.astype(np.float32)
    if owners is None:
        return (numbers, found), None
    whose, known_owner = _owners(owners[:count])
    kept = np.flatnonzero(known_owner[:count])
    return (numbers[kept], found[kept]), whose[kept]


def scaled(known: Declared, features: Array) -> Array:
    """Return features as models see them: of the declared shape, and clipped and divided where that is declared."""
    with np.errstate(all="ignore"):
        numbers = features.reshape(len(features), *(known.shape or ())).astype(np.float32)
        if known.scale is None:
            return numbers
        low, high = known.scale
        return (np.clip(numbers, low, high) - np.float32(low)) / np.float32(high - low)


def _owners(given: Array) -> tuple[Array, NDArray[np.bool_]]:
    """Return owners, and which are written down at all."""
    if given.dtype.kind == "f":
        return given, np.isfinite(given)
    return (given, given != "") if given.dtype.kind == "U" else (given, np.ones(len(given), dtype=bool))


def _arrays(declared: Declared) -> tuple[tuple[int, ...], Load]:
    """Open arrays by name, in an .npz."""
    if len(declared.features) != 1:
        raise ArgumentError("features of an .npz is the name of one array", "SRD-A006")
    with zipfile.ZipFile(declared.file) as archive:
        names = {name.removesuffix(".npy") for name in archive.namelist()}
        heads = {}
        for place in (declared.features[0], declared.label, declared.owner):
            if place is not None and str(place) not in names:
                raise _missing(declared, place)
            if place is not None:
                with archive.open(f"{place}.npy") as file:
                    heads[place] = _header(cast("BinaryIO", file))
    features, label = heads[declared.features[0]], heads[declared.label]
    _check_kinds(declared, features[1], label[1])

    def load() -> tuple[Array, Array, Array | None]:
        with np.load(declared.file, allow_pickle=False) as found:
            owners = None if declared.owner is None else found[str(declared.owner)]
            return found[str(declared.features[0])], found[str(declared.label)], owners

    return features[0][1:], load


def _matrix(declared: Declared) -> tuple[tuple[int, ...], Load]:
    """Open the columns of an .npy by number."""
    with Path(declared.file).open("rb") as file:
        shape, kind = _header(file)
    if len(shape) != 2:
        raise ArgumentError("an .npy must hold a table of rows and columns; several arrays go into an .npz", "SRD-A006")
    for place in (*declared.features, declared.label, declared.owner):
        if place is not None and (not isinstance(place, int) or not 0 <= place < shape[1]):
            raise _missing(declared, place)
    _check_kinds(declared, kind, kind)

    def load() -> tuple[Array, Array, Array | None]:
        found = np.load(declared.file, mmap_mode="r", allow_pickle=False)
        owners = None if declared.owner is None else np.asarray(found[:, declared.owner])
        return found[:, list(declared.features)], found[:, declared.label], owners

    return (len(declared.features),), load


def _columns(declared: Declared) -> tuple[tuple[int, ...], Load]:
    """Open columns of a Parquet or CSV file, as tables are opened: no row can touch another one."""
    names = [str(place) for place in (*declared.features, declared.label)]
    kinds = {name: column(kind="real") for name in names} if declared.format == ".csv" else {}
    unit = ROW if declared.owner is None else str(declared.owner)
    found = dataset(declared.name, declared.file, unit=unit, columns=kinds)
    known = found.schema.tables[declared.name].columns
    for name in names:
        if name not in known:
            raise _missing(declared, name)
        if known[name].kind not in _NUMBERS:
            raise _no_number(declared)
    return (len(declared.features),), lambda: _read_columns(found, declared, names)


def _read_columns(found: Dataset, declared: Declared, names: list[str]) -> tuple[Array, Array, Array | None]:
    wanted = [*names, *(() if declared.owner is None else (str(declared.owner),))]
    table = found.table(declared.name).select(*dict.fromkeys(wanted)).to_pyarrow()
    numbers = [table.column(name).to_numpy().astype(np.float64) for name in names]
    owners = None
    if declared.owner is not None:  # numbered, as texts of different lengths are slow to compare
        numbered = table.column(str(declared.owner)).combine_chunks().dictionary_encode()
        owners = numbered.indices.to_numpy(zero_copy_only=False).astype(np.float64)
    return np.stack(numbers[:-1], axis=1), numbers[-1], owners


_OPENING: dict[str, Opening] = {".npz": _arrays, ".npy": _matrix, ".parquet": _columns, ".csv": _columns}


def _header(file: BinaryIO) -> tuple[tuple[int, ...], np.dtype[Any]]:
    """Return the shape and the type of an array, without its numbers."""
    version = np.lib.format.read_magic(file)
    read = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
    shape, _, kind = read(file)
    if not shape:
        raise ValueError
    return shape, kind


def _check_kinds(declared: Declared, *kinds: np.dtype[Any]) -> None:
    if any(kind.kind not in "biuf" for kind in kinds):
        raise _no_number(declared)


def _missing(declared: Declared, place: Place) -> ArgumentError:
    return ArgumentError(
        f"the file of {declared.name!r} has no array or column {place!r}; declare one that is there", "SRD-A005"
    )


def _no_number(declared: Declared) -> ArgumentError:
    return ArgumentError(
        f"features and labels of {declared.name!r} must be numbers: encode texts and dates as numbers first", "SRD-A005"
    )
