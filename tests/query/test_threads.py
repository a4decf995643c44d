"""Many threads ask one account at once: nobody is charged for nothing, and everybody gets an answer of their own."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import duckdb
import ibis
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import sordino as so
from query.engines import Engine
from sordino.data.connections import lease

THREADS = 64
FEW, RUNS = 2, 20
"""Runs of each thread. What fails in one run of 30 is missed by a few from every thread once in 75 times."""
EPSILON = 300
FAR = 30  # noise gets there once in e⁹⁰ times; the answers to two questions are further apart
PEOPLE = pa.table({"person": list(range(1200)), "city": ["Oslo", "Rome", "Bern"] * 400, "age": [20, 30, 60, 70] * 300})
COLUMNS = {"city": so.keys(["Oslo", "Rome", "Bern"]), "age": so.bounds(0, 100)}
QUESTIONS: tuple[tuple[str, list[float]], ...] = (
    ("SELECT COUNT(*) AS n FROM people", [1200]),
    ("SELECT COUNT(*) AS n FROM people WHERE age < 25", [300]),
    ("SELECT COUNT(*) AS n FROM people WHERE age < 45", [600]),
    ("SELECT city, COUNT(*) AS n FROM people GROUP BY city ORDER BY city", [400, 400, 400]),
    ("SELECT SUM(age) AS n FROM people WHERE city = 'Oslo'", [18_000]),
)


def in_memory(_: Path) -> Any:
    return PEOPLE


def in_parquet(place: Path) -> Any:
    pq.write_table(PEOPLE, place / "people.parquet")
    return str(place / "people.parquet")


def in_csv(place: Path) -> Any:
    lines = ["person,city,age", *(f"{row['person']},{row['city']},{row['age']}" for row in PEOPLE.to_pylist())]
    (place / "people.csv").write_text("\n".join(lines))
    return str(place / "people.csv")


def in_a_file(place: Path) -> Any:
    with duckdb.connect(str(place / "people.duckdb")) as connection:
        connection.register("given", PEOPLE)
        connection.execute("CREATE TABLE people AS FROM given")
    return f"duckdb:///{place / 'people.duckdb'}"


def of_a_stranger(_: Path) -> Any:
    return ibis.duckdb.connect().create_table("people", PEOPLE, temp=True)


def people(source: Any) -> Any:
    return so.dataset("people", source, unit="person", columns=COLUMNS, limits=so.limits(rows=1))


def ask_at_once(account: Any, threads: int, runs: int) -> list[tuple[str, list[float]]]:
    """Return each question with its answer, from as many threads as that, all of which begin at once."""

    def ask(thread: int) -> list[tuple[str, list[float]]]:
        found = []
        for run in range(runs):
            text, _ = QUESTIONS[(thread + run) % len(QUESTIONS)]
            found.append((text, [float(row["n"]) for row in account.sql(text).run(epsilon=EPSILON)]))
        return found

    with ThreadPoolExecutor(threads) as pool:
        return [each for found in pool.map(ask, range(threads)) for each in found]


def check(found: list[tuple[str, list[float]]], many: int) -> None:
    right = dict(QUESTIONS)
    assert len(found) == many
    wrong = [(text, answer) for text, answer in found if answer != pytest.approx(right[text], abs=FAR)]
    assert not wrong, (len(wrong), wrong[:3])


@pytest.mark.parametrize("place", [in_memory, in_a_file, in_parquet, in_csv, of_a_stranger])
def test_threads_share_a_data_set(place: Callable[[Path], Any], tmp_path: Path) -> None:
    account = so.account(people(place(tmp_path)), so.budget(epsilon=EPSILON * THREADS * FEW))
    check(ask_at_once(account, THREADS, FEW), THREADS * FEW)


@pytest.mark.slow
@pytest.mark.parametrize("place", [in_memory, in_a_file])
def test_threads_share_a_data_set_for_long(place: Callable[[Path], Any], tmp_path: Path) -> None:
    account = so.account(people(place(tmp_path)), so.budget(epsilon=EPSILON * THREADS * RUNS))
    check(ask_at_once(account, THREADS, RUNS), THREADS * RUNS)


@pytest.mark.parametrize("place", [in_memory, of_a_stranger])
def test_each_run_sends_its_own_list_of_keys(place: Callable[[Path], Any], tmp_path: Path) -> None:
    many = [*COLUMNS["city"].keys, *(f"place {number}" for number in range(11_000))]  # too many for a query's text
    data = so.dataset(
        "people", place(tmp_path), unit="person", columns={"city": so.keys(many)}, limits=so.limits(rows=1)
    )
    account = so.account(data, so.unlimited("test"))

    def ask(_: int) -> float:
        answer = account.sql("SELECT city, COUNT(*) AS n FROM people GROUP BY city").run(epsilon=EPSILON)
        return float(answer["n"][0])

    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(ask, range(16))) == pytest.approx([400] * 16, abs=FAR)


def test_a_cursor_is_set_like_the_connection_that_it_is_taken_from(tmp_path: Path) -> None:
    text = "SELECT current_setting('TimeZone'), current_setting('python_enable_replacements')"
    for place in (in_memory, in_a_file):
        backend = people(place(tmp_path)).backend
        with lease(backend) as cursor:
            assert cursor is not backend.con
            assert cursor.sql(text).fetchall() == backend.con.sql(text).fetchall() == [("UTC", False)]
            with pytest.raises(duckdb.Error, match="locked"):
                cursor.execute("SET TimeZone = 'Asia/Tokyo'")


def test_a_cursor_on_which_a_run_failed_is_not_used_again() -> None:
    backend = people(PEOPLE).backend
    with pytest.raises(duckdb.Error), lease(backend) as failed:
        failed.sql("SELECT nothing")
    with lease(backend) as one, lease(backend) as other:
        assert len({id(failed), id(one), id(other)}) == 3
    with lease(backend) as again:
        assert again in (one, other)


@pytest.mark.parametrize("runs", [FEW, pytest.param(RUNS, marks=pytest.mark.slow)])
def test_threads_share_an_account_in_a_ledger(tmp_path: Path, runs: int) -> None:
    with so.open(tmp_path / "budget.db") as house:
        account = house.account(people(PEOPLE), so.budget(epsilon=EPSILON * THREADS * runs))
        check(ask_at_once(account, THREADS, runs), THREADS * runs)


def test_threads_share_a_connection_to_postgresql(postgres_engine: Engine) -> None:
    table = postgres_engine.load("people", PEOPLE)
    source = so.source(str(postgres_engine.url), table=table.get_name())
    check(ask_at_once(so.account(people(source), so.unlimited("test")), 8, 5), 40)
