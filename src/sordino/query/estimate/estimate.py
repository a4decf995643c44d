"""Estimates: noisy values of one aggregate for all groups, with intervals for what the noise hides.

An interval covers the *bounded* answer, the exact one after clipping and truncation, with the confidence asked for, in
each group by itself. (For all of k groups together ask for the confidence 1 − (1 − confidence)/k.)

All arrays have one entry for each group. NaN stands for NULL.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from sordino.arguments import Number, probability
from sordino.noise import DiscreteLaplace, RoundedGaussian

from .convolution import Floats
from .tails import Noise, Noises, half_width, variance

Rows = NDArray[np.int64]
"""Places of groups, to keep, in that order."""
Interval = tuple[Floats, Floats]


class Estimate(ABC):
    """Noisy values of one aggregate."""

    values: Floats
    whole: bool = False
    """Whether values and what they estimate are whole numbers, always: a matter of the plan, never of the data."""

    @abstractmethod
    def interval(self, confidence: Number) -> Interval:
        """Return the low and the high ends; each interval contains its value."""

    @abstractmethod
    def take(self, rows: Rows) -> Self:
        """Return the estimate for these groups only."""

    @property
    def standard_error(self) -> Floats | None:
        """The standard deviation of the noise in each value, where it is known."""
        return None


@dataclass(frozen=True, eq=False)
class Linear(Estimate):
    """Values with the same known noise Σ cᵢZᵢ in each group: counts and sums."""

    values: Floats
    noises: Noises
    whole: bool = False

    def interval(self, confidence: Number) -> Interval:
        """Return value ± t. **Guarantee**: coverage is at least nominal, and hardly above."""
        reach = half_width(self.noises, confidence)
        return self.values - reach, self.values + reach

    @property
    def standard_error(self) -> Floats:
        """The same for all groups."""
        return np.full(len(self.values), math.sqrt(variance(self.noises)))

    def take(self, rows: Rows) -> Linear:
        """Return the estimate for these groups only."""
        return replace(self, values=self.values[rows])


@dataclass(frozen=True, eq=False)
class Combined(Estimate):
    """Values with noise of known variance that is a sum of many, with weights that differ from group to group.

    The half width is that of the worst sum of this variance: for Laplace noise among single noises, equal sums of 2,
    4, 16 and 256 of them, and a normal law, with 0.5 % on top for what lies between.
    """

    values: Floats
    variances: Floats
    laplace: bool
    """Whether any of the noises is Laplace; if not, all are normal."""

    def interval(self, confidence: Number) -> Interval:
        """Return value ± t, t in proportion to the standard error."""
        reach = self.standard_error * _worst_factor(self.laplace, confidence)
        return self.values - reach, self.values + reach

    @property
    def standard_error(self) -> Floats:
        """The root of the variance."""
        return np.asarray(np.sqrt(self.variances))

    def take(self, rows: Rows) -> Combined:
        """Return the estimate for these groups only."""
        return replace(self, values=self.values[rows], variances=self.variances[rows])


_LARGE = 2**24  # scale at which a discrete law is as good as continuous


def _worst_factor(laplace: bool, confidence: Number) -> float:
    laws: list[Noises] = [[(RoundedGaussian(_LARGE**2), 1.0)]]
    if laplace:
        laws += [[(DiscreteLaplace(_LARGE), 1.0)] * count for count in (1, 2, 4, 16, 256)]
    factors = [half_width(noises, confidence) / math.sqrt(variance(noises)) for noises in laws]
    return max(factors) * (1.005 if laplace else 1.0)


_DRAWS = 1999
_CHUNK = 2**21  # numbers in one array of simulated answers


@dataclass(frozen=True, eq=False)
class Derived(Estimate):
    """A function of several noisy vectors: variance, deviation, covariance, correlation, regression coefficients.

    `function` takes an array of shape (vectors, …) and returns one of shape (…), without loops; NaN where undefined.
    The interval is *fiducial*: the released vectors less simulated noise are plausible exact ones, and the interval
    holds the middle of the function's values on 1,999 of them, plus one standard deviation of what such a simulation is
    off by. Where the function is nearly linear within the noise (groups that are large against it) the coverage is
    nominal; for small groups it is not promised, and the interval grows towards `low` and `high`. Where noise could
    make the function undefined, or more confidence is asked for than 1,999 draws can show, it is open on both sides.
    """

    function: Callable[[Floats], Floats]
    released: Floats
    """Vectors × groups."""
    laws: Sequence[Noise]
    low: float = -math.inf
    high: float = math.inf
    values: Floats = field(init=False)
    _simulated: list[Floats] = field(default_factory=list)

    def __post_init__(self) -> None:
        object.__setattr__(self, "values", np.clip(self.function(self.released), self.low, self.high))

    def interval(self, confidence: Number) -> Interval:
        """Return percentiles of simulated answers, within the bounds; the same each time."""
        groups = self.released.shape[1]
        low, high = (np.full(groups, end, dtype=np.float64) for end in (self.low, self.high))
        expected = (_DRAWS + 1) * float(1 - probability("confidence", confidence)) / 2
        if expected < 1:
            return low, high
        skipped = math.floor(expected - math.sqrt(expected))
        size = max(1, _CHUNK // _DRAWS)
        for start in range(0, groups, size):
            part = slice(start, start + size)
            answers = self.function(self.released[:, None, part] - self._noise[:, :, None])
            undefined = np.isnan(answers)
            low[part] = np.partition(np.where(undefined, -np.inf, answers), skipped, axis=0)[skipped]
            kept = _DRAWS - 1 - skipped
            high[part] = np.partition(np.where(undefined, np.inf, answers), kept, axis=0)[kept]
        low, high = np.clip(low, self.low, self.high), np.clip(high, self.low, self.high)
        return np.fmin(low, self.values), np.fmax(high, self.values)

    @property
    def _noise(self) -> Floats:
        """Draws that all groups and all calls share, so that an answer always shows the same interval."""
        if not self._simulated:
            self._simulated.append(np.array([law.draw(_DRAWS) for law in self.laws], dtype=np.float64))
        return self._simulated[0]

    def take(self, rows: Rows) -> Derived:
        """Return the estimate for these groups only; it shares the simulated noise."""
        _ = self._noise
        return replace(self, released=self.released[:, rows], _simulated=self._simulated)


@dataclass(frozen=True, eq=False)
class Chosen(Estimate):
    """Values whose intervals are worked out elsewhere: quantiles, extremes."""

    values: Floats
    ends: Callable[[Number], Interval]
    """From a confidence to low and high ends, for all groups."""
    whole: bool = False

    def interval(self, confidence: Number) -> Interval:
        """Return the ends given, widened to contain the value."""
        low, high = self.ends(confidence)
        return np.fmin(low, self.values), np.fmax(high, self.values)

    def take(self, rows: Rows) -> Chosen:
        """Return the estimate for these groups only."""

        def ends(confidence: Number) -> Interval:
            low, high = self.ends(confidence)
            return low[rows], high[rows]

        return replace(self, values=self.values[rows], ends=ends)


@dataclass(frozen=True, eq=False)
class Several:
    """A list of estimates for each group: quantiles, the bins of a histogram, regression coefficients, a top list."""

    parts: tuple[Estimate, ...]
    labels: tuple[str, ...] | None = None
    """What each part is, the same for all groups, such as ``[0, 10)``."""

    @property
    def values(self) -> Floats:
        """Groups × parts."""
        return np.column_stack([part.values for part in self.parts])

    def interval(self, confidence: Number) -> Interval:
        """Return the ends, groups × parts."""
        ends = [part.interval(confidence) for part in self.parts]
        return np.column_stack([low for low, _ in ends]), np.column_stack([high for _, high in ends])

    def take(self, rows: Rows) -> Several:
        """Return the estimates for these groups only."""
        return replace(self, parts=tuple(part.take(rows) for part in self.parts))


@dataclass(frozen=True, eq=False)
class Picked:
    """Values that are no numbers, chosen privately, one for each group: the most frequent text, a list of the top."""

    values: list[Any]
    lists: bool = False
    """Whether each value is a list."""

    def take(self, rows: Rows) -> Picked:
        """Return the values for these groups only."""
        return replace(self, values=[self.values[row] for row in rows])
