"""In which order groups come back: a function of their keys, never of how an engine stores or finds them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import prod
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from .group_keys import GROUP, Groups
from .values import ARROW
from .whole_numbers import small_numbers


@dataclass(frozen=True)
class PublicOrder:
    """All groups, as declared, whichever have rows."""

    groups: Groups

    @cached_property
    def keys(self) -> tuple[list[Any], ...]:
        """For each key its values, one for each group."""
        lists = [values or () for values in self.groups.values]
        chosen = self.groups.chosen
        if chosen is None:
            return tuple(_repeated(lists, place) for place in range(len(lists)))
        rows = [_combination(each, lists) for each in chosen]
        return tuple([row[place] for row in rows] for place in range(len(lists)))

    @property
    def size(self) -> int:
        """The number of groups."""
        return self.groups.size

    def places(self, result: pa.Table) -> NDArray[np.int64]:
        """Return for each line of a result the place of its group."""
        return small_numbers(result[GROUP]) if self.groups.keys else np.zeros(result.num_rows, np.int64)


@dataclass(frozen=True)
class PrivateOrder:
    """The groups that have rows, ascending with NULL last. `found` is a result with one line for each of them."""

    groups: Groups
    found: pa.Table

    @cached_property
    def _ordered(self) -> pa.Table:
        import pyarrow.compute as pc  # slow to load, and only private keys need it

        values = self._values(self.found)
        return values.take(pc.sort_indices(values, [(name, "ascending", "at_end") for name in values.column_names]))

    @cached_property
    def keys(self) -> tuple[list[Any], ...]:
        """For each key its values, one for each group."""
        return tuple(column.to_pylist() for column in self._ordered.columns)

    @property
    def size(self) -> int:
        """The number of groups."""
        return int(self._ordered.num_rows)

    @cached_property
    def _place_of(self) -> dict[tuple[Any, ...], int]:
        return {key: place for place, key in enumerate(zip(*self.keys, strict=True))}

    def places(self, result: pa.Table) -> NDArray[np.int64]:
        """Return for each line of a result the place of its group."""
        keys = zip(*(column.to_pylist() for column in self._values(result).columns), strict=True)
        return np.fromiter((self._place_of[key] for key in keys), np.int64, result.num_rows)

    def _values(self, result: pa.Table) -> pa.Table:
        """Return the keys of a result's lines as values again, where they were numbered."""
        import pyarrow.compute as pc

        columns = {}
        for name, key, public in zip(self.groups.raw_columns, self.groups.keys, self.groups.values, strict=True):
            kind = ARROW[key.column.kind]
            columns[name] = (result[name] if public is None else pc.take(pa.array(public, kind), result[name])).cast(
                kind
            )
        return pa.table(columns)


Order = PublicOrder | PrivateOrder


def _repeated(lists: Sequence[Sequence[Any]], place: int) -> list[Any]:
    """Return one key's values in all combinations, of which there may be millions: the last key changes fastest."""
    inner, outer = prod(map(len, lists[place + 1 :])), prod(map(len, lists[:place]))
    return [value for value in lists[place] for _ in range(inner)] * outer


def _combination(number: int, lists: Sequence[Sequence[Any]]) -> tuple[Any, ...]:
    reverse = []
    for values in reversed(lists):
        number, place = divmod(number, len(values))
        reverse.append(values[place])
    return tuple(reversed(reverse))
