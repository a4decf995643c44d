"""Rényi divergences of single mechanisms in closed form, as functions of float parameters rounded up.

Every function returns D_α for each order α > 1, not below the truth and within one part in 10⁹ of the formula. Where
a formula loses digits to cancellation, an allowance of several units of roundoff of its largest term is added and the
result is capped by a looser bound that does not suffer.

**Sources**: Mironov 2017, Table II (Laplace, binary randomized response); Dong, Durfee, Rogers 2020 and Cesar, Rogers
2021, Lemma 3.4 (bounded range). The rest is derived where it stands.
"""

from __future__ import annotations

import math

import numpy as np

from .curve import Floats
from .rounding import lifted

_ALLOWANCE = 8 * float(np.finfo(np.float64).eps)
_SMALL = 1.0
_LEAST = float(np.finfo(np.float64).tiny)  # stands in for products that underflow: no event is free
_FAINTEST = 1e-290  # an ε below which (α − 1)·ε may underflow


def randomized_response(epsilon: float, orders: Floats, categories: int = 2) -> Floats:
    """Return D_α of k-ary randomized response; for k = 2 it is the largest D_α that any ε-DP event can have.

    With u = α − ½, E[(P/Q)^α] = (2e^{ε/2}·cosh(uε) + k − 2)/(e^ε + k − 1), which is
    1 + 4e^{ε/2}·sinh(αε/2)·sinh((α−1)ε/2)/(e^ε + k − 1): no cancellation. Every ε-DP pair is a post-processing of the
    pair for k = 2 (Kairouz, Oh, Viswanath 2015, Theorem 2.5).
    """
    if not math.isfinite(epsilon):
        return np.full_like(orders, np.inf)
    small = np.minimum(orders * epsilon, _SMALL) / orders  # ε itself wherever the form is used
    log_all = np.logaddexp(epsilon, math.log(categories - 1))
    excess = 4 * np.exp(small / 2 - log_all) * np.sinh(orders * small / 2) * np.sinh((orders - 1) * small / 2)
    near = np.log1p(np.maximum(excess, _LEAST))
    far = np.logaddexp(orders * epsilon, (1 - orders) * epsilon)
    if categories > 2:
        far = np.logaddexp(far, math.log(categories - 2))
    far = (far - log_all) * (1 + _ALLOWANCE) + _ALLOWANCE * log_all
    value = np.asarray(np.where(orders * epsilon < _SMALL, near, far) / (orders - 1), dtype=np.float64)
    return np.minimum(lifted(value), epsilon)


def laplace(epsilon: float, orders: Floats) -> Floats:
    """Return D_α of continuous Laplace noise whose scale is 1/ε of the 1-norm sensitivity.

    E[(P/Q)^α] = A·e^{(α−1)ε} + B·e^{−αε} with A = α/(2α−1), B = 1 − A. Its logarithm is convex in ε and 0 at 0, hence
    superadditive: a change that is spread over several coordinates never costs more than in one.
    """
    return _two_exponentials(epsilon, orders, (orders - 1) / (2 * orders - 1))


def discrete_laplace(scale: float, epsilon: float, orders: Floats) -> Floats:
    """Return D_α of integer noise P[x] ∝ t^|x|, t = e^{−1/scale}, shifted by k = ε·scale steps.

    Summing t^{α|x−k| + (1−α)|x|} over x ≤ 0, 0 < x < k and x ≥ k gives A·e^{(α−1)ε} + B·e^{−αε} with
    A = (1−t)/(1+t)·(1/(1−t) + s/(1−s)), B = 1 − A = (1−t)/(1+t)·(1/(1−t) − 1/(1−s)), s = t^{2α−1} ≤ t, so that
    A, B ≥ 0. As for Laplace, the logarithm is convex in k and 0 at 0: a vector's 1-norm may be put in one place.
    """
    rate = 1 / scale if scale else math.inf
    # B = (t − s)/((1 + t)(1 − s)), written without cancellation
    gap = -np.expm1(-2 * (orders - 1) * rate) * math.exp(-rate)
    share = gap / ((1 + math.exp(-rate)) * -np.expm1(-(2 * orders - 1) * rate))
    return _two_exponentials(epsilon, orders, share)


def _two_exponentials(epsilon: float, orders: Floats, share: Floats) -> Floats:
    """Return D_α where E[(P/Q)^α] = (1−share)·e^{(α−1)ε} + share·e^{−αε}, capped by what ε-DP implies."""
    cap = randomized_response(epsilon, orders)
    if not math.isfinite(epsilon):
        return cap
    small = np.minimum(orders * epsilon, _SMALL) / orders
    rise, fall = (1 - share) * np.expm1((orders - 1) * small), share * np.expm1(-orders * small)
    near = np.log1p(np.maximum(rise + fall, 0) + _ALLOWANCE * (rise - fall))
    with np.errstate(divide="ignore"):
        far = np.logaddexp(np.log1p(-share) + (orders - 1) * epsilon, np.log(share) - orders * epsilon)
    far = far + _ALLOWANCE * orders * epsilon
    return np.minimum(lifted(np.where(orders * epsilon < _SMALL, near, far) / (orders - 1)), cap)


def bounded_range(epsilon: float, orders: Floats) -> Floats:
    """Return the largest D_α of an ε-bounded-range event (exponential mechanism, Gumbel noise).

    The loss lies in [t−ε, t] for some t in [0, ε]. As r ↦ r^α is convex and E_Q[r] = 1, E_Q[r^α] is largest when the
    loss sits at both ends; with c = e^{−ε} and x = e^t it is (x^{α−1}(1−c^α) − x^α(c−c^α))/(1−c), which is largest at
    x = (α−1)(1−c^α)/(α(c−c^α)), where it is x^{α−1}(1−c^α)/(α(1−c)). Cesar and Rogers 2021 bound it by α·ε²/8.
    """
    square = np.maximum(orders * epsilon * epsilon / 8, _LEAST)
    cap = np.minimum(lifted(square), randomized_response(epsilon, orders))
    if not _FAINTEST < epsilon < math.inf:
        return cap

    def log_rest(order: Floats) -> Floats:
        return np.asarray(np.log(-np.expm1(-order * epsilon)))

    log_x = epsilon + np.log1p(-1 / orders) + log_rest(orders) - log_rest(orders - 1)
    log_moment = (orders - 1) * log_x + log_rest(orders) - log_rest(np.ones_like(orders)) - np.log(orders)
    size = (orders + 1) * (1 + epsilon + np.abs(log_rest(orders - 1))) + np.abs(log_rest(np.ones_like(orders)))
    value = np.maximum(log_moment, 0) + _ALLOWANCE * size
    return np.minimum(lifted(value / (orders - 1)), cap)
