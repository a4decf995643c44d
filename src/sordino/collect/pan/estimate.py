"""What follows from the noisy counts of cells: estimates with standard errors. It is post-processing, and free."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy
from numpy.typing import NDArray

from sordino.arguments import probability, rational

from .plan import PanPlan


@dataclass(frozen=True)
class Distinct:
    """How many units came, with a standard error; below 0 it may come out, for cutting it off would bias it."""

    number: float
    standard_error: float
    saturated: bool = False
    """Whether so many cells were overwritten that a number cannot be told: declare more units to be expected."""

    def interval(self, confidence: float = 0.95) -> tuple[float, float]:
        """Return (low, high) by the normal law."""
        width = _width(confidence) * self.standard_error
        return self.number - width, self.number + width


@dataclass(frozen=True)
class Held:
    """How many units hold each item, by their last update, with standard errors."""

    items: tuple[str, ...]
    numbers: NDArray[np.float64]
    standard_errors: NDArray[np.float64]

    def heavy(self, least: float, confidence: float = 0.95) -> dict[str, float]:
        """Return the items that at least so many units hold, the most first, none of which holds fewer by chance.

        With `confidence` no item that fewer hold is among them: each is held against the normal law with its share of
        what may go wrong.
        """
        limit, wrong = float(rational("least", least)), 1 - float(probability("confidence", confidence))
        sure = self.numbers - float(scipy.special.ndtri(1 - wrong / len(self.items))) * self.standard_errors >= limit
        order = np.argsort(-self.numbers, kind="stable")
        return {self.items[place]: float(self.numbers[place]) for place in order if sure[place]}

    def intervals(self, confidence: float = 0.95) -> NDArray[np.float64]:
        """Return (low, high) for each item by the normal law."""
        widths = _width(confidence) * self.standard_errors
        return np.stack([self.numbers - widths, self.numbers + widths], axis=1)


def overwritten(plan: PanPlan, counts: Any, randomised: int) -> NDArray[np.float64]:
    """Return how many cells hold each item, unbiased: those that show it, less those that show 0, by the strength."""
    shown = np.asarray(counts, dtype=np.float64)
    strength = float(plan.coins.strength(randomised))
    found: NDArray[np.float64] = 2 * shown - plan.cells if shown.size == 1 else shown[1:] - shown[0]
    return found / strength


def came(plan: PanPlan, counts: Any, randomised: int) -> Distinct:
    """Return how many units came: cells that were overwritten, and where units are hashed, who shared them.

    Where n units have fallen into m cells evenly, m(1 − e^(−n/m)) are overwritten (Whang, Vander-Zanden, Taylor 1990);
    how many exactly has variance m·e^(−n/m)(1 − (1 + n/m)e^(−n/m)).
    """
    cells = float(overwritten(plan, counts, randomised)[0])
    error = plan.standard_error(randomised)
    if plan.ids is None:
        return Distinct(cells, error)
    free = 1 - cells / plan.cells
    saturated = free < 2 * error / plan.cells
    free = max(free, 1 / plan.cells)
    load = -math.log(free)
    chance = plan.cells * free * max(1 - (1 + load) * free, 0)
    return Distinct(plan.cells * load, math.sqrt(error**2 + chance) / free, saturated)


def held(plan: PanPlan, counts: Any, randomised: int) -> Held:
    """Return how many units hold each item."""
    found = overwritten(plan, counts, randomised)
    return Held(plan.items, found, np.array([plan.standard_error(randomised, each) for each in found.tolist()]))


def _width(confidence: float) -> float:
    return float(scipy.special.ndtri((1 + float(probability("confidence", confidence))) / 2))
