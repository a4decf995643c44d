"""Prices, what is used and left, sums by analyst, the budget over time and the table of mechanisms are one sum."""

from __future__ import annotations

from itertools import accumulate
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import sordino as so
from serve.places import ANALYST, COUNT, OTHER, OWNER, opened
from sordino.accounting.budget import budget
from sordino.accounting.events import Concentrated, Pure
from sordino.accounting.filter import Filter
from sordino.accounting.neighbours import Neighbours
from sordino.ledger.rule import Rule
from sordino.serve.dashboard.openness import _mechanisms, _told
from sordino.serve.telling.course import Course, Step

MEAN = "SELECT AVG(fare) AS fare, MEDIAN(fare) AS middle FROM trips"
ASKED: tuple[tuple[str, dict[str, str]], ...] = (
    (COUNT, {"epsilon": "0.2"}),
    (COUNT, {"epsilon": "0.3", "mechanism": "gaussian"}),
    (MEAN, {"epsilon": "0.3"}),
    (COUNT, {"epsilon": "0.3", "mechanism": "gaussian"}),
    (COUNT, {"epsilon": "0.1"}),
)
BUDGETS: dict[str, dict[str, Any]] = {
    "pure": {"epsilon": 3},
    "renyi": {"epsilon": 3, "delta": "1e-6"},
    "zcdp": {"rho": 3},
}


@pytest.mark.parametrize("calculus", BUDGETS)
def test_a_price_is_by_how_much_used_rises_and_everything_adds_up(tmp_path: Path, calculus: str) -> None:
    with opened(tmp_path, BUDGETS[calculus]) as service:
        prices = []
        asked = list(ASKED)
        if calculus == "pure":
            asked = [each for each in asked if "mechanism" not in each[1]]
        if calculus == "zcdp":
            asked = [(sql, {"rho": words["epsilon"]}) for sql, words in asked]
        for place, (sql, words) in enumerate(asked):
            body = {"dataset": "trips", "sql": sql, **words}
            before = service.budget(OWNER, "trips")["used"]
            price = service.price(OWNER, "query", body)
            service.run((ANALYST, OTHER)[place % 2], "query", body)
            after = service.budget(OWNER, "trips")["used"]
            assert price["part"] == pytest.approx(after - before, rel=1e-9), words
            assert price["used"] + price["part"] == pytest.approx(price["used_after"], rel=1e-9)
            assert f"{100 * (after - before):.3g} % of the budget" in price["charge"]
            prices.append(price["part"])
        report, page = service.budget(OWNER, "trips"), service.transparency(OWNER, "trips")
        listed = service.releases(OWNER)
        assert [each["part"] for each in reversed(listed)] == pytest.approx(prices)
        assert [each["part"] for each in reversed(page["releases"])] == pytest.approx(prices)
        assert sum(each["part"] for each in report["by_analyst"]) == pytest.approx(report["used"])
        assert [used for _, used in report["points"]] == pytest.approx(list(accumulate(prices)))
        mechanisms = _mechanisms([_told(each) for each in page["releases"]])
        assert sum(each["part"] for each in mechanisms) == pytest.approx(report["used"])
        assert sum(each["releases"] for each in mechanisms) == len(prices)


def test_a_rise_is_never_less_than_a_charges_part_of_any_cap() -> None:
    rule = Filter.open(budget(epsilon=3, delta="1e-6"))
    spent, used = rule.columns.nothing, 0.0
    for event in (Pure("0.1"), Concentrated("0.02"), Pure("0.3"), Concentrated("0.01")) * 3:
        charge = rule.charge(event)
        rise = rule.rise(spent, charge)
        assert rise >= min(amount / cap for amount, cap in zip(charge[1:], rule.caps[1:], strict=True)) > 0
        spent = tuple(map(sum, zip(spent, charge, strict=True)))
        used += float(rise)
        assert rule.used(spent) == pytest.approx(used, rel=1e-12)


def test_days_periods_and_burnt_charges_are_on_the_course() -> None:
    by_day = Rule.open(
        budget(epsilon=1), unit="(rider, day)", neighbours=Neighbours.ADD_REMOVE, blocks="unit-per-block"
    )
    tenth = by_day.filter.charge(Pure("0.1"))
    steps = [Step(1, "ann", tenth, ("a", "b")), Step(2, "ann", tenth, ("b",)), Step(3, "bob", tenth, ("c",))]
    course = Course(by_day)
    assert [each.rise for each in course.follow(steps)] == pytest.approx([0.1, 0.1, 0.1])
    assert [each.used for each in course.follow(steps)] == pytest.approx([0.1, 0.2, 0.2])
    steps += [Step(4, None, tenth), Step(5, None, None), Step(6, "ann", tenth, ("b",))]  # burnt on all, a new period
    assert [each.used for each in course.follow(steps)][3:] == pytest.approx([0.3, 0.0, 0.1])
    other = Step(7, "ann", (0, 1, 2, 3), ("b",))  # of another calculus
    assert course.follow([*steps, other])[-1].rise == 0


def test_a_price_in_a_notebook_shows_what_would_be_used() -> None:
    trips = so.dataset("trips", pa.table({"rider": [1, 2]}), unit="rider", limits=so.limits(rows=1))
    account = so.account(trips, so.budget(epsilon=2))
    ask = account.sql('SELECT COUNT(*) AS "<b>" FROM trips')
    ask.run(epsilon="0.5")
    shown = ask.price(epsilon="0.5")._repr_html_()
    for words in ("25 % of the budget is used, 25 % more by this question; 50 % would be left", "&lt;b&gt;", "± "):
        assert words in shown
    assert "<b>" not in shown
    assert "it does not fit" in ask.price(epsilon=3)._repr_html_()
    free = so.account(trips, so.unlimited("a test")).sql("SELECT COUNT(*) FROM trips").price(epsilon=1)
    assert "svg role" not in free._repr_html_()
