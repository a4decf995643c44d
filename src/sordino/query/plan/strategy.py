"""Which encoding to use, how to divide the budget among its blocks, and how to read the statistics back.

A strategy is a list of blocks (``encoding.py``). Its noisy features F = C·m + z are linear in the statistics m, so the
best linear unbiased estimate of any target tᵀm is aᵀF with a = t(CᵀV⁻¹C)⁻¹CᵀV⁻¹ (generalised least squares, V the
noise's variances), with variance aᵀVa: known before any data is seen. That is what strategies are compared by, and all
of it after the noise is post-processing.

**Division**: the variance of a block's noise is v/ε² (Laplace) or v/ρ (Gaussian), where v is known. With A = Σ w²·a²·v
over targets and the block's features, Σ A/ε² is least at given Σε where ε ∝ A^⅓, and Σ A/ρ at given Σρ where ρ ∝ A^½
(Lagrange). As a depends on the division, the two are computed in turn, a few times.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from sordino.query.model.task import Monomial

from .encoding import Block, Statistic

Matrix = NDArray[np.float64]

_ROUNDS = 4
_CLOSE = 1e-6
_HALVINGS = 30
_LARGEST_EXPONENT = 700.0


@dataclass(frozen=True)
class Target:
    """A linear function of statistics that some aggregate needs, and how much its error matters."""

    terms: tuple[tuple[Statistic, float], ...]
    weight: float


@dataclass(frozen=True)
class Division:
    """Shares of the budget (one for each block, then one for each choice), and the error that they lead to."""

    shares: tuple[float, ...]
    objective: float


def magnitude(statistic: Statistic, steps: Sequence[int]) -> float:
    """Return the largest value of a statistic for one row."""
    if not isinstance(statistic, Monomial):
        return 1.0
    result = 1.0
    for power, most in zip(statistic.powers, steps, strict=True):
        result *= float(most) ** power
    return result


class Design:
    """Which features tell which statistics, with rows and columns scaled to be of similar size before solving.

    Without that, a count beside a sum of squares would drown.
    """

    def __init__(self, blocks: Sequence[Block], targets: Sequence[Target], steps: Sequence[int]) -> None:
        self.blocks, self.targets = blocks, targets
        statistics = list(dict.fromkeys(statistic for block in blocks for statistic in block.statistics))
        column = {statistic: place for place, statistic in enumerate(statistics)}
        self.determined = all(statistic in column for target in targets for statistic, _ in target.terms)
        self.owners = np.repeat(np.arange(len(blocks)), [len(block.features) for block in blocks])
        scales = np.array([magnitude(statistic, steps) for statistic in statistics])
        self._features: Matrix = np.zeros((len(self.owners), len(statistics)))
        for row, feature in enumerate(feature for block in blocks for feature in block.features):
            for statistic, coefficient in feature:
                self._features[row, column[statistic]] = coefficient
        self._features *= scales
        self._wanted: Matrix = np.zeros((len(targets), len(statistics)))
        for row, target in enumerate(targets if self.determined else ()):
            for statistic, weight in target.terms:
                self._wanted[row, column[statistic]] += weight
        self._wanted *= scales

    @property
    def fixed(self) -> bool:
        """Whether the coefficients are the same for any noise."""
        return self._only is not None or not len(self.owners)

    @cached_property
    def _only(self) -> Matrix | None:
        """The one way to read the targets where there are as many features as statistics: no noise changes it."""
        rows, columns = self._features.shape
        if not self.determined or rows != columns or not rows:
            return None
        try:
            inverse = np.linalg.inv(self._features)
        except np.linalg.LinAlgError:
            return None
        answers: Matrix = self._wanted @ inverse
        return answers if self._reads(answers, self._features) else None

    def _reads(self, answers: Matrix, features: Matrix) -> bool:
        missed = np.abs(answers @ features - self._wanted).max(axis=1, initial=0.0)
        return not np.any(missed > _CLOSE * np.abs(self._wanted).max(axis=1, initial=0.0))

    def coefficients(self, deviations: Sequence[float]) -> Matrix | None:
        """Return a (targets × features), or None if the features do not determine all targets.

        `deviations` are the standard deviations of each block's noise.
        """
        if not self.determined or self._only is not None:
            return self._only
        spreads = np.asarray(deviations)[self.owners]
        scaled = self._features / spreads[:, None]
        answers: Matrix = self._wanted @ np.linalg.pinv(scaled, rcond=1e-12)
        return np.asarray(answers / spreads) if self._reads(answers, scaled) else None


def divide(design: Design, units: Sequence[float], choices: Sequence[float], *, gaussian: bool) -> Division | None:
    """Return the shares of the budget that make the weighted error least, or None if targets stay undetermined.

    Args:
        design: what gets noise, and what is wanted of it.
        units: the standard deviation of each block's noise if it had the whole budget (ε = 1, or ρ = 1).
        choices: for each choice (a quantile, a top) its squared error at the whole budget, times its weight.
        gaussian: whether variances fall with ρ rather than with ε².
    """
    power = 1.0 if gaussian else 2.0
    blocks = design.blocks
    count = len(blocks) + len(choices)
    shares = np.full(count, 1.0 / count)
    squared_units = np.asarray(units)[design.owners] ** 2
    weights = np.array([target.weight for target in design.targets])
    for _ in range(1 if design.fixed else _ROUNDS):
        deviations = [unit / share ** (power / 2) for unit, share in zip(units, shares, strict=False)]
        contributions = np.zeros(count)
        if blocks:
            coefficients = design.coefficients(deviations)
            if coefficients is None:
                return None
            per_feature = ((weights[:, None] * coefficients) ** 2).sum(axis=0) * squared_units
            contributions[: len(blocks)] = np.bincount(design.owners, per_feature, minlength=len(blocks))
        # A choice (an exponential mechanism) errs in proportion to 1/ε; in ρ that is 1/√ρ, like everything else here.
        contributions[len(blocks) :] = choices
        contributions = np.maximum(contributions, contributions.max() * 1e-9)
        if count == 1:
            break
        shares = contributions ** (1 / (power + 1))
        shares /= shares.sum()
    objective = float((contributions / shares**power).sum())
    return Division(tuple(shares.tolist()), objective)


def about_sigma(epsilon: float, delta: float) -> float:
    """Return about the least σ of (ε, δ)-private Gaussian noise, to compare by; noise is made from the exact one.

    Its formula without special functions, which take long to load and which most questions then have no use for.
    """

    def exceeds(sigma: float) -> bool:
        x, y = epsilon * sigma - 0.5 / sigma, epsilon * sigma + 0.5 / sigma
        tails = math.erfc(x / math.sqrt(2)), math.erfc(y / math.sqrt(2)) * math.exp(min(epsilon, _LARGEST_EXPONENT))
        return tails[0] - tails[1] > 2 * delta

    low, high = 1.0, 1.0
    while exceeds(high):
        high *= 2
    while not exceeds(low):
        low /= 2
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if exceeds(middle) else (low, middle)
    return high
