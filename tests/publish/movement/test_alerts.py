"""Alerts on mobility: falls are found, quiet regions are not, whatever is told stays within one pure ε."""

from __future__ import annotations

from datetime import date, timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import sordino as so
from sordino.accounting.events import Pure
from sordino.errors import ArgumentError
from sordino.publish.recipes import read

FIRST = date(2026, 1, 5)
REGIONS = ["Bern", "Oslo", "Rome"]
WORDS: dict[str, Any] = {
    "region": "region",
    "day": "day",
    "days": ("2026-01-05", "2026-01-25"),
    "baseline": ("2026-01-05", "2026-01-18"),
    "visits": 21,
}


def people(count: int, falls: dict[str, int]) -> pa.Table:
    """Everybody is in one region every day; from the day named, only every fifth of that region."""
    who, where, when = [], [], []
    for person in range(count):
        region = REGIONS[person % 3]
        for place in range(21):
            if place < falls.get(region, 99) or person % 5 == 0:
                who.append(person)
                where.append(region)
                when.append(FIRST + timedelta(days=place))
    return pa.table({"person": who, "region": where, "day": pa.array(when, pa.date32())})


def alerts(table: pa.Table, **words: Any) -> Any:
    data = so.dataset("people", table, unit="person", columns={"region": so.keys(REGIONS)})
    return so.publish.mobility_alerts(so.account(data, so.budget(epsilon=100)), **{**WORDS, **words})


def test_falls_are_found_on_their_day_and_nothing_else(tmp_path: Path) -> None:
    asked = alerts(people(900, {"Rome": 16, "Oslo": 18}))
    assert asked.plan(epsilon=50).event() == Pure(50)
    assert asked.price(epsilon=50).error_of("alert").amount < 100
    made = asked.run(epsilon=50)
    assert made.alerts == [("Rome", "2026-01-21"), ("Oslo", "2026-01-23")]
    assert asked.data.account.used == pytest.approx(0.5)
    made.plot().savefig(tmp_path / "alerts.png")
    assert so.publish.load(made.save(tmp_path / "alerts")).alerts == made.alerts


def test_it_stops_after_the_alerts_that_were_paid_for() -> None:
    made = alerts(people(900, {"Rome": 16, "Oslo": 18}), alerts=1).run(epsilon=50)
    assert made.alerts == [("Rome", "2026-01-21")]


def test_what_cannot_be_compared_is_refused() -> None:
    for words in ({"fall": 0}, {"fall": 101}, {"alerts": 0}, {"visits": None}):
        with pytest.raises(ArgumentError):
            alerts(people(3, {}), **words).price(epsilon=1)
    with pytest.raises(ArgumentError, match="pure"):
        alerts(people(3, {})).price(rho=1)
    asked = alerts(people(3, {}))
    assert read("mobility-alerts", asked.data.protected, asked.recipe.plain()) == asked.recipe
