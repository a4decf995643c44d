"""Expressions mean the same in plain Python and on every engine, and no row makes an engine raise."""

from __future__ import annotations

import math
from datetime import date, datetime
from itertools import chain
from typing import Any

import ibis
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from query.engines import Engine
from query.lowering_expressions import expressions
from query.lowering_reference import evaluate
from query.lowering_rows import rows_of
from sordino.data.kinds import Kind
from sordino.errors import QuestionError
from sordino.query.engine.expressions import OPERATIONS, lower_expression
from sordino.query.model.expression import Call, ColumnRef, Expression
from sordino.query.model.literals import literal
from sordino.query.model.operations import DATE_PARTS, DATE_TRUNCATIONS, RULES, call

REALS = [0.0, -0.0, 1.0, -1.5, 2.5, 0.1, 5e-324, -2.2e-308, 1e-160, -1e-61, 1e15, -3e16, 1e59, -1e150, 1.7e308]
REALS += [math.nan, math.inf, -math.inf, None, 0.49999999999999994, 4503599627370497.5, -(2.0**53)]
INTEGERS = [0, 1, -1, 7, -7, 2**31, 2**53 + 1, 2**63 - 1, -(2**63), None, 1_000_003, -4]
TEXTS = ["", " ", "a", "A", "Zürich", "it's", 'say "hi"', "50%", "a_b", "back\\slash", "line\nfeed", "--; drop", None]
TEXTS += [
    "12",
    " -7 ",
    "1e3",
    ".5",
    "5.",
    "1e400",
    "1e-99",
    "12\n",
    "０",
    "nan",
    "2024-02-30",
    "2024-02-29",
    "0000-01-01",
]
TEXTS += ["9999-12-31", "0001-01-01", "1900-02-29", "2000-02-29 ", "😀 x", "999999999999999999", "9999999999999999999"]
DATES = [date(1, 1, 1), date(9999, 12, 31), date(2024, 2, 29), date(1970, 1, 1), date(1969, 12, 31), None]
DATES += [date(2021, 1, 3), date(2020, 12, 31), date(1582, 10, 4)]
TIMES = [datetime(1, 1, 1), datetime(9999, 12, 31, 23, 59, 59, 999999), datetime(2024, 2, 29, 13, 5, 7, 5), None]
TIMES += [datetime(1969, 12, 31, 23, 59, 59), datetime(2021, 1, 3, 0, 0), datetime(2020, 7, 15, 12, 30)]
BOOLEANS = [True, False, None]

HOSTILE: dict[str, tuple[Kind, list[Any], pa.DataType]] = {
    "i": (Kind.INTEGER, INTEGERS, pa.int64()),
    "j": (Kind.INTEGER, INTEGERS[::-1], pa.int64()),
    "x": (Kind.REAL, REALS, pa.float64()),
    "y": (Kind.REAL, REALS[::-1], pa.float64()),
    "s": (Kind.TEXT, TEXTS, pa.string()),
    "u": (Kind.TEXT, TEXTS[::-1], pa.string()),
    "d": (Kind.DATE, DATES, pa.date32()),
    "e": (Kind.DATE, DATES[::-1], pa.date32()),
    "m": (Kind.TIMESTAMP, TIMES, pa.timestamp("us")),
    "b": (Kind.BOOLEAN, BOOLEANS, pa.bool_()),
    "c": (Kind.BOOLEAN, BOOLEANS[::-1], pa.bool_()),
}
ROWS = [
    {name: values[(place + place // len(values)) % len(values)] for name, (_, values, _) in HOSTILE.items()}
    for place in range(150)
]
"""The quotient shifts the lists against each other, so that columns of one length meet in many ways."""

ROUGH = ("exp", "ln", "power")
"""What may differ in the last bit."""


@pytest.fixture(scope="session")
def hostile(engine: Engine) -> ibis.Table:
    columns = {name: pa.array([row[name] for row in ROWS], kind) for name, (_, _, kind) in HOSTILE.items()}
    return engine.load("hostile", pa.table({"n": pa.array(range(len(ROWS)), pa.int64()), **columns}))


def computed(engine: Engine, table: ibis.Table, expressions: list[Expression]) -> list[list[Any]]:
    """Return the values of each expression, row by row."""
    dialect = table.get_backend().name
    outputs = {f"r{place}": lower_expression(each, table, dialect) for place, each in enumerate(expressions)}
    fetched = rows_of(engine, table.select("n", **outputs))
    return [list(column) for column in zip(*(row[1:] for row in sorted(fetched, key=lambda row: row[0])), strict=True)]


def same(found: Any, expected: Any, rough: bool) -> bool:
    if found is None or expected is None:
        return found is expected
    if isinstance(expected, float):
        if math.isnan(expected):
            return math.isnan(found)
        return found == expected or (rough and math.isclose(found, expected, rel_tol=1e-14))
    return type(found) is type(expected) and found == expected


def check(engine: Engine, table: ibis.Table, expressions: list[Expression]) -> None:
    for expression, column in zip(expressions, computed(engine, table, expressions), strict=True):
        rough = any(isinstance(node, Call) and node.operation in ROUGH for node in expression.walk())
        for row, found in zip(ROWS, column, strict=True):
            expected = evaluate(expression, row)
            used = {name: row[name] for name in expression.columns}
            assert same(found, expected, rough), f"{expression} of {used} is {found!r}, not {expected!r}"


def column(name: str) -> ColumnRef:
    return ColumnRef(HOSTILE[name][0], name)


def every_operation() -> list[Expression]:
    """Return each operation on each kind of column that it takes, on its own."""
    i, j, x, y, s, u, d, e, m, b, c = map(column, "ijxysudembc")
    found: list[Expression] = []
    for name in ("add", "subtract", "multiply", "divide", "modulo", "power", "least", "greatest"):
        found += [
            call(name, *pair) for pair in ((i, j), (x, y), (i, x), (x, literal(2)), (literal(-0.5), y), (i, literal(7)))
        ]
    found += [call("modulo", i, literal(value)) for value in (-1, 0, 3)]
    for name in ("negate", "abs", "sqrt", "exp", "ln", "sign", "floor", "ceil", "round"):
        found += [call(name, argument) for argument in (i, x, literal(2.5))]
    for name in ("equal", "not_equal", "less", "less_equal", "greater", "greater_equal"):
        pairs = ((i, j), (x, y), (i, x), (s, u), (d, e), (b, c), (s, literal("a")), (d, literal(date(2020, 1, 1))))
        found += [call(name, *pair) for pair in (*pairs, (x, literal(1e150)), (m, literal(TIMES[2])))]
    found += [
        call("in", i, detail=(1, 7, -(2**63) + 1)),
        call("in", x, detail=(0.0, 2.5)),
        call("in", d, detail=tuple(DATES[:3])),
    ]
    found += [call("in", s, detail=tuple(text for text in TEXTS if text)), call("in", b, detail=(True,))]
    for name in ("like", "ilike"):
        found += [
            call(name, s, detail=text)
            for text in ("", "%", "a%", "%A", "%_%", "__", "50%", "it's", "%\n%", "z_rich", "_ x")
        ]
    found += [call("starts_with", s, detail=text) for text in ("", "a", "it'", "back\\", "%", "--", "😀")]
    found += [call("is_null", argument) for argument in (i, x, s, d, m, b)]
    found += [call("and", b, c), call("or", b, c), call("or", b, c, call("is_null", i)), call("not", b)]
    found += [
        call("case", b, i, c, x, literal(None)),
        call("case", b, s, literal("é'\\")),
        call("coalesce", i, j),
        call("coalesce", x, i),
    ]
    found += [
        call("coalesce", d, e),
        call("nullif", i, j),
        call("nullif", x, literal(0)),
        call("nullif", s, literal("a")),
        call("nullif", i, x),
    ]
    found += [call("to_real", argument) for argument in (i, x, s, b)] + [
        call("to_integer", argument) for argument in (i, x, s, b)
    ]
    found += [call("to_text", argument) for argument in (i, s, b, d)] + [
        call("to_date", argument) for argument in (s, d, m)
    ]
    found += [call(name, s) for name in ("lower", "upper", "trim", "length")] + [call("concat", s, literal("'\\"), u)]
    found += [call("substring", s, detail=detail) for detail in ((1, 2), (3, None), (2, 0), (100, 5), (1, 2**31 - 1))]
    found += [call("date_part", m, detail=part) for part in DATE_PARTS] + [
        call("date_trunc", m, detail=part) for part in DATE_TRUNCATIONS
    ]
    found += [call("date_part", d, detail=part) for part in DATE_PARTS if part not in ("hour", "minute", "second")]
    found += [call("date_trunc", d, detail=part) for part in DATE_TRUNCATIONS if part not in ("hour", "minute")]
    found += [call("add_days", d, detail=(days,)) for days in (0, 1, -1, 100_000, -100_000)] + [
        call("days_between", d, e)
    ]
    found += [call("add_months", each, detail=(n,)) for each in (d, m) for n in (0, 1, -1, 13, 119_988, -119_988)]
    found += [call("add_seconds", m, detail=(n,)) for n in (0, 1, -1, 86_400, 10**10, -(10**10))]
    moved = call("add_seconds", m, detail=(5_000,))
    found += [call("seconds_between", m, moved), call("seconds_between", call("to_timestamp", d), m)]
    found += [call("to_timestamp", each) for each in (d, m)]
    found += [call("right", s, detail=(n,)) for n in (0, 1, 3, 2**31 - 1)]
    found += [call("position", s, detail=text) for text in ("", "i", "'s", "\\", "%", "\n", "ü", "😀", "zz")]
    found += [
        call("replace", s, detail=pair) for pair in (("a", ""), (" ", "--"), ("'", "''"), ("\\", "/"), ("1", "😀" * 9))
    ]
    found += [call("split_part", s, detail=(text, n)) for text in (" ", "-", "'", ".") for n in (1, 2, 3, 9)]
    return found


def test_each_operation_by_itself(engine: Engine, hostile: ibis.Table) -> None:
    expressions = every_operation()
    assert {node.operation for node in chain(*(each.walk() for each in expressions)) if isinstance(node, Call)} == set(
        RULES
    )
    check(engine, hostile, expressions)


KINDS = {name: kind for name, (kind, _, _) in HOSTILE.items()}
anything = st.sampled_from(list(Kind)).flatmap(lambda kind: expressions(KINDS, kind))


EXAMPLES = {"duckdb": 25, "postgres": 15, "spark": 2}


def test_nested_operations(engine: Engine, hostile: ibis.Table) -> None:
    @settings(deadline=None, max_examples=EXAMPLES[engine.name], suppress_health_check=list(HealthCheck))
    @given(batch=st.lists(anything, min_size=20, max_size=20))
    def holds(batch: list[Expression]) -> None:
        check(engine, hostile, batch)

    holds()


def test_conditions_inside_of_comparisons_stay_in_one_piece(engine: Engine, hostile: ibis.Table) -> None:
    b, s, i = column("b"), column("s"), column("i")
    conditions = [call("not", b), call("like", s, detail="a%"), call("in", i, detail=(1, 7)), call("is_null", s)]
    conditions += [call("equal", b, column("c")), call("and", b, column("c")), call("less", i, literal(1))]
    batch: list[Expression] = [call("is_null", condition) for condition in conditions]
    batch += [call(name, b, condition) for condition in conditions for name in ("equal", "less")]
    batch += [call("not_equal", condition, b) for condition in conditions]
    batch += [call("in", condition, detail=(True,)) for condition in conditions]
    check(engine, hostile, batch + [call("not", condition) for condition in conditions])


def test_every_rule_has_a_lowering_and_nothing_else_has() -> None:
    assert set(OPERATIONS) == set(RULES)
    with pytest.raises(QuestionError, match="no operation 'shell'"):
        lower_expression(Call(Kind.TEXT, "shell", ()), ibis.table({"x": "float64"}, name="t"), "duckdb")


def test_plain_columns_and_integers_stay_lean() -> None:
    table = ibis.table({"x": "float64", "i": "int64"}, name="t")
    assert lower_expression(column("x"), table, "duckdb").equals(table.x)
    compared = lower_expression(call("less", column("i"), literal(3)), table, "duckdb")
    assert compared.equals(table.i < ibis.literal(3, type="int64"))
    assert lower_expression(call("floor", column("i")), table, "duckdb").equals(table.i)
    doubled = ibis.to_sql(lower_expression(call("multiply", column("i"), literal(2)), table, "duckdb").name("r"))
    assert "CASE" not in doubled


@pytest.mark.parametrize("dialect", ["duckdb", "postgres"])
def test_long_sums_do_not_grow_out_of_hand(dialect: str) -> None:
    table = ibis.table({"x": "float64"}, name="t")

    def characters(terms: int) -> int:
        total: Expression = column("x")
        for _ in range(terms - 1):
            total = call("add", total, column("x"))
        return len(ibis.to_sql(lower_expression(total, table, dialect).name("r"), dialect=dialect, pretty=False))

    assert characters(40) < 2.2 * characters(20)
