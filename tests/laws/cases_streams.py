"""Cases for whole streams: everything that one releases, as one mechanism, seen along its most telling direction.

Sums of values up to 1, which are counted in units of 2^-20: noise is rounded to units, and labels cannot tell.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sordino.accounting.bound import Bound
from sordino.accounting.event import Event
from sordino.accounting.grant import Grant
from sordino.collect.stream import StreamSpec, summing
from sordino.collect.stream.plan import StreamPlan
from sordino.collect.stream.reading import read
from sordino.mechanisms.checks.case import Case
from sordino.mechanisms.mechanism import use_grant

STEPS = 6
RHO = Fraction(1, 2)
STRATEGIES = ("buffered", "square-root", "tree", "weighted-tree")


@dataclass(frozen=True)
class WholeStream:
    """All steps of a stream in one batch, and the totals that leave."""

    plan: StreamPlan

    def event(self, bound: Bound) -> Event:
        return self.plan.mechanism.event(bound)

    def release(self, value: Any, grant: Grant) -> NDArray[np.float64]:
        counts = read(self.plan.spec, value)
        use_grant(self, grant)
        strategy, arrivals = self.plan.strategy, self.plan.spec.arrivals
        secret, public = strategy.begin(arrivals)
        exact, _ = strategy.encode(arrivals, secret, 0, counts)
        noisy = exact + self.plan.mechanism.law.draw(exact.shape)
        totals, _ = strategy.decode(arrivals, public, 0, len(counts), noisy)
        return totals[:, 0] * float(self.plan.spec.unit)

    def error(self, confidence: float = 0.95) -> float:
        return float(np.max(self.plan.deviations())) / self.plan.deviation * self.plan.mechanism.error(confidence)


def _matrix(strategy: str) -> NDArray[np.float64]:
    """Noise of totals for noise of 1 on measurements, from the definitions alone: a row for each step."""
    if strategy in ("buffered", "square-root"):
        root = np.array([math.comb(2 * k, k) / 4**k for k in range(STEPS)])
        return np.array([[root[i - j] if i >= j else 0.0 for j in range(STEPS)] for i in range(STEPS)])
    nodes = [(level, end) for level in range(3) for end in range(1 << level, STEPS + 1, 1 << level)]
    sums = np.array([[float(end - (1 << level) <= j < end) for j in range(STEPS)] for level, end in nodes])
    rows = []
    for step in range(1, STEPS + 1):  # plain: one node a bit; weighted: least squares over the nodes below each
        row = np.zeros(len(nodes))
        for level in range(3):
            if step >> level & 1:
                end = step >> level << level
                if strategy == "tree":
                    row[nodes.index((level, end))] = 1.0
                else:
                    start = end - (1 << level)
                    inside = [at for at, (low, stop) in enumerate(nodes) if start <= stop - (1 << low) and stop <= end]
                    part = sums[np.ix_(inside, range(start, end))]
                    row[inside] += np.ones(1 << level) @ np.linalg.pinv(part)
        rows.append(row)
    return np.array(rows)


def _direction(strategy: str) -> tuple[NDArray[np.float64], float]:
    """The weights of totals that tell one event in the first step best, and what its score moves by in deviations."""
    matrix = _matrix(strategy)
    covariance = matrix @ matrix.T
    moved = np.ones(STEPS)
    weights = np.linalg.solve(covariance, moved)
    return weights, math.sqrt(float(moved @ weights))


def _label(weights: NDArray[np.float64], width: float, totals: NDArray[np.float64]) -> int:
    return int(np.clip(math.floor(float(weights @ totals) / width), -3, 3))


def _law(strategy: str, deviation: float, value: Any, level: float) -> dict[int, float]:
    weights, size = _direction(strategy)
    width, spread = size * deviation, level * size * deviation
    mean = float(weights @ np.cumsum(value))
    edges = [(mean - each * width) / (spread * math.sqrt(2)) for each in range(-2, 4)]
    below = [0.0, *(0.5 * math.erfc(each) for each in edges), 1.0]
    return {label: below[label + 4] - below[label + 3] for label in range(-3, 4)}


def _build(plan: StreamPlan, level: Fraction) -> WholeStream:
    return WholeStream(replace(plan, variance=plan.variance * level**2))


def _case(strategy: str) -> Case:
    spec: StreamSpec = summing(STEPS, bounds=(0, 1), most=100, strategy=strategy)
    plan = spec.price(rho=RHO).plan
    weights, size = _direction(strategy)
    width = size * plan.deviation
    return Case(
        f"stream-{strategy}",
        partial(_build, plan),
        plan.bound,
        value=np.array([1.0, 0, 0, 0, 0, 0]),
        neighbour=np.zeros(STEPS),
        outcome=partial(_label, weights, width),
        law=partial(_law, strategy, plan.deviation),
        tightness=0.12,
        draws=2500,
    )


STREAMS = tuple(map(_case, STRATEGIES))
