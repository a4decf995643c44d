"""Rényi divergences under subsampling. Symbols as in Mironov, Talwar, Zhang 2019 (here: MTZ): rate q, order α.

**Two directions.** Let P, Q be the outputs with and without the unit, and S = (1−q)Q + qP the sampled output. The first
direction expands exactly: E_Q[(S/Q)^α] = Σ_k C(α,k)(1−q)^{α−k}q^k·E_Q[(P/Q)^k] for whole α. The second, D_α(Q‖S), is
never larger if P/Q has under Q the law that Q/P has under P (MTZ, Theorem 5). That is so for noise that is symmetric
and unimodal around the answer (swap by reflection at the midpoint) and for randomized response.

*Proof of that.* With s = Q/P, a = 1−q+qs and b = q+(1−q)s, the difference of the moments is E_P[g(s)] where
g = a^α − s^α·b^{1−α}. The symmetry gives E_P[g(s)] = E_P[s·g(1/s)], and g(s) + s·g(1/s) = h(a) − b·h(s/b) with
h(x) = x^α − x^{1−α}. For s ≥ 1: a − 1 = s − b ≥ 0, b ≥ 1, h is convex on [1, ∞) and h(1) = 0, so b·h(1 + (s−b)/b) ≤
h(1 + (s−b)) = h(a). For s < 1 the sum is s times the same at 1/s. ∎

Without that symmetry the bound of Zhu, Wang 2019, Theorem 5 holds, which triples the terms from k = 3 on.

**Orders in between.** (α−1)·D_α is convex in α and 0 at α = 1, so a chord between whole orders lies above it.

All sums are of nonnegative terms: the terms of the binomial law itself add up to 1 and are taken off one by one.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import scipy

from .closed_forms import randomized_response
from .curve import Floats
from .rounding import lifted

Moments = Callable[[Floats], Floats]
"""From orders to (α−1)·D_α."""

_FINE_UP_TO = 64.0
_MOST_NODES = 20_000
_SMALLEST_SIGMA = 0.01
_LEAST = 1e-300
_EPS = float(np.finfo(np.float64).eps)


def sampled_symmetric(inner: Moments, rate: float, orders: Floats) -> Floats:
    """Return D_α of a Poisson sample of an event whose pairs are symmetric (see above), from its Rényi curve.

    Args:
        inner: (k−1)·D_k of the event itself, at whole orders k ≥ 2.
        rate: the probability with which each unit comes into the sample.
        orders: the orders α > 1.
    """
    return _chord(inner, lambda moments: _binomial(moments, rate, third=1.0), orders)


def sampled_general(inner: Moments, rate: float, orders: Floats) -> Floats:
    """Return D_α of a Poisson sample of any event, from its Rényi curve alone (Zhu, Wang 2019, Theorem 5)."""
    return _chord(inner, lambda moments: _binomial(moments, rate, third=3.0), orders)


def _binomial(moments: Floats, rate: float, third: float) -> float:
    """Return ln(1 + Σ_{k≥2} C(α,k)(1−q)^{α−k}q^k·(c_k·E_k − 1)), where E_k = exp((k−1)D_k) and c_k = `third` from 3."""
    order = len(moments) + 1
    k = np.arange(2.0, order + 1)
    exponents = moments + np.where(k > 2, math.log(third), 0.0)
    if rate == 1.0:
        return float(exponents[-1])
    log_terms = _log_binomial(order, k) + k * math.log(rate) + (order - k) * math.log1p(-rate)
    log_terms += exponents + np.log(-np.expm1(-exponents)) + 4 * _EPS * (exponents - k * math.log(rate))
    return float(np.logaddexp(0.0, scipy.special.logsumexp(log_terms)))


def _log_binomial(order: int, k: Floats) -> Floats:
    """Return ln C(α, k), rounded up: the difference errs by a few units of roundoff of its largest term."""
    whole = float(scipy.special.gammaln(order + 1))
    return np.asarray(whole - scipy.special.gammaln(k + 1) - scipy.special.gammaln(order - k + 1) + 8 * _EPS * whole)


def _chord(inner: Moments, at_whole: Callable[[Floats], float], orders: Floats) -> Floats:
    """Return D_α from (α−1)·D_α at whole orders, each found from `inner` at 2 … α, by chords in between."""
    floors = np.floor(orders)
    needed = np.union1d(floors, np.ceil(orders)).astype(int)
    moments = np.maximum(inner(np.arange(2.0, max(int(needed[-1]), 2) + 1)), _LEAST)
    values = {int(order): at_whole(moments[: order - 1]) if order >= 2 else 0.0 for order in needed}
    low = np.array([values[int(order)] for order in floors])
    high = np.array([values[int(order)] for order in np.ceil(orders)])
    with np.errstate(invalid="ignore"):  # ∞ − ∞ and 0·∞, neither of which is used
        between = np.where(np.isinf(high), high, low + (orders - floors) * (high - low))
    return lifted(np.where(orders > floors, between, low) / (orders - 1))


def sampled_gaussian(mu_squared: float, rate: float, orders: Floats) -> Floats:
    """Return D_α of Poisson-sampled Gaussian noise, sensitivity²/variance = μ²: exact at every real order to 64.

    Above 64, and for noise so small that the integral would need too many nodes, whole orders are exact and chords
    join them. **Source**: MTZ, Theorems 4, 5 and Section 3.3 (integral instead of their series, see ``_integral``).
    """

    def inner(k: Floats) -> Floats:
        return k * (k - 1) * (mu_squared / 2)

    chords = sampled_symmetric(inner, rate, orders)
    sigma = 1 / math.sqrt(mu_squared)
    if rate == 1.0 or sigma < _SMALLEST_SIGMA:
        return chords
    fine = (orders <= _FINE_UP_TO) & (orders != np.floor(orders))
    exact = [_integral(sigma, rate, float(order)) if fine[i] else math.inf for i, order in enumerate(orders)]
    return np.minimum(chords, lifted(np.array(exact) / (orders - 1)))


def _integral(sigma: float, rate: float, order: float) -> float:
    """Return ln A_α, A_α = E[(1+u)^α] with u = q·(e^{(2z−1)/(2σ²)} − 1) and z ~ N(0, σ²), not below the truth.

    As E[u] = 0, A − 1 = E[(1+u)^α − 1 − αu], whose integrand is nonnegative. The trapezoidal rule of step h errs by at
    most 2·sup ∫|f(x+iy)|dx/(e^{2πd/h} − 1) for f analytic in |Im z| < d (Trefethen, Weideman 2014, Theorem 5.1). Here
    d = min(πσ², 8σ): the base 1+u has its first zero at Im z = πσ², and off the axis |f| grows by at most
    e^{d²/(2σ²)} ≤ e^32; with 2πd/h = 100 that leaves e^−67 of A. What is cut off beyond −16σ and α+16σ is added:
    on the right f falls at least as fast as e^{−16t/σ}; on the left the integrand is at most its value at u = −q.
    """
    step = 2 * math.pi * min(math.pi * sigma * sigma, 8 * sigma) / 100
    low, high = -16 * sigma, order + 16 * sigma
    if (high - low) / step > _MOST_NODES:
        return math.inf
    z = np.arange(low, high + 2 * step, step)
    loss = (2 * z - 1) / (2 * sigma * sigma)
    log_base = np.logaddexp(math.log1p(-rate), math.log(rate) + loss)
    log_weight = -0.5 * (z / sigma) ** 2 + math.log(step / (sigma * math.sqrt(2 * math.pi)))
    log_tail = order * log_base[-1] + log_weight[-1] + math.log(sigma * sigma / (16 * sigma * step))
    if np.max(order * log_base) > 30:
        log_all = np.concatenate([order * log_base + log_weight, [log_tail, scipy.special.log_ndtr(-16.0)]])
        return float(scipy.special.logsumexp(log_all)) + 64 * _EPS * order
    u = rate * np.expm1(loss)
    rise = np.expm1(order * np.log1p(u))
    excess = np.maximum(rise - order * u, 0) + 8 * _EPS * (np.abs(rise) + order * np.abs(u))
    left = (1 - rate) ** order - 1 + order * rate
    total = float(np.sum(excess * np.exp(log_weight))) + math.exp(log_tail) + left * float(scipy.special.ndtr(-16.0))
    return math.log1p(total)


def sampled_pure(epsilon: float, rate: float, orders: Floats) -> Floats:
    """Return D_α of a Poisson sample of an ε-DP event: exactly that of sampled randomized response, at every order.

    Every ε-DP pair (P, Q) is a post-processing of the pair of binary randomized response, and so is ((1−q)Q + qP, Q).
    """
    full = randomized_response(epsilon, orders)
    if rate == 1.0 or epsilon > 500:
        return full
    down = 1 / (1 + math.exp(epsilon))
    u = np.array([[rate * math.expm1(epsilon)], [rate * math.expm1(-epsilon)]])
    weight = np.array([[down], [1 - down]])
    log_base = np.log1p(u)
    with np.errstate(over="ignore", invalid="ignore"):
        rise = np.expm1(orders * log_base)
        excess = np.maximum(rise - orders * u, 0) + 8 * _EPS * (np.abs(rise) + orders * np.abs(u))
        near = np.log1p(np.sum(weight * excess, axis=0))
    far = scipy.special.logsumexp(orders * log_base + np.log(weight), axis=0) + 64 * _EPS * orders * (1 + epsilon)
    value = np.where(orders * log_base[0] < 30, near, far)
    return np.minimum(lifted(np.asarray(value) / (orders - 1)), full)


def fixed_size(inner: Moments, pure: float, share: float, orders: Floats) -> Floats:
    """Return D_α of an event on a fixed-size sample without replacement, under replace-one.

    **Source**: Wang, Balle, Kasiviswanathan 2019, Theorem 9.

    Args:
        inner: (k−1)·D_k of the event itself under replace-one, at whole orders k ≥ 2.
        pure: its pure ε (infinite if it has none).
        share: sample size over population.
        orders: the orders α > 1.
    """
    spread = math.log(math.expm1(pure)) if pure < 1 else math.inf

    def at_whole(exponents: Floats) -> float:
        order = len(exponents) + 1
        k = np.arange(2.0, order + 1)
        log_terms = _log_binomial(order, k) + k * math.log(share) + exponents + np.minimum(math.log(2), k * spread)
        log_terms += 4 * _EPS * (exponents - k * math.log(share))
        second = math.log(4) + exponents[0] + math.log(-math.expm1(-exponents[0]))
        log_terms[0] = min(log_terms[0], _log_binomial(order, k[:1])[0] + 2 * math.log(share) + second)
        return float(np.logaddexp(0.0, scipy.special.logsumexp(log_terms)))

    return _chord(inner, at_whole, orders)
