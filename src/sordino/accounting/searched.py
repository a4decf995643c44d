"""What the best of a random number of runs costs, where the number itself, and all losers, stay hidden.

Let f be the generating function of the number K of runs, Q and Q′ the laws of one run's output on neighbours, ordered
by score (ties are broken by a coin, which forgets nothing: to drop it again is post-processing). The best of K runs has
the density Q(dy)·f′(q), where q is the chance that one run does no better. With M = e^{(λ−1)·D_λ(Q‖Q′)} the moment of
the outcome is at most

    P[K = 0] + M · sup f′(q)^λ · f′(q′)^{1−λ},

over the pairs (q, q′) that neighbours allow: chances of one and the same set of outputs.

**Truncated negative binomial** (η, γ): f′(x) = E[K]·(γ/(1 − (1−γ)x))^{η+1}. The chances a = 1 − (1−γ)q and a′ are those
of a set that a coin enlarges, so a′ ≤ (a·e^{D_μ})^{1−1/μ} at any order μ, and a ≥ γ. Hence

    D_λ ≤ D_λ(Q‖Q′) + (1+η)·min_μ((1−1/μ)·D_μ + ln(1/γ)/μ) + ln E[K]/(λ−1)

(Papernot, Steinke 2022, Theorem 2). As λ, μ → ∞, pure ε becomes (2+η)ε.

**Poisson**, m on average: f′(x) = m·e^{m(x−1)}, and λq − (λ−1)q′ − 1 = (λ−1)(1−q′) − λ(1−q) is at most (λ−1) times δ
of one run at ε = ln(λ/(λ−1)). Hence

    e^{(λ−1)·D_λ} ≤ e^{−m} + m·e^{(λ−1)(D_λ(Q‖Q′) + m·δ)}

(Papernot, Steinke 2022, Theorem 6, to which the first term, of no run at all, is added here). Pure ε becomes
ε + m·tanh(ε/2), as q − q′ is at most the total variation of an ε-private pair.

**Orders**: divergences grow with the order, so each order may take what a higher one proves: near λ = 1 both bounds
are useless by themselves.
**Own failures**: each run fails with probability δ, whatever the data; so some run does with at most E[K]·δ. Given that
none does, K has the same kind of law with a smaller mean (γ′ = 1 − (1−γ)(1−δ), or m(1−δ)), for which both bounds are
smaller.
"""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction

import numpy as np

from sordino.arguments import rounded_up

from . import approximate, closed_forms, pure, renyi
from .curve import Floats
from .events import PoissonSearched, Searched
from .rounding import decimal_rounded_up, lifted

_ORDERS: Floats = 1 + np.geomspace(0.05, 8191, 48)
_SLACK = 8 * float(np.finfo(np.float64).eps)


def mean_runs(event: Searched) -> Fraction:
    """Return E[K], rounded up: 1/γ where each run is the last with probability γ."""
    if event.shape == 1:
        return 1 / event.stopping
    return decimal_rounded_up(_logarithmic if event.shape == 0 else _negative_binomial, event.stopping, event.shape)


def _logarithmic(stopping: Decimal, _shape: Decimal) -> Decimal:
    return (1 - stopping) / (stopping * -stopping.ln())


def _negative_binomial(stopping: Decimal, shape: Decimal) -> Decimal:
    return shape * (1 - stopping) / (stopping * (1 - (shape * stopping.ln()).exp()))


def searched_pure(event: Searched) -> Fraction:
    """Return (2 + η)·ε for the pure ε of one run."""
    return (2 + event.shape) * pure.total(event.event)


def searched_own_delta(event: Searched) -> Fraction:
    """Return E[K] times the failures of one run, at most 1."""
    return min(Fraction(1), mean_runs(event) * approximate.own_delta(event.event))


def searched_renyi(event: Searched, orders: Floats) -> Floats:
    """Return the bound of Papernot and Steinke at each order, or at a higher one where that is less."""
    known = pure.known(event.event)
    alphas = np.union1d(orders, _ORDERS)
    one = renyi.curve(event.event, alphas)
    chance = rounded_up(decimal_rounded_up(lambda stopping: -stopping.ln(), event.stopping))
    spread = min(chance, float(np.min((1 - 1 / alphas) * one + chance / alphas)), _or_infinite(known))
    log_mean = math.log(rounded_up(mean_runs(event)))
    bound = lifted(one + rounded_up(1 + event.shape) * spread + log_mean / (alphas - 1))
    return _least_above(alphas, bound, orders, _or_infinite(None if known is None else (2 + event.shape) * known))


def poisson_searched_pure(event: PoissonSearched) -> Fraction:
    """Return ε + m·tanh(ε/2) for the pure ε of one run, rounded up."""
    known = pure.total(event.event)
    return known + event.mean * pure.rho(known) / known if known else known


def poisson_searched_own_delta(event: PoissonSearched) -> Fraction:
    """Return the mean number of runs times the failures of one, at most 1."""
    return min(Fraction(1), event.mean * approximate.own_delta(event.event))


def poisson_searched_renyi(event: PoissonSearched, orders: Floats) -> Floats:
    """Return the bound above at each order, or at a higher one where that is less."""
    known = pure.known(event.event)
    alphas = np.union1d(orders, _ORDERS)
    one = renyi.curve(event.event, alphas)
    levels = np.log1p(1 / (alphas - 1)) * (1 - 1e-15)
    failures = np.array([_failure(alphas, one, known, float(level)) for level in levels])
    mean = rounded_up(event.mean)
    moment = np.logaddexp(-mean, math.log(mean) + (alphas - 1) * (one + mean * failures))
    bound = lifted((moment + _SLACK * (1 + mean + abs(math.log(mean)))) / (alphas - 1))
    return _least_above(alphas, bound, orders, _or_infinite(None if known is None else poisson_searched_pure(event)))


def _failure(alphas: Floats, one: Floats, known: Fraction | None, epsilon: float) -> float:
    """Return δ of one run at `epsilon`, outside of its own failures, from its divergences at all orders and pure ε."""
    by_order = lifted(math.exp(min(float(np.min(renyi.to_log_delta(alphas, one, epsilon))), 0.0)))
    if known is None:
        return by_order
    gap, size = rounded_up(known) - epsilon, rounded_up(known)
    return min(by_order, lifted(-math.expm1(-gap) / (1 + math.exp(-size))) if gap > 0 else 0.0)


def _or_infinite(known: Fraction | None) -> float:
    return math.inf if known is None else rounded_up(known)


def _least_above(alphas: Floats, bound: Floats, orders: Floats, most: float) -> Floats:
    """Return, for each of `orders`, the least bound at it or at a higher one, or what pure ε of `most` implies."""
    least = np.minimum.accumulate(bound[::-1])[::-1]
    by_pure = closed_forms.randomized_response(most, orders) if most else np.zeros_like(orders)
    return np.asarray(np.minimum(least[np.searchsorted(alphas, orders)], by_pure))
