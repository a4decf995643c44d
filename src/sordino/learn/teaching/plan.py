"""What labels by a vote cost: for every answer Gaussian noise on the votes, and for every check noise on the largest.

**Guarantee**: charged independently of the data: as if every vote were the closest one. What a check lets through
depends on noisy votes only. Under confident answers every thing asked pays a check, whether it is answered or not. All
of it is fixed beforehand, so it may also be declared: charged with the ε that its privacy loss distribution proves.
**Source**: Papernot, Song, Mironov, Raghunathan, Talwar, Erlingsson 2018, Algorithm 1, Propositions 8 and 9.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from sordino.accounting.bound import Bound, Unit
from sordino.accounting.declared import declare
from sordino.accounting.digest import digest_of
from sordino.accounting.event import Event
from sordino.accounting.events import Composed, Repeated
from sordino.accounting.grant import Grant
from sordino.learn.run.voting import votes_bound
from sordino.mechanisms.gaussian import Gaussian

_MANY = 5_000


@dataclass(frozen=True)
class Check:
    """Answer only where the largest noisy number of votes reaches `threshold`."""

    threshold: Fraction
    deviation: Fraction
    """The standard deviation of the noise on the largest number of votes."""

    @cached_property
    def mechanism(self) -> Gaussian:
        """What adds the noise."""
        return Gaussian(self.deviation**2)


@dataclass(frozen=True)
class LabelPlan:
    """Labels for `asked` public things by a vote of `teachers`, of which at most `answers` are given."""

    dataset: str
    unit: Unit
    teachers: int
    classes: int
    asked: int
    answers: int
    deviation: Fraction
    check: Check | None = None
    declared: Fraction | None = None
    """The δ of its own that all is declared with, if it is."""

    kind: ClassVar[str] = "labels"
    days: ClassVar[tuple[str, ...]] = ()
    parts: ClassVar[int] = 0

    @property
    def large(self) -> bool:
        """Whether the labels are so many that the ledger keeps them as a file."""
        return self.asked > _MANY

    @property
    def bound(self) -> Bound:
        """What one unit can change of the votes about one thing."""
        return votes_bound(self.unit)

    @property
    def largest(self) -> Bound:
        """What one unit can change of the largest number of votes about one thing."""
        return Bound.scalar(1, unit=self.unit)

    @cached_property
    def mechanism(self) -> Gaussian:
        """What adds noise to votes."""
        return Gaussian(self.deviation**2)

    def event(self) -> Event:
        """Return all checks and all answers, as they are charged."""
        return self._run if self.declared is None else declare(self._run, self.declared)

    @cached_property
    def _run(self) -> Event:
        votes = Repeated(self.mechanism.event(self.bound), self.answers)
        if self.check is None:
            return votes
        return Composed((Repeated(self.check.mechanism.event(self.largest), self.asked), votes))

    def digest(self) -> str:
        """Return the digest of the plan."""
        return digest_of((self.kind, self))

    def answer(self, votes: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the label of each thing, −1 for what is not answered; whoever calls has used the plan's grant."""
        labels = np.full(len(votes), -1, dtype=np.int64)
        left = self.answers
        for place, counts in enumerate(votes):
            if left and self._passes(int(counts.max(initial=0))):
                noisy = self.mechanism.release(counts, Grant(self.mechanism.event(self.bound), self.bound))
                labels[place] = int(np.argmax(noisy))
                left -= 1
        return labels

    def _passes(self, most: int) -> bool:
        if self.check is None:
            return True
        grant = Grant(self.check.mechanism.event(self.largest), self.largest)
        return bool(self.check.mechanism.release(most, grant) >= self.check.threshold)


@dataclass(frozen=True, eq=False)
class Labels:
    """Labels of public things: −1 where none was given."""

    labels: NDArray[np.int64]
    receipt: Any = None
    files: ClassVar[Mapping[str, bytes]] = {}

    @property
    def answered(self) -> NDArray[np.bool_]:
        """Which things have a label."""
        return self.labels >= 0

    def to_json(self) -> str:
        """Return the labels."""
        return json.dumps({"labels": self.labels.tolist()}, separators=(",", ":"))

    def with_receipt(self, receipt: Any) -> Labels:
        """Return the same with the ledger's receipt."""
        return replace(self, receipt=receipt)
