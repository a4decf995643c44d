"""The sample: a month of a bicycle scheme, one row a ride, what is declared about it, and what is asked.

It is made up without chance, so that it is the same everywhere: the numbers k·√p mod 1 lie evenly in [0, 1), and are
turned into rides by inverse distribution functions.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray
from scipy.special import gammaincinv

import sordino as so
from sordino.query.ask import Ask, TableAccount

DECLARATIONS = """\
# Who is protected and what is publicly known about rides. Nothing of this was read from the data.
name: rides
unit: rider_id
source: rides.parquet
limits: {rows: 5}
columns:
  district: {keys: [Harbour, Old Town, Station, University, Mills, Park, Hill, Airport]}
  minutes: {bounds: [0, 90], nullable: false}
  kilometres: {bounds: [0, 25], nullable: false}
"""
SETTINGS = "# Paths are relative to this file.\ndatabase: budget.db\ndata: .\n"
BUDGET = {"epsilon": "2", "delta": "1e-9"}
RIDERS = 12_000

_DISTRICTS = ("Harbour", "Old Town", "Station", "University", "Mills", "Park", "Hill", "Airport")
_SHARES = (0.26, 0.18, 0.16, 0.14, 0.09, 0.08, 0.05, 0.04)
_RIDES = (0.22, 0.34, 0.25, 0.13, 0.06)
"""How many riders have one to five rides: the limit that is declared cuts nobody."""
_DAYS = tuple(2.2 if day == 17 else 1.0 for day in range(30))
"""How busy each day is; on the 18th there is a festival."""


@dataclass(frozen=True)
class Scene:
    """One question: what it wants to know, its text, how much to spend, and the same in plain SQL."""

    title: str
    text: str
    words: dict[str, Any]
    by_methods: bool = False

    def ask(self, data: TableAccount) -> Ask:
        """Return the question, in SQL or by method calls."""
        return _longest(data) if self.by_methods else data.sql(self.text)


QUESTIONS = (
    Scene(
        "rides and minutes by district",
        "SELECT district, COUNT(*) AS rides, AVG(minutes) AS minutes FROM rides GROUP BY district",
        {"epsilon": "0.5"},
    ),
    Scene(
        "how many people ride, within 60",
        "SELECT COUNT(DISTINCT rider_id) AS riders FROM rides",
        {"error": so.within(60, of="riders")},
    ),
    Scene("a typical ride", "SELECT MEDIAN(minutes) AS median FROM rides", {"epsilon": "0.2"}),
    Scene(
        "kilometres in a month, by rider",
        "SELECT AVG(total) AS mean FROM (SELECT rider_id, SUM(kilometres) AS total FROM rides GROUP BY rider_id)",
        {"epsilon": "0.2"},
    ),
    Scene(
        "rides by day of the week",
        "SELECT ISODOW(day) AS weekday, COUNT(*) AS rides FROM rides GROUP BY ISODOW(day) ORDER BY weekday",
        {"epsilon": "0.5"},
    ),
    Scene(
        "where people ride for more than half an hour, by method calls",
        "SELECT district, COUNT(*) AS rides FROM rides WHERE minutes > 30 GROUP BY district",
        {"epsilon": "0.3"},
        by_methods=True,
    ),
)
ONE_TOO_MANY = Scene(
    "kilometres by district",
    "SELECT district, SUM(kilometres) AS kilometres FROM rides GROUP BY district",
    {"epsilon": "1"},
)


def _longest(data: TableAccount) -> Ask:
    rides = data.table("rides").filter(so.col("minutes") > 30)
    return rides.group_by("district").agg(rides=so.count()).order_by("-rides").limit(3)


def write_rides(path: Path) -> None:
    """Write the sample as a Parquet file."""
    rides = 1 + _chosen(_evenly(RIDERS, 2), _RIDES)
    rider = np.repeat(np.arange(RIDERS), rides)
    minutes = np.minimum(6 * gammaincinv(3, _evenly(rider.size, 3)), 90)
    table = {
        "rider_id": rider,
        "day": np.datetime64("2026-06-01") + _chosen(_evenly(rider.size, 5), _DAYS),
        "district": np.array(_DISTRICTS)[_chosen(_evenly(rider.size, 7), _SHARES)],
        "minutes": np.round(minutes, 1),
        "kilometres": np.round(minutes * (0.1 + 0.2 * _evenly(rider.size, 11)), 2),
    }
    pq.write_table(pa.table(table), path)


def true_rows(path: Path, question: Scene) -> list[tuple[Any, ...]]:
    """Return what is true, which only made-up data may show: the question on the bare file."""
    with duckdb.connect() as engine:
        engine.register("rides", pq.read_table(path))
        return engine.execute(question.text).fetchall()


def _evenly(count: int, prime: int) -> NDArray[np.float64]:
    places: NDArray[np.float64] = np.arange(1, count + 1) * np.sqrt(prime) % 1.0
    return places


def _chosen(places: NDArray[np.float64], shares: tuple[float, ...]) -> NDArray[np.int64]:
    """Return, for numbers in [0, 1), which of the shares they fall in."""
    ends = np.cumsum(shares) / np.sum(shares)
    return np.searchsorted(ends[:-1], places, side="right")
