"""A rough picture of a composed privacy loss: enough to choose tilt, window and grid, never part of an answer.

The loss L of each part is kept in a few hundred cells, and the cumulant K(λ) = ln E_P[e^{λL}] of the composition is
tabled. Everything that is chosen follows from it by Chernoff's bound. A bad sketch costs width or time; what the
calculus answers is proven from the fine grid alone.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sordino.accounting.curve import Floats, Pair

_CELLS = 120_000  # for all parts together
_FARTHEST = 1e-300
_NOTHING = -690.0  # ln of a δ that float64 cannot tell from 0
_STRAY = math.log(1e-10)  # of the tilted law: what the window may miss
_GRID = 4e-4  # of ε: about what the grid adds to the variance, times slope + 1
_STEEPEST = 1e8  # of a typical loss times a tilt
_SLACK = 3.0  # how much smaller than at the saddle point (in ln) the tail may be relative to the tilted law


@dataclass(frozen=True)
class Part:
    """A pair that is composed `count` times with itself."""

    pair: Pair
    count: int


@dataclass(frozen=True)
class Focus:
    """Where to look: the tilt of all laws, a window of composed losses, and what the answer is about.

    `slope` is about −d ln δ/dε at the answer. `left` and `right` are further tilts by which Chernoff's bound shows that
    little lies outside of the window.
    """

    tilt: float
    low: float
    high: float
    left: float
    right: float
    epsilon: float
    log_delta: float
    slope: float


class Sketch:
    """Rows are parts, columns are cells of the loss in ascending order."""

    def __init__(self, parts: Sequence[Part]) -> None:
        columns = int(np.clip(_CELLS // len(parts), 24, 800))
        fifth = columns // 5
        fine, even = np.geomspace(1e-7, 1.0, fifth), np.linspace(0.0, 1.0, columns - 4 * fifth)
        rows = [_cells(part.pair, fine, even) for part in parts]
        self.counts = np.array([float(part.count) for part in parts])
        self.losses = np.array([losses for losses, _ in rows])
        self.log_masses = np.array([logs for _, logs in rows])
        _, weights = self._tilted(0.0)
        means = np.sum(weights * self.losses, axis=1, keepdims=True)
        spread = math.sqrt(float(self.counts @ np.sum(weights * (self.losses - means) ** 2, axis=1))) or 1.0
        self.tilts = self._tilts(spread, float(self.counts @ np.sum(weights * np.abs(self.losses), axis=1)))
        self.cumulants = self._cumulants(self.tilts)

    def _tilts(self, spread: float, typical: float) -> Floats:
        """Return tilts for a law of the given standard deviation and mean absolute loss.

        Where nearly all of the law is one atom, its deviation tells nothing, and exponents must keep their digits;
        where rare losses are far larger than all others, tilts as small as these call for are needed, too.
        """
        top = min(3e4 / spread, _STEEPEST / max(typical, 1e-300))
        bottom = min(1e-7 * top, 0.01 / max(float(np.max(np.abs(self.losses))), 1e-300))
        positive = np.geomspace(bottom, top, math.ceil(8 * math.log10(top / bottom)))
        return np.concatenate((-positive[positive < 0.01 * top][::-2], [0.0], positive))

    def _cumulants(self, tilts: Floats) -> Floats:
        return np.array([float(self.counts @ self._tilted(float(tilt))[0]) for tilt in tilts])

    def _refine(self, index: int) -> None:
        """Add tilts to the table about the one given."""
        more = np.linspace(self.tilts[index - 1], self.tilts[min(index + 1, len(self.tilts) - 1)], 18)[1:-1]
        tilts = np.concatenate((self.tilts, more))
        order = np.argsort(tilts)
        self.tilts, self.cumulants = tilts[order], np.concatenate((self.cumulants, self._cumulants(more)))[order]

    def _tilted(self, tilt: float) -> tuple[Floats, Floats]:
        exponents = self.log_masses + tilt * self.losses
        peaks = np.max(exponents, axis=1, keepdims=True)
        weights = np.exp(exponents - peaks)
        sums = np.sum(weights, axis=1, keepdims=True)
        return (peaks + np.log(sums))[:, 0], weights / sums

    def lows(self, tilt: float, share: float) -> Floats:
        """Return for each part a loss to which all lower ones may be raised, for at most `share` of the tilted law."""
        logs, _ = self._tilted(tilt)
        with np.errstate(divide="ignore"):
            raised = np.log(np.cumsum(np.exp(self.log_masses), axis=1)) + tilt * self.losses - logs[:, None]
        first = np.argmax(raised > math.log(share), axis=1)
        lows: Floats = self.losses[np.arange(len(first)), np.maximum(first - 1, 0)]
        return lows

    def for_delta(self, delta: float) -> Focus:
        """Return the focus for the question at which ε the curve falls to `delta`."""
        for refine in (True, False):
            epsilons = (self._moments() - math.log(delta)) / np.maximum(self.tilts, 1e-30)
            best = int(np.argmin(np.where(self.tilts > 0, epsilons, np.inf)))
            if refine:
                self._refine(best)
        return self._focus(max(float(epsilons[best]), 0.0), math.log(delta), float(self.tilts[best]))

    def for_epsilon(self, epsilon: float) -> Focus:
        """Return the focus for the question what δ is at `epsilon`."""
        for refine in (True, False):
            # what float64 cannot tell from 0 needs no better proof
            deltas = np.maximum(self._moments() - self.tilts * epsilon, _NOTHING)
            best = int(np.argmin(np.where(self.tilts > 0, deltas, np.inf)))
            if refine:
                self._refine(best)
        return self._focus(epsilon, min(float(deltas[best]), -1e-3), float(self.tilts[best]))

    def _moments(self) -> Floats:
        """Return bounds on ln δ(ε) + λε at positive tilts λ (Canonne, Kamath, Steinke 2020, Proposition 12)."""
        tilts = np.maximum(self.tilts, 1e-30)
        bounds: Floats = self.cumulants + tilts * np.log(tilts / (1 + tilts)) - np.log1p(tilts)
        return bounds

    def _focus(self, epsilon: float, log_delta: float, slope: float) -> Focus:
        """Return the tilt with the narrowest window among those that keep the tail in sight of the tilted law."""
        depth = self.cumulants - self.tilts * epsilon
        possible = (self.tilts >= 0) & (self.tilts <= slope) & (self.tilts < self.tilts[-1])
        admitted = np.flatnonzero(possible & (depth <= np.min(depth[possible]) + _SLACK))
        candidates = []
        for index in map(int, admitted):
            low, left = self._left_end(index)
            low = min(low, epsilon)
            high, right = self._right_end(index, log_delta, epsilon - low, _GRID * max(epsilon, 1e-3) / (slope + 1))
            candidates.append((high - low, float(self.tilts[index]), low, max(high, epsilon), left, right))
        _, tilt, low, high, left, right = min(candidates)
        return Focus(tilt, low, high, left, right, epsilon, log_delta, slope)

    def _left_end(self, index: int) -> tuple[float, float]:
        """Return the left end of a window for a tilt, and the lesser tilt that proves it."""
        lesser = self.tilts[:index]
        ends = (_STRAY + self.cumulants[index] - self.cumulants[:index]) / (self.tilts[index] - lesser)
        best = int(np.argmax(ends))
        return float(ends[best]), float(lesser[best])

    def _right_end(self, index: int, log_delta: float, margin: float, variance: float) -> tuple[float, float]:
        """Return the right end of a window for a tilt, and the greater tilt that proves it.

        What lies beyond it is small against δ, and what lies by `margin` beyond it (it would wrap around to the right
        of ε) is small against the tilted law. `variance` is what the grid will add to that of the loss.
        """
        greater = self.tilts[index + 1 :]
        values = self.cumulants[index + 1 :] + variance * greater * (greater + 1) / 2
        by_delta = (values - log_delta - _STRAY) / greater
        by_law = (values - self.cumulants[index] - _STRAY) / (greater - self.tilts[index]) - margin
        ends = np.maximum(by_delta, by_law)
        best = int(np.argmin(ends))
        return float(ends[best]), float(greater[best])


def _cells(pair: Pair, fine: Floats, even: Floats) -> tuple[Floats, Floats]:
    """Return cell losses and log masses of P: even cells over the whole reach, finer ones towards 0 and its ends."""
    low, high = pair.reach(_FARTHEST)
    width = high - low
    ends = (low + width * fine, high - width * fine)
    edges = np.sort(np.concatenate((min(low, 0) * fine, max(high, 0) * fine, *ends, low + width * even)))
    # an atom at the end may lie beyond it by a rounding error; what is infinite is left out
    p, q = (side[:-1] for side in pair.masses(np.append(edges, np.inf)))
    edges = np.append(edges, edges[-1])
    with np.errstate(divide="ignore", invalid="ignore"):
        logs = np.log(p)
        ratio = logs - np.log(q)
    lower = np.concatenate((edges[:1], edges[:-1]))
    losses: Floats = np.minimum(np.maximum(np.where(np.isfinite(ratio), ratio, edges), lower), edges)
    return losses, logs
