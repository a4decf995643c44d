"""Zero-concentrated differential privacy (Bun, Steinke 2016): one number ρ that adds up; D_α ≤ ρ·α at every order.

**Sources**: Bun, Steinke 2016, Lemma 2.3 (composition); the conversion to (ε, δ) is the Rényi one of Canonne, Kamath,
Steinke 2020, Proposition 12, minimised over all real orders.

What single events cost (`laplace_rho` and its kin) rests on one remark. If E[(P/Q)^α] = f((α−½)²) and ln f is concave,
then D_α ≤ α·D_1, where D_1 is the Kullback–Leibler divergence: a concave function lies below its tangent at α = 1, and
(α−½)² − ¼ = α(α−1). If f is entire of order below 1 and its zeros are all real and negative, it is a product of factors
1 + v/aⱼ with aⱼ > 0 (Hadamard), so its logarithm is concave for v > 0.
"""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction

import numpy as np

from sordino.arguments import Number, rational, rounded_down, rounded_up
from sordino.errors import ArgumentError

from . import pure
from .approximate import own_delta, remaining
from .curve import Floats, curve
from .event import Event
from .relation import parts
from .renyi import MOST_EPSILON, least_over_orders, to_epsilon, to_log_delta
from .rounding import decimal_rounded_up, deltas_rounded_up, exp_rounded_up, lifted, log_rounded_down

_TINY = Fraction(1, 10**12)
_HUGE = 1000
_SHORT = Decimal("1e-7")
_ORDERS = 1 + np.exp(np.linspace(-30.0, 40.0, 281))
_ROUNDS = 4


def rho(event: Event) -> Fraction:
    """Return the sum of the ρ's of all that `event` runs.

    **Guarantee**: outside of the events' own failures the whole is ρ-zCDP, also when composed adaptively.
    """
    return sum((curve(part, "zcdp")(part) * count for part, count in parts(event).items()), Fraction(0))


def epsilon(event: Event, delta: Number) -> float:
    """Return the least ε for which ρ-zCDP shows `event` to be (ε, δ)-differentially private, rounded up."""
    left = remaining(event, delta)
    if left == 0:
        raise ArgumentError("delta must exceed the events' own: zCDP gives no pure guarantee", "SRD-A003")
    line, log_delta = _line(event), log_rounded_down(left)
    return least_over_orders(lambda orders: to_epsilon(orders, line(orders), log_delta), _ORDERS, _ROUNDS)


def delta(event: Event, epsilon: Number) -> float:
    """Return the least δ for which ρ-zCDP shows `event` to be (ε, δ)-differentially private, rounded up."""
    below = min(rounded_down(rational("epsilon", epsilon, least=0)), MOST_EPSILON)
    line = _line(event)
    log_delta = least_over_orders(lambda orders: to_log_delta(orders, line(orders), below), _ORDERS, _ROUNDS)
    return deltas_rounded_up(rounded_up(own_delta(event)), exp_rounded_up(log_delta))


def _line(event: Event) -> Callable[[Floats], Floats]:
    """Return ρ·α as a function of α, rounded up."""
    cost = rounded_up(rho(event))

    def line(orders: Floats) -> Floats:
        with np.errstate(over="ignore"):
            return lifted(orders * cost)

    return line


def laplace_rho(epsilon: Fraction) -> Fraction:
    """Return the least ρ of Laplace noise whose pure price is ε: ε + e^{−ε} − 1, rounded up.

    **Proof.** With u = α − ½, E[(P/Q)^α] = e^{−ε/2}·(cosh(uε) + sinh(uε)/(2u)), entire of order ½ in u². Its zeros
    u = iy solve y·cot(εy) = −½: then y² is an eigenvalue of w″ = −y²w on [0, ε], w(0) = 0, 2w′(ε) = −w(ε), a problem of
    Sturm and Liouville whose eigenvalues are real and positive. So the remark above applies, with D_1 = ε + e^{−ε} − 1,
    which is convex and 0 at ε = 0, hence superadditive: spreading the change over coordinates costs no more.
    """
    return _from_divergence(epsilon, lambda e: e + (-e).exp() - 1, epsilon)


def discrete_laplace_rho(scale: Fraction, epsilon: Fraction) -> Fraction:
    """Return the least ρ of integer noise P[x] ∝ e^{−|x|/s} shifted by k = εs steps: ε − (1−e^{−ε})/(s·sinh(1/s)).

    **Proof.** With x = u/s and λ = (1−c)/(1+c), c = tanh(1/(2s)), E[(P/Q)^α] is proportional to
    (sinh((k+1)x) − λ·sinh((k−1)x))/sinh(x), a polynomial of degree k in cosh(x). At x = iθ its numerator is
    (1−λ)·sin(kθ)cos(θ) + (1+λ)·cos(kθ)sin(θ), which changes sign between any two of θ = 0, π/k, 2π/k, …, π: so all k
    zeros are cos(θⱼ), and every factor cosh(x) − cos(θⱼ) has real negative zeros in x². The remark above applies, with
    D_1 as given, convex in k and 0 at 0.
    """

    def divergence(e: Decimal, s: Decimal) -> Decimal:
        step = 1 / s
        # x/sinh(x) ≥ 1 − x²/6, which is near enough where the quotient would lose its digits
        slope = 1 - step**2 / 6 if step < _SHORT else 2 * step / (step.exp() - (-step).exp())
        return e - (1 - (-e).exp()) * slope

    if scale < Fraction(1, _HUGE):
        return pure.rho(epsilon)
    return _from_divergence(epsilon, divergence, epsilon, scale)


def randomized_response_rho(epsilon: Fraction, categories: int) -> Fraction:
    """Return a ρ of k-ary randomized response: ε·(e^ε−1)/(e^ε+k−1) where (k−2)² ≤ 4e^ε, else that of any ε-DP event.

    **Proof.** E[(P/Q)^α] is proportional to cosh(uε) + (k−2)/(2e^{ε/2}); if the constant is at most 1, all zeros in u²
    are real and negative and the remark above applies, with D_1 as given.
    """
    others = categories - 2
    if others**2 > 4 * (1 + epsilon / 64) ** 64:  # (1 + ε/64)^64 ≤ e^ε
        return pure.rho(epsilon)
    return _from_divergence(epsilon, lambda e, k: e * (e.exp() - 1) / (e.exp() + k - 1), epsilon, Fraction(categories))


def _from_divergence(epsilon: Fraction, formula: Callable[..., Decimal], *values: Fraction) -> Fraction:
    """Return the divergence given by `formula`, or what any ε-DP event has where digits would be lost or overflow."""
    general = pure.rho(epsilon)
    if epsilon <= _TINY or epsilon > _HUGE:
        return general
    return min(general, decimal_rounded_up(formula, *values))


def bounded_range_rho(epsilon: Fraction) -> Fraction:
    """Return a ρ of an ε-bounded-range event: ε²/8 (Cesar, Rogers 2021, Lemma 3.2), or that of any ε-DP event."""
    return min(epsilon**2 / 8, pure.rho(epsilon))
