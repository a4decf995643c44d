"""How many trials a search has: a random number, so that the best of them hides how many there were.

**Guarantee**: `draw` gives exactly the law that `event` is priced for.
**Source**: Papernot, Steinke 2022, *Hyperparameter tuning with Rényi differential privacy*, Theorems 2 and 6.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, Protocol

from sordino import noise
from sordino.accounting.event import Event
from sordino.accounting.events import PoissonSearched, Pure, Searched
from sordino.accounting.searched import mean_runs
from sordino.arguments import Number, one_of, rational

MOST = 10_000
"""More trials than that, on average, are not searched."""

_FINENESS = 10**6


class Trials(Protocol):
    """A law of the number of trials: public."""

    @property
    def name(self) -> str:
        """What users call it."""
        ...

    def event(self, trial: Event) -> Event:
        """Return what the best of so many trials is, each of them `trial`."""
        ...

    def draw(self) -> int:
        """Return how many trials are run. Secret."""
        ...


@dataclass(frozen=True)
class Repeating:
    """Truncated negative binomial: of shape 1, each trial is the last with probability `stopping`; never none."""

    stopping: Fraction
    shape: Fraction

    @property
    def name(self) -> str:
        """What users call it."""
        return "geometric" if self.shape == 1 else "logarithmic"

    def event(self, trial: Event) -> Event:
        """Return the search."""
        return Searched(trial, self.stopping, self.shape)

    def draw(self) -> int:
        """Return how many trials are run."""
        return self.law.draw()

    @property
    def law(self) -> noise.TruncatedNegativeBinomial:
        """The law of their number."""
        return noise.TruncatedNegativeBinomial(self.stopping, self.shape)


@dataclass(frozen=True)
class PoissonTrials:
    """A Poisson number of trials; none with probability e^−mean, and then nothing is found."""

    mean: Fraction
    name: ClassVar[str] = "poisson"

    def event(self, trial: Event) -> Event:
        """Return the search."""
        return PoissonSearched(trial, self.mean)

    def draw(self) -> int:
        """Return how many trials are run."""
        return noise.Poisson(self.mean).draw()


def _geometric(mean: Fraction) -> Trials:
    return Repeating(1 / mean, Fraction(1))


def _logarithmic(mean: Fraction) -> Trials:
    """Return the logarithmic law whose mean is `mean`, or a little less, as `stopping` is a multiple of a millionth."""
    low, high = 1, _FINENESS - 1
    while low < high:
        middle = (low + high) // 2
        few = mean_runs(Searched(Pure(Fraction(1)), Fraction(middle, _FINENESS), Fraction(0))) <= mean
        low, high = (low, middle) if few else (middle + 1, high)
    return Repeating(Fraction(low, _FINENESS), Fraction(0))


LAWS: dict[str, Callable[[Fraction], Trials]] = {
    "geometric": _geometric,
    "logarithmic": _logarithmic,
    "poisson": PoissonTrials,
}


def trials_of(law: str, mean: Number) -> Trials:
    """Return the law of a name with so many trials on average."""
    return LAWS[one_of("law", law, tuple(LAWS))](rational("trials", mean, least="1.1", most=MOST))
