from __future__ import annotations

import math
from datetime import date, datetime
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from query import lowering_reference as reference
from sordino.data.kinds import Kind
from sordino.errors import QuestionError
from sordino.noise import DiscreteLaplace
from sordino.query.estimate.bands import NUMBERS, Band
from sordino.query.estimate.estimate import Chosen, Estimate, Linear, Picked, Several
from sordino.query.estimate.evaluate import Evaluated, evaluate, refuse_lists
from sordino.query.model.expression import ColumnRef, Expression
from sordino.query.model.literals import literal
from sordino.query.model.operations import DATE_PARTS, DATE_TRUNCATIONS, RULES, call

KEYS: dict[str, tuple[Kind, list[Any]]] = {
    "k0": (Kind.TEXT, ["Mill", "old town", None, " 12 ", "2024-02-29", "a%_\n", "Ünïcode", "-3.5e2", ""]),
    "k1": (Kind.INTEGER, [0, -7, 5, None, 3, 2**40, 1, -2, 12]),
    "k2": (Kind.BOOLEAN, [True, False, None, True, False, True, None, False, True]),
    "k3": (
        Kind.DATE,
        [date(2024, 2, 29), None, date(1, 1, 1), date(9999, 12, 31), date(2026, 1, 1), *[date(2000, 5, 17)] * 4],
    ),
    "k4": (Kind.TIMESTAMP, [datetime(2024, 12, 30, 23, 59, 58), None, *[datetime(2001, 3, 4, 5, 6, 7)] * 7]),
    "k5": (Kind.REAL, [0.0, -1.5, 2.5, None, 1e19, -1e19, 1e-19, 0.1, 700.0]),
    "k6": (Kind.TEXT, ["a", "b", "c", None, "2024-02-30", "MILL", "x", "9", "old"]),
    "k7": (Kind.DATE, [date(2023, 2, 28), *[date(2024, 3, 1)] * 8]),
    "k8": (Kind.REAL, [2.0, 0.0, -0.5, 1.0, 3.0, None, 2.5, -2.0, 0.5]),
}
TEXT, WHOLE, TRUTH, DAY, MOMENT, REAL, OTHER_TEXT, OTHER_DAY, OTHER_REAL = (
    ColumnRef(kind, name) for name, (kind, _) in KEYS.items()
)
VALUES = {name: values for name, (_, values) in KEYS.items()}
ROWS = [{name: values[row] for name, values in VALUES.items()} for row in range(9)]
FINE = call("less", OTHER_REAL, literal(1))


def expressions() -> list[Expression]:
    """Return at least one expression for each operation, over keys of each kind that it takes."""
    numbers, pairs = (REAL, WHOLE, OTHER_REAL), ((REAL, OTHER_REAL), (WHOLE, OTHER_REAL), (OTHER_REAL, WHOLE))
    result: list[Expression] = []
    for name in ("add", "subtract", "multiply", "divide", "modulo", "power"):
        result += [call(name, *pair) for pair in pairs] + [call(name, WHOLE, literal(3))]
    for name in ("negate", "abs", "sqrt", "exp", "ln", "sign", "floor", "ceil", "round", "is_null"):
        result += [call(name, number) for number in numbers]
    result += [call(name, *numbers) for name in ("least", "greatest", "coalesce")]
    both = (*pairs, (TEXT, OTHER_TEXT), (DAY, OTHER_DAY), (TRUTH, FINE))
    for name in ("equal", "not_equal", "less", "less_equal", "greater", "greater_equal"):
        result += [call(name, *pair) for pair in both]
    result += [
        call("in", WHOLE, detail=(5, 3)),
        call("in", TEXT, detail=("Mill", "x")),
        call("in", DAY, detail=(date(1, 1, 1),)),
    ]
    for pattern in ("M%", "%o%t%", "_ill", "%", "", "a%b", "%l%l", "old%town", "%-%-__", "a__%"):
        result += [call("like", TEXT, detail=pattern), call("ilike", TEXT, detail=pattern)]
    result += [call("starts_with", TEXT, detail="Mi"), call("is_null", TEXT), call("is_null", TRUTH)]
    result += [call(name, TRUTH, FINE, call("is_null", DAY)) for name in ("and", "or")] + [call("not", TRUTH)]
    result += [
        call("case", TRUTH, first, FINE, other, other) for first, other in ((REAL, OTHER_REAL), (TEXT, OTHER_TEXT))
    ]
    result += [call("coalesce", TEXT, OTHER_TEXT), call("coalesce", DAY, OTHER_DAY), call("coalesce", TRUTH, FINE)]
    result += [call("nullif", WHOLE, literal(5)), call("nullif", TEXT, literal("Mill")), call("nullif", TRUTH, FINE)]
    result += [call("to_real", each) for each in (WHOLE, TEXT, OTHER_TEXT, TRUTH)]
    result += [call("to_integer", each) for each in (OTHER_REAL, TEXT, OTHER_TEXT, TRUTH)]
    result += [call("to_text", each) for each in (WHOLE, TRUTH, DAY, TEXT)]
    result += [call("to_date", each) for each in (TEXT, OTHER_TEXT, MOMENT, DAY)]
    result += [call(name, TEXT) for name in ("lower", "upper", "trim", "length")] + [
        call("concat", TEXT, OTHER_TEXT, TEXT)
    ]
    result += [call("substring", TEXT, detail=(2, 3)), call("substring", TEXT, detail=(3, None))]
    for part in DATE_PARTS:
        result += [call("date_part", MOMENT, detail=part)]
        result += [call("date_part", DAY, detail=part)] if part not in ("hour", "minute", "second") else []
    for unit in DATE_TRUNCATIONS:
        result += [call("date_trunc", MOMENT, detail=unit)]
        result += [call("date_trunc", DAY, detail=unit)] if unit not in ("hour", "minute") else []
    result += [call("add_days", DAY, detail=(days,)) for days in (1, -1, 100_000)] + [
        call("days_between", DAY, OTHER_DAY)
    ]
    result += [call("right", TEXT, detail=(length,)) for length in (0, 2, 100)]
    result += [call("position", TEXT, detail=wanted) for wanted in ("", "l", "ill", "nowhere")]
    result += [call("replace", TEXT, detail=change) for change in (("l", ""), ("i", "long"), ("x", "y"))]
    result += [call("split_part", TEXT, detail=("l", place)) for place in (1, 2, 9)]
    result += [call("to_timestamp", DAY)]
    result += [call("add_months", day, detail=(months,)) for day in (DAY, MOMENT) for months in (1, -13, 120_000)]
    result += [call("add_seconds", MOMENT, detail=(seconds,)) for seconds in (1, -86_401, 10**10, -(10**10))]
    result += [
        call("seconds_between", call("to_timestamp", DAY), MOMENT),
        call("seconds_between", MOMENT, call("to_timestamp", OTHER_DAY)),
    ]
    return result


ALL = expressions()


def test_every_operation_is_tried() -> None:
    assert {node.operation for node in ALL} == set(RULES)  # type: ignore[attr-defined]


def rows_of(column: Evaluated) -> list[Any]:
    if isinstance(column.values, np.ndarray):
        return [None if math.isnan(number) else number for number in column.values.tolist()]
    return list(column.values)


@pytest.mark.parametrize("place", range(len(ALL)))
def test_means_what_it_means_for_a_row(place: int) -> None:
    if ALL[place].operation == "date_trunc" and ALL[place].detail == "week":  # type: ignore[attr-defined]
        rows = [row for row in ROWS if row["k3"] != date(1, 1, 1)]
    else:
        rows = ROWS
    values = {name: [row[name] for row in rows] for name in VALUES}
    found = rows_of(evaluate(ALL[place], values))
    for got, row in zip(found, rows, strict=True):
        wanted = reference.evaluate(ALL[place], row)
        if isinstance(wanted, float):
            assert got == pytest.approx(wanted, rel=1e-12), (row, got, wanted)
        else:
            assert got == wanted, (row, got, wanted)


# ---- bands ----------------------------------------------------------------------------------------------------------

NUMBER = st.floats(-20, 20).map(lambda number: round(number, 3))
TWO = {"add", "subtract", "multiply", "divide", "modulo", "power", "least", "greatest", "nullif", "coalesce"}
TWO |= {"equal", "not_equal", "less", "less_equal", "greater", "greater_equal"}
LOGIC = {"and", "or", "not"}


@pytest.mark.parametrize("operation", sorted(set(NUMBERS) - LOGIC - {"case"}))
@given(data=st.data())
@settings(max_examples=60)
def test_bands_hold_whatever_their_arguments_may_be(operation: str, data: st.DataObject) -> None:
    count = 2 if operation in TWO else 1
    bands, inner = [], []
    for _ in range(count):
        low, middle, other, high = sorted(data.draw(st.tuples(NUMBER, NUMBER, NUMBER, NUMBER)))
        if operation == "power" and bands and data.draw(st.booleans()):
            low = middle = other = high = 2.0
        bands.append(Band(*(np.array([number]) for number in (middle, low, high))))
        inner.append(Band.exact(np.array([other])))
    with np.errstate(all="ignore"):
        result, inside = NUMBERS[operation](*bands), NUMBERS[operation](*inner)
    if not np.isnan(result.value[0]):
        assert result.low[0] <= result.value[0] <= result.high[0]
        if not np.isnan(inside.value[0]):
            slack = 1e-9 * (1 + abs(inside.value[0]))
            assert result.low[0] - slack <= inside.value[0] <= result.high[0] + slack
            assert inside.low[0] == inside.high[0] == inside.value[0]


def truth(value: float, low: float, high: float) -> Band:
    return Band(*(np.array([number], dtype=float) for number in (value, low, high)))


def test_logic_keeps_doubt_only_where_it_matters() -> None:
    yes, no, maybe = truth(1, 1, 1), truth(0, 0, 0), truth(1, 0, 1)
    ends = {
        ("and", (maybe, no)): (0, 0),
        ("and", (maybe, yes)): (0, 1),
        ("or", (maybe, yes)): (1, 1),
        ("or", (maybe, no)): (0, 1),
        ("not", (maybe,)): (0, 1),
        ("not", (yes,)): (0, 0),
    }
    for (operation, arguments), wanted in ends.items():
        result = NUMBERS[operation](*arguments)
        assert (result.low[0], result.high[0]) == wanted


def test_a_case_holds_all_branches_that_may_be_taken() -> None:
    one, two, three = (Band.exact(np.array([float(number)])) for number in (1, 2, 3))
    yes, no, maybe, unknown = truth(1, 1, 1), truth(0, 0, 0), truth(0, 0, 1), truth(np.nan, np.nan, np.nan)
    for conditions, value, low, high in (
        ((yes, yes), 1, 1, 1),
        ((maybe, yes), 2, 1, 2),
        ((maybe, no), 3, 1, 3),
        ((no, maybe), 3, 2, 3),
        ((unknown, no), 3, 3, 3),
    ):
        result = NUMBERS["case"](conditions[0], one, conditions[1], two, three)
        assert (result.value[0], result.low[0], result.high[0]) == (value, low, high)


# ---- estimates ------------------------------------------------------------------------------------------------------

LAW = DiscreteLaplace(10)
A0, A1 = ColumnRef(Kind.INTEGER, "a0"), ColumnRef(Kind.REAL, "a1")
K0 = ColumnRef(Kind.TEXT, "k0")


def inputs() -> dict[str, Any]:
    return {
        "k0": ["x", "y", "z"],
        "a0": Linear(np.array([100.0, 50.0, 5.0]), [(LAW, 1.0)], whole=True),
        "a1": Linear(np.array([1000.0, 10.0, np.nan]), [(LAW, 4.0)]),
    }


def test_a_bare_aggregate_passes_through() -> None:
    column = evaluate(A0, inputs())
    assert column.noisy
    assert column.whole
    assert column.interval(0.95)[0].tolist() == [70.0, 20.0, -25.0]  # type: ignore[index]
    assert column.take(np.array([2])).values.tolist() == [5.0]


def test_an_expression_over_two_aggregates_is_covered_by_a_union_bound() -> None:
    column = evaluate(call("add", A0, A1), inputs())
    low, high = column.interval(0.95)  # type: ignore[misc]
    reach = LAW.tail("0.975") * 5
    assert column.values.tolist()[:2] == [1100.0, 60.0]
    assert (high - low)[:2].tolist() == [2 * reach, 2 * reach]
    assert np.isnan([column.values[2], low[2], high[2]]).all()
    once = evaluate(call("add", A0, call("multiply", A0, literal(2))), inputs()).interval(0.95)
    assert once[1][0] == 300 + 3 * 30  # type: ignore[index]


def test_coverage_of_an_expression_is_at_least_nominal() -> None:
    groups, law = 20_000, DiscreteLaplace(30)
    values = {
        "a0": Linear(1000.0 + law.draw(groups), [(law, 1.0)]),
        "a1": Linear(200.0 + law.draw(groups), [(law, 1.0)]),
    }
    share = call("divide", call("multiply", literal(100), A1), A0)
    low, high = evaluate(share, values).interval(0.9)  # type: ignore[misc]
    assert np.mean((low <= 20) & (high >= 20)) >= 0.9


def test_a_quotient_by_what_may_be_zero_may_be_anything() -> None:
    low, high = evaluate(call("divide", literal(1), A0), inputs()).interval(0.95)  # type: ignore[misc]
    assert (low[2], high[2]) == (-np.inf, np.inf)
    assert (low[0], high[0]) == pytest.approx((1 / 130, 1 / 70))


def test_keys_and_texts_have_no_interval() -> None:
    label = call("case", call("greater", A0, literal(60)), literal("large"), literal("small"))
    column = evaluate(label, inputs())
    assert column.values == ["large", "small", "small"]
    assert column.interval(0.95) is None
    assert evaluate(K0, inputs()).interval(0.95) is None
    assert not evaluate(K0, inputs()).noisy
    many = evaluate(call("greater", A0, literal(60)), inputs())
    assert many.values == [True, False, False]


def test_numbers_read_from_noisy_texts_may_be_anything() -> None:
    label = call("case", call("greater", A0, literal(60)), literal("large"), literal("no"))
    low, high = evaluate(call("length", label), inputs()).interval(0.95)  # type: ignore[misc]
    assert (low[0], high[0]) == (-np.inf, np.inf)
    picked = {"a0": Picked(["12", "x"]), "a1": Picked([3, 4])}
    assert evaluate(call("to_integer", ColumnRef(Kind.TEXT, "a0")), picked).values[0] == 12
    ends = evaluate(call("negate", ColumnRef(Kind.INTEGER, "a1")), picked).interval(0.95)
    assert ends[0].tolist() == [-np.inf, -np.inf]  # type: ignore[index]
    same = call("case", call("equal", ColumnRef(Kind.TEXT, "a0"), literal("x")), literal(1), literal(0))
    assert [end.tolist() for end in evaluate(same, picked).interval(0.95)] == [[0, 0], [1, 1]]  # type: ignore[union-attr]


def test_picked_values_pass_through_without_interval() -> None:
    column = evaluate(ColumnRef(Kind.INTEGER, "a0"), {"a0": Picked([3, 4])})
    assert column.values == [3, 4]
    assert column.interval(0.95) is None


@pytest.mark.parametrize(
    ("expression", "whole"),
    [
        (A0, True),
        (A1, False),
        (call("floor", A1), True),
        (call("add", A0, A0), False),
        (literal(3), True),
        (call("coalesce", A0, literal(0)), True),
        (call("case", call("greater", A1, literal(1)), A0, literal(0)), True),
        (call("case", call("greater", A1, literal(1)), ColumnRef(Kind.INTEGER, "a2"), literal(0)), False),
    ],
)
def test_what_is_whole_is_known_beforehand(expression: Expression, whole: bool) -> None:
    values = {**inputs(), "a2": Linear(np.zeros(3), [(LAW, 0.5)])}
    assert evaluate(expression, values).whole is whole


def test_constants_have_one_row_for_each_group() -> None:
    assert evaluate(literal(3), inputs()).values.tolist() == [3.0] * 3
    assert evaluate(literal(3), {}).values.tolist() == [3.0]
    assert evaluate(literal(None), {"a0": Several((inputs()["a0"],))}).groups == 3


def test_keys_that_are_large_numbers_keep_all_digits() -> None:
    assert evaluate(ColumnRef(Kind.INTEGER, "k0"), {"k0": [2**60 + 1, None]}).values == [2**60 + 1, None]
    assert np.isnan(evaluate(ColumnRef(Kind.REAL, "k0"), {"k0": [1.5, None]}).values[1])


def test_lists_cannot_be_computed_with() -> None:
    lists = frozenset({"a0"})
    refuse_lists(A0, lists)
    refuse_lists(call("add", A1, literal(1)), lists)
    with pytest.raises(QuestionError, match="SRD-Q320"):
        refuse_lists(call("add", A0, literal(1)), lists)
    several = {"a0": Several((inputs()["a0"],))}
    assert evaluate(A0, several).interval(0.95)[0].shape == (3, 1)  # type: ignore[index]
    with pytest.raises(TypeError):
        _ = evaluate(call("negate", A0), several).values


def test_open_ends_stay_open() -> None:
    chosen: Estimate = Chosen(np.array([1.0]), lambda _: (np.array([-np.inf]), np.array([np.inf])))
    ends = evaluate(call("multiply", A0, literal(0)), {"a0": chosen}).interval(0.95)
    assert [end.tolist() for end in ends] == [[0.0], [0.0]]  # type: ignore[union-attr]
