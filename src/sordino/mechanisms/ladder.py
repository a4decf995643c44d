"""The ladder mechanism: a whole number chosen near the true one, by rungs as wide as the local sensitivities.

Rung 0 is the answer f(x) itself. Rung t holds the A_(t−1)(x) next integers on either side, so what lies within distance
A_0 + … + A_(t−1) is on rung t or lower (see ``local_sensitivity.py``; A is made at least 1 and non-decreasing).

**Guarantee**: ε-bounded range, and so pure ε, exactly: o is drawn with probability ∝ exp(−(ε/2)·rung(o)).
**Proof.** The rung of o moves by at most 1 between neighbours: if |o − f(x)| ≤ Σ_{u<t} A_u(x), then
|o − f(y)| ≤ A_0(y) + Σ_{u<t} A_(u+1)(y) = Σ_{u<t+1} A_u(y). So this is an exponential mechanism with a score of
sensitivity 1.
Drawing: rung t holds m_t points with m_0 = 1, m_t = 2A_(t−1), which do not fall. Write m_t = d_0 + … + d_t; then
Σ_t m_t e^(−rt) [T = t] is a mixture over j, with weights d_j·e^(−rj), of j + a geometric number: so j is chosen by
`choose_weighted`, the geometric number is added, and a point of rung t is drawn uniformly. All exact, with no end.
**Assumes**: the list of sensitivities has the two properties that ``local_sensitivity.py`` names.
**Source**: Zhang, Cormode, Procopiuc, Srivastava, Xiao 2015.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from sordino import noise
from sordino.accounting import events
from sordino.accounting.bound import Bound
from sordino.accounting.grant import Grant
from sordino.arguments import probability, rational, rounded_up

from .additive import checked_grid
from .grid import INTEGERS, Grid, Steps
from .local_sensitivity import check_bound, global_steps, in_steps
from .mechanism import use_grant
from .weighted_choice import choose_weighted


@dataclass(frozen=True)
class Ladder:
    """One number chosen on the ladder of its local sensitivities, capped by the global one: pure `epsilon`.

    >>> Ladder(1, sensitivity=100).event(Bound.scalar(100))
    Ladder(epsilon=Fraction(1, 1))
    """

    epsilon: Fraction
    sensitivity: Fraction
    grid: Grid = INTEGERS

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", rational("epsilon", self.epsilon, least="1e-6", most=2000))
        object.__setattr__(self, "sensitivity", rational("sensitivity", self.sensitivity, above=0))
        global_steps("sensitivity", self.sensitivity, checked_grid(self.grid))

    def event(self, bound: Bound) -> events.Ladder:
        """Return what one release runs; refuse a bound beyond the global sensitivity."""
        check_bound(bound, self.sensitivity)
        return events.Ladder(self.epsilon)

    def release(self, value: Any, grant: Grant) -> Any:
        """Return a number near the one in `value` (a `LocalAnswer`)."""
        answer, sensitivities = in_steps(value, self.grid, self._most)
        use_grant(self, grant)
        widths = rungs(sensitivities)
        rung = self._draw_rung(widths)
        if rung == 0:
            return self.grid.from_steps(answer)
        inner = _reach(widths, rung - 1)
        distance = inner + 1 + noise.uniform(_reach(widths, rung) - inner)
        return self.grid.from_steps(answer - distance if noise.bernoulli(Fraction(1, 2)) else answer + distance)

    def error(self, confidence: float = 0.95) -> float:
        """Return how far off the answer is at worst, with probability `confidence`, from the global bound C alone.

        Going C further out climbs a rung at least, so P[distance > j·C] ≤ e^(−jε/2).
        """
        failure = 1 - float(probability("confidence", confidence))
        rungs_out = math.ceil(-math.log(failure) * 2 / float(self.epsilon) * (1 + 2.0**-40))
        return rounded_up((rungs_out * self._most + 1) * self.grid.step)

    def _draw_rung(self, widths: Steps) -> int:
        rate = self.epsilon / 2
        points = np.concatenate((np.array([1]), 2 * widths))
        added = np.diff(points, prepend=0)
        starts = np.flatnonzero(added)
        start = int(starts[choose_weighted(-starts, added[starts], rate)])
        return start + int(noise.Geometric(1 / rate).draw())

    @property
    def _most(self) -> int:
        return global_steps("sensitivity", self.sensitivity, self.grid)


def rungs(sensitivities: Steps) -> Steps:
    """Return the widths A_0, A_1, … of rungs 1, 2, …: at least 1, non-decreasing; the last one goes on for ever."""
    return np.maximum.accumulate(np.maximum(sensitivities, 1))


def _reach(widths: Steps, rung: int) -> int:
    """Return how far from the answer the outermost point of `rung` is."""
    beyond = max(rung - len(widths), 0)
    return sum(map(int, widths[:rung])) + beyond * int(widths[-1])
