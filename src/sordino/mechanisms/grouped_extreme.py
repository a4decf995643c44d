"""The least or the largest value of each group, looked for a few ranks inside.

Every bucket between the extreme and the end of the range has the extreme's own rank, and there may be far more of those
than of others: whoever aims at that rank gets any of them. So this aims inside, by `offset` ranks, but by no more than
a twentieth of the group. A bucket that covers the ranks [b, e] of n has, for the largest value, the score
min(4·(t − b), e − t), t = n − min(|offset|, n/20): it falls four times as fast outwards, where the empty buckets are,
as inwards. For the least value all of it is upside down.

**Guarantee**: ε-bounded range for all groups together, and so pure ε, exactly.
**Proof.** Say the largest. Add a weight w: t rises by at least 19/20·w and at most w, b and e by 0 to w. So t − b moves
within [−w/20, w], e − t within [−w, w/20], and min(4·(t − b), e − t) within [−w, 4·w]: an interval of length 5·w, and
log probabilities move within one of rate·5·w. Remove: the same mirrored. Under the other relations what goes and what
comes adds up: within ±5·w. Groups are drawn independently, so lengths add up (``grouped_choice.py``): 5·rate·W = ε
under add/remove, 10·rate·W = ε else. (The group's size is in the score, as in any quantile's, and nowhere else.)
**Error.** A bucket beyond the extreme has a score of −4·|offset|, and there are at most `buckets` of them; so one is
chosen with a chance of at most β if |offset| = ln(buckets/β)/(4·rate), in groups of twenty times that and more; smaller
ones are served well only if their values reach near the end of the range. Given β, the sum of the offset and of what is
missed inwards, about 1/rate, is least if outwards is √ln(buckets/β) times as steep: from 3 to 5, here 4.
**Assumes**: the histogram's weights obey the bound.
**Source**: McSherry, Talwar 2007, Theorem 6; Dong, Durfee, Rogers 2020 (range); the slopes are our own.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from sordino.accounting.bound import Bound
from sordino.accounting.neighbours import Neighbours
from sordino.errors import ArgumentError

from .grid import Steps
from .grouped_choice import GroupedQuantile

_OUTWARDS = 4
_PART = 20
"""At most one part in so many of a group lies outwards of what is aimed at."""
_STRAY = Fraction(1, 1000)
"""How likely, at most, the choice lies beyond the extreme."""


@dataclass(frozen=True)
class GroupedExtreme(GroupedQuantile):
    """For each group the bucket near its least (`quantile` 0) or largest (1) value; `offset` points inwards.

    >>> GroupedExtreme.of(1, epsilon=1, buckets=1000, bound=Bound.scalar(1)).offset
    -18
    """

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.quantile not in (0, 1) or self.guard or self.offset * (1 - 2 * self.quantile) < 0:
            raise ArgumentError("an extreme is quantile 0 or 1, with an offset inwards and no guard", "SRD-A002")

    @classmethod
    def of(cls, quantile: Fraction | int, epsilon: Fraction | int, buckets: int, bound: Bound) -> GroupedExtreme:
        """Return the choice that aims as far inside as it takes to hardly ever lie beyond the extreme."""
        bare = cls(Fraction(quantile), Fraction(epsilon), buckets)
        depth = math.ceil(Fraction(math.log(buckets / _STRAY)) / (_OUTWARDS * bare.fall(bound)))
        return cls(bare.quantile, bare.epsilon, bare.buckets, -depth if quantile else depth)

    def rate(self, bound: Bound) -> Fraction:
        """Return ε over how far a unit moves scores apart, multiplied to be whole."""
        apart = (1 if bound.neighbours is Neighbours.ADD_REMOVE else 2) * (_OUTWARDS + 1)
        return self.epsilon / (apart * bound.l1 * _PART)

    def aim(self, every: int) -> Fraction:
        """Return the rank that is looked for in a group that weighs so much."""
        inside = min(Fraction(abs(self.offset)), Fraction(every, _PART))
        return every - inside if self.quantile else inside

    @property
    def _scale(self) -> int:
        return _PART

    def _scores(self, target: int, below: Steps, upto: Steps) -> Steps:
        down, up = (_OUTWARDS, 1) if self.quantile else (1, _OUTWARDS)
        return np.minimum(down * (target - below), up * (upto - target))
