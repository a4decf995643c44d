"""Totals that add up: answers at several levels made consistent, each total the sum of its parts (ROLLUP, CUBE).

Levels are released with noise of their own, so totals and sums of parts differ. The consistent answer is the linear
unbiased one of least variance: weighted least squares, y = Ax + noise, weights 1/variance (Gauss–Markov; Aitken 1936).
Its variance is nowhere above that of the raw values.

*Nested* levels (ROLLUP) form a tree and have a closed form in two passes (Hay, Rastogi, Miklau, Suciu 2010, here for
any variances and any number of children): upwards each node's own value is averaged with the sum of its children by
inverse variance; downwards what is left between a node and its children is divided among them in proportion to their
variances. Variances follow likewise: V(child) = u − g²(S − V(parent)), u the child's variance after the upward pass, S
the sum of them, g = u/S. Other sets of levels (CUBE) are solved by LSQR on the sparse matrix A.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise, product
from typing import Any

import numpy as np
import scipy
from numpy.typing import NDArray

from sordino.errors import ArgumentError

from .convolution import Floats

_MOST_CELLS = 10**7
_PRECISION = 1e-14


@dataclass(frozen=True, eq=False)
class Level:
    """One grouping set: additive noisy values (counts or sums) of all its cells.

    **Assumes**: keys are public, so that every cell's parts are there at each finer level.
    """

    keys: tuple[int, ...]
    """Which keys of the question it groups by, ascending; empty for the grand total."""
    cells: Sequence[tuple[Any, ...]]
    """The keys' values for each cell, in the order of `keys`."""
    values: Floats
    variances: Floats
    """Of the noise in each value; of the result, in what `consistent` returns."""


def consistent(levels: Sequence[Level]) -> list[Level]:
    """Return the levels with values that add up, and with the variances of those (for a CUBE: those before, which are
    no smaller)."""
    order = sorted(range(len(levels)), key=lambda place: len(levels[place].keys))
    chain = [levels[place] for place in order]
    nested = all(set(above.keys) <= set(below.keys) for above, below in pairwise(chain))
    solved = _tree(chain) if nested else _lattice(chain)
    return [solved[order.index(place)] for place in range(len(levels))]


def _places(fine: Sequence[tuple[Any, ...]], fine_keys: tuple[int, ...], coarse: Level) -> NDArray[np.int64]:
    """Return for each fine cell the place of the coarse cell that it is a part of."""
    columns = [fine_keys.index(key) for key in coarse.keys]
    place = {tuple(cell): number for number, cell in enumerate(coarse.cells)}
    found = [place.get(tuple(cell[column] for column in columns), -1) for cell in fine]
    if -1 in found or len(set(found)) < len(coarse.cells):
        raise ArgumentError(
            "levels can only be made consistent if every total has its parts and every part its total", "SRD-A003"
        )
    return np.array(found, dtype=np.int64)


def _tree(chain: Sequence[Level]) -> list[Level]:
    """Solve nested levels, from the coarsest to the finest."""
    parents = [_places(below.cells, below.keys, above) for above, below in pairwise(chain)]
    values = [np.asarray(level.values, dtype=np.float64) for level in chain]
    spreads = [np.asarray(level.variances, dtype=np.float64) for level in chain]
    sums: list[Floats] = []
    sum_spreads: list[Floats] = []
    for above in range(len(chain) - 2, -1, -1):
        size = len(values[above])
        parts = _added(values[above + 1], parents[above], size)
        part_spreads = _added(spreads[above + 1], parents[above], size)
        trust = part_spreads / (spreads[above] + part_spreads)
        values[above] = trust * values[above] + (1 - trust) * parts
        spreads[above] = trust * spreads[above]
        sums.insert(0, parts)
        sum_spreads.insert(0, part_spreads)
    for above, parent in enumerate(parents):
        gain = spreads[above + 1] / sum_spreads[above][parent]
        values[above + 1] = values[above + 1] + gain * (values[above] - sums[above])[parent]
        spreads[above + 1] = spreads[above + 1] - gain**2 * (sum_spreads[above] - spreads[above])[parent]
    return [replace(level, values=v, variances=u) for level, v, u in zip(chain, values, spreads, strict=True)]


def _added(values: Floats, parents: NDArray[np.int64], size: int) -> Floats:
    return np.bincount(parents, weights=values, minlength=size).astype(np.float64)


def _lattice(chain: Sequence[Level]) -> list[Level]:
    """Solve any levels: find the finest cells that explain all values best, and add them up."""
    keys, cells = _finest(chain)
    matrices = []
    for level in chain:
        places = _places(cells, keys, level)
        shape = (len(level.cells), len(cells))
        matrices.append(scipy.sparse.csr_array((np.ones(len(cells)), (places, np.arange(len(cells)))), shape=shape))
    weights = np.concatenate([1 / np.sqrt(level.variances) for level in chain])
    values = np.concatenate([level.values for level in chain])
    weighted = scipy.sparse.diags_array(weights) @ scipy.sparse.vstack(matrices)
    scale = float(np.max(np.abs(values), initial=0.0)) or 1.0
    solution = (
        scipy.sparse.linalg.lsqr(weighted, weights * values / scale, atol=_PRECISION, btol=_PRECISION, iter_lim=10_000)[
            0
        ]
        * scale
    )
    return [replace(level, values=np.asarray(matrix @ solution)) for level, matrix in zip(chain, matrices, strict=True)]


def _finest(chain: Sequence[Level]) -> tuple[tuple[int, ...], Sequence[tuple[Any, ...]]]:
    """Return the keys of all levels together and the cells that they make: those of the finest level, if it has all
    keys, else every combination of the values that occur."""
    keys = tuple(sorted({key for level in chain for key in level.keys}))
    if set(chain[-1].keys) == set(keys):
        return chain[-1].keys, chain[-1].cells
    values: list[list[Any]] = []
    for key in keys:
        level = next(level for level in chain if key in level.keys)
        column = level.keys.index(key)
        values.append(list(dict.fromkeys(cell[column] for cell in level.cells)))
    if np.prod([float(len(each)) for each in values]) > _MOST_CELLS:
        raise ArgumentError(
            f"these levels have more than {_MOST_CELLS:,} cells in common; add the level of all keys", "SRD-A002"
        )
    return keys, list(product(*values))
