"""Published tables of a small place, as constraints on who lives there.

A place is an unknown number of people in each *cell*: one combination of attributes, such as (age 36, female, black).
What an office publishes are facts about groups of cells: how many people, their mean and their median age. Each fact is
a linear constraint on the numbers of people, or a few with whole-numbered variables of their own.

**Source**: Garfinkel, Abowd, Martindale 2019, whose block of seven people is in the tests.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sordino.accounting.curve import Floats
from sordino.arguments import rational, whole
from sordino.errors import ArgumentError

Mask = NDArray[np.bool_]
Record = Mapping[str, Any]
Group = Mapping[str, Any] | Callable[[Record], bool] | Mask | None

_MOST_CELLS = 50_000


@dataclass(frozen=True)
class Place:
    """The attributes that people have, each with all of its values; the first one must be whole numbers (an age).

    >>> place = Place({"age": range(3), "sex": ("f", "m")})
    >>> len(place.cells), place.cells[1]
    (6, {'age': 0, 'sex': 'm'})
    """

    attributes: Mapping[str, Sequence[Any]]

    def __post_init__(self) -> None:
        sizes = [len(values) for values in self.attributes.values()]
        if not sizes or not 0 < np.prod([float(size) for size in sizes]) <= _MOST_CELLS:
            raise ArgumentError(f"a place needs between 1 and {_MOST_CELLS:,} cells; give fewer values", "SRD-V011")
        for year in next(iter(self.attributes.values())):
            whole("the first attribute's value", year)

    @cached_property
    def cells(self) -> list[dict[str, Any]]:
        """Every combination of values."""
        return [dict(zip(self.attributes, each, strict=True)) for each in product(*self.attributes.values())]

    @cached_property
    def years(self) -> Floats:
        """The first attribute of every cell."""
        return np.array([next(iter(cell.values())) for cell in self.cells], dtype=float)

    def group(self, chosen: Group) -> Mask:
        """Return which cells belong to a group: by values of attributes, a condition, a mask, or everybody (None)."""
        if chosen is None:
            return np.ones(len(self.cells), dtype=bool)
        if isinstance(chosen, np.ndarray):
            return chosen
        if callable(chosen):
            return np.array([bool(chosen(cell)) for cell in self.cells])
        unknown = [name for name in chosen if name not in self.attributes]
        if unknown:
            raise ArgumentError(f"there is no attribute {unknown[0]!r}; there are {list(self.attributes)}", "SRD-V011")
        return np.array([all(cell[name] == value for name, value in chosen.items()) for cell in self.cells])

    def classes(
        self, names: Sequence[str], coarse: Mapping[str, Callable[[Any], Any]] | None = None
    ) -> dict[tuple[Any, ...], Mask]:
        """Return the cells of each combination of `names`; `coarse` puts an attribute's values into wider classes."""
        how = dict(coarse or {})
        keys = [tuple(how[name](cell[name]) if name in how else cell[name] for name in names) for cell in self.cells]
        at = {key: number for number, key in enumerate(dict.fromkeys(keys))}
        numbers = np.array([at[key] for key in keys])
        return {key: numbers == number for key, number in at.items()}

    def tabulate(
        self,
        records: Sequence[Record],
        names: Sequence[str],
        coarse: Mapping[str, Callable[[Any], Any]] | None = None,
    ) -> dict[tuple[Any, ...], int]:
        """Return how many of `records` are in each combination of `names`, empty ones as well."""
        histogram = self.histogram(records)
        return {key: int(histogram[mask].sum()) for key, mask in self.classes(names, coarse).items()}

    def histogram(self, records: Sequence[Record]) -> NDArray[np.int64]:
        """Return how many of `records` are in each cell."""
        at = {tuple(cell.values()): place for place, cell in enumerate(self.cells)}
        places = [at.get(tuple(record[name] for name in self.attributes)) for record in records]
        if None in places:
            raise ArgumentError("a record has a value that its attribute does not list; list all values", "SRD-V011")
        return np.bincount(np.array(places, dtype=np.int64), minlength=len(self.cells))

    def records(self, histogram: NDArray[Any]) -> list[dict[str, Any]]:
        """Return the people that a histogram over cells counts."""
        return [dict(self.cells[place]) for place in np.repeat(np.arange(len(self.cells)), histogram).tolist()]


@dataclass(frozen=True)
class Fact:
    """What is published about one group: exactly how many people, or at most so many; their mean and median age.

    `mean` is rounded to `digits` behind the point. `noise` is the scale of the noise in `count`, which a private
    release states; a fact with noise is weighed, a fact without is certain.
    """

    group: Group = None
    count: float | None = None
    most: int | None = None
    mean: float | None = None
    median: float | None = None
    digits: int = 1
    noise: float = 0.0

    def __post_init__(self) -> None:
        rational("noise", self.noise, least=0)
        if (self.mean is not None or self.median is not None) and (self.count is None or self.noise):
            raise ArgumentError("a mean or a median needs the exact count of its group beside it", "SRD-V011")
        if self.count is None and self.most is None:
            raise ArgumentError("a fact needs a count, or most= where a small one was suppressed", "SRD-V011")


def counts_by(
    place: Place,
    names: Sequence[str],
    counts: Mapping[tuple[Any, ...], float],
    *,
    noise: float = 0.0,
    coarse: Mapping[str, Callable[[Any], Any]] | None = None,
) -> list[Fact]:
    """Return a table of counts as facts: one for each combination of `names`, in the classes that `coarse` makes.

    Combinations that `counts` does not list are zero.
    """
    classes = place.classes(names, coarse)
    unknown = next((key for key in counts if key not in classes), None)
    if unknown is not None:
        raise ArgumentError(f"the table counts {unknown!r}, which no cell of the place belongs to", "SRD-V011")
    return [Fact(mask, count=counts.get(key, 0), noise=noise) for key, mask in classes.items()]
