"""Junction trees: the cliques in which a distribution over many columns is kept, and how they hang together.

Columns are numbers 0, 1, …; a clique is an ascending tuple of them. A tree's cliques hold every clique that it was made
for, and whatever two of them share is held by all on the way between them (the running intersection).

**Source**: Koller, Friedman 2009, chapters 9 and 10: elimination by least cells, and a spanning tree of the largest
separators.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

Clique = tuple[int, ...]


def cells_of(sizes: Sequence[int], clique: Iterable[int]) -> int:
    """Return the number of cells of a clique."""
    return math.prod(sizes[column] for column in clique)


def triangulated(sizes: Sequence[int], cliques: Iterable[Clique]) -> list[Clique]:
    """Return the maximal cliques of a chordal graph that holds `cliques`: the column of fewest cells goes first."""
    near: list[set[int]] = [set() for _ in sizes]
    for clique in cliques:
        for one, other in itertools.combinations(clique, 2):
            near[one].add(other)
            near[other].add(one)
    left, found = set(range(len(sizes))), []
    while left:
        column = min(left, key=lambda each: (cells_of(sizes, near[each]) * sizes[each], each))
        friends = near[column]
        for one, other in itertools.combinations(friends, 2):
            near[one].add(other)
            near[other].add(one)
        for friend in friends:
            near[friend].discard(column)
        left.discard(column)
        found.append(tuple(sorted({*friends, column})))
    maximal: list[Clique] = []
    for clique in sorted(found, key=lambda each: (-len(each), each)):
        if not any(set(clique) <= set(other) for other in maximal):
            maximal.append(clique)
    return maximal


def cells_needed(sizes: Sequence[int], cliques: Iterable[Clique]) -> int:
    """Return how many numbers a model of these cliques would hold."""
    return sum(cells_of(sizes, clique) for clique in triangulated(sizes, cliques))


class Way(NamedTuple):
    """A clique and its parent: for each, the axes that the other lacks, and the shape of what they share in it."""

    place: int
    parent: int
    axes: tuple[int, ...]
    spread: tuple[int, ...]
    parent_axes: tuple[int, ...]
    parent_spread: tuple[int, ...]


@dataclass(frozen=True)
class Tree:
    """Cliques that hang together: `parents` names each one's parent, None for the root, which is the first."""

    sizes: tuple[int, ...]
    cliques: tuple[Clique, ...]
    parents: tuple[int | None, ...]
    order: tuple[int, ...]
    """All cliques, each after its parent."""

    @classmethod
    def of(cls, sizes: Sequence[int], cliques: Iterable[Clique]) -> Tree:
        """Return a tree whose cliques hold all of `cliques` and every column."""
        found = triangulated(sizes, cliques)
        friends = _spanning(found)
        parents: dict[int, int | None] = {0: None}
        order = [0]
        for place in order:
            for friend in friends[place]:
                if friend not in parents:
                    parents[friend] = place
                    order.append(friend)
        return cls(tuple(sizes), tuple(found), tuple(parents[place] for place in range(len(found))), tuple(order))

    @cached_property
    def separators(self) -> tuple[Clique, ...]:
        """What each clique shares with its parent."""
        return tuple(
            () if parent is None else tuple(sorted(set(clique) & set(self.cliques[parent])))
            for clique, parent in zip(self.cliques, self.parents, strict=True)
        )

    @cached_property
    def friends(self) -> tuple[tuple[int, ...], ...]:
        """The cliques next to each."""
        near: list[list[int]] = [[] for _ in self.cliques]
        for place, parent in enumerate(self.parents):
            if parent is not None:
                near[place].append(parent)
                near[parent].append(place)
        return tuple(tuple(each) for each in near)

    @cached_property
    def cells(self) -> int:
        """The number of cells of all cliques."""
        return sum(cells_of(self.sizes, clique) for clique in self.cliques)

    def shape(self, place: int) -> tuple[int, ...]:
        """Return the shape of a clique's table."""
        return tuple(self.sizes[column] for column in self.cliques[place])

    def home(self, clique: Iterable[int]) -> int | None:
        """Return the smallest clique that holds all of these columns, if any does."""
        wanted = set(clique)
        holding = [place for place, each in enumerate(self.cliques) if wanted <= set(each)]
        return min(holding, key=lambda place: cells_of(self.sizes, self.cliques[place]), default=None)

    def other_axes(self, place: int, columns: Iterable[int]) -> tuple[int, ...]:
        """Return the axes of a clique's table that are not of these columns."""
        kept = set(columns)
        return tuple(axis for axis, column in enumerate(self.cliques[place]) if column not in kept)

    def spread(self, place: int, columns: Iterable[int]) -> tuple[int, ...]:
        """Return the shape in which a table over `columns` (ascending) is spread over a clique's table."""
        kept = set(columns)
        return tuple(self.sizes[column] if column in kept else 1 for column in self.cliques[place])

    @cached_property
    def ways(self) -> tuple[Way, ...]:
        """How each clique meets its parent, from the leaves to the root's children."""
        found = []
        for place in reversed(self.order[1:]):
            parent, shared = self.parents[place], self.separators[place]
            assert parent is not None  # noqa: S101  (all but the first have one)
            found.append(
                Way(
                    place,
                    parent,
                    self.other_axes(place, shared),
                    self.spread(place, shared),
                    self.other_axes(parent, shared),
                    self.spread(parent, shared),
                )
            )
        return tuple(found)


def _spanning(cliques: Sequence[Clique]) -> list[list[int]]:
    """Return who is next to whom in a spanning tree of the largest separators (Kruskal)."""
    weighed = sorted(
        (
            (-len(set(cliques[one]) & set(cliques[other])), one, other)
            for one, other in itertools.combinations(range(len(cliques)), 2)
        ),
    )
    group = list(range(len(cliques)))
    friends: list[list[int]] = [[] for _ in cliques]
    for _, one, other in weighed:
        if group[one] != group[other]:
            joined, into = group[other], group[one]
            group = [into if each == joined else each for each in group]
            friends[one].append(other)
            friends[other].append(one)
    return friends
