"""Models fitted on disjoint parts of the units, and how they vote: what teachers and private predictions share.

**Guarantee**: every unit draws its part by itself, so one that comes or goes changes one part alone, hence one model
and one vote for each thing asked: the votes of one thing move by 1 in two places at most, √2 in the 2-norm.
**Source**: Nissim, Raskhodnikova, Smith 2007 (sample and aggregate); Papernot et al. 2018 (GNMax, section 4).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sordino import noise
from sordino.accounting.bound import Bound, Unit

from .examples import Examples
from .rows import Array, Batch

Predict = Callable[[Array], Array]
"""From things asked, a row each, to the class of each: whole numbers from 0."""
Fit = Callable[[Batch], Predict]
"""From the examples of one part to a model."""


def votes_bound(unit: Unit) -> Bound:
    """Return what one unit can change of the votes about one thing."""
    return Bound.vector(l0=2, linf=1, l1=2, unit=unit)


class Ensemble:
    """One model for each of `count` parts. Fitting touches data, so only what was charged for may ask for votes."""

    def __init__(self, examples: Examples, count: int, classes: int, fit: Fit) -> None:
        self._examples = examples
        self._count = count
        self._classes = classes
        self._fit = fit
        self._models: list[Predict] | None = None

    def votes(self, asked: Array) -> NDArray[np.int64]:
        """Return for each thing asked how many models vote for each class. Secret.

        A vote that is no class is none, and a part whose model cannot be fitted or asked abstains: either is the
        business of one part. Models are fitted when they are first asked.
        """
        if self._models is None:
            self._models = self._fitted()
        found = np.zeros((len(asked), self._classes), dtype=np.int64)
        places = np.arange(len(asked))
        for model in self._models:
            vote = _abstaining(model, asked)
            if vote is not None and vote.size == len(asked):
                vote = vote.reshape(-1)
                valid = np.isin(vote, np.arange(self._classes))
                found[places[valid], vote[valid].astype(np.intp)] += 1
        return found

    def _fitted(self) -> list[Predict]:
        people = self._examples.people()
        part = noise.uniform(self._count, len(people))
        fitted = (_abstaining(self._fit, people.take(np.flatnonzero(part == each))[0]) for each in range(self._count))
        return [model for model in fitted if model is not None]


def _abstaining(call: Callable[[Any], Any], given: Any) -> Any:
    """Return what a user's function returns, None if it fails: that concerns one part, so it may cost one vote."""
    try:
        found = call(given)
        return np.asarray(found) if isinstance(given, np.ndarray) else found
    except Exception:  # whatever it is depends on the data of one part, and must stop nothing else
        return None


def things_asked(given: Any) -> Array:
    """Return what is asked about as one array with a row for each thing."""
    found = np.asarray(given)
    return found.reshape(1, -1) if found.ndim == 0 else found
