"""A small model that tells one column from the others: naive Bayes on cells, and how well it does.

It is there to compare rows with rows, alike for both, and needs nothing but counts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class NaiveBayes:
    """Logarithms of shares: of the target's cells, and of each other column's cells given the target's."""

    prior: Floats
    given: dict[int, Floats]


def learned(cells: Integers, sizes: Sequence[int], target: int) -> NaiveBayes:
    """Return the model of a column, from rows of cells; each cell counts one half more than it has rows."""
    prior = np.bincount(cells[:, target], minlength=sizes[target]) + 0.5
    given = {}
    for place, size in enumerate(sizes):
        if place != target:
            flat = cells[:, target] * size + cells[:, place]
            counts = np.bincount(flat, minlength=sizes[target] * size).reshape(sizes[target], size) + 0.5
            given[place] = np.log(counts / counts.sum(axis=1, keepdims=True))
    return NaiveBayes(np.log(prior / prior.sum()), given)


def chances(model: NaiveBayes, cells: Integers) -> Floats:
    """Return the logarithm of each target cell's chance, for each row, up to a constant for the row."""
    found = np.tile(model.prior, (len(cells), 1))
    for place, table in model.given.items():
        found += table[:, cells[:, place]].T
    shifted = found - found.max(axis=1, keepdims=True)
    scaled: Floats = shifted - np.log(np.exp(shifted).sum(axis=1, keepdims=True))
    return scaled


def area_under_curve(scores: Floats, answers: Integers) -> float:
    """Return the area under the ROC curve, its mean over the target's cells that some rows have and others have not."""
    areas = []
    for cell in range(scores.shape[1]):
        yes = answers == cell
        positives, negatives = int(yes.sum()), int((~yes).sum())
        if positives and negatives:
            ranks = rankdata(scores[:, cell])
            areas.append((float(ranks[yes].sum()) - positives * (positives + 1) / 2) / (positives * negatives))
    return float(np.mean(areas)) if areas else 0.5
