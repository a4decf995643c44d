"""Quantiles of groups by permute-and-flip: never further off in expectation than by the exponential mechanism.

Buckets are looked at in random order; the first whose coin, exp(rate·(score − best score)), shows heads is chosen. The
scores and the rate are those of ``grouped_choice.py``. The gain is large where few buckets compete (ages, whole prices:
13 % of the root mean square error where a bucket holds about 2/ε rows), and goes to nothing as buckets become fine,
where this is the exponential mechanism.

**Guarantee**: pure ε for all groups together, exactly. It is *not* of bounded range, so its event is its own, and
whoever pays in ρ is better served by `GroupedQuantile`.
**Proof.** In a group where one unit's weights add up to w, scores move by at most w·Δ each, so the choice costs
2·rate·w·Δ, or rate·w·Δ if all of them move in one direction (``noisy_max.py``, with exponential noise of scale 1/rate).
Groups are drawn independently, so costs add up: 2·rate·W·Δ = ε, or rate·W·Δ = ε, as ``grouped_choice.py`` has it.
*Order*: the different ones of several uniform draws, as they first appear, begin a uniformly random order; if none of
their coins shows heads, the others follow in random order, and the first head among those is a uniform one of their
heads. The best bucket's coin always shows heads, so there is one.
**Assumes**: the histogram's weights obey the bound.
**Source**: McKenna, Sheldon 2020, Theorems 1 and 2; Ding, Kifer, Sayed, Steinke, Wang, Xiao, Zhang 2021.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from sordino import noise
from sordino.accounting import events
from sordino.accounting.bound import Bound
from sordino.accounting.event import Event
from sordino.arguments import whole

from .grid import Steps
from .grouped_choice import GroupedQuantile
from .mechanism import remembered

MOST_BUCKETS = 2**16
"""Beyond so many, flipping a coin for each takes long, and would gain nothing."""
_FIRST = 256


@dataclass(frozen=True)
class FlippedQuantile(GroupedQuantile):
    """For each group the bucket where the quantile lies, by permute-and-flip; all else as in `GroupedQuantile`.

    The bound of `error` holds here as well: a bucket that is t ranks off must show heads, with chance e^(−rate·t).

    >>> FlippedQuantile("0.5", epsilon=1, buckets=100).event(Bound.scalar(1))
    PermuteAndFlip(epsilon=Fraction(1, 1))
    """

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "buckets", whole("buckets", self.buckets, least=1, most=MOST_BUCKETS))

    @remembered
    def event(self, bound: Bound) -> Event:
        """Return what one release runs: one permute-and-flip, over all groups."""
        return events.PermuteAndFlip(self._checked_epsilon(bound))

    @staticmethod
    def _draw(counts: Steps, scores: Steps, rate: Fraction) -> tuple[int, int]:
        """Return the run and the place in it of the first bucket, in random order, whose coin shows heads."""
        ends, gaps = np.cumsum(counts), scores.max() - scores
        every = int(ends[-1])
        first = _different(noise.uniform(every, _FIRST)) if every > _FIRST else np.zeros(0, dtype=np.int64)
        heads = first[noise.flip(gaps[np.searchsorted(ends, first, "right")], rate)]
        if heads.size:
            chosen = int(heads[0])
        else:
            others = np.delete(np.arange(every), first)
            heads = others[noise.flip(np.delete(np.repeat(gaps, counts), first), rate)]
            chosen = int(heads[noise.uniform(heads.size)])
        run = int(np.searchsorted(ends, chosen, "right"))
        return run, chosen - int(ends[run] - counts[run])


def _different(draws: Steps) -> Steps:
    """Return each number that was drawn once, in the order of first appearance."""
    _, places = np.unique(draws, return_index=True)
    return draws[np.sort(places)]
