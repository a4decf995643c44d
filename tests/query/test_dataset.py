"""Data sets: who owns what, what is refused, and what they show of themselves."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import ibis
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from query.engines import Engine
from sordino.accounting.bound import ROW, Unit
from sordino.data.dataset import Dataset, dataset
from sordino.data.declare import TableDeclaration, bounds, column, keys, limits, private, public
from sordino.data.kinds import Kind, Range
from sordino.data.metadata import Column, Limits, OwnedByColumn, OwnedByParent, OwnedByRow, Public
from sordino.errors import ArgumentError, QuestionError, SordinoError
from sordino.query.engine.exact import compute
from sordino.query.model.bounding import Bounding
from sordino.query.model.relation import Scan
from sordino.query.model.task import Task

CANARY = "CANARY-7391"
CUSTOMERS = pa.table({"id": [1, 2], "city": [CANARY, "Oslo"], "age": [30, 40]})
ORDERS = pa.table({"number": ["a", "b"], "customer_id": [1, 2], "total": [10.5, 918273.5]})
ITEMS = pa.table({"order_number": ["a", "a"], "price": [1.5, 9.0]})
COUNTRIES = pa.table({"code": ["NO"], "name": ["Norway"]})


def shop(**others: TableDeclaration) -> dict[str, TableDeclaration]:
    return {
        "customers": private(CUSTOMERS, unit="id", columns={"age": bounds(0, 120), "city": keys(["Oslo", "Rome"])}),
        "orders": private(ORDERS, parent={"customer_id": "customers.id"}, limits=limits(rows=20)),
        "items": private(ITEMS, parent={"order_number": "orders.number"}),
        "countries": public(COUNTRIES),
    } | others


def test_one_table_by_person() -> None:
    data = dataset(
        "customers",
        CUSTOMERS,
        unit="id",
        columns={"age": bounds(0, 120, nullable=False, granularity=1), "city": keys(["Oslo", "Rome"])},
        limits=limits(rows=3, groups=2, rows_per_group=1),
    )
    table = data.schema.tables["customers"]
    assert (data.name, data.unit, data.engine) == ("customers", Unit("id"), "duckdb")
    assert table.owner == OwnedByColumn("id")
    assert table.limits == Limits(3, 2, 1)
    assert table.columns["age"] == Column(Kind.INTEGER, Range.of(0, 120), None, False, 1.0)
    assert table.columns["city"] == Column(Kind.TEXT, keys=("Oslo", "Rome"))
    assert table.columns["id"] == Column(Kind.INTEGER)
    assert list(data.table("customers").columns) == list(table.columns)


def test_one_table_by_row() -> None:
    data = dataset("customers", CUSTOMERS, unit=ROW)
    assert data.schema.by_row
    assert data.schema.tables["customers"].owner == OwnedByRow()


def test_several_tables() -> None:
    data = dataset("shop", shop(), unit="customer")
    owners = {name: table.owner for name, table in data.schema.tables.items()}
    assert data.unit == Unit("customer")
    assert not data.schema.by_row
    assert owners == {
        "customers": OwnedByColumn("id"),
        "orders": OwnedByParent("customer_id", "customers", "id"),
        "items": OwnedByParent("order_number", "orders", "number"),
        "countries": Public(),
    }
    rows = dataset("shop", {"orders": private(ORDERS), "countries": public(COUNTRIES)}, unit=ROW)
    assert rows.schema.tables["orders"].owner == OwnedByRow()


def test_several_tables_on_every_engine(engine: Engine) -> None:
    tables = {
        "customers": private(engine.load("customers", CUSTOMERS), unit="id"),
        "orders": private(engine.load("orders", ORDERS), parent={"customer_id": "customers.id"}),
        "countries": public(COUNTRIES),
    }
    data = dataset("shop", tables, unit=Unit("customer"))
    assert data.engine == engine.name
    orders, customers = data.table("orders"), data.table("customers")
    joined = orders.join(customers, orders.customer_id == customers.id)
    assert joined.count().to_pyarrow().as_py() == 2
    assert CANARY not in repr(data) + data._repr_html_()


REFUSED: dict[str, tuple[dict[str, Any], str, str]] = {
    "no name": ({"name": ""}, "the data set's name must be a word", "SRD-A001"),
    "a name that needs quotes": ({"name": "my shop"}, "the data set's name must be a word", "SRD-A001"),
    "a number as name": ({"name": 5}, "the data set's name must be a word", "SRD-A001"),
    "no such unit": ({"unit": "idd"}, "no column 'idd', which does not exist; did you mean 'id'?", "SRD-Q201"),
    "a unit far off": ({"unit": "zzz"}, "there are 'id', 'city', 'age'", "SRD-Q201"),
    "a unit that is no name": ({"unit": 3}, "unit must be the name", "SRD-A001"),
    "a unit called row": ({"unit": "row"}, "use so.ROW to protect them", "SRD-A003"),
    "no such column": ({"columns": {"agee": bounds(0, 1)}}, "did you mean 'age'?", "SRD-Q201"),
    "bounds on text": ({"columns": {"city": bounds(0, 1)}}, "customers.city is text", "SRD-Q202"),
    "columns of another kind": ({"columns": {"age": (0, 1)}}, "so.bounds", "SRD-A001"),
    "a declared table": ({"source": private(CUSTOMERS, unit="id")}, "stand in a dict of tables", "SRD-A001"),
    "columns beside tables": (
        {"source": shop(), "columns": {"age": bounds(0, 1)}},
        "columns and limits belong into so.private",
        "SRD-A003",
    ),
    "limits beside tables": ({"source": shop(), "limits": limits(rows=1)}, "belong into so.private", "SRD-A003"),
    "a bare table": ({"source": {"customers": CUSTOMERS}}, "must be declared by so.private", "SRD-A001"),
    "no table": ({"source": {}}, "one private table at least", "SRD-A003"),
    "public tables alone": ({"source": {"countries": public(COUNTRIES)}}, "one private table at least", "SRD-A003"),
    "a table's name": ({"source": {"a-b": private(CUSTOMERS, unit="id")}}, "a table's name must be", "SRD-A001"),
    "names by case": (
        {"source": {"a": private(CUSTOMERS, unit="id"), "A": private(CUSTOMERS, unit="id")}},
        "differ in more than upper and lower case",
        "SRD-A003",
    ),
    "an owner by row": ({"source": shop(), "unit": ROW}, "the data set protects single rows", "SRD-Q203"),
    "no owner": ({"source": shop(more=private(ORDERS))}, "'more' does not say whose its rows are", "SRD-Q203"),
    "no such parent": (
        {"source": shop(more=private(ORDERS, parent={"customer_id": "customer.id"}))},
        "has the parent 'customer', which does not exist; did you mean 'customers'?",
        "SRD-Q201",
    ),
    "a public parent": (
        {"source": shop(more=private(ORDERS, parent={"number": "countries.code"}))},
        "has the public parent 'countries'",
        "SRD-Q203",
    ),
    "a circle": (
        {"source": {"a": private(ORDERS, parent={"number": "b.x"}), "b": private(ORDERS, parent={"number": "a.x"})}},
        "a → b → a lead in a circle",
        "SRD-Q203",
    ),
    "no such parent's column": (
        {"source": shop(more=private(ORDERS, parent={"customer_id": "customers.idd"}))},
        "'customers' has no column 'idd'",
        "SRD-Q201",
    ),
    "keys of different kinds": (
        {"source": shop(more=private(ORDERS, parent={"number": "customers.id"}))},
        "more.number and customers.id are of different kinds",
        "SRD-Q203",
    ),
    "people of different kinds": (
        {"source": shop(more=private(CUSTOMERS, unit="city"))},
        "customers.id and more.city are of different kinds",
        "SRD-Q203",
    ),
    "a real as identity": (
        {"source": ORDERS, "unit": "total"},
        "customers.total is real, and only whole numbers and texts identify",
        "SRD-Q203",
    ),
    "a boolean as identity": (
        {"source": pa.table({"id": [True]})},
        "customers.id is boolean, and only whole numbers and texts identify",
        "SRD-Q203",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_does_not_fit_is_refused_with_a_remedy(case: str) -> None:
    changed, words, code = REFUSED[case]
    asked: dict[str, Any] = {"name": "customers", "source": CUSTOMERS, "unit": "id"} | changed
    with pytest.raises(SordinoError) as refused:
        dataset(asked.pop("name"), asked.pop("source"), **asked)
    assert words in refused.value.message
    assert refused.value.code == code
    assert isinstance(refused.value, ArgumentError if code.startswith("SRD-A") else QuestionError)
    assert CANARY not in str(refused.value)


LARGE = [2**64 - 1, 2**64 - 2, 2**63]
"""As floats, the first two are one person."""


@pytest.mark.parametrize(
    ("stored", "shown"),
    [
        ("UBIGINT", [str(each) for each in LARGE]),
        ("HUGEINT", [str(each) for each in LARGE]),
        ("DECIMAL(20, 0)", [str(each) for each in LARGE]),
        ("UINTEGER", [1, 2, 3]),
        ("DECIMAL(18, 0)", [1, 2, 3]),
        ("UUID", [f"00000000-0000-0000-0000-{each:012}" for each in range(3)]),
    ],
)
def test_whoever_is_told_apart_by_the_engine_is_told_apart(stored: str, shown: list[Any]) -> None:
    connection = ibis.duckdb.connect()
    for table, name in (("people", "id"), ("visits", "who")):
        connection.raw_sql(f"CREATE TABLE {table} ({name} {stored}, one INTEGER)")
        connection.con.executemany(f"INSERT INTO {table} VALUES (?, 1)", [[each] for each in map(str, shown)])  # noqa: S608
    tables = {
        "people": private(connection.table("people"), unit="id"),
        "visits": private(connection.table("visits"), parent={"who": "people.id"}),
    }
    data = dataset("clinic", tables, unit="person")
    assert sorted(data.table("people").id.to_pyarrow().to_pylist()) == sorted(shown)
    assert data.schema.tables["visits"].columns["who"].kind is data.schema.tables["people"].columns["id"].kind
    exact = compute(people_of(data, "visits"), data.schema, data.table, 0)
    assert exact.people.tolist() == [3]


def people_of(data: Dataset, name: str) -> Task:
    return Task(Scan(data.schema.tables[name]), (), Bounding("groups", groups=1, rows_per_group=1), people=True)


def test_large_identities_from_files(tmp_path: Path) -> None:
    table = pa.table({"id": pa.array(LARGE, pa.uint64()), "other": pa.array(LARGE, pa.uint64())})
    pq.write_table(table, tmp_path / "people.parquet")
    for given in (tmp_path / "people.parquet", table):
        data = dataset("people", given, unit="id")
        assert data.schema.tables["people"].columns["id"].kind is Kind.TEXT
        assert data.schema.tables["people"].columns["other"].kind is Kind.REAL
        assert compute(people_of(data, "people"), data.schema, data.table, 0).people.tolist() == [3]


def test_endless_decimals_identify_nobody(postgres_engine: Engine) -> None:
    """1.0 and 1 are one number, and would be two texts."""
    table = postgres_engine.backend.create_table("endless", schema=ibis.schema({"id": "decimal", "x": "int64"}))
    with pytest.raises(QuestionError, match="only whole numbers and texts identify"):
        dataset("people", table, unit="id")


def test_only_declared_tables_can_be_had() -> None:
    with pytest.raises(QuestionError, match="did you mean 'customers'"):
        dataset("shop", shop(), unit="customer").table("customer")


SHOWN = """\
Dataset 'shop' on duckdb, protects each customer
table customers, owned by id
  id    integer
  city  text, keys 'Oslo', 'Rome'
  age   integer, bounds 0 to 120
table orders, owned through customer_id by customers.id, at most 20 rows per person
  number       text
  customer_id  integer
  total        real, bounds 0.5 to 1000, steps of 0.5, never missing
table countries, public
  code  text, keys 'a', 'b', 'c', 'd', 'e' … 6 in all
  name  text"""


@pytest.fixture
def shown() -> Dataset:
    total = bounds("0.5", 1000, granularity="0.5", nullable=False)
    tables = shop(
        orders=private(
            ORDERS, parent={"customer_id": "customers.id"}, limits=limits(rows=20), columns={"total": total}
        ),
        countries=public(COUNTRIES, columns={"code": keys("abcdef"[place] for place in range(6))}),
    )
    del tables["items"]
    return dataset("shop", tables, unit="customer")


def test_it_shows_what_was_declared_and_nothing_else(shown: Dataset) -> None:
    assert repr(shown) == SHOWN
    everything = repr(shown) + str(shown) + shown._repr_html_() + repr(shown.declaration) + repr(vars(shown))
    for secret in (CANARY, "918273.5", "Norway"):
        assert secret not in everything


def test_its_html_is_escaped() -> None:
    frame = pd.DataFrame({"id": [1], "<b>": ["x"]})
    page = dataset("odd", frame, unit="id", columns={"<b>": keys(["<script>"])})._repr_html_()
    assert "<script>" not in page
    assert "<b></td>" not in page
    assert "&lt;script&gt;" in page


def test_rows_by_themselves_are_shown_as_such() -> None:
    said = repr(dataset("rows", CUSTOMERS, unit=ROW, columns={"age": column(bounds=(0, 1), keys=[0, 1])}))
    assert "protects each row" in said
    assert "table rows, each row its own" in said
    assert "age   integer, bounds 0 to 1, keys 0, 1" in said


@pytest.mark.parametrize("name", ["owner__", "OWNER__", "place__", "right__0", "weight__"])
def test_a_column_that_is_called_like_one_of_ours_is_hidden(name: str) -> None:
    rides = pa.table({"rider": [1, 1, 2], name: [1, 2, 3]})
    trips = dataset("trips", rides, unit="rider")
    assert name not in trips.schema.tables["trips"].columns
    assert "rename it in a view" in trips.schema.tables["trips"].hidden[name]
    with pytest.raises(QuestionError):
        dataset("trips", rides, unit=name)
