"""What Gaussian noise costs where a unit moves the answer by chance: a user whose examples are sampled one by one.

With the unit the output is a mixture of Gaussians whose centres vᵢ, of norm Δᵢ at most, have the probabilities pᵢ;
without it, one Gaussian at 0. (What is drawn of all others both sides share, and divergences are jointly convex.)

**Theorem**: the pair (Σ pᵢ·N(Δᵢ, σ²), N(0, σ²)) in one dimension dominates, in both directions (Choquette-Choo et al.
2024, *Privacy amplification for matrix mechanisms*, state it). *Proof*: a divergence of the two outputs is the mean,
over the Gaussian at 0, of a convex function of Σ pᵢ·exp(Xᵢ − E[Xᵢ²]/2), where Xᵢ = ⟨vᵢ, Z⟩ are jointly Gaussian. Such a
mean grows with every covariance (Kahane 1985, the convexity inequality), and ⟨vᵢ, vⱼ⟩ ≤ ΔᵢΔⱼ. So it also grows with
each Δᵢ, and probabilities may be moved to larger ones.

**Rényi**: by convexity of x^α and of x^{1−α}, D_α ≤ ln(Σ pᵢ·exp(α(α−1)·Δᵢ²/(2σ²)))/(α−1) in both directions; it is
never above that of the largest Δᵢ alone, whose ρ is charged. The privacy loss distribution is far closer where most pᵢ
are small: declare the run.
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

from sordino.arguments import Number, rational, rounded_up, whole

from .curve import Floats
from .events import GaussianMixture
from .rounding import lifted

_GRID = 10**20


def of_examples(examples: int, rate: Number, variance: Number, clip: Number = 1) -> GaussianMixture:
    """Return the event of a user with at most `examples` examples, each in the sample with `rate`, each clipped.

    The chances of at least k examples are rounded up to 20 decimals.

    >>> of_examples(2, "0.5", variance=4).probabilities
    (Fraction(1, 4), Fraction(1, 2), Fraction(1, 4))
    """
    most = whole("examples", examples, least=1, most=999)
    share, size = rational("rate", rate, above=0, most="0.999999"), rational("clip", clip, above=0)
    exact = [math.comb(most, k) * share**k * (1 - share) ** (most - k) for k in range(most + 1)]
    at_least = [Fraction(math.ceil(sum(exact[k:], Fraction(0)) * _GRID), _GRID) for k in range(1, most + 1)]
    chances = [low - high for low, high in zip([Fraction(1), *at_least], [*at_least, Fraction(0)], strict=True)]
    kept = [(k * size, chance) for k, chance in enumerate(chances) if chance]
    return GaussianMixture(
        rational("variance", variance, above=0), tuple(each for each, _ in kept), tuple(each for _, each in kept)
    )


def mixture_rho(event: GaussianMixture) -> Fraction:
    """Return ρ of the largest sensitivity: chance never adds cost."""
    return event.sensitivities[-1] ** 2 / (2 * event.variance)


def mixture_renyi(event: GaussianMixture, orders: Floats) -> Floats:
    """Return ln(Σ pᵢ·exp(α(α−1)·Δᵢ²/(2σ²)))/(α−1), or that of the largest sensitivity if it is less."""
    rhos = np.array([rounded_up(size**2 / (2 * event.variance)) for size in event.sensitivities])
    chances = np.array([rounded_up(chance) for chance in event.probabilities])
    with np.errstate(over="ignore"):
        exponents = np.multiply.outer(orders * (orders - 1), rhos)
        near = np.log1p(np.expm1(np.minimum(exponents, 1.0)) @ chances)
        far = np.logaddexp.reduce(np.log(chances) + exponents, axis=1)
        moment = np.where(exponents[:, -1] < 1, near, np.maximum(far, 0) + 1e-14)
        return np.asarray(np.minimum(lifted(moment / (orders - 1)), lifted(orders * rhos[-1])))
