"""What an alert is, and what it costs: c positives of the sparse vector technique, all paid for when it opens."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from sordino.accounting.bound import Bound, Unit
from sordino.accounting.digest import digest_of
from sordino.accounting.event import Event
from sordino.accounting.neighbours import Neighbours
from sordino.arguments import Number, rational, shown, whole
from sordino.data.account import Protected
from sordino.errors import ArgumentError
from sordino.mechanisms.grid import INTEGERS
from sordino.mechanisms.sparse_vector import AboveThreshold

_MOST_STEPS = 10**9
_MOST_METRICS = 10**8
_MOST_POSITIVES = 10**6


@dataclass(frozen=True)
class Alert:
    """So many metrics, watched for so many steps, until so many alarms were raised. Build it with `alert`."""

    metrics: int
    steps: int
    threshold: Fraction
    positives: int
    sensitivity: Fraction
    whole: bool
    monotone: bool
    repeat: bool


def alert(
    *,
    metrics: int,
    steps: int,
    threshold: Number,
    positives: int,
    sensitivity: Number = 1,
    whole_values: bool = True,
    monotone: bool = False,
    repeat: bool = False,
) -> Alert:
    """Declare an alert: an alarm for each metric whose value comes to `threshold`, at most `positives` in all.

    One unit moves no value of any metric at any step by more than `sensitivity`. Values are whole numbers, or reals
    with ``whole_values=False``. With `monotone` (counts, under add/remove) one unit moves all values in one direction,
    and comparisons are less noisy. A metric raises one alarm, unless `repeat` is True: then one at each step that it
    stays above, and each is one of the positives.

    >>> alert(metrics=2000, steps=50, threshold=400, positives=3).positives
    3
    """
    for name, flag in (("whole_values", whole_values), ("monotone", monotone), ("repeat", repeat)):
        if not isinstance(flag, bool):
            raise ArgumentError(f"{name} must be True or False, not {shown(flag)}", "SRD-A001")
    return Alert(
        metrics=whole("metrics", metrics, least=1, most=_MOST_METRICS),
        steps=whole("steps", steps, least=1, most=_MOST_STEPS),
        threshold=rational("threshold", threshold),
        positives=whole("positives", positives, least=1, most=_MOST_POSITIVES),
        sensitivity=rational("sensitivity", sensitivity, above=0),
        whole=whole_values,
        monotone=monotone,
        repeat=repeat,
    )


@dataclass(frozen=True)
class AlertPlan:
    """An alert about a data set, with the noise that its ε buys."""

    dataset: str
    unit: Unit
    neighbours: Neighbours
    alert: Alert
    comparison: AboveThreshold

    kind: ClassVar[str] = "alert"
    days: ClassVar[tuple[str, ...]] = ()
    large: ClassVar[bool] = False

    @property
    def parts(self) -> int:
        """That it is armed, and each step."""
        return 1 + self.alert.steps

    @property
    def bound(self) -> Bound:
        """What one unit can change of all values: each of them, by no more than the sensitivity."""
        return _bound(self.alert, self.unit, self.neighbours)

    def event(self) -> Event:
        """Return the whole run, up to the last positive."""
        return self.comparison.event(self.bound)

    def digest(self) -> str:
        """Return the digest of the plan."""
        return digest_of((self.kind, self))

    def error(self, confidence: float = 0.95) -> float:
        """Return how far from the threshold a value must be for no comparison at all to err, with `confidence`."""
        return self.comparison.error(confidence, queries=self.alert.metrics * self.alert.steps)


def alert_plan(protected: Protected, alert: Alert, epsilon: Number) -> AlertPlan:
    """Return what is charged for an alert about `protected`: no data is needed."""
    if not isinstance(alert, Alert):
        raise ArgumentError(f"alert must be what alert(metrics=…, …) makes, not a {type(alert).__name__}", "SRD-A001")
    comparison = AboveThreshold.for_epsilon(
        epsilon,
        _bound(alert, protected.unit, protected.neighbours),
        alert.threshold,
        alert.positives,
        grid=INTEGERS if alert.whole else None,
        monotone=alert.monotone,
    )
    return AlertPlan(protected.name, protected.unit, protected.neighbours, alert, comparison)


def _bound(alert: Alert, unit: Unit, neighbours: Neighbours) -> Bound:
    values = alert.metrics * alert.steps
    return Bound.vector(l0=values, linf=alert.sensitivity, neighbours=neighbours, unit=unit)
