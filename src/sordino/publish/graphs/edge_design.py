"""Counts where an edge is protected: a ladder for what one edge changes differently from graph to graph, else Laplace.

Which mechanism is public. Laplace for the number of edges, which one edge moves by 1. A ladder for triangles and stars:
its noise is a few times A_0 (``local_sensitivities.py``), and its tail is as light as Laplace's. Smooth Cauchy noise is
the other pure one; its scale 2S/ε is at least 2·A_0/ε, its median error is that scale where the ladder's is about
1.4·A_0/ε, and its tail is heavy. So under pure ε the ladder is the better one for every graph, and is what is run.

**Guarantee**: pure ε for neighbours that differ by one edge: a ladder for each count, and their ε add up.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

from sordino.accounting.bound import Bound
from sordino.accounting.event import Event
from sordino.accounting.events import Composed
from sordino.arguments import Number
from sordino.data.graph import EDGE, MOST_NODES, Edges
from sordino.errors import ArgumentError
from sordino.mechanisms.ladder import Ladder
from sordino.mechanisms.laplace import Laplace
from sordino.mechanisms.local_sensitivity import LocalAnswer
from sordino.publish.price import Expected
from sordino.publish.publication import Running
from sordino.publish.spending import Spend

from .local_sensitivities import of_stars, of_triangles
from .patterns import star_count, triangle_count
from .release import Counts

_LARGEST = 2**40
_LONGEST = 2**17


@dataclass(frozen=True)
class EdgeCount:
    """One count: of edges, triangles, or stars of `size` edges (degrees count up to `most`)."""

    what: str
    size: int
    most: int
    """The largest degree there may be."""

    @property
    def sensitivity(self) -> int:
        """The most that one edge can change in any graph."""
        if self.what == "edges":
            return 1
        return (
            max(self.most - 1, 1) if self.what == "triangles" else max(2 * math.comb(self.most - 1, self.size - 1), 1)
        )

    @property
    def bound(self) -> Bound:
        """The same as a bound."""
        return Bound.scalar(self.sensitivity, unit=EDGE)

    def answer(self, edges: Edges, length: int) -> LocalAnswer:
        """Return the exact count with its local sensitivities: secret."""
        if self.what == "triangles":
            found = of_triangles(edges.ends, edges.nodes, length)
            return LocalAnswer(triangle_count(edges.ends, edges.nodes), found)
        near = of_stars(edges.ends, edges.nodes, self.size, self.most, length)
        return LocalAnswer(star_count(edges.ends, edges.nodes, self.size, self.most), near)


def edge_counts(what: str, size: int, nodes: int | None) -> tuple[EdgeCount, ...]:
    """Return the counts that answer for `what`; refuse one that a single edge can move beyond all noise."""
    most = (MOST_NODES if nodes is None else nodes) - 1
    names = ("triangles", "stars") if what == "clustering" else (what,)
    found = tuple(EdgeCount(name, size, most) for name in names)
    if any(each.sensitivity > _LARGEST for each in found):
        raise ArgumentError(
            f"one edge could change the stars of {size} edges by more than 2⁴⁰; declare how many nodes there may be "
            "with graph(…, nodes=…), or ask for smaller stars",
            "SRD-P502",
        )
    return found


@dataclass(frozen=True)
class EdgeDesign:
    """Counts with their mechanisms."""

    counts: tuple[EdgeCount, ...]
    mechanisms: tuple[Ladder | Laplace, ...]

    @classmethod
    def of(cls, counts: tuple[EdgeCount, ...], spend: Spend) -> EdgeDesign:
        """Return the counts for so much, an equal share for each."""
        share = spend.part(Fraction(1, len(counts))).amount
        return cls(counts, tuple(_mechanism(each, share) for each in counts))

    @property
    def bound(self) -> Bound:
        """What one edge can change in the first count."""
        return self.counts[0].bound

    def event(self) -> Event:
        """Return a mechanism for each count."""
        events = tuple(m.event(count.bound) for count, m in zip(self.counts, self.mechanisms, strict=True))
        return events[0] if len(events) == 1 else Composed(events)

    def expected(self, confidence: Number) -> tuple[Expected, ...]:
        """Return half the width of an interval; for a ladder in the worst graph of all."""
        measure = f"half the width of a {float(confidence):.0%} interval"
        return tuple(
            Expected(count.what, mechanism.error(float(confidence)), measure, at_most=isinstance(mechanism, Ladder))
            for count, mechanism in zip(self.counts, self.mechanisms, strict=True)
        )

    def notes(self) -> tuple[str, ...]:
        """Return what is not protected, and what the error of a ladder hangs on."""
        found = ["which nodes there are is public and not protected"]
        if any(isinstance(each, Ladder) for each in self.mechanisms):
            found.append(
                "noise follows what one edge changes in this graph, which is mostly far less than in the worst"
            )
        return tuple(found)

    def run(self, running: Running) -> Counts:
        """Count, each with its noise."""
        edges, released = running.data.protected.edges(), {}
        for count, mechanism in zip(self.counts, self.mechanisms, strict=True):
            value = (
                len(edges.ends) if isinstance(mechanism, Laplace) else count.answer(edges, _length(count, mechanism))
            )
            released[count.what] = running.release(mechanism, count.bound, value)
            running.stage("measuring")
        return Counts(running.plan, None, released)


def _mechanism(count: EdgeCount, epsilon: Fraction) -> Ladder | Laplace:
    if count.what == "edges":
        return Laplace.for_epsilon(epsilon, count.bound)
    return Ladder(epsilon, Fraction(count.sensitivity))


def _length(count: EdgeCount, ladder: Ladder) -> int:
    """Return how long the list of local sensitivities is: so long that further out next to nothing is drawn. Public."""
    far = 2 * (math.log(count.sensitivity) + 40) / float(ladder.epsilon)
    return min(math.ceil(far), _LONGEST)
