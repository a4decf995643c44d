"""How the columns of each engine are read: of one type for each kind, and never failing on a row."""

from __future__ import annotations

from datetime import date, datetime, timedelta
from typing import Any

import ibis
import ibis.expr.datatypes as dt
import ibis.expr.operations as ops
import pyarrow as pa
import pytest

from query.engines import Engine
from sordino.accounting.bound import ROW
from sordino.data.dataset import Dataset, dataset
from sordino.data.declare import ColumnDeclaration, bounds, column, keys
from sordino.data.kinds import Kind
from sordino.data.reading import column_of, reading_of
from sordino.errors import QuestionError

TYPES = {
    "boolean": (Kind.BOOLEAN, dt.boolean),
    "integer": (Kind.INTEGER, dt.int64),
    "real": (Kind.REAL, dt.float64),
    "text": (Kind.TEXT, dt.string),
    "date": (Kind.DATE, dt.date),
    "timestamp": (Kind.TIMESTAMP, dt.timestamp),
}


def made(engine: Engine, *queries: str) -> Dataset:
    """Return a data set whose table is made by the engine's own SQL."""
    name = engine.load("made", pa.table({"nothing": [1]})).get_name() + "_view"
    query = " UNION ALL ".join(queries)
    if engine.name == "spark":
        engine.backend._session.sql(query).createOrReplaceTempView(name)
    else:
        engine.backend.con.execute(f"CREATE VIEW {name} AS {query}")
    return dataset("made", engine.backend.table(name), unit=ROW)


def values(data: Dataset) -> list[dict[str, Any]]:
    return list(data.table("made").to_pyarrow().to_pylist())


COMMON = """SELECT true AS b, CAST(7 AS smallint) AS small, CAST(7 AS bigint) AS big, CAST(0.5 AS {float}) AS half,
    CAST(0.25 AS {double}) AS quarter, CAST(12.5 AS decimal(10, 2)) AS money, CAST(12 AS decimal(10, 0)) AS whole,
    CAST(12 AS decimal(30, 0)) AS wide, CAST('x' AS {text}) AS text, CAST('2024-02-29' AS date) AS day,
    CAST('2024-02-29 12:00:00' AS {plain}) AS seen, CAST('2024-02-29 12:00:00+02:00' AS {zoned}) AS there"""
WORDS = {
    "duckdb": ("real", "double", "varchar", "timestamp", "timestamptz"),
    "postgres": ("real", "double precision", "varchar(9)", "timestamp", "timestamptz"),
    "spark": ("float", "double", "string", "timestamp_ntz", "timestamp"),
}


def test_every_engine_gives_the_same_kinds_types_and_values(engine: Engine) -> None:
    words = dict(zip(("float", "double", "text", "plain", "zoned"), WORDS[engine.name], strict=True))
    data = made(engine, COMMON.format(**words))
    kinds = {name: each.kind.value for name, each in data.schema.tables["made"].columns.items()}
    assert kinds == {
        "b": "boolean",
        "small": "integer",
        "big": "integer",
        "half": "real",
        "quarter": "real",
        "money": "real",
        "whole": "integer",
        "wide": "real",
        "text": "text",
        "day": "date",
        "seen": "timestamp",
        "there": "timestamp",
    }
    for name, dtype in data.table("made").schema().items():
        wanted = TYPES[kinds[name]][1]
        assert type(dtype) is type(wanted)
        assert getattr(dtype, "timezone", None) is None
    assert values(data) == [
        {
            "b": True,
            "small": 7,
            "big": 7,
            "half": 0.5,
            "quarter": 0.25,
            "money": 12.5,
            "whole": 12,
            "wide": 12.0,
            "text": "x",
            "day": date(2024, 2, 29),
            "seen": datetime(2024, 2, 29, 12),
            "there": datetime(2024, 2, 29, 10),
        }
    ]


EXTREMES = {
    "duckdb": (
        "SELECT DATE 'infinity' AS day, TIMESTAMP '-infinity' AS seen",
        "SELECT DATE '290000-01-01', TIMESTAMP '290000-01-01'",
        "SELECT DATE '0044-03-15 (BC)', TIMESTAMP '0044-03-15 (BC) 12:00:00'",
    ),
    "postgres": (
        "SELECT DATE 'infinity' AS day, TIMESTAMP '-infinity' AS seen",
        "SELECT DATE '290000-01-01', TIMESTAMP '290000-01-01'",
        "SELECT DATE '0044-03-15 BC', TIMESTAMP '0044-03-15 12:00:00 BC'",
    ),
    "spark": (
        "SELECT DATE '+10000-01-01' AS day, TIMESTAMP_NTZ '+10000-01-01' AS seen",
        "SELECT DATE '+290000-01-01', TIMESTAMP_NTZ '+290000-01-01'",
        "SELECT DATE '-0044-03-15', TIMESTAMP_NTZ '-0044-03-15 12:00:00'",
    ),
}


def test_days_beyond_the_calendar_are_missing(engine: Engine) -> None:
    assert values(made(engine, *EXTREMES[engine.name])) == [{"day": None, "seen": None}] * 3


def test_the_ends_of_the_calendar_are_kept(engine: Engine) -> None:
    ends = [(date(1, 1, 1), datetime(1, 1, 1)), (date(9999, 12, 31), datetime(9999, 12, 31, 23, 59, 59))]
    table = engine.load("ends", pa.table({"day": [day for day, _ in ends], "seen": [seen for _, seen in ends]}))
    data = dataset("ends", table, unit=ROW)
    found = data.table("ends").aggregate(days=ibis._.day.count(), times=ibis._.seen.count()).to_pyarrow()
    assert found.to_pylist() == [{"days": 2, "times": 2}]


def test_numbers_of_postgres_without_end_are_tamed(postgres_engine: Engine) -> None:
    given = ["1e400", "-1e400", "1e-400", "-1e-400", "12.5", "'NaN'", "'Infinity'", "'-Infinity'", "NULL", "0"]
    data = made(
        postgres_engine, *(f"SELECT {place} AS place, CAST({x} AS numeric) AS x" for place, x in enumerate(given))
    )
    assert data.schema.tables["made"].columns["x"].kind is Kind.REAL
    found = [row["x"] for row in sorted(values(data), key=lambda row: row["place"])]
    assert found == [1e150, -1e150, 0.0, 0.0, 12.5, None, 1e150, -1e150, None, 0.0]


def test_texts_of_postgres_that_are_none_are_read_as_such(postgres_engine: Engine) -> None:
    postgres_engine.backend.con.execute("CREATE EXTENSION citext; CREATE TYPE mood AS ENUM ('ok', 'bad')")
    texts = "'Oslo'::citext AS city, 'ok'::mood AS mood, 'NO'::char(3) AS code, 'n'::name AS name"
    data = made(
        postgres_engine,
        f"SELECT {texts}, 'v'::varchar(9) AS plain, '1.5'::money AS pay, '(1,2)'::point AS place",
        f"SELECT {texts.replace('Oslo', 'OSLO')}, 'v', '2'::money, '(1,2)'::point",
    )
    table, hidden = data.table("made"), data.schema.tables["made"].hidden
    assert set(table.columns) == {"city", "mood", "code", "name", "plain"}
    assert "PostgreSQL has it as money" in hidden["pay"]
    assert set(hidden) == {"pay", "place"}
    assert table.group_by("city").aggregate(n=ibis._.count()).count().to_pyarrow().as_py() == 2
    assert table.filter(table.mood == "none of them").count().to_pyarrow().as_py() == 0
    assert {row["code"] for row in values(data)} == {"NO"}
    with pytest.raises(QuestionError, match=r"made\.pay cannot be used: PostgreSQL has it as money"):
        dataset("made", data.backend.table(data.table("made").op().find(ops.DatabaseTable)[0].name), unit="pay")


def test_types_of_duckdb_alone(duckdb_engine: Engine) -> None:
    data = made(
        duckdb_engine,
        """SELECT uuid '6ecd8c99-4036-403d-bf84-cf8400f67836' AS id, CAST('a' AS ENUM ('a', 'b')) AS letter,
        CAST(18446744073709551615 AS ubigint) AS huge, CAST(7 AS utinyint) AS small,
        CAST('2024-02-29 12:00:00.123456789' AS timestamp_ns) AS fine, CAST(1 AS hugeint) AS vast,
        make_timestamp(0)::timestamp_s AS coarse""",
        """SELECT NULL, NULL, 0, 0, NULL, -170141183460469231731687303715884105727, 'infinity'::timestamp_s""",
    )
    kinds = {name: each.kind.value for name, each in data.schema.tables["made"].columns.items()}
    assert kinds["id"] == kinds["letter"] == "text"
    assert kinds["huge"] == kinds["vast"] == "real"
    first, second = values(data)
    assert first["id"] == "6ecd8c99-4036-403d-bf84-cf8400f67836"
    assert (first["letter"], first["huge"], first["small"], first["vast"]) == ("a", 2.0**64, 7, 1.0)
    assert abs(first["fine"] - datetime(2024, 2, 29, 12, 0, 0, 123456)) <= timedelta(microseconds=1)
    assert (second["vast"], second["coarse"]) == (-(2.0**127), None)


@pytest.mark.parametrize(
    "dtype",
    [
        "array<int64>",
        "map<string, int64>",
        "struct<a: int64>",
        "binary",
        "json",
        "interval('s')",
        "time",
        "inet",
        "null",
    ],
)
def test_other_types_cannot_be_asked_about(dtype: str) -> None:
    assert reading_of(dt.dtype(dtype)) is None


def test_hidden_columns_are_explained_when_they_are_wanted(duckdb_engine: Engine) -> None:
    query = "SELECT 1 AS id, [1, 2] AS marks, 'CANARY'::blob AS secret"
    data = made(duckdb_engine, query)
    table = data.schema.tables["made"]
    assert list(table.columns) == ["id"]
    assert "array<int32>" in table.hidden["marks"]
    assert "not to be asked about: marks, secret" in repr(data)
    assert list(data.table("made").columns) == ["id"]
    source = data.backend.table(data.table("made").op().parent.name)
    for wanted in ({"unit": "marks"}, {"unit": "id", "columns": {"marks": keys([1])}}):
        with pytest.raises(QuestionError, match=r"made\.marks cannot be used: it is of the type") as refused:
            dataset("made", source, **wanted)  # type: ignore[arg-type]
        assert refused.value.code == "SRD-Q202"


@pytest.mark.parametrize(("name", "odd"), [("duckdb", "[1] AS x"), ("postgres", "'{1}'::int[] AS x")])
def test_a_table_of_odd_types_alone_is_refused(request: pytest.FixtureRequest, name: str, odd: str) -> None:
    with pytest.raises(QuestionError, match="has no column that can be asked about: it is of the type array"):
        made(request.getfixturevalue(f"{name}_engine"), f"SELECT {odd}")


def test_names_that_differ_by_case_alone_are_hidden(postgres_engine: Engine) -> None:
    data = made(postgres_engine, 'SELECT 1 AS id, 2 AS "Pay", 3 AS pay')
    assert list(data.schema.tables["made"].columns) == ["id"]
    assert "upper and lower case" in data.schema.tables["made"].hidden["pay"]


@pytest.mark.parametrize(
    ("kind", "declared", "words"),
    [
        (Kind.TEXT, bounds(0, 1), "is text, but was declared with bounds; bounds are for numbers"),
        (Kind.BOOLEAN, bounds(0, 1), "is boolean, but was declared with bounds"),
        (Kind.DATE, bounds(0, 1), "is date, but was declared with bounds"),
        (Kind.REAL, keys([1, 2]), "reals that look equal may differ"),
        (Kind.TEXT, keys([1, 2]), "declared with keys that are integer; write the keys as text"),
        (Kind.INTEGER, keys([True]), "declared with keys that are boolean"),
        (Kind.TIMESTAMP, keys([date(2024, 1, 1)]), "declared with keys that are date"),
        (Kind.TEXT, column(kind="integer"), "declared with kind='integer'; leave the kind out"),
    ],
)
def test_declarations_must_fit_the_type(kind: Kind, declared: ColumnDeclaration, words: str) -> None:
    with pytest.raises(QuestionError) as refused:
        column_of("trips.x", kind, declared)
    assert words in refused.value.message
    assert refused.value.code == "SRD-Q202"


@pytest.mark.parametrize(
    ("kind", "said"), [(Kind.INTEGER, "real"), (Kind.REAL, "integer"), (Kind.DATE, "timestamp"), (Kind.TEXT, "text")]
)
def test_the_type_of_the_engine_decides_between_near_kinds(kind: Kind, said: str) -> None:
    assert column_of("trips.x", kind, column(kind=said)).kind is kind
