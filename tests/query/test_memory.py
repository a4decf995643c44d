"""A task that was translated before gives what it would give for the first time: no stale salt, no other data set."""

from __future__ import annotations

import dataclasses
import importlib
import math
import pkgutil
from datetime import date, datetime, timedelta
from itertools import product
from typing import Any

import ibis
import pyarrow as pa
import pytest

import sordino as so
from query.engines import Engine
from query.exact_worlds import (
    CITIES,
    HOSTILE_INTEGERS,
    HOSTILE_REALS,
    PERSONS,
    ROWS,
    X,
    arrow,
    as_lists,
    key,
    load,
    reference,
    run,
    task,
    visit,
)
from sordino.accounting.bound import ROW, Unit
from sordino.data.kinds import Kind, Range
from sordino.data.metadata import Column, Public, Schema, Table
from sordino.errors import RunError
from sordino.query import model
from sordino.query.engine import exact
from sordino.query.engine import memory as memories
from sordino.query.engine.form import Outline
from sordino.query.engine.memory import Memory
from sordino.query.engine.relations import lower_relation
from sordino.query.model.bounding import Bounding
from sordino.query.model.expression import ColumnRef, Literal
from sordino.query.model.operations import call
from sordino.query.model.question import Key, KeyTable
from sordino.query.model.relation import Filter, Relation, Scan
from sordino.query.model.task import Histogram, Measure, Monomial, Task

VISITS = [visit(person, city, n=place) for person in (1, 2, 3) for place, city in enumerate(("Aix", "Bonn") * 4)]
CITY = key("city", "Aix", "Bonn")
METHODS = [
    Bounding("row", rows=1),
    Bounding("sample", rows=2),
    Bounding("weigh", rows=2),
    Bounding("groups", groups=1, rows_per_group=1),
    Bounding("norm", rows=2),
]


def memory_of(table: ibis.Table, *, by_row: bool = False) -> Memory:
    face = ROWS if by_row else PERSONS
    return Memory(Schema("test", {"visits": face}, ROW if by_row else Unit("person")), lambda _: table)


@pytest.fixture
def translated(monkeypatch: pytest.MonkeyPatch) -> list[Relation]:
    """The relations of all tasks that are translated from now on."""
    relations: list[Relation] = []

    def noted(relation: Relation, *rest: Any) -> Any:
        relations.append(relation)
        return lower_relation(relation, *rest)

    monkeypatch.setattr(memories, "lower_relation", noted)
    monkeypatch.setattr(exact, "lower_relation", noted)
    return relations


@pytest.fixture
def forms(monkeypatch: pytest.MonkeyPatch) -> list[Outline]:
    """The outlines of all forms that are made from now on."""
    outlines: list[Outline] = []

    def noted(outline: Outline, backend: Any) -> Any:
        outlines.append(outline)
        return made(outline, backend)

    made = Outline.form
    monkeypatch.setattr(Outline, "form", noted)
    return outlines


@pytest.mark.parametrize(
    ("engine", "bounding"),
    [*product(["duckdb"], METHODS), *product(["postgres", "spark"], METHODS[1:2])],  # elsewhere nothing is remembered
    ids=lambda each: getattr(each, "method", each),
    indirect=["engine"],
)
def test_every_run_has_its_own_salt(engine: Engine, bounding: Bounding) -> None:
    table = load(engine, VISITS)
    histogram = Histogram(reference("n"), Range.of(0, 8), 8)
    asked = task(bounding, CITY, people=True, histograms=(histogram,))
    memory = memory_of(table, by_row=bounding.method == "row")
    by_salt = {salt: as_lists(run(asked, table, salt)) for salt in range(6)}
    for salt in (0, 1, 2, 3, 4, 5, 3, 0, 2**62 + 4, 5):
        assert as_lists(memory.compute(asked, salt)) == by_salt[salt % 2**62]
    if bounding.method in ("sample", "groups"):
        assert len({str(answer) for answer in by_salt.values()}) > 1


def test_a_question_asked_again_is_not_translated_again(engine: Engine, translated: list[Relation]) -> None:
    """Except where the salt is part of the text."""
    memory = memory_of(load(engine, VISITS))
    for salt in range(3):
        memory.compute(task(METHODS[1], key("city", "Aix", "Bonn")), salt)
    assert len(translated) == (1 if engine.name == "duckdb" else 3)


def test_whatever_differs_is_translated(duckdb_engine: Engine, translated: list[Relation]) -> None:
    """Python takes 1, 1.0 and True for equal, and 0.0 and -0.0."""
    memory = memory_of(load(duckdb_engine, VISITS))
    x = reference("x")
    conditions = [call("add", x, Literal(Kind.REAL, value)) for value in (0.0, -0.0, 1.0, 1.5)]
    conditions = [call("greater", each, x) for each in conditions]
    conditions += [call("greater", x, Literal(Kind.INTEGER, 1)), call("less", x, Literal(Kind.REAL, 1.0))]
    tasks = [Task(Filter(Scan(PERSONS), each), (CITY,), METHODS[2], monomials=(Monomial(()),)) for each in conditions]
    narrow = Measure(X.expression, Range.of(0, 1), X.steps, X.missing_is_middle)
    tasks += [task(METHODS[2], CITY, measures=(each,), monomials=(Monomial((1,)),)) for each in (X, narrow)]
    tasks += [task(each, CITY) for each in METHODS[1:]] + [task(METHODS[1], key("city", "Bonn", "Aix"))]
    for _ in range(2):
        for each in tasks:
            memory.compute(each, 1)
    assert len(translated) == len(tasks)


@pytest.mark.parametrize("operation", ["not_equal", "less", "greater_equal"])
@pytest.mark.parametrize(
    ("column", "values"),
    [
        ("x", [value for value in HOSTILE_REALS if value is not None and math.isfinite(value)]),
        ("n", [value for value in HOSTILE_INTEGERS if value is not None]),
        ("city", [*CITIES, "", "'; --", "$sordino_salt", "zz"]),
    ],
)
def test_questions_that_differ_in_a_constant_share_a_translation(
    duckdb_engine: Engine, translated: list[Relation], operation: str, column: str, values: list[Any]
) -> None:
    rows = [
        visit(person, city, x=x, n=n)
        for person, (city, x, n) in enumerate(product(CITIES, HOSTILE_REALS, HOSTILE_INTEGERS))
    ]
    table = load(duckdb_engine, [*rows, visit(-1, "Aix", x=2.5, n=7)])
    memory = memory_of(table)
    seen = reference(column)

    def filtered(value: Any, *, turned: bool) -> Task:
        sides = (Literal(seen.kind, value), seen) if turned else (seen, Literal(seen.kind, value))
        condition = call("or", call(operation, *sides), call("is_null", reference("x")))
        return Task(Filter(Scan(PERSONS), condition), (CITY,), METHODS[2], monomials=(Monomial(()),))

    tasks = [filtered(value, turned=turned) for turned in (False, True) for value in values]
    found = [as_lists(memory.compute(each, 1)) for each in tasks]
    assert len(translated) == 2
    schema = Schema("test", {"visits": PERSONS}, Unit("person"))
    assert found == [as_lists(exact.compute(each, schema, lambda _: table, 1)) for each in tasks]
    assert len({str(answer) for answer in found}) > 1


@pytest.mark.parametrize("bounding", METHODS, ids=lambda each: each.method)
def test_questions_about_other_rows_share_a_form(
    duckdb_engine: Engine, forms: list[Outline], bounding: Bounding
) -> None:
    """Also where a table's name could be taken for what the form calls its rows."""
    hostile = '"sordino_rows_0"'
    table = load(duckdb_engine, [*VISITS, *(visit(4, hostile, x=1.0, n=n) for n in range(3))])
    by_row = bounding.method == "row"
    face, cities = ROWS if by_row else PERSONS, key("city", "Aix", hostile)
    n, x = reference("n"), reference("x")
    conditions = [
        call("less", n, Literal(Kind.INTEGER, 5)),
        call("or", call("is_null", x), call("greater", n, Literal(Kind.INTEGER, 2))),
        call("not_equal", reference("city"), Literal(Kind.TEXT, hostile)),
        call("equal", n, n),
    ]
    histogram = Histogram(n, Range.of(0, 8), 8)
    tasks = [
        Task(Filter(Scan(face), each), (cities,), bounding, (X,), (Monomial((1,)),), True, (), (histogram,))
        for each in conditions
    ]
    memory = memory_of(table, by_row=by_row)
    found = [as_lists(memory.compute(each, 1)) for each in tasks]
    schema = Schema("test", {"visits": face}, ROW if by_row else Unit("person"))
    assert found == [as_lists(exact.compute(each, schema, lambda _: table, 1)) for each in tasks]
    assert len({str(answer) for answer in found}) == len(tasks)
    assert len(forms) == 1
    assert "sordino_rows_0" in repr(forms[0])


def test_what_is_written_alike_but_differs_is_not_confused(duckdb_engine: Engine) -> None:
    @dataclasses.dataclass(frozen=True)
    class Taciturn(Key):
        def __repr__(self) -> str:
            return "a key"

    memory = memory_of(load(duckdb_engine, VISITS))
    for cities in (("Aix", "Bonn"), ("Bonn",), ("Aix", "Bonn")):
        taciturn = Taciturn("city", reference("city"), Column(Kind.TEXT, keys=cities))
        assert memory.compute(task(METHODS[2], taciturn), 1).keys == (list(cities),)


def test_data_sets_of_one_name_share_nothing() -> None:
    question = "SELECT COUNT(*) AS n FROM visits"
    for size in (10, 1000):
        rows = pa.table({"person": list(range(size))})
        budget = so.account(
            so.dataset("visits", rows, unit="person", limits=so.limits(rows=1)), so.budget(epsilon=1000)
        )
        for _ in range(2):
            assert abs(budget.sql(question).run(epsilon=100)["n"][0] - size) < 5


def test_only_so_many_are_remembered(
    duckdb_engine: Engine, monkeypatch: pytest.MonkeyPatch, translated: list[Relation]
) -> None:
    monkeypatch.setattr(memories, "_MOST", 2)
    memory = memory_of(load(duckdb_engine, VISITS))
    first, second, third = (task(Bounding("weigh", rows=rows), CITY) for rows in (1, 2, 3))
    for each in (first, second, first, third):  # the one that was asked for least lately goes
        memory.compute(each, 1)
    assert len(translated) == 3
    memory.compute(first, 1)
    assert len(translated) == 3
    memory.compute(second, 1)
    assert len(translated) == 4


def test_a_public_table_of_keys_is_read_every_time(duckdb_engine: Engine) -> None:
    rows = load(duckdb_engine, VISITS)
    cities = Table("cities", {"city": Column(Kind.TEXT)}, Public())
    tables = {"visits": rows, "cities": duckdb_engine.load("cities", pa.table({"city": ["Aix"]}))}
    schema = Schema("test", {"visits": PERSONS, "cities": cities}, Unit("person"))
    memory = Memory(schema, tables.__getitem__)
    keyed = Key("city", ColumnRef(Kind.TEXT, "city"), Column(Kind.TEXT))
    asked = task(METHODS[2], keyed, key_table=KeyTable(Scan(cities), ("city",)))
    assert memory.compute(asked, 1).keys == (["Aix"],)
    duckdb_engine.backend.insert(tables["cities"].get_name(), pa.table({"city": ["Bonn"]}))
    assert memory.compute(asked, 1).keys == (["Aix", "Bonn"],)


def test_long_lists_stay_with_the_engine(duckdb_engine: Engine) -> None:
    """A list that was sent beside the text is there for the second run as well."""
    memory = memory_of(load(duckdb_engine, VISITS))
    cities = tuple(f"city {number}" for number in range(12_000))
    asked = task(METHODS[2], key("city", *cities, "Bonn"))
    first = as_lists(memory.compute(asked, 1))
    assert first["sums"][0][-1] > 0
    assert as_lists(memory.compute(asked, 1)) == first


def test_a_failure_of_the_engine_says_nothing_the_second_time_either(duckdb_engine: Engine) -> None:
    table = duckdb_engine.load("visits", arrow(VISITS))
    memory, asked = memory_of(table), task(METHODS[2], CITY)
    memory.compute(asked, 1)
    duckdb_engine.backend.drop_table(table.get_name())
    with pytest.raises(RunError) as caught:
        memory.compute(asked, 1)
    assert table.get_name() not in f"{caught.value}{caught.value.__cause__}{caught.value.__context__}"


def test_whatever_a_task_is_made_of_is_written_in_full() -> None:
    for found in pkgutil.iter_modules(model.__path__):
        module = importlib.import_module(f"{model.__name__}.{found.name}")
        for each in vars(module).values():
            if isinstance(each, type) and dataclasses.is_dataclass(each) and each.__name__ != "Exact":
                assert all(field.repr and field.compare for field in dataclasses.fields(each)), each
                assert each.__eq__ is not object.__eq__, each


def test_constants_of_every_kind_are_bound_as_what_they_are() -> None:
    rows = pa.table(
        {
            "person": list(range(100)),
            "day": [date(2024, 1, 1) + timedelta(days=place) for place in range(100)],
            "time": [datetime(2024, 1, 1) + timedelta(hours=place) for place in range(100)],
            "member": [place % 4 == 0 for place in range(100)],
        }
    )
    data = so.dataset("visits", rows, unit="person", limits=so.limits(rows=1))
    budget = so.account(data, so.unlimited("a test"))
    for condition, expected in {
        "day < DATE '2024-01-11'": 10,
        "day < DATE '2024-01-21'": 20,
        "time >= TIMESTAMP '2024-01-02 00:00:00'": 76,
        "time >= TIMESTAMP '2024-01-03 12:30:00'": 39,
        "member = TRUE": 25,
        "member = FALSE": 75,
        "person < 10.5": 11,
        "person < 20": 20,
    }.items():
        answer = budget.sql(f"SELECT COUNT(*) AS n FROM visits WHERE {condition}").run(epsilon=1000)  # noqa: S608
        assert round(answer["n"][0]) == expected, condition
