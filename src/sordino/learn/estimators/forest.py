"""Random forests: trees whose splits follow noisy histograms, and whose leaves hold noisy counts of classes.

**Guarantee**: released are, for each column and class, how many rows fall into each cell of the column (a row has one
in each), and for each tree and class how many rows fall into each leaf (a row has one in each tree). One row that
comes or goes moves as many numbers by 1 as there are columns, and trees. Splits are drawn from the noisy histograms, so
that they are post-processing, and public chance.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from sordino.accounting.bound import Bound
from sordino.arguments import whole

from .binning import Binned, cells_sum, class_cells
from .finding import BOUNDS_SHARE, in_steps
from .plan import Sum
from .private import Boxed, Learned, finding_sums
from .public_chance import public_chance
from .releases import Floats, Releases
from .scoring import ScoredClasses

_SPLITS_SHARE = Fraction(1, 4)
_CUTS = 32
_DEEPEST = 12


@dataclass(frozen=True, eq=False)
class Tree:
    """A complete binary tree: the column and the threshold of every inner node, level by level."""

    columns: NDArray[np.intp]
    thresholds: Floats
    depth: int

    def leaf(self, rows: Floats) -> NDArray[np.intp]:
        """Return the leaf of each row; what is missing goes to the left."""
        node = np.zeros(len(rows), dtype=np.intp)
        every = np.arange(len(rows))
        for _ in range(self.depth):
            node = 2 * node + 1 + (rows[every, self.columns[node]] > self.thresholds[node])
        found: NDArray[np.intp] = node - (2**self.depth - 1)
        return found


@dataclass(eq=False, repr=False, kw_only=True)
class RandomForestClassifier(ScoredClasses, Boxed):
    """A forest of random trees.

    Args:
        n_estimators: how many trees.
        epsilon: what a fit spends.
        bounds: lowest and highest values of the columns; found if left out.
        classes: the labels; found if left out, which takes a δ.
        max_depth: how many splits lie on the way to a leaf.
        random_state: of the draw of splits; not of the noise.
        budget: the account of the data.
        delta: the δ of a fit, that of the account if left out.
        rho: what a fit spends in zero-concentrated privacy, with ``epsilon=None``.
        score_epsilon: what a score spends; a tenth of what a fit does if left out.
    """

    n_estimators: int = field(default=10, kw_only=False)
    max_depth: int = 5
    random_state: Any = None

    def fit(self, X: Any, y: Any) -> Self:
        """Learn splits and leaves; charged before a row is looked at."""
        rows, labels = self._rows(X), self._labels(X, y)
        spending, columns = self._spending(), rows.shape[1]
        box, declared = self._declared(columns), self._declared_classes()
        trees = whole("n_estimators", self.n_estimators, least=1)
        depth = whole("max_depth", self.max_depth, least=1, most=_DEEPEST)
        chance = public_chance(self.random_state)
        sums = finding_sums(bounds=columns if box is None else None, classes=declared is None)
        left = 1 - BOUNDS_SHARE * len(sums)
        sums += [
            cells_sum(columns, left * _SPLITS_SHARE),
            Sum("leaves", Bound.vector(l0=trees, linf=1), left * (1 - _SPLITS_SHARE)),
        ]
        words = {
            "bounds": None if box is None else box.words(),
            "classes": None if declared is None else declared.tolist(),
            "trees": trees,
            "depth": depth,
        }

        def run(releases: Releases) -> Learned:
            bounds = self._found(rows, releases, box)
            classes, places = self._found_classes(labels, releases, declared)
            known, own = rows[places >= 0], places[places >= 0]
            bins, weights = class_cells(known, own, len(classes), bounds, _CUTS, releases)
            grown = [_grown(bins, weights, depth, chance) for _ in range(trees)]
            chances = _leaf_chances(grown, known, own, len(classes), releases)
            return {"classes_": classes, "trees_": grown, "leaves_": chances}

        return self._learn(self._plan(spending, sums, words), run)

    def predict_proba(self, X: Any) -> Floats:
        """Return the probability of each class: the mean of all trees."""
        check_is_fitted(self)
        rows = self._rows(X, reset=False)
        total = np.zeros((len(rows), len(self.classes_)))
        for tree, chances in zip(self.trees_, self.leaves_, strict=True):
            total += chances[tree.leaf(rows)]
        return total / len(self.trees_)

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the most likely class."""
        chances = self.predict_proba(X)
        found: NDArray[Any] = self.classes_[np.argmax(chances, axis=1)]
        return found


def _grown(bins: list[Binned], weights: list[Floats], depth: int, chance: Any) -> Tree:
    """Return a tree whose splits are drawn by how well each alone tells classes apart, by noisy counts."""
    cuts = [(column, edge) for column, each in enumerate(bins) for edge in each.edges[1:-1]]
    gains = np.concatenate([_gains(each) for each in weights]) if cuts else np.zeros(0)
    nodes = 2**depth - 1
    columns, thresholds = np.zeros(nodes, dtype=np.intp), np.full(nodes, np.inf)
    for node in range(nodes):
        free = gains * _inside(cuts, columns, thresholds, node)
        if free.sum() > 0:
            columns[node], thresholds[node] = cuts[chance.choice(len(cuts), p=free / free.sum())]
    return Tree(columns, thresholds, depth)


def _inside(
    cuts: list[tuple[int, float]], columns: NDArray[np.intp], thresholds: Floats, node: int
) -> NDArray[np.bool_]:
    """Return which cuts still divide what reaches a node: those between the thresholds on the way to it."""
    free = np.ones(len(cuts), dtype=bool)
    column, edge = (np.array(each) for each in zip(*cuts, strict=True)) if cuts else (np.zeros(0), np.zeros(0))
    while node > 0:
        above = node % 2 == 0
        node = (node - 1) // 2
        same = column == columns[node]
        free &= ~same | ((edge > thresholds[node]) if above else (edge < thresholds[node]))
    return free


def _gains(weights: Floats) -> Floats:
    """Return for each cut between bins how much it lowers Gini's impurity; `weights` has a row for each bin."""
    left = np.cumsum(weights, axis=0)[:-1]
    right = weights.sum(axis=0) - left
    found: Floats = np.maximum(_purity(left) + _purity(right) - _purity(weights.sum(axis=0)[None]), 0.0) + 1e-9
    return found


def _purity(counts: Floats) -> Floats:
    found: Floats = (counts**2).sum(axis=1) / np.maximum(counts.sum(axis=1), 1.0)
    return found


def _leaf_chances(
    trees: list[Tree], rows: Floats, places: NDArray[np.int64], kinds: int, releases: Releases
) -> list[Floats]:
    """Return the chance of each class in each leaf; a leaf whose count is in the noise is like the whole forest."""
    leaves = 2 ** trees[0].depth
    exact = np.stack(
        [
            np.bincount(tree.leaf(rows) * kinds + places, minlength=leaves * kinds).reshape(leaves, kinds)
            for tree in trees
        ]
    )
    noisy = np.maximum(releases.noisy("leaves", in_steps(exact.astype(np.int64))), 0.0)
    overall = noisy.sum(axis=(0, 1)) + 1e-9
    doubt = 2 * releases.deviation("leaves") + 1e-6
    return list((noisy + doubt * overall / overall.sum()) / (noisy.sum(axis=2, keepdims=True) + doubt))
