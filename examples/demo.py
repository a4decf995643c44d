"""Six questions about a made-up data set, answered with error bars and prices, and a seventh that is refused.

Run it with ``make demo``. It writes ``demo-out/report.html`` with plots. The data is generated, so the true answers can
stand beside the private ones; with real data nobody would see them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from rich.console import Console
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

import demo_report
import sordino as so
from demo_report import Histogram, Row
from sordino import mechanisms, noise
from sordino.errors import BudgetError

DISTRICTS = ("Harbour", "Old Town", "Mills", "Station", "Park", "University", "Hill", "Airport")
DAYS = 30


@dataclass(frozen=True)
class Riders:
    """One row for each rider of a bicycle scheme, with the one trip that counts: who is protected is the rider."""

    district: np.ndarray[Any, np.dtype[np.int64]]
    kilometres: np.ndarray[Any, np.dtype[np.float64]]
    minutes: np.ndarray[Any, np.dtype[np.float64]]
    day: np.ndarray[Any, np.dtype[np.int64]]


def made_up(riders: int = 20_000) -> Riders:
    """Return the sample data: the same every time, as it is nobody's secret."""
    generator = np.random.default_rng(2006)
    crowd = np.ones(DAYS)
    crowd[17] = 2.2  # a festival
    minutes = np.round(generator.gamma(3.0, 6.0, riders), 1)
    return Riders(
        district=generator.choice(len(DISTRICTS), riders, p=[0.26, 0.18, 0.09, 0.16, 0.08, 0.14, 0.05, 0.04]),
        kilometres=np.round(minutes * generator.uniform(0.1, 0.3, riders), 2),
        minutes=minutes,
        day=generator.choice(DAYS, riders, p=crowd / crowd.sum()),
    )


@dataclass
class Desk:
    """Where questions are asked: first the charge, then the grant, and only then is the data touched, once."""

    account: so.Account
    riders: Riders
    rows: list[Row] = field(default_factory=list)

    def ask(self, mechanism: Any, bound: so.Bound, exact: Callable[[Riders], Any]) -> Any:
        """Return the private answer to what `exact` computes, or raise if the budget does not cover it."""
        grant = self.account.reserve(mechanism.event(bound), bound)
        return mechanism.release(exact(self.riders), grant)

    def note(self, question: str, answer: str, error: str, epsilon: str, truth: str) -> None:
        """Remember an answer for the table and the report."""
        self.rows.append(Row(question, answer, error, epsilon, truth))


def counts_by_district(desk: Desk) -> Histogram:
    """A rider is in one district: one count moves, by one."""
    bound = so.Bound.vector(l0=1, linf=1)
    mechanism = mechanisms.Laplace.for_epsilon("0.2", bound)

    def exact(riders: Riders) -> Any:
        return np.bincount(riders.district, minlength=len(DISTRICTS))

    counts, truth = desk.ask(mechanism, bound, exact), exact(desk.riders)
    desk.note("riders by district", _few(counts), f"{mechanism.error():.0f} each", "0.20", _few(truth))
    return Histogram(DISTRICTS, counts.tolist(), truth.tolist(), mechanism.error())


def sum_of_kilometres(desk: Desk) -> None:
    """Trips are clipped to 20 km and summed exactly on a fine public grid, so one rider moves the sum by 20 at most."""
    clip = mechanisms.ClipValues(0, 20)
    mechanism = mechanisms.Laplace.for_epsilon("0.15", clip.bound(), clip.grid)
    answer = desk.ask(mechanism, clip.bound(), lambda riders: clip.total(riders.kilometres))
    truth = f"{desk.riders.kilometres.sum():,.0f}"
    desk.note("kilometres in all", f"{answer:,.0f}", f"{mechanism.error():.0f}", "0.15", truth)


def mean_of_minutes(desk: Desk, people: int) -> None:
    """Minutes are centred at 30 and clipped; how many riders there are follows from the first answer, for free."""
    clip = mechanisms.ClipValues(-30, 30)
    mechanism = mechanisms.Laplace.for_epsilon("0.15", clip.bound(), clip.grid)
    answer = desk.ask(mechanism, clip.bound(), lambda riders: clip.total(riders.minutes - 30))
    error, truth = f"{mechanism.error() / people:.2f}", f"{desk.riders.minutes.mean():.2f}"
    desk.note("mean minutes", f"{30 + answer / people:.2f}", error, "0.15", truth)


def median_of_minutes(desk: Desk) -> None:
    """The median by the exponential mechanism over the intervals of a public grid from 0 to 120 minutes."""
    bound = so.Bound.scalar(1)
    mechanism = mechanisms.Quantiles(("0.5",), epsilon="0.15", low=0, high=120)
    (answer,) = desk.ask(mechanism, bound, lambda riders: riders.minutes)
    error, truth = f"{mechanism.error():.0f} ranks", f"{np.median(desk.riders.minutes):.1f}"
    desk.note("median minutes", f"{answer:.1f}", error, "0.15", truth)


def busiest_districts(desk: Desk) -> None:
    """The three busiest, in order, in one shot; no count comes out."""
    bound = so.Bound.scalar(1)
    mechanism = mechanisms.TopK.for_epsilon("0.15", bound, len(DISTRICTS), count=3, monotone=True)

    def exact(riders: Riders) -> Any:
        return np.bincount(riders.district, minlength=len(DISTRICTS))

    answer = desk.ask(mechanism, bound, exact)
    truth = np.argsort(-exact(desk.riders))[:3]
    error = f"{mechanism.error():.0f} riders short"
    desk.note("three busiest districts", _names(answer), error, "0.15", _names(truth))


def first_crowded_day(desk: Desk) -> None:
    """An alarm on thirty daily counts pays for the one that it raises, not for the days before."""
    bound = so.Bound.scalar(1)
    mechanism = mechanisms.AboveThreshold.for_epsilon("0.2", bound, threshold=1_000, positives=1, monotone=True)

    def exact(riders: Riders) -> Any:
        return np.bincount(riders.day, minlength=DAYS)

    raised = desk.ask(mechanism, bound, exact)
    answer = f"day {len(raised)}" if raised[-1] else "none"
    truth = f"day {int(np.argmax(exact(desk.riders) > 1_000)) + 1}"
    error = f"{mechanism.error(queries=DAYS):.0f} riders"
    desk.note("first day above 1,000 riders", answer, error, "0.20", truth)


def refused_seventh(desk: Desk, console: Console) -> None:
    """One more count would exceed the cap, by however little: it is refused before the data is touched."""
    bound = so.Bound.scalar(1)
    mechanism = mechanisms.Laplace.for_epsilon("0.01", bound)
    try:
        desk.ask(mechanism, bound, lambda riders: len(riders.day))
    except BudgetError as refusal:
        console.print(Panel(Text(str(refusal)), title="the seventh question is refused", title_align="left"))
    else:
        raise SystemExit("the seventh question was answered: the budget does not hold")


def show_noise(console: Console) -> tuple[noise.DiscreteLaplace, Any]:
    """Print what exact noise looks like: whole numbers of a stated law, from a keystream that takes no seed."""
    law = noise.DiscreteLaplace(10)
    draws = law.draw(100_000)
    within = float(np.mean(np.abs(draws) <= law.tail(0.95)))
    console.print(f"[bold]Exact noise[/], discrete Laplace of scale 10: {draws[:14].tolist()} …")
    console.print(
        f"100,000 of them: standard deviation {draws.std():.2f} (the law: {law.variance**0.5:.2f}), "
        f"{within:.1%} within ±{law.tail(0.95)} (the law: at least 95 %)\n"
    )
    return law, draws


def table_of(rows: list[Row]) -> Table:
    """Return the answers as a table."""
    table = Table(title="six questions under one budget, ε = 1 in all", title_justify="left")
    for heading in ("question", "private answer", "± at 95 %", "ε", "true (the data is made up)"):
        table.add_column(heading)
    for row in rows:
        table.add_row(row.question, row.answer, row.error, row.epsilon, row.truth)
    return table


def main() -> None:
    """Ask, show, refuse, explain, report."""
    console = Console()
    law, draws = show_noise(console)
    desk = Desk(so.Account(so.budget(epsilon=1)), made_up())
    histogram = counts_by_district(desk)
    sum_of_kilometres(desk)
    mean_of_minutes(desk, sum(histogram.counts))
    median_of_minutes(desk)
    busiest_districts(desk)
    first_crowded_day(desk)
    console.print(table_of(desk.rows))
    refused_seventh(desk, console)
    explanation = so.explain(1)
    console.print(Panel(Text(str(explanation)), title="what ε = 1 means", title_align="left"))
    path = demo_report.write(desk.rows, histogram, law, draws, explanation)
    console.print(f"report with plots: [bold]{path}[/]")


def _few(numbers: Any) -> str:
    return ", ".join(f"{number:,}" for number in numbers[:4]) + " …"


def _names(places: Any) -> str:
    return ", ".join(DISTRICTS[place] for place in places)


if __name__ == "__main__":
    main()
