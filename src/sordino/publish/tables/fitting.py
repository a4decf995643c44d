"""From noisy marginals to the distribution that explains them best: entropic mirror descent on a junction tree.

Minimizes L(μ) = Σ ½·precision·‖μ_clique − measured‖² over the marginals μ of all distributions on the tree. A step of
mirror descent with the entropy as its distance takes the gradient from the potentials, so what is found has the form
exp(Σ potentials): of all distributions with these marginals the one of most entropy. A step is taken if it gains half
of what its gradient promises, and grows again after each that is.

**Source**: McKenna, Sheldon, Miklau 2019 (*Graphical-model based estimation and inference for differential privacy*),
Algorithm 1; Beck, Teboulle 2003 for the step.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property

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
    """A noisy marginal: its numbers, and one over the variance of each, or of all alike."""

    numbers: Floats
    precision: Floats

    def joined(self, other: Measured) -> Measured:
        """Return both as one, weighed by their precisions: the estimate of least variance."""
        both = self.precision + other.precision
        return Measured((self.numbers * self.precision + other.numbers * other.precision) / both, both)


@dataclass(frozen=True, eq=False)
class Model:
    """A distribution p ∝ exp(Σ potentials), by cliques; `empty` says which cells no row has, `total` how many rows."""

    sizes: tuple[int, ...]
    potentials: Mapping[Clique, Floats]
    empty: Mapping[Clique, NDArray[np.bool_]]
    total: float

    @cached_property
    def tree(self) -> Tree:
        """A tree that holds all cliques."""
        return Tree.of(self.sizes, [*self.potentials, *self.empty])

    def tables(self) -> list[Floats]:
        """Return the potentials of the tree's cliques."""
        tables = [np.zeros(self.tree.shape(place)) for place in range(len(self.tree.cliques))]
        for clique, table in self.potentials.items():
            home = _home(self.tree, clique)
            tables[home] += table.reshape(self.tree.spread(home, clique))
        for clique, cells in self.empty.items():
            home = _home(self.tree, clique)
            tables[home][np.broadcast_to(cells.reshape(self.tree.spread(home, clique)), tables[home].shape)] = FORBIDDEN
        return tables

    @cached_property
    def beliefs(self) -> Beliefs:
        """The marginals of all cliques of the tree."""
        return propagate(self.tree, self.tables(), self.total)

    @cached_property
    def across(self) -> Across:
        """What makes marginals of any columns."""
        return Across(self.beliefs)


def total_of(measured: Iterable[Measured]) -> float:
    """Return how many rows there are: the sums of noisy marginals, weighed by their precisions; 1 at least."""
    weighed = [
        (each.numbers.sum(), 1 / np.sum(1 / np.broadcast_to(each.precision, each.numbers.shape))) for each in measured
    ]
    return max(1.0, float(np.average([total for total, _ in weighed], weights=[weight for _, weight in weighed])))


def start(model: Model, cliques: Iterable[Clique], total: float) -> Model:
    """Return the same model with further cliques, of which it says nothing new, and with another total."""
    new = {clique: np.zeros([model.sizes[column] for column in clique]) for clique in cliques}
    return replace(model, potentials={**new, **model.potentials}, total=total)


def fit(model: Model, measured: Mapping[Clique, Measured], *, steps: int, tolerance: float = 1e-5) -> Model:
    """Return the model moved towards what was measured, in at most so many steps.

    It stops when 25 steps together gain less than `tolerance` of what is left.
    """
    loss, tables = _Loss(model.tree, measured), model.tables()
    potentials = dict(model.potentials)
    now = loss.of(model.beliefs)
    step, past = 1.0 / (model.total * max(float(np.max(each.precision)) for each in measured.values())), [now.value]
    for _ in range(steps):
        moved = [
            table - step * now.by_place[place] if place in now.by_place else table for place, table in enumerate(tables)
        ]
        then = loss.of(propagate(model.tree, moved, model.total))
        if now.value - then.value >= 0.5 * _promised(now, then):
            for clique, slope in now.by_clique.items():
                potentials[clique] = potentials[clique] - step * slope
            tables, now = moved, then
            step *= _GROWTH
            past.append(now.value)
            if len(past) > _LOOKS_BACK and past[-_LOOKS_BACK] - now.value < tolerance * max(now.value, 1.0):
                break
        else:
            step *= _SHRINK
            if step < _LEAST_STEP:
                break
    return replace(model, potentials=potentials)


def _promised(now: _Slope, then: _Slope) -> float:
    """Return what the slope says that going from one to the other gains."""
    return sum(float(np.vdot(now.off[clique] - then.off[clique], slope)) for clique, slope in now.by_clique.items())


@dataclass(frozen=True, eq=False)
class _Slope:
    """How far beliefs are from what was measured, and the slope of that."""

    value: float
    off: dict[Clique, Floats]
    by_clique: dict[Clique, Floats]
    by_place: dict[int, Floats]
    """By clique of the tree, in a shape that spreads over its table."""


class _Loss:
    """How far beliefs are from what was measured: Σ ½·precision·‖difference‖²."""

    def __init__(self, tree: Tree, measured: Mapping[Clique, Measured]) -> None:
        homes = {clique: _home(tree, clique) for clique in measured}
        self._parts = [
            (clique, each, homes[clique], tree.other_axes(homes[clique], clique), tree.spread(homes[clique], clique))
            for clique, each in measured.items()
        ]

    def of(self, beliefs: Beliefs) -> _Slope:
        total, found, by_clique, by_place = 0.0, dict[Clique, Floats](), dict[Clique, Floats](), dict[int, Floats]()
        for clique, each, home, axes, spread in self._parts:
            off = beliefs.marginals[home].sum(axis=axes) - each.numbers
            slope = each.precision * off
            total += 0.5 * float(np.vdot(off, slope))
            found[clique], by_clique[clique] = off, slope
            part = slope.reshape(spread)
            by_place[home] = part if home not in by_place else by_place[home] + part
        return _Slope(total, found, by_clique, by_place)


def _home(tree: Tree, clique: Clique) -> int:
    home = tree.home(clique)
    assert home is not None  # noqa: S101  (the tree was made for it)
    return home
