"""One direction of one composition: tilt, range and grid for one question, and the two curves on a grid."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from sordino.accounting.curve import Floats

from .bounds import Lower, Tilted, Upper
from .compose import Composed, Factor, compose, window_for
from .grid import above, below
from .sketch import Focus, Part, Sketch

_WIDTH = 2e-4  # of the answer: what the grid's error may be, by its second-order estimate
_LARGEST = 2**20  # cells
_BLUR = 4e-15  # of a loss: how far off it may be, because cell edges and parameters are floats
_OUT_OF_RANGE = 1e-9  # of δ: what may be sent to an infinite loss because it lies beyond the grid


@dataclass(frozen=True)
class Run:
    """What is composed, where the sketch says to look, and the first grid to try."""

    parts: Sequence[Part]
    sketch: Sketch
    focus: Focus
    step: float = 0.0
    extended: bool = False
    """Whether to transform in long doubles."""

    @classmethod
    def for_delta(cls, parts: Sequence[Part], delta: float) -> Run:
        """Prepare the question for ε at `delta`: its error is about the number of parts · step²·(slope+1)/8."""
        sketch = Sketch(parts)
        focus = sketch.for_delta(max(delta - _infinite(parts), 1e-3 * delta, 1e-290))
        return cls(parts, sketch, focus)._with_step(_WIDTH * max(focus.epsilon, 1e-3))

    @classmethod
    def for_epsilon(cls, parts: Sequence[Part], epsilon: float) -> Run:
        """Prepare the question for δ at `epsilon`: its relative error is `slope` times the error of ε."""
        sketch = Sketch(parts)
        focus = sketch.for_epsilon(epsilon)
        return cls(parts, sketch, focus)._with_step(_WIDTH / max(focus.slope, 0.5))

    def _with_step(self, error: float) -> Run:
        wanted = math.sqrt(8 * error / ((self.focus.slope + 1) * self.count))
        return replace(self, step=self.snapped(wanted))

    def snapped(self, step: float) -> float:
        """Return a step, not above `step` unless that is too fine, on which the atoms of the commonest lattice lie."""
        step = max(step, self.finest)
        lattices = [(part.count, getattr(part.pair, "lattice", 0.0)) for part in self.parts]
        useful = [(count, lattice) for count, lattice in lattices if lattice >= step / 8]
        if not useful:
            return step
        lattice = float(max(useful)[1])
        return lattice / math.ceil(lattice / step)

    @cached_property
    def count(self) -> int:
        """How many parts there are in all."""
        return sum(part.count for part in self.parts)

    @cached_property
    def ranges(self) -> list[tuple[float, float]]:
        """The losses of each part that matter: all but a negligible share of the tilted law and of P's upper tail."""
        tail = max(_OUT_OF_RANGE * math.exp(max(self.focus.log_delta, -600.0)) / self.count, 1e-300)
        lows = self.sketch.lows(self.focus.tilt, 1e-11 / self.count)
        highs = [part.pair.reach(tail)[1] for part in self.parts]
        return [(min(float(low), high), high) for low, high in zip(lows, highs, strict=True)]

    @cached_property
    def finest(self) -> float:
        """The finest step for which no array outgrows its limit."""
        widest = max(high - low for low, high in self.ranges)
        return max(self.focus.high - self.focus.low, widest, 1e-9) / (_LARGEST * (1 + self.extended))

    def upper(self, step: float) -> Upper:
        """Return the pessimistic curve on a grid."""
        laws = [above(part.pair, step, *span) for part, span in zip(self.parts, self.ranges, strict=True)]
        factors, log_mass = self._factors([(law.first, law.p) for law in laws], step)
        infinite = _any_infinite([law.infinite for law in laws], self.parts)
        return Upper(self._tilted(self._composed(factors, step), step, log_mass, infinite))

    def lower(self, step: float) -> Lower:
        """Return the optimistic curve on a grid."""
        laws = [below(part.pair, step, *span) for part, span in zip(self.parts, self.ranges, strict=True)]
        infinite = _any_infinite([law.infinite for law in laws], self.parts)
        p, log_p = self._factors([(law.first, law.p) for law in laws], step)
        q, log_q = self._factors([(law.first, law.scaled_q) for law in laws], step)
        by_p, by_q = self._composed(p, step), self._composed(q, step)
        return Lower(self._tilted(by_p, step, log_p, infinite), self._tilted(by_q, step, log_q, 0.0))

    def _composed(self, factors: Sequence[Factor], step: float) -> Composed:
        focus = self.focus
        window = window_for(factors, math.floor(focus.low / step), math.ceil(focus.high / step))
        left, right = (focus.left - focus.tilt) * step, (focus.right - focus.tilt) * step
        return compose(factors, window, left, right, extended=self.extended)

    def _tilted(self, law: Composed, step: float, log_mass: float, infinite: float) -> Tilted:
        top = step * (law.window.first + law.window.size - 1)
        largest = max(max(abs(low), abs(high)) for low, high in self.ranges)
        blur = _BLUR * (self.count * (1 + largest) + abs(top))
        return Tilted(law, self.focus.tilt, step, log_mass, self.count, infinite, min(self.focus.epsilon, top), blur)

    def _factors(self, laws: Sequence[tuple[int, Floats]], step: float) -> tuple[list[Factor], float]:
        """Return the laws tilted and normalized, and the cumulant of their composition."""
        factors, total = [], 0.0
        for part, (first, masses) in zip(self.parts, laws, strict=True):
            with np.errstate(divide="ignore"):
                exponents = np.log(masses) + (self.focus.tilt * step) * np.arange(len(masses))
            peak = float(np.max(exponents))
            weights = np.exp(exponents - peak)
            mass = float(np.sum(weights))
            factors.append(Factor(first, weights / mass, part.count))
            total += part.count * (peak + math.log(mass) + self.focus.tilt * step * first)
        return factors, total


def _infinite(parts: Sequence[Part]) -> float:
    """Return P of an infinite loss in any part."""
    nowhere = np.array([np.inf])
    return _any_infinite([float(part.pair.masses(nowhere)[0][-1]) for part in parts], parts)


def _any_infinite(single: Sequence[float], parts: Sequence[Part]) -> float:
    """Return P of an infinite loss in any part, from that in one run of each."""
    if max(single) >= 1:
        return 1.0
    return -math.expm1(math.fsum(part.count * math.log1p(-mass) for part, mass in zip(parts, single, strict=True)))
