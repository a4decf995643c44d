"""Dominating pairs as laws of the privacy loss: shifted noise, finitely many atoms, bounded range.

Every class here keeps the `Pair` protocol of ``curve.py``: P and Q of the losses in given cells, from the nearer tail,
so that a mass of 1e-200 is as good as one of 0.2. `lattice` is a spacing on which a grid should lie (0 if none helps).

**Source**: Zhu, Dong, Wang 2022, *Optimal accounting of differential privacy via characteristic function*, Definition 7
(dominating pair) and Theorem 10 (pairs compose adaptively, factor by factor).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Protocol

import numpy as np
import scipy

from .curve import Floats

_EVERYWHERE = 37.0472  # −Φ⁻¹(1e-300), rounded up: no float64 tail that matters lies further out, in deviations


class Mirror(Protocol):
    """How the losses ℓ(x) and ℓ(−x) of a shifted noise hang together, for outputs x ≥ 0."""

    def reflected(self, loss: float) -> float:
        """Return ℓ(−x) where ℓ(x) is `loss`."""
        ...

    def unmixed(self, rate: Fraction, mixed: Floats) -> Floats:
        """Return ℓ(x) where ln(1 − q + q·e^ℓ(x)) − ln(1 − q + q·e^ℓ(−x)) is `mixed` ≥ 0, for a rate q < 1."""
        ...


@dataclass(frozen=True)
class Linear:
    """Gaussian noise: ℓ(x) = sx − c/2, so ℓ(−x) = −ℓ(x) − c, where c = Δ²/σ²."""

    square: float

    def reflected(self, loss: float) -> float:
        """Return −ℓ − c."""
        return -loss - self.square

    def unmixed(self, rate: Fraction, mixed: Floats) -> Floats:
        """Return ℓ by a quadratic equation for y = e^{sx}, whose root is y = e^{L/2 + asinh(S)}.

        From 1 − q + q·y·e^{−c/2} = e^L·(1 − q + q·e^{−c/2}/y) follows S = (1−q)/q·e^{c/2}·sinh(L/2).
        """
        half = self.square / 2
        with np.errstate(divide="ignore", over="ignore"):
            far = mixed / 2 + np.log1p(-np.exp(-mixed)) - math.log(2)
            log_sinh = np.where(mixed > 1, far, np.log(np.sinh(np.minimum(mixed, 1.0) / 2)))
            log_s = math.log(float(1 - rate)) - math.log(float(rate)) + half + log_sinh
            root = np.where(log_s > 30, log_s + math.log(2), np.arcsinh(np.exp(np.minimum(log_s, 30.0))))
        return np.asarray(mixed / 2 + root - half)


@dataclass(frozen=True)
class Flat:
    """Laplace noise: on its other side the loss is −ε everywhere."""

    epsilon: float

    def reflected(self, _loss: float) -> float:
        """Return −ε."""
        return -self.epsilon

    def unmixed(self, rate: Fraction, mixed: Floats) -> Floats:
        """Return ln(e^{−ε} + (e^L − 1)·w/q) with w = 1 − q + q·e^{−ε}; ε if it is that up to rounding errors."""
        share = float(1 - rate) + float(rate) * math.exp(-self.epsilon)
        with np.errstate(divide="ignore", over="ignore"):
            log_rise = np.where(mixed > 1, mixed + np.log1p(-np.exp(-mixed)), np.log(np.expm1(np.minimum(mixed, 1.0))))
            loss = np.logaddexp(-self.epsilon, log_rise + math.log(share) - math.log(float(rate)))
        return np.asarray(np.where(loss >= self.epsilon - 4e-16 * (1 + self.epsilon), self.epsilon, loss))


@dataclass(frozen=True)
class Shifted:
    """Symmetric log-concave noise, centred at `distance` (P) or at 0 (Q); the loss grows with the output.

    **Guarantee**: dominates the same noise on each coordinate of a vector that moves by at most `distance` in the
    1-norm. Proof: let G_a(x) be the power, at false positive rate x, of the best test between the noise and itself
    moved by a. Log-concavity makes every best test a threshold (randomized at an atom), so G_a ∘ G_b = G_{a+b}, for
    real shifts of continuous noise and for whole shifts of integer noise. Moving one coordinate after the other, a
    test between the first and the last of these laws has power at most G_{a₁} ∘ … ∘ G_{aₘ} = G_{a₁+…+aₘ} (Dong, Roth,
    Su 2022, Lemma A.5), and G grows with the distance.

    `cut` sends a loss to the greatest output with no greater loss, `tail` gives P[noise > x] for x ≥ 0. Integer noise
    is cut at half-integers, where no output lies. `mirror` knows the loss at the mirrored output.
    """

    distance: float
    cut: Callable[[Floats], Floats]
    tail: Callable[[Floats], Floats]
    bounds: Callable[[float], tuple[float, float]]
    mirror: Mirror
    lattice: float = 0.0

    def masses(self, edges: Floats) -> tuple[Floats, Floats]:
        """Return P and Q of each cell of losses."""
        outputs = self.cut(edges)
        return self.cells(outputs - self.distance), self.cells(outputs)

    def cells(self, outputs: Floats) -> Floats:
        """Return the noise's mass between consecutive outputs, by differences of the nearer tail."""
        near = self.tail(np.abs(outputs))
        below = outputs < 0
        signed = np.zeros(len(outputs) + 2)
        signed[1:-1] = np.where(below, near, -near)
        masses: Floats = signed[1:] - signed[:-1]
        masses[np.count_nonzero(below)] += 1.0  # the cell that holds the centre
        return np.maximum(masses, 0.0)

    def reach(self, tail: float) -> tuple[float, float]:
        """Return losses outside of which P is at most `tail`."""
        return self.bounds(tail)


def gaussian_pair(mu: float) -> Shifted:
    """Return the pair N(μ, 1), N(0, 1), for a vector that moves by at most μ standard deviations in the 2-norm.

    **Source**: Dong, Roth, Su 2022, Theorem 2.7; a rotation makes the move one coordinate's.
    """

    def bounds(tail: float) -> tuple[float, float]:
        spread = mu * -float(scipy.special.ndtri(max(tail / 2, 1e-300)))
        return mu * mu / 2 - spread, mu * mu / 2 + spread

    return Shifted(mu, lambda loss: loss / mu + mu / 2, lambda x: scipy.special.ndtr(-x), bounds, Linear(mu * mu))


def laplace_pair(epsilon: float) -> Shifted:
    """Return the pair of Laplace laws of scale 1 whose centres lie `epsilon` apart."""

    def cut(loss: Floats) -> Floats:
        inside = (loss + epsilon) / 2
        return np.where(loss >= epsilon, np.inf, np.where(loss < -epsilon, -np.inf, inside))

    return Shifted(epsilon, cut, lambda x: 0.5 * np.exp(-x), lambda _tail: (-epsilon, epsilon), Flat(epsilon), epsilon)


def discrete_laplace_pair(scale: float, distance: int) -> Shifted:
    """Return the pair of discrete Laplace laws, P[k] ∝ exp(−|k|/scale), whose centres lie `distance` apart."""
    epsilon = distance / scale
    ratio = math.exp(-1 / scale)

    def cut(loss: Floats) -> Floats:
        last = np.floor((scale * np.clip(loss, -epsilon, epsilon) + distance) / 2)
        inside = np.where(last >= distance, np.inf, last + 0.5)
        return np.where(loss >= epsilon, np.inf, np.where(loss < -epsilon, -np.inf, inside))

    def tail(half: Floats) -> Floats:
        return np.exp(-(half + 0.5) / scale) / (1 + ratio)

    return Shifted(float(distance), cut, tail, lambda _tail: (-epsilon, epsilon), Flat(epsilon), epsilon / distance)


def discrete_gaussian_pair(variance: float, distance: int) -> Shifted:
    """Return the pair of discrete Gaussians, P[k] ∝ exp(−k²/(2·variance)), whose centres lie `distance` apart."""
    sigma = math.sqrt(variance)

    def cut(loss: Floats) -> Floats:
        return np.floor(loss * (variance / distance) + distance / 2) + 0.5

    def bounds(tail: float) -> tuple[float, float]:
        # P[X ≥ m] ≤ P[N(0, variance) ≥ m − 1] (Canonne, Kamath, Steinke 2020, Proposition 25)
        spread = (-float(scipy.special.ndtri(max(tail / 2, 1e-300))) * sigma + 1) * distance / variance
        middle = distance * distance / (2 * variance)
        return middle - spread, middle + spread

    tails = _tabled_tail(sigma) if sigma < _SMALL else _smooth_tail(sigma)
    # losses are whole multiples of distance/variance, half of one aside if the distance is odd
    mirror = Linear(distance * distance / variance)
    return Shifted(float(distance), cut, tails, bounds, mirror, distance / variance / (1 + distance % 2))


_SMALL = 2048.0


def _tabled_tail(sigma: float) -> Callable[[Floats], Floats]:
    """Return k + ½ ↦ P[X > k] of a discrete Gaussian, summed from the far end so that every tail keeps its digits."""
    last = math.ceil(_EVERYWHERE * sigma) + 2
    weights = np.exp(-0.5 * (np.arange(last, -1, -1) / sigma) ** 2)
    sums = np.cumsum(weights)[::-1]
    above = np.append(sums[1:], 0.0) / (2 * sums[0] - 1)

    def tail(half: Floats) -> Floats:
        found: Floats = above[np.minimum(half, last).astype(np.int64)]
        return found

    return tail


def _smooth_tail(sigma: float) -> Callable[[Floats], Floats]:
    """Return k + ½ ↦ P[X > k] of a wide discrete Gaussian by the Euler–Maclaurin formula at half-integers.

    Σ_{k>a} f(k) = ∫_a f + f'(a)/24 − 7f'''(a)/5760 + …; the next term is below 1e-15 of the tail for σ ≥ 2048 out to 37
    standard deviations, and the normalizer is σ√(2π)·(1 + 2exp(−2π²σ²) + …), which is σ√(2π) in float64.
    """

    def tail(half: Floats) -> Floats:
        z = np.minimum(half / sigma, 60.0)
        density = np.exp(-0.5 * z * z) / math.sqrt(2 * math.pi)
        corrections = -z / (24 * sigma**2) - 7 * (3 * z - z**3) / (5760 * sigma**4)
        result: Floats = np.maximum(scipy.special.ndtr(-z) + density * corrections, 0.0)
        return result

    return tail


@dataclass(frozen=True)
class Atoms:
    """Finitely many losses, ascending, with P and Q of each; a loss may be −∞ (P is 0 there) or +∞ (Q is 0 there)."""

    losses: Floats
    p: Floats
    q: Floats
    lattice: float = 0.0

    def masses(self, edges: Floats) -> tuple[Floats, Floats]:
        """Return P and Q of each cell of losses."""
        size = len(edges) + 1
        cell = np.where(self.losses == np.inf, size - 1, np.searchsorted(edges, self.losses, side="left"))
        p, q = (np.bincount(cell, side, size).astype(np.float64) for side in (self.p, self.q))
        return p, q

    def reach(self, _tail: float) -> tuple[float, float]:
        """Return the least and the greatest finite loss."""
        finite = self.losses[np.isfinite(self.losses)]
        return float(finite[0]), float(finite[-1])


def claimed_pair(epsilon: float, delta: float | Fraction = 0.0) -> Atoms:
    """Return a pair that dominates everything that is (ε, δ)-differentially private.

    **Source**: Kairouz, Oh, Viswanath 2015: each such mechanism is a post-processing of this one.
    """
    losses = np.array([-np.inf, -epsilon, epsilon, np.inf])
    kept, lost = float(1 - delta), float(delta)
    high = kept / (1 + math.exp(-epsilon))
    low = kept * math.exp(-epsilon) / (1 + math.exp(-epsilon))
    return Atoms(losses, np.array([0.0, low, high, lost]), np.array([lost, high, low, 0.0]), epsilon)


def response_pair(epsilon: float, categories: int) -> Atoms:
    """Return the pair of randomized response over `categories` values: the own value, the other's, all the rest."""
    odds = math.exp(-epsilon)
    own = 1 / (1 + (categories - 1) * odds)
    other = own * odds
    rest = (categories - 2) * other
    return Atoms(
        np.array([-epsilon, 0.0, epsilon]), np.array([other, rest, own]), np.array([own, rest, other]), epsilon
    )


@dataclass(frozen=True)
class BoundedRange:
    """A pair that dominates every mechanism of ε-bounded range (the exponential mechanism among them).

    **Proof**: on a pair of neighbours all losses lie in [t − ε, t] for some t in [0, ε] (Durfee, Rogers 2019). Among
    such pairs the one with the two losses t and t − ε dominates (spread each loss to the ends, keeping P and Q), and
    at order x its hockey-stick divergence is (1 − e^{x−t})(1 − e^{t−ε})/(1 − e^{−ε}) (Dong, Durfee, Rogers 2020). The
    maximum over t, at t = (x + ε)/2, is δ(x) = (1 − e^{(x−ε)/2})²/(1 − e^{−ε}) for |x| ≤ ε. It is convex and decreasing
    in e^x and meets 1 − e^x at x = −ε, so a pair has it as profile: Q[L > x] = −dδ/de^x, P[L > x] = δ + e^x·Q[L > x].
    """

    epsilon: float
    lattice: float = 0.0

    def masses(self, edges: Floats) -> tuple[Floats, Floats]:
        """Return P and Q of each cell of losses."""
        inside = np.concatenate(([-self.epsilon], np.clip(edges, -self.epsilon, self.epsilon), [self.epsilon]))
        halves = np.diff(inside) / 2
        total = -math.expm1(-self.epsilon)
        p = np.exp((inside[1:] - self.epsilon) / 2) * -np.expm1(-halves) / total
        q = np.exp(-(inside[:-1] + self.epsilon) / 2) * -np.expm1(-halves) / total
        return p, q

    def reach(self, _tail: float) -> tuple[float, float]:
        """Return the least and the greatest loss."""
        return -self.epsilon, self.epsilon
