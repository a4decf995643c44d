"""Where data may come from, on which engine it ends up, and how far the embedded one is locked."""

from __future__ import annotations

import gzip
import shutil
import sys
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Any

import duckdb
import ibis
import ibis.expr.operations as ops
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import sordino as so
from query.engines import Engine
from sordino.accounting.bound import ROW
from sordino.data.dataset import Dataset, dataset
from sordino.data.declare import bounds, column, keys, private, public
from sordino.data.kinds import Kind
from sordino.data.local import LocalTables
from sordino.data.sources import source
from sordino.errors import ArgumentError, QuestionError, SordinoError

CANARY = "CANARY-7391"
PEOPLE = pa.table({"id": [1, 1, 2], "name": [CANARY, "b", "c"], "pay": [10.5, 20.0, 30.0]})
PLACES = pa.table({"code": ["NO", "IT"], "country": ["Norway", "Italy"]})


def rows(data: Dataset, name: str | None = None) -> list[dict[str, Any]]:
    table = data.table(name or data.name)
    return list(table.order_by(table.columns).to_pyarrow().to_pylist())


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    tmp_path = tmp_path_factory.mktemp("files")
    pq.write_table(PEOPLE, tmp_path / "people.parquet")
    (tmp_path / "parts").mkdir()
    for place in range(3):
        pq.write_table(PEOPLE.slice(place, 1), tmp_path / "parts" / f"{place}.parquet")
    text = f"id,name,pay\n1,{CANARY},10.5\n1,b,20.0\n2,c,30.0\n"
    (tmp_path / "people.csv").write_text(text)
    (tmp_path / "people.tsv").write_text(text.replace(",", "\t"))
    with gzip.open(tmp_path / "people.csv.gz", "wt") as file:
        file.write(text)
    with duckdb.connect(tmp_path / "people.db") as made:
        made.register("given", PEOPLE)
        made.execute("CREATE TABLE people AS FROM given; CREATE SCHEMA hr; CREATE TABLE hr.staff AS FROM given")
    duckdb.connect(tmp_path / "other.db").close()
    return tmp_path


@pytest.fixture
def files(written: Path, tmp_path: Path) -> Path:
    """A copy for each test: some of them write."""
    return Path(shutil.copytree(written, tmp_path, dirs_exist_ok=True))


SOURCES: dict[str, Callable[[Path], Any]] = {
    "path": lambda here: here / "people.parquet",
    "text": lambda here: str(here / "people.parquet"),
    "pattern": lambda here: f"{here}/parts/*.parquet",
    "pandas": lambda _: PEOPLE.to_pandas(),
    "pandas-categories": lambda _: PEOPLE.to_pandas().astype({"name": "category"}),
    "polars": lambda _: pl.from_arrow(PEOPLE),
    "polars-lazy": lambda _: pl.from_arrow(PEOPLE).lazy(),  # type: ignore[union-attr]
    "arrow": lambda _: PEOPLE,
    "arrow-batch": lambda _: PEOPLE.to_batches()[0],
    "arrow-reader": lambda _: PEOPLE.to_reader(),
    "memtable": lambda _: ibis.memtable(PEOPLE),
    "duckdb-url": lambda here: f"duckdb:///{here}/people.db",
    "duckdb-source": lambda here: source(f"duckdb:///{here}/people.db", table="staff", schema="hr"),
    "ibis": lambda here: ibis.duckdb.connect(here / "people.db", read_only=True).table("people"),
    "ibis-view": lambda here: (lambda t: t.filter(t.id > 0).select("id", "name", "pay"))(
        ibis.duckdb.connect(here / "people.db", read_only=True).table("people")
    ),
}


@pytest.mark.parametrize("name", SOURCES)
def test_every_source_gives_the_same_rows(files: Path, name: str) -> None:
    data = dataset("people", SOURCES[name](files), unit="id", columns={"pay": bounds(0, 100)})
    assert data.engine == "duckdb"
    assert rows(data) == PEOPLE.sort_by("id").to_pylist()
    assert CANARY not in repr(data) + data._repr_html_() + repr(data.declaration) + str(data.schema)


@pytest.mark.parametrize("name", ["people.csv", "people.tsv", "people.csv.gz"])
def test_text_files_are_read_as_declared_and_nothing_is_guessed(files: Path, name: str) -> None:
    data = dataset("people", files / name, unit="id", columns={"pay": bounds(0, 100), "id": column(kind="integer")})
    assert rows(data) == PEOPLE.sort_by("id").to_pylist()
    (files / "people.csv").with_name("more.csv").write_text("id,name,pay\n3,d,1\n")
    assert len(rows(dataset("people", f"{files}/*.csv", unit="id"))) == 4
    plain = dataset("people", files / name, unit="id")
    assert {each.kind.value for each in plain.schema.tables["people"].columns.values()} == {"text"}
    assert rows(plain)[0] == {"id": "1", "name": CANARY, "pay": "10.5"}


def test_a_bad_line_of_a_text_file_harms_only_itself(tmp_path: Path) -> None:
    good = ["1,2.5,2024-02-29,2024-02-29 12:00:00", "2,many,2024-02-30,never", "5,,,", "7,1e999,infinity,infinity"]
    bad = [
        b"3",
        b"4,1,,,,",
        b"6,\xff\xfe,,",
        b'8,"un"q,1,2',
        b'9,"open,,',
        b'10,a"b,,',
        b"11,\x1f,,",
        b"",
        b"x" * 3_000_000,
    ]
    first, *rest = good
    file = tmp_path / "odd.csv"
    declared = {"x": bounds(0, 9), "day": column(kind="date"), "seen": column(kind="timestamp")}
    file.write_bytes(b"\n".join([b"id,x,day,seen", first.encode(), *bad, *map(str.encode, rest), b""]))
    expected = {
        "1": (2.5, "2024-02-29", "2024-02-29 12:00:00"),
        "2": (None, "None", "None"),
        "5": (None, "None", "None"),
        "7": (float("inf"), "None", "None"),
    }
    data = dataset("odd", file, unit="id", columns=declared)
    assert {row["id"]: (row["x"], str(row["day"]), str(row["seen"])) for row in rows(data)} == expected
    assert data.table("odd").count().to_pyarrow().as_py() == len(good)


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_quotes_in_text_files_are_read_by_the_book(tmp_path: Path, end: str) -> None:
    values = ['say ""no""', "a,b", "", "Å|ß", "'", "x" * 100_000, " y "]
    lines = [
        '\ufeff"id",a""b,"c,d"'.replace('a""b', '"a""b"'),
        *(f'"{n}","{value}",{n}' for n, value in enumerate(values)),
    ]
    (tmp_path / "it's.csv").write_text(end.join(lines) + end, newline="")
    data = dataset("quoted", tmp_path / "it's.csv", unit="id", columns={"c,d": column(kind="integer")})
    read = [value.replace('""', '"') or None for value in values]
    assert rows(data) == [{"id": str(n), 'a"b': value, "c,d": n} for n, value in enumerate(read)]


def test_the_files_of_a_pattern_are_those_of_the_declaration(files: Path) -> None:
    data = dataset("people", f"{files}/parts/*.parquet", unit="id")
    pq.write_table(PEOPLE, files / "parts" / "later.parquet")
    assert len(rows(data)) == 3


def test_paths_are_kept_when_the_working_directory_changes(files: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(files)
    data = dataset("people", "people.parquet", unit="id")
    monkeypatch.chdir("/")
    assert len(rows(data)) == 3


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda here: here / "nobody.parquet", "no file matches"),
        (lambda here: f"{here}/none/*.parquet", "no file matches"),
        (lambda here: here / "parts", "is a directory; name its files"),
        (lambda here: here / "people.db", "is of no known format"),
        (lambda here: [f"{here}/*.csv*", (here / "b.csv").write_text("id,other\n1,2\n")][0], "another header"),
        (lambda here: [f"{here}/people.*", (here / "people.db").unlink()][0], "must be of one format"),
        (lambda here: [f"{here}/x.csv", (here / "x.csv").write_text("")][0], "must name every column"),
        (lambda here: [f"{here}/x.csv", (here / "x.csv").write_text("a,,b\n")][0], "must name every column"),
        (lambda here: [f"{here}/x.csv", (here / "x.csv").write_text("a,A\n")][0], "must name every column"),
        (lambda here: [f"{here}/x.csv", (here / "x.csv").write_bytes(b"\xff\xfe")][0], "is not written in UTF-8"),
        (lambda here: [f"{here}/x.csv", (here / "x.csv").write_text('a,"b\n')][0], "cannot be read as CSV"),
        (lambda here: [f"{here}/x.csv.gz", (here / "x.csv.gz").write_bytes(b"no")][0], "cannot be read as CSV"),
        (lambda here: [f"{here}/x.parquet", (here / "x.parquet").write_bytes(b"no")][0], "cannot be read as Parquet"),
        (
            lambda here: [f"{here}/parts/*.parquet", (here / "parts" / "x.parquet").write_bytes(b"no")][0],
            "cannot be read as Parquet",
        ),
        (
            lambda here: [
                f"{here}/parts/*.parquet",
                pq.write_table(pa.table({"id": ["a"], "name": ["b"], "pay": [1.0]}), here / "parts" / "9.parquet"),
            ][0],
            "has other columns or types than",
        ),
        (
            lambda here: [here / "[a].parquet", pq.write_table(PEOPLE, here / "[a].parquet")][0].with_name(
                "?a?.parquet"
            ),
            "rename it",
        ),
        (lambda here: f"duckdb:///{here}/nobody.db", "there is no database file"),
        (lambda here: f"duckdb:///{here}/people.csv", "could not be opened for reading"),
        (lambda here: source(f"duckdb:///{here}/people.db", table="nobody"), "there is no table 'nobody'"),
        (lambda _: "mysql://root:hush@host/db", "begins with no known scheme"),
        (lambda _: "s3://bucket/trips.parquet", "begins with no known scheme"),
        (lambda _: "postgresql://ola:hush@127.0.0.1:1/db", "could not be reached"),
        (lambda _: None, "has no source"),
    ],
)
def test_what_cannot_be_opened_is_refused_with_a_remedy(files: Path, make: Callable[[Path], Any], words: str) -> None:
    with pytest.raises(ArgumentError) as refused:
        dataset("people", make(files), unit="id")
    assert words in refused.value.message
    assert refused.value.code == "SRD-A005"
    assert refused.value.__suppress_context__ or refused.value.__context__ is None
    assert CANARY not in str(refused.value)
    assert "hush" not in str(refused.value)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (7, "must be a path, a database URL"),
        (ibis.table({"id": "int64"}, name="unbound"), "bound to no connection"),
        (pd.DataFrame({1: [1]}), "must have texts as names"),
        (pd.DataFrame([[1, 2]], columns=["id", "id"]), "must have texts as names"),
        (pd.DataFrame({"id": [1, CANARY]}), "holds values of different kinds"),
    ],
    ids=["number", "unbound", "names", "twice", "mixed"],
)
def test_what_is_no_source_is_refused(given: Any, words: str) -> None:
    with pytest.raises(ArgumentError) as refused:
        dataset("people", given, unit="id")
    assert words in refused.value.message
    assert CANARY not in str(refused.value)


@pytest.mark.parametrize(
    ("build", "words"),
    [
        (lambda: source(3), "a database URL or a Spark session"),
        (lambda: source("duckdb:///x", table=""), "table must be a name"),
        (lambda: source("duckdb:///x", schema=3), "schema must be a name"),  # type: ignore[arg-type]
    ],
)
def test_a_source_is_named_well(build: Callable[[], Any], words: str) -> None:
    with pytest.raises(ArgumentError, match=words):
        build()


def test_a_source_shows_no_password() -> None:
    assert "hush" not in repr(source("postgresql://ola:hush@host/db", table="people"))


@pytest.mark.parametrize(
    "view",
    [
        lambda t: t.group_by("id").aggregate(pay=t.pay.sum(), name=t.name.max()),
        lambda t: t.distinct(),
        lambda t: t.limit(2),
        lambda t: t.order_by("pay"),
        lambda t: t.union(t),
        lambda t: t.join(t.view(), "id"),
        lambda t: t.mutate(pay=t.pay.sum().over(ibis.window(group_by="name"))),
        lambda t: t.mutate(pay=t.pay - t.pay.mean()),
        lambda t: t.filter(t.pay > t.view().pay.mean().as_scalar()),
        lambda t: t.mutate(pay=ibis.random()),
        lambda t: t.filter(t.id.isin(t.view().id)),
        lambda t: t.sample(0.5),
        lambda t: ops.SQLQueryResult("SELECT * FROM people", t.schema(), t.get_backend()).to_expr(),
        lambda t: t.select("id", "name", "pay", n=ibis.array([1, 2]).unnest()),
    ],
)
def test_private_ibis_tables_are_views_row_by_row(files: Path, view: Callable[[Any], Any]) -> None:
    table = ibis.duckdb.connect(files / "people.db", read_only=True).table("people")
    with pytest.raises(QuestionError, match="need not be one person's own") as refused:
        dataset("people", view(table), unit="id")
    assert refused.value.code == "SRD-Q203"


def test_public_ibis_tables_may_be_any_view(files: Path) -> None:
    connection = ibis.duckdb.connect(files / "people.db", read_only=True)
    table = connection.table("people")
    data = dataset("staff", {"people": private(table), "ids": public(table.select("id").distinct())}, unit=ROW)
    assert rows(data, "ids") == [{"id": 1}, {"id": 2}]


def test_postgres_needs_its_driver(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "psycopg", None)
    with pytest.raises(ArgumentError, match=r"pip install 'sordino\[postgres\]'"):
        dataset("people", "postgresql://host/db", unit="id")


def test_postgres_by_its_url(postgres_engine: Engine) -> None:
    physical = postgres_engine.load("people", PEOPLE).get_name()
    data = dataset("people", source(postgres_engine.url, table=physical), unit="id")
    assert data.engine == "postgres"
    assert rows(data) == PEOPLE.sort_by("id").to_pylist()
    with pytest.raises(ArgumentError, match="there is no table 'people'"):
        dataset("people", postgres_engine.url, unit="id")


def test_postgres_tables_share_one_connection(postgres_engine: Engine) -> None:
    names = [postgres_engine.load("people", PEOPLE).get_name() for _ in range(2)]
    one, two = (private(source(postgres_engine.url, table=name, schema="public"), unit="id") for name in names)
    data = dataset("staff", {"one": one, "two": two}, unit="person")
    assert data.table("one").get_backend() is data.table("two").get_backend()
    joined = data.table("one").join(data.table("two"), "id")
    assert joined.count().to_pyarrow().as_py() == 5


def test_nanoseconds_with_a_zone_are_times_in_utc() -> None:
    moments = pd.to_datetime(["2026-01-01 23:30:00.000000001", None]).tz_localize("UTC").tz_convert("Asia/Tokyo")
    data = dataset("times", pd.DataFrame({"id": [1, 2], "seen": moments.as_unit("ns")}), unit="id")
    assert [row["seen"] for row in rows(data)] == [datetime(2026, 1, 1, 23, 30), None]


def test_no_text_of_a_question_becomes_sql_whatever_postgres_was_set_to(postgres_engine: Engine) -> None:
    assert postgres_engine.url is not None
    mark = "&" if "?" in postgres_engine.url else "?"
    url = f"{postgres_engine.url}{mark}options=-cstandard_conforming_strings%3Doff"
    physical = postgres_engine.load("people", PEOPLE).get_name()
    data = dataset("people", source(url, table=physical), unit="id", limits=so.limits(rows=1))
    budget = so.account(data, so.unlimited("made up"))
    answer = budget.sql("SELECT COUNT(*) AS n FROM people WHERE name IN ('\\', ') OR 1=1 --')").run(epsilon=1000)
    assert abs(answer["n"][0]) < 1


def test_spark_by_its_session_and_by_a_frame(spark_engine: Engine) -> None:
    table, session = spark_engine.load("people", PEOPLE), spark_engine.backend._session
    for given in (source(session, table=table.get_name()), session.table(table.get_name()), table):
        data = dataset("people", given, unit="id", columns={"pay": bounds(0, 100)})
        assert data.engine == "spark"
        assert rows(data) == PEOPLE.sort_by("id").to_pylist()
    with pytest.raises(ArgumentError, match="there is no table 'nobody' in the Spark session"):
        dataset("nobody", source(session), unit="id")


def test_spark_means_the_same_whatever_it_was_set_to(spark_engine: Engine) -> None:
    session = spark_engine.backend._session
    moment = datetime(2026, 1, 1, 23, 30)
    table = spark_engine.load("people", pa.table({"id": [1], "seen": [moment], "name": ["\\"]}))
    session.conf.set("spark.sql.session.timeZone", "Asia/Tokyo")
    session.conf.set("spark.sql.parser.escapedStringLiterals", "true")
    data = dataset("people", table, unit="id", limits=so.limits(rows=1))
    asked = "SELECT COUNT(*) AS n FROM people WHERE seen = '2026-01-01 23:30:00' AND name = '\\'"
    assert abs(so.account(data, so.unlimited("made up")).sql(asked).run(epsilon=1000)["n"][0] - 1) < 0.5


@pytest.mark.parametrize("kind", ["arrow", "file"])
def test_public_tables_come_to_where_the_private_ones_are(engine: Engine, files: Path, kind: str) -> None:
    pq.write_table(PLACES, files / "places.parquet")
    places = PLACES if kind == "arrow" else files / "places.parquet"
    private_one = private(engine.load("people", PEOPLE), unit="id")
    data = dataset("staff", {"people": private_one, "places": public(places)}, unit="person")
    assert data.engine == engine.name
    assert rows(data, "places") == PLACES.sort_by("code").to_pylist()
    crossed = data.table("people").cross_join(data.table("places"))
    assert crossed.count().to_pyarrow().as_py() == 6


def test_public_text_files_are_typed_wherever_they_go(engine: Engine, files: Path) -> None:
    (files / "rates.csv").write_text("id,rate\n1,0.5\n2,much\nnone,1\n")
    tables = {
        "people": private(engine.load("people", PEOPLE), unit="id"),
        "rates": public(files / "rates.csv", columns={"id": column(kind="integer"), "rate": bounds(0, 1)}),
    }
    data = dataset("staff", tables, unit="person")
    assert data.schema.tables["rates"].columns["id"].kind is Kind.INTEGER
    found = sorted(rows(data, "rates"), key=lambda row: row["id"] or 9)
    assert found == [{"id": 1, "rate": 0.5}, {"id": 2, "rate": None}, {"id": None, "rate": 1.0}]


def test_private_frames_never_move(engine: Engine) -> None:
    tables = {"people": private(engine.load("people", PEOPLE), unit="id"), "more": private(PEOPLE, unit="id")}
    with pytest.raises(QuestionError, match="'more' is private and comes from a file or a frame") as refused:
        dataset("staff", tables, unit="person")
    assert refused.value.code == "SRD-Q204"


def test_private_tables_on_two_connections_are_refused() -> None:
    made = [ibis.duckdb.connect() for _ in range(2)]
    one, two = (private(each.create_table("people", PEOPLE), unit="id") for each in made)
    with pytest.raises(QuestionError, match="are on different connections"):
        dataset("staff", {"one": one, "two": two}, unit="person")


@pytest.mark.parametrize("engine", ["sqlite", "polars"])
def test_engines_on_which_nothing_was_proven_are_refused_with_the_way_out(engine: str, tmp_path: Path) -> None:
    table = getattr(ibis, engine).connect().create_table("people", PEOPLE)
    for declared in (table, table.filter(table.pay > 1).select("id", "pay")):
        with pytest.raises(QuestionError, match=f"are on {engine}; .* by to_parquet") as refused:
            dataset("people", declared, unit="id")
        assert refused.value.code == "SRD-Q204"
        assert CANARY not in str(refused.value)
    table.to_parquet(tmp_path / "people.parquet")
    assert rows(dataset("people", tmp_path / "people.parquet", unit="id")) == PEOPLE.sort_by("id").to_pylist()


def test_files_may_stand_beside_a_database_file(files: Path) -> None:
    tables = {"people": private(f"duckdb:///{files}/people.db", unit="id"), "places": public(PLACES)}
    tables["parts"] = private(f"{files}/parts/*.parquet", unit="id", columns={"name": keys(["b", "c"])})
    data = dataset("staff", tables, unit="person")
    assert len(rows(data, "people")) == len(rows(data, "parts")) == 3
    assert rows(data, "places") == PLACES.sort_by("code").to_pylist()


@pytest.mark.parametrize(
    "attempt",
    [
        "SELECT * FROM read_csv('{here}/people.csv')",
        "SELECT * FROM '{here}/parts/0.parquet'",
        "SELECT * FROM read_text('/etc/hostname')",
        "SELECT * FROM glob('{here}/*')",
        "COPY (SELECT 1) TO '{here}/out.csv'",
        "ATTACH '{here}/other.db' AS other",
        "ATTACH '{here}/fresh.db' AS other",
        "INSTALL httpfs",
        "LOAD httpfs",
        "SET enable_external_access = true",
        "SET lock_configuration = false",
        "SET allowed_paths = ['/']",
        "SET temp_directory = '{here}'",
        "EXPORT DATABASE '{here}/out'",
        "SELECT * FROM frame_in_python",
    ],
)
@pytest.mark.parametrize("kind", ["parquet", "frame", "database"])
def test_the_embedded_engine_is_locked(files: Path, attempt: str, kind: str) -> None:
    frame_in_python = PEOPLE  # noqa: F841  (DuckDB would find it by its name)
    given = {"parquet": files / "people.parquet", "frame": PEOPLE, "database": f"duckdb:///{files}/people.db"}[kind]
    data = dataset("people", given, unit="id")
    with pytest.raises(duckdb.Error):
        data.backend.con.execute(attempt.format(here=files)).fetchall()
    assert len(rows(data)) == 3
    assert not (files / "out.csv").exists()


def test_nothing_is_spilled_to_disk() -> None:
    local = LocalTables()
    local.backend.con.execute("SET memory_limit = '60MB'; SET threads = 1")
    local.lock()
    with pytest.raises(duckdb.OutOfMemoryException):
        local.backend.con.execute("SELECT count(DISTINCT i || 'CANARY') FROM range(2_000_000) AS t(i)").fetchall()


def test_the_errors_of_an_engine_are_not_passed_on(files: Path) -> None:
    (files / "people.parquet").write_bytes((files / "people.parquet").read_bytes()[:40])
    with pytest.raises(SordinoError) as refused:
        dataset("people", files / "people.parquet", unit="id")
    assert refused.value.__cause__ is None
    assert refused.value.__suppress_context__
