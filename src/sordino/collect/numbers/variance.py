"""Variance and mean of a number: each device draws whether it answers for the number or for its square.

With y = 2(x − low)/(high − low) − 1, from −1 to 1, half of the people answer for y and half for y², each with the whole
of ε (`attributes`). The variance of y is the mean of y² less the square of the mean, and that square is too large by
the mean's own squared standard error, which is taken away again: so the estimate is unbiased.

It is about the people from whom those who answered were drawn, as a variance mostly is: standard errors count who drew
what, and whom the survey reached.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from sordino.arguments import whole
from sordino.collect.randomizer import Codes, Counts

from .attributes import Attributes
from .estimated import Estimated
from .scale import Scale


@dataclass(frozen=True)
class Moments:
    """A mean and a variance."""

    mean: Estimated
    variance: Estimated


@dataclass(frozen=True)
class VarianceQuestion:
    """The number of each person, or its square."""

    scale: Scale
    randomizer: Attributes
    why: str = ""

    def code(self, value: Any) -> tuple[int, int]:
        """Return the codes of a number and of its square, counted from the middle of the bounds."""
        code = self.scale.code(value)
        return code, int(self._squared(np.asarray(code)))

    def codes(self, values: Any) -> Codes:
        """Return the codes of many numbers and of their squares, one row each."""
        codes = self.scale.codes(values)
        return np.stack([codes, self._squared(codes)], axis=1)

    def _squared(self, codes: Codes) -> Codes:
        steps = self.scale.steps
        return np.asarray((np.square(2 * codes - steps) + steps // 2) // steps)

    def public(self) -> Mapping[str, Any]:
        """Return the bounds, and how it is answered."""
        return {"what": "variance", "scale": dict(self.scale.public()), "randomizer": dict(self.randomizer.public())}

    def estimate(self, counts: Counts, reports: float) -> Moments:
        """Return mean and variance; the mean is of those `reports` who answered."""
        first, second = self.randomizer.estimate(counts, math.inf)
        mean, own = 2 * first.value - 1, 2 * first.standard_error
        value = second.value - (mean**2 - own**2)
        error = math.sqrt(second.standard_error**2 + 4 * mean**2 * own**2 + 2 * own**4)
        found = Estimated(np.asarray(value), np.asarray(error), first.reports + second.reports)
        answered = self.randomizer.estimate(counts, reports)[0]
        return Moments(answered.in_units(float(self.scale.low), float(self.scale.high)), found.scaled(self._unit))

    @property
    def _unit(self) -> float:
        return self.scale.width**2 / 4

    def error(self, people: int) -> float:
        """Return a standard error of the variance that is not passed with so many people, whatever they hold."""
        of_mean, of_square = self.randomizer.error(people)
        own = 2 * of_mean
        return math.sqrt(of_square**2 + 4 * own**2 + 2 * own**4) * self._unit

    def poison(self, people: int, colluding: int) -> float:
        """Return how far so many can move the variance, together.

        Some of them answer for the square and the rest for the number: the worst of 101 ways to divide them, and of 201
        means that all others may have, and a thousandth more for what lies between. The others' variance is then 0 to
        raise it, and the largest to lower it.
        """
        count = whole("people", people, least=1)
        liars = whole("colluding", colluding, least=0, most=count)
        split = np.linspace(0, liars, 101)[:, None]
        mean = np.linspace(-1, 1, 201)[None, :]
        half = (count - liars) / 2
        with np.errstate(invalid="ignore"):
            one, two = (np.nan_to_num(told / (half + told), nan=0.0) for told in (liars - split, split))
        far = [way.linear.reach for way in self.randomizer.ways]
        over = np.maximum((1 - one) * np.abs(mean) - one * 2 * far[0], 0)  # the mean need not pass the middle
        raised = two * (0.5 + far[1] - mean**2) + mean**2 - np.square(over)
        share = liars / count
        before = 1 - np.square(np.maximum((1 - share) * np.abs(mean) - share, 0))
        after = 1 + two * (0.5 - far[1] - 1) - np.square((1 - one) * np.abs(mean) + one * 2 * far[0])
        return float(max(raised.max(), (before - after).max())) * 1.001 * self._unit
