"""Counts where a node with all its edges is protected: a capped count, its cap chosen privately, and Laplace noise.

**Guarantee**: pure ε for neighbours that differ by one node and its edges. A quarter (`CHOICE`) of ε chooses the cap by
permute-and-flip on scores that move by at most 1 (``cap_choice.py``). The rest is the ε of Laplace noise on the capped
count, which moves by D·(1 + SLACK) (``capped.py``). In steps of the cap's own grid that is the same noise for every
cap, so one list of events, fixed beforehand, covers whatever cap is chosen.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from sordino.accounting.bound import Bound
from sordino.accounting.event import Event
from sordino.accounting.events import Composed
from sordino.arguments import Number
from sordino.data.graph import NODE, Edges
from sordino.mechanisms.grid import Grid
from sordino.mechanisms.laplace import Laplace
from sordino.mechanisms.noisy_max import PermuteAndFlip
from sordino.publish.price import Expected
from sordino.publish.publication import Running
from sordino.publish.spending import Spend

from .cap_choice import GRID, scores
from .capped import SLACK_BITS, capped
from .patterns import paths_of_two, triangles
from .release import Counts

CHOICE = Fraction(1, 4)
_SCORES = Grid(1 - GRID.bit_length())
_ONE = Bound.scalar(1, unit=NODE)


@dataclass(frozen=True)
class NodeCount:
    """One count, and the caps that are tried: powers of two."""

    what: str
    caps: tuple[int, ...]

    def patterns(self, edges: Edges) -> NDArray[np.int64]:
        """Return the nodes of every pattern: secret."""
        if self.what == "edges":
            return edges.ends
        return (triangles if self.what == "triangles" else paths_of_two)(edges.ends, edges.nodes)


@dataclass(frozen=True)
class NodeDesign:
    """Counts with their caps and mechanisms."""

    counts: tuple[NodeCount, ...]
    choice: Fraction
    """The ε of the choice of each cap."""
    noise: Fraction
    """The ε of the noise in each count."""

    @classmethod
    def of(cls, counts: tuple[NodeCount, ...], spend: Spend) -> NodeDesign:
        """Return the counts for so much, an equal share for each."""
        choice, noise = (spend.part(share / len(counts)).amount for share in (CHOICE, 1 - CHOICE))
        return cls(counts, choice, noise)

    @property
    def bound(self) -> Bound:
        """What one node can change in the scores of the first caps."""
        return _ONE

    def event(self) -> Event:
        """Return a choice and noise for each count."""
        events = [
            event
            for count in self.counts
            for event in (
                *((self._chooser(count).event(_ONE),) if len(count.caps) > 1 else ()),
                self._noise(count, count.caps[0]).event(bound_of(count.caps[0])),
            )
        ]
        return events[0] if len(events) == 1 else Composed(tuple(events))

    def expected(self, confidence: Number) -> tuple[Expected, ...]:
        """Return that nothing is known: how much a cap leaves out depends on the graph."""
        del confidence
        return tuple(Expected(each.what, math.inf, "what the cap leaves out, and noise") for each in self.counts)

    def notes(self) -> tuple[str, ...]:
        """Return what the noise is with the least and the largest cap."""
        return tuple(
            f"{count.what}: with a cap of {cap:,} at one node, noise of ± {self._noise(count, cap).error(0.95):,.0f} "
            "(half the width of a 95 % interval)"
            for count in self.counts
            for cap in (count.caps[0], count.caps[-1])
        )

    def run(self, running: Running) -> Counts:
        """Count under each cap, choose one, add noise."""
        edges = running.data.protected.edges()
        released, chosen = {}, {}
        for count in self.counts:
            patterns = count.patterns(edges)
            under = [capped(patterns, edges.nodes, cap) for cap in count.caps]
            running.stage("measuring")
            place = self._choose(count, under, running)
            cap = count.caps[place]
            mechanism, bound = self._noise(count, cap), bound_of(cap)
            noisy = mechanism.release_steps(under[place], running.grant(mechanism.event(bound), bound))
            released[count.what], chosen[count.what] = mechanism.grid.from_steps(noisy), cap
        return Counts(running.plan, None, released, chosen)

    def _choose(self, count: NodeCount, under: list[int], running: Running) -> int:
        if len(count.caps) == 1:
            return 0
        found = scores(count.caps, under, self.choice, self.noise)
        place: int = running.release(self._chooser(count), _ONE, np.array(found))
        return place

    def _chooser(self, count: NodeCount) -> PermuteAndFlip:
        return PermuteAndFlip.for_epsilon(self.choice, _ONE, len(count.caps), grid=_SCORES)

    def _noise(self, count: NodeCount, cap: int) -> Laplace:
        share = self.noise if len(count.caps) > 1 else self.choice + self.noise
        grid = Grid(cap.bit_length() - 1 - SLACK_BITS - 1, exact=True)
        return Laplace.for_epsilon(share, bound_of(cap), grid)


def bound_of(cap: int) -> Bound:
    """Return what one node can change in a capped count."""
    return Bound.scalar(Fraction(cap) * (1 + Fraction(1, 2**SLACK_BITS)), unit=NODE)
