"""Sensitive privacy: is this record an anomaly? **This is not differential privacy.**

Differential privacy cannot tell anomalies apart well: whether a lone record is there is just what it hides. Sensitive
privacy (Asif, Papakonstantinou & Vaidya 2019) gives up the protection of records that are far from normal, by a public
rule, and keeps it for all others. No calculus of this house prices it, and no ordinary account takes it.

Their terms, in our words. Data is a multiset of records. A record is *crowded* in x if more than `crowd` (β) records of
x, itself counted, are within `radius` (r) of it; it is an *anomaly* in x if it is in x and is not crowded. It is
*protected* in x if adding at most `margin` (k) records could make it crowded: if at least `crowd` + 1 − `margin`
records of x are within `radius` of it. Two data sets are *sensitive neighbours* if they differ by one record that is
protected in the larger of the two.

**Guarantee**: for sensitive neighbours x, y and either answer, P[answer | x] ≤ e^ε·P[answer | y]. Records that are not
protected get no promise: their presence may be told. A sequence of such answers under one policy adds up its ε's.
With `margin` ≥ `crowd` all records are protected and the answer is ε-differentially private (and nearly a coin flip for
an anomaly). The graph, its parameters, the metric and the record asked about are public.
**Assumes**: add/remove of one record at a time; whoever sets the policy accepts what it leaves open.
**Source**: the notion, the (β, r)-anomaly and the law of the flip are Asif et al. 2019; the graph is stated in full
above and the proof is ours, so nothing rests on a detail of theirs.

**Proof.** Let a be the number of records equal to the one asked about and b that of the others within its radius; only
(a, b) decides whether it is an anomaly: a ≥ 1 and a + b ≤ crowd. Take a graph with more edges than the true one: b may
change by one freely, and a by one if the larger side has a + b ≥ crowd + 1 − margin (without that, the record is not
protected). Let d(x) be the distance in it from x to the nearest data set with the other true answer; `distance`
computes it. Answer wrongly with probability w(d) = e^(−ε(d−1))/(1+e^ε). Along an edge d changes by at most 1. If the
true answer stays the same, w changes by at most e^ε, and so does 1 − w: with t = e^−ε, (1−w(d+1))/(1−w(d)) is largest
at d = 1, where it is 1 + t − t² ≤ 1/t, as (1−t)²(1+t) ≥ 0. If the true answer changes, d = 1 on both sides and the odds
are e^ε : 1 one way and 1 : e^ε the other. More edges only ask for more, so it holds on the true graph. ∎
The proof uses only that nearness is a fixed yes or no for each record, so rounding in distances does no harm.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sordino import noise
from sordino.accounting import events
from sordino.accounting.bound import Bound
from sordino.accounting.grant import Grant
from sordino.accounting.neighbours import Neighbours
from sordino.arguments import numbers, one_of, probability, rational, whole
from sordino.errors import ArgumentError

from .mechanism import remembered, use_grant

_ORDERS = {"euclidean": 2, "manhattan": 1, "chebyshev": np.inf}


@dataclass(frozen=True)
class AnomalyPolicy:
    """What an anomaly is, and which records are protected; public. It is **not** a policy of differential privacy.

    `crowd` is β, `radius` is r and `margin` is k of the paper.
    """

    crowd: int
    radius: Fraction
    margin: int
    metric: str = "euclidean"

    def __post_init__(self) -> None:
        object.__setattr__(self, "crowd", whole("crowd", self.crowd, least=1, most=2**31))
        object.__setattr__(self, "radius", rational("radius", self.radius, least=0))
        object.__setattr__(self, "margin", whole("margin", self.margin, least=1, most=2**31))
        one_of("metric", self.metric, tuple(_ORDERS))

    @property
    def statement(self) -> str:
        """The policy in one line, as events and receipts show it."""
        return (
            f"not differential privacy: ({self.crowd}, {self.radius})-anomalies by {self.metric} distance; "
            f"records within {self.margin} of being crowded are protected, others are not"
        )

    def distance(self, same: int, others: int) -> int:
        """Return how many changes of protected records, at least, lie between these counts and another true answer.

        With a = `same` and b = `others`. An anomaly ceases to be one by crowding (crowd + 1 − a − b additions) or by
        removing all a, the last of which is protected only if b ≥ crowd − margin by then. What is crowded becomes an
        anomaly by a + b − crowd removals. What is absent must be added, which needs crowd − margin ≤ b ≤ crowd − 1.
        """
        wanted = max(self.crowd - self.margin, 0)
        if same == 0:
            return 1 + max(wanted - others, others - (self.crowd - 1), 0)
        if same + others > self.crowd:
            return same + others - self.crowd
        return min(self.crowd + 1 - same - others, same + max(wanted - others, 0))


@dataclass(frozen=True)
class IsAnomaly:
    """Whether `record` is an anomaly in the data, by a noisy yes or no under sensitive privacy: **not** DP.

    >>> policy = AnomalyPolicy(crowd=20, radius=1, margin=5)
    >>> policy.distance(same=1, others=0)  # a lone record: a wrong answer has odds of about e^(−16ε)
    16
    """

    record: tuple[Fraction, ...]
    epsilon: Fraction
    policy: AnomalyPolicy

    def __post_init__(self) -> None:
        if not isinstance(self.record, tuple) or not self.record:
            raise ArgumentError("record must be a tuple of at least one number", "SRD-A001")
        object.__setattr__(self, "record", tuple(rational("record", number) for number in self.record))
        object.__setattr__(self, "epsilon", rational("epsilon", self.epsilon, above=0))
        if not isinstance(self.policy, AnomalyPolicy):
            raise ArgumentError("policy must be an AnomalyPolicy", "SRD-A001")

    @remembered
    def event(self, bound: Bound) -> events.Sensitive:
        """Return a release under sensitive privacy, which no calculus of differential privacy prices."""
        if bound.neighbours is not Neighbours.ADD_REMOVE or bound.linf > 1 or bound.l0 != 1:
            raise ArgumentError(
                "sensitive privacy is about one record added or removed; state the bound as Bound.scalar(1)", "SRD-A003"
            )
        return events.Sensitive(self.epsilon, self.policy.statement)

    def release(self, value: Any, grant: Grant) -> bool:
        """Return a noisy yes or no; `value` holds one record in each row."""
        records = self._records(value)
        use_grant(self, grant)
        same, others = self._counts(records)
        truth = same >= 1 and same + others <= self.policy.crowd
        patience = np.array([self.policy.distance(same, others) - 1], dtype=np.int64)
        wrong = bool(noise.flip(patience, self.epsilon)[0]) and not bool(noise.logistic(self.epsilon))
        return truth != wrong

    def error(self, confidence: float = 0.95) -> float:
        """Return within how many protected changes of another truth an answer may be wrong, at most, with `confidence`.

        Farther away than that, a wrong answer has a probability of at most 1 − confidence.
        """
        missing = 1 - float(probability("confidence", confidence))
        epsilon = float(self.epsilon)
        return max(0.0, 1 + (-math.log(missing) - float(np.logaddexp(0, epsilon))) / epsilon)

    def _records(self, value: Any) -> NDArray[np.float64]:
        records = numbers("the value", value)
        if records.ndim != 2 or records.shape[1] != len(self.record):
            raise ArgumentError(
                f"the value must be a table of numbers with {len(self.record)} columns, as the record has", "SRD-A001"
            )
        # Row by row in memory: else the order in which NumPy adds up a distance depends on the other records.
        return np.ascontiguousarray(records, dtype=np.float64)

    def _counts(self, records: NDArray[np.float64]) -> tuple[int, int]:
        centre = np.array([float(number) for number in self.record])
        same = np.all(records == centre, axis=1)
        with np.errstate(invalid="ignore", over="ignore"):  # a NaN or an infinity is near nothing
            lengths = np.linalg.norm(records - centre, ord=_ORDERS[self.policy.metric], axis=1)
        near = same | (lengths <= float(self.policy.radius))
        return int(same.sum()), int((near & ~same).sum())
