"""Ranges, keys and NULLs that are derived hold for every row, judged by the meaning of expressions in plain Python."""

from __future__ import annotations

import math
from datetime import date
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, reject, settings
from hypothesis import strategies as st

from query.lowering_reference import evaluate
from sordino.data.kinds import Kind, Range
from sordino.data.metadata import Column
from sordino.errors import QuestionError
from sordino.query.model.expression import ColumnRef, Expression
from sordino.query.model.literals import literal
from sordino.query.model.operations import call
from sordino.query.model.ranges import derive, hull

COLUMNS = {
    "small": Column(Kind.REAL, Range.of(-2, 3), nullable=False),
    "positive": Column(Kind.REAL, Range.of("0.5", 8), nullable=False, granularity=0.5),
    "holes": Column(Kind.REAL, Range.of(-1, 4)),
    "whole": Column(Kind.INTEGER, Range.of(-5, 5), nullable=False),
    "open": Column(Kind.REAL),
    "flag": Column(Kind.BOOLEAN),
    "city": Column(Kind.TEXT, keys=("Bern", "Chur"), nullable=False),
    "note": Column(Kind.TEXT),
    "day": Column(Kind.DATE),
}
REF = {name: ColumnRef(column.kind, name) for name, column in COLUMNS.items()}


def known(expression: Expression) -> Column:
    return derive(expression, COLUMNS)


def span(low: Any, high: Any) -> Range:
    return Range.of(low, high)


@pytest.mark.parametrize(
    ("operation", "arguments", "expected"),
    [
        ("add", ("small", "positive"), span("-1.5", 11)),
        ("subtract", ("small", "positive"), span(-10, "2.5")),
        ("multiply", ("small", "small"), span(-6, 9)),
        ("multiply", ("small", "positive"), span(-16, 24)),
        ("divide", ("small", "positive"), span(-4, 6)),
        ("divide", ("positive", "small"), None),
        ("negate", ("small",), span(-3, 2)),
        ("abs", ("small",), span(0, 3)),
        ("abs", ("positive",), span("0.5", 8)),
        ("sign", ("small",), span(-1, 1)),
        ("sign", ("positive",), span(1, 1)),
        ("floor", ("positive",), span(0, 8)),
        ("ceil", ("positive",), span(1, 8)),
        ("round", ("positive",), span(1, 8)),
        ("least", ("small", "positive"), span(-2, 3)),
        ("greatest", ("small", "positive"), span("0.5", 8)),
        ("add", ("small", "open"), None),
        ("to_integer", ("positive",), span(0, 8)),
        ("to_real", ("whole",), span(-5, 5)),
        ("to_real", ("flag",), span(0, 1)),
        ("to_real", ("note",), None),
        ("length", ("note",), None),
        ("nullif", ("small", "small"), span(-2, 3)),
        ("coalesce", ("holes", "small"), span(-2, 4)),
    ],
)
def test_ranges(operation: str, arguments: tuple[str, ...], expected: Range | None) -> None:
    assert known(call(operation, *(REF[name] for name in arguments))).range == expected


def test_one_end_may_be_known() -> None:
    clipped = call("least", call("greatest", REF["open"], literal(0)), literal(100))
    assert known(clipped).range == span(0, 100)
    assert known(call("greatest", REF["open"], literal(0))).range is None


def test_least_is_not_capped_by_what_may_be_missing() -> None:
    assert known(call("least", REF["holes"], literal(100))).range == span(-1, 100)
    assert known(call("greatest", REF["holes"], REF["holes"])).range == span(-1, 4)


def test_powers_and_remainders() -> None:
    assert known(call("power", REF["small"], literal(2))).range == span(0, 9)
    assert known(call("power", REF["small"], literal(3))).range == span(-8, 27)
    assert known(call("power", REF["small"], literal(0))).range == span(1, 1)
    assert known(call("power", REF["small"], literal(0.5))).range is None
    assert known(call("power", REF["small"], REF["whole"])).range is None
    remainder = known(call("modulo", REF["positive"], literal(3)))
    assert remainder.range == Range(Fraction(0), Fraction(3))
    assert not remainder.nullable
    assert known(call("modulo", REF["positive"], REF["small"])).nullable


def test_roots_exponentials_and_logarithms_are_rounded_outwards() -> None:
    root = known(call("sqrt", REF["positive"])).range
    assert root is not None
    assert root.low <= Fraction(math.sqrt(0.5)) < Fraction(math.sqrt(8)) <= root.high
    grown = known(call("exp", REF["small"])).range
    assert grown is not None
    assert 0 < grown.low <= Fraction(math.exp(-2)) < Fraction(math.exp(3)) <= grown.high < 21
    logarithm = known(call("ln", REF["positive"])).range
    assert logarithm is not None
    assert -1 < logarithm.low < Fraction(math.log(0.5)) < Fraction(math.log(8)) <= logarithm.high
    assert known(call("ln", REF["small"])).range is None
    assert known(call("ln", call("negate", REF["positive"]))).range is None
    assert known(call("exp", call("multiply", REF["small"], literal(1000)))).range is None
    assert known(call("exp", REF["open"])).range is None
    assert known(call("sqrt", REF["open"])).range is None


def test_case_takes_all_branches_together() -> None:
    made = call("case", REF["flag"], REF["small"], REF["flag"], literal(None), literal(10))
    assert known(made).range == span(-2, 10)
    assert known(made).nullable
    assert not known(call("case", REF["flag"], REF["small"], literal(1))).nullable


@pytest.mark.parametrize(
    ("part", "ends", "keys"),
    [
        ("month", (1, 12), tuple(range(1, 13))),
        ("quarter", (1, 4), (1, 2, 3, 4)),
        ("weekday", (1, 7), tuple(range(1, 8))),
        ("day", (1, 31), None),
        ("year", (1, 9999), None),
    ],
)
def test_parts_of_dates(part: str, ends: tuple[int, int], keys: tuple[int, ...] | None) -> None:
    column = known(call("date_part", REF["day"], detail=part))
    assert column.range == span(*ends)
    assert column.keys == keys


def test_keys() -> None:
    assert known(REF["city"]) == COLUMNS["city"]
    assert known(REF["flag"]).keys == (False, True)
    assert known(call("less", REF["small"], literal(1))).keys == (False, True)
    assert known(literal(True)).keys == (False, True)
    assert known(literal("a")).keys == ("a",)
    assert known(literal(3)).keys == (3,)
    assert known(literal(3.5)).keys is None
    assert known(literal(date(2026, 1, 31))).keys == (date(2026, 1, 31),)
    assert known(call("lower", REF["city"])).keys is None
    assert known(call("case", REF["flag"], literal("a"), REF["flag"], literal("b"), literal("a"))).keys == ("a", "b")
    assert known(call("case", REF["flag"], literal("a"), literal(None))).keys == ("a",)
    assert known(call("case", REF["flag"], REF["city"], literal("other"))).keys == ("Bern", "Chur", "other")
    assert known(call("case", REF["flag"], REF["note"], literal("other"))).keys is None
    assert known(call("coalesce", REF["city"], literal("none"))).keys == ("Bern", "Chur", "none")
    with_null = {"city": Column(Kind.TEXT, keys=("Bern", None, "Chur"))}
    town = ColumnRef(Kind.TEXT, "city")
    assert derive(call("coalesce", town, literal("none")), with_null).keys == ("Bern", "Chur", "none")
    assert derive(call("coalesce", literal("none"), town), with_null).keys == ("none", "Bern", None, "Chur")
    assert known(call("case", REF["flag"], literal(1.5), literal(2.5))).keys is None


@pytest.mark.parametrize(
    ("expression", "nullable"),
    [
        (call("add", REF["small"], REF["positive"]), False),
        (call("add", REF["small"], REF["holes"]), True),
        (call("add", REF["small"], REF["open"]), True),
        (call("divide", REF["small"], REF["positive"]), False),
        (call("divide", REF["small"], REF["small"]), True),
        (call("sqrt", REF["positive"]), False),
        (call("sqrt", REF["small"]), True),
        (call("ln", REF["positive"]), False),
        (call("power", REF["positive"], literal(2)), True),
        (call("is_null", REF["holes"]), False),
        (call("coalesce", REF["holes"], literal(0)), False),
        (call("coalesce", REF["holes"], REF["holes"]), True),
        (call("nullif", REF["small"], literal(0)), True),
        (call("to_integer", REF["city"]), True),
        (call("to_integer", REF["small"]), False),
        (call("greatest", REF["holes"], literal(0)), False),
        (call("add_days", literal(date(2026, 1, 31)), detail=(1,)), True),
        (literal(None), True),
    ],
)
def test_nulls(expression: Expression, nullable: bool) -> None:
    assert known(expression).nullable is nullable


def test_granularity_stays_with_the_column_alone() -> None:
    assert known(REF["positive"]).granularity == 0.5
    assert known(call("negate", REF["positive"])).granularity is None


def test_unknown_columns_are_named() -> None:
    with pytest.raises(QuestionError, match="nothing_like_it"):
        derive(call("negate", ColumnRef(Kind.REAL, "nothing_like_it")), COLUMNS)


def test_hull() -> None:
    one = Column(Kind.REAL, Range.of(0, 1), nullable=False, granularity=0.5)
    two = Column(Kind.REAL, Range.of(-1, "0.5"), granularity=0.5)
    assert hull([one, two]) == Column(Kind.REAL, Range.of(-1, 1), granularity=0.5)
    assert hull([one, Column(Kind.REAL)]).range is None
    assert hull([one, Column(Kind.REAL)]).granularity is None
    cities = [Column(Kind.TEXT, keys=("a", "b"), nullable=False), Column(Kind.TEXT, keys=("b", "c"), nullable=False)]
    assert hull(cities) == Column(Kind.TEXT, keys=("a", "b", "c"), nullable=False)
    assert hull([cities[0], Column(Kind.TEXT)]).keys is None


NUMBERS = st.sampled_from([REF[name] for name in ("small", "positive", "holes", "whole")]) | st.sampled_from(
    [literal(0), literal(2), literal(-1.5), literal(0.25)]
)
CONDITIONS = st.builds(lambda a, b: call("less", a, b), NUMBERS, NUMBERS)
ONE = ("negate", "abs", "sqrt", "exp", "ln", "sign", "floor", "ceil", "round", "to_integer")
TWO = ("add", "subtract", "multiply", "divide", "modulo", "least", "greatest", "coalesce", "nullif")


def small_call(name: str, *arguments: Expression) -> Expression:
    """Return the call, unless it has more parts than a question may have."""
    try:
        return call(name, *arguments)
    except QuestionError:  # too many parts
        reject()
        raise


def _larger(numbers: st.SearchStrategy[Expression]) -> st.SearchStrategy[Expression]:
    return st.one_of(
        st.builds(lambda name, a: small_call(name, a), st.sampled_from(ONE), numbers),
        st.builds(lambda name, a, b: small_call(name, a, b), st.sampled_from(TWO), numbers, numbers),
        st.builds(lambda c, a, b: small_call("case", c, a, b), CONDITIONS, numbers, numbers),
        st.builds(
            lambda a, n: small_call("power", a, literal(n)),
            numbers.filter(lambda a: not any(getattr(node, "operation", "") == "power" for node in a.walk())),
            st.integers(0, 5),
        ),
    )


EXPRESSIONS = st.recursive(NUMBERS, _larger, max_leaves=5)
ROWS = st.fixed_dictionaries(
    {
        "small": st.floats(-2, 3),
        "positive": st.floats(0.5, 8),
        "holes": st.none() | st.floats(-1, 4),
        "whole": st.integers(-5, 5),
    }
)


@settings(deadline=None, max_examples=250)
@given(EXPRESSIONS, st.lists(ROWS, min_size=1, max_size=5))
def test_every_value_is_within_what_was_derived(expression: Expression, rows: list[dict[str, Any]]) -> None:
    column = known(expression)
    for row in rows:
        value = evaluate(expression, row)
        if value is None:
            assert column.nullable
        elif column.range is not None:
            slack = 1e-9 * max(1.0, float(column.range.reach))
            assert float(column.range.low) - slack <= value <= float(column.range.high) + slack
