"""A hierarchy passes the gate: refused before a price where metadata shows it, priced as it will be, charged whole."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import sordino as so
from publish.hierarchies.towns import LEVELS, QUERIES, counted, country, people, rows, truth
from sordino.accounting.events import Composed, DiscreteGaussian
from sordino.errors import ArgumentError, RunError
from sordino.publish.hierarchies.plain import read

SHARES = {"state": 3, "county": {"total": 1, "cells": 2}, "tract": {"race": "0.5", "cells": 2.5}}


def test_what_is_measured_is_a_list_of_events_that_cost_what_was_said() -> None:
    asked = counted(people(rows(50)), so.budget(rho=3), shares=SHARES)
    price = asked.price(rho="2.56")
    assert isinstance(price.event, Composed)
    parts = price.event.events
    assert len(parts) == 4 + 2 + 2
    assert all(isinstance(each, DiscreteGaussian) for each in parts)
    spent = [each.sensitivity_squared / (2 * each.variance) for each in parts]
    assert price.fits
    assert sum(spent) <= Fraction("2.56")
    asked.run(rho="2.56")
    assert asked.data.account.used == pytest.approx(2.56 / 3, abs=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("shares", [None, SHARES, {"tract": 1}])
def test_the_price_knows_the_errors(shares: Any) -> None:
    """Squared errors are on average what the price says; noise of 0.7 or 1.3 times the scale would be told apart."""
    table = rows(400)
    asked = counted(people(table), so.unlimited("a test"), shares=shares)
    price = asked.price(rho=1, confidence=0.6827)
    exact = country().summed(truth(table).reshape(6, -1))
    variances = {each.name: mean_variance(asked, each.name) for each in price.errors}
    ratios = []
    for _ in range(100):
        made = asked.run(rho=1)
        off = {
            f"{level}: {name}": made.estimated(number, columns) - sums(exact[number], columns)
            for number, level in enumerate(LEVELS)
            for name, columns in made.queries.items()
        }
        ratios.append(np.mean([np.mean(each**2) / variances[name] for name, each in off.items()]))
    mean, spread = np.mean(ratios), np.std(ratios) / np.sqrt(len(ratios))
    assert abs(mean - 1) < 4.5 * spread, f"{mean} ± {spread}"
    assert 0.49 + 4.5 * spread < mean < 1.69 - 4.5 * spread, f"{mean} ± {spread}"
    for each in price.errors:
        assert each.amount == pytest.approx(np.sqrt(variances[each.name]), rel=0.25)  # few values, few widths


def mean_variance(asked: Any, line: str) -> float:
    level, query = line.split(": ")
    design = asked.plan(rho=1).design
    return float(np.mean(design.solver.variances_of(LEVELS.index(level), dict(asked.recipe.queries)[query])))


def sums(cells: np.ndarray, columns: tuple[int, ...]) -> np.ndarray:
    away = tuple(1 + column for column in range(3) if column not in columns)
    return cells.reshape(-1, 2, 3, 2).sum(axis=away).reshape(len(cells), -1)


@pytest.mark.parametrize("budget", [so.budget(epsilon=80, delta=1e-6), so.unlimited("a test")])
@pytest.mark.parametrize("epsilon", [0.5, 20])
def test_declared_at_epsilon_and_delta_it_is_proven_for_discrete_noise(budget: Any, epsilon: float) -> None:
    price = counted(people(rows(50)), budget).price(epsilon=epsilon, delta=1e-7)
    assert price.fits
    assert (price.epsilon, price.delta) == (Fraction(epsilon), Fraction(1, 10**7))


def test_pure_budgets_are_refused_with_the_budget_that_it_needs() -> None:
    with pytest.raises(ArgumentError, match=r"no pure form.*SRD-A003"):
        counted(people(rows(50)), so.budget(epsilon=1)).price(epsilon=1)


def test_a_goal_finds_the_least_rho() -> None:
    asked = counted(people(rows(50)), so.budget(rho=100))
    price = asked.price(error=so.within(6, of="county: race"))
    assert price.error_of("county: race").amount <= 6
    assert asked.price(rho=price.rho * Fraction(9, 10)).error_of("county: race").amount > 6


def test_more_rows_of_a_person_and_replacement_cost_noise() -> None:
    plain = counted(people(rows(50)), so.budget(rho=3)).plan(rho=1)
    twice = counted(people(rows(50), limit=2), so.budget(rho=3)).plan(rho=1)
    replaced = counted(people(rows(50), neighbours=so.Neighbours.REPLACE_ONE), so.budget(rho=3)).plan(rho=1)
    variances = [each.design.noise[0][0].variance for each in (plain, twice, replaced)]
    assert variances[1:] == [4 * variances[0], 2 * variances[0]]
    assert not any("not protected" in note for note in plain.design.notes())
    assert any("how many persons there are in all is not protected" in note for note in replaced.design.notes())


def test_plain_parameters_make_the_same_recipe() -> None:
    data = people(rows(50))
    for words in ({}, {"shares": SHARES}):
        asked = counted(data, so.budget(rho=3), **words)
        again = read(data, asked.recipe.plain())
        assert again == asked.recipe
    with pytest.raises(ArgumentError, match="SRD-A001"):
        read(data, {**asked.recipe.plain(), "more": 1})
    with pytest.raises(ArgumentError, match="SRD-P203"):
        read(data, {"queries": QUERIES})


def test_bounded_numbers_become_cells() -> None:
    table = pa.table({"tract": ["t1"] * 5, "age": [0.0, 29.9, 30.0, 90.0, 200.0]})
    columns = {"tract": so.column(kind="text"), "age": so.bounds(0, 90)}
    data = so.dataset("ages", table, unit=so.ROW, columns=columns)
    asked = so.publish.hierarchy(
        so.account(data, so.unlimited("a test")), country(), queries={"age": ["age"]}, bins={"age": 3}
    )
    assert read(data, asked.recipe.plain()) == asked.recipe
    made = asked.run(rho=5000).whole("state")
    assert made.to_pydict()["age"][:3] == ["0 to 30", "30 to 60", "60 to 90"]
    assert made.to_pydict()["count"] == [2, 1, 2, 0, 0, 0]


@pytest.mark.parametrize(
    ("words", "code"),
    [
        ({"queries": {}}, "SRD-A001"),
        ({"queries": {"cells": "sex"}}, "SRD-A001"),
        ({"queries": {"cells": [1]}}, "SRD-A001"),
        ({"queries": {"one": ["sex"], "other": ["sex"]}}, "SRD-A003"),
        ({"queries": {"cells": ["height"]}}, "SRD-P204"),
        ({"queries": {"sex": ["sex"], "race": ["race"]}}, "SRD-P205"),
        ({"shares": {"tract": {"total": 1}}}, "SRD-P205"),
        ({"shares": {"state": 1}}, "SRD-P205"),
        ({"shares": {"town": 1}}, "SRD-P203"),
        ({"shares": {"state": {"height": 1}, "tract": 1}}, "SRD-P204"),
        ({"shares": {"tract": -1}}, "SRD-A002"),
        ({"shares": {"tract": 0}}, "SRD-A003"),
        ({"shares": [1, 2, 3]}, "SRD-A001"),
        ({"place": "home"}, "SRD-P204"),
        ({"place": "age"}, "SRD-P204"),
        ({"bins": {"sex": 3}}, "SRD-P004"),
        ({"table": "others"}, "SRD-P006"),
    ],
)
def test_what_metadata_shows_is_refused_before_a_price(words: dict[str, Any], code: str) -> None:
    with pytest.raises(ArgumentError, match=code):
        counted(people(rows(50)), so.budget(rho=1), **words)


def test_more_of_the_same() -> None:
    account = so.account(people(rows(50)), so.budget(rho=1))
    with pytest.raises(ArgumentError, match="SRD-A001"):
        so.publish.hierarchy(account, LEVELS, queries=QUERIES)  # type: ignore[arg-type]
    with pytest.raises(ArgumentError, match="SRD-A001"):
        so.publish.hierarchy(people(rows(5)), country(), queries=QUERIES)  # type: ignore[arg-type]
    named = so.publish.tree({"sex": ["t1"]}, ["sex"])
    with pytest.raises(ArgumentError, match="SRD-P204"):
        so.publish.hierarchy(account, named, queries=QUERIES, place="tract")
    unlimited = so.dataset("loose", rows(5), unit="person", columns={"sex": so.keys(["f", "m"])})
    with pytest.raises(ArgumentError, match="SRD-P007"):
        so.publish.hierarchy(so.account(unlimited, so.budget(rho=1)), country(), queries={"sex": ["sex"]})
    huge = so.publish.tree({"tract": [str(place) for place in range(2**11)]}, ["tract"])
    columns = {name: so.keys(range(2**11)) for name in ("age",)} | {"person": so.keys(range(2**10))}
    wide = so.dataset("wide", rows(5), unit=so.ROW, columns=columns)
    with pytest.raises(ArgumentError, match="SRD-P005"):
        so.publish.hierarchy(so.account(wide, so.budget(rho=1)), huge, queries={"all": ["age", "person"]})


def test_a_run_that_fails_leaves_the_charge_and_says_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = counted(people(rows(50)), so.budget(rho=3))

    def fail(*_: Any) -> Any:
        raise ValueError("row 17 of t1")

    monkeypatch.setattr("sordino.publish.hierarchies.design.whole_tables", fail)
    with pytest.raises(RunError) as raised:
        asked.run(rho=1)
    assert "17" not in str(raised.value)
    assert asked.data.account.used == pytest.approx(1 / 3, abs=1e-6)


def test_stages_tell_how_much_is_spent() -> None:
    told: list[Any] = []
    asked = counted(people(rows(50)), so.budget(rho=3), shares={"state": 1, "tract": {"cells": 3}})
    asked.telling(lambda stage, **public: told.append((stage, public["spent"]))).run(rho=1)
    assert told == [
        ("measuring", 0.0625),
        ("measuring", 0.125),
        ("measuring", 0.1875),
        ("measuring", 0.25),
        ("measuring", 1.0),
        ("fitting", 1.0),
        ("writing", 1.0),
    ]
