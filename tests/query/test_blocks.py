"""Days with budgets of their own: what a question reads is what it is charged for, and nothing else matters to it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sordino as so
from query.engines import Engine
from query.exact_neighbours import violations
from sordino.data.dataset import Dataset
from sordino.data.declarations_file import from_dict
from sordino.data.kinds import Kind
from sordino.data.strict_yaml import parse as parse_yaml
from sordino.errors import ArgumentError, BudgetError, LedgerError, QuestionError, RunError, SordinoError
from sordino.ledger.entries import Reserved
from sordino.ledger.receipt import verify_receipt
from sordino.query.ask import TableAccount
from sordino.query.engine.exact import compute
from sordino.query.model.blocks import MOST_DAYS, days_read
from sordino.query.model.days import EVERY_DAY, NO_DAY, Days, days_where
from sordino.query.model.expression import Call, ColumnRef, Expression, Literal
from sordino.query.model.relation import Filter, Scan
from sordino.query.model.task import Exact, Task

FIRST = date(2026, 6, 1)
COUNT = "SELECT COUNT(*) AS n FROM trips WHERE {where}"
PROTECTS = {"person": "rider", "person-day": "rider", "row": so.ROW}


def on(place: int) -> date:
    return FIRST + timedelta(days=place)


def table(rows: list[tuple[int | None, int | None, float]]) -> pa.Table:
    """Rows of (rider, day of June counted from 0, fare), with the day as a date and as a time."""
    days = [None if day is None else on(day) for _, day, _ in rows]
    times = [
        None if day is None else datetime(day.year, day.month, day.day, 5 + place % 19)
        for place, day in enumerate(days)
    ]
    columns = {
        "rider": pa.array([rider for rider, _, _ in rows], pa.int64()),
        "day": pa.array(days, pa.date32()),
        "moment": pa.array(times, pa.timestamp("us")),
        "fare": pa.array([fare for _, _, fare in rows], pa.float64()),
        "city": pa.array([("Oslo", "Rome")[place % 2] for place in range(len(rows))], pa.string()),
    }
    return pa.table(columns)


def declared(source: Any, protects: str = "person", column: str = "day", **words: Any) -> Dataset:
    blocks = so.days(column, protects=protects, **{"first": FIRST, "last": on(9), **words})
    return so.dataset(
        "trips",
        source,
        unit=PROTECTS[protects],
        columns={"fare": so.bounds(0, 10), "city": so.keys(["Oslo", "Rome"])},
        limits=so.limits(rows=3),
        blocks=blocks,
    )


ROWS = [(rider, (rider * 3 + visit) % 10, float(visit + rider % 5)) for rider in range(40) for visit in range(3)]


def asking(dataset: Dataset) -> TableAccount:
    return so.account(dataset, so.unlimited("the data is made up"))


# ---- sets of days ---------------------------------------------------------------------------------------------------

some_days = st.sets(st.integers(0, 30), max_size=12)


@given(some_days, some_days)
def test_sets_of_days_are_sets(one: set[int], other: set[int]) -> None:
    left, right = (Days.of(map(on, each)) for each in (one, other))
    assert list(left | right) == sorted(map(on, one | other))
    assert list(left & right) == sorted(map(on, one & other))
    assert len(left) == len(one)
    assert all(
        last + timedelta(days=1) < first for (_, last), (first, _) in zip(left.ranges, left.ranges[1:], strict=False)
    )


def test_days_at_the_ends_of_the_calendar() -> None:
    assert (EVERY_DAY & Days.of([date.max])) | Days.of([date.min]) == Days.of([date.min, date.max])
    assert EVERY_DAY | Days.of([FIRST]) == EVERY_DAY
    assert Days.between(on(3), on(2)) == NO_DAY
    day = ColumnRef(Kind.DATE, "day")
    for operation, end in (("less", date.min), ("greater", date.max)):
        assert days_where(Call(Kind.BOOLEAN, operation, (day, Literal(Kind.DATE, end))), frozenset({"day"})) == NO_DAY
    many = Days.of(on(2 * place) for place in range(9))
    assert str(many).count(",") == 6
    assert "…" in str(many)


COMPARED: dict[str, Callable[[Any, Any], bool]] = {
    "equal": lambda a, b: a == b,
    "not_equal": lambda a, b: a != b,
    "less": lambda a, b: a < b,
    "less_equal": lambda a, b: a <= b,
    "greater": lambda a, b: a > b,
    "greater_equal": lambda a, b: a >= b,
}


@st.composite
def conditions(draw: st.DrawFn, kind: Kind, depth: int = 3) -> Expression:
    def constant() -> Any:
        day = on(draw(st.integers(0, 12)))
        return day if kind is Kind.DATE else datetime(day.year, day.month, day.day, draw(st.sampled_from([0, 12])))

    column = ColumnRef(kind, "d")
    shape = draw(st.sampled_from(["compare", "in", "other"] + ["and", "or", "not"] * (depth > 0)))
    if shape in ("and", "or"):
        parts = draw(st.lists(conditions(kind, depth - 1), min_size=2, max_size=3))
        return Call(Kind.BOOLEAN, shape, tuple(parts))
    if shape == "not":
        return Call(Kind.BOOLEAN, shape, (draw(conditions(kind, depth - 1)),))
    if shape == "in":
        return Call(Kind.BOOLEAN, shape, (column,), tuple({constant() for _ in range(2)}))
    if shape == "other":
        return Call(Kind.BOOLEAN, "equal", (ColumnRef(Kind.INTEGER, "x"), Literal(Kind.INTEGER, 1)))
    sides = [column, Literal(kind, constant())]
    return Call(
        Kind.BOOLEAN, draw(st.sampled_from(list(COMPARED))), tuple(sides if draw(st.booleans()) else sides[::-1])
    )


def holds(condition: Expression, row: dict[str, Any]) -> bool:
    assert isinstance(condition, Call)
    values = [
        row[part.name] if isinstance(part, ColumnRef) else getattr(part, "value", None) for part in condition.arguments
    ]
    match condition.operation:
        case "and":
            return all(holds(part, row) for part in condition.arguments)
        case "or":
            return any(holds(part, row) for part in condition.arguments)
        case "not":
            return not holds(condition.arguments[0], row)
        case "in":
            assert isinstance(condition.detail, tuple)
            return values[0] in condition.detail
        case operation:
            return COMPARED[operation](*values)


@settings(max_examples=300)
@given(st.sampled_from([Kind.DATE, Kind.TIMESTAMP]).flatmap(conditions))
def test_a_condition_is_never_true_outside_of_its_days(condition: Expression) -> None:
    days = set(days_where(condition, frozenset({"d"})) & Days.between(FIRST, on(12)))
    kinds = {node.kind for node in condition.walk() if isinstance(node, ColumnRef) and node.name == "d"}
    for day in map(on, range(13)):
        times = [day] if Kind.DATE in kinds else [datetime(day.year, day.month, day.day, hour) for hour in (0, 12, 23)]
        if any(holds(condition, {"d": each, "x": x}) for each in times for x in (1, 2)):
            assert day in days


@pytest.mark.parametrize(
    ("where", "days"),
    [
        ("day BETWEEN '2026-06-03' AND '2026-06-05'", [2, 3, 4]),
        ("day >= DATE '2026-06-03' AND day < '2026-06-05'", [2, 3]),
        ("day = '2026-06-03'", [2]),
        ("'2026-06-09' <= day", [8, 9]),
        ("day IN ('2026-06-03', '2026-06-09') AND fare > 2", [2, 8]),
        ("day = '2026-06-03' OR day > '2026-06-09'", [2, 9]),
        ("day = '2026-06-03' OR fare > 2", list(range(10))),
        ("NOT day = '2026-06-03'", list(range(10))),
        ("day IS NULL OR day = '2026-06-03'", list(range(10))),
        ("day BETWEEN '2020-01-01' AND '2026-06-01'", [0]),
        ("fare > 2", list(range(10))),
    ],
)
def test_the_text_says_which_days_are_read(where: str, days: list[int]) -> None:
    ask = asking(declared(table(ROWS))).sql(COUNT.format(where=where))
    assert ask.days == tuple(on(day).isoformat() for day in days)
    assert ask.plan(epsilon=1).days == ask.days


@pytest.mark.parametrize(
    ("where", "days"),
    [
        ("moment >= '2026-06-03' AND moment < '2026-06-05'", [2, 3]),
        ("moment >= '2026-06-03' AND moment < '2026-06-05 12:00:00'", [2, 3, 4]),
        ("moment > '2026-06-03 23:59:59' AND moment <= '2026-06-05'", [2, 3, 4]),
        ("CAST(moment AS DATE) = '2026-06-03'", [2]),
    ],
)
def test_times_lie_on_days(where: str, days: list[int]) -> None:
    ask = asking(declared(table(ROWS), column="moment")).sql(COUNT.format(where=where))
    assert ask.days == tuple(on(day).isoformat() for day in days)


SUMMED = (
    "SELECT AVG(total) AS t FROM (SELECT rider, SUM(fare) AS total, MIN(day) AS first FROM trips "
    "WHERE day < '2026-06-04' GROUP BY rider)"
)


@pytest.mark.parametrize(
    ("sql", "days"),
    [
        ("SELECT COUNT(*) AS n FROM (SELECT day AS d, fare FROM trips) WHERE d = '2026-06-03'", [2]),
        (SUMMED, [0, 1, 2]),
        ("SELECT COUNT(*) AS n FROM (SELECT rider, day FROM trips GROUP BY rider, day) WHERE day = '2026-06-03'", [2]),
        (
            "SELECT COUNT(*) AS n FROM trips WHERE day = '2026-06-03' AND EXISTS (SELECT 1 FROM trips AS u "
            "WHERE u.rider = trips.rider AND u.day = '2026-06-05')",
            [2, 4],
        ),
        (
            "SELECT COUNT(*) AS n FROM (SELECT fare FROM trips WHERE day = '2026-06-03' UNION ALL "
            "SELECT fare FROM trips WHERE day = '2026-06-07')",
            [2, 6],
        ),
        ("SELECT COUNT(*) AS n FROM early", [0, 1]),
        ("SELECT COUNT(*) AS n FROM early WHERE day > '2026-06-01'", [1]),
    ],
)
def test_conditions_reach_down_to_the_table(sql: str, days: list[int]) -> None:
    found = declared(table(ROWS)).with_view("early", "SELECT * FROM trips WHERE day <= '2026-06-02'")
    ask = asking(found).sql(sql)
    wanted = tuple(on(day).isoformat() for day in days)
    assert set(ask.days) >= set(wanted) if "EXISTS" in sql else ask.days == wanted
    scans = [scan for scan in _scans(ask.question.relation) if not scan.is_public]
    assert {scan.days for scan in scans} == {days_read(ask.question.relation)}


def _scans(relation: Any) -> Iterator[Scan]:
    if isinstance(relation, Scan):
        yield relation
    for below in relation.inputs:
        yield from _scans(below)


def test_method_calls_say_days_too() -> None:
    data = asking(declared(table(ROWS)))
    ask = data.table("trips").filter(so.col("day").between(on(2), on(3))).group_by("city").agg(n=so.count())
    assert ask.days == ("2026-06-03", "2026-06-04")


def test_days_that_are_grouped_by_need_no_delta() -> None:
    data = asking(declared(table(ROWS), "person-day"))
    ask = data.sql("SELECT day, COUNT(*) AS n FROM trips WHERE day >= '2026-06-08' GROUP BY day")
    answer = ask.run(epsilon=1000)
    assert list(answer["day"]) == [on(7), on(8), on(9)]
    expected = [sum(day == each for _, day, _ in ROWS) for each in (7, 8, 9)]
    assert np.allclose(answer["n"], expected, atol=0.5)


# ---- what is read ---------------------------------------------------------------------------------------------------


class Recorder(TableAccount):
    """A data set on an account without a cap that remembers what its engine was asked."""

    def __init__(self, dataset: Dataset) -> None:
        super().__init__(dataset, so.unlimited("to look at the engine's tasks"))
        self.tasks: list[tuple[Task, int]] = []

    def compute(self, task: Task, salt: int) -> Exact:
        self.tasks.append((task, salt))
        return super().compute(task, salt)


QUESTIONS = [
    "SELECT city, COUNT(*) AS n, SUM(fare) AS s FROM trips WHERE {where} GROUP BY city",
    "SELECT COUNT(DISTINCT rider) AS n FROM trips WHERE {where}",
    "SELECT MEDIAN(fare) AS m FROM trips WHERE {where}",
    "SELECT SUM(fare + 1) AS s FROM trips WHERE {where}",
]
OF_DAYS = [
    "SELECT AVG(total) AS t FROM (SELECT rider, day, SUM(fare) AS total FROM trips GROUP BY rider, day) WHERE {where}",
]
OF_PEOPLE = [
    "SELECT AVG(total) AS t FROM (SELECT rider, SUM(fare) AS total FROM trips WHERE {where} GROUP BY rider)",
    "SELECT COUNT(*) AS n FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY rider ORDER BY fare) AS k FROM trips) "
    "WHERE k = 1 AND {where}",
    "SELECT COUNT(*) AS n FROM trips WHERE {where} AND rider IN (SELECT rider FROM trips WHERE fare > 2)",
]


def same(one: Exact, other: Exact) -> bool:
    arrays = zip(
        (one.sums, one.distincts, *one.histograms), (other.sums, other.distincts, *other.histograms), strict=True
    )
    return (
        one.keys == other.keys
        and all(np.array_equal(left, right) for left, right in arrays)
        and (one.people is None or np.array_equal(one.people, other.people))
    )


rows_of_trips = st.lists(
    st.tuples(st.one_of(st.integers(0, 4), st.none()), st.one_of(st.integers(-2, 12), st.none()), st.integers(0, 9)),
    max_size=14,
)


def units_outside(rows: list[Any], protects: str, read: set[int]) -> list[Callable[[Any], bool]]:
    """Return for every unit none of whose days is read what tells its rows."""
    if protects == "person":
        first: dict[int, int] = {}
        for rider, day, _ in rows:
            if rider is not None and day is not None:
                first[rider] = min(day, first.get(rider, day))
        return [lambda row, who=who: row[0] == who for who, day in first.items() if day not in read]
    outside = {(rider, day) for rider, day, _ in rows if day is None or day not in read}
    return [lambda row, unit=unit: row[:2] == unit for unit in outside]


def check_those_outside(rows: list[Any], protects: str, first: int, more: int, data: st.DataObject) -> None:
    read = set(range(first, min(first + more, 9) + 1))
    sql = data.draw(st.sampled_from(QUESTIONS + {"person": OF_PEOPLE, "person-day": OF_DAYS, "row": []}[protects]))
    where = f"day BETWEEN '{on(min(read))}' AND '{on(max(read))}'"
    recorder = Recorder(declared(table(rows), protects))
    recorder.sql(sql.format(where=where)).run(epsilon=1, find=True, truncation=True)
    assert recorder.tasks
    schema, tables = recorder.dataset.schema, recorder.dataset.table
    before = [compute(task, schema, tables, salt) for task, salt in recorder.tasks]
    for is_theirs in units_outside(rows, protects, read)[:2]:
        # A row that is left out would move the cities of those behind it, so it is given to nobody instead.
        gone = [(None, None, 0) if is_theirs(row) else row for row in rows]
        altered = [(*row[:2], 9 - row[2]) if is_theirs(row) else row for row in rows]
        for other in (gone, altered):
            tables = declared(table(other), protects).table
            for (task, salt), found in zip(recorder.tasks, before, strict=True):
                assert same(found, compute(task, schema, tables, salt)), (sql, rows, read)


worlds = given(rows_of_trips, st.sampled_from(list(PROTECTS)), st.integers(0, 9), st.integers(0, 3), st.data())
test_who_is_not_on_a_day_that_is_charged_changes_nothing = settings(max_examples=5)(worlds(check_those_outside))
test_the_same_in_many_worlds = pytest.mark.long(settings(max_examples=60)(worlds(check_those_outside)))


@settings(max_examples=4)
@given(rows_of_trips, st.sampled_from(["person", "person-day"]), st.integers(0, 4))
def test_who_is_on_a_day_that_is_charged_weighs_no_more_than_is_claimed(
    rows: list[Any], protects: str, who: int
) -> None:
    recorder = Recorder(declared(table(rows), protects))
    where = f"day BETWEEN '{on(2)}' AND '{on(8)}'"
    recorder.sql(QUESTIONS[0].format(where=where)).run(epsilon=1)
    days = [{None, *range(-2, 13)}] if protects == "person" else [{day} for day in range(2, 9)]
    for theirs in days:
        gone = [(None, None, 0) if row[0] == who and row[1] in theirs else row for row in rows]
        schema, tables = recorder.dataset.schema, declared(table(gone), protects).table
        for task, salt in recorder.tasks:
            larger, smaller = (compute(task, schema, each, salt) for each in (recorder.dataset.table, tables))
            assert not violations(task, larger, smaller, task.bounding)


def test_without_its_days_a_scan_would_read_more_and_is_refused() -> None:
    recorder = Recorder(declared(table(ROWS), "person-day"))
    recorder.sql("SELECT COUNT(*) AS n FROM trips WHERE day = '2026-06-03'").run(epsilon=1)
    ((task, salt),) = recorder.tasks
    relation = task.relation
    assert isinstance(relation, Filter)
    assert isinstance(relation.source, Scan)
    bare = replace(task, relation=replace(relation, source=replace(relation.source, days=None)))
    with pytest.raises(QuestionError, match="must say which days"):
        compute(bare, recorder.dataset.schema, recorder.dataset.table, salt)
    everything = replace(task, relation=relation.source)
    whole = replace(task, relation=replace(relation.source, days=Days.between(None, None)))
    read = [
        compute(each, recorder.dataset.schema, recorder.dataset.table, salt).sums.sum() for each in (everything, whole)
    ]
    assert read[0] < read[1]


def test_of_each_person_the_first_day_counts_whatever_is_asked() -> None:
    rows = [
        (1, 3, 1.0),
        (1, 5, 2.0),
        (1, 3, 3.0),
        (2, 5, 4.0),
        (3, None, 5.0),
        (4, -2, 1.0),
        (4, 4, 1.0),
        (None, 5, 9.0),
    ]
    data = asking(declared(table(rows)))
    counts = {day: data.sql(COUNT.format(where=f"day = '{on(day)}'")).run(epsilon=10_000)["n"][0] for day in range(10)}
    # Rider 4 came first before any day that is declared, and so is on no day that can be asked about.
    assert [round(float(counts[day])) for day in range(10)] == [0, 0, 0, 2, 0, 1, 0, 0, 0, 0]


@pytest.mark.parametrize("name", ["duckdb", "postgres", pytest.param("spark", marks=pytest.mark.long)])
def test_engines_agree(name: str, request: pytest.FixtureRequest) -> None:
    engine: Engine = request.getfixturevalue(f"{name}_engine")
    rows = [*ROWS, (None, 3, 1.0), (7, None, 1.0), (3, -5, 1.0)]
    there = engine.load("trips", table(rows))
    for protects, column in (("person", "day"), ("person-day", "moment"), ("row", "moment")):
        found = []
        for source in (table(rows), there):
            where = f"{column} >= '{on(2)}' AND {column} < '{on(7)}'"
            ask = asking(declared(source, protects, column)).sql(COUNT.format(where=where))
            found.append(round(float(ask.run(epsilon=1000)["n"][0])))
        assert found[0] == found[1] > 0


# ---- what is charged ------------------------------------------------------------------------------------------------


def ask_days(data: TableAccount, first: int, last: int, column: str = "day") -> so.query.ask.Ask:  # type: ignore[name-defined]
    return data.sql(COUNT.format(where=f"{column} BETWEEN '{on(first)}' AND '{on(last)}'"))


@pytest.mark.parametrize("protects", list(PROTECTS))
def test_a_question_is_charged_on_its_days_and_no_others(tmp_path: Path, protects: str) -> None:
    with so.open(tmp_path / "budget.db") as house:
        data = house.account(declared(table(ROWS), protects), so.budget(epsilon=1))
        answer = ask_days(data, 2, 8).run(epsilon=0.75)
        price = ask_days(data, 8, 9).price(epsilon=0.75)
        assert not price.fits
        with pytest.raises(
            BudgetError,
            match=r"of each day, on the busiest of 2026-06-09 to 2026-06-10, 75 % is used; epsilon=0\.25 would",
        ):
            ask_days(data, 8, 9).run(epsilon=0.75)
        assert ask_days(data, 9, 9).price(epsilon=1).fits
        ask_days(data, 0, 1).run(epsilon=1)
        with pytest.raises(BudgetError):
            data.sql("SELECT COUNT(*) AS n FROM trips").run(epsilon=0.1)  # every day, and two of them are spent
        charges = [entry.charges for entry in house.ledger.entries() if isinstance(entry, Reserved)]
        assert [charge.days for (charge,) in charges] == [ask_days(data, 2, 8).days, ask_days(data, 0, 1).days]
        kept = data.account.account  # type: ignore[attr-defined]
        assert kept.filter.columns.describe(kept.lifetime)["pure ε"] == "1.75"
        assert house.verify().sound
        key = house.ledger.key.text
    unit = {"person": "rider", "person-day": "(rider, day)", "row": "row"}[protects]
    facts = verify_receipt(answer.receipt, key, answer.to_json().encode())
    assert facts.reserved.unit == unit == answer.details["unit"]
    assert "on each of 7 days from 2026-06-03 to 2026-06-09" in str(facts)
    assert answer.details["plan"]["days"] == {"of": "day", "read": [["2026-06-03", "2026-06-09"]], "protects": unit}
    for notes in (answer.notes, price.notes):
        assert any(
            "7 days are read, and charged where each has a budget of its own" in note or "2 days are read" in note
            for note in notes
        )
    assert any("the unit is (rider, day)" in note for note in answer.notes) == (protects == "person-day")


def test_what_is_found_privately_is_found_on_the_same_days(tmp_path: Path) -> None:
    found = so.dataset("trips", table(ROWS), unit="rider", blocks=so.days("day", protects="person-day"))
    with so.open(tmp_path / "budget.db") as house:
        data = house.account(found, so.budget(epsilon=100))
        ask = data.sql("SELECT SUM(fare) AS s FROM trips WHERE day = '2026-06-03'")
        assert "bounds are not declared" in str(ask.price(epsilon=10))
        assert any("1 day is read, and charged" in note for note in ask.price(epsilon=10).notes)
        ask.run(epsilon=10)
        (charge,) = [entry.charges[0] for entry in house.ledger.entries() if isinstance(entry, Reserved)]
        assert charge.days == ("2026-06-03",)


def test_an_account_in_memory_adds_everything_up() -> None:
    data = so.account(declared(table(ROWS), "person-day"), so.budget(epsilon=1))
    ask_days(data, 1, 1).run(epsilon=0.75)
    with pytest.raises(BudgetError):
        ask_days(data, 2, 2).run(epsilon=0.75)


def test_questions_on_different_days_are_different_questions() -> None:
    data = asking(declared(table([(rider, rider % 2, 1.0) for rider in range(9)])))
    assert [round(float(ask_days(data, day, day).run(epsilon=10_000)["n"][0])) for day in (0, 1, 0)] == [5, 4, 5]


def test_declarations_and_ledger_must_agree_about_days(tmp_path: Path) -> None:
    plain = so.dataset("trips", table(ROWS), unit="rider", limits=so.limits(rows=3))
    with so.open(tmp_path / "budget.db") as house:
        house.account(declared(table(ROWS)), so.budget(epsilon=1))
        for other in (plain, declared(table(ROWS), "person-day")):
            with pytest.raises(LedgerError, match="a budget for each day") as refused:
                house.account(other)
            assert refused.value.code == "SRD-L026"
    with so.open(tmp_path / "another.db") as house:
        house.account(plain, so.budget(epsilon=1))
        with pytest.raises(LedgerError, match="opened without a budget for each day"):
            house.account(declared(table(ROWS)))


# ---- what is refused ------------------------------------------------------------------------------------------------


def refused(act: Callable[[], Any]) -> SordinoError:
    with pytest.raises(SordinoError) as found:
        act()
    assert not isinstance(found.value, RunError)
    return found.value


def test_questions_that_name_no_days_are_refused_with_what_to_write() -> None:
    data = asking(declared(table(ROWS), last=None))
    for where in ("fare > 1", "day >= '2026-06-03'"):
        error = refused(lambda where=where: data.sql(COUNT.format(where=where)))
        assert error.code == "SRD-Q321"
        assert "WHERE day BETWEEN '2026-06-03' AND '2026-06-09'" in str(error)
    nothing = refused(lambda: data.sql("SELECT COUNT(*) AS n FROM trips WHERE day < '2026-06-01'"))
    assert "nothing to read; ask about days from 2026-06-01" in str(nothing)
    last = (FIRST + timedelta(days=MOST_DAYS - 1)).isoformat()
    assert len(data.sql(COUNT.format(where=f"day <= '{last}'")).days) == MOST_DAYS


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT AVG(total) AS t FROM (SELECT rider, SUM(fare) AS total FROM trips GROUP BY rider)",
        "SELECT AVG(total) AS t FROM (SELECT day, SUM(fare) AS total FROM trips GROUP BY day)",
        "SELECT AVG(total) AS t FROM (SELECT rider, SUM(fare) AS total FROM trips GROUP BY rider, day + 1)",
        "SELECT AVG(total) AS t FROM (SELECT SUM(fare) AS total FROM trips GROUP BY rider, moment)",
        "SELECT COUNT(*) AS n FROM (SELECT DISTINCT rider FROM trips)",
        "SELECT COUNT(*) AS n FROM (SELECT ROW_NUMBER() OVER (PARTITION BY rider ORDER BY day) AS k FROM trips)",
        "SELECT COUNT(*) AS n FROM trips AS a JOIN trips AS b ON a.rider = b.rider",
    ],
)
def test_what_is_keyed_by_people_is_refused_where_they_are_no_units(sql: str) -> None:
    error = refused(lambda: asking(declared(table(ROWS), "person-day")).sql(sql))
    assert (error.code, "where the unit is (rider, day)" in str(error)) == ("SRD-Q105", True)


def test_each_unit_is_summarised_by_itself() -> None:
    rows = [(rider, day, fare) for rider in range(20) for day in (1, 2) for fare in (2.0, 3.0 + day)]
    data = asking(declared(table(rows), "person-day"))
    for inner in ("SELECT rider, day, SUM(fare) AS t FROM trips GROUP BY rider, day", "SELECT d, t FROM daily"):
        view = "SELECT day AS d, SUM(fare) AS t FROM trips GROUP BY day, rider"
        data = asking(declared(table(rows), "person-day").with_view("daily", view))
        sql = "SELECT AVG(t) AS m, COUNT(*) AS n FROM ({inner}) WHERE {day} <= '2026-06-02'"
        ask = data.sql(sql.format(inner=inner, day="d" if "daily" in inner else "day"))
        assert ask.days == ("2026-06-01", "2026-06-02")
        answer = ask.run(epsilon=100)
        assert abs(float(answer["m"][0]) - 6) < 0.5
        assert round(float(answer["n"][0])) == 20
    assert data.sql("SELECT COUNT(*) AS n FROM (SELECT DISTINCT rider, day, city FROM trips)").days
    error = refused(lambda: data.table("trips").per_person(n=so.count()))
    assert (error.code, "per_person is not possible where the unit is (rider, day)" in str(error)) == ("SRD-Q105", True)


def test_people_are_counted_as_different_values_where_they_are_no_units() -> None:
    rows = [(rider, day, 1.0) for rider in range(12) for day in (1, 2)]
    data = asking(declared(table(rows), "person-day"))
    answer = data.sql("SELECT COUNT(DISTINCT rider) AS n FROM trips WHERE day <= '2026-06-03'").run(epsilon=100)
    assert round(float(answer["n"][0])) == 12


@pytest.mark.parametrize(
    ("words", "code"),
    [
        ({"blocks": "day"}, "SRD-A001"),
        ({"blocks": so.days("nothing", protects="person")}, "SRD-Q201"),
        ({"blocks": so.days("fare", protects="person")}, "SRD-Q206"),
        ({"blocks": so.days("day", protects="row")}, "SRD-A003"),
        ({"unit": so.ROW, "blocks": so.days("day", protects="person")}, "SRD-A003"),
        ({"blocks": so.days("day", protects="person"), "personal": so.personal("city", {"Oslo": 1})}, "SRD-A003"),
    ],
)
def test_declarations_that_do_not_fit_are_refused(words: dict[str, Any], code: str) -> None:
    assert refused(lambda: so.dataset("trips", table(ROWS), **{"unit": "rider", **words})).code == code


@pytest.mark.parametrize(
    "words",
    [
        {"column": "", "protects": "person"},
        {"column": "day", "protects": "people"},
        {"column": "day", "protects": "person", "first": "June"},
        {"column": "day", "protects": "person", "first": datetime(2026, 6, 1)},
        {"column": "day", "protects": "person", "first": "2026-06-02", "last": "2026-06-01"},
    ],
)
def test_words_of_days_that_are_off_are_refused(words: dict[str, Any]) -> None:
    with pytest.raises(ArgumentError):
        so.days(words.pop("column"), **words)


def test_several_private_tables_have_no_days() -> None:
    tables = {"trips": so.private(table(ROWS), unit="rider"), "fines": so.private(table(ROWS), unit="rider")}
    error = refused(lambda: so.dataset("city", tables, unit="rider", blocks=so.days("day", protects="person")))
    assert error.code == "SRD-Q206"
    tables = {
        "trips": so.private(table(ROWS), unit="rider"),
        "cities": so.public(pa.table({"city": ["Oslo"], "size": [1]})),
    }
    found = so.dataset("city", tables, unit="rider", blocks=so.days("day", protects="person"))
    ask = asking(found).sql(
        "SELECT COUNT(*) AS n FROM trips JOIN cities ON trips.city = cities.city WHERE day = '2026-06-03'"
    )
    assert ask.days == ("2026-06-03",)


def test_declarations_say_days_in_yaml_and_show_them(tmp_path: Path) -> None:
    import pyarrow.parquet as pq

    pq.write_table(table(ROWS), tmp_path / "trips.parquet")
    for protects in ("person", "person-day"):
        found = declared(str(tmp_path / "trips.parquet"), protects, last=None)
        text = found.to_yaml()
        again = from_dict(parse_yaml(text, "here"), tmp_path)
        assert again.blocks == found.declaration.blocks
        (tmp_path / "trips.yaml").write_text(text)
        assert so.dataset_from_file(tmp_path / "trips.yaml").schema == found.schema
    assert "protects each (rider, day)" in str(found)
    assert "each day of day from 2026-06-01 with a budget of its own" in str(found)
    with pytest.raises(ArgumentError, match="blocks"):
        from_dict({"name": "t", "unit": "rider", "source": "x", "blocks": {"days": "day"}}, tmp_path)
