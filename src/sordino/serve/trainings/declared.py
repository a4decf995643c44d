"""Labelled examples as a sort of data: what their declarations say, and what is public about them.

::

    name: digits
    sort: examples
    unit: row                  # or, with an owner: patient
    size: 60000                # about how many units there are, as is publicly known
    classes: 10                # how many classes labels have, from 0; left out where a number is predicted
    file: digits.npz           # or .npy, .parquet, .csv
    features: x                # an array of the .npz; columns of other files: [age, bmi]
    label: y
    owner: patient             # the array or column that says whose an example is, unless the unit is a row
    scale: [0, 255]            # features are clipped to this and divided into 0 to 1
    shape: [1, 28, 28]         # what one example looks like, if not as it is stored
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from sordino.accounting.bound import ROW, Unit
from sordino.accounting.neighbours import Neighbours
from sordino.arguments import rational, whole
from sordino.data.declarations_file import head
from sordino.errors import ArgumentError

Place = str | int
"""Where something is in a file: the name of an array or a column; in an .npy the number of a column."""

FORMATS = (".npz", ".npy", ".parquet", ".csv")
_WORDS = ("size", "classes", "file", "features", "label", "owner", "scale", "shape")
_MOST_FEATURES = 100_000
_MOST_CLASSES = 100_000
_LARGEST_SIZE = 10**12


@dataclass(frozen=True)
class Declared:
    """What is declared about examples: all of it is public. `shape` is known once their file was opened."""

    name: str
    unit: Unit
    neighbours: Neighbours
    size: int
    classes: int | None
    file: str
    features: tuple[Place, ...]
    label: Place
    owner: Place | None
    scale: tuple[float, float] | None
    shape: tuple[int, ...] | None

    @property
    def format(self) -> str:
        """How the file's name ends."""
        return Path(self.file).suffix.lower()

    def opened(self, stored: tuple[int, ...]) -> Declared:
        """Return the same with what one example looks like, from how its features are stored."""
        if self.shape is None:
            return replace(self, shape=stored)
        if math.prod(self.shape) != math.prod(stored):
            raise ArgumentError(
                f"shape {list(self.shape)} does not go with features that are stored as {list(stored)}; declare one "
                "with as many numbers",
                "SRD-A006",
            )
        return self

    def public(self) -> dict[str, Any]:
        """Return what everybody who may see the data set is told."""
        return {
            "size": self.size,
            "classes": self.classes,
            "features": list(self.features)[:1000],
            "shape": list(self.shape or ()),
            "label": self.label,
            "owned_by": self.owner,
            "scale": None if self.scale is None else list(self.scale),
        }

    def carried(self, given: Declared) -> Iterator[tuple[str, object, object]]:
        """Yield what must stay as it was for the life of a budget: by another owner it was spent on somebody else."""
        yield "the owner of an example", self.owner, given.owner


def read(plain: Mapping[str, Any], directory: Path) -> Declared:
    """Return what declarations say; opens nothing."""
    said, rest = head(plain, _WORDS, ("size", "file", "features", "label"))
    file = rest["file"]
    if not isinstance(file, str) or not file.lower().endswith(FORMATS):
        raise ArgumentError(f"file must name one file of the format {', '.join(FORMATS)}", "SRD-A006")
    owner = rest.get("owner")
    if (owner is None) != (said.unit == ROW):
        raise ArgumentError(
            "examples whose unit is no row need owner: the array or column that says whose each is; and where there is "
            "an owner, the unit has a name",
            "SRD-A006",
        )
    classes = rest.get("classes")
    return Declared(
        said.name,
        said.unit,
        said.neighbours,
        whole("size", rest["size"], least=1, most=_LARGEST_SIZE),
        None if classes is None else whole("classes", classes, least=2, most=_MOST_CLASSES),
        str(directory / file),
        _places(rest["features"]),
        _place("label", rest["label"]),
        None if owner is None else _place("owner", owner),
        _scale(rest.get("scale")),
        _shape(rest.get("shape")),
    )


def _places(given: Any) -> tuple[Place, ...]:
    found = tuple(given) if isinstance(given, list) else (given,)
    if not 1 <= len(found) <= _MOST_FEATURES or len(set(map(str, found))) < len(found):
        raise ArgumentError(
            f"features must name an array, or 1 to {_MOST_FEATURES:,} columns, each once, as [age, bmi]", "SRD-A006"
        )
    return tuple(_place("features", each) for each in found)


def _place(what: str, given: Any) -> Place:
    if isinstance(given, bool) or not isinstance(given, str | int) or given in ("", None):
        raise ArgumentError(
            f"{what} must be the name of an array or of a column, or in an .npy the number of one", "SRD-A006"
        )
    return given


def _scale(given: Any) -> tuple[float, float] | None:
    if given is None:
        return None
    if not isinstance(given, list) or len(given) != 2:
        raise ArgumentError("scale must be two numbers, [low, high]", "SRD-A006")
    low, high = (rational("scale", each) for each in given)
    if low >= high:
        raise ArgumentError("scale must rise: [low, high]", "SRD-A006")
    return float(low), float(high)


def _shape(given: Any) -> tuple[int, ...] | None:
    if given is None:
        return None
    if not isinstance(given, list) or not 1 <= len(given) <= 4:
        raise ArgumentError("shape must be a list of one to four whole numbers, as [1, 28, 28]", "SRD-A006")
    found = tuple(whole("shape", each, least=1) for each in given)
    if math.prod(found) > _MOST_FEATURES * 100:
        raise ArgumentError("shape holds more numbers than one example can have here", "SRD-A006")
    return found
