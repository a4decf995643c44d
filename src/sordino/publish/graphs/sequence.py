"""The degrees of a graph, the most first, where an edge is protected.

**Guarantee**: one edge more raises two numbers of the sequence by 1 each, and moves no other. **Proof**: two nodes'
degrees rise by 1, one after the other. To raise one of several equal numbers d is, in order, to raise the first of
them. The second rise is elsewhere: the place of the first now holds d + 1, and is the first of these only if there were
none before; then a second number d + 1 is not there to be raised. Cutting the sequence at a length only leaves numbers
out. ∎

Which nodes there are is public; where it is not declared how many, a part of what is spent finds how many have an edge:
one edge changes that by 2 at most. Nodes without one are then not told of.
**Source**: Hay, Li, Miklau, Jensen 2009.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np

from sordino.accounting.bound import Bound
from sordino.accounting.event import Event
from sordino.accounting.events import Composed
from sordino.arguments import Number
from sordino.data.account import DataAccount
from sordino.data.graph import EDGE
from sordino.errors import ArgumentError
from sordino.keywords import check_names
from sordino.mechanisms.gaussian import DiscreteGaussian
from sordino.mechanisms.laplace import Laplace
from sordino.publish.price import Expected
from sordino.publish.publication import Publication, Running
from sordino.publish.spending import Form, Spend

from .counting import check_graph
from .patterns import degrees as held_by
from .release import Degrees, degrees_again

_SIZE_SHARE = Fraction(1, 20)
_LONGEST = 2**26
_TWO_PLACES = Bound(2, Fraction(2), Fraction(2), Fraction(1), unit=EDGE)
_TWO_NODES = Bound.scalar(2, unit=EDGE)

Mechanism = Laplace | DiscreteGaussian


def degrees(account: DataAccount[Any]) -> Publication[Degrees]:
    """Return a publication of how many edges nodes have, the most first, and never whose they are.

    **Guarantee**: pure ε, or ρ, for one edge.
    """
    return Publication(account, _recipe(account.protected))


@dataclass(frozen=True)
class Sequence:
    """The degrees of a graph in which there are so many nodes, if that is declared."""

    nodes: int | None

    name: ClassVar[str] = "graph-degrees"
    forms: ClassVar[tuple[Form, ...]] = ("pure", "concentrated")
    adapts: ClassVar[bool] = False

    def design(self, spend: Spend) -> SequenceDesign:
        """Return the sequence with its noise."""
        if self.nodes is not None:
            return SequenceDesign(self.nodes, None, _mechanism(spend.part(Fraction(1)), _TWO_PLACES))
        size = _mechanism(spend.part(_SIZE_SHARE), _TWO_NODES)
        return SequenceDesign(None, size, _mechanism(spend.part(1 - _SIZE_SHARE), _TWO_PLACES))

    def plain(self) -> dict[str, Any]:
        """Return no parameters: the graph says all."""
        return {}


@dataclass(frozen=True)
class SequenceDesign:
    """The same with its noise."""

    nodes: int | None
    size: Mechanism | None
    """The noise in how many nodes have an edge."""
    each: Mechanism
    """The noise in each degree."""

    @property
    def bound(self) -> Bound:
        """What one edge can change in what is measured first."""
        return _TWO_PLACES if self.size is None else _TWO_NODES

    def event(self) -> Event:
        """Return the noise in each degree, and in how many there are."""
        each = self.each.event(_TWO_PLACES)
        return each if self.size is None else Composed((self.size.event(_TWO_NODES), each))

    def expected(self, confidence: Number) -> tuple[Expected, ...]:
        """Return half the width of an interval around a noisy degree; fitted ones are mostly far closer."""
        measure = f"half the width of a {float(confidence):.0%} interval, before the fit"
        return (Expected("degrees", self.each.error(float(confidence)), measure),)

    def notes(self) -> tuple[str, ...]:
        """Return what is not protected."""
        return ("which nodes there are is public and not protected",)

    def run(self, running: Running) -> Degrees:
        """Count the edges of nodes, put the numbers in order, add noise to each."""
        edges = running.data.protected.edges()
        held = np.sort(held_by(edges.ends, edges.nodes))[::-1]
        length = self._length(held, running)
        kept = np.zeros(length, np.int64)
        kept[: min(length, len(held))] = held[:length]
        noisy = running.release(self.each, _TWO_PLACES, kept)
        running.stage("measuring")
        spread = self.each.scale if isinstance(self.each, Laplace) else self.each.variance
        return Degrees(running.plan, None, noisy, _LAWS[type(self.each)], spread)

    def _length(self, held: Any, running: Running) -> int:
        if self.nodes is not None or self.size is None:
            return self.nodes or 1
        found: int = running.release(self.size, _TWO_NODES, int(np.count_nonzero(held)))
        return min(max(found, 1), _LONGEST)


_LAWS = {Laplace: "laplace", DiscreteGaussian: "gaussian"}


def read(protected: Any, plain: Mapping[str, Any]) -> Sequence:
    """Return the recipe; it has no parameters."""
    check_names(plain, (), "degrees have no word")
    return _recipe(protected)


def load(manifest: Mapping[str, Any], files: Mapping[str, bytes]) -> Degrees:
    """Return degrees that were saved."""
    return degrees_again(manifest, files)


def _recipe(protected: Any) -> Sequence:
    check_graph(protected)
    if protected.unit != EDGE:
        raise ArgumentError(
            'degrees are published where edges are protected; one node can change all of them. Declare unit="edge", or '
            "ask for edges(…) or stars(…)",
            "SRD-P504",
        )
    if protected.nodes is not None and protected.nodes > _LONGEST:
        raise ArgumentError("degrees of more than 2²⁶ nodes are not published; declare fewer", "SRD-P502")
    return Sequence(protected.nodes)


def _mechanism(spend: Spend, bound: Bound) -> Mechanism:
    make = Laplace.for_epsilon if spend.is_pure else DiscreteGaussian.for_rho
    return make(spend.amount, bound)
