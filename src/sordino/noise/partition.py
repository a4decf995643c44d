"""A law's integers cut into strips, and the exact decision of which strip a real number falls into.

**The construction.** Let f be a log-concave weight on the integers with its mode at m, f(m) = 1. *Nodes* stand at m ±
i·w (w a power of two), and *block* i of a side holds the w integers between node i and node i+1. Over a block lies a
rectangle of height f(node i) — f falls away from m, so no weight in the block is above it. The rectangle has two
strips:

    box    height f(node i+1)                the weights of all its integers reach above it: every point is accepted
    wedge  height f(node i) - f(node i+1)    a point at x is accepted if it lies below f(x)

A uniform real U chooses a strip with probability proportional to its area, the block's integer x is chosen uniformly
(w is a power of two: j bits), and in a wedge a uniform real V chooses the height. So (x, height) is uniform under the
rectangles, and given acceptance x has exactly the law f/Σf (von Neumann's rejection). With w = 1 there is no wedge.

**Why finitely many bits suffice.** U and V are infinite strings of fair bits, of which a prefix is known. A level of
precision gives rigorous bounds for every edge between strips, the infinite tail included: by log-concavity the ratios
q_i = f(node i+1)/f(node i) fall, so the nodes from i on weigh at most f(node i)/(1 - q_(i-1)). If all reals with the
known prefix lie strictly on one side of each edge, whatever the edge's place within its bounds, then the decision is
what the infinite string would give. If not, more bits are revealed and the precision doubles. The chance of being
undecided falls like 2**-depth, so this ends with probability one, and the outcome is distributed exactly as with
infinitely many bits.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from .enclosure import Enclosure
from .keystream import BitSource

Floats = NDArray[np.float64]

FIRST_DEPTH = 64
_GUARD_BITS = 96


class Law(Protocol):
    """A log-concave weight on the integers, as the samplers see it; equal laws must be equal and hashable."""

    def __hash__(self) -> int: ...

    @property
    def mode(self) -> int:
        """An integer of greatest weight."""
        ...

    @property
    def support(self) -> tuple[int | None, int | None]:
        """The least and the greatest integer with weight; None where there is no limit."""
        ...

    @property
    def symmetric(self) -> bool:
        """Whether f(mode + d) = f(mode - d) for all d."""
        ...

    @property
    def width_bits(self) -> int:
        """j: blocks are 2**j wide."""
        ...

    def ratio(self, x: int, origin: int, bits: int) -> Enclosure:
        """Return an enclosure of f(x)/f(origin), both in the support, x on the far side of origin from the mode."""
        ...

    def heights(self, direction: int, bits: int) -> Iterator[Enclosure]:
        """Yield enclosures of f at the nodes mode + direction·i·2**j, i = 0, 1, …; (0, 0) outside the support."""
        ...

    def falls(self, node: NDArray[np.int64], beyond: NDArray[np.int64]) -> tuple[Floats, Floats] | None:
        """Return bounds, but for 2**-50 of themselves, for how far ln f falls from a `node` to `beyond` it.

        Both are distances from the mode, `beyond` counted from the node on. None: floats cannot tell.
        """
        ...


class Strip(NamedTuple):
    """One strip: its block's lowest integer, and the nodes that bound its block (`direction` 1 or -1 from the mode)."""

    low: int
    direction: int
    block: int
    wedge: bool


@dataclass(frozen=True)
class Partition:
    """The strips of a law up to a tail of less than 2**-depth, and bounds for the edges between them.

    ``below[k] ≤ 2**depth · (right edge of strips[k]) ≤ above[k]``, with [0, 1) as the whole.
    """

    depth: int
    strips: list[Strip]
    below: list[int]
    above: list[int]
    nodes: dict[int, list[Enclosure]]
    bits: int

    def locate(self, prefix: int) -> int | None:
        """Return the strip that holds every real in [prefix, prefix + 1)·2**-depth, or None if that is not certain."""
        strip = bisect_right(self.above, prefix)
        return strip if strip < len(self.below) and self.below[strip] > prefix else None


@lru_cache(maxsize=64)
def partition(law: Law, depth: int) -> Partition:
    """Cut `law` into strips with edges known to about 2**-depth."""
    bits = depth + _GUARD_BITS
    nodes = {1: _nodes(law, 1, depth, bits)}
    if law.support[0] != law.mode:  # the mode itself belongs to the right side, so only the left side can be empty
        nodes[-1] = nodes[1] if law.symmetric else _nodes(law, -1, depth, bits)
    strips, areas = _blocks(law.width_bits, nodes, law.mode)
    tail = sum(rest(heights) or 0 for heights in nodes.values())
    return Partition(depth, strips, *_edges(areas, tail, depth), nodes, bits)


def _nodes(law: Law, direction: int, depth: int, bits: int) -> list[Enclosure]:
    """Return the heights of a side's nodes, up to where the rest is below 2**-depth of the mode's height."""
    heights: list[Enclosure] = []
    for height in law.heights(direction, bits):
        heights.append(height)
        left = rest(heights)
        if left is not None and left <= 1 << (bits - depth - 2):
            break
    return heights


def rest(heights: list[Enclosure]) -> int | None:
    """Return an upper bound for the heights from the last one on, or None where the last two cannot give one."""
    last = heights[-1][1]
    if last == 0:
        return 0
    if len(heights) < 2 or heights[-2][0] <= last:
        return None
    before = heights[-2][0]
    return -(-last * before // (before - last))


def _blocks(width_bits: int, nodes: dict[int, list[Enclosure]], mode: int) -> tuple[list[Strip], list[Enclosure]]:
    """Return the strips, from the mode outwards on both sides by turns, and their areas in units of the width."""
    strips: list[Strip] = []
    areas: list[Enclosure] = []
    for block in range(max(map(len, nodes.values())) - 1):
        for direction, heights in nodes.items():
            if block + 1 >= len(heights):
                continue
            inner, outer = heights[block], heights[block + 1]
            low = mode + (block << width_bits if direction == 1 else -(block + 1) << width_bits)
            if width_bits:
                strips += (Strip(low, direction, block, False), Strip(low, direction, block, True))
                areas += (outer, (inner[0] - outer[1] if inner[0] > outer[1] else 0, inner[1] - outer[0]))
            elif (area := inner if direction == 1 else outer)[1]:
                # The block's one integer stands on a node: the inner one on the right side, the outer one on the left.
                strips.append(Strip(low, direction, block, False))
                areas.append(area)
    return strips, areas


def _edges(areas: list[Enclosure], tail: int, depth: int) -> tuple[list[int], list[int]]:
    """Return bounds for the strips' right edges as fractions of the whole, in units of 2**-depth.

    The edges are those of the infinite partition: where one side of the law ends before the other, its strips from
    there on (part of the tail) belong between those of the other side, so every edge may have up to the tail more to
    its left. The bounds of an edge are at most as far apart as those of the last edge, since both the sums' own
    uncertainty and what the uncertainty of the whole adds to it grow from edge to edge.
    """
    least = list(accumulate([area[0] for area in areas]))
    whole_least, whole_most = least[-1], sum([area[1] for area in areas]) + tail
    below = [(edge << depth) // whole_most for edge in least]
    apart = -((-whole_most << depth) // whole_least) - below[-1] + 1
    return below, [edge + apart for edge in below]


class Unfolding:
    """A uniform real in [0, 1), known to its first bits, that reveals more from a source when asked."""

    def __init__(self, prefix: int, known: int, source: BitSource) -> None:
        self._prefix, self._known, self._source = prefix, known, source

    def first(self, bits: int) -> int:
        """Return the first `bits` bits."""
        while self._known < bits:
            self._prefix = self._prefix << 64 | self._source.word()
            self._known += 64
        return self._prefix >> (self._known - bits)


def decide(law: Law, offset: int, where: Unfolding, height: Unfolding) -> int | None:
    """Return the integer that the two reals and the offset choose, or None if the wedge rejects it. Exact."""
    depth = FIRST_DEPTH
    while (chosen := (level := partition(law, depth)).locate(where.first(depth))) is None:
        depth *= 2
    strip = level.strips[chosen]
    x = strip.low + offset
    return x if not strip.wedge or _below_weight(law, strip, x, height) else None


def _below_weight(law: Law, strip: Strip, x: int, height: Unfolding) -> bool:
    """Tell whether the wedge's height f(outer) + V·(f(inner) - f(outer)) is below f(x)."""
    inner = law.mode + strip.direction * (strip.block << law.width_bits)
    outer = inner + (strip.direction << law.width_bits)
    least, greatest = law.support
    if x == outer or (least is not None and x < least) or (greatest is not None and x > greatest):
        return False
    if x == inner:
        return True  # the rectangle is as high as f(inner)
    outer_exists = (least is None or outer >= least) and (greatest is None or outer <= greatest)
    bits = FIRST_DEPTH
    while True:
        low, high = law.ratio(outer, inner, bits) if outer_exists else (0, 0)
        weight_low, weight_high = law.ratio(x, inner, bits)
        v = height.first(bits)
        one = 1 << bits
        # The height relative to f(inner) is r + V·(1 - r) = r·(1 - V) + V: it grows with r and with V.
        if min(high, one) * (one - v - 1) + ((v + 1) << bits) <= weight_low << bits:
            return True
        if low * (one - v) + (v << bits) >= weight_high << bits:
            return False
        bits *= 2
