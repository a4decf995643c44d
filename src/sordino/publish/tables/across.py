"""The marginal of any columns of a tree, also of columns that no clique holds together.

Columns of two cliques are brought together along the way between them: p(a, b) = Σ p(a, s)·p(b | s), s being what the
next two cliques share. What stands for p(· | s) depends on no a, so it is made once and kept.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .beliefs import Beliefs
from .junction import Clique

Floats = NDArray[np.float64]


class Across:
    """Marginals of the columns of beliefs, each with the sum that the beliefs have."""

    def __init__(self, beliefs: Beliefs) -> None:
        self._beliefs = beliefs
        self._tree = beliefs.tree
        self._kept: dict[tuple[int, Clique], Floats] = {}
        self._given: dict[tuple[int, Clique, Clique], Floats] = {}

    def of(self, clique: Clique) -> Floats:
        """Return the marginal of ascending columns."""
        home = self._tree.home(clique)
        if home is not None:
            return self._within(home, clique)
        if len(clique) == 2:
            return self.pairs(clique[0], [clique[1]])[clique]
        return self._eliminated(clique)

    def pairs(self, one: int, others: Iterable[int]) -> dict[Clique, Floats]:
        """Return the marginals of one column with each of the others, by ascending pairs: one walk of the tree."""
        wanted = {other for other in others if other != one}
        found: dict[Clique, Floats] = {}
        start = self._tree.home((one,))
        assert start is not None  # noqa: S101  (every column has a clique)
        todo: list[tuple[int, int, Clique, Floats | None]] = [(start, -1, (), None)]
        while todo and wanted:
            place, came_from, shared, joint = todo.pop()
            clique = self._tree.cliques[place]
            for other in wanted & set(clique):
                pair = self._joined(place, one, shared, joint, (other,))
                found[(min(one, other), max(one, other))] = pair if one < other else pair.T
            wanted -= set(clique)
            for friend in self._tree.friends[place]:
                if friend != came_from:
                    going = tuple(sorted(set(clique) & set(self._tree.cliques[friend]) - {one}))
                    carried = (
                        None if one in self._tree.cliques[friend] else self._joined(place, one, shared, joint, going)
                    )
                    todo.append((friend, place, going, carried))
        return found

    def _joined(self, place: int, one: int, shared: Clique, joint: Floats | None, target: Clique) -> Floats:
        """Return p(one, target), both met at this clique; `joint` is p(one, shared), or None if `one` is here."""
        if joint is None:
            table = self._within(place, tuple(sorted({one, *target})))
            return np.moveaxis(table, sorted({one, *target}).index(one), 0)
        both = tuple(column for column in target if column in shared)
        rest = tuple(column for column in shared if column not in both)
        new = tuple(column for column in target if column not in shared)
        sizes = self._tree.sizes
        order = [0, *(1 + shared.index(column) for column in both + rest)]
        left = joint.transpose(order).reshape(sizes[one], int(np.prod([sizes[c] for c in both])), -1).swapaxes(0, 1)
        right = self._conditional(place, both + rest, new)
        met = left @ right.reshape(left.shape[0], left.shape[2], -1)
        shaped = met.swapaxes(0, 1).reshape(sizes[one], *(sizes[c] for c in both + new))
        return shaped.transpose(0, *(1 + (both + new).index(column) for column in target))

    def _conditional(self, place: int, given: Clique, new: Clique) -> Floats:
        """Return p(new | given), given as rows in the order that is asked for."""
        key = (place, given, new)
        if key not in self._given:
            columns = tuple(sorted({*given, *new}))
            table = self._within(place, columns).transpose([columns.index(column) for column in given + new])
            flat = table.reshape(int(np.prod([self._tree.sizes[column] for column in given])), -1)
            sums = flat.sum(axis=1, keepdims=True)
            self._given[key] = np.divide(flat, sums, out=np.zeros_like(flat), where=sums > 0)
        return self._given[key]

    def _within(self, place: int, columns: Clique) -> Floats:
        key = (place, columns)
        if key not in self._kept:
            axes = self._tree.other_axes(place, columns)
            self._kept[key] = self._beliefs.marginals[place].sum(axis=axes)
        return self._kept[key]

    def _eliminated(self, clique: Clique) -> Floats:
        """Gather, from the leaves to the root, p(wanted columns below | separator)."""
        tree, root = self._tree, self._tree.order[0]
        gathered: dict[int, tuple[Clique, Floats]] = {}
        for place in reversed(tree.order):
            below = [gathered[each] for each in tree.friends[place] if tree.parents[each] == place and each in gathered]
            seen = {column for columns, _ in below for column in columns}
            wanted = set(clique) & (seen | set(tree.cliques[place]))
            kept = tuple(sorted(wanted | set(tree.separators[place])))
            if place == root or not set(kept) <= set(tree.separators[place]):
                gathered[place] = (kept, self._contracted(place, kept, below))
        return gathered[root][1]

    def _contracted(self, place: int, kept: Clique, below: list[tuple[Clique, Floats]]) -> Floats:
        """Return the sum over all but `kept` of a clique's table times what was gathered below it."""
        tree = self._tree
        needed = {*kept, *(column for columns, _ in below for column in columns)}
        here = tuple(sorted(needed & set(tree.cliques[place])))
        source = self._beliefs.marginals if place == tree.order[0] else self._beliefs.conditionals
        letter = {column: number for number, column in enumerate(sorted(needed))}
        parts: list[Any] = [source[place].sum(axis=tree.other_axes(place, here)), [letter[each] for each in here]]
        for columns, table in below:
            parts += [table, [letter[each] for each in columns]]
        joined: Floats = np.einsum(*parts, [letter[each] for each in kept], optimize="greedy")
        return joined
