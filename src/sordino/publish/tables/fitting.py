"""From noisy marginals to the distribution that explains them best: entropic mirror descent on a junction tree.

Minimizes L(μ) = Σ ½·precision·‖μ_clique − measured‖² over the marginals μ of all distributions on the tree. A step of
mirror descent with the entropy as its distance takes the gradient from the potentials, so what is found has the form
exp(Σ potentials): of all distributions with these marginals the one of most entropy. A step is taken if it gains half
of what its gradient promises, and grows again after each that is.

**Source**: McKenna, Sheldon, Miklau 2019 (*Graphical-model based estimation and inference for differential privacy*),
Algorithm 1; Beck, Teboulle 2003 for the step.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .across import Across
from .beliefs import FORBIDDEN, Beliefs, propagate
from .junction import Clique, Tree

Floats = NDArray[np.float64]

_GROWTH = 1.1
_SHRINK = 0.5
_LEAST_STEP = 1e-20
_LOOKS_BACK = 25


@dataclass(frozen=True, eq=False)
class Measured:
    """A noisy marginal: its numbers, and one over the variance of each."""

    numbers: Floats
    precision: float

    def joined(self, other: Measured) -> Measured:
        """Return both as one, weighed by their precisions: the estimate of least variance."""
        both = self.precision + other.precision
        return Measured((self.numbers * self.precision + other.numbers * other.precision) / both, both)


@dataclass(frozen=True, eq=False)
class Model:
    """A distribution on a tree, as potentials; `total` is how many rows there are."""

    tree: Tree
    potentials: tuple[Floats, ...]
    total: float

    def beliefs(self) -> Beliefs:
        """Return the marginals of all cliques."""
        return propagate(self.tree, self.potentials, self.total)

    def across(self) -> Across:
        """Return what makes marginals of any columns."""
        return Across(self.beliefs())


def total_of(measured: Iterable[Measured]) -> float:
    """Return how many rows there are: the sums of noisy marginals, weighed by their precisions; 1 at least."""
    weighed = [(each.numbers.sum(), each.precision / each.numbers.size) for each in measured]
    return max(1.0, float(np.average([total for total, _ in weighed], weights=[weight for _, weight in weighed])))


def start(
    sizes: Sequence[int], cliques: Iterable[Clique], empty: Mapping[Clique, NDArray[np.bool_]], total: float,
    before: Model | None = None,
) -> Model:  # fmt: skip
    """Return a model whose tree holds `cliques`: the one `before`, or all allowed cells alike.

    `empty` says for some cliques which cells are empty in every row.
    """
    tree = Tree.of(sizes, [*cliques, *empty])
    potentials = [np.zeros(tree.shape(place)) for place in range(len(tree.cliques))]
    if before is not None:
        for clique, table in zip(before.tree.cliques, before.potentials, strict=True):
            home = _home(tree, clique)
            potentials[home] += table.reshape(tree.spread(home, clique))
    for clique, cells in empty.items():
        home = _home(tree, clique)
        spread = np.broadcast_to(cells.reshape(tree.spread(home, clique)), potentials[home].shape)
        potentials[home][spread] = FORBIDDEN
    return Model(tree, tuple(potentials), total)


def fit(model: Model, measured: Mapping[Clique, Measured], *, steps: int, tolerance: float = 1e-5) -> Model:
    """Return the model moved towards what was measured, in at most so many steps.

    It stops when 25 steps together gain less than `tolerance` of what is left.
    """
    loss = _Loss(model.tree, measured)
    potentials, beliefs = model.potentials, model.beliefs()
    now, slope = loss.of(beliefs)
    step = 1.0 / (model.total * max(each.precision for each in measured.values()))
    past = [now]
    for _ in range(steps):
        moved = tuple(_moved(table, slope.get(place), step) for place, table in enumerate(potentials))
        ahead = propagate(model.tree, moved, model.total)
        then, slope_then = loss.of(ahead)
        promised = sum(
            float(np.vdot(beliefs.marginals[place] - ahead.marginals[place], np.broadcast_to(table, ahead.marginals[place].shape)))
            for place, table in slope.items()
        )
        if now - then >= 0.5 * promised:
            potentials, beliefs, now, slope = moved, ahead, then, slope_then
            step *= _GROWTH
            past.append(now)
            if len(past) > _LOOKS_BACK and past[-_LOOKS_BACK] - now < tolerance * max(now, 1.0):
                break
        else:
            step *= _SHRINK
            if step < _LEAST_STEP:
                break
    return Model(model.tree, potentials, model.total)


def _moved(table: Floats, slope: Floats | None, step: float) -> Floats:
    return table if slope is None else table - step * slope


class _Loss:
    """How far beliefs are from what was measured, and the slope of that in each clique's table."""

    def __init__(self, tree: Tree, measured: Mapping[Clique, Measured]) -> None:
        self._tree = tree
        self._parts = [(clique, each, _home(tree, clique)) for clique, each in measured.items()]

    def of(self, beliefs: Beliefs) -> tuple[float, dict[int, Floats]]:
        total, slope = 0.0, dict[int, Floats]()
        for clique, each, home in self._parts:
            off = beliefs.marginals[home].sum(axis=self._tree.other_axes(home, clique)) - each.numbers
            total += 0.5 * each.precision * float(np.vdot(off, off))
            part = (each.precision * off).reshape(self._tree.spread(home, clique))
            slope[home] = part if home not in slope else slope[home] + part
        return total, slope


def _home(tree: Tree, clique: Clique) -> int:
    home = tree.home(clique)
    assert home is not None  # noqa: S101  (the tree was made for it)
    return home
