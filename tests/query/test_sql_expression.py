"""What SQL says about one row is read as it stands, kinds checked, constants settled."""

# ruff: noqa: S608  (these texts are read, never run)

from __future__ import annotations

from datetime import date, datetime
from typing import Any

import pyarrow as pa
import pytest

from query.engines import Engine
from query.sql_schemas import ask
from sordino.data.kinds import Kind, Range
from sordino.data.metadata import Column, OwnedByRow, Schema, Table
from sordino.errors import QuestionError
from sordino.query.engine.expressions import lower_expression
from sordino.query.model.expression import ColumnRef, Expression
from sordino.query.model.literals import as_kind, literal
from sordino.query.model.operations import call
from sordino.query.model.ranges import derive
from sordino.query.model.relation import Filter
from sordino.query.sql.parse import parse

AMOUNT = ColumnRef(Kind.REAL, "amount")
NUMBER = ColumnRef(Kind.INTEGER, "order_id")
DAY = ColumnRef(Kind.DATE, "day")
AT = ColumnRef(Kind.TIMESTAMP, "at")
ZONE = ColumnRef(Kind.TEXT, "zone")
PAID = ColumnRef(Kind.BOOLEAN, "paid")
NULL = literal(None)


def value(text: str) -> Expression:
    (aggregate,) = ask(f"SELECT COUNT(DISTINCT {text}) FROM orders").aggregates
    return aggregate.arguments[0]


def condition(text: str) -> Expression:
    relation = ask(f"SELECT COUNT(*) FROM orders WHERE {text}").relation
    assert isinstance(relation, Filter)
    return relation.condition


def case(test: Expression, then: Expression, otherwise: Expression) -> Expression:
    return call("case", test, then, otherwise)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("amount + 1", call("add", AMOUNT, literal(1))),
        ("amount - order_id", call("subtract", AMOUNT, NUMBER)),
        ("amount * 0.1", call("multiply", AMOUNT, literal(0.1))),
        ("amount / 2", call("divide", AMOUNT, literal(2))),
        ("order_id % 2", call("modulo", NUMBER, literal(2))),
        ("MOD(order_id, 2)", call("modulo", NUMBER, literal(2))),
        ("amount ^ 2", call("power", AMOUNT, literal(2))),
        ("amount ** 2", call("power", AMOUNT, literal(2))),
        ("POWER(amount, -2)", call("power", AMOUNT, literal(-2))),
        ("-amount", call("negate", AMOUNT)),
        ("((amount))", AMOUNT),
        ("ABS(amount)", call("abs", AMOUNT)),
        ("SIGN(amount)", call("sign", AMOUNT)),
        ("FLOOR(amount)", call("floor", AMOUNT)),
        ("CEILING(amount)", call("ceil", AMOUNT)),
        ("ROUND(amount)", call("round", AMOUNT)),
        ("ROUND(amount, 0)", call("round", AMOUNT)),
        ("ROUND(amount, 2)", call("divide", call("round", call("multiply", AMOUNT, literal(100.0))), literal(100.0))),
        ("ROUND(amount, -1)", call("multiply", call("round", call("divide", AMOUNT, literal(10.0))), literal(10.0))),
        ("SQRT(amount)", call("sqrt", AMOUNT)),
        ("EXP(amount)", call("exp", AMOUNT)),
        ("LN(amount)", call("ln", AMOUNT)),
        ("LOG2(amount)", call("divide", call("ln", AMOUNT), literal(0.6931471805599453))),
        ("LEAST(amount, 5, order_id)", call("least", AMOUNT, literal(5), NUMBER)),
        ("GREATEST(amount, 0)", call("greatest", AMOUNT, literal(0))),
        ("COALESCE(zone, 'none')", call("coalesce", ZONE, literal("none"))),
        ("IFNULL(zone, 'none')", call("coalesce", ZONE, literal("none"))),
        ("NULLIF(order_id, 0)", call("nullif", NUMBER, literal(0))),
        ("LOWER(zone)", call("lower", ZONE)),
        ("upper(zone)", call("upper", ZONE)),
        ("TRIM(zone)", call("trim", ZONE)),
        ("LENGTH(zone)", call("length", ZONE)),
        ("zone || '-' || zone", call("concat", ZONE, literal("-"), ZONE)),
        ("CONCAT(zone, 'a')", call("concat", ZONE, literal("a"))),
        ("SUBSTRING(zone, 2)", call("substring", ZONE, detail=(2, None))),
        ("SUBSTR(zone, 2, 3)", call("substring", ZONE, detail=(2, 3))),
        ("LEFT(zone, 2)", call("substring", ZONE, detail=(1, 2))),
        ("CAST(order_id AS DOUBLE)", call("to_real", NUMBER)),
        ("CAST(order_id AS FLOAT64)", call("to_real", NUMBER)),
        ("amount::BIGINT", call("to_integer", AMOUNT)),
        ("TRY_CAST(zone AS INTEGER)", call("to_integer", ZONE)),
        ("CAST(order_id AS VARCHAR)", call("to_text", NUMBER)),
        ("CAST(at AS DATE)", call("to_date", AT)),
        ("DATE(at)", call("to_date", AT)),
        ("CAST(amount AS DOUBLE)", AMOUNT),
        ("YEAR(day)", call("date_part", DAY, detail="year")),
        ("EXTRACT(MONTH FROM day)", call("date_part", DAY, detail="month")),
        ("EXTRACT(isodow FROM day)", call("date_part", DAY, detail="weekday")),
        ("DATE_PART('doy', day)", call("date_part", DAY, detail="day_of_year")),
        ("HOUR(at)", call("date_part", AT, detail="hour")),
        ("DATE_TRUNC('month', day)", call("date_trunc", DAY, detail="month")),
        ("DATE_TRUNC(at, HOUR)", call("date_trunc", AT, detail="hour")),
        ("day + INTERVAL 3 DAY", call("add_days", DAY, detail=(3,))),
        ("INTERVAL '2' WEEK + day", call("add_days", DAY, detail=(14,))),
        ("day - INTERVAL 1 DAY", call("add_days", DAY, detail=(-1,))),
        ("day + INTERVAL (-2) DAY", None),
        ("day + 7", call("add_days", DAY, detail=(7,))),
        ("day - 7", call("add_days", DAY, detail=(-7,))),
        ("DATE_ADD(day, INTERVAL 3 DAY)", call("add_days", DAY, detail=(3,))),
        ("DATE_SUB(day, INTERVAL 3 DAY)", call("add_days", DAY, detail=(-3,))),
        ("day - DATE '2026-01-31'", call("days_between", DAY, literal(date(2026, 1, 31)))),
        ("DATE_DIFF('day', day, CAST(at AS DATE))", call("days_between", call("to_date", AT), DAY)),
        ("DATEDIFF(at, day, DAY)", call("days_between", call("to_date", AT), DAY)),
        ("CASE WHEN paid THEN 1 ELSE 0 END", case(PAID, literal(1), literal(0))),
        ("CASE WHEN paid THEN 1 END", case(PAID, literal(1), NULL)),
        ("CASE zone WHEN 'a' THEN 1 ELSE 2 END", case(call("equal", ZONE, literal("a")), literal(1), literal(2))),
        ("IF(paid, 1, 0)", case(PAID, literal(1), literal(0))),
        ("IFF(paid, 1, 0)", case(PAID, literal(1), literal(0))),
        ("SAFE_DIVIDE(amount, order_id)", call("divide", AMOUNT, NUMBER)),
    ],
)
def test_values(text: str, expected: Expression | None) -> None:
    if expected is None:
        with pytest.raises(QuestionError, match="INTERVAL 3 DAY"):
            value(text)
    else:
        assert value(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("paid", PAID),
        ("NOT paid", call("not", PAID)),
        ("amount = 5", call("equal", AMOUNT, literal(5))),
        ("amount <> 5", call("not_equal", AMOUNT, literal(5))),
        (
            "amount < 5 OR amount >= 9",
            call("or", call("less", AMOUNT, literal(5)), call("greater_equal", AMOUNT, literal(9))),
        ),
        ("5 <= amount", call("less_equal", literal(5), AMOUNT)),
        ("amount > -1", call("greater", AMOUNT, literal(-1))),
        (
            "amount BETWEEN 1 AND 2",
            call("and", call("greater_equal", AMOUNT, literal(1)), call("less_equal", AMOUNT, literal(2))),
        ),
        (
            "NOT (amount BETWEEN 1 AND 2)",
            call("not", call("and", call("greater_equal", AMOUNT, literal(1)), call("less_equal", AMOUNT, literal(2)))),
        ),
        ("zone IN ('a', 'b')", call("in", ZONE, detail=("a", "b"))),
        ("order_id NOT IN (1, -2)", call("not", call("in", NUMBER, detail=(1, -2)))),
        ("day IN ('2026-01-31')", call("in", DAY, detail=(date(2026, 1, 31),))),
        ("zone LIKE 'a%'", call("like", ZONE, detail="a%")),
        ("zone NOT LIKE 'a%'", call("not", call("like", ZONE, detail="a%"))),
        ("zone ILIKE 'A_'", call("ilike", ZONE, detail="A_")),
        ("STARTS_WITH(zone, 'a')", call("starts_with", ZONE, detail="a")),
        ("zone IS NULL", call("is_null", ZONE)),
        ("zone IS NOT NULL", call("not", call("is_null", ZONE))),
        ("paid IS TRUE", call("and", call("not", call("is_null", PAID)), PAID)),
        ("paid IS FALSE", call("and", call("not", call("is_null", PAID)), call("not", PAID))),
        ("day >= '2026-01-31'", call("greater_equal", DAY, literal(date(2026, 1, 31)))),
        ("day >= DATE '2026-01-31'", call("greater_equal", DAY, literal(date(2026, 1, 31)))),
        ("at < TIMESTAMP '2026-01-31 12:00:00'", call("less", AT, literal(datetime(2026, 1, 31, 12)))),
        ("at < '2026-01-31'", call("less", AT, literal(datetime(2026, 1, 31)))),
        ("paid AND (paid AND paid)", call("and", PAID, PAID, PAID)),
        ("NULL", call("coalesce", literal(None), literal(True)).arguments[0]),
        ("amount = 1 -- a comment; DROP TABLE orders", call("equal", AMOUNT, literal(1))),
        ("/* ; */ paid", PAID),
    ],
)
def test_conditions(text: str, expected: Expression) -> None:
    assert condition(text) == expected


def test_conditions_joined_by_and_become_one_filter() -> None:
    assert condition("paid AND amount > 1") == call("and", PAID, call("greater", AMOUNT, literal(1)))


def test_long_sums_and_products_become_shallow() -> None:
    for text in (" + ".join(["amount"] * 100), " * ".join(["amount"] * 15)):
        tree = value(text)
        assert sum(1 for node in tree.walk() if node == AMOUNT) == text.count("amount")


@pytest.mark.parametrize(
    ("text", "remedy", "code"),
    [
        ("amount > 'a'", "CAST", "SRD-Q104"),
        ("zone = NULL", "IS NULL", "SRD-Q104"),
        ("zone > NULL", "IS NULL", "SRD-Q104"),
        ("amount", "comparison", "SRD-Q104"),
        ("amount + paid > 1", "CASE WHEN", "SRD-Q104"),
        ("zone IN ('a', NULL)", "OR x IS NULL", "SRD-Q104"),
        ("zone IN (zone, 'a')", "x = a OR x = b", "SRD-Q104"),
        ("zone IN ()", "x = a OR x = b", "SRD-Q104"),
        ("zone LIKE zone", "LIKE 'a%'", "SRD-Q104"),
        ("zone LIKE 'a!%' ESCAPE '!'", "ESCAPE", "SRD-Q102"),
        ("zone LIKE 'a\\%'", "backslash", "SRD-Q104"),
        ("zone SIMILAR TO 'a'", "ILIKE", "SRD-Q102"),
        ("zone ~ 'a'", "ILIKE", "SRD-Q102"),
        ("paid IS zone", "write =", "SRD-Q102"),
        ("order_id & 1 = 1", "documentation", "SRD-Q102"),
        ("LOG(amount) > 1", "LOG10", "SRD-Q102"),
        ("DAYOFWEEK(day) = 1", "ISODOW", "SRD-Q102"),
        ("EXTRACT(dow FROM day) = 1", "ISODOW", "SRD-Q102"),
        ("EXTRACT(century FROM day) = 1", "YEAR", "SRD-Q104"),
        ("DATE_TRUNC('decade', day) = day", "year, quarter", "SRD-Q104"),
        ("DATE_TRUNC('hour', day) = day", "no hour", "SRD-Q104"),
        ("DATE_DIFF('decade', day, day) = 1", "'day'", "SRD-Q104"),
        ("DATE_DIFF(day, day, 1 + 1) = 1", "date", "SRD-Q104"),
        ("DATE_ADD(day, 3) = day", "INTERVAL 3 DAY", "SRD-Q104"),
        ("day + INTERVAL 3 FORTNIGHT = day", "seconds, minutes", "SRD-Q104"),
        ("day + INTERVAL 9999999999 DAY = day", "constant whole number", "SRD-Q104"),
        ("day + INTERVAL 999999 DAY = day", "100,000", "SRD-Q104"),
        ("at - 1 > at", "INTERVAL", "SRD-Q104"),
        ("INTERVAL 1 DAY = 1", "interval", "SRD-Q104"),
        ("CAST(amount AS DECIMAL(30, 20)) > 1", "15 digits", "SRD-Q104"),
        ("CAST(amount AS BLOB) > 1", "casts are possible", "SRD-Q104"),
        ("CAST(zone AS TIMESTAMP) > at", "only a constant", "SRD-Q104"),
        ("CAST('x' AS DATE) > day", "2026-01-31", "SRD-Q104"),
        ("day > '2026-02-30'", "2026-01-31", "SRD-Q104"),
        ("ROUND(amount, 99) > 1", "15 digits", "SRD-Q104"),
        ("ROUND(amount, amount) > 1", "constant whole number", "SRD-Q104"),
        ("ROUND(amount, 1, 2) > 1", "argument", "SRD-Q104"),
        ("SUBSTRING(zone, 0, 1) = 'a'", "start", "SRD-Q104"),
        ("STARTS_WITH(zone, zone)", "constant text", "SRD-Q104"),
        ("UPPER(amount) = 'A'", "VARCHAR", "SRD-Q104"),
        ("amount > ?", "value itself", "SRD-Q102"),
        ("amount > $1", "value itself", "SRD-Q102"),
        ("amount > :p", "value itself", "SRD-Q102"),
        ("amount > 1e400", "1e150", "SRD-Q104"),
        ("order_id > 99999999999999999999", "64 bits", "SRD-Q104"),
        ("amount = ANY (SELECT 1)", "x = a OR x = b", "SRD-Q102"),
        ("amount > ALL (SELECT 1)", "x > a AND x > b", "SRD-Q102"),
        ("zone COLLATE nocase = 'a'", "LOWER", "SRD-Q102"),
        ("at AT TIME ZONE 'UTC' = at", "time zone", "SRD-Q102"),
        ("[1, 2] = zone", "documentation", "SRD-Q102"),
        ("{'a': 1} = zone", "documentation", "SRD-Q102"),
        ("(amount, amount) = (1, 2)", "one value", "SRD-Q102"),
        ("SUM(amount) > 1", "HAVING", "SRD-Q102"),
        ("ROW_NUMBER() OVER (ORDER BY day) = 1", "subquery", "SRD-Q102"),
        ("main.abs(amount) > 1", "alone", "SRD-Q102"),
        ("orders.zone.x = 'a'", "", "SRD-Q102"),
        ("SQUARE(amount) > 1", "page on SQL", "SRD-Q103"),
        ("REGEXP_MATCHES(zone, 'a')", "LIKE", "SRD-Q102"),
        ("amount > (amount)::INTERVAL", "casts", "SRD-Q104"),
    ],
)
def test_refusals_name_the_remedy(text: str, remedy: str, code: str) -> None:
    with pytest.raises(QuestionError) as caught:
        condition(text)
    assert remedy in str(caught.value)
    assert caught.value.code == code


def test_a_clipped_number_has_bounds_and_stays_missing() -> None:
    known = {"x": Column(Kind.REAL), "n": Column(Kind.INTEGER), "sure": Column(Kind.REAL, nullable=False)}
    rows = Schema("s", {"t": Table("t", known, OwnedByRow())})

    def clipped(text: str) -> Expression:
        return parse(f"SELECT COUNT(DISTINCT {text}) FROM t", rows).aggregates[0].arguments[0]

    for name in ("CLIP", "clamp"):
        found = derive(clipped(f"{name}(x, -1, 2.5)"), known)
        assert (found.kind, found.range, found.nullable) == (Kind.REAL, Range.of(-1, 2.5), True)
    whole = derive(clipped("CLIP(n, 0, 10)"), known)
    assert (whole.kind, whole.range, whole.nullable) == (Kind.INTEGER, Range.of(0, 10), True)
    assert derive(clipped("CLIP(n, 0, 0.5)"), known).kind is Kind.REAL
    assert derive(clipped("CLIP(sure, 0, 1)"), known).range == Range.of(0, 1)
    assert literal(None) not in [as_kind(each, Kind.INTEGER) for each in clipped("CLIP(sure, 0, 1)").parts]


ROW = {"x": None, "n": None}


@pytest.mark.parametrize(
    ("text", "row", "expected"),
    [
        ("CLIP(x, 0, 10)", {"x": 3.5}, 3.5),
        ("CLIP(x, 0, 10)", {"x": -3.5}, 0.0),
        ("CLIP(x, 0, 10)", {"x": 12.0}, 10.0),
        ("CLIP(x, 0, 10)", {"x": None}, None),
        ("CLIP(x, 0, 10)", {"x": float("nan")}, None),
        ("CLIP(x, 0, 10)", {"x": 1e300}, 10.0),
        ("CLIP(x, 0, 10)", {"x": float("inf")}, 10.0),
        ("CLIP(x, 0, 10)", {"x": float("-inf")}, 0.0),
        ("CLIP(n, 0, 10)", {"n": None}, None),
        ("CLIP(n, 0, 10)", {"n": 2**63 - 1}, 10),
        ("CLIP(n, -5, 10)", {"n": -7}, -5),
        ("CLIP(n, -5, 10)", {"n": 7}, 7),
        ("CLIP(x * 2, 0, 10)", {"x": 4.0}, 8.0),
        ("CLIP(x, n, 10)", {"x": 4.0, "n": 6}, 6.0),
        ("CLIP(x, n, 10)", {"x": 4.0, "n": None}, 4.0),
    ],
)
def test_what_is_clipped_on_every_engine(engine: Engine, text: str, row: dict[str, Any], expected: object) -> None:
    table = pa.table(
        {"x": pa.array([{**ROW, **row}["x"]], pa.float64()), "n": pa.array([{**ROW, **row}["n"]], pa.int64())}
    )
    loaded = engine.load("clipped", table)
    known = {"x": Column(Kind.REAL), "n": Column(Kind.INTEGER)}
    schema = Schema("s", {"t": Table("t", known, OwnedByRow())})
    (aggregate,) = parse(f"SELECT COUNT(DISTINCT {text}) FROM t", schema).aggregates
    lowered = lower_expression(aggregate.arguments[0], loaded, engine.backend.name)
    assert loaded.select(v=lowered).to_pyarrow()["v"].to_pylist() == [expected]


def test_a_clip_from_high_to_low_is_refused() -> None:
    with pytest.raises(QuestionError, match="10 is above 0; swap them") as caught:
        value("CLIP(amount, 10, 0)")
    assert caught.value.code == "SRD-Q104"
    with pytest.raises(QuestionError, match="CLIP takes 3 argument"):
        value("CLIP(amount, 10)")
    with pytest.raises(QuestionError, match="needs numbers"):
        value("CLIP(zone, 'a', 'b')")
