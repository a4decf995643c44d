"""What labels cost the people they were learned from, given how sure the teachers were: a report with its own price.

Where nearly all teachers agree, noise hardly ever changes the answer, and whoever leaves changes next to nothing. That
loss depends on the votes, so it may not be charged, nor shown without paying. What is shown here is a bound on it, by a
few noisy ranks of the *gaps*: by how many votes the first class is ahead of the second, for each thing.

**Guarantee** of the report: one vote less or more, or another one, moves every gap by 2 at most, hence also the r-th
smallest gap of all, for each r; so `RANKS` of them get Laplace noise for a change of 2 each, and that is the charge.
**What it says**: with the stated confidence (over the noise of the report), the labels lost at most `epsilon` at
`delta` for these teachers, towards any neighbour. It is about these data, and promises nothing about others: what the
account was charged stays charged.
**Source**: Papernot, Song, Mironov, Raghunathan, Talwar, Erlingsson 2018, Theorem 6 and Proposition 7 (the loss given
the votes); Canonne, Kamath, Steinke 2020, Proposition 12 (from Rényi to δ).
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy import special

from sordino.accounting.bound import Bound, Unit
from sordino.accounting.digest import digest_of
from sordino.accounting.event import Event
from sordino.accounting.grant import Grant
from sordino.mechanisms.laplace import Laplace

RANKS = 8
_ORDERS = np.concatenate([np.arange(1.25, 12, 0.25), np.arange(12, 64), np.geomspace(64, 2000, 60)])
_UP = 1 + 1e-9


@dataclass(frozen=True)
class ReportPlan:
    """How sure the teachers were of `asked` things, which they labelled with noise of this `deviation`."""

    dataset: str
    unit: Unit
    classes: int
    asked: int
    deviation: Fraction
    delta: Fraction
    confidence: Fraction
    epsilon: Fraction

    kind: ClassVar[str] = "label-report"
    days: ClassVar[tuple[str, ...]] = ()
    parts: ClassVar[int] = 0
    large: ClassVar[bool] = False

    @property
    def bound(self) -> Bound:
        """Each of the ranks moves by 2 at most."""
        return Bound.vector(l0=RANKS, linf=2, l1=2 * RANKS, unit=self.unit)

    @cached_property
    def mechanism(self) -> Laplace:
        """What adds noise to the ranks."""
        return Laplace.for_epsilon(self.epsilon, self.bound)

    def event(self) -> Event:
        """Return the noise on the ranks."""
        return self.mechanism.event(self.bound)

    def digest(self) -> str:
        """Return the digest of the plan."""
        return digest_of((self.kind, self))

    @property
    def places(self) -> NDArray[np.intp]:
        """Which gaps are shown, of all in order: the smallest, and on in equal steps."""
        return np.arange(RANKS) * self.asked // RANKS

    def run(self, votes: NDArray[np.int64], grant: Grant) -> Report:
        """Return what the votes show, for the plan's grant."""
        grant.use_for(self)
        gaps = np.sort(gaps_of(votes))[self.places]
        noisy = np.asarray(self.mechanism.release(gaps, Grant(self.event(), self.bound)), dtype=np.float64)
        margin = float(self.mechanism.error(float(1 - (1 - self.confidence) / RANKS)))
        # each is at least what it was found to be less the margin, and no less than those before it
        surely = np.maximum(np.maximum.accumulate(noisy - margin), 0)
        losses = np.array([loss(float(gap), self.classes, float(self.deviation)) for gap in (0.0, *surely)])
        sizes = np.diff([*self.places, self.asked])
        return Report(
            epsilon_of(sizes @ losses[1:], float(self.delta)),
            epsilon_of(self.asked * losses[0], float(self.delta)),
            float(self.delta),
            float(self.confidence),
        )


@dataclass(frozen=True)
class Report:
    """With this `confidence`, labels lost `epsilon` at `delta`, given the votes; by any votes they lose `at_most`."""

    epsilon: float
    at_most: float
    delta: float
    confidence: float
    receipt: Any = None
    files: ClassVar[Mapping[str, bytes]] = {}

    def to_json(self) -> str:
        """Return the numbers."""
        said = {name: getattr(self, name) for name in ("epsilon", "at_most", "delta", "confidence")}
        return json.dumps(said, separators=(",", ":"))

    def with_receipt(self, receipt: Any) -> Report:
        """Return the same with the ledger's receipt."""
        return replace(self, receipt=receipt)


def gaps_of(votes: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return by how many votes the first class is ahead of the second, for each thing."""
    two = np.partition(votes, votes.shape[1] - 2, axis=1)[:, -2:]
    return (two[:, 1] - two[:, 0]).astype(np.int64)


def loss(gap: float, classes: int, deviation: float) -> NDArray[np.float64]:
    """Return the Rényi divergence at all orders of one answer from that of any neighbour, where the gap is at least so.

    Theorem 6 with μ₂ = σ√ln(1/q), μ₁ = μ₂ + 1, ε₁ = μ₁/σ², ε₂ = μ₂/σ²; where its conditions fail, that of the noise.
    """
    plain = _ORDERS / deviation**2
    log_miss = math.log(classes - 1) + float(special.log_ndtr(-gap / (math.sqrt(2) * deviation)))
    if log_miss >= -1e-6:
        return plain * _UP
    second = deviation * math.sqrt(-log_miss)
    first = second + 1
    epsilon_1, epsilon_2 = first / deviation**2, second / deviation**2
    if second <= 1 or log_miss > (second - 1) * epsilon_2 - second * math.log(
        first / (first - 1) * second / (second - 1)
    ):
        return plain * _UP
    hit = math.log1p(-math.exp(log_miss))
    rest = (log_miss + epsilon_2) * (second - 1) / second
    if rest >= 0:
        return plain * _UP
    right = hit - math.log(-math.expm1(rest))
    wrong = epsilon_1 - log_miss / (first - 1)
    powers = _ORDERS - 1
    found = np.logaddexp(hit + powers * right, log_miss + powers * wrong) / powers
    return np.where(first >= _ORDERS, np.minimum(found, plain), plain) * _UP


def epsilon_of(divergences: NDArray[np.float64], delta: float) -> float:
    """Return the least ε at δ over all orders."""
    powers = _ORDERS - 1
    found = divergences + np.log1p(-1 / _ORDERS) - (math.log(delta) + np.log(_ORDERS)) / powers
    return max(float(found.min()) * _UP, 0.0)
