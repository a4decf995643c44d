"""Mobility reports: what one person can move, intervals that cover, cells that are marked, days with budgets."""

from __future__ import annotations

import json
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import sordino as so
from sordino.accounting.neighbours import Neighbours
from sordino.errors import ArgumentError, RunError
from sordino.noise import DiscreteLaplace, RoundedGaussian
from sordino.publish.movement.changes import changes
from sordino.publish.recipes import read

FIRST = date(2026, 1, 5)
DAYS = 21
REGIONS = ["Bern", "Oslo", "Rome"]
WORDS: dict[str, Any] = {
    "region": "region",
    "day": "day",
    "days": ("2026-01-05", "2026-01-25"),
    "baseline": ("2026-01-05", "2026-01-18"),
}


def trips(people: int, *, without: int | None = None) -> pa.Table:
    """Person p makes two trips a day, in one region or in two."""
    person, region, day = [], [], []
    for who in range(people):
        for place in range(DAYS):
            for trip in range(2):
                if who != without and (place < 14 or who % 2):
                    person.append(who)
                    region.append(REGIONS[(who + trip * (who % 3)) % 3])
                    day.append(FIRST + timedelta(days=place))
    return pa.table({"person": person, "region": region, "day": pa.array(day, pa.date32())})


def data(table: pa.Table, **words: Any) -> Any:
    return so.dataset("trips", table, unit="person", columns={"region": so.keys(REGIONS)}, **words)


def report(table: pa.Table, budget: Any, visits: int | None = 10, **words: Any) -> Any:
    return so.publish.mobility(so.account(data(table, **words), budget), visits=visits, **WORDS)


def test_priced_published_saved_and_loaded(tmp_path: Path) -> None:
    asked = report(trips(300), so.budget(epsilon=200, delta=1e-6), 42)
    price = asked.price(epsilon=100)
    assert price.fits
    assert "change_100" in str(price)
    made = asked.run(epsilon=100)
    assert made.counts.shape == (3, DAYS)
    table = made.table()
    assert set(table["cell"].to_pylist()) <= {"shown", "uncertain"}
    assert table.num_rows == 3 * 7
    shown = [row for row in table.to_pylist() if row["cell"] == "shown"]
    assert shown
    assert all(-65 < row["change"] < -35 for row in shown)  # every second person stays at home afterwards
    found = so.publish.load(made.save(tmp_path / "report"))
    assert found.table().equals(table)
    assert found.to_json() == made.to_json()
    assert json.loads(made.to_json())["measured"]["cells"] == 21
    made.plot().savefig(tmp_path / "report.png")


@pytest.mark.parametrize("visits", [1, 5, 42])
def test_one_person_moves_the_counts_within_the_bound(visits: int) -> None:
    """The neighbour oracle: with and without each of some people, exact counts differ within what is claimed."""
    found = []
    for without in (None, 0, 1, 2, 5):
        asked = report(trips(12, without=without), so.budget(epsilon=1), visits)
        plan = asked.plan(epsilon=1)
        window = asked.recipe.window
        found.append((window.people(asked.data.compute, 7), plan.bound, asked.price(epsilon=1)))
    whole, bound, price = found[0]
    for counts, same, cost in found[1:]:
        moved = np.abs(whole - counts)
        assert same == bound
        assert str(cost) == str(price)
        assert np.count_nonzero(moved) <= bound.l0
        assert moved.sum() <= bound.l1
        assert moved.max() <= bound.linf
        assert np.sum(moved**2) <= bound.l2_squared
    assert any(np.abs(whole - counts).sum() == min(visits, 42) for counts, _, _ in found[1:])


def test_a_replaced_person_moves_both_ways() -> None:
    asked = report(trips(5), so.budget(epsilon=1), 3, neighbours=Neighbours.REPLACE_ONE)
    bound = asked.plan(epsilon=1).bound
    assert (bound.l0, bound.l1, bound.l2_squared, bound.linf) == (6, 6, 6, 1)
    assert bound.neighbours is Neighbours.REPLACE_ONE


@pytest.mark.parametrize("law", [DiscreteLaplace(20), RoundedGaussian(400)])
def test_intervals_cover_the_change_and_not_much_more(law: Any) -> None:
    """Of 3,000 simulated cells at 90 %: at least 88.5 % and at most 93 % are covered."""
    days = np.arange(35)
    weekdays = days % 7
    truth = np.where(days < 28, 300.0, 150.0)
    noisy = truth + law.draw((428, 35))
    found = changes(noisy, law, days[:28], days[28:], weekdays, 0.9)
    covered = np.mean((found.low <= -50) & (found.high >= -50))
    assert found.low.size == 2996
    assert 0.885 <= covered <= 0.93


def test_a_cell_without_a_clear_baseline_is_uncertain() -> None:
    law = RoundedGaussian(400)
    days = np.arange(14)
    found = changes(np.zeros((1, 14)), law, days[:7], days[7:], days % 7, 0.95)
    assert not found.certain(1e9).any()


@pytest.mark.slow
def test_each_day_has_a_budget_of_its_own() -> None:
    columns = {"region": so.keys(REGIONS)}
    blocks = so.days("day", protects="person-day")
    by_day = so.dataset("trips", trips(20), unit="person", columns=columns, blocks=blocks)
    house_words = {**WORDS, "visits": 2}
    with pytest.raises(ArgumentError):
        so.publish.mobility(so.account(data(trips(2)), so.budget(epsilon=1)), **WORDS)
    account = so.account(by_day, so.unlimited("a test"))
    plan = so.publish.mobility(account, **house_words).plan(epsilon=1)
    assert len(plan.days) == DAYS
    assert plan.bound.l0 == 2
    assert so.publish.mobility(account, **house_words).run(epsilon=1).counts.shape == (3, DAYS)


def test_what_cannot_be_counted_is_refused_before_a_charge() -> None:
    account = so.account(data(trips(3)), so.budget(epsilon=1))
    wrong: list[dict[str, Any]] = [
        {"visits": None},
        {"visits": 0},
        {"day": "region"},
        {"region": "nothing"},
        {"region": "person"},
        {"days": ("2026-01-25", "2026-01-05")},
        {"days": "2026"},
        {"days": ("a", "b")},
        {"baseline": ("2026-01-05", "2026-01-25")},
        {"baseline": ("2026-01-05", "2026-01-06")},
        {"days": ("2000-01-01", "2026-01-25")},
        {"within": 0},
        {"table": "other"},
    ]
    for words in wrong:
        with pytest.raises(ArgumentError):
            so.publish.mobility(account, **{**WORDS, "visits": 3, **words}).price(epsilon=1)
    assert account.account.used == 0


def test_plain_parameters_make_the_same_recipe() -> None:
    asked = report(trips(3), so.budget(epsilon=1))
    assert read("mobility", asked.data.protected, asked.recipe.plain()) == asked.recipe
    with pytest.raises(ArgumentError, match="no word"):
        read("mobility", asked.data.protected, {"regions": 1})
    with pytest.raises(ArgumentError, match="must say"):
        read("mobility", asked.data.protected, {})


def test_a_run_that_raises_leaves_the_charge_and_nothing_else(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = report(trips(3), so.budget(epsilon=1))
    monkeypatch.setattr(type(asked.data), "compute", lambda *_: 1 / 0)
    with pytest.raises(RunError):
        asked.run(epsilon=1)
    assert asked.data.account.used == 1
