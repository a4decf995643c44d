"""A fit as a plan: all noisy sums that it will release, each with its bound and its noise, before data is seen.

Every estimator of this room learns from the data through sums over rows alone. A `Sum` says how far one row can move
one of them; `spending.py` finds the noise of all; the model itself is post-processing.

**Guarantee**: what a fit releases is the sums of its plan, each at most as often as the plan says, with the noise of
its mechanism, and nothing else. Sums that depend on earlier noisy ones (a gradient at the weights so far) compose
adaptively, which every calculus of an account covers.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from sordino.accounting.bound import Bound
from sordino.accounting.digest import digest_of
from sordino.accounting.event import Event
from sordino.accounting.events import Composed, Repeated
from sordino.mechanisms.gaussian import Gaussian
from sordino.mechanisms.grid import Grid
from sordino.mechanisms.laplace import Laplace
from sordino.mechanisms.partition import GaussianThreshold, LaplaceThreshold

COUNTS = Grid(-30, exact=True)
"""The grid of counts: finer than whole numbers, so that noise below one of them is what it says."""

Noise = Gaussian | Laplace | GaussianThreshold | LaplaceThreshold


@dataclass(frozen=True)
class Sum:
    """One sum over rows that a fit needs: how far a row that comes or goes moves it, and its share of what is spent."""

    name: str
    bound: Bound
    share: Fraction
    grid: Grid = COUNTS
    times: int = 1
    """How often it is released, at most: once for each step of a descent."""
    names: bool = False
    """Whether its places are named by the data (class labels): those with few rows are not shown."""


@dataclass(frozen=True)
class Noisy:
    """A sum with the noise that pays for it."""

    name: str
    bound: Bound
    mechanism: Noise
    times: int

    @cached_property
    def once(self) -> Event:
        """What one release runs."""
        return self.mechanism.event(self.bound)

    def event(self) -> Event:
        """Return what all its releases run."""
        return self.once if self.times == 1 else Repeated(self.once, self.times)


@dataclass(frozen=True)
class EstimatorPlan:
    """One fit, or one score: it keeps the Plan protocol."""

    dataset: str
    estimator: str
    words: Mapping[str, Any]
    """What the user said, and how many columns there are: public."""
    sums: tuple[Noisy, ...]

    kind: ClassVar[str] = "estimator"
    days: ClassVar[tuple[str, ...]] = ()
    parts: ClassVar[int] = 0
    large: ClassVar[bool] = False

    @property
    def bound(self) -> Bound:
        """What one row can change in the first thing that is released (the unit and the relation are those of all)."""
        return self.sums[0].bound

    def event(self) -> Event:
        """Return all that is released."""
        events = tuple(each.event() for each in self.sums)
        return events[0] if len(events) == 1 else Composed(events)

    def digest(self) -> str:
        """Return the digest of the plan."""
        return digest_of((self.kind, self))


@dataclass(frozen=True)
class Fitted:
    """What a fit releases, as the ledger keeps it: which estimator, and the digest of what it learned."""

    plan: EstimatorPlan
    learned: Mapping[str, Any]
    """The fitted attributes, by name; noisy."""
    receipt: Any = None
    files: ClassVar[Mapping[str, bytes]] = {}

    def to_json(self) -> str:
        """Return the manifest."""
        learned = {name: _spelled(each) for name, each in self.learned.items()}
        manifest = {
            "estimator": self.plan.estimator,
            "sums": {each.name: each.times for each in self.plan.sums},
            "parameters": digest_of(learned),
        }
        return json.dumps(manifest, separators=(",", ":"))

    def with_receipt(self, receipt: Any) -> Fitted:
        """Return the same with the ledger's receipt."""
        return replace(self, receipt=receipt)


def _spelled(value: Any) -> Any:
    """Return what was learned as a digest reads it: labels of mixed kinds one by one."""
    return value.tolist() if isinstance(value, np.ndarray) and value.dtype == object else value
