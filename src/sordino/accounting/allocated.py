"""What Gaussian noise costs where each unit is in exactly one of t steps, chosen by chance: random allocation.

So it is when every unit draws the one batch of an epoch that it is in. With the unit the outputs are
P = (1/t)·Σᵢ N(Δeᵢ, σ²I) over the t steps, without it Q = N(0, σ²I): that pair dominates. *Proof*: let the steps be told
(x₁, …, x_t) of P or of Q. Step i, whose vector uᵢ, ‖uᵢ‖ ≤ Δ, may depend on all outputs before, makes its output from xᵢ
alone: s·xᵢ + √(1 − s²)·Z along uᵢ, with s = ‖uᵢ‖/Δ, and fresh noise across. That is N(uᵢ, σ²I) if the unit is here and
N(0, σ²I) if not, and the same function either way: post-processing.

Under Q the likelihood ratio A = P/Q is the mean of t independent Lᵢ = exp(xᵢΔ/σ² − c/2), where c = Δ²/σ².

**Removal**, E[Aⁿ] for whole n: the mean of exp(c·Σ kᵢ(kᵢ−1)/2) over the multinomial law (k₁, …, k_t) of n throws, which
is n!/tⁿ times the coefficient of zⁿ in Fᵗ, F(z) = Σ e^{ck(k−1)/2}·z^k/k!. With F = e^z + G all of Fᵗ − e^{tz} is
positive, so E[Aⁿ] − 1 is found by adding positive terms alone, in logarithms. (Feldman, Shenfeld 2025, have the sum.)

**Addition**, E[A^{−s}] with s = α − 1: as A^{−s} = ∫ x^{s−1}·e^{−xA} dx / Γ(s), it is ∫ x^{s−1}·φ(x/t)ᵗ dx / Γ(s) with
φ(y) = E[e^{−yL}], two smooth integrals, each by the trapezoidal rule. *Its error*: with x = e^u and L = e^{√c·z − c/2}
both integrands are analytic in a strip, where |φ(y·e^{iθ})| ≤ φ(y·cos θ): steps of h leave the part
(cos θ)^{−s}·2/(e^{2πθ/h} − 1) of the integral, for every θ < π/2 (Trefethen, Weideman 2014, Theorem 5.1). At h = 1/32
and s ≤ 255 that is below e^−50. What is beyond the ends does not count: φ is the tail of ln(exponential/lognormal), a
sum of log-concave variables, so the outer integrand is log-concave. D is never above (1 + (α−1)/t)·c/2, as A is at
least the geometric mean of the Lᵢ.

ln E[A^α] and ln E[A^{1−α}] are convex in α and 0 at α = 1: between whole orders a chord lies above them.

Allocation never adds cost (divergences are jointly convex), so ρ = c/2 is charged, and beyond order 256 α·c/2.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache

import numpy as np
import scipy

from sordino.arguments import rounded_up

from .curve import Floats, flatten
from .event import Event
from .events import Allocated, Gaussian
from .rounding import lifted

_MOST = 256
_LARGEST = 50.0  # of c: beyond it nothing is gained
_TILT = 20.0  # of a power times c/t: beyond it the geometric mean is close enough
_STEP = 1 / 32
_ALLOWANCE = 4e-12  # of a logarithmic moment: what both rules and all rounding leave, with room
_NOTHING = 45.0  # −ln of a part of an integral that does not count


def allocated(step: Event, steps: int) -> Event:
    """Return what it costs to run `step` in one of so many steps: amplified for Gaussian noise, else as it is.

    >>> allocated(Gaussian(4), 10)
    Allocated(steps=10, variance=Fraction(4, 1), sensitivity_squared=Fraction(1, 1))
    """
    parts = flatten(step)
    noises = {part: count for part, count in parts.items() if isinstance(part, Gaussian)}
    if steps == 1 or not noises or len(noises) < len(parts):
        return step
    squares = (count * part.sensitivity_squared / part.variance for part, count in noises.items())
    return Allocated(steps, 1 / sum(squares, Fraction(0)))


def allocated_rho(event: Allocated) -> Fraction:
    """Return ρ of the step that a unit is in."""
    return event.sensitivity_squared / (2 * event.variance)


def allocated_renyi(event: Allocated, orders: Floats) -> Floats:
    """Return the larger of both divergences at each order."""
    square = rounded_up(event.sensitivity_squared / event.variance)
    plain = lifted(orders * square / 2)
    if event.steps == 1 or square > _LARGEST:
        return plain
    near = orders <= _MOST
    asked = orders[near]
    nodes = np.unique(np.concatenate([[2.0], np.floor(asked), np.ceil(asked)]))
    nodes = nodes[nodes > 1]
    removal = _removal(square, event.steps)[nodes.astype(np.int64) - 1]
    addition = _addition(square, event.steps, tuple(int(node) - 1 for node in nodes))
    moments = np.interp(asked, np.append(1.0, nodes), np.append(0.0, np.maximum(removal, addition) + _ALLOWANCE))
    found = plain.copy()
    found[near] = np.minimum(plain[near], lifted(moments / (asked - 1)))
    return found


@lru_cache(maxsize=64)
def _removal(square: float, steps: int) -> Floats:
    """Return ln E[Aⁿ] for n = 1, …, 256."""
    degree = np.arange(_MOST + 1)
    factorials = scipy.special.gammaln(degree + 1.0)
    exponents = square * degree * (degree - 1) / 2
    with np.errstate(divide="ignore"):
        close, far = np.log(np.expm1(np.minimum(exponents, 1.0))), exponents + np.log1p(-np.exp(-exponents))
    one = np.where(exponents > 1, far, close) - factorials  # ln of the coefficients of G = F − e^z
    more, power = np.full(_MOST + 1, -np.inf), 0  # of F^power − e^(power·z)
    for bit in bin(steps)[2:]:
        more = np.logaddexp(math.log(2) + _product(more, _exponential(power, factorials)), _product(more, more))
        power *= 2
        if bit == "1":
            whole = np.logaddexp(_exponential(1, factorials), one)
            more = np.logaddexp(_product(more, whole), _product(_exponential(power, factorials), one))
            power += 1
    excess = more + factorials - degree * math.log(steps)
    found: Floats = np.logaddexp(0.0, excess)[1:]
    return found


def _exponential(power: int, factorials: Floats) -> Floats:
    """Return the logarithms of the coefficients of e^(power·z)."""
    degree = np.arange(len(factorials))
    if power == 0:
        return np.where(degree == 0, 0.0, -np.inf)
    found: Floats = degree * math.log(power) - factorials
    return found


def _product(one: Floats, other: Floats) -> Floats:
    """Return the logarithms of the coefficients of a product of power series with positive ones."""
    size = len(one)
    places = np.subtract.outer(np.arange(size), np.arange(size))
    terms = np.where(places >= 0, one[np.maximum(places, 0)] + other, -np.inf)
    peaks = np.max(terms, axis=1, initial=-1e300)
    with np.errstate(divide="ignore"):
        found: Floats = peaks + np.log(np.sum(np.exp(terms - peaks[:, None]), axis=1))
    return found


@lru_cache(maxsize=64)
def _addition(square: float, steps: int, powers: tuple[int, ...]) -> Floats:
    """Return a bound on ln E[A^{−s}] for each whole power s."""
    every = np.array(powers, dtype=np.float64)
    geometric = every * (1 + every / steps) * square / 2
    few = every * square <= _TILT * steps
    if not few.any():
        return geometric
    power = every[few]
    tilt = power[-1] * square / steps
    highest = math.log(steps) + 2 * tilt + 12 * math.sqrt(square) + square + 6
    places = np.arange(math.floor(-(_NOTHING + 10) / _STEP), math.ceil(highest / _STEP) + 1) * _STEP
    survival = steps * _log_survival(places - math.log(steps), square, tilt)
    logs = np.multiply.outer(power, places) + survival - scipy.special.gammaln(power)[:, None] + math.log(_STEP)
    found = np.logaddexp.reduce(logs, axis=1)
    ends = logs[:, -1] < np.max(logs, axis=1) - _NOTHING  # the integrand is log-concave: what follows is less
    geometric[few] = np.where(ends, np.clip(found, 0.0, geometric[few]), geometric[few])
    return geometric


def _log_survival(places: Floats, square: float, tilt: float) -> Floats:
    """Return ln φ(e^u) for each u; what lies beyond 12 deviations around all that matters is left to the allowance."""
    root = math.sqrt(square)
    width = min(0.1, 0.2 / root)
    outputs = np.arange(-12.0 - 2 * tilt / root, 12.0 + root, width)
    weights = -(outputs**2) / 2 + math.log(width) - math.log(2 * math.pi) / 2
    rates = np.exp(np.minimum(np.add.outer(places, root * outputs - square / 2), 700.0))
    near = np.expm1(-rates) @ np.exp(weights)
    with np.errstate(divide="ignore"):
        far = np.logaddexp.reduce(weights - rates, axis=1)
        found: Floats = np.where(near > -0.5, np.log1p(np.maximum(near, -0.5)), far)
        return found
