"""AIM: measure, fit, choose what is most off, measure that; with less noise as soon as noise is all that is seen.

Each round chooses a marginal of the workload by how far the model is from it, less what noise would add if it were
measured, and pays for choice and measurement at 1 : 9. If the model hardly moves, the next rounds have half the noise.
What the model may hold grows with what was spent, so early rounds take small marginals.

**Guarantee**: the purse's. Everything else is computed from what was released.
**Source**: McKenna, Mullins, Sheldon, Miklau 2022 (*AIM: An adaptive and iterative mechanism for differentially
private synthetic data*), Algorithms 2 to 4.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from .across import Across
from .fitting import Measured, Model, fit, start, total_of
from .junction import Clique, cells_needed
from .purse import Purse, rounded_down

Floats = NDArray[np.float64]

ROUNDS_PER_COLUMN = 16
CHOICE = Fraction(1, 10)
"""The share of a round that its choice costs."""
_STEPS, _LAST_STEPS = 300, 1500


@dataclass(frozen=True, eq=False)
class Wanted:
    """What a model is to be right about, and within which limits."""

    sizes: tuple[int, ...]
    workload: tuple[Clique, ...]
    weights: Mapping[Clique, int]
    """Marginals that may be measured, with how much each matters."""
    empty: Mapping[Clique, NDArray[np.bool_]] = field(default_factory=dict)
    """Cells that are empty in every row."""
    most_cells: int = 2**17
    """How many numbers the model may hold."""


class Knowledge:
    """What was measured, and the model of it."""

    def __init__(self, wanted: Wanted, known: Mapping[Clique, Measured]) -> None:
        self.wanted = wanted
        self.measured = dict(known)
        self.model = Model(wanted.sizes, {}, wanted.empty, 1.0)

    def add(self, clique: Clique, noisy: Measured) -> None:
        """Add a noisy marginal to those of the same columns."""
        known = self.measured.get(clique)
        self.measured[clique] = noisy if known is None else known.joined(noisy)

    def refit(self, steps: int = _STEPS, tolerance: float = 1e-5) -> Model:
        """Return the model of all that was measured, from where it was."""
        begun = start(self.model, self.measured, total_of(self.measured.values()))
        self.model = fit(begun, self.measured, steps=steps, tolerance=tolerance)
        return self.model

    def finish(self) -> Model:
        """Return the model, fitted to the end."""
        return self.refit(_LAST_STEPS, 1e-6)

    def holds(self, clique: Clique, most: float) -> bool:
        """Whether a model that measures this as well keeps within so many cells."""
        if self.model.tree.home(clique) is not None:
            return True
        return cells_needed(self.wanted.sizes, [*self.measured, *self.wanted.empty, clique]) <= most


def expected_of(across: Across, cliques: list[Clique]) -> dict[Clique, Floats]:
    """Return what a model says of marginals; pairs of one column are made in one walk of the tree."""
    found: dict[Clique, Floats] = {}
    others: dict[int, list[int]] = {}
    for clique in cliques:
        if len(clique) == 2:
            others.setdefault(clique[0], []).append(clique[1])
        else:
            found[clique] = across.of(clique)
    for one, partners in others.items():
        found.update(across.pairs(one, partners))
    return {clique: found[clique] for clique in cliques}


def aim(purse: Purse, wanted: Wanted, known: Mapping[Clique, Measured]) -> Knowledge:
    """Return a model, from the marginals that are `known` already and what is left in the purse."""
    knowledge, budget = Knowledge(wanted, known), purse.left
    rounds = ROUNDS_PER_COLUMN * len(wanted.sizes)
    paid = rounded_down(budget / rounds)
    for clique in ((column,) for column in range(len(wanted.sizes))):
        if clique not in known:
            knowledge.add(clique, purse.measure(clique, rounded_down(paid * (1 - CHOICE))))
    model, last = knowledge.refit(), False
    while not last:
        if purse.left < 2 * paid:
            paid, last = purse.left, True
        share = float(1 - purse.left / budget)
        small = [each for each in wanted.weights if knowledge.holds(each, share * wanted.most_cells)]
        noisy_paid = rounded_down(paid * (1 - CHOICE))
        expected = expected_of(model.across, small)
        allowance = {each: purse.noise(expected[each].size, noisy_paid) * expected[each].size for each in small}
        chosen = purse.most_off(expected, wanted.weights, allowance, rounded_down(paid * CHOICE))
        knowledge.add(chosen, purse.measure(chosen, noisy_paid))
        model = knowledge.refit()
        if np.abs(model.across.of(chosen) - expected[chosen]).sum() <= allowance[chosen]:
            paid = min(purse.left, paid * (2 if purse.spend.is_pure else 4)) or paid
    knowledge.finish()
    return knowledge
