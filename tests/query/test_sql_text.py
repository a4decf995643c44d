"""From text to one statement: what never gets through, limits on size and depth, BigQuery's options."""

# ruff: noqa: S608  (these texts are read, never run)

from __future__ import annotations

import logging
from fractions import Fraction

import pytest

from query.sql_schemas import SHOP, ask, ask_rows
from sordino.errors import ArgumentError, QuestionError, SordinoError
from sordino.query.model.question import Options
from sordino.query.sql.parse import parse

NEVER = {
    "file function": "SELECT COUNT(*) FROM read_parquet('x.parquet')",
    "file function in a join": "SELECT COUNT(*) FROM orders JOIN read_csv('x') c ON orders.zone = c.zone",
    "file function in an expression": "SELECT COUNT(*) FROM orders WHERE zone = read_text('/etc/passwd')",
    "file as a table": "SELECT COUNT(*) FROM 'file.csv'",
    "quoted file as a table": 'SELECT COUNT(*) FROM "data/file.parquet"',
    "url as a table": "SELECT COUNT(*) FROM 'https://example.org/x.parquet'",
    "pragma": "PRAGMA database_list",
    "pragma function": "SELECT COUNT(*) FROM pragma_storage_info('orders')",
    "copy": "COPY orders TO 'x.csv'",
    "copy of a query": "COPY (SELECT * FROM orders) TO 'x.csv'",
    "export": "EXPORT DATABASE 'x'",
    "attach": "ATTACH 'x.db' AS x",
    "install": "INSTALL httpfs",
    "load": "LOAD httpfs",
    "set": "SET memory_limit = '1GB'",
    "multi-statement": "SELECT COUNT(*) FROM orders; DROP TABLE orders",
    "multi-statement behind a comment": "SELECT COUNT(*) FROM orders /* x */; /* y */ SELECT COUNT(*) FROM orders",
    "empty statement between": "SELECT COUNT(*) FROM orders;; SELECT 1",
    "comment that hides a quote": "SELECT COUNT(*) FROM orders WHERE zone = 'a' -- '\n ; DROP TABLE orders",
    "comment within a name": "SELECT COUNT(*) FROM read/**/_parquet('x')",
    "comment that makes a function anonymous": "SELECT COUNT(*) FROM orders WHERE random() /* sqlglot.anonymous */ < 1",
    "open comment": "SELECT COUNT(*) FROM orders /* no end",
    "open quote": "SELECT COUNT(*) FROM orders WHERE zone = 'a",
    "explain": "EXPLAIN SELECT COUNT(*) FROM orders",
    "explain analyze": "EXPLAIN ANALYZE SELECT COUNT(*) FROM orders",
    "summarize": "SUMMARIZE orders",
    "summarize as a source": "SELECT COUNT(*) FROM (SUMMARIZE orders)",
    "describe": "DESCRIBE orders",
    "describe as a source": "SELECT COUNT(*) FROM (DESCRIBE orders)",
    "show": "SHOW TABLES",
    "query()": "SELECT COUNT(*) FROM query('SELECT * FROM orders')",
    "query_table()": "SELECT COUNT(*) FROM query_table('orders')",
    "error()": "SELECT COUNT(*) FROM orders WHERE error(zone) IS NULL",
    "raise_error()": "SELECT SUM(CASE WHEN amount > 5 THEN raise_error('x') ELSE 0 END) FROM orders",
    "information_schema": "SELECT COUNT(*) FROM information_schema.tables",
    "pg_catalog": "SELECT COUNT(*) FROM pg_catalog.pg_class",
    "duckdb_tables()": "SELECT COUNT(*) FROM duckdb_tables()",
    "duckdb_settings view": "SELECT COUNT(*) FROM duckdb_settings",
    "sqlite_master": "SELECT COUNT(*) FROM sqlite_master",
    "random()": "SELECT COUNT(*) FROM orders WHERE RANDOM() < 0.5",
    "random() as a key": "SELECT COUNT(*) FROM orders GROUP BY FLOOR(RANDOM() * 10)",
    "uuid()": "SELECT COUNT(DISTINCT uuid()) FROM orders",
    "now()": "SELECT COUNT(*) FROM orders WHERE at < NOW()",
    "current_date": "SELECT COUNT(*) FROM orders WHERE day < CURRENT_DATE",
    "current_date()": "SELECT COUNT(*) FROM orders WHERE day < CURRENT_DATE()",
    "current_timestamp": "SELECT COUNT(*) FROM orders WHERE at < CURRENT_TIMESTAMP",
    "localtime": "SELECT COUNT(*) FROM orders WHERE at < LOCALTIMESTAMP",
    "current_user": "SELECT COUNT(*) FROM orders WHERE zone = CURRENT_USER",
    "session_user": "SELECT COUNT(*) FROM orders WHERE zone = SESSION_USER",
    "getenv()": "SELECT COUNT(*) FROM orders WHERE zone = getenv('HOME')",
    "version()": "SELECT COUNT(*) FROM orders WHERE zone = version()",
    "current_setting()": "SELECT COUNT(*) FROM orders WHERE zone = current_setting('x')",
    "pg_sleep()": "SELECT COUNT(*) FROM orders WHERE pg_sleep(10) IS NULL",
    "nextval()": "SELECT SUM(nextval('s')) FROM orders",
    "pg_read_file()": "SELECT COUNT(*) FROM orders WHERE zone = pg_read_file('x')",
    "java_method()": "SELECT COUNT(*) FROM orders WHERE zone = java_method('a', 'b')",
    "insert": "INSERT INTO orders SELECT * FROM orders",
    "insert in with": "WITH x AS (INSERT INTO orders SELECT * FROM orders RETURNING *) SELECT COUNT(*) FROM x",
    "update": "UPDATE orders SET zone = 'a'",
    "delete": "DELETE FROM orders",
    "create": "CREATE TABLE x AS SELECT * FROM orders",
    "select into": "SELECT COUNT(*) INTO x FROM orders",
    "call": "CALL f()",
    "prepare": "PREPARE x AS SELECT 1",
    "table": "TABLE orders",
    "values": "VALUES (1)",
    "from first without select": "FROM orders",
    "lambda": "SELECT SUM(list_transform([1], x -> x + 1)) FROM orders",
    "system variable": "SELECT COUNT(*) FROM orders WHERE zone = @@version",
    "hint": "SELECT /*+ BROADCAST(orders) */ * FROM orders",
    "jinja": "SELECT COUNT(*) FROM {{ table }}",
}


@pytest.mark.parametrize("name", sorted(NEVER))
def test_never_gets_through(name: str, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]) -> None:
    with caplog.at_level(logging.DEBUG), pytest.raises(QuestionError) as caught:
        ask(NEVER[name])
    assert caught.value.code.startswith("SRD-Q1")
    assert not caplog.records, "the text is nobody's to log"
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("text", ["", " ", ";", ";;", "-- nothing", "/* nothing */"])
def test_empty_questions(text: str) -> None:
    with pytest.raises(QuestionError, match="empty") as caught:
        ask(text)
    assert caught.value.code == "SRD-Q101"


@pytest.mark.parametrize("text", [None, 5, b"SELECT 1", ["SELECT 1"]])
def test_a_question_is_a_text(text: object) -> None:
    with pytest.raises(ArgumentError) as caught:
        parse(text, SHOP)  # type: ignore[arg-type]
    assert caught.value.code == "SRD-A001"


def test_errors_of_syntax_are_short_and_plain() -> None:
    with pytest.raises(QuestionError) as caught:
        ask("SELECT COUNT(* FROM orders WHERE " + "x" * 5000)
    assert "\x1b" not in str(caught.value)
    assert len(str(caught.value)) < 400
    assert caught.value.code == "SRD-Q101"


def test_comments_vanish() -> None:
    assert ask("-- one\nSELECT /* two */ COUNT(*) -- three\nFROM orders;") == ask("SELECT COUNT(*) FROM orders")


DEEP = {
    "parentheses": lambda n: "SELECT SUM(" + "(" * n + "amount" + ")" * n + ") FROM orders",
    "not": lambda n: "SELECT COUNT(*) FROM orders WHERE " + "NOT " * n + "paid",
    "minus": lambda n: "SELECT SUM(" + "- " * n + "amount) FROM orders",
    "differences": lambda n: "SELECT SUM(amount" + " - amount" * n + ") FROM orders",
    "functions": lambda n: "SELECT SUM(" + "ABS(" * n + "amount" + ")" * n + ") FROM orders",
    "subqueries": lambda n: "SELECT COUNT(*) FROM " + "(SELECT * FROM " * n + "orders" + ")" * n,
    "case": lambda n: "SELECT SUM(" + "CASE WHEN paid THEN " * n + "amount" + " END" * n + ") FROM orders",
    "open": lambda n: "SELECT " + "(" * n,
    "brackets": lambda n: "SELECT " + "[" * n,
    "between": lambda n: "SELECT COUNT(*) FROM orders WHERE " + "(" * n + "paid" + " BETWEEN FALSE AND TRUE)" * n,
    "is true": lambda n: "SELECT COUNT(*) FROM orders WHERE " + "(" * n + "paid" + " IS TRUE)" * n,
    "powers": lambda n: "SELECT SUM(" + "POWER(" * n + "amount" + ", 2)" * n + ") FROM orders",
    "names": lambda n: (
        "WITH a0 AS (SELECT * FROM orders)"
        + "".join(f", a{i} AS (SELECT * FROM a{i - 1} UNION ALL SELECT * FROM a{i - 1})" for i in range(1, n))
        + f" SELECT COUNT(*) FROM a{n - 1}"
    ),
    "joins": lambda n: (
        "SELECT COUNT(*) FROM orders " + " ".join(f"JOIN zones z{i} ON orders.zone = z{i}.zone" for i in range(n))
    ),
}


@pytest.mark.parametrize("name", sorted(DEEP))
@pytest.mark.parametrize("depth", [70, 1000])
def test_depth_is_refused_cleanly(name: str, depth: int) -> None:
    with pytest.raises(QuestionError) as caught:
        ask(DEEP[name](depth))
    assert caught.value.code == "SRD-Q101"


@pytest.mark.parametrize("name", sorted(set(DEEP) - {"open", "brackets", "powers"}))
def test_some_depth_is_fine(name: str) -> None:
    ask(DEEP[name](6))


@pytest.mark.parametrize(
    "text",
    [
        "SELECT COUNT(*) FROM orders WHERE " + " AND ".join(["paid"] * 300),
        "SELECT COUNT(*) FROM orders WHERE " + " OR ".join(["paid"] * 300),
        "SELECT SUM(" + " + ".join(["amount"] * 300) + ") FROM orders",
        "SELECT COUNT(*) FROM orders WHERE order_id IN (" + ", ".join(map(str, range(10_000))) + ")",
        "SELECT COUNT(*) FROM (" + " UNION ALL ".join(["SELECT zone FROM orders"] * 100) + ")",
    ],
    ids=["and", "or", "sum", "in", "union"],
)
def test_long_lists_are_fine(text: str) -> None:
    ask(text)


@pytest.mark.parametrize(
    ("text", "limit"),
    [
        ("SELECT COUNT(*) FROM orders" + " " * 100_000, "100,000"),
        ("SELECT COUNT(*) FROM orders WHERE order_id IN (" + ", ".join(map(str, range(10_001))) + ")", "10,000"),
        ("SELECT COUNT(*) FROM (SELECT " + ", ".join(["zone"] * 1001) + " FROM orders)", "1,000"),
        ("SELECT COUNT(*) FROM orders WHERE order_id IN (1" + ",1" * 30_000 + ")", "too many parts"),
    ],
    ids=["text", "in", "columns", "nodes"],
)
def test_size_is_limited(text: str, limit: str) -> None:
    with pytest.raises(QuestionError) as caught:
        ask(text)
    assert limit in str(caught.value)


def test_no_error_repeats_a_long_name() -> None:
    for text in ("SELECT COUNT(*) FROM {}", "SELECT SUM({}) FROM orders", "SELECT {}(amount) FROM orders"):
        with pytest.raises(QuestionError) as caught:
            ask(text.format("x" * 50_000))
        assert len(str(caught.value)) < 400


# BigQuery's options

CLAUSE = "SELECT WITH DIFFERENTIAL_PRIVACY {} city, COUNT(*) AS n FROM customers GROUP BY city"


@pytest.mark.parametrize(
    ("clause", "options"),
    [
        ("", Options()),
        ("OPTIONS()", Options()),
        ("OPTIONS(epsilon = 1.5, delta = 1e-7)", Options(Fraction(3, 2), Fraction(1, 10**7))),
        ("options(EPSILON=0.1,max_groups_contributed=3)", Options(Fraction(1, 10), groups=3)),
        ("OPTIONS(max_rows_contributed=5, max_rows_per_group=2)", Options(rows=5, rows_per_group=2)),
        ("OPTIONS(delta=0, privacy_unit_column=customer_id)", Options(delta=Fraction(0))),
        ("OPTIONS(privacy_unit_column=customers.customer_id /* this */)", Options()),
        ("OPTIONS(privacy_unit_column=`customer_id`)", Options()),
    ],
)
def test_options(clause: str, options: Options) -> None:
    question = ask(CLAUSE.format(clause))
    assert question.options == options
    assert [output.name for output in question.outputs] == ["city", "n"]


def test_the_clause_brings_the_dialect() -> None:
    question = ask(
        "WITH t AS (SELECT customer_id, DATE_TRUNC(day, MONTH) AS m, amount FROM `orders`) # all orders\n"
        "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1) m, COUNTIF(amount > 5) FROM t "
        'WHERE m > "2026-01-31" GROUP BY m'
    )
    assert question.keys[0].name == "m"
    assert question.options.epsilon == 1


@pytest.mark.parametrize(
    "text",
    [
        "SELECT COUNT(*) FROM orders WHERE zone = 'SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1)'",
        "SELECT COUNT(*) FROM orders -- SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1)",
    ],
)
def test_quotes_and_comments_cannot_imitate_the_clause(text: str) -> None:
    assert ask(text).options == Options()


@pytest.mark.parametrize(
    ("clause", "remedy", "code"),
    [
        ("OPTIONS(epsilon=0)", "greater than 0", "SRD-A002"),
        ("OPTIONS(epsilon=-1)", "greater than 0", "SRD-A002"),
        ("OPTIONS(epsilon='1; DROP')", "decimal", "SRD-A001"),
        ("OPTIONS(epsilon=inf)", "finite", "SRD-A001"),
        ("OPTIONS(epsilon=1e999)", "absurdly", "SRD-A002"),
        ("OPTIONS(delta=1)", "below 1", "SRD-Q108"),
        ("OPTIONS(delta=-1)", "at least 0", "SRD-A002"),
        ("OPTIONS(max_groups_contributed=0)", "at least 1", "SRD-A002"),
        ("OPTIONS(max_groups_contributed=1.5)", "whole number", "SRD-Q108"),
        ("OPTIONS(max_groups_contributed=NULL)", "whole number", "SRD-Q108"),
        ("OPTIONS(epsilon=1, epsilon=2)", "twice", "SRD-Q108"),
        ("OPTIONS(epsilom=1)", "there are epsilon", "SRD-Q108"),
        ("OPTIONS(epsilon 1)", "OPTIONS(epsilon = 1", "SRD-Q108"),
        ("OPTIONS(epsilon=1", "OPTIONS(epsilon = 1", "SRD-Q108"),
        ("OPTIONS epsilon=1", "OPTIONS(epsilon = 1", "SRD-Q108"),
        ("OPTIONS(privacy_unit_column=city)", "customer_id", "SRD-Q108"),
    ],
)
def test_refused_options(clause: str, remedy: str, code: str) -> None:
    with pytest.raises(SordinoError) as caught:
        ask(CLAUSE.format(clause))
    assert remedy in str(caught.value)
    assert caught.value.code == code


@pytest.mark.parametrize(
    "text",
    [
        "SELECT COUNT(*) FROM (SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1) * FROM orders)",
        "SELECT WITH DIFFERENTIAL_PRIVACY COUNT(*) FROM (SELECT WITH DIFFERENTIAL_PRIVACY * FROM orders)",
    ],
)
def test_the_clause_belongs_to_the_outside(text: str) -> None:
    with pytest.raises(QuestionError, match="outermost") as caught:
        ask(text)
    assert caught.value.code == "SRD-Q108"


def test_rows_as_units_have_no_unit_column() -> None:
    with pytest.raises(QuestionError, match="single rows"):
        ask_rows("SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(privacy_unit_column=city) COUNT(*) FROM trips")
