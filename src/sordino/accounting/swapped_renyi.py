"""Rényi divergences of Poisson-sampled noise where a unit is replaced, from the pair of ``sampled_replaced.py``.

With a(x) = 1 − q + q·e^{ℓ(x)}, where ℓ(x) is the loss of the noise at Δ against the noise at 0, and b(x) = a(−x), the
two densities against the noise are a and b. As E[a] = E[b] = 1, with r = a/b,

    E[a^α·b^{1−α}] − 1 = E[b·h(r)],   h(r) = r^α − 1 − α(r − 1) ≥ 0,

and h is at most α(α−1)/2·(r−1)²·max(1, r^{α−2}) (Taylor), which keeps its digits where r is close to 1. Whole sums for
integer noise, upper sums for Laplace noise and for bounded range (whose pair is a bound, attained by no mechanism), the
trapezoidal rule for Gaussian noise, each with what it leaves out.
The divergence grows with q, since A and B at a smaller rate are those at a larger one, mixed with the same M.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import scipy

from sordino.arguments import rounded_down, rounded_up

from . import gaussian
from .curve import Floats
from .event import Event
from .events import DiscreteGaussian, DiscreteLaplace, Exponential, Gaussian, Laplace, PoissonSampled
from .relation import parts
from .rounding import lifted

_EPS = float(np.finfo(np.float64).eps)
_MOST_NODES = 20_000
_CELLS = 2048
_LARGEST = 600.0  # an exponent
_LARGEST_RANGE = 300.0  # an ε
_LOG_RULE_ERROR = math.log(3e-24)


@dataclass(frozen=True)
class Nodes:
    """Where b·h(r) is taken: ln of the mass there, and the losses ℓ(x) and ℓ(−x)."""

    log_mass: Floats
    up: Floats
    down: Floats
    log_beyond: float = -math.inf
    """ln of what lies beyond the last node, as a multiple of the last term."""
    log_error: float = -math.inf
    """ln of what else is left out, as a share of 1 + 2α + the moment."""


FindNodes = Callable[[float], Nodes | None]
"""From an order to nodes, or to None where they would be too many."""


def swapped_noise(sampled: PoissonSampled, orders: Floats) -> Floats:
    """Return D_α of sampled noise for a unit that is replaced; infinite for what is no noise, or needs too many nodes.

    At orders that need too many, sampling hardly helps.
    """
    find = _nodes(sampled.event)
    if find is None:
        return np.full_like(orders, np.inf)
    rate, rest = rounded_up(sampled.rate), rounded_up(1 - sampled.rate)
    return np.array([_divergence(find(float(order)), rate, rest, float(order)) for order in orders])


def _divergence(nodes: Nodes | None, rate: float, rest: float, order: float) -> float:
    if nodes is None:
        return math.inf
    with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
        log_q, log_p = math.log(rate), math.log(rest) if rest else -math.inf
        log_a, log_b = np.logaddexp(log_p, log_q + nodes.up), np.logaddexp(log_p, log_q + nodes.down)
        gap = np.abs(nodes.up - nodes.down)
        log_gap = np.where(gap > 1, gap + np.log1p(-np.exp(-gap)), np.log(np.expm1(np.minimum(gap, 1.0))))
        log_size = log_q + np.minimum(nodes.up, nodes.down) + log_gap - log_b
        move = np.sign(nodes.up - nodes.down) * np.exp(np.minimum(log_size, _LARGEST))
        log_r = np.where(np.abs(move) < 0.5, np.log1p(np.clip(move, -0.5, 0.5)), log_a - log_b)
        terms = nodes.log_mass + log_b + _log_excess(order, move, log_size, log_r)
    log_sum = float(scipy.special.logsumexp(np.append(terms, terms[-1] + nodes.log_beyond)))
    log_sum = np.logaddexp(log_sum, nodes.log_error + np.logaddexp(math.log(2 + 2 * order), log_sum))
    moment = float(np.logaddexp(0.0, log_sum))
    allowance = 64 * _EPS * order * (1 + float(np.max(np.abs(log_r)))) if moment > 1 else 0.0
    return lifted((moment + allowance) / (order - 1))


def _log_excess(order: float, move: Floats, log_size: Floats, log_r: Floats) -> Floats:
    """Return ln h(r), rounded up, where r = 1 + `move`."""
    taylor = math.log(order * (order - 1) / 2) + 2 * log_size + np.maximum(0.0, (order - 2) * log_r)
    power = order * log_r
    rise = np.expm1(np.minimum(power, _LARGEST))
    direct = np.log(np.maximum(rise - order * move, 0.0) + 8 * _EPS * (np.abs(rise) + order * np.abs(move)))
    return np.minimum(taylor, np.where(power < _LARGEST, direct, power))


def _nodes(event: Event) -> FindNodes | None:
    runs = parts(event)
    if runs and all(isinstance(part, Gaussian) for part in runs):
        return _gaussian(math.sqrt(rounded_up(gaussian.mu_squared(event))) * (1 + 2 * _EPS))
    if runs.total() != 1:
        return None
    match next(iter(runs)):
        case Laplace(scale, sensitivity):
            return _laplace(rounded_up(sensitivity / scale))
        case DiscreteLaplace(scale, sensitivity):
            return _discrete_laplace(rounded_down(scale), sensitivity)
        case DiscreteGaussian(variance, squared, 1):
            return _discrete_gaussian(rounded_down(variance), math.isqrt(math.floor(squared)))
        case Exponential(epsilon):
            return _bounded_range(rounded_up(epsilon))
    return None


def _gaussian(mu: float) -> FindNodes:
    """Return nodes of the trapezoidal rule for noise of variance 1.

    For f analytic in |Im z| ≤ d the rule of step h errs by at most 2·sup ∫|f(x+iy)|dx/(e^{2πd/h} − 1) (Trefethen,
    Weideman 2014, Theorem 5.1). With θ = μd ≤ π/2, |a(x+iy)| ≤ a(x) and |b(x+iy)| ≥ cos(θ/2)·b(x), so that integral is
    at most e^{d²/2}·(cos(θ/2)^{1−α}·moment + 1 + 2α). d ≤ 8 and θ² ≤ 160/(α−1) bound the factors by e^32 and e^23, and
    2πd/h = 110 leaves 2e^−55 of it. Beyond (2α−1)μ + 16 the integrand falls at least as fast as e^{−16x}; below
    −μ − 16 it is at most (α−1)·b, of which there is less than 1e-57.
    """

    def find(order: float) -> Nodes | None:
        step = 2 * math.pi / 110 * min(8.0, min(math.pi / 2, math.sqrt(160 / (order - 1))) / mu)
        low, high = -mu - 16, (2 * order - 1) * mu + 16
        if not (high - low) / step < _MOST_NODES:
            return None
        z = np.arange(low, high + 2 * step, step)
        log_mass = -0.5 * z * z + math.log(step / math.sqrt(2 * math.pi))
        half = mu * mu / 2
        return Nodes(log_mass, mu * z - half, -mu * z - half, -math.log(16 * step), _LOG_RULE_ERROR)

    return find


def _discrete_gaussian(variance: float, distance: int) -> FindNodes:
    """Return all outputs that matter; beyond them the same bounds hold as for Gaussian noise, steps apart."""
    sigma = math.sqrt(variance)

    def find(order: float) -> Nodes | None:
        low, high = -distance - 16 * sigma - 2, (2 * order - 1) * distance + 16 * sigma + 1
        if not high - low < _MOST_NODES:
            return None
        k = np.arange(math.floor(low), math.ceil(high) + 1, dtype=np.float64)
        log_weight = -k * k / (2 * variance)
        slope, half = distance / variance, distance * distance / (2 * variance)
        log_mass = log_weight - scipy.special.logsumexp(log_weight)
        # what the normalizer leaves out makes each mass larger
        return Nodes(log_mass, slope * k - half, -slope * k - half, math.log(max(sigma, 1.0) / 16), -115.0)

    return find


def _discrete_laplace(scale: float, distance: int) -> FindNodes:
    """Return all outputs between −Δ and Δ; beyond either end the losses stay what they are there."""
    if 2 * distance + 1 > _MOST_NODES or not scale:
        return _too_many
    k = np.arange(-distance, distance + 1, dtype=np.float64)
    log_mass = -np.abs(k) / scale - math.log1p(math.exp(-1 / scale))
    log_mass[1:-1] += math.log(-math.expm1(-1 / scale))
    nodes = Nodes(log_mass, (np.abs(k) - np.abs(k - distance)) / scale, (np.abs(k) - np.abs(k + distance)) / scale)
    return lambda _order: nodes


def _laplace(epsilon: float) -> FindNodes:
    """Return the outer ends of cells of [0, ε], for noise of scale 1, and the mass beyond ε."""
    if not epsilon < 1e4:
        return _too_many
    ends = np.linspace(0.0, epsilon, _CELLS + 1)
    inside = -ends[:-1] + math.log(0.5) + math.log(-math.expm1(-epsilon / _CELLS))
    log_mass = np.append(inside, -epsilon + math.log(0.5))
    return _upper_sum(log_mass, np.append(2 * ends[1:], 2 * epsilon) - epsilon, np.full(_CELLS + 1, -epsilon))


def _bounded_range(epsilon: float) -> FindNodes:
    """Return the outer ends of cells of false positive rates c up to ½, where G′(c) = e^ε/(1 + c(e^ε − 1))²."""
    if not epsilon < _LARGEST_RANGE:
        return _too_many
    rise, cells = math.expm1(epsilon), _CELLS * min(math.ceil(epsilon), 16)
    step = math.log1p(rise / 2) / cells
    log_z = step * np.arange(cells, dtype=np.float64)
    c = np.expm1(log_z) / rise
    log_mass = log_z + math.log(math.expm1(step)) - math.log(rise)
    return _upper_sum(log_mass, epsilon - 2 * log_z, epsilon - 2 * np.log1p((1 - c) * rise))


def _upper_sum(log_mass: Floats, up: Floats, down: Floats) -> FindNodes:
    """Return the nodes of cells in which a ≥ b, taken where a is largest and b least, and of the mirrored cells.

    b·h(a/b) = a^α·b^{1−α} − b − α(a − b) grows with a and falls with b where a ≥ b, and the other way round elsewhere.
    """
    nodes = Nodes(np.tile(log_mass, 2), np.concatenate((down, up)), np.concatenate((up, down)))
    return lambda _order: nodes


def _too_many(_order: float) -> None:
    return None
