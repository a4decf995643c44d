"""What Skellam noise costs: the difference of two Poisson variables, whose sums over parties are Skellam again.

**Source**: Agarwal, Kairouz, Liu 2021, *The Skellam mechanism for differentially private federated learning*, Corollary
4.1: for whole orders α ≥ 2, an integer answer that moves by Δ₁ and Δ₂ in the 1- and 2-norm, and variance μ,

    D_α ≤ α·Δ₂²/(2μ) + min(((2α−1)·Δ₂² + 6Δ₁)/(4μ²), 3Δ₁/(2μ)).

**Between whole orders** (α−1)·D_α is convex in α and 0 at 1, so the chord holds; below 2 that is D₂. Hence also ρ = D₂:
twice the Gaussian's, since nothing proven here says more of orders next to 1.
An integer vector has Δ₁ ≤ Δ₂² ≤ Δ₁², so each norm may be read from the other.
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

from sordino.arguments import rounded_up

from .curve import Floats
from .events import Skellam
from .rounding import lifted


def norms(event: Skellam) -> tuple[int, Fraction]:
    """Return how far the answer moves, in the 1-norm and in the 2-norm, squared, each read from the other as well."""
    steps = min(event.sensitivity, math.floor(event.sensitivity_squared))
    return steps, min(event.sensitivity_squared, Fraction(event.sensitivity) ** 2)


def skellam_rho(event: Skellam) -> Fraction:
    """Return the bound at order 2, which holds below it, and times α/2 above it."""
    (steps, square), variance = norms(event), event.variance
    return square / variance + min((3 * square + 6 * steps) / (4 * variance**2), 3 * steps / (2 * variance))


def skellam_renyi(event: Skellam, orders: Floats) -> Floats:
    """Return the bound of Agarwal, Kairouz and Liu at whole orders, and the chord between them."""
    (steps, square), variance = norms(event), event.variance
    line, near = rounded_up(square / (2 * variance)), rounded_up(square / (4 * variance**2))
    fixed, most = rounded_up(6 * steps / (4 * variance**2)), rounded_up(3 * steps / (2 * variance))

    def whole(alphas: Floats) -> Floats:
        return alphas * line + np.minimum((2 * alphas - 1) * near + fixed, most)

    low = np.maximum(np.floor(orders), 2.0)
    share = np.clip(orders - low, 0.0, 1.0)
    with np.errstate(over="ignore"):
        chord = (1 - share) * (low - 1) * whole(low) + share * low * whole(low + 1)
        return lifted(np.asarray(np.where(orders <= 2, whole(low), chord / (orders - 1))))
