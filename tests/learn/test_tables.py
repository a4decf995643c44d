"""Tables of a data set as examples: what becomes of values, whose rows they are, and one budget with the questions."""

from __future__ import annotations

import math
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np
import psycopg
import pyarrow as pa
import pytest
from torch import nn

import sordino as so
from sordino.errors import ArgumentError, QuestionError, RunError, SourceError
from sordino.learn.descent.train import train
from sordino.learn.run.tables import _numbered, examples_from

COLUMNS = {
    "age": so.bounds(0, 100),
    "city": so.keys(["Oslo", "Rome", None]),
    "since": so.keys([date(2026, 1, 1), date(2026, 1, 2)]),
    "income": so.bounds(-10, 10),
}


def visits(order: Any = slice(None)) -> pa.Table:
    """Six visits of three patients and one of nobody, with all that can go wrong in a column."""
    rows = {
        "patient": ["a", "a\0", "a", "b", None, "b", "a"],
        "age": [50.0, 250.0, None, math.nan, 3.0, -math.inf, 0.0],
        "city": ["Oslo", "Bern", None, "Rome", "Oslo", "oslo", "Rome"],
        "since": [date(2026, 1, 1), None, date(2026, 1, 2), date(1, 1, 1), None, None, date(2026, 1, 2)],
        "smokes": [True, False, None, True, True, False, False],
        "income": [2**62, 0, None, 5, 1, -(2**62), 10],
        "free": ["x"] * 7,
    }
    table = pa.table(rows)
    return table.take(pa.array(np.arange(7)[order]))


def declared(rows: pa.Table, unit: Any = "patient", **words: Any) -> Any:
    return so.dataset("visits", rows, unit=unit, columns=COLUMNS, **words)


WORDS: dict[str, Any] = {"features": ["age", "city", "since", "smokes", "income"], "label": "smokes", "size": 3}


def everything(given: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    people = given.people()
    (x, y), owner = people.take(np.arange(len(people)))
    return x, y, owner


def test_values_become_numbers_by_the_declared_rules() -> None:
    given = examples_from(declared(visits()), **WORDS)
    assert [(each.shape, each.dtype) for each in given.like] == [((8,), "<f4"), ((), "<i8")]
    x, y, owner = everything(given)
    found = {tuple(np.round(row, 6).tolist()): (label, who) for row, label, who in zip(x, y, owner, strict=True)}
    assert found == {
        # age, Oslo, Rome, none, the 1st, the 2nd, smokes, income
        (0, 1, 0, 0, 1, 0, 1, 1): (1, 0),
        (1, 0, 0, 0, 0, 0, -1, 0): (0, 1),
        (0, 0, 0, 1, 0, 1, 0, 0): (-1, 0),
        (0, 0, 1, 0, 0, 0, 1, 0.5): (1, 2),
        (-1, 0, 0, 0, 0, 0, -1, -1): (0, 2),
        (-1, 0, 1, 0, 0, 1, -1, 1): (0, 0),
    }


@pytest.mark.parametrize("unit", ["patient", so.ROW])
def test_the_order_of_rows_is_not_that_of_the_store(unit: Any) -> None:
    words = WORDS | {"features": ["age", "city", "income"]}
    shuffled = np.random.default_rng(2).permutation(7)
    first, second = (
        everything(examples_from(declared(visits(order), unit), **words)) for order in (slice(None), shuffled)
    )
    for one, other in zip(first, second, strict=True):
        np.testing.assert_array_equal(one, other)
    assert len(first[0]) == (6 if unit == "patient" else 7)


@pytest.mark.parametrize("unit", ["patient", so.ROW])
@pytest.mark.parametrize("rows", [0, 1])
def test_the_last_one_who_leaves_is_not_told_by_a_failure(unit: Any, rows: int) -> None:
    x, y, owner = everything(examples_from(declared(visits(slice(0, rows)), unit=unit), **WORDS))
    assert x.shape == (rows, 8)
    assert len(y) == len(owner) == rows


def test_a_number_to_be_predicted_is_scaled_and_missing_ones_count_for_nothing() -> None:
    given = examples_from(declared(visits(), so.ROW), features=["age"], label="income", size=7)
    _, y, _ = everything(given)
    assert sorted(y[np.isfinite(y)].tolist()) == pytest.approx([-1, 0, 0.1, 0.5, 1, 1])
    assert np.isnan(y).sum() == 1
    run = train(
        nn.Linear(1, 1), lambda out, y: (out[:, 0] - y) ** 2, given, budget=so.account(given, _BUDGET), **_TRAIN
    )
    assert all(bool(each.isfinite().all()) for each in run.model.parameters())


_BUDGET = so.budget(epsilon=4, delta="1e-5")
_TRAIN: dict[str, Any] = {"batch": 3, "steps": 2, "tranche": 2, "clip": 1, "epsilon": 1}


def test_a_table_and_its_models_share_one_budget(tmp_path: Path) -> None:
    data = declared(visits())
    with so.open(tmp_path / "budget.db") as house:
        account = house.account(data, _BUDGET)
        account.sql("SELECT COUNT(*) FROM visits").run(epsilon="0.5")
        given = examples_from(data, **WORDS)
        run = train(nn.Linear(8, 2), nn.CrossEntropyLoss(), given, budget=account, **_TRAIN)
        run.score(given, epsilon="0.1")
        assert len(account.history) == 3
        assert run.recipe.unit == so.Unit("patient")
        assert house.verify().sound
    with pytest.raises(ArgumentError, match="account of 'others'"):
        train(nn.Linear(8, 2), nn.CrossEntropyLoss(), given, budget=_other(), **_TRAIN)


def _other() -> Any:
    return so.account(so.learn.examples("others", np.zeros((1, 1)), [0], size=1), _BUDGET)


def test_who_comes_or_goes_changes_their_own_rows_alone() -> None:
    given, less = (
        examples_from(declared(visits(order)), **WORDS) for order in (slice(None), [0, 1, 2, 4, 6])
    )  # without b
    all_rows, others = everything(given), everything(less)
    staying = all_rows[2] != 2
    for one, other in zip(all_rows, others, strict=True):
        np.testing.assert_array_equal(one[staying], other)


def test_a_source_that_does_not_answer_is_found_out_before_the_charge(tmp_path: Path) -> None:
    import pyarrow.parquet

    file = tmp_path / "visits.parquet"
    pyarrow.parquet.write_table(visits(), file)
    data = declared(str(file))  # type: ignore[arg-type]
    given = examples_from(data, **WORDS)
    account = so.account(data, _BUDGET)
    train(nn.Linear(8, 2), nn.CrossEntropyLoss(), given, budget=account, **_TRAIN)
    file.unlink()
    with pytest.raises(SourceError):
        train(nn.Linear(8, 2), nn.CrossEntropyLoss(), given, budget=account, **_TRAIN)
    assert len(account.history) == 1


def test_an_engine_that_fails_in_a_run_says_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    data = declared(visits())
    given = examples_from(data, **WORDS)
    account = so.account(data, _BUDGET)
    monkeypatch.setattr("sordino.data.fetching._FETCH", {"duckdb": lambda *_: [][4711]})
    with pytest.raises(RunError) as error:
        train(nn.Linear(8, 2), nn.CrossEntropyLoss(), given, budget=account, **_TRAIN)
    assert "4711" not in str(error.value)
    assert error.value.__context__ is None
    assert len(account.history) == 1


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ({"features": ["free"]}, "no number with bounds"),
        ({"features": ["patient"]}, "no number with bounds"),
        ({"features": ["ages"]}, "did you mean 'age'"),
        ({"features": []}, "one at least"),
        ({"features": "age"}, "one at least"),
        ({"label": "free"}, "no number with bounds"),
        ({"table": "visit"}, "did you mean 'visits'"),
        ({"size": 0}, "size"),
    ],
)
def test_bad_declarations_are_refused(words: Any, said: str) -> None:
    with pytest.raises((ArgumentError, QuestionError), match=said):
        examples_from(declared(visits()), **(WORDS | words))


def test_what_has_no_column_for_its_owner_is_refused() -> None:
    tables = {
        "people": so.private(pa.table({"id": [1]}), unit="id"),
        "visits": so.private(
            pa.table({"who": [1], "age": [3.0]}), parent={"who": "people.id"}, columns={"age": so.bounds(0, 9)}
        ),
    }
    several = so.dataset("clinic", tables, unit="patient")
    with pytest.raises(ArgumentError, match="which table"):
        examples_from(several, features=["age"], label="age", size=1)
    with pytest.raises(QuestionError, match="of their own"):
        examples_from(several, features=["age"], label="age", size=1, table="visits")
    with pytest.raises(ArgumentError, match="takes a data set"):
        examples_from("visits", features=["age"], label="age", size=1)  # type: ignore[arg-type]
    by_day = so.dataset(
        "days",
        pa.table({"day": [date(2026, 1, 1)], "age": [3.0]}),
        unit=so.ROW,
        columns={"age": so.bounds(0, 9)},
        blocks=so.days("day", protects="row"),
    )
    with pytest.raises(QuestionError, match="all days alike"):
        examples_from(by_day, features=["age"], label="age", size=1)


def test_postgres_reads_the_same_examples(postgres_url: str) -> None:
    """Without what PostgreSQL does not hold: a NUL in a text."""
    rows = visits().set_column(0, "patient", pa.array(["a", "c", "a", "b", None, "b", "a"]))
    with psycopg.connect(postgres_url, autocommit=True) as connection:
        connection.execute(
            b"CREATE TABLE visits (patient text, age float8, city text, since date, smokes boolean, income bigint)"
        )
        for row in rows.drop_columns(["free"]).to_pylist():
            connection.execute(b"INSERT INTO visits VALUES (%s, %s, %s, %s, %s, %s)", list(row.values()))
    there = declared(so.source(postgres_url, table="visits"))
    embedded, elsewhere = (examples_from(each, **WORDS) for each in (declared(rows), there))
    for one, other in zip(everything(embedded), everything(elsewhere), strict=True):
        np.testing.assert_array_equal(one, other)
    account = so.account(there, _BUDGET)
    assert train(nn.Linear(8, 2), nn.CrossEntropyLoss(), elsewhere, budget=account, **_TRAIN).settled[0].steps == 2


def test_nought_has_one_owner_whatever_its_sign() -> None:
    rows = pa.chunked_array([pa.array([0.0, -0.0, 1.0, -0.0])])
    assert _numbered(rows).tolist() == [0, 0, 1, 0]
