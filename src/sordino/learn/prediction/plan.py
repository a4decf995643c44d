"""What a number of private predictions costs: a noisy vote each, all reserved when the service opens.

**Guarantee**: with (ε, δ) or ρ, Gaussian noise on the votes, as teachers have; with pure ε, permute-and-flip over the
votes, an equal share of ε for each answer. Whatever is asked next may depend on all answers so far.
**Source**: Dwork, Feldman 2018 (private prediction by sample and aggregate); McKenna, Sheldon 2020 (permute-and-flip).
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from sordino.accounting.bound import Bound, Unit
from sordino.accounting.digest import digest_of
from sordino.accounting.event import Event
from sordino.accounting.events import Repeated
from sordino.accounting.grant import Grant
from sordino.learn.run.voting import votes_bound
from sordino.mechanisms.gaussian import Gaussian
from sordino.mechanisms.noisy_max import PermuteAndFlip


@dataclass(frozen=True)
class Noisy:
    """The largest of votes with Gaussian noise."""

    noise: Gaussian

    def bound(self, unit: Unit) -> Bound:
        """Return what one unit can change of the votes."""
        return votes_bound(unit)

    def choose(self, votes: NDArray[np.int64], grant: Grant) -> int:
        """Return the class."""
        return int(np.argmax(self.noise.release(votes, grant)))

    def event(self, bound: Bound) -> Event:
        """Return what one answer runs."""
        return self.noise.event(bound)


@dataclass(frozen=True)
class Flipped:
    """A class by permute-and-flip over the votes."""

    choice: PermuteAndFlip

    def bound(self, unit: Unit) -> Bound:
        """Return what one unit can change of a score."""
        return self.bound_of(unit)

    @staticmethod
    def bound_of(unit: Unit) -> Bound:
        """Return what one unit can change of a score: a number of votes moves by 1."""
        return Bound.scalar(1, unit=unit)

    def choose(self, votes: NDArray[np.int64], grant: Grant) -> int:
        """Return the class."""
        return int(self.choice.release(votes, grant))

    def event(self, bound: Bound) -> Event:
        """Return what one answer runs."""
        return self.choice.event(bound)


@dataclass(frozen=True)
class PredictionPlan:
    """At most `answers` predictions by a vote of models on `models` disjoint parts."""

    dataset: str
    unit: Unit
    models: int
    classes: int
    answers: int
    way: Noisy | Flipped

    kind: ClassVar[str] = "predictions"
    days: ClassVar[tuple[str, ...]] = ()
    large: ClassVar[bool] = False

    @property
    def parts(self) -> int:
        """How many answers may leave, each a part of the open work."""
        return self.answers

    @property
    def bound(self) -> Bound:
        """What one unit can change of the votes about one thing."""
        return self.way.bound(self.unit)

    def event(self) -> Event:
        """Return all answers."""
        return Repeated(self.way.event(self.bound), self.answers)

    def digest(self) -> str:
        """Return the digest of the plan."""
        return digest_of((self.kind, self))

    def answer(self, votes: NDArray[np.int64]) -> int:
        """Return the class that is answered; whoever calls has charged the plan and counts its answers."""
        return self.way.choose(votes, Grant(self.way.event(self.bound), self.bound))


@dataclass(frozen=True)
class Prediction:
    """One answer, or (at the end) how many there were."""

    said: Mapping[str, Any]
    receipt: Any = None
    files: ClassVar[Mapping[str, bytes]] = {}

    def to_json(self) -> str:
        """Return what is said."""
        return json.dumps(dict(self.said), separators=(",", ":"))

    def with_receipt(self, receipt: Any) -> Prediction:
        """Return the same with the ledger's receipt."""
        return replace(self, receipt=receipt)
