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

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .encoding import Block, Statistic
from .task import Monomial

Matrix = NDArray[np.float64]

_ROUNDS = 4
_CLOSE = 1e-6


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


def decode(
    blocks: Sequence[Block], deviations: Sequence[float], targets: Sequence[Target], steps: Sequence[int]
) -> Matrix | None:
    """Return a (targets × features), or None if the features do not determine all targets.

    `deviations` are the standard deviations of each block's noise. Rows and columns are scaled to be of similar size
    before solving, so that a count beside a sum of squares does not drown.
    """
    statistics = list(dict.fromkeys(statistic for block in blocks for statistic in block.statistics))
    for target in targets:
        if any(statistic not in statistics for statistic, _ in target.terms):
            return None
    scales = np.array([magnitude(statistic, steps) for statistic in statistics])
    spreads = np.concatenate(
        [np.full(len(block.features), each) for block, each in zip(blocks, deviations, strict=True)]
    )
    column = {statistic: place for place, statistic in enumerate(statistics)}
    design = np.zeros((len(spreads), len(statistics)))
    for row, feature in enumerate(feature for block in blocks for feature in block.features):
        for statistic, coefficient in feature:
            design[row, column[statistic]] = coefficient
    scaled = design * scales / spreads[:, None]
    wanted = np.zeros((len(targets), len(statistics)))
    for row, target in enumerate(targets):
        for statistic, coefficient in target.terms:
            wanted[row, column[statistic]] += coefficient
    wanted_scaled = wanted * scales
    inverse = np.linalg.pinv(scaled, rcond=1e-12)
    answers: Matrix = wanted_scaled @ inverse
    if not np.allclose(
        answers @ scaled, wanted_scaled, rtol=_CLOSE, atol=_CLOSE * np.abs(wanted_scaled).max(initial=1e-300)
    ):
        return None
    return answers / spreads


def divide(
    blocks: Sequence[Block],
    units: Sequence[float],
    targets: Sequence[Target],
    steps: Sequence[int],
    choices: Sequence[float],
    *,
    gaussian: bool,
) -> Division | None:
    """Return the shares of the budget that make the weighted error least, or None if targets stay undetermined.

    Args:
        blocks: what gets noise.
        units: the standard deviation of each block's noise if it had the whole budget (ε = 1, or ρ = 1).
        targets: what is wanted of the blocks.
        steps: of the measures.
        choices: for each choice (a quantile, a top) its squared error at the whole budget, times its weight.
        gaussian: whether variances fall with ρ rather than with ε².
    """
    power = 1.0 if gaussian else 2.0
    count = len(blocks) + len(choices)
    shares = np.full(count, 1.0 / count)
    owners = np.repeat(np.arange(len(blocks)), [len(block.features) for block in blocks])
    weights = np.array([target.weight for target in targets])
    objective = 0.0
    for _ in range(_ROUNDS):
        deviations = [unit / share ** (power / 2) for unit, share in zip(units, shares, strict=False)]
        contributions = np.zeros(count)
        if blocks:
            coefficients = decode(blocks, deviations, targets, steps)
            if coefficients is None:
                return None
            per_feature = (weights[:, None] ** 2 * coefficients**2).sum(axis=0)
            per_feature *= np.array([units[owner] ** 2 for owner in owners])
            contributions[: len(blocks)] = np.bincount(owners, per_feature, minlength=len(blocks))
        # A choice (an exponential mechanism) errs in proportion to 1/ε; in ρ that is 1/√ρ, like everything else here.
        contributions[len(blocks) :] = choices
        contributions = np.maximum(contributions, contributions.max() * 1e-9)
        objective = float((contributions / shares**power).sum())
        shares = contributions ** (1 / (power + 1))
        shares /= shares.sum()
    return Division(tuple(float(share) for share in shares), objective)
