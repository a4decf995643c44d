"""How far a law reaches: the radius that holds a draw with a given probability, from the law's own strips.

Over a block, ln f lies above the chord between the block's nodes, and above that chord by at most half the difference
between the slopes of the two neighbouring chords (log-concavity; see `strips`). So a geometric sum bounds the weight of
any stretch of a block from below, and from above after a factor. Floats are used with a relative allowance of 10^-9 in
the safe direction: the radius is an error bar, never a part of a privacy claim.
"""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import accumulate, pairwise

from .enclosure import Enclosure
from .partition import FIRST_DEPTH, Law, partition, rest

_ALLOWANCE = 1e-9
_SPARE_BITS = 32  # the strips' own tail is this much smaller than the tail that is asked for


def radius(law: Law, outside: Fraction) -> int:
    """Return t with P[|X| > t] ≤ `outside`: the least one, or one that is larger by 0.1 % or less.

    **Assumes**: the mode is not negative.
    """
    asked = outside.denominator.bit_length() - outside.numerator.bit_length() + _SPARE_BITS
    level = partition(law, max(FIRST_DEPTH, asked))
    sides = [_Side(level.nodes.get(direction, []), level.bits, law.width_bits, direction) for direction in (1, -1)]
    allowed = float(outside) * (1 - _ALLOWANCE) * sum(side.least for side in sides)

    def holds(t: int) -> bool:
        return _outside(sides[0], sides[1], law.mode, t) <= allowed

    low, high = -1, 1
    while not holds(high):
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if holds(middle) else (middle, high)
    return high


def _outside(right: _Side, left: _Side, mode: int, t: int) -> float:
    """Return an upper bound for the weight of |x| > t. Right of the mode lie mode, mode + 1, …; left mode - 1, …"""
    nearest = t + 1 - mode
    above = right.beyond(nearest) if nearest >= 0 else right.beyond(0) + left.within(-nearest)
    return above + left.beyond(mode + t)


class _Side:
    """Bounds for the weight of the integers on one side of the mode, which are numbered outwards from zero."""

    def __init__(self, nodes: list[Enclosure], bits: int, width_bits: int, direction: int) -> None:
        self._width = 1 << width_bits
        self._first = 0 if direction == 1 else 1  # the distance of a block's first integer from its inner node
        self._heights = [high / (1 << bits) for _, high in nodes]
        self._falls = [math.log(a / b) if b else math.inf for a, b in pairwise(self._heights)]
        self._blocks = len(self._falls)
        unseen = self._width * ((rest(nodes) or 0) / (1 << bits)) if nodes else 0.0
        most = [self._most(block, 0, self._width) for block in range(self._blocks)]
        self._outer = list(accumulate(reversed(most), initial=unseen))[::-1]
        self._inner = list(accumulate(most, initial=0.0))
        self.least = sum(self._chord(block, 0, self._width) for block in range(self._blocks))

    def beyond(self, number: int) -> float:
        """Return an upper bound for the weight of the integers from `number` on."""
        block, start = divmod(number, self._width)
        if block >= self._blocks:
            return self._outer[-1]
        return self._most(block, start, self._width) + self._outer[block + 1]

    def within(self, number: int) -> float:
        """Return an upper bound for the weight of the integers before `number`."""
        block, stop = divmod(number, self._width)
        if block >= self._blocks:
            return self._inner[-1] + self._outer[-1]
        return self._inner[block] + self._most(block, 0, stop)

    def _chord(self, block: int, start: int, stop: int) -> float:
        """Return the sum of f over a stretch of a block, were ln f a straight line there."""
        if self._width == 1:
            return self._heights[block + self._first] * (stop - start)
        slope = self._falls[block] / self._width
        if math.isinf(slope):
            return self._heights[block] * (start == 0 and self._first == 0)
        count = float(stop - start)
        if slope > 0:
            count = math.expm1(-slope * count) / math.expm1(-slope)
        return self._heights[block] * math.exp(-slope * (start + self._first)) * count

    def _most(self, block: int, start: int, stop: int) -> float:
        if self._width == 1:
            return self._chord(block, start, stop)
        before = self._falls[block - 1] if block else 0.0
        after = self._falls[block + 1] if block + 1 < self._blocks else math.inf
        lift = min((after - before) / 2, self._falls[block])
        if math.isinf(lift):
            return self._heights[block] * (stop - start)
        return self._chord(block, start, stop) * math.exp(lift)
