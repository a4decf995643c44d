"""What a Poisson-sampled event costs where a unit is replaced: the curves of `Replaced(PoissonSampled(event, q))`.

Let M be the output of `event` without the unit, V and W with the one unit and with the other. The outputs on neighbours
are A = (1−q)M + qV and B = (1−q)M + qW (the others' samples are shared, and divergences are jointly quasi-convex).

**The pair.** Let G(c) be the largest power, at false positive rate c, of a test between data without and with a unit.
For a set E of outputs with M(E) = c, V(E) ≤ G(c) and W(E) ≥ 1 − G(1 − c), the latter from the complement of E. Hence,
at every level α ≥ 0,

    A(E) − α·B(E) ≤ ((1−q)c + q·G(c)) − α·((1−q)c + q·(1 − G(1−c))).

The right side, over all c, is the profile of a pair: on c in [0, 1] it has the densities 1−q+qG′(c) and 1−q+qG′(1−c).
For symmetric log-concave noise whose answer moves by Δ, both bounds are attained together, by E = {x > t}: with M the
noise at 0, V at Δ and W at −Δ. So ((1−q)N(0) + qN(Δ), (1−q)N(0) + qN(−Δ)) dominates, in both orders, for vectors too
(see `pair.Shifted`). For Gaussian noise it is the pair that dp_accounting uses under REPLACE_ONE.

**Pure ε.** Where G(c) = min(e^ε·c, 1 − e^{−ε}(1−c)), the laws of (V, W) against M have the densities (e^ε, e^{−ε}) on a
share b = 1/(1+e^ε) of M, (e^{−ε}, e^ε) on as much, (e^{−ε}, e^{−ε}) in between. With u = 1−q+qe^ε and w = 1−q+qe^{−ε}
the loss is ε′ = ln(u/w), 0 or −ε′. An own failure δ adds δ to V(E) and takes e^{−ε}·δ from W(E), at most:
δ′ = qδ(1 + e^{ε′−ε}). Where δ(2 + e^ε) ≤ 1, what fails with δ′ and else has these three losses dominates: at levels α
from 1 to e^{ε′}, the profile is qδ(1 + αe^{−ε}) + (1−δ)b(u − αw), which falls short of δ′ + (1−δ′)b(u − αw) by
(e^{ε′} − α)(qδe^{−ε} − (δ′−δ)bw) ≥ 0, as (δ′−δ)w ≤ qδe^{−ε}u and bu ≤ 1; beyond, it is at most δ′; below 1, mirrored.

**Anything else** by the triangle inequality of Rényi divergences over the data without either unit (Mironov 2017,
Proposition 11, with p = q = 2): D_α(A‖B) ≤ (α−½)/(α−1)·D_2α(A‖M) + D_{2α−1}(M‖B). Or, as B ≥ (1−q)M, by
D_α(A‖B) ≤ D_α(A‖M) − ln(1−q), which is close at large orders.
"""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction

import numpy as np

from sordino.arguments import rounded_up
from sordino.errors import UnsupportedError

from . import approximate, closed_forms, pure, renyi, sampled_curves, zcdp
from .curve import Floats
from .event import Event
from .events import Exponential, PoissonSampled, Replaced
from .relation import parts, relations
from .replaced import failure
from .rounding import decimal_rounded_up, lifted, log_rounded_down
from .swapped_renyi import swapped_noise

_HUGE = 1000
_SMALL = Decimal("1e-20")


def _sampled(event: Replaced) -> PoissonSampled:
    """Return what is sampled and replaced; all else was taken apart before (see ``replaced.py``)."""
    relations(event)
    if not isinstance(event.event, PoissonSampled):
        raise UnsupportedError(
            f"no curve for {type(event.event).__name__} where a unit is replaced; bound it under replace-one",
            "SRD-C001",
        )
    return event.event


def swapped(epsilon: Fraction, rate: Fraction) -> Fraction:
    """Return ln((1 − q + q·e^ε)/(1 − q + q·e^{−ε})), rounded up; never above 2ε."""
    if rate == 1:
        return 2 * epsilon
    if epsilon > _HUGE:
        return min(2 * epsilon, epsilon + decimal_rounded_up(lambda q: -(1 - q).ln(), rate))
    if epsilon <= Fraction(1, 10**12):
        # e^ε − 1 ≤ ε + ε², and −ln(1 − y) ≤ y + y² for y = q(1 − e^{−ε}) ≤ qε
        return min(2 * epsilon, 2 * rate * (epsilon + epsilon**2))
    return min(2 * epsilon, decimal_rounded_up(_log_odds, epsilon, rate))


def _log_odds(epsilon: Decimal, rate: Decimal) -> Decimal:
    up, down = epsilon.exp(), (-epsilon).exp()
    excess = rate * (up - down) / (1 - rate + rate * down)
    return excess if excess < _SMALL else (1 + excess).ln()  # ln(1 + x) ≤ x


def replaced_pure(event: Replaced) -> Fraction:
    """Return ε′ of the pure ε of what is sampled."""
    inner = _sampled(event)
    return swapped(pure.total(inner.event), inner.rate)


def replaced_own_delta(event: Replaced) -> Fraction:
    """Return q·δ·(1 + e^{ε′−ε}), at most 1, for own failures δ of what is sampled."""
    inner = _sampled(event)
    own = approximate.own_delta(inner.event)
    if not own:
        return Fraction(0)
    epsilon = _pure_beside_failure(inner.event)
    return min(Fraction(1), failure(swapped(epsilon, inner.rate) - epsilon, inner.rate * own))


def replaced_zcdp(event: Replaced) -> Fraction:
    """Return ρ of the same unsampled, since sampling adds no cost, or what ε′ implies if that is less."""
    inner = _sampled(event)
    if approximate.own_delta(inner.event):
        return pure.rho(swapped(_pure_beside_failure(inner.event), inner.rate))
    known = pure.known(inner.event)
    bounds = [] if known is None else [pure.rho(swapped(known, inner.rate))]
    return min([zcdp.rho(Replaced(inner.event)), *bounds])


def replaced_renyi(event: Replaced, orders: Floats) -> Floats:
    """Return D_α of the pair of noise; for all else, the least of its pair's and of the bounds that hold for any."""
    inner = _sampled(event)
    own = approximate.own_delta(inner.event)
    if own:
        epsilon = _pure_beside_failure(inner.event)
        if own + failure(epsilon, own) <= 1:
            return _three_losses(epsilon, inner.rate, orders)
        return closed_forms.randomized_response(rounded_up(swapped(epsilon, inner.rate)), orders)
    bounds = swapped_noise(inner, orders)
    loose = np.isinf(bounds) | any(isinstance(part, Exponential) for part in parts(inner.event))
    if np.any(loose):
        bounds[loose] = np.minimum(bounds[loose], _of_any(inner, orders[loose]))
    return bounds


def _of_any(inner: PoissonSampled, orders: Floats) -> Floats:
    bounds = [renyi.curve(Replaced(inner.event), orders), _triangle(inner, orders)]
    bounds.append(lifted(sampled_curves.poisson_renyi(inner, orders) - _log_rest(inner.rate)))
    pure_epsilon = pure.known(inner.event)
    if pure_epsilon is not None:
        bounds.append(_three_losses(pure_epsilon, inner.rate, orders))
    return np.asarray(np.min(bounds, axis=0))


def _log_rest(rate: Fraction) -> float:
    """Return ln(1 − q), rounded down."""
    return log_rounded_down(1 - rate) if rate > Fraction(1, 2) else math.log1p(-rounded_up(rate)) * (1 + 2.0**-40)


def _triangle(inner: PoissonSampled, orders: Floats) -> Floats:
    first = sampled_curves.poisson_renyi(inner, 2 * orders)
    second = sampled_curves.poisson_renyi(inner, 2 * orders - 1)
    with np.errstate(over="ignore"):
        return lifted((orders - 0.5) / (orders - 1) * first + second)


def _three_losses(epsilon: Fraction, rate: Fraction, orders: Floats) -> Floats:
    """Return D_α of the losses ε′, 0, −ε′ above: E[(A/B)^α] = 1 + b·w·(e^{αε′} − 1)(1 − e^{(1−α)ε′})."""
    size, step = rounded_up(epsilon), rounded_up(swapped(epsilon, rate))
    share = float(1 - rate) + float(rate) * math.exp(-size)
    log_weight = math.log(share) - np.logaddexp(0.0, size)
    rise = orders * step
    with np.errstate(over="ignore", divide="ignore"):
        log_rise = np.where(rise > 1, rise + np.log1p(-np.exp(-rise)), np.log(np.expm1(np.minimum(rise, 1.0))))
        log_excess = log_weight + log_rise + np.log(-np.expm1(-(orders - 1) * step))
    return np.asarray(np.minimum(lifted(np.logaddexp(0.0, log_excess) / (orders - 1)), step))


def _pure_beside_failure(event: Event) -> Fraction:
    known = pure.known(event)
    if known is None:
        raise UnsupportedError(
            "an event with a δ of its own and no pure ε cannot be priced in a sample for a unit that is replaced; "
            "sample its parts separately",
            "SRD-C004",
        )
    return known
