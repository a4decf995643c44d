"""What sampling does to a dominating pair: Poisson sampling under add/remove and replace-one, fixed-size sampling.

**Source**: Zhu, Dong, Wang 2022, Theorem 11; Balle, Barthe, Gaboardi 2018, Theorem 2 (advanced joint
convexity). Throughout q is the sampling rate and ℓ a loss of the pair (P, Q) of what is run on the sample.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from .curve import Floats, Pair
from .pair import Atoms, Flat, Shifted

_OVERFLOWING = 700.0  # an exponent

Rate = float | Fraction
"""A sampling rate; exact near 1, where the share that is left out has digits of its own."""


def _log_mixed(rate: Rate, loss: float) -> float:
    """Return ln(1 − q + q·e^ℓ)."""
    if loss > _OVERFLOWING:
        return loss + math.log(float(rate) + float(1 - rate) * math.exp(-loss))
    change = float(rate) * math.expm1(loss)
    return math.log1p(change) if change > -0.5 else math.log(float(1 - rate) + float(rate) * math.exp(loss))


@dataclass(frozen=True)
class Removed:
    """The pair ((1−q)Q + qP, Q): one unit is in the data (it is sampled with probability q), or is not.

    **Guarantee**: dominates the Poisson-sampled mechanism from data with the unit to data without it, if (P, Q) does so
    for what is run on the sample. Its losses are ln(1 − q + q·e^ℓ). Poisson sampling of the others is shared by both
    sides, and the hockey-stick divergence is jointly convex, so the worst case is a fixed sample of the others.
    """

    unsampled: Pair
    rate: Rate
    lattice: float = 0.0

    def masses(self, edges: Floats) -> tuple[Floats, Floats]:
        """Return P and Q of each cell of losses."""
        rate, rest, least = float(self.rate), float(1 - self.rate), _log_mixed(self.rate, -math.inf)
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            near = np.log1p(np.maximum(np.expm1(edges) / rate, -1.0))
            far = edges + np.log1p(-rest * np.exp(-edges)) - math.log(rate)
        p, q = self.unsampled.masses(np.where(edges > 1, far, near))
        # outcomes that only Q has (loss −∞) keep a finite loss, ln(1−q), once sampled
        only_q = float(self.unsampled.masses(np.array([-np.inf]))[1][0])
        q[0] -= only_q
        q[np.searchsorted(edges, least)] += only_q
        return rest * q + rate * p, q

    def reach(self, tail: float) -> tuple[float, float]:
        """Return losses outside of which P is at most `tail`; above 0, Q is below P."""
        high = max(self.unsampled.reach(tail)[1], 0.0)
        return _log_mixed(self.rate, -math.inf), _log_mixed(self.rate, high)


@dataclass(frozen=True)
class Added:
    """The pair (P, (1−q)P + qQ): one unit is not in the data, or is in it and sampled with probability q.

    **Guarantee**: dominates the Poisson-sampled mechanism from data without the unit to data with it, if (P, Q) does so
    for what is run on the sample. Its losses are −ln(1 − q + q·e^{−ℓ}).
    """

    unsampled: Pair
    rate: Rate
    lattice: float = 0.0

    def masses(self, edges: Floats) -> tuple[Floats, Floats]:
        """Return P and Q of each cell of losses."""
        rate, rest, most = float(self.rate), float(1 - self.rate), -_log_mixed(self.rate, -math.inf)
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            near = -np.log1p(np.maximum(np.expm1(-edges) / rate, -1.0))
            far = edges - np.log1p(-rest * np.exp(edges)) + math.log(rate)
        p, q = self.unsampled.masses(np.where(edges < -1, far, near))
        # outcomes that only P has (loss +∞) are not that telling any more: their loss becomes −ln(1−q)
        only_p = float(self.unsampled.masses(np.array([np.inf]))[0][-1])
        p[-1] -= only_p
        p[np.searchsorted(edges, most)] += only_p
        return p, rest * p + rate * q

    def reach(self, tail: float) -> tuple[float, float]:
        """Return losses outside of which P is at most `tail`; what only P has counts among the finite losses here."""
        low, high = self.unsampled.reach(tail / 2)
        low, high = min(low, 0.0), max(high, 0.0)
        rate, rest = float(self.rate), float(1 - self.rate)
        if float(self.unsampled.masses(np.array([np.inf]))[0][-1]) > tail / 2:
            high = math.inf
        return low - math.log(rate + rest * math.exp(low)), -_log_mixed(self.rate, -high)


@dataclass(frozen=True)
class FixedSize:
    """Fixed-size sampling under replace-one, from a pair (P, Q) that dominates both orders of neighbours.

    **Guarantee**: let A = (1−q)Q + qP. At orders α ≥ 1 the profile is that of (A, Q); below 1 it is its mirror image.
    **Proof**: the sampled mechanism's outputs on neighbours are (1−q)μ + qν and (1−q)μ + qν', where μ (the unit is not
    in the sample), ν and ν' are pairwise couplings of replace-one neighbours, since all samples have one size. For
    α' = 1 + q(α−1) ≥ 1, advanced joint convexity gives H_α' ≤ q·max(H_α(ν‖μ), H_α(ν‖ν')) ≤ q·H_α(P‖Q) = H_α'(A‖Q).
    Orders below 1 follow from H_α(M‖M') = 1 − α + α·H_{1/α}(M'‖M), because neighbours may be exchanged. Both branches
    together are convex: with S = {ℓ > 0} the slopes at 1 are in order iff A(S) + Q(S) ≤ 1, and symmetry of (P, Q) gives
    P(S) + Q(S) ≤ 1 ≥ 2Q(S). So it is the profile of a pair: A and Q on positive losses, the same two exchanged on the
    mirrored negative ones, and what is left, 1 − A(S) − Q(S) for both, at loss 0.
    """

    removed: Removed
    lattice: float = 0.0

    def masses(self, edges: Floats) -> tuple[Floats, Floats]:
        """Return P and Q of each cell of losses."""
        upper = np.concatenate(([0.0], np.maximum(edges, 0.0)))
        # a cell (a, b] below zero mirrors [−b, −a), which is (pred −b, pred −a] in floats
        mirrored = np.where(edges < 0, np.nextafter(-edges, 0.0), 0.0)[::-1]
        up_p, up_q = (side[1:] for side in self.removed.masses(upper))
        down_q, down_p = (side[:0:-1] for side in self.removed.masses(np.concatenate(([0.0], mirrored))))
        p, q = up_p + down_p, up_q + down_q
        rest = max(1 - float(np.sum(up_p) + np.sum(up_q)), 0.0)
        middle = np.searchsorted(edges, 0.0)
        p[middle] += rest
        q[middle] += rest
        return p, q

    def reach(self, tail: float) -> tuple[float, float]:
        """Return losses outside of which P is at most `tail`; the mirrored side has no more mass than this one."""
        high = self.removed.reach(tail)[1]
        return -high, high


@dataclass(frozen=True)
class Swapped:
    """The pair ((1−q)N(0) + qN(Δ), (1−q)N(0) + qN(−Δ)) of shifted noise: Poisson sampling under replace-one.

    **Guarantee**: dominates, in both orders, noise on a Poisson sample where one unit is replaced (proof in
    ``sampled_replaced.py``). The loss is odd in the output and grows with it.
    """

    noise: Shifted
    rate: Fraction

    def masses(self, edges: Floats) -> tuple[Floats, Floats]:
        """Return P and Q of each cell of losses."""
        below = edges < 0
        # a loss of at most e < 0 mirrors one of at least −e, so of more than what comes before −e in floats
        mixed = np.where(below, np.nextafter(-edges, 0.0), edges)
        with np.errstate(over="ignore"):  # an edge of −∞ mirrors the largest float
            outputs = self.noise.cut(self.noise.mirror.unmixed(self.rate, mixed))
        outputs = np.where(below, -outputs, outputs)
        rate, rest = float(self.rate), float(1 - self.rate)
        shared = rest * self.noise.cells(outputs)
        distance = self.noise.distance
        p, q = self.noise.cells(outputs - distance), self.noise.cells(outputs + distance)
        return shared + rate * p, shared + rate * q

    @property
    def lattice(self) -> float:
        """The greatest loss where it has a mass of its own (Laplace noise), else 0."""
        return self.reach(0.0)[1] if isinstance(self.noise.mirror, Flat) else 0.0

    def reach(self, tail: float) -> tuple[float, float]:
        """Return losses outside of which P is at most `tail`: the noise at Δ has more above than the noise at 0."""
        high = max(self.noise.reach(tail)[1], 0.0)
        most = _log_mixed(self.rate, high) - _log_mixed(self.rate, self.noise.mirror.reflected(high))
        return -most, most


def swapped_claim(epsilon: float, rate: Fraction, delta: Fraction = Fraction(0)) -> Atoms:
    """Return the pair of anything (ε, δ)-private on a Poisson sample under replace-one: at most seven losses.

    **Proof** in ``sampled_replaced.py``, with G(c) = min(δ + e^ε·c, 1 − e^{−ε}(1−δ−c), 1). Its slope is e^ε up to
    (1−δ)/(1+e^ε), then e^{−ε}, and 0 from 1−δ on; what V shows of itself alone has probability qδ.
    """
    failing, steep = float(delta), float(1 - delta) / (1 + math.exp(epsilon))
    ends = np.unique(np.clip([0.0, failing, steep, float(1 - delta), 0.5], 0.0, 0.5))
    share, middle = np.diff(ends), ends[:-1] + np.diff(ends) / 2
    slope = np.where(middle < steep, epsilon, np.where(middle < float(1 - delta), -epsilon, -np.inf))
    up, down = (_log_mixed_all(rate, losses) for losses in (slope, np.where(middle < failing, -np.inf, -epsilon)))
    usual = _log_mixed(rate, epsilon) - _log_mixed(rate, -epsilon)
    return _mirrored(up - down, share * np.exp(up), share * np.exp(down), float(rate * delta), usual)


_CELLS = 2048


def swapped_range(epsilon: float, rate: Fraction) -> Atoms:
    """Return a pair that dominates anything of ε-bounded range on a Poisson sample under replace-one.

    **Proof** in ``sampled_replaced.py``, with the power of `pair.BoundedRange`, G(c) = e^ε·c/(1 + c(e^ε − 1)). False
    positive rates are cut into cells, and each cell's losses are spread to its ends, keeping P and Q.
    """
    rise = math.expm1(epsilon)
    c = np.expm1(np.linspace(0.0, math.log1p(rise / 2), _CELLS + 1)) / rise  # 0 … ½
    near, far = 1 + c * rise, 1 + (1 - c) * rise
    share = np.diff(c)
    steep, flat = (math.exp(epsilon) / (z[1:] * z[:-1]) for z in (near, far))
    p, q = (share * (float(1 - rate) + float(rate) * slope) for slope in (steep, flat))
    losses = _log_mixed_all(rate, epsilon - 2 * np.log(near)) - _log_mixed_all(rate, epsilon - 2 * np.log(far))
    high, low = losses[:-1], losses[1:]
    mean = np.log1p(float(rate) * share * (steep - flat) / q)
    with np.errstate(divide="ignore", invalid="ignore"):  # where rounding has made both ends one
        upper = np.where(high > low, np.clip(p * np.expm1(low - mean) / np.expm1(low - high), 0.0, p), p)
    upper_q = upper * np.exp(-high)
    apart = np.concatenate((high, low)), np.concatenate((upper, p - upper)), np.concatenate((upper_q, q - upper_q))
    return _mirrored(*apart, 0.0, 0.0)


def _log_mixed_all(rate: Rate, losses: Floats) -> Floats:
    return np.array([_log_mixed(rate, float(loss)) for loss in losses])


def _mirrored(losses: Floats, p: Floats, q: Floats, only: float, lattice: float) -> Atoms:
    """Return these losses, one of +∞ that has P = `only`, and the same mirrored with P and Q exchanged."""
    losses, p, q = (np.append(values, last) for values, last in ((losses, np.inf), (p, only), (q, 0.0)))
    order = np.argsort(losses)
    first, second, third = losses[order], p[order], q[order]
    whole = np.concatenate((-first[::-1], first))
    return Atoms(whole, np.concatenate((third[::-1], second)), np.concatenate((second[::-1], third)), lattice)
