"""Alerts instead of a report: the first days on which a region fell far below what was usual, by sparse vector.

First what is usual is measured: for each region and weekday the sum of the counts of the baseline's days. Then each
later cell is compared, day after day: was the count below `fall` percent under what is usual, by more than the margin
that noise alone reaches? Comparisons that say no cost nothing; after so many that say yes it stops.

The reports that are known for this (Aktay et al. 2020) used no sparse vector; it is offered here beside them, where few
alarms are worth more than many numbers: a comparison has the noise of one cell, whatever the number of cells.

**Guarantee**: pure ε in all: `SHARE` of it for what is usual, the rest for the comparisons (``mechanisms.
AboveThreshold``), of which whoever comes or goes moves each by 1 at most, as what is usual is noisy already, and fixed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from sordino import noise
from sordino.accounting.bound import Bound
from sordino.accounting.event import Event
from sordino.accounting.events import Pure
from sordino.accounting.neighbours import Neighbours
from sordino.arguments import Number, rational, whole
from sordino.data.account import DataAccount
from sordino.errors import ArgumentError
from sordino.keywords import check_names
from sordino.mechanisms.laplace import Laplace
from sordino.mechanisms.sparse_vector import AboveThreshold
from sordino.mechanisms.watch import Watch
from sordino.publish.files import arrays_from_bytes, arrays_to_bytes
from sordino.publish.price import Expected
from sordino.publish.publication import Publication, Running
from sordino.publish.released import Released, Saved
from sordino.publish.spending import Form, Spend

from .window import Window, day_names, region_name

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SHARE = Fraction(1, 2)
_CONFIDENCE = 0.95
_USUAL = "usual.npz"
_NEEDED = ("region", "day", "days", "baseline")
_WORDS = (*_NEEDED, "visits", "fall", "alerts", "table")


def mobility_alerts(
    account: DataAccount[Any],
    *,
    region: str,
    day: str,
    days: tuple[Any, Any],
    baseline: tuple[Any, Any],
    visits: int | None = None,
    fall: Number = 30,
    alerts: int = 5,
    table: str | None = None,
) -> Publication[MobilityAlerts]:
    """Publish the first days on which regions fell `fall` percent below what was usual, `alerts` of them at most.

    Words that `mobility` has mean what they mean there. Each region gives one alert at most.
    """
    return Publication(account, _recipe(account.protected, region, day, days, baseline, visits, fall, alerts, table))


def read(protected: Any, plain: Mapping[str, Any]) -> AlertsRecipe:
    """Return the recipe from plain parameters: the words of `mobility_alerts`."""
    check_names(plain, _WORDS, "alerts on mobility have no word")
    if not all(word in plain for word in _NEEDED):
        raise ArgumentError(f"alerts on mobility must say {', '.join(_NEEDED)}", "SRD-P701")
    given = {"fall": 30, "alerts": 5, **plain}
    return _recipe(protected, *(given.get(word) for word in _WORDS))


def load(manifest: Mapping[str, Any], files: Mapping[str, bytes]) -> MobilityAlerts:
    """Return alerts that were saved."""
    usual, measured = arrays_from_bytes(files[_USUAL])["usual"], manifest["measured"]
    return MobilityAlerts(
        Saved(manifest), None, usual, [tuple(each) for each in measured["alerts"]], measured["regions"]
    )


def _recipe(
    protected: Any,
    region: Any,
    day: Any,
    days: Any,
    baseline: Any,
    visits: Any,
    fall: Any,
    alerts: Any,
    table: Any,
) -> AlertsRecipe:
    schema = getattr(protected, "schema", None)
    if schema is None:
        raise ArgumentError("alerts on mobility are about tables: open the account for so.dataset(…)", "SRD-P701")
    if schema.blocks is not None:
        raise ArgumentError(
            "alerts compare days with each other, and here each day has a budget of its own; publish a report, "
            "so.publish.mobility, or declare the data without blocks",
            "SRD-P009",
        )
    window = Window.of(schema, region=region, day=day, days=days, baseline=baseline, visits=visits, table=table)
    return AlertsRecipe(window, rational("fall", fall, above=0, most=100), whole("alerts", alerts, least=1, most=10**6))


@dataclass(frozen=True)
class AlertsRecipe:
    """Alerts on one window."""

    window: Window
    fall: Fraction
    alerts: int

    name: ClassVar[str] = "mobility-alerts"
    forms: ClassVar[tuple[Form, ...]] = ("pure",)
    adapts: ClassVar[bool] = True

    @property
    def comparisons(self) -> int:
        """How many cells are compared at most."""
        return len(self.window.axes[0].keys) * len(self.window.later)

    def design(self, spend: Spend) -> AlertsDesign:
        """Return both steps with their noise."""
        bound, first = self.window.bound, spend.part(SHARE).amount
        monotone = bound.neighbours is not Neighbours.REPLACE_ONE  # whoever comes makes every count larger or none
        comparing = AboveThreshold.for_epsilon(spend.amount - first, bound, 0, self.alerts, monotone=monotone)
        return AlertsDesign(self, spend.amount, Laplace.for_epsilon(first, bound), comparing)

    def plain(self) -> dict[str, Any]:
        """Return the parameters."""
        window = self.window
        return {
            "region": window.region,
            "day": window.day,
            "days": [window.first.isoformat(), window.last.isoformat()],
            "baseline": [each.isoformat() for each in window.baseline],
            "visits": window.visits,
            "fall": float(self.fall),
            "alerts": self.alerts,
            "table": window.table.name,
        }


@dataclass(frozen=True)
class AlertsDesign:
    """Alerts with their noise."""

    recipe: AlertsRecipe
    epsilon: Fraction
    usual: Laplace
    comparing: AboveThreshold

    @property
    def bound(self) -> Bound:
        """What one unit can change in the counts."""
        return self.recipe.window.bound

    def event(self) -> Event:
        """Return the claim: which cells are compared depends on what came before."""
        return Pure(self.epsilon)

    def margin(self, confidence: Number = _CONFIDENCE) -> float:
        """Return how far noise alone carries a comparison, for all of them with `confidence`."""
        return self.comparing.error(float(confidence), queries=self.recipe.comparisons)

    def expected(self, confidence: Number) -> tuple[Expected, ...]:
        """Return by how many people a fall must go beyond what is asked to be found."""
        level = f"{100 * float(confidence):.4g} %"
        return (
            Expected(
                "alert", 2 * self.margin(confidence), f"people beyond the fall asked, found at {level} of all", True
            ),
            Expected(
                "usual", float(self.usual.error(float(confidence))), f"half the width of a {level} interval, a cell"
            ),
        )

    def notes(self) -> tuple[str, ...]:
        """Return what a reader should know beside."""
        return (
            f"no alert is false with {100 * _CONFIDENCE:g} %, given what was measured as usual: a region must fall by "
            f"{self.margin():.3g} people more than asked",
        )

    def run(self, running: Running) -> MobilityAlerts:
        """Measure what is usual, then compare day after day."""
        window, recipe = self.recipe.window, self.recipe
        exact = window.people(running.data.compute, noise.uniform(2**62))  # type: ignore[attr-defined]
        measured = running.release(self.usual, self.bound, exact[:, window.usual])
        running.stage("measuring")
        usual = _weekday_means(np.asarray(measured, dtype=np.float64), window.weekdays()[window.usual])
        level = usual * float(1 - recipe.fall / 100) - self.margin()
        watch = self.comparing.start(running.grant(self.comparing.event(self.bound), self.bound))
        below = np.floor(level[:, window.weekdays()[window.later]]).astype(np.int64) - exact[:, window.later]
        found = _first_falls(watch, below)
        running.stage("measuring")
        regions, days = list(window.axes[0].keys), day_names(window)
        said = [(regions[region], days[window.later[place]]) for region, place in found]
        return MobilityAlerts(running.plan, None, usual, said, regions)


def _first_falls(watch: Watch, below: NDArray[np.int64]) -> list[tuple[int, int]]:
    """Return (region, day) of the first falls, day after day; each region falls once, until no alert is left."""
    found: list[tuple[int, int]] = []
    left = list(range(len(below)))
    for place in range(below.shape[1]):
        for region in tuple(left):
            if watch.positives_left and watch.ask(int(below[region, place])):
                found.append((region, place))
                left.remove(region)
    return found


def _weekday_means(counts: NDArray[np.float64], weekdays: NDArray[np.int64]) -> NDArray[np.float64]:
    return np.stack([counts[:, weekdays == weekday].mean(axis=1) for weekday in range(7)], axis=1)


@dataclass(frozen=True, eq=False)
class MobilityAlerts(Released):
    """Which region fell on which day, and what was usual before."""

    usual: NDArray[np.float64]
    """Regions × weekdays, Monday first."""
    alerts: list[tuple[Any, str]]
    """(region, day), in the order of days."""
    regions: list[Any]

    def measured(self) -> dict[str, Any]:
        """Return the alerts."""
        return {
            "alerts": [[region_name(region), day] for region, day in self.alerts],
            "regions": list(map(region_name, self.regions)),
        }

    def contents(self) -> Mapping[str, bytes]:
        """Return what was usual."""
        return {_USUAL: arrays_to_bytes({"usual": self.usual})}

    def plot(self) -> Figure:
        """Return a line of days with an alert for each region that fell."""
        from .picture import draw_alerts

        return draw_alerts(self.alerts)
