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

from .rows import Array, Batch, Like, Rows, rows_of


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
    rows: Rows
    owners: Array | None = None
    classes: int | None = None
    """How many classes labels have, if that was declared; a label beyond counts for nothing."""

    @property
    def like(self) -> tuple[Like, ...]:
        """What the parts of every example look like: public."""
        return self.rows.like

    def people(self) -> People:
        """Return whose examples are whose. Secret: only what was charged for may ask."""
        return People.of(self)

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
    def of(cls, examples: Examples) -> People:
        """Return the units of examples: each row one, or all rows with one owner."""
        count = examples.rows.count()
        if examples.owners is None:
            return cls(examples.rows, np.arange(count), np.arange(count + 1))
        owners = examples.owners[:count]
        _, inverse, sizes = np.unique(owners, return_inverse=True, return_counts=True)
        order = np.argsort(inverse, kind="stable")
        return cls(examples.rows, order, np.concatenate([[0], np.cumsum(sizes)]))

    def __len__(self) -> int:
        return len(self.starts) - 1

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
    if given is None:
        return None
    found = np.asarray(given)
    if found.ndim != 1:
        raise ArgumentError(
            "owners must be one list with the owner of each example; examples of several owners cannot be bounded "
            "for each of them",
            "SRD-A001",
        )
    return found
