"""The dominating pair of a mixture of Gaussians against one of them: centres by chance, all moved the same way.

Both laws are continuous and the loss, ln Σ wᵢ·exp(x·dᵢ − dᵢ²/2), is convex and grows with the output, since all dᵢ are
positive; a centre at 0 is left to `Removed` and `Added`, which mix it in.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy

from .curve import Floats
from .pair import Shifted, gaussian_pair

_ROUNDS = 60
_CLOSE = 4e-16


@dataclass(frozen=True)
class Mixed:
    """The pair (Σ wᵢ·N(dᵢ, 1), N(0, 1)), in standard deviations, 0 < d₁ < d₂ < …"""

    weights: Sequence[float]
    distances: Sequence[float]
    lattice: float = 0.0

    @cached_property
    def _noise(self) -> Shifted:
        return gaussian_pair(1.0)

    def _losses(self, outputs: Floats) -> tuple[Floats, Floats]:
        """Return the loss at each output, and its slope."""
        distances = np.asarray(self.distances)
        exponents = np.log(self.weights) - distances**2 / 2 + np.multiply.outer(outputs, distances)
        peaks = np.max(exponents, axis=-1, keepdims=True)
        shares = np.exp(exponents - peaks)
        total = np.sum(shares, axis=-1)
        return peaks[..., 0] + np.log(total), shares @ distances / total

    def _outputs(self, losses: Floats) -> Floats:
        """Return the output of each loss, by Newton's method from above: on a convex function it stays above."""
        finite = np.isfinite(losses)
        aims = losses[finite]
        found = np.full_like(aims, np.inf)
        for weight, distance in zip(self.weights, self.distances, strict=True):
            found = np.minimum(found, (aims - math.log(weight)) / distance + distance / 2)
        for _ in range(_ROUNDS):
            loss, slope = self._losses(found)
            step = np.maximum((loss - aims) / slope, 0.0)
            found = found - step
            if np.all(step <= _CLOSE * (1 + np.abs(found))):
                break
        outputs = losses.copy()
        outputs[finite] = found
        return outputs

    def masses(self, edges: Floats) -> tuple[Floats, Floats]:
        """Return P and Q of each cell of losses."""
        outputs = self._outputs(edges)
        p = np.zeros(len(edges) + 1)
        for weight, distance in zip(self.weights, self.distances, strict=True):
            p += weight * self._noise.cells(outputs - distance)
        return p, self._noise.cells(outputs)

    def reach(self, tail: float) -> tuple[float, float]:
        """Return losses outside of which P is at most `tail`: its centres lie between the first and the last."""
        spread = -float(scipy.special.ndtri(max(tail / 2, 1e-300)))
        low, high = self._losses(np.array([self.distances[0] - spread, self.distances[-1] + spread]))[0]
        return float(low), float(high)


@dataclass(frozen=True)
class Reversed:
    """The pair (Q, P) of a continuous pair (P, Q): losses change sign."""

    pair: Mixed
    lattice: float = 0.0

    def masses(self, edges: Floats) -> tuple[Floats, Floats]:
        """Return P and Q of each cell of losses."""
        p, q = self.pair.masses(-edges[::-1])
        return q[::-1], p[::-1]

    def reach(self, tail: float) -> tuple[float, float]:
        """Return losses outside of which N(0, 1) has at most `tail`."""
        spread = -float(scipy.special.ndtri(max(tail / 2, 1e-300)))
        high, low = -self.pair._losses(np.array([-spread, spread]))[0]
        return float(low), float(high)
