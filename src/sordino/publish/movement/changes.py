"""Change from a noisy baseline, with intervals; and which cells are too uncertain to be shown.

The baseline b of a region and a weekday is the mean of the noisy counts of the baseline's k days of that weekday. The
change on a later day of count x is r − 1 with r = x/b. Its interval is Fieller's: all r for which x − r·b, which is
noise alone, is as near to 0 as noise of its law is with the confidence asked.

**Guarantee**: everything here is post-processing of noisy counts. An interval covers the ratio of the bounded counts
with its confidence (where b's noise could carry it to 0, the interval has no end).
**Source**: Fieller 1954. The Community Mobility Reports (Aktay et al. 2020) take medians of five weeks, Laplace noise
and leave out what is too uncertain; they use no sparse vector.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sordino.arguments import Number
from sordino.query.estimate.tails import half_width

Floats = NDArray[np.float64]

_RATIOS = np.concatenate([np.linspace(0, 2, 9), [3.0, 5.0, 10.0]])
"""Where the reach of x − r·b is computed; between them it is convex, so a chord lies above it."""
_ROUNDS = 40


@dataclass(frozen=True, eq=False)
class Changes:
    """Regions × later days: counts, what was usual, and the change in percent with its interval."""

    people: Floats
    usual: Floats
    change: Floats
    low: Floats
    high: Floats

    def certain(self, within: float) -> NDArray[np.bool_]:
        """Return which cells are certain enough to show: by noisy values alone."""
        with np.errstate(invalid="ignore"):
            wide = (self.high - self.low) / 2
        return np.isfinite(wide) & (wide <= within)


def changes(
    noisy: Floats,
    law: Any,
    usual: NDArray[np.int64],
    later: NDArray[np.int64],
    weekdays: NDArray[np.int64],
    confidence: Number,
) -> Changes:
    """Return the changes of all later days. `noisy` is regions × days, each with noise of `law`."""
    base, times = baselines(noisy, usual, weekdays)
    people, before = noisy[:, later], base[:, weekdays[later]]
    reaches = {int(count): _reach(law, int(count), confidence) for count in np.unique(times)}
    reach = np.stack([reaches[int(times[weekday])] for weekday in weekdays[later]])
    low, high = (_end(people, before, reach, side) for side in (-1, 1))
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.where(before > 0, people / before, np.nan)
    return Changes(people, before, 100 * (ratio - 1), 100 * (np.maximum(low, 0) - 1), 100 * (high - 1))


def baselines(noisy: Floats, usual: NDArray[np.int64], weekdays: NDArray[np.int64]) -> tuple[Floats, NDArray[np.int64]]:
    """Return regions × weekdays of mean noisy counts of the baseline's days, and of how many days each is the mean."""
    times = np.bincount(weekdays[usual], minlength=7)
    base = np.stack([noisy[:, usual[weekdays[usual] == weekday]].mean(axis=1) for weekday in range(7)], axis=1)
    return base, times


def _reach(law: Any, times: int, confidence: Number) -> Floats:
    """Return, for each of `_RATIOS`, how far noise carries x − r·b."""
    return np.array([half_width([(law, 1.0), *[(law, ratio / times)] * times], confidence) for ratio in _RATIOS])


def _end(people: Floats, before: Floats, reach: Floats, side: int) -> Floats:
    """Return the end of Fieller's interval on one side, by going there and back: r = (x ± reach(r))/b.

    The reach grows in r by less than the noise of b reaches; where b is not clearly above that, there is no end.
    """
    slope = (reach[:, -1] - reach[:, 0]) / _RATIOS[-1]
    clear = before > 2 * slope[None, :]
    safe = np.where(clear, before, 1.0)
    ratio = np.where(clear, people / safe, 0.0)
    for _ in range(_ROUNDS):
        ratio = (people + side * _interpolated(np.abs(ratio), reach)) / safe
    return np.asarray(np.where(clear, ratio, np.inf * side))


def _interpolated(ratio: Floats, reach: Floats) -> Floats:
    columns = [np.interp(ratio[:, place], _RATIOS, reach[place]) for place in range(ratio.shape[1])]
    slope = (reach[:, -1] - reach[:, -2]) / (_RATIOS[-1] - _RATIOS[-2])
    beyond = np.maximum(ratio - _RATIOS[-1], 0) * slope[None, :]
    return np.asarray(np.stack(columns, axis=1) + beyond)
