"""Belief propagation on a junction tree, in logarithms: from potentials to the marginals of all cliques.

The distribution is p(x) ∝ exp(Σ potentialᵢ(x)). A cell that must be empty has the potential `FORBIDDEN`: so far below
all others that its probability is exactly 0, yet finite, so that nothing is ever infinity less infinity.

**Source**: Lauritzen, Spiegelhalter 1988; Koller, Friedman 2009, Algorithm 10.2.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .junction import Tree

Floats = NDArray[np.float64]

FORBIDDEN = -1e9
_HARDLY = FORBIDDEN / 2


@dataclass(frozen=True, eq=False)
class Beliefs:
    """The marginals of all cliques of a tree, each with the sum `total`, and each given what its parent shares."""

    tree: Tree
    marginals: tuple[Floats, ...]
    conditionals: tuple[Floats, ...]
    """p(clique | separator): each sums to 1 over what is not in the separator; the root's sums to 1."""
    total: float
    log_mass: float
    """The logarithm of what the potentials sum to over all cells."""

    @property
    def possible(self) -> bool:
        """Whether any cell of the whole distribution is allowed."""
        return self.log_mass > _HARDLY


def propagate(tree: Tree, potentials: Sequence[Floats], total: float) -> Beliefs:
    """Return the beliefs of potentials, one table for each clique."""
    gathered = list(potentials)
    conditionals: list[Floats] = [np.empty(0)] * len(gathered)
    for way in tree.ways:
        conditionals[way.place], message = _normalized(gathered[way.place], way.axes)
        gathered[way.parent] = gathered[way.parent] + message.reshape(way.parent_spread)
    root = tree.order[0]
    conditionals[root], mass = _normalized(gathered[root], tuple(range(gathered[root].ndim)))
    marginals: list[Floats] = [np.empty(0)] * len(gathered)
    marginals[root] = conditionals[root] * total
    for way in reversed(tree.ways):
        shared = marginals[way.parent].sum(axis=way.parent_axes)
        marginals[way.place] = conditionals[way.place] * shared.reshape(way.spread)
    return Beliefs(tree, tuple(marginals), tuple(conditionals), total, float(mass.item()))


def _normalized(table: Floats, axes: tuple[int, ...]) -> tuple[Floats, Floats]:
    """Return exp(table) scaled to 1 over `axes`, and the logarithm of what it was scaled by."""
    if not axes:
        return np.ones_like(table), table
    most = table.max(axis=axes, keepdims=True)
    weights = table - most
    np.exp(weights, out=weights)
    sums = weights.sum(axis=axes, keepdims=True)
    weights /= sums
    return weights, most + np.log(sums)
