"""Which cells of several columns no row has: constraints over columns, as tables of what is empty."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from sordino.arguments import shown
from sordino.errors import ArgumentError

from .constraints import AtMost, Constraint, Determines, Never, orders
from .fields import Field
from .fitting import Model
from .junction import Clique, cells_needed

Empty = dict[Clique, NDArray[np.bool_]]
MOST_CELLS = 2**22


def empty_cells(fields: Sequence[Field], constraints: Iterable[Constraint]) -> Empty:
    """Return the cells that are empty in every row, by columns in ascending order."""
    said, found = tuple(constraints), Empty()
    for each in said:
        if isinstance(each, Never):
            _add(found, *_of_never(fields, each))
        elif isinstance(each, Determines) and each.given is not None:
            _add(found, *of_function(fields, each, _images(fields, each)))
    for each in orders(said):
        _add(found, *_of_order(fields, each))
    return found


def check_possible(finest: Sequence[Field], constraints: Sequence[Constraint]) -> None:
    """Refuse constraints that no row can keep, and those that need more cells than a model can hold.

    Looks at the coarsest cells that bins may come to: where those can be kept, so can finer ones, for in a column of
    numbers each constraint holds for all of a cell, or leaves some values of it.
    """
    fields = [
        field.merged((field.edges[0], *field.forced, field.edges[-1])) if field.numeric else field for field in finest
    ]
    for each in constraints:
        ordered = isinstance(each, AtMost) and {each.lower, each.upper} & {
            other.target for other in constraints if isinstance(other, Determines)
        }
        if ordered:
            raise ArgumentError(
                f"{min(ordered)!r} is determined by another column and in order with a third; say one of the two",
                "SRD-P103",
            )
    empty = empty_cells(fields, constraints)
    sizes = tuple(field.size for field in fields)
    if cells_needed(sizes, empty) > MOST_CELLS:
        raise ArgumentError(
            f"these constraints need a model of {cells_needed(sizes, empty):,} cells, and {MOST_CELLS:,} is the most; "
            "let them name fewer columns, or columns of fewer keys",
            "SRD-P104",
        )
    if not Model(sizes, {}, empty, 1.0).beliefs.possible:
        raise ArgumentError(
            "no row can keep all of these constraints: together they leave no cell; take out those that contradict "
            "each other",
            "SRD-P103",
        )


def place_of(fields: Sequence[Field], name: str) -> int:
    """Return which column is called so."""
    for place, field in enumerate(fields):
        if field.name == name:
            return place
    names = ", ".join(field.name for field in fields)
    raise ArgumentError(
        f"a constraint names a column {shown(name)} that is not published: there are {names}", "SRD-P101"
    )


def _add(found: Empty, clique: Clique, empty: NDArray[np.bool_]) -> None:
    order = np.argsort(clique)
    ascending = tuple(int(clique[place]) for place in order)
    turned = empty.transpose(order)
    found[ascending] = found[ascending] | turned if ascending in found else turned


def _of_never(fields: Sequence[Field], said: Never) -> tuple[Clique, NDArray[np.bool_]]:
    clique = tuple(place_of(fields, name) for name, _ in said.cells)
    inside = [fields[place].within(given) for place, (_, given) in zip(clique, said.cells, strict=True)]
    return clique, np.logical_and.reduce(np.meshgrid(*inside, indexing="ij"))


def _of_order(fields: Sequence[Field], said: AtMost) -> tuple[Clique, NDArray[np.bool_]]:
    lower, upper = place_of(fields, said.lower), place_of(fields, said.upper)
    one, other = fields[lower], fields[upper]
    if one.numeric != other.numeric or one.kind != other.kind or not one.numeric:
        raise ArgumentError(
            f"{said.lower!r} and {said.upper!r} cannot be in order: both must be numbers, dates or times with bounds, "
            "of one kind",
            "SRD-P102",
        )
    empty = np.zeros((one.size, other.size), dtype=np.bool_)
    above = one.lowest()[:, None] > other.highest()[None, :]
    if one.step is None:
        above |= one.lowest()[:, None] >= other.highest()[None, :]
    empty[: one.parts, : other.parts] = above
    return (lower, upper), empty


def _images(fields: Sequence[Field], said: Determines) -> NDArray[np.int64]:
    """Return the cell of the target for each cell of the source, as it is given."""
    source, target = fields[place_of(fields, said.source)], fields[place_of(fields, said.target)]
    given = dict(said.given or ())
    if source.keys is None or any(key not in given for key in source.keys):
        raise ArgumentError(
            f"determines({said.source!r}, {said.target!r}, …) must say a value for each declared key of the first",
            "SRD-P102",
        )
    found = []
    for key in source.keys:
        inside = np.flatnonzero(target.within((given[key],)))
        if len(inside) != 1:
            raise ArgumentError(f"a value that {said.source!r} determines lies outside of {said.target!r}", "SRD-P102")
        found.append(int(inside[0]))
    return np.array(found)


def of_function(
    fields: Sequence[Field], said: Determines, images: NDArray[np.int64]
) -> tuple[Clique, NDArray[np.bool_]]:
    """Return what is empty if each cell of the source has one of the target."""
    source, target = place_of(fields, said.source), place_of(fields, said.target)
    empty = np.ones((fields[source].size, fields[target].size), dtype=np.bool_)
    empty[np.arange(len(images)), images] = False
    return (source, target), empty


def joined(one: Mapping[Clique, NDArray[np.bool_]], other: Iterable[tuple[Clique, NDArray[np.bool_]]]) -> Empty:
    """Return the cells that are empty in either."""
    found = Empty(one)
    for clique, empty in other:
        _add(found, clique, empty)
    return found
