"""Rows of a model: each clique's columns given what its parent shares, in exact shares as far as whole rows allow.

The rows that share the values of a separator are given the values of the new columns by systematic sampling: with one
uniform number for the group, the cells' counts are what is expected, rounded up or down, and each cell's chance is
exactly its share. So marginals of many rows are those of the model but for rounding. Randomness is from ``noise``; it
hides nothing (a model is noisy by itself), and floats do.

**Source**: Cochran 1977, section 8 (systematic sampling).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sordino import noise

from .beliefs import Beliefs
from .junction import Clique

Integers = NDArray[np.int64]
Floats = NDArray[np.float64]

_FINEST = 2**40
_LAST = 1 - 2.0**-30
"""The largest place within a group: far enough below 1 that adding the group's number does not round it up."""


def draw_rows(beliefs: Beliefs, rows: int) -> Integers:
    """Return rows of all columns, one column of numbers for each; the order of rows is random."""
    tree = beliefs.tree
    drawn = np.zeros((rows, len(tree.sizes)), dtype=np.int64)
    for place in tree.order:
        clique, shared = tree.cliques[place], tree.separators[place]
        new = tuple(column for column in clique if column not in shared)
        order = [clique.index(column) for column in shared + new]
        sizes = [tree.sizes[column] for column in shared]
        chances = beliefs.conditionals[place].transpose(order).reshape(int(np.prod(sizes)), -1)
        groups = _numbered(drawn, shared, sizes)
        values = systematic(chances, groups)
        for column, found in zip(new, np.unravel_index(values, [tree.sizes[each] for each in new]), strict=True):
            drawn[:, column] = found
    return drawn


def _numbered(drawn: Integers, shared: Clique, sizes: list[int]) -> Integers:
    if not shared:
        return np.zeros(len(drawn), dtype=np.int64)
    numbers: Integers = np.ravel_multi_index([drawn[:, column] for column in shared], sizes).astype(np.int64)
    return numbers


def systematic(chances: Floats, groups: Integers) -> Integers:
    """Return a cell for each row, by the chances of the row's group: each group's counts as expected, rounded.

    A cell without a chance is never drawn. The rows of a group are in random order.
    """
    rows = len(groups)
    shuffled = noise.permutation(rows)
    order = shuffled[np.argsort(groups[shuffled], kind="stable")]
    kinds, starts, sizes = np.unique(groups[order], return_index=True, return_counts=True)
    offsets = noise.uniform(_FINEST, size=(len(kinds),)) / _FINEST
    within = np.arange(rows) - np.repeat(starts, sizes) + np.repeat(offsets, sizes)
    places = np.minimum(within / np.repeat(sizes, sizes), _LAST) + np.repeat(np.arange(len(kinds)), sizes)
    steps = _stairs(chances[kinds])
    found = (
        np.searchsorted(steps.ravel(), places, side="right") - np.repeat(np.arange(len(kinds)), sizes) * steps.shape[1]
    )
    values = np.empty(rows, dtype=np.int64)
    values[order] = found
    return values


def _stairs(chances: Floats) -> Floats:
    """Return the cumulated chances of each group, from its number to the next: 1 from the last chance on."""
    steps = np.cumsum(chances, axis=1)
    last = steps[:, -1:]
    stairs: Floats = np.where(steps >= last, 1.0, steps / last) + np.arange(len(chances))[:, None]
    return stairs
