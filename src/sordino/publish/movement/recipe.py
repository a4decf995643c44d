"""The recipe of a mobility report: one noisy count for each region and day, and nothing else of the data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from sordino import noise
from sordino.accounting.bound import Bound
from sordino.accounting.event import Event
from sordino.arguments import Number, rational
from sordino.data.account import DataAccount
from sordino.errors import ArgumentError
from sordino.keywords import check_names
from sordino.mechanisms.gaussian import Gaussian
from sordino.mechanisms.laplace import Laplace
from sordino.publish.files import arrays_from_bytes
from sordino.publish.price import Expected
from sordino.publish.publication import Publication, Running
from sordino.publish.released import Saved
from sordino.publish.spending import Form, Spend
from sordino.query.estimate.tails import half_width

from .report import COUNTS, MobilityReport
from .window import Window

_WORDS = ("region", "day", "days", "baseline", "visits", "within", "table")


def mobility(
    account: DataAccount[Any],
    *,
    region: str,
    day: str,
    days: tuple[Any, Any],
    baseline: tuple[Any, Any],
    visits: int | None = None,
    within: Number = 10,
    table: str | None = None,
) -> Publication[MobilityReport]:
    """Publish how many people were in each region on each day, and how that changed from what was usual.

    Args:
        account: of a data set whose table says who was where on which day.
        region: the column of regions; its keys are declared.
        day: the column of dates, or of times.
        days: the first and the last day of the window.
        baseline: the first and the last day of what is usual: seven at least, before the days that are measured by it.
        visits: in how many cells (a region on a day) one person counts, in the whole window; of each day, where every
            day has a budget of its own. Left out: as many as `so.limits(groups=…)` declares.
        within: a change whose interval is wider than this on either side, in points of percent, is not shown.
        table: which table, where there are several.
    """
    return Publication(account, _recipe(account.protected, region, day, days, baseline, visits, within, table))


def read(protected: Any, plain: Mapping[str, Any]) -> MobilityRecipe:
    """Return the recipe from plain parameters: the words of `mobility`."""
    check_names(plain, _WORDS, "a mobility report has no word")
    missing = [word for word in ("region", "day", "days", "baseline") if word not in plain]
    if missing:
        raise ArgumentError(f"a mobility report must say {', '.join(missing)}", "SRD-P701")
    given = {word: plain.get(word) for word in _WORDS}
    within = 10 if given["within"] is None else given["within"]
    return _recipe(
        protected,
        given["region"],
        given["day"],
        given["days"],
        given["baseline"],
        given["visits"],
        within,
        given["table"],
    )


def load(manifest: Mapping[str, Any], files: Mapping[str, bytes]) -> MobilityReport:
    """Return a report that was saved."""
    return MobilityReport.saved(Saved(manifest), arrays_from_bytes(files[COUNTS])["counts"])


def _recipe(
    protected: Any, region: Any, day: Any, days: Any, baseline: Any, visits: Any, within: Any, table: Any
) -> MobilityRecipe:
    schema = getattr(protected, "schema", None)
    if schema is None:
        raise ArgumentError("a mobility report is about tables: open the account for so.dataset(…)", "SRD-P701")
    window = Window.of(schema, region=region, day=day, days=days, baseline=baseline, visits=visits, table=table)
    return MobilityRecipe(window, float(rational("within", within, above=0)))


@dataclass(frozen=True)
class MobilityRecipe:
    """A report of one window."""

    window: Window
    within: float

    name: ClassVar[str] = "mobility"
    forms: ClassVar[tuple[Form, ...]] = ("pure", "concentrated")
    adapts: ClassVar[bool] = False

    def design(self, spend: Spend) -> MobilityDesign:
        """Return the report with its noise: Laplace for pure ε, else Gaussian."""
        bound = self.window.bound
        mechanism = Laplace.for_epsilon(spend.amount, bound) if spend.is_pure else Gaussian.for_rho(spend.amount, bound)
        return MobilityDesign(self, mechanism)

    def plain(self) -> dict[str, Any]:
        """Return the parameters."""
        window = self.window
        return {
            "region": window.region,
            "day": window.day,
            "days": [window.first.isoformat(), window.last.isoformat()],
            "baseline": [each.isoformat() for each in window.baseline],
            "visits": window.visits,
            "within": self.within,
            "table": window.table.name,
        }


@dataclass(frozen=True)
class MobilityDesign:
    """A report with its noise."""

    recipe: MobilityRecipe
    mechanism: Laplace | Gaussian

    @property
    def bound(self) -> Bound:
        """What one unit can change in all counts together."""
        return self.recipe.window.bound

    @property
    def days(self) -> tuple[str, ...]:
        """The days that are charged."""
        return self.recipe.window.charged_days

    def event(self) -> Event:
        """Return the one measurement that there is."""
        return self.mechanism.event(self.bound)

    def expected(self, confidence: Number) -> tuple[Expected, ...]:
        """Return how far off a count is, and the change where so many people are usual."""
        measure = f"half the width of a {100 * float(confidence):.4g} % interval"
        lines = [Expected("people", float(self.mechanism.error(float(confidence))), f"{measure}, in one cell")]
        law = self.mechanism.law
        weeks = int(np.bincount(self.recipe.window.weekdays()[self.recipe.window.usual], minlength=7).min())
        reach = half_width([(law, 1.0), *[(law, 1.0 / weeks)] * weeks], confidence)
        lines += [
            Expected(f"change_{size}", 100 * reach / size, f"{measure}, in points where {size:,} people are usual")
            for size in (100, 1_000, 10_000)
        ]
        return tuple(lines)

    def notes(self) -> tuple[str, ...]:
        """Return what a reader should know beside."""
        window = self.recipe.window
        whom = "row" if window.schema.by_row else window.schema.unit.name
        period = "on each day" if window.schema.blocks is not None else "in the whole window"
        return (
            f"each {whom} counts in at most {window.visits:,} cells {period}; who was in more is cut down to that, "
            "which moves changes, too, where those who stay away had other numbers of cells: intervals are about noise",
            f"changes whose interval is wider than ± {self.recipe.within:g} points are marked uncertain, by noisy "
            "values alone",
        )

    def run(self, running: Running) -> MobilityReport:
        """Count, and add noise."""
        window = self.recipe.window
        exact = window.people(running.data.compute, noise.uniform(2**62))  # type: ignore[attr-defined]
        noisy = np.asarray(running.release(self.mechanism, self.bound, exact), dtype=np.int64)
        running.stage("measuring")
        regions = list(window.axes[0].keys)
        return MobilityReport(running.plan, None, noisy, self.mechanism.law, regions)
