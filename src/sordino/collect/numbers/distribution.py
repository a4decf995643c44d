"""Distributions from the histogram of cells: unbiased shares with intervals, likely shares by EM, quantiles.

Three answers to one question, each for another use:
- `raw` and `cumulative` are linear in the counts, so unbiased, and their intervals cover as often as they say. Single
  shares are far off, sums of neighbours much less.
- `likely` is what makes the counts most likely, found by expectation maximisation and stopped early; with `smooth=True`
  neighbours are averaged after each step. No share is negative and they sum to 1. No interval is claimed for it: both
  stopping and averaging lean towards even shares.
- `quantile` reads its value off `likely`, and its interval off `cumulative`: every point at which the share of people
  below it may be the one asked for. It covers at least as often as it says.

What is random is the coins, and which people answered if they were drawn from more.
**Source**: Li et al. 2020, section 5.4 (EM and EMS, and when to stop them).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from sordino.arguments import probability
from sordino.collect.randomizer import Counts

from .estimated import Estimated, Floats, normal_quantile

_MOST_STEPS = 10_000
_SMOOTH_STOP = 1e-3
_KERNEL = np.array([0.25, 0.5, 0.25])


@dataclass(frozen=True)
class Quantile:
    """A quantile and an interval that holds it at least as often as was asked."""

    value: float
    low: float
    high: float


@dataclass(frozen=True, eq=False)
class Distribution:
    """What the counts of cells say about codes; positions are shares of the range, or from `low` to `high`."""

    counts: Counts
    chances: Floats
    decoder: Floats
    stop: float
    drawn_from: float = 0.0
    low: float = 0.0
    high: float = 1.0

    @property
    def reports(self) -> int:
        """How many reports there are."""
        return int(self.counts.sum())

    @property
    def points(self) -> Floats:
        """Where the codes lie."""
        return np.linspace(self.low, self.high, self.chances.shape[1])

    def _linear(self, rows: Floats, held: Floats) -> Estimated:
        """Return sums of decoded shares, with the variance of the coins.

        Σ_y row_y²·P(y) is the variance of a report plus its squared mean; the mean of that square over what people hold
        is Σ_t weight_t²·share_t, which is `held`. For people who were drawn from more, it is in part the square of the
        mean that is taken away.
        """
        seen = self.counts / self.reports
        values = rows @ seen
        missing = 1 - self.reports / self.drawn_from if self.drawn_from > self.reports else 0.0
        spread = np.square(rows) @ seen - held + missing * (held - np.minimum(np.square(values), held))
        return Estimated(values, np.sqrt(np.maximum(spread, 0.0) / self.reports), self.reports)

    @cached_property
    def raw(self) -> Estimated:
        """The share of people at each code: unbiased, and some below 0."""
        return self._linear(self.decoder, np.clip(self.decoder @ (self.counts / self.reports), 0, 1))

    @cached_property
    def cumulative(self) -> Estimated:
        """The share of people at or below each code: unbiased, and not always rising."""
        rows = np.cumsum(self.decoder, axis=0)
        return self._linear(rows, np.clip(rows @ (self.counts / self.reports), 0, 1))

    @cached_property
    def mean(self) -> Estimated:
        """The mean of what people hold; unbiased."""
        places = np.linspace(0, 1, self.chances.shape[1])
        square = float(np.clip(np.square(places) @ self.decoder @ (self.counts / self.reports), 0, 1))
        return self._linear(places @ self.decoder, np.asarray(square)).scaled(self.high - self.low, self.low)

    def likely(self, *, smooth: bool = False) -> Floats:
        """Return the share of people at each code that makes the counts likely: none negative, 1 in all."""
        shares = np.full(self.chances.shape[1], 1 / self.chances.shape[1])
        before = -np.inf
        for _ in range(_MOST_STEPS):
            expected = self.chances @ shares
            now = float(self.counts @ np.log(expected))
            if now - before < (_SMOOTH_STOP if smooth else self.stop):
                break
            before = now
            shares = shares * (self.chances.T @ (self.counts / expected)) / self.reports
            shares = _smoothed(shares) if smooth else shares / shares.sum()
        return shares

    def quantile(self, share: Any, confidence: Any = 0.95) -> Quantile:
        """Return the point below which that share of people lies, and an interval for it."""
        wanted = float(probability("share", share))
        step = (self.high - self.low) / (self.chances.shape[1] - 1)
        borders = np.append(self.low - step / 2, self.points + step / 2)  # a code stands for half a step to each side
        below = np.append(0.0, np.cumsum(self.likely()))
        value = float(np.interp(wanted, below / below[-1], borders))
        widths = normal_quantile(confidence) * self.cumulative.standard_errors
        upper = np.append(0.0, self.cumulative.values + widths)
        lower = np.append(0.0, self.cumulative.values - widths)
        low = _crossing(borders, upper, wanted)
        high = -_crossing(-borders[::-1], -lower[::-1], -wanted)
        ends = np.clip([value, min(low, value), max(high, value)], self.low, self.high)
        return Quantile(*(float(end) for end in ends))

    def in_units(self, low: float, high: float) -> Distribution:
        """Return the same with positions from `low` to `high`."""
        return Distribution(self.counts, self.chances, self.decoder, self.stop, self.drawn_from, low, high)


def _smoothed(shares: Floats) -> Floats:
    padded = np.pad(shares, 1, mode="edge")
    found = np.convolve(padded, _KERNEL, mode="valid")
    return np.asarray(found / found.sum(), dtype=np.float64)


def _crossing(places: Floats, values: Floats, level: float) -> float:
    """Return the first place at which values, joined by lines, reach a level; the last place if they never do."""
    reached = np.flatnonzero(values >= level)
    if len(reached) == 0:
        return float(places[-1])
    first = int(reached[0])
    if first == 0:
        return float(places[0])
    rise = (level - values[first - 1]) / (values[first] - values[first - 1])
    return float(places[first - 1] + rise * (places[first] - places[first - 1]))
