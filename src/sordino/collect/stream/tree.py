"""Binary trees of sums, plain and with Honaker's weights: for comparison, and for those who know them.

A node of level l holds the sum of 2^l steps and gets its noise when it is complete. The total after t steps is the sum
of one node for each bit of t. With weights, a node's estimate is the mean, by variance, of its own noisy sum and of
its two children's estimates: variance 1/(2 − 2^−l) instead of 1; the noise is the same, so is what it costs.

**Guarantee**: a person with k events, any two at least b steps apart, moves nodes of level l by squares that add up to
at most k·min(k, ⌈2^l/b⌉): they add up to k, and none holds more than that many. Over all levels that bounds the squared
2-norm; all of it is whole numbers.
**Source**: Chan, Shi, Song 2011; Dwork, Naor, Pitassi, Rothblum 2010; Honaker 2015 (from below).
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from sordino.errors import ArgumentError
from sordino.mechanisms.grid import LIMIT

from .people import Arrivals, shifted
from .strategy import Real, State, Whole


@dataclass(frozen=True)
class Tree:
    """Noise on the nodes of a binary tree, read with Honaker's weights or without."""

    steps: int
    weighted: bool = False

    @property
    def levels(self) -> int:
        """How many levels have complete nodes."""
        return self.steps.bit_length()

    @property
    def most_measured(self) -> int:
        """All nodes: fewer than two a step."""
        return 2 * self.steps

    def exponent(self, arrivals: Arrivals) -> int:  # noqa: ARG002
        """Return 0: sums are whole."""
        return 0

    def moved_squared(self, arrivals: Arrivals) -> Fraction:
        """Return the bound of the module's proof."""
        if arrivals.most * self.steps > LIMIT:
            raise ArgumentError(
                "a step may hold so much that sums of it leave 64 bits; declare fewer events a step by most=…",
                "SRD-C506",
            )
        count, apart = arrivals.events, arrivals.apart
        held = [min(count, -(-(1 << level) // apart)) if apart else count for level in range(self.levels)]
        return Fraction(count * sum(held) * arrivals.each**2)

    def rounding(self, arrivals: Arrivals) -> float:  # noqa: ARG002
        """Return 0."""
        return 0.0

    def begin(self, arrivals: Arrivals) -> tuple[State, State]:
        """Return what the totals were when the node of each level began, and each level's newest complete node."""
        begun = np.zeros((self.levels + 1, arrivals.cells), dtype=np.int64)
        return {"begun": begun}, {"nodes": np.zeros((self.levels, arrivals.cells))}

    def encode(self, arrivals: Arrivals, state: State, taken: int, counts: Whole) -> tuple[Whole, State]:  # noqa: ARG002
        """Return the sums of the nodes that are complete now, level by level; the last row of `begun` is the total."""
        begun = state["begun"].copy()
        totals = begun[-1] + np.cumsum(counts, axis=0)
        rows = []
        for level in range(self.levels):
            ends = totals[(-taken - 1) % (1 << level) :: 1 << level]
            rows.append(np.diff(ends, axis=0, prepend=begun[level : level + 1]))
            if len(ends):
                begun[level] = ends[-1]
        begun[-1] = totals[-1] if len(totals) else begun[-1]
        return np.concatenate(rows), {"begun": begun}

    def decode(self, arrivals: Arrivals, state: State, taken: int, steps: int, noisy: Whole) -> tuple[Real, State]:
        """Return the totals: for each level the newest complete node, where that bit of the step's number is set."""
        nodes, at = state["nodes"].copy(), 0
        place = taken + np.arange(1, steps + 1)
        totals = np.zeros((steps, arrivals.cells))
        below: Real = np.zeros((0, arrivals.cells))
        for level in range(self.levels):
            before, after = taken >> level, (taken + steps) >> level
            found = noisy[at : at + after - before].astype(np.float64)
            at += after - before
            if self.weighted and level:
                weight = variance(level)
                found = weight * found + (1 - weight) * (below[0::2] + below[1::2])
            known = np.concatenate([nodes[level : level + 1], found])
            totals += ((place >> level) & 1)[:, None] * known[(place >> level) - before]
            if level + 1 < self.levels:  # the children of the nodes above that are complete now
                below = known[1 - (before & 1) :][: 2 * ((taken + steps) // (2 << level) - taken // (2 << level))]
            nodes[level] = known[-1]
        return totals, {"nodes": nodes}

    def deviations(self, window: int | None) -> Real:
        """Return the deviation of each step's total for noise of 1; of a window's at most, as nodes in common cancel.

        Estimates of nodes are never negatively correlated: their weights are positive.
        """
        place = np.arange(1, self.steps + 1)
        squares = np.zeros(self.steps)
        for level in range(self.levels):
            squares += ((place >> level) & 1) * (variance(level) if self.weighted else 1.0)
        return np.sqrt(squares if window is None else squares + shifted(squares, window))

    def reaches(self, window: int | None) -> Real:
        """Return how many nodes there are in each total: with weights that add up to 1 they count as one each."""
        plain = np.square(Tree(self.steps).deviations(window))
        return plain * (self.levels if self.weighted else 1)


def variance(level: int) -> float:
    """Return the variance of a node's estimate with Honaker's weights: v = 1/(1 + 1/(2v′)) from that of its children.

    >>> [round(1 / variance(level), 3) for level in range(4)]
    [1.0, 1.5, 1.75, 1.875]
    """
    return 1 / (2 - 2.0**-level)
