"""Trees of places, or of categories: every place but the highest has one parent, and data is counted at the leaves.

>>> import pyarrow as pa
>>> places = pa.table({"state": ["RI", "RI", "CT"], "county": ["Kent", "Bristol", "New London"]})
>>> tree(places, ["state", "county"])
Tree(state: 2, county: 3)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from sordino.accounting.digest import digest_of, spelled_once
from sordino.arguments import shown
from sordino.data.declare import keys
from sordino.data.frames import arrow_of
from sordino.data.metadata import KeyValue
from sordino.errors import ArgumentError

_WRITTEN = 1_000
"""Up to how many leaves a tree is part of a publication's parameters; larger ones are there by their digest."""


@spelled_once
@dataclass(frozen=True, repr=False)
class Tree:
    """Levels from the top down, their places, and which are whose. Children of one parent stand together, in order."""

    levels: tuple[str, ...]
    places: tuple[tuple[KeyValue, ...], ...]
    parents: tuple[tuple[int, ...], ...]
    """For each level but the highest, the parent of each place by its number on the level above; ascending."""

    @cached_property
    def first_children(self) -> tuple[NDArray[np.int64], ...]:
        """For each level but the last, where each place's children begin."""
        numbered = (np.asarray(each, np.int64) for each in self.parents)
        return tuple(np.flatnonzero(np.diff(each, prepend=-1)) for each in numbered)

    @property
    def sizes(self) -> tuple[int, ...]:
        """The number of places of each level."""
        return tuple(map(len, self.places))

    def level(self, name: str) -> int:
        """Return the number of a level from the top, or say which there are."""
        if name not in self.levels:
            raise ArgumentError(
                f"there is no level {shown(name)}; there are {', '.join(map(shown, self.levels))}", "SRD-P203"
            )
        return self.levels.index(name)

    def summed(self, leaves: NDArray[np.int64]) -> list[NDArray[np.int64]]:
        """Return counts of the leaves (leaves × cells) added up for each level, from the top down."""
        found = [leaves]
        for first in reversed(self.first_children):
            found.insert(0, np.add.reduceat(found[0], first, axis=0))
        return found

    def path(self, level: int) -> dict[str, list[KeyValue]]:
        """Return, for each place of a level, itself and those that it is part of, by the names of levels."""
        index, found = np.arange(len(self.places[level])), {}
        for above in range(level, -1, -1):
            found[self.levels[above]] = [self.places[above][number] for number in index.tolist()]
            if above:
                index = np.asarray(self.parents[above - 1])[index]
        return {name: found[name] for name in self.levels[: level + 1]}

    def plain(self) -> dict[str, Any]:
        """Return what JSON can hold: all places of a small tree, the digest of a large one."""
        said: dict[str, Any] = {"levels": list(self.levels), "sizes": list(self.sizes)}
        if self.sizes[-1] <= _WRITTEN and all(isinstance(place, str | int) for place in sum(self.places, ())):
            return said | {"places": self.path(len(self.levels) - 1)}
        return said | {"digest": digest_of(self)}

    def __repr__(self) -> str:
        sizes = (f"{name}: {size:,}" for name, size in zip(self.levels, self.sizes, strict=True))
        return f"Tree({', '.join(sizes)})"


def tree(places: Any, levels: Sequence[str]) -> Tree:
    """Return the tree whose leaves are the rows of a public table: a column for each level, the highest first.

    `places` is a pandas, polars or Arrow table, or a dict of lists. The last level's values are what stands in the
    data. **Assumes** that the table is public: nothing in it is protected.
    """
    names = _names(levels)
    table = _table(places, names)
    columns = [_coded(name, table[name]) for name in names]
    order = np.lexsort([codes for codes, _ in reversed(columns)])
    rows = np.stack([codes for codes, _ in columns])[:, order]
    found, parents, numbers = [], [], np.zeros(rows.shape[1], np.int64)
    begins = np.zeros(rows.shape[1], np.bool_)
    for place, (_, values) in enumerate(columns):
        begins = begins | (np.diff(rows[place], prepend=-1) != 0)
        first = np.flatnonzero(begins)
        if len(first) > len(values):
            _refuse_two_parents(names[place - 1], names[place], values, rows[place][first])
        found.append(tuple(values[code] for code in rows[place][first].tolist()))
        parents.append(tuple(numbers[first].tolist()))
        numbers = np.cumsum(begins) - 1
    return Tree(names, tuple(found), tuple(parents[1:]))


def tree_from_plain(plain: Mapping[str, Any]) -> Tree:
    """Return the tree that `Tree.plain` wrote, if it was small enough to be written."""
    if not isinstance(plain, Mapping) or not {"levels", "places"} <= set(plain):
        raise ArgumentError(
            "a tree is said by its levels and, for each, the places of all leaves: "
            '{"levels": ["state", "county"], "places": {"state": […], "county": […]}}',
            "SRD-P203",
        )
    return tree(plain["places"], plain["levels"])


def _names(levels: Any) -> tuple[str, ...]:
    if isinstance(levels, str) or not isinstance(levels, Sequence) or not levels:
        raise ArgumentError('levels must be a list of columns, the highest first: ["state", "county"]', "SRD-A001")
    if not all(isinstance(name, str) and name for name in levels) or len(set(levels)) < len(levels):
        raise ArgumentError("levels must be names of columns, each another one", "SRD-A001")
    return tuple(levels)


def _table(places: Any, names: tuple[str, ...]) -> pa.Table:
    if isinstance(places, Mapping):
        try:
            table = pa.table({name: places[name] for name in names if name in places})
        except (pa.ArrowException, TypeError, ValueError):
            raise ArgumentError(
                "places must have lists of one length, each of one kind of values", "SRD-A001"
            ) from None
    else:
        table = arrow_of("places", places)
    missing = [name for name in names if name not in table.column_names]
    if missing:
        raise ArgumentError(f"the table of places has no column {shown(missing[0])}", "SRD-P203")
    if not table.num_rows:
        raise ArgumentError("the table of places has no rows, so there is nothing to count in", "SRD-P203")
    return table.select(list(names))


def _coded(name: str, column: Any) -> tuple[NDArray[np.int64], tuple[KeyValue, ...]]:
    """Return a column as numbers in the order in which values appear first, and the values."""
    if column.null_count:
        raise ArgumentError(
            f"a leaf of the tree has no {shown(name)}, so it has no parent there; give every row a value in every "
            "level, or leave the row out",
            "SRD-P202",
        )
    coded = column.combine_chunks().dictionary_encode()
    values = keys(coded.dictionary.to_pylist()).keys or ()
    return np.asarray(coded.indices, np.int64), values


def _refuse_two_parents(above: str, level: str, values: Sequence[KeyValue], found: NDArray[np.int64]) -> None:
    codes, times = np.unique(found, return_counts=True)
    twice = values[int(codes[times > 1][0])]
    raise ArgumentError(
        f"the {level} {shown(twice)} is in more than one {above}, so it has two parents; if they are different places "
        f"of one name, write them apart, as in {above} and {level} together",
        "SRD-P201",
    )
