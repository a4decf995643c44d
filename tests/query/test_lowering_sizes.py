"""The sizes that decide where reals are cut: they hold for every value, and cuts come where they must and no sooner."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from query.lowering_expressions import expressions
from query.lowering_reference import evaluate
from sordino.data.kinds import Kind
from sordino.query.engine.sizes import INTEGERS, STORED, TAME, Size, argument_sizes, size_of
from sordino.query.model.expression import Call, ColumnRef, Expression
from sordino.query.model.literals import literal
from sordino.query.model.operations import call

KINDS = {"x": Kind.REAL, "y": Kind.REAL, "i": Kind.INTEGER}
X, Y, INTEGER = ColumnRef(Kind.REAL, "x"), ColumnRef(Kind.REAL, "y"), ColumnRef(Kind.INTEGER, "i")

extremes = st.sampled_from([2.0**200, -(2.0**200), 2.0**-200, 5e-324, 0.0, 1.0, -1.0 - 2**-52, 0.1, math.nan, math.inf])
numbers = st.one_of(extremes, st.floats())
rows = st.fixed_dictionaries({"x": numbers, "y": numbers, "i": st.integers(-(2**63), 2**63 - 1)})


def has(size: Size, value: float | None) -> bool:
    return value is None or (
        abs(value) <= 2.0**size.bits and (Fraction(value) * Fraction(2) ** size.grid).denominator == 1
    )


@settings(deadline=None, max_examples=400)
@given(expression=expressions(KINDS, Kind.REAL, 4), row=rows)
def test_every_result_has_the_size_that_was_foretold(expression: Expression, row: dict[str, Any]) -> None:
    for node in expression.walk():
        if isinstance(node, Call) and size_of(node) != STORED and node.kind is Kind.REAL:
            assert size_of(node).is_safe
            assert has(size_of(node), evaluate(node, row)), f"{node} of {row}"


@given(value=st.floats(-1e150, 1e150).filter(bool))
def test_constants_have_their_own_size(value: float) -> None:
    size = size_of(literal(value))
    assert has(size, value)
    assert not has(Size(size.bits - 2, size.grid), value)
    assert size.grid == 0 or not has(Size(size.bits, size.grid - 54), value)


def test_what_is_known_of_leaves() -> None:
    assert size_of(X) == STORED
    assert size_of(call("coalesce", X, Y)) == STORED
    assert size_of(INTEGER) == INTEGERS == size_of(call("floor", X))
    assert size_of(literal(None)) == Size(0, 0)


@pytest.mark.parametrize("operation", ["add", "subtract", "least", "greatest"])
def test_sums_are_never_cut(operation: str) -> None:
    long: Expression = X
    for _ in range(50):
        long = call(operation, long, Y)
    assert argument_sizes(long) == [size_of(argument) for argument in long.arguments]  # type: ignore[arg-type]


def test_products_are_rounded_first_and_limited_last() -> None:
    assert argument_sizes(call("multiply", X, literal(1e140))) == [STORED, size_of(literal(1e140))]
    assert argument_sizes(call("multiply", X, literal(0.1))) == [Size(STORED.bits, TAME.grid), size_of(literal(0.1))]
    product = call("multiply", X, Y)
    for _ in range(3):
        product = call("multiply", product, Y)
        assert argument_sizes(product)[0].bits > TAME.bits
    assert argument_sizes(call("multiply", product, product)) == [TAME, TAME]
    assert argument_sizes(call("divide", X, Y)) == [Size(STORED.bits, TAME.grid)] * 2
