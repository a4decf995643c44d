"""Labelled examples that belong to people: what a model is trained on, and who is protected.

>>> import numpy as np
>>> digits = examples("digits", np.zeros((100, 8, 8)), np.zeros(100, dtype=int), size=100)
>>> digits
Examples('digits', about 100, protects each row)
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sordino.accounting.bound import ROW, Unit
from sordino.accounting.neighbours import Neighbours
from sordino.arguments import whole
from sordino.errors import ArgumentError

from .checkpoint import weights_digest
from .rows import Array, ArrayRows, Batch, Like, Rows, Stored, rows_of


@dataclass(frozen=True, eq=False, repr=False)
class Examples:
    """Examples under a name: something that an account is opened for. Build them with `examples`.

    `size` is public: about how many *units* there are. How many there really are is never told, and nothing that is
    computed from the data is divided by it.
    """

    name: str
    size: int
    unit: Unit
    neighbours: Neighbours
    rows: Rows | Stored
    owners: Array | None = None
    """Whose each example is, where a unit is not a row and that is not stored beside the rows."""
    classes: int | None = None
    """How many classes labels have, if that was declared; a label beyond counts for nothing."""

    @property
    def like(self) -> tuple[Like, ...]:
        """What the parts of every example look like: public."""
        return self.rows.like

    @property
    def by_owner(self) -> bool:
        """Whether a unit may have several examples."""
        return self.unit != ROW

    def check_ready(self) -> None:
        """Raise `SourceError` if what they are stored in does not answer; asked before every charge, reads no data."""
        if isinstance(self.rows, Stored):
            self.rows.check_ready()

    def people(self) -> People:
        """Return whose examples are whose. Secret: only what was charged for may ask."""
        rows, owners = self.rows.read() if isinstance(self.rows, Stored) else (self.rows, self.owners)
        return People.of(rows, owners)

    def __repr__(self) -> str:
        return f"Examples({self.name!r}, about {self.size:,}, protects each {self.unit.name})"


@dataclass(frozen=True, eq=False, repr=False)
class People:
    """The units of some examples, numbered, and the places of each one's examples."""

    rows: Rows
    order: NDArray[np.intp]
    """Places of examples, those of one unit after another's."""
    starts: NDArray[np.intp]
    """Where in `order` each unit's begin, and the end."""

    @classmethod
    def of(cls, rows: Rows, owners: Array | None) -> People:
        """Return the units of examples: each row one, or all rows with one owner."""
        count = rows.count()
        if owners is None:
            return cls(rows, np.arange(count), np.arange(count + 1))
        _, inverse, sizes = np.unique(owners[:count], return_inverse=True, return_counts=True)
        order = np.argsort(inverse, kind="stable")
        return cls(rows, order, np.concatenate([[0], np.cumsum(sizes)]))

    def __len__(self) -> int:
        return len(self.starts) - 1

    def mark(self) -> str:
        """Return a digest of whose examples are whose and, where they are arrays, of what they hold. Secret."""
        parts = [self.order, self.starts, *(self.rows.arrays if isinstance(self.rows, ArrayRows) else ())]
        return weights_digest({f"{place}": part for place, part in enumerate(parts)})

    def only(self, kept: NDArray[np.bool_]) -> People:
        """Return those units for whom `kept` holds, with their examples."""
        sizes = np.diff(self.starts)
        return People(self.rows, self.order[np.repeat(kept, sizes)], np.concatenate([[0], np.cumsum(sizes[kept])]))

    def take(self, units: NDArray[np.intp]) -> tuple[Batch, NDArray[np.intp]]:
        """Return the examples of these units, and for each example the place of its unit among them."""
        sizes = self.starts[units + 1] - self.starts[units]
        owner = np.repeat(np.arange(len(units)), sizes)
        within = np.arange(len(owner)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
        return self.rows.take(self.order[np.repeat(self.starts[units], sizes) + within]), owner


def examples(
    name: str,
    *parts: Any,
    size: int,
    unit: Unit | str = ROW,
    owners: Any = None,
    neighbours: Neighbours = Neighbours.ADD_REMOVE,
    like: tuple[Any, ...] | None = None,
    classes: int | None = None,
) -> Examples:
    """Declare examples: arrays with a row for each (features, labels), an Arrow table, or a data set of torch's kind.

    Args:
        name: the identity to which everything is charged.
        parts: what an example consists of.
        size: about how many units there are, as is publicly known; samples are drawn at a rate of batch/size.
        unit: who is protected: `ROW`, or a name such as "user" together with `owners`.
        owners: for each example whose it is: all examples of one owner count as one unit.
        neighbours: the change of one unit that is protected against.
        like: one made-up item, where what items look like cannot be read off a type.
        classes: how many classes there are, where labels are classes, from 0.
    """
    if not isinstance(name, str) or not name.strip():
        raise ArgumentError("examples need a name, to which everything is charged", "SRD-A001")
    if not parts:
        raise ArgumentError("examples need features, and labels if there are any: examples(name, x, y, …)", "SRD-A003")
    who = Unit(unit) if isinstance(unit, str) else unit
    if (owners is None) != (who == ROW):
        raise ArgumentError(
            "a unit other than ROW needs owners=, the owner of each example, and owners= need a unit with a name",
            "SRD-A003",
        )
    public = whole("size", size, least=1)
    kinds = None if classes is None else whole("classes", classes, least=2)
    return Examples(name, public, who, neighbours, rows_of(parts, like), _owners(owners), kinds)


def _owners(given: Any) -> Array | None:
    """Return the owner of each example, as an array in which equal entries are one owner and others are others'.

    Lists are numbered by what they hold: as arrays of texts, 'a' and 'a\\0', or 1 and '1', would be one person.
    """
    if given is None:
        return None
    found = np.asarray(given) if hasattr(given, "__array__") else None
    if found is not None and found.dtype != object:
        if found.ndim == 1:
            return found
        raise _several()
    listed = list(given)
    if any(isinstance(each, list | tuple | set | frozenset | dict | np.ndarray) for each in listed):
        raise _several()
    ordered = sorted(set(listed), key=lambda each: (type(each).__qualname__, repr(each)))
    numbers = {each: number for number, each in enumerate(ordered)}
    return np.array([numbers[each] for each in listed], dtype=np.int64)


def _several() -> ArgumentError:
    return ArgumentError(
        "owners must be one list with the owner of each example. Examples of several owners cannot be bounded for "
        "each of them: whoever leaves takes shared examples along, and a cap on the others' would let more of theirs "
        "in; leave such examples out, or name one owner for all who share (a household)",
        "SRD-A001",
    )
