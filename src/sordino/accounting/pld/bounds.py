"""δ(ε) and ε(δ) of a composed loss, from above and from below, read off a tilted law on a window.

Under the tilt λ, P of the index k is e^{K − λx}·m(k), where x = step·k, m is the tilted law and K its cumulant. Weights
are kept relative to a loss `origin` close to the answer, so nothing overflows.

**Guarantee**: `Upper` is never below and `Lower` never above the true curve. A weighted sum of the law's entries is off
by at most the 2-norm of the errors (see ``pld_compose.py``) times that of the weights (Cauchy–Schwarz), and enters with
that in the unfavourable direction; what the window misses or wraps likewise; K with an
allowance of 1e-14 for each factor, for the rounding of its masses: they are differences of tails accurate to a few
units of roundoff, so (summation by parts) each factor's tilted mass is as accurate as those. Each
factor's losses are off by a few units of roundoff, too; `blur` bounds the sum, and ε is read that far off.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from sordino.accounting.curve import Floats

from .compose import Composed

_ALLOWANCE = 1e-14
_SUMMATION = 4e-16  # for each term of a running sum
_STEEPEST = 300.0  # the largest exponent of a weight; the window's left end is cut off where it would be exceeded
_FAINTEST = 700.0
_UNDERFLOW = 1e-290


@dataclass(frozen=True)
class Tilted:
    """A composed law with what is needed to untilt it.

    `infinite` is P of the loss +∞; `blur` bounds how far off the composed losses are.
    """

    law: Composed
    tilt: float
    step: float
    log_mass: float
    factors: int
    infinite: float
    origin: float
    blur: float

    def losses(self, steepness: float) -> Floats:
        """Return the losses of the window, without a left end where weights e^{−steepness·loss} would overflow."""
        window = self.law.window
        losses: Floats = self.step * np.arange(window.first, window.first + window.size, dtype=np.float64)
        kept = steepness * (self.origin - losses) <= _STEEPEST
        return losses[kept]

    def log_scale(self, direction: int) -> float:
        """Return ln P at the origin for a tilted mass of 1, rounded up or down by all that can be off."""
        shift = self.tilt * self.origin
        return self.log_mass - shift + direction * _ALLOWANCE * (1 + self.factors + abs(self.log_mass) + abs(shift))


class Upper:
    """The pessimistic curve: losses on the grid, P from above, Q as the losses say."""

    def __init__(self, tilted: Tilted) -> None:
        law, tilt = tilted.law, tilted.tilt
        self.losses = tilted.losses(tilt)
        self.origin, self.scale, self.blur = tilted.origin, tilted.log_scale(1), tilted.blur
        away = self.losses - self.origin
        weights = np.exp(-tilt * away)
        masses = weights * np.maximum(law.masses[-len(self.losses) :], 0.0)
        # the weights of δ are at most those of P alone
        self.p = _tails(masses) * (1 + _SUMMATION * (len(weights) + 64)) + law.error * _norms(
            weights, tilt * tilted.step
        )
        # Q of what lies far to the left may be taken for less than it is
        self.q = _tails(masses * np.exp(np.minimum(-away, _STEEPEST)))
        end = away[-1] + tilted.step
        # weights of the far right may underflow; all of them together are below this
        lost = math.exp(min(self.scale - _FAINTEST, 0.0)) if tilt * end > _FAINTEST else 0.0
        self.infinite = (
            tilted.infinite * (1 + _ALLOWANCE) + lost + math.exp(min(self.scale - tilt * end + law.log_beyond, 0.0))
        )
        cut = len(self.losses) < law.window.size
        self.complete = not cut and math.isinf(law.log_before)

    def delta(self, epsilon: float) -> float:
        """Return a δ not below the true δ(ε)."""
        epsilon -= self.blur
        if epsilon < self.losses[0] and not self.complete:
            return 1.0
        first = int(np.searchsorted(self.losses, epsilon, side="right"))
        finite = self.p[first] - _times_exp(self.q[first], epsilon - self.origin)
        return min(1.0, self.infinite + float(_times_exp(max(float(finite), 0.0), self.scale)))

    def epsilon(self, delta: float) -> float:
        """Return an ε not below the true ε(δ)."""
        return self._crossing(delta) + self.blur

    def _crossing(self, delta: float) -> float:
        """Return where the curve falls to `delta`."""
        if delta <= self.infinite:
            return math.inf
        target = _times_exp(delta - self.infinite, -self.scale)
        at_grid = self.p[1:] - _times_exp(self.q[1:], self.losses - self.origin)
        last = int(np.argmax(at_grid <= target))
        top = float(self.losses[last])
        if last == 0 and not self.complete:
            return top
        rest, against = float(self.p[last]) - target, float(self.q[last])
        if against < _UNDERFLOW or rest <= 0:
            return top
        return min(top, self.origin + math.log(rest / against))


class Lower:
    """The optimistic curve: the best test that knows each part's rounded loss and rejects where their sum is large.

    Whatever the test, δ(ε) ≥ P[reject] − e^ε·Q[reject]; so no property of the rounded losses is needed. It also rejects
    where a part's loss is +∞, which never happens under Q.
    """

    def __init__(self, by_p: Tilted, by_q: Tilted) -> None:
        losses = by_p.losses(by_p.tilt + 1)
        self.origin, self.blur, tilt = by_p.origin, by_p.blur, by_p.tilt
        away = losses - self.origin
        rounding = _SUMMATION * (len(losses) + 64)
        strays = by_p.law.strays(np.arange(by_p.law.window.size - len(losses), by_p.law.window.size, dtype=np.float64))
        weights = np.exp(-tilt * away)
        p = _tails(weights * np.maximum(by_p.law.masses[-len(losses) :], 0.0)) * (1 - rounding)
        p = (p - by_p.law.error * _norms(weights, tilt * by_p.step))[:-1]
        against = weights * np.exp(-away)
        q = _tails(against * np.maximum(by_q.law.masses[-len(losses) :], 0.0)) * (1 + rounding)
        q = (q + by_q.law.error * _norms(against, (tilt + 1) * by_q.step))[:-1]
        beyond = math.exp(min(by_q.law.log_beyond - (tilt + 1) * (away[-1] + by_q.step), 600.0))
        self.infinite = by_p.infinite * (1 - _ALLOWANCE)
        surely = np.maximum(p - weights * strays, 0.0)
        self.p = self.infinite + np.minimum(_times_exp(surely, by_p.log_scale(-1)), 1.0)
        with np.errstate(divide="ignore"):
            self.log_q = np.where(q > _UNDERFLOW, by_q.log_scale(1) + np.log(q + beyond), np.inf)

    def delta(self, epsilon: float) -> float:
        """Return a δ not above the true δ(ε)."""
        against = np.exp(np.minimum(self.log_q + (epsilon + self.blur - self.origin), 1.0))
        return max(self.infinite, float(np.max(self.p - against)))

    def epsilon(self, delta: float) -> float:
        """Return an ε not above the true ε(δ), or −∞ where no test finds any."""
        if self.infinite > delta * (1 + _ALLOWANCE):
            return math.inf
        with np.errstate(divide="ignore"):
            tests = np.log(np.maximum(self.p - delta, 0.0)) - self.log_q
        return self.origin - self.blur + float(np.max(tests))


def _tails(weights: Floats) -> Floats:
    """Return the sums from each entry to the end, and the empty sum."""
    return np.append(np.cumsum(weights[::-1])[::-1], 0.0)


def _norms(weights: Floats, decay: float) -> Floats:
    """Return the 2-norms, from each entry to the end and of none, of weights that fall by e^{−decay} an entry.

    The geometric series is summed in closed form: squares of weights that count may underflow.
    """
    terms = np.arange(len(weights), 0, -1, dtype=np.float64)
    # the factor covers the rounding of the weights' exponents, which are below 10⁹
    series = -np.expm1(-2 * decay * terms) / -math.expm1(-2 * decay) if decay > 0 else terms
    return np.append(weights * np.sqrt(np.minimum(series, terms)) * (1 + 1e-6), 0.0)


def _times_exp(value: Floats | float, exponent: Floats | float) -> Floats:
    """Return value·e^exponent for a value that may be tiny where the exponent is large."""
    with np.errstate(divide="ignore", over="ignore"):
        product: Floats = np.exp(np.log(value) + exponent)
    return product
