"""What noise costs that is correlated over the steps of a run: one Gaussian on Cx, whatever is decoded from it.

Let C be lower triangular and Toeplitz, with a column c₀ ≥ c₁ ≥ … ≥ 0 of whole numbers, so that Cx lies on the grid on
which x does. A unit that takes part in the steps of a pattern π, with vectors uᵢ of norm at most 1, moves Cx by
Σ_{i∈π} Cᵢ⊗uᵢ, whose squared norm is at most Σ_{i,j∈π} ⟨Cᵢ, Cⱼ⟩: no entry is negative. Vectors that are alike attain it.

**Sensitivity**: among the patterns of at most k steps that are b apart, the one at 0, b, 2b, … is the worst. *Proof*:
⟨Cᵢ, Cᵢ₊ₗ⟩ = Σⱼ cⱼ·cⱼ₊ₗ over j < n − i − l. It does not grow with the lag l, since c does not increase and the sum gets
shorter, nor with i. The p-th step of any pattern is at least pb, and its q-th at least (q−p)b after that; so each of
its products is at most that of the steps pb and qb. The norm is then that of the vector with vₜ = Σ_{p<k} c_{t−pb}.

**Guarantee**: the run is one Gaussian of that sensitivity, also where each x depends on what was released before
(Denisov et al. 2022, Theorem 2.1, for lower triangular C; Choquette-Choo et al. 2023 for several participations).
It is one event: to charge parts of it, cut where C is block-diagonal, and begin a new block. Under replace-one a unit
leaves with its pattern and another comes with its own: twice the norm.

**Poisson over bands** (Choquette-Choo et al. 2023, *(Amplified) banded matrix factorization*): let C have m
coefficients, and let each unit belong to one of m bands, whatever the others do, and come into step i only if that
is its band's, i mod m, and then with probability q. Columns m apart are orthogonal, so for each unit the run is at most
⌈n/m⌉ Poisson-sampled Gaussians whose squared sensitivity is Σⱼ cⱼ².
**Assumes**, under replace-one, that bands belong to places: who comes is of the band of the one who goes.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache
from typing import Any

from sordino.arguments import Number

from .curve import curve
from .events import Correlated, Gaussian, PoissonSampled, Repeated


@lru_cache(maxsize=1024)
def as_gaussian(event: Correlated) -> Gaussian:
    """Return the one Gaussian that the whole run is."""
    return Gaussian(event.variance, event.sensitivity_squared * _squared_norm(event))


def _squared_norm(event: Correlated) -> int:
    """Return Σ vₜ², exactly, by vₜ = vₜ₋ᵦ + cₜ − cₜ₋ₖᵦ."""
    column, apart = event.coefficients, event.separation
    ended = event.participations * apart
    moved = [0] * event.steps
    for t in range(event.steps):
        moved[t] = moved[t - apart] if t >= apart else 0
        moved[t] += column[t] if t < len(column) else 0
        moved[t] -= column[t - ended] if 0 <= t - ended < len(column) else 0
    return sum(each**2 for each in moved)


def as_one_gaussian(calculus: str) -> Any:
    """Return the curve of a `Correlated` event in `calculus`: that of the Gaussian that it is."""

    def priced(event: Correlated, *arguments: Any) -> Any:
        return curve(as_gaussian(event), calculus)(as_gaussian(event), *arguments)

    return priced


def poisson_over_bands(
    coefficients: Sequence[int],
    steps: int,
    rate: Number,
    variance: Number,
    sensitivity_squared: Number = 1,
) -> Repeated:
    """Return what a run costs in which each unit belongs to one band and is sampled there at `rate`.

    >>> poisson_over_bands((2, 1), steps=5, rate="0.1", variance=25).count
    3
    """
    whole = Correlated(tuple(coefficients), steps, len(coefficients), 1, variance, sensitivity_squared)  # type: ignore[arg-type]
    square = whole.sensitivity_squared * sum(Fraction(each) ** 2 for each in whole.coefficients)
    step = PoissonSampled(Gaussian(whole.variance, square), rate)  # type: ignore[arg-type]
    return Repeated(step, -(-whole.steps // len(whole.coefficients)))
