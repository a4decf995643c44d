"""The score of a model, as a release: units that it gets right and units that it gets wrong, with Laplace noise.

**Guarantee**: each unit adds 1 in all to the two sums, so one that comes or goes moves them by 1 in the 1-norm, and
both cost ε together. Their ratio is post-processing.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from sordino.accounting.bound import Bound, Unit
from sordino.accounting.digest import digest_of
from sordino.accounting.event import Event
from sordino.accounting.grant import Grant
from sordino.arguments import Number
from sordino.mechanisms.laplace import Laplace

from .examples import Examples

_GRID_BITS = 20


@dataclass(frozen=True)
class ScorePlan:
    """One score of a model on `dataset`."""

    dataset: str
    unit: Unit
    mechanism: Laplace

    kind: ClassVar[str] = "score"
    days: ClassVar[tuple[str, ...]] = ()
    parts: ClassVar[int] = 0
    large: ClassVar[bool] = False

    @classmethod
    def of(cls, examples: Examples, epsilon: Number) -> ScorePlan:
        """Return the score that costs `epsilon`."""
        bound = _bound(examples.unit)
        return cls(examples.name, examples.unit, Laplace.for_epsilon(epsilon, bound, None))

    @cached_property
    def bound(self) -> Bound:
        """What one unit adds to the two sums."""
        return _bound(self.unit)

    def event(self) -> Event:
        """Return what the two sums cost together."""
        return self.mechanism.event(self.bound)

    def digest(self) -> str:
        """Return the digest of the plan."""
        return digest_of((self.kind, self))

    def score(self, right: NDArray[np.float64]) -> Score:
        """Return the noisy score from each unit's share; whoever calls has used the plan's grant.

        Shares are rounded to whole multiples of 2⁻²⁰ first, so that sums are exact and the order of units has no say.
        """
        whole = np.rint(np.nan_to_num(np.clip(right, 0, 1)) * 2**_GRID_BITS).astype(np.int64)
        sums = np.array([whole.sum(), len(whole) * 2**_GRID_BITS - whole.sum()]) / 2**_GRID_BITS
        noisy = self.mechanism.release(sums, Grant(self.event(), self.bound))
        reach = self.mechanism.error(0.975)
        return Score.of(float(noisy[0]), float(noisy[1]), reach)


@dataclass(frozen=True)
class Score:
    """The share of units that a model gets right, with a 95 % interval for the noise."""

    accuracy: float
    low: float
    high: float
    receipt: Any = None
    files: ClassVar[Mapping[str, bytes]] = {}

    @classmethod
    def of(cls, right: float, wrong: float, reach: float) -> Score:
        """Return the score of two noisy sums, each off by at most `reach` with probability 0.975."""
        most, least = (_share(right + sign * reach, wrong - sign * reach) for sign in (1, -1))
        return cls(_share(right, wrong), least, most)

    def to_json(self) -> str:
        """Return the score and its interval."""
        return json.dumps({"accuracy": self.accuracy, "low": self.low, "high": self.high})

    def with_receipt(self, receipt: Any) -> Score:
        """Return the same with the ledger's receipt."""
        return replace(self, receipt=receipt)

    def __str__(self) -> str:
        return f"{self.accuracy:.3f} (95 %: {self.low:.3f} to {self.high:.3f})"


def _bound(unit: Unit) -> Bound:
    return Bound.vector(l0=2, l1=1, unit=unit)


def _share(right: float, wrong: float) -> float:
    positive, negative = max(right, 0.0), max(wrong, 0.0)
    return positive / (positive + negative) if positive + negative > 0 else 0.5
