"""Six questions about a made-up data set, each with its price before and its error bars after, and a seventh refused.

Run it with ``make demo``. It writes ``demo-out/report.html`` with plots. The data is generated, so the true answers can
stand beside the private ones; with real data nobody would see them.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
from rich.console import Console
from rich.panel import Panel
from rich.text import Text

import demo_report
import sordino as so
from demo_report import Asked
from sordino.errors import BudgetError
from sordino.query.ask import Ask, DataAccount
from sordino.query.data.dataset import Dataset

DISTRICTS = ["Harbour", "Old Town", "Station", "University", "Mills", "Park", "Hill", "Airport"]


def made_up(riders: int = 12_000) -> pa.Table:
    """Return a month of a bicycle scheme, one row a ride: the same every time, as it is nobody's secret."""
    generator = np.random.default_rng(2006)
    rides = np.minimum(1 + generator.poisson(1.5, riders), 5)  # five at most, so the limit declared below cuts nobody
    rider = np.repeat(np.arange(riders), rides)
    minutes = generator.gamma(3.0, 6.0, rider.size)
    days = generator.choice(30, rider.size, p=np.where(np.arange(30) == 17, 2.2, 1.0) / 31.2)  # day 17: a festival
    return pa.table(
        {
            "rider_id": rider,
            "day": np.datetime64("2026-06-01") + days,
            "district": generator.choice(DISTRICTS, rider.size, p=[0.26, 0.18, 0.16, 0.14, 0.09, 0.08, 0.05, 0.04]),
            "minutes": np.round(minutes, 1),
            "kilometres": np.round(minutes * generator.uniform(0.1, 0.3, rider.size), 2),
        }
    )


def declared(rides: pa.Table) -> Dataset:
    """Say who is protected and what is publicly known. Nothing of this is read from the data."""
    return so.dataset(
        "rides",
        rides,
        unit="rider_id",
        columns={
            "district": so.keys(DISTRICTS),
            "minutes": so.bounds(0, 90, nullable=False),
            "kilometres": so.bounds(0, 25, nullable=False),
        },
        limits=so.limits(rows=5),
    )


SQL: dict[str, tuple[str, dict[str, Any]]] = {
    "rides and minutes by district": (
        "SELECT district, COUNT(*) AS rides, AVG(minutes) AS minutes FROM rides GROUP BY district",
        {"epsilon": 0.5},
    ),
    "how many people ride": (
        "SELECT COUNT(DISTINCT rider_id) AS riders FROM rides",
        {"error": so.within(60, of="riders")},  # the least ε that is off by 60 or less
    ),
    "a typical ride": (
        "SELECT MEDIAN(minutes) AS median FROM rides",
        {"epsilon": 0.2},
    ),
    "kilometres in a month, by rider": (
        "SELECT AVG(total) AS mean FROM (SELECT rider_id, SUM(kilometres) AS total FROM rides GROUP BY rider_id)",
        {"epsilon": 0.2},
    ),
    "rides by day of the week": (
        "SELECT ISODOW(day) AS weekday, COUNT(*) AS rides FROM rides GROUP BY ISODOW(day) ORDER BY weekday",
        {"epsilon": 0.5},
    ),
}


def longest(budget: DataAccount) -> Ask:
    """The sixth question, by method calls: where do people ride for more than half an hour?"""
    rides = budget.table("rides").filter(so.col("minutes") > 30)
    return rides.group_by("district").agg(rides=so.count()).order_by("-rides").limit(3)


def ask(question: str, asked: Ask, words: dict[str, Any], console: Console) -> Asked:
    """Show the price, which touches no data; then pay, and show the answer with its error bars."""
    price = asked.price(**words)
    answer = asked.run(**words)
    done = Asked(question, asked.text, price, answer)
    console.print(Panel(Text(f"{done.text}\n\n{done.quote}\n\n{answer}"), title=question, title_align="left"))
    return done


def refuse(budget: DataAccount, console: Console) -> None:
    """One question more than the budget covers: it is refused before the data is touched."""
    asked = budget.sql("SELECT district, SUM(kilometres) AS kilometres FROM rides GROUP BY district")
    try:
        asked.run(epsilon=1)
    except BudgetError as refusal:
        console.print(Panel(Text(str(refusal)), title="the seventh question is refused", title_align="left"))
    else:
        raise SystemExit("the seventh question was answered: the budget does not hold")


def main() -> None:
    """Ask, show, refuse, explain, report."""
    console = Console()
    table = made_up()
    rides = declared(table)
    console.print(Panel(Text(str(rides)), title="what is declared", title_align="left"))
    budget = so.account(rides, so.budget(epsilon=2, delta=1e-9))
    answered = [ask(question, budget.sql(text), words, console) for question, (text, words) in SQL.items()]
    answered.append(ask("long rides", longest(budget), {"epsilon": 0.3}, console))
    refuse(budget, console)
    explanation = so.explain(2, 1e-9)
    console.print(Panel(Text(str(explanation)), title="what ε = 2, δ = 1e-9 means", title_align="left"))
    truth = table.to_pandas().groupby("district").agg(rides=("minutes", "size"), minutes=("minutes", "mean"))
    path = demo_report.write(answered, truth, budget, explanation)
    console.print(f"{budget}\nreport with plots: [bold]{path}[/]")


if __name__ == "__main__":
    main()
