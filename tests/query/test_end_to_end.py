"""Whole questions from text to answer: totals over levels, polish, classes of people, truncation, what is found."""

from __future__ import annotations

import json
import re
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import sordino as so
from sordino.accounting.account import unlimited
from sordino.accounting.bound import ROW
from sordino.accounting.budget import budget
from sordino.data.dataset import dataset
from sordino.data.declare import bounds, keys, limits, personal
from sordino.errors import ArgumentError, BudgetError, QuestionError
from sordino.query.answer.answer import Answer
from sordino.query.ask import TableAccount, account
from sordino.query.model.bounding import bounding

PEOPLE = 400
MUCH = 10_000
"""So much ε that an answer is the exact one, all but the rounding."""


def rides() -> pa.Table:
    """Two rides for everybody: one in the morning, one in the evening."""
    rider = np.repeat(np.arange(PEOPLE), 2)
    return pa.table(
        {
            "rider": rider,
            "city": np.where(rider % 4 == 0, "Oslo", "Rome"),
            "part": np.tile(["morning", "evening"], PEOPLE),
            "consent": np.where(rider % 2 == 0, "open", "strict"),
            "fare": (rider % 10).astype(float),
            "seats": rider % 3,
        }
    )


def opened(**changed: Any) -> TableAccount:
    said: dict[str, Any] = {
        "unit": "rider",
        "columns": {
            "city": keys(["Oslo", "Rome", "Bern"]),
            "part": keys(["morning", "evening"]),
            "fare": bounds(0, 10),
            "seats": bounds(0, 4),
        },
        "limits": limits(rows=2),
    } | changed
    return account(dataset("rides", rides(), **said), unlimited("a test"))


@pytest.fixture(scope="module")
def data() -> TableAccount:
    return opened()


# ---- levels --------------------------------------------------------------------------------------------------------

BY_LEVEL = "SELECT city, part, COUNT(*) AS n, SUM(fare) AS fare, AVG(fare) AS mean FROM rides GROUP BY {}"
ROLLUP, CUBE = BY_LEVEL.format("ROLLUP (city, part)"), BY_LEVEL.format("CUBE (city, part)")


def by_keys(answer: Answer, column: str) -> dict[tuple[Any, Any], float]:
    return {(row["city"], row["part"]): row[column] for row in answer}


@pytest.mark.parametrize(("text", "rows"), [(ROLLUP, 6 + 3 + 1), (CUBE, 6 + 3 + 2 + 1)])
def test_all_levels_come_back_and_are_right(data: TableAccount, text: str, rows: int) -> None:
    answer = data.sql(text).run(epsilon=MUCH)
    assert len(answer) == rows
    counts = by_keys(answer, "n")
    assert counts[None, None] == pytest.approx(2 * PEOPLE, abs=0.5)
    assert counts["Oslo", None] == pytest.approx(PEOPLE / 2, abs=0.5)
    assert counts["Bern", "morning"] == pytest.approx(0, abs=0.5)
    assert by_keys(answer, "mean")["Rome", None] == pytest.approx(
        np.mean([n % 10 for n in range(PEOPLE) if n % 4]), abs=0.1
    )


@pytest.mark.parametrize("text", [ROLLUP, CUBE])
def test_counts_and_sums_add_up_over_levels(data: TableAccount, text: str) -> None:
    answer = data.sql(text).run(epsilon=1)
    assert any("made to add up" in note for note in answer.notes)
    for column in ("n", "fare"):
        found = by_keys(answer, column)
        for city in ("Oslo", "Rome", "Bern"):
            assert found[city, None] == pytest.approx(found[city, "morning"] + found[city, "evening"])
        assert found[None, None] == pytest.approx(sum(found[city, None] for city in ("Oslo", "Rome", "Bern")))
    low, high = answer.interval("n")
    assert np.all(low < answer["n"])
    assert np.all(answer["n"] < high)


def test_levels_may_be_left_as_they_are(data: TableAccount) -> None:
    answer = data.sql(ROLLUP).run(epsilon=1, consistent=False)
    assert not any("add up" in note for note in answer.notes)
    assert any("keys that were added up over are NULL" in note for note in answer.notes)
    found = by_keys(answer, "n")
    apart = [found[city, None] - found[city, "morning"] - found[city, "evening"] for city in ("Oslo", "Rome", "Bern")]
    assert np.abs(apart).max() > 1e-6


def test_levels_whose_rows_weigh_differently_are_not_made_to_add_up(data: TableAccount) -> None:
    answer = data.sql(ROLLUP).run(epsilon=1, bounding=bounding("groups", groups=1, rows_per_group=1))
    assert any("need not be the sums" in note for note in answer.notes)


def test_lists_and_choices_come_back_for_every_level(data: TableAccount) -> None:
    text = "SELECT part, HISTOGRAM(fare, 0, 5, 10) AS bins, MODE(city) AS often FROM rides GROUP BY ROLLUP (part)"
    answer = data.sql(text).run(epsilon=MUCH)
    assert answer["often"] == ["Rome"] * 3
    assert [len(each) for each in answer.to_arrow()["bins"].to_pylist()] == [2, 2, 2]
    assert answer["bins"][2] == pytest.approx([PEOPLE, PEOPLE], abs=2)


# ---- polish --------------------------------------------------------------------------------------------------------


def test_counts_can_be_whole_and_what_is_positive_not_negative(data: TableAccount) -> None:
    asked = data.sql(
        "SELECT city, COUNT(*) AS n, SUM(fare) AS fare, SUM(fare - 5) AS both, AVG(fare) AS mean FROM rides "
        "GROUP BY city"
    )
    plain = [asked.run(epsilon="0.001") for _ in range(30)]
    assert any(min(answer["n"].min(), answer["fare"].min()) < 0 for answer in plain)
    shown = [asked.run(epsilon="0.001", integers=True, non_negative=True) for _ in range(30)]
    assert all(answer["n"].min() >= 0 and answer["fare"].min() >= 0 for answer in shown)
    assert any(answer["both"].min() < 0 for answer in shown), "sums of what may be negative stay"
    assert all(np.array_equal(answer["n"], np.round(answer["n"])) for answer in shown)
    assert any(not np.array_equal(answer["fare"], np.round(answer["fare"])) for answer in shown)


# ---- people by classes ---------------------------------------------------------------------------------------------


def test_people_count_by_their_class() -> None:
    data = opened(personal=personal("consent", {"open": 2, "strict": "0.5"}))
    answer = data.sql("SELECT city, COUNT(*) AS n, AVG(fare) AS fare FROM rides GROUP BY city").run(epsilon=MUCH)
    # Oslo has riders 0, 4, 8 …, who are all open; of Rome's 300 riders 100 are open and 200 strict.
    assert answer["n"].tolist() == pytest.approx([200, 2 * (100 + 200 / 4), 0], abs=1)
    assert any("rows weigh by consent (open: 1, strict: 0.25; others 0)" in note for note in answer.notes)


def test_a_budget_above_every_class_is_refused_before_anything_is_charged() -> None:
    classes = opened(personal=personal("consent", {"open": 2, "strict": "0.5"})).dataset
    asked = "SELECT COUNT(*) AS n FROM rides"
    assert account(classes, budget(epsilon=2)).sql(asked).price(epsilon=1).fits
    larger = account(classes, budget(epsilon="2.1"))
    with pytest.raises(QuestionError, match=r"2\.1.*largest ε of a class of people is 2.*SRD-Q322"):
        larger.sql(asked).run(epsilon=1)
    assert not larger.history


# ---- truncation ----------------------------------------------------------------------------------------------------


def test_what_clipping_cuts_off_is_estimated_for_rows_as_well() -> None:
    asked = "SELECT SUM(fare) AS fare FROM rides"
    rows = opened(unit=ROW, limits=None, columns={"fare": bounds(0, 4)})
    (fares,) = rows.sql(asked).run(epsilon=MUCH, truncation=True).details["truncation"]
    assert fares["amount"] == pytest.approx(1200, abs=8 * fares["within"])  # 1 to 5 too much, of 5 to 9, 80 times each
    people = opened(columns={"fare": bounds(0, 4)}, limits=limits(rows=1))
    answer = people.sql(asked).run(epsilon=MUCH, truncation=True)
    (lost, fares) = answer.details["truncation"]
    assert lost["amount"] == pytest.approx(400, abs=8 * lost["within"])
    assert fares["amount"] == pytest.approx(3600 - 80 * 15, abs=8 * fares["within"])
    said = r"limits cut off about .* too low by that \(noise only; each rider"
    assert any(re.match(said, note) for note in answer.notes)


# ---- what must be found --------------------------------------------------------------------------------------------


def test_bounds_of_whole_numbers_are_found_whole_among_declared_keys() -> None:
    data = opened(columns={"city": keys(["Oslo", "Rome", None])}, limits=limits(rows=2))
    answer = data.sql("SELECT city, AVG(seats) AS seats FROM rides GROUP BY city").run(epsilon=MUCH)
    (found,) = [note for note in answer.notes if "found privately" in note]
    assert re.match(r"the bounds \[0, [24]\] of seats were found privately, for a part of the price: about 0 ±", found)
    assert answer["seats"][:2] == pytest.approx([1, 1], abs=0.1)


def test_people_counted_in_few_of_many_groups_are_said(data: TableAccount) -> None:
    asked = data.sql("SELECT part, COUNT(DISTINCT rider) AS n FROM rides GROUP BY part")
    few = asked.run(epsilon=1, bounding=bounding("groups", groups=1, rows_per_group=1))
    assert "each rider counts in 1 groups at most" in few.notes
    all_of_them = asked.run(epsilon=1, bounding=bounding("groups", groups=2, rows_per_group=1))
    assert not any("at most" in note for note in all_of_them.notes)


def test_where_nothing_fits_any_more_the_refusal_says_so() -> None:
    data = account(opened().dataset, budget(epsilon=1))
    asked = data.sql("SELECT COUNT(*) AS n FROM rides")
    asked.run(epsilon="0.9")
    with pytest.raises(BudgetError, match=r"epsilon=0\.1 would fit|epsilon=0\.0999"):
        asked.run(epsilon=1)
    asked.run(epsilon="0.1")
    with pytest.raises(BudgetError, match="nothing of it would fit; ask the data's owner"):
        asked.run(epsilon=1)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("SELECT COUNT(*) AS n FROM trips", {"epsilon": 1e-300}),
        ("SELECT COUNT(*) AS n FROM trips", {"rho": 1e-300}),
        ("SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1e-300) COUNT(*) AS n FROM trips", {}),
        ("SELECT COUNT(*) AS n, SUM(fare) AS s FROM trips", {"epsilon": 1, "weights": {"n": 1e-300}}),
    ],
)
def test_what_is_too_small_to_compute_with_is_refused(text: str, words: dict[str, Any]) -> None:
    rides = pa.table({"rider": [1, 1, 2], "fare": [9.0, 5.0, 7.0]})
    trips = dataset("trips", rides, unit="rider", columns={"fare": bounds(0, 100)}, limits=limits(rows=2))
    data = account(trips, unlimited("a test"))
    with pytest.raises((ArgumentError, QuestionError)):
        data.sql(text).price(**words)


def test_a_count_is_an_integer_only_where_it_was_rounded(data: TableAccount) -> None:
    def kinds(**words: Any) -> tuple[str, bool]:
        answer = data.sql("SELECT COUNT(*) AS n FROM rides").run(epsilon=1, **words)
        told = json.loads(answer.to_json())["columns"][0]
        return told["kind"], pa.types.is_integer(answer.to_arrow().schema.field("n").type)

    assert kinds(bounding=so.bounding("weigh", rows=2)) == ("real", False)
    assert kinds(bounding=so.bounding("weigh", rows=2), integers=True) == ("integer", True)


def test_coalesce_puts_another_word_in_the_place_of_a_declared_null() -> None:
    rows = pa.table({"who": range(9), "city": ["Oslo", None, "Bern"] * 3})
    declared = so.dataset(
        "t", rows, unit="who", columns={"city": so.keys(["Oslo", None, "Bern"])}, limits=so.limits(rows=1)
    )
    asked = so.account(declared, so.unlimited("a comparison")).sql(
        "SELECT COALESCE(city, 'none') AS c, COUNT(*) AS n FROM t GROUP BY c"
    )
    answer = asked.run(epsilon=1000).to_arrow()
    assert answer["c"].to_pylist() == ["Oslo", "Bern", "none"]
    assert answer["n"].to_pylist() == pytest.approx([3, 3, 3], abs=0.3)
