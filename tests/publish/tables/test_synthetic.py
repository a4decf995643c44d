"""Synthetic rows pass the gate: constraints hold in every row, neighbours look alike, methods stay within a claim."""

from __future__ import annotations

import json
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import sordino as so
from publish.tables.worlds import CITIES, COUNTRIES, DAYS, Heard, account, people, rows_of
from sordino.accounting.neighbours import Neighbours
from sordino.errors import ArgumentError, RunError
from sordino.publish.publication import Running
from sordino.publish.recipes import read
from sordino.publish.tables.purse import Purse

NEVER = so.publish.never(age=range(18), married=True)
NOBODY = [NEVER, so.publish.never(age=range(18, 200)), so.publish.never(married=[False, None])]
CIRCLE = [so.publish.at_most("begun", "ended"), so.publish.at_most("ended", "begun")]
RULES: list[Any] = [
    NEVER,
    so.publish.at_most("begun", "ended"),
    so.publish.determines("city", "country", dict(zip(CITIES, COUNTRIES, strict=True))),
]
ALL = ["age", "married", "city", "country", "income", "begun", "ended"]
RANGES = {"begun": DAYS, "ended": DAYS}


def few(budget: Any = None, **words: Any) -> Any:
    return so.publish.synthetic(account(budget=budget), ["city", "country", "married"], **words)


@pytest.fixture(scope="module")
def made() -> Any:
    return so.publish.synthetic(account(), ALL, zeros=RULES, ranges=RANGES, bins=6, method="mst").run(rho=5)


def check_rules(table: pa.Table) -> None:
    rows = table.to_pylist()
    assert rows
    assert not any(row["age"] < 18 and row["married"] for row in rows)
    assert all(row["begun"] <= row["ended"] for row in rows if row["begun"] and row["ended"])
    pairs = {(row["city"], row["country"]) for row in rows}
    assert pairs <= set(zip(CITIES, COUNTRIES, strict=True))


def test_constraints_hold_in_every_row_and_values_are_of_their_kinds(made: Any) -> None:
    for table in (made.rows().to_arrow(), made.rows(2_000).to_arrow()):
        check_rules(table)
        assert table.schema.field("age").type == pa.int64()
        assert table.schema.field("begun").type == pa.date32()
        assert all(0 <= each <= 99 for each in table["age"].to_pylist())
        known = [each for each in table["income"].to_pylist() if each is not None]
        assert len(known) < table.num_rows  # a missing value is a value of its own
        assert all(0 <= each <= 100_000 and each % 100 == 0 for each in known)
        assert all(each is None or DAYS[0] <= each <= DAYS[1] for each in table["ended"].to_pylist())


def test_rows_look_like_the_data(made: Any) -> None:
    assert 300 < made.rows().to_arrow().num_rows < 500
    age = np.array(made.rows(4_000).to_arrow()["age"])
    assert abs(age.mean() - np.array(rows_of()["age"]).mean()) < 8
    marginal = made.marginal("country", "city")
    assert marginal.counts.shape == (3, 3)
    assert marginal.counts[0, 1] == 0
    assert marginal.to_arrow().num_rows == 9
    assert len(made.marginal("age", "income", "ended").labels[1]) == made.fields[made.place("income")].size


def test_a_function_can_be_found_privately() -> None:
    job = so.publish.synthetic(account(), ["city", "country"], zeros=[so.publish.determines("city", "country")])
    assert "twentieth" in str(job.price(rho=5))
    rows = job.run(rho=5).rows().to_arrow()
    assert set(zip(rows["city"].to_pylist(), rows["country"].to_pylist(), strict=True)) == set(
        zip(CITIES, COUNTRIES, strict=True)
    )


@pytest.mark.parametrize("method", ["aim", "mst", "mwem"])
@pytest.mark.parametrize("words", [{"rho": 1}, {"epsilon": 1}])
def test_every_method_stays_within_its_claim(
    method: str, words: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    used: list[float] = []
    stage = Running.stage

    def heard(running: Running, name: str) -> None:
        used.append(running.rounds.used)
        stage(running, name)

    monkeypatch.setattr(Running, "stage", heard)
    budget = so.budget(rho=1) if "rho" in words else so.budget(epsilon=1)
    job = few(budget, method=method)
    made = job.run(**words)
    assert 0.99 < used[-1] <= 1
    assert job.data.account.used == 1
    assert made.manifest["measured"]["marginals"]


@pytest.mark.parametrize("relation", [Neighbours.ADD_REMOVE, Neighbours.REPLACE_ONE])
@pytest.mark.parametrize("method", ["aim", "mst", "mwem"])
def test_neighbours_differ_within_the_bound_and_in_nothing_else(
    relation: Neighbours, method: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = rows_of(60)
    other = (
        table.slice(1) if relation is Neighbours.ADD_REMOVE else pa.concat_tables([table.slice(1), table.slice(9, 1)])
    )
    seen: list[Heard] = []
    made: list[Any] = []
    prices: list[str] = []
    for each in (table, other):
        with monkeypatch.context() as patched:
            heard = Heard(patched, seen[0].answers if seen else None)
            job = so.publish.synthetic(
                account(each, neighbours=relation), ["age", "city", "married"], bins=8, method=method
            )
            prices.append(str(job.price(rho=2)))
            made.append(job.run(rho=2))
            seen.append(heard)
    one, two = seen
    assert prices[0] == prices[1]
    assert one.events == two.events
    for first, second, bound in zip(one.values, two.values, one.bounds, strict=True):
        moved = np.abs((first - second).astype(float))
        assert moved.max() <= bound.linf
        assert moved.sum() <= bound.l1
        assert (moved**2).sum() <= bound.l2_squared
    assert any((first != second).any() for first, second in zip(one.values, two.values, strict=True))
    assert made[0].files["model.npz"] == made[1].files["model.npz"]
    assert made[0].files["measured.npz"] == made[1].files["measured.npz"]
    assert sorted(made[0].files) == sorted(made[1].files)
    assert made[0].manifest["measured"] == made[1].manifest["measured"]


def test_many_rows_of_one_person_weigh_as_many_as_are_declared(monkeypatch: pytest.MonkeyPatch) -> None:
    table = pa.table({"person": [1] * 90 + [2, 3, 4], "city": ["Oslo"] * 91 + ["Rome", "Bern"]})
    words: dict[str, Any] = {"unit": "person", "columns": {"city": so.keys(CITIES)}, "limits": so.limits(rows=2)}
    with monkeypatch.context() as patched:
        heard = Heard(patched)
        so.publish.synthetic(account(table, **words), ["city"], workload=so.publish.combinations(["city"])).run(rho=1)
    assert heard.bounds[0].l2_squared == 4
    assert heard.values[0].sum() == 5


def test_saved_and_made_again(made: Any, tmp_path: Path) -> None:
    again = so.publish.load(made.save(tmp_path / "made"))
    assert again.manifest == made.manifest
    assert again.rows().to_arrow() == made.rows().to_arrow()
    check_rules(again.rows(500).to_arrow())
    assert again.marginal("age", "city").counts == pytest.approx(made.marginal("age", "city").counts)
    made.rows(10).to_parquet(tmp_path / "rows.parquet")
    assert len(made.rows(10)) == 10


def test_plain_parameters_make_the_same_recipe() -> None:
    job = so.publish.synthetic(account(), ALL, zeros=RULES, ranges=RANGES, bins=6, megabytes="0.5", method="mwem")
    plain = json.loads(json.dumps(job.recipe.plain()))
    assert read("synthetic", people(), plain) == job.recipe
    listed = so.publish.synthetic(
        account(), ["city", "married"], workload=so.publish.combinations([["city", "married"]])
    )
    assert read("synthetic", people(), json.loads(json.dumps(listed.recipe.plain()))) == listed.recipe


def test_a_round_that_raises_leaves_the_charge_and_no_release(monkeypatch: pytest.MonkeyPatch) -> None:
    job = few()
    calls: list[int] = []
    choose = Purse.choose

    def failing(*given: Any) -> int:
        calls.append(1)
        if len(calls) > 2:
            raise ValueError("Oslo")
        return choose(*given)

    monkeypatch.setattr(Purse, "choose", failing)
    with pytest.raises(RunError) as raised:
        job.run(rho=4)
    assert "Oslo" not in str(raised.value)
    assert job.data.account.used == pytest.approx(0.4)


def test_prices_say_what_is_known_beforehand() -> None:
    job = so.publish.synthetic(account(), ["age", "city"], bins=8)
    price = job.price(rho=1)
    assert price.error_of("age").amount > 0
    assert price.error_of("city").amount > 0
    assert "not known beforehand" in str(price.error_of("rows"))
    assert job.data.account.used == 0


@pytest.mark.parametrize(
    ("columns", "words", "code"),
    [
        (["name"], {}, "SRD-P101"),
        ([], {}, "SRD-P101"),
        (["city", "city"], {}, "SRD-P101"),
        (["begun"], {}, "SRD-P004"),
        (["city", "age"], {"workload": so.publish.combinations(["income"])}, "SRD-P101"),
        (["city"], {"zeros": [so.publish.never(city="Paris")]}, "SRD-P102"),
        (["city"], {"zeros": [so.publish.never(age=3)]}, "SRD-P101"),
        (["city"], {"zeros": [so.publish.never(city=CITIES)]}, "SRD-P103"),
        (["age", "married"], {"zeros": NOBODY}, "SRD-P103"),
        (["begun", "ended"], {"ranges": RANGES, "zeros": CIRCLE}, "SRD-P103"),
        (["age", "city"], {"zeros": [so.publish.at_most("age", "city")]}, "SRD-P102"),
        (["city", "country"], {"zeros": [so.publish.determines("city", "country", {"Oslo": "NO"})]}, "SRD-P102"),
        (["city"], {"method": "magic"}, "SRD-A001"),
        (["begun"], {"ranges": {"begun": (date(2020, 1, 2), date(2020, 1, 1))}}, "SRD-A003"),
    ],
)  # fmt: skip
def test_what_cannot_be_is_refused_before_a_price(columns: Any, words: Any, code: str) -> None:
    with pytest.raises(ArgumentError, match=code):
        so.publish.synthetic(account(), columns, **words)


def test_a_text_without_keys_is_refused_with_the_remedy() -> None:
    table = pa.table({"name": ["Ada", "Bo"]})
    with pytest.raises(ArgumentError, match=r"so\.keys"):
        so.publish.synthetic(account(table, columns={}), ["name"])
    with pytest.raises(ArgumentError, match="account"):
        so.publish.synthetic(people(), ["city"])


def test_a_report_needs_no_data_and_a_picture_is_drawn(made: Any) -> None:
    report = made.report()
    assert "age" in str(report)
    assert all(each.distance >= 0 for each in report.lines)
    public = rows_of(300, seed=9)
    trained = made.report(public=public, target="married").trained
    assert trained.synthetic > 0.6
    assert trained.public > 0.7
    with pytest.raises(ArgumentError, match="SRD-A003"):
        made.report(public=public)
    assert made.plot().axes
    assert made.plot("age").axes
