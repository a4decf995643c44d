"""Declarations in YAML: the same as in Python, strictly read, without YAML's traps."""

from __future__ import annotations

from datetime import date, datetime
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sordino.accounting.bound import ROW, Unit
from sordino.data.dataset import dataset
from sordino.data.declarations_file import dataset_from_file, from_dict, read
from sordino.data.declarations_text import to_yaml
from sordino.data.declare import bounds, column, keys, limits, personal, private, public
from sordino.data.ownership import Declaration
from sordino.data.sources import Source, source
from sordino.data.strict_yaml import parse, write
from sordino.errors import SordinoError

SHOP = """
name: shop
unit: customer
tables:
  customers:
    source: customers.parquet
    unit: id
    columns:
      age: {bounds: [0, 120.5], nullable: false, granularity: 0.5}
      city: {keys: [Oslo, NO, yes, "1", 010, 12:30, null]}
  orders:
    source: orders/*.parquet
    parent: {customer_id: customers.id}
    limits: {rows: 20, groups: 3, rows_per_group: 7}
  countries:
    source: countries.csv
    public: true
    columns:
      since: {keys: [1905-06-07, 2024-01-01]}
"""


@pytest.fixture
def here(tmp_path: Path) -> Path:
    (tmp_path / "shop.yaml").write_text(SHOP)
    pq.write_table(pa.table({"id": [1], "age": [30], "city": ["Oslo"]}), tmp_path / "customers.parquet")
    (tmp_path / "orders").mkdir()
    pq.write_table(pa.table({"customer_id": [1], "total": [1.5]}), tmp_path / "orders" / "1.parquet")
    (tmp_path / "countries.csv").write_text("code,since\nNO,1905-06-07\n")
    return tmp_path


def test_a_file_says_the_same_as_python(here: Path) -> None:
    city = keys(["Oslo", "NO", "yes", "1", "010", "12:30", None])
    customers = {"age": bounds(0, 120.5, nullable=False, granularity=0.5), "city": city}
    expected = dataset(
        "shop",
        {
            "customers": private(here / "customers.parquet", unit="id", columns=customers),
            "orders": private(
                here / "orders" / "*.parquet",
                parent={"customer_id": "customers.id"},
                limits=limits(rows=20, groups=3, rows_per_group=7),
            ),
            "countries": public(here / "countries.csv", columns={"since": keys([date(1905, 6, 7), date(2024, 1, 1)])}),
        },
        unit="customer",
    )
    found = dataset_from_file(here / "shop.yaml")
    assert found.schema == expected.schema
    assert found.declaration == expected.declaration
    assert found.table("countries").to_pyarrow().to_pylist() == [{"code": "NO", "since": date(1905, 6, 7)}]


def test_it_can_be_written_and_read_again(here: Path) -> None:
    data = dataset_from_file(here / "shop.yaml")
    (here / "again.yaml").write_text(data.to_yaml())
    assert dataset_from_file(here / "again.yaml").schema == data.schema
    assert read(here / "again.yaml") == data.declaration


def test_one_table_needs_no_tables(here: Path) -> None:
    (here / "one.yaml").write_text("name: customers\nunit: id\nsource: customers.parquet\nlimits: {rows: 2}\n")
    data = dataset_from_file(here / "one.yaml")
    assert data.declaration == Declaration(
        "customers", Unit("id"), {"customers": private(None, unit="id", limits=limits(2))}
    )
    assert "tables" not in parse(data.to_yaml(), "it")
    (here / "rows.yaml").write_text("name: customers\nunit: row\nsource: customers.parquet\ncolumns:\n  age:\n")
    rows = dataset_from_file(here / "rows.yaml")
    assert rows.unit == ROW
    assert parse(rows.to_yaml(), "it")["unit"] == "row"


def test_sources_may_be_given_in_python(here: Path) -> None:
    frame = pd.DataFrame({"id": [7], "age": [30], "city": ["Oslo"]})
    (here / "bare.yaml").write_text("name: customers\nunit: id\n")
    data = dataset_from_file(here / "bare.yaml", sources={"customers": frame})
    assert data.table("customers").id.max().to_pyarrow().as_py() == 7
    assert "source" not in data.to_yaml()
    for sources, words in (({}, "has no source"), ({"customer": frame}, "did you mean 'customers'")):
        with pytest.raises(SordinoError, match=words):
            dataset_from_file(here / "bare.yaml", sources=sources)


PERSONAL = """
name: customers
unit: id
source: customers.parquet
personal:
  column: city
  classes:
    - {is: Oslo, epsilon: 0.1}
    - {is: NO, epsilon: 1}
"""


def test_classes_of_people_are_read_and_written(here: Path) -> None:
    (here / "classes.yaml").write_text(PERSONAL)
    data = dataset_from_file(here / "classes.yaml")
    assert data.declaration.personal == personal("city", {"Oslo": "0.1", "NO": 1})
    assert data.schema.personal is not None
    (here / "again.yaml").write_text(data.to_yaml())
    assert read(here / "again.yaml") == data.declaration
    assert dataset_from_file(here / "again.yaml").schema == data.schema


def test_classes_stand_beside_several_tables_as_well(here: Path) -> None:
    said = {"column": "customers.city", "classes": [{"is": "Oslo", "epsilon": 1}]}
    (here / "classes.yaml").write_text(write({"personal": said} | parse(SHOP, "it")))
    data = dataset_from_file(here / "classes.yaml")
    assert data.declaration.personal == personal("customers.city", {"Oslo": 1})
    assert parse(data.to_yaml(), "it")["personal"] == said


@pytest.mark.parametrize(
    ("said", "words"),
    [
        ("city", "personal must be a mapping"),
        ({"column": "city"}, "personal lacks the field 'classes'"),
        ({"classes": [], "column": "city"}, "epsilons must say an ε for each class"),
        ({"column": "city", "classes": {"Oslo": 1}}, "must be a list of"),
        ({"column": "city", "classes": ["Oslo"]}, "a class of personal must be a mapping"),
        ({"column": "city", "classes": [{"epsilon": 1}]}, "lacks the field 'is'"),
        ({"column": "city", "classes": [{"is": ["a"], "epsilon": 1}]}, "says by is: … which value"),
        ({"column": "city", "classes": [{"is": "a", "epsilon": 1}, {"is": "a", "epsilon": 2}]}, "each another one"),
        ({"column": "city", "classes": [{"is": "a"}]}, "lacks the field 'epsilon'"),
        ({"column": "city", "classes": [{"is": "a", "epsilon": 0}]}, "personal: epsilon must be greater than 0"),
        ({"column": "city", "classes": [{"is": "a", "epsilom": 1}]}, "did you mean 'epsilon'"),
        ({"column": "city", "classes": [{"is": "a", "epsilon": 1}, {"is": 1, "epsilon": 1}]}, "of one kind"),
    ],
)
def test_classes_that_cannot_be_are_refused(said: Any, words: str) -> None:
    with pytest.raises(SordinoError) as refused:
        from_dict({"name": "a", "unit": "id", "personal": said}, Path())
    assert words in refused.value.message


def test_databases_are_named_without_their_passwords() -> None:
    url = "postgresql://ola:hush@db.example:5433/shop?sslmode=require"
    declared = Declaration(
        "shop",
        Unit("customer"),
        {
            "customers": private(source(url, table="kunder", schema="salg"), unit="id"),
            "orders": private("postgresql://db.example/shop", unit="id"),
            "countries": public(Path("countries.csv")),
        },
    )
    text = to_yaml(declared)
    assert "hush" not in text
    tables = from_dict(parse(text, "it"), Path("/data")).tables
    assert tables["customers"].source == Source(
        "postgresql://ola@db.example:5433/shop?sslmode=require", "kunder", "salg"
    )
    assert tables["orders"].source == "postgresql://db.example/shop"
    assert tables["countries"].source == str(Path("countries.csv").absolute())


WRONG = {
    "no mapping": ("- a\n", "the file must be a mapping"),
    "nothing": ("", "the file must be a mapping"),
    "no name": ("unit: id\n", "the file lacks the field 'name'"),
    "no unit": ("name: a\n", "the file lacks the field 'unit'"),
    "a field too many": (
        "name: a\nunit: id\ncolumn: {}\n",
        "the field 'column', which does not exist; did you mean 'columns'",
    ),
    "both forms": ("name: a\nunit: p\nsource: a.csv\ntables: {}\n", "a file with tables has the field 'source'"),
    "tables as a list": ("name: a\nunit: p\ntables: [a]\n", "tables must be a mapping"),
    "a table's field": ("name: a\nunit: p\ntables: {t: {sourc: x}}\n", "table 't' has the field 'sourc'"),
    "a table as text": ("name: a\nunit: p\ntables: {t: x}\n", "table 't' must be a mapping"),
    "a column's field": ("name: a\nunit: id\ncolumns: {x: {bound: [0, 1]}}\n", "did you mean 'bounds'"),
    "columns as a list": ("name: a\nunit: id\ncolumns: [x]\n", "columns of table 'a' must be a mapping"),
    "a public table with a unit": (
        "name: a\nunit: p\ntables: {t: {public: true, unit: id}}\n",
        "the public table 't' has the field 'unit'",
    ),
    "public maybe": ("name: a\nunit: p\ntables: {t: {public: yes}}\n", "must be true or false"),
    "limits": ("name: a\nunit: id\nlimits: {row: 3}\n", "did you mean 'rows'"),
    "a limit of zero": ("name: a\nunit: id\nlimits: {rows: 0}\n", "table 'a': rows must be at least 1"),
    "a source's field": ("name: a\nunit: id\nsource: {uri: x}\n", "did you mean 'url'"),
    "a source without its url": ("name: a\nunit: id\nsource: {table: x}\n", "lacks the field 'url'"),
    "a source of numbers": ("name: a\nunit: id\nsource: {url: 3}\n", "table 'a': a source is a database URL"),
    "bounds": ("name: a\nunit: id\ncolumns: {x: {bounds: [1, 0]}}\n", "column 'x' of table 'a': low (1) must be below"),
    "mixed keys": ("name: a\nunit: id\ncolumns: {x: {keys: [a, 1]}}\n", "look like numbers or dates need quotes"),
    "real keys": ("name: a\nunit: id\ncolumns: {x: {keys: [1.5]}}\n", "look like numbers or dates need quotes"),
    "twice": ("name: a\nunit: id\nname: b\n", "line 1 is not YAML as read here: 'name' stands twice"),
    "a number as name": ("name: a\nunit: id\n1: b\n", "a name is no text; put it in quotes"),
    "no yaml": ("name: [a\n", "line 2 is not YAML"),
    "a tag": ("name: !!python/object:os.system a\n", "is not YAML as read here: could not determine a constructor"),
    "a day that is none": ("name: 2024-02-30\n", "is not YAML as read here: a bad value"),
    "deep": ("name: " + "[" * 1000, "is not YAML as read here"),
}


@pytest.mark.parametrize("case", WRONG)
def test_what_is_not_understood_is_refused(tmp_path: Path, case: str) -> None:
    text, words = WRONG[case]
    (tmp_path / "wrong.yaml").write_text(text)
    with pytest.raises(SordinoError) as refused:
        read(tmp_path / "wrong.yaml")
    assert words in refused.value.message
    assert refused.value.code in {"SRD-A001", "SRD-A002", "SRD-A003", "SRD-A006"}


def test_what_is_no_text_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "binary.yaml").write_bytes(b"\xff\xfe\x00")
    with (tmp_path / "huge.yaml").open("wb") as file:
        file.truncate(65 * 2**20)
    for name, words in (("none.yaml", "cannot be read"), ("binary.yaml", "cannot be read"), ("huge.yaml", "64 MiB")):
        with pytest.raises(SordinoError, match=words):
            read(tmp_path / name)


def test_a_bound_without_a_short_decimal_cannot_be_written() -> None:
    declared = Declaration("a", ROW, {"a": private(None, columns={"x": bounds(0, "0.12345678901234567891")})})
    with pytest.raises(SordinoError, match="has no short decimal"):
        to_yaml(declared)


texts = st.text(st.characters(exclude_categories=["Cs", "Cc"]), max_size=8) | st.sampled_from(
    [
        "yes",
        "no",
        "on",
        "NO",
        "null",
        "~",
        "true",
        "1e5",
        "1.",
        ".5",
        "0x1F",
        "010",
        "1_000",
        "12:30",
        "2024-01-01",
        "-",
        "<<",
    ]
)
key_lists = st.one_of(
    st.lists(texts, min_size=1, max_size=5),
    st.lists(st.integers(-(2**63), 2**63 - 1), min_size=1, max_size=5),
    st.lists(st.booleans(), min_size=1, max_size=2),
    st.lists(st.dates(), min_size=1, max_size=5),
    st.lists(st.datetimes(), min_size=1, max_size=5),
)


@st.composite
def column_declarations(draw: st.DrawFn) -> Any:
    low = draw(st.integers(-(10**6), 10**6) | st.decimals(-1000, 1000, places=3))
    width = draw(st.integers(1, 10**6))
    nullable = draw(st.booleans())
    ranged = draw(st.booleans())
    listed = None
    if draw(st.booleans()):
        given = draw(key_lists)
        try:
            listed = keys(given).keys
        except SordinoError:  # two texts that are one as NFC
            listed = keys(given[:1]).keys
    return column(bounds=(low, low + width) if ranged else None, keys=listed, nullable=nullable)


@given(st.dictionaries(texts, column_declarations(), max_size=4), st.sampled_from(["row", "id"]))
def test_whatever_is_declared_is_read_as_it_was_written(columns: dict[str, Any], unit: str) -> None:
    table = private("a.parquet", unit=None if unit == "row" else unit, columns=columns)
    declared = Declaration("a", ROW if unit == "row" else Unit(unit), {"a": table})
    assert from_dict(parse(to_yaml(declared), "it"), Path()) == declared


@given(key_lists, st.lists(st.decimals("0.001", 10, places=3), min_size=5, max_size=5))
def test_whatever_classes_are_declared_are_read_as_they_were_written(values: list[Any], epsilons: list[Any]) -> None:
    classes = personal("kind", dict(zip(values, epsilons, strict=False)))
    declared = Declaration("a", Unit("id"), {"a": private("a.parquet", unit="id")}, personal=classes)
    assert from_dict(parse(to_yaml(declared), "it"), Path()).personal == classes


@given(
    st.lists(
        texts
        | st.integers()
        | st.booleans()
        | st.none()
        | st.dates()
        | st.floats(allow_nan=False, allow_infinity=False)
    )
)
def test_yaml_keeps_every_value_and_its_kind(values: list[Any]) -> None:
    back = parse(write(values), "it")
    assert back == values
    assert [type(value) for value in back] == [type(value) for value in values]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("yes", "yes"),
        ("off", "off"),
        ("010", "010"),
        ("0x1F", "0x1F"),
        ("1_000", "1_000"),
        ("12:30", "12:30"),
        (".inf", ".inf"),
        ("true", True),
        ("~", None),
        ("-7", -7),
        ("1e5", 1e5),
        ("2024-02-29", date(2024, 2, 29)),
        ("2024-02-29 12:00:00", datetime(2024, 2, 29, 12)),
    ],
)
def test_the_traps_of_yaml_are_closed(text: str, value: Any) -> None:
    assert parse(text, "it") == value
