"""The allow-list takes what its rules say, and refuses everything else with a remedy."""

from __future__ import annotations

from datetime import date, datetime, timezone

import pytest

from sordino.data.kinds import Kind
from sordino.errors import QuestionError
from sordino.query.model.expression import Call, ColumnRef, Expression, Literal
from sordino.query.model.literals import as_kind, exact, literal, number, to_timestamp
from sordino.query.model.operations import RULES, call

BOOLEAN, INTEGER, REAL, TEXT, DATE, TIMESTAMP = (ColumnRef(kind, kind.value) for kind in Kind)


@pytest.mark.parametrize("operation", ["add", "subtract", "multiply", "divide", "modulo", "power"])
def test_arithmetic_takes_two_numbers_and_gives_a_real(operation: str) -> None:
    assert call(operation, INTEGER, REAL) == Call(Kind.REAL, operation, (INTEGER, REAL))


@pytest.mark.parametrize("operation", ["negate", "abs", "sqrt", "exp", "ln"])
def test_functions_of_one_number_give_a_real(operation: str) -> None:
    assert call(operation, INTEGER).kind is Kind.REAL


@pytest.mark.parametrize("operation", ["sign", "floor", "ceil", "round"])
def test_rounding_gives_an_integer(operation: str) -> None:
    assert call(operation, REAL).kind is Kind.INTEGER


@pytest.mark.parametrize(
    ("argument", "remedy"),
    [(BOOLEAN, "CASE WHEN"), (TEXT, "CAST"), (DATE, "EXTRACT"), (TIMESTAMP, "EXTRACT")],
)
def test_arithmetic_on_what_is_no_number_names_the_remedy(argument: Expression, remedy: str) -> None:
    with pytest.raises(QuestionError, match=remedy) as caught:
        call("add", argument, REAL)
    assert caught.value.code == "SRD-Q104"


@pytest.mark.parametrize("operation", ["equal", "not_equal", "less", "less_equal", "greater", "greater_equal"])
def test_comparisons_mix_integers_and_reals_only(operation: str) -> None:
    assert call(operation, INTEGER, REAL).arguments == (INTEGER, REAL)
    assert call(operation, TEXT, TEXT).kind is Kind.BOOLEAN
    with pytest.raises(QuestionError, match="one kind"):
        call(operation, TEXT, INTEGER)
    with pytest.raises(QuestionError, match="one kind"):
        call(operation, BOOLEAN, INTEGER)


def test_constants_are_read_as_the_kind_beside_them() -> None:
    assert call("less", DATE, literal("2026-01-31")).arguments[1] == Literal(Kind.DATE, date(2026, 1, 31))
    assert call("less", literal("2026-01-31 12:30:00"), TIMESTAMP).arguments[0].kind is Kind.TIMESTAMP
    midnight = Literal(Kind.TIMESTAMP, datetime(2026, 1, 31))
    assert call("less", TIMESTAMP, literal(date(2026, 1, 31))).arguments[1] == midnight
    with pytest.raises(QuestionError, match="not a date"):
        call("less", DATE, literal("31.1.2026"))
    with pytest.raises(QuestionError, match="not a timestamp"):
        call("less", TIMESTAMP, literal("noon"))


def test_membership_settles_its_values() -> None:
    assert call("in", INTEGER, detail=(1, 2.0)).detail == (1, 2)
    assert call("in", REAL, detail=(1, 2)).detail == (1.0, 2.0)
    assert call("in", DATE, detail=("2026-01-31",)).detail == (date(2026, 1, 31),)


@pytest.mark.parametrize("values", [(), (None,), None, "abc", tuple(range(10_001))])
def test_membership_needs_some_constants(values: object) -> None:
    with pytest.raises(QuestionError, match="constants"):
        call("in", INTEGER, detail=values)  # type: ignore[arg-type]


@pytest.mark.parametrize("value", [1.5, "a", True])
def test_membership_refuses_values_of_another_kind(value: object) -> None:
    with pytest.raises(QuestionError, match="one kind"):
        call("in", INTEGER, detail=(value,))  # type: ignore[arg-type]


@pytest.mark.parametrize("operation", ["like", "ilike", "starts_with"])
def test_patterns_are_constant_texts(operation: str) -> None:
    assert call(operation, TEXT, detail="a%").kind is Kind.BOOLEAN
    with pytest.raises(QuestionError, match="constant text"):
        call(operation, TEXT)
    with pytest.raises(QuestionError, match="needs text"):
        call(operation, INTEGER, detail="a")
    with pytest.raises(QuestionError, match="NUL"):
        call(operation, TEXT, detail="a\0")


def test_backslashes_in_patterns_are_refused() -> None:
    with pytest.raises(QuestionError, match="backslash"):
        call("like", TEXT, detail="a\\%")
    assert call("starts_with", TEXT, detail="a\\").detail == "a\\"


@pytest.mark.parametrize("operation", ["and", "or"])
def test_logic_takes_two_or_more_conditions(operation: str) -> None:
    assert call(operation, BOOLEAN, BOOLEAN, literal(None)).arguments[2] == Literal(Kind.BOOLEAN, None)
    with pytest.raises(QuestionError, match="at least 2"):
        call(operation, BOOLEAN)
    with pytest.raises(QuestionError, match="comparison"):
        call(operation, BOOLEAN, INTEGER)


def test_case_settles_its_branches() -> None:
    made = call("case", BOOLEAN, literal(1), BOOLEAN, literal(None), REAL)
    assert made.kind is Kind.REAL
    assert made.arguments == (BOOLEAN, literal(1.0), BOOLEAN, Literal(Kind.REAL, None), REAL)
    assert call("case", BOOLEAN, INTEGER, literal(2.5)).arguments[1] == call("to_real", INTEGER)
    with pytest.raises(QuestionError, match="one kind"):
        call("case", BOOLEAN, TEXT, INTEGER)
    with pytest.raises(QuestionError, match="nothing but NULL"):
        call("case", BOOLEAN, literal(None), literal(None))
    with pytest.raises(QuestionError, match="default"):
        call("case", BOOLEAN, TEXT, BOOLEAN, TEXT)
    with pytest.raises(QuestionError, match="WHEN needs boolean"):
        call("case", INTEGER, TEXT, TEXT)


def test_coalesce_and_nullif_keep_the_kind() -> None:
    assert call("coalesce", TEXT, literal("none")).kind is Kind.TEXT
    assert call("nullif", INTEGER, literal(0)).kind is Kind.INTEGER
    with pytest.raises(QuestionError, match="argument"):
        call("nullif", INTEGER)


@pytest.mark.parametrize(
    ("operation", "argument", "kind"),
    [
        ("to_real", INTEGER, Kind.REAL),
        ("to_real", TEXT, Kind.REAL),
        ("to_integer", BOOLEAN, Kind.INTEGER),
        ("to_text", DATE, Kind.TEXT),
        ("to_date", TIMESTAMP, Kind.DATE),
        ("to_date", literal(None), Kind.DATE),
    ],
)
def test_casts(operation: str, argument: Expression, kind: Kind) -> None:
    assert call(operation, argument).kind is kind


@pytest.mark.parametrize(("operation", "argument"), [("to_text", REAL), ("to_text", TIMESTAMP), ("to_date", INTEGER)])
def test_casts_with_several_meanings_are_refused(operation: str, argument: Expression) -> None:
    with pytest.raises(QuestionError, match="one meaning"):
        call(operation, argument)


def test_text() -> None:
    assert call("length", TEXT).kind is Kind.INTEGER
    assert call("concat", TEXT, literal("a")).kind is Kind.TEXT
    assert call("substring", TEXT, detail=(1, None)).detail == (1, None)
    assert call("substring", TEXT, detail=(2, 3)).kind is Kind.TEXT
    with pytest.raises(QuestionError, match="VARCHAR"):
        call("lower", INTEGER)


@pytest.mark.parametrize("detail", [None, (0, 1), (1, -1), (1,), ("a", 1), (1, 2, 3)])
def test_substrings_need_constant_places(detail: object) -> None:
    with pytest.raises(QuestionError, match="SUBSTRING"):
        call("substring", TEXT, detail=detail)  # type: ignore[arg-type]


def test_dates() -> None:
    assert call("date_part", DATE, detail="year").kind is Kind.INTEGER
    assert call("date_trunc", TIMESTAMP, detail="hour").kind is Kind.TIMESTAMP
    assert call("date_trunc", DATE, detail="month").kind is Kind.DATE
    assert call("add_days", DATE, detail=(-3,)).kind is Kind.DATE
    assert call("days_between", DATE, DATE).kind is Kind.INTEGER
    for operation in ("date_part", "date_trunc"):
        with pytest.raises(QuestionError, match="knows year"):
            call(operation, DATE, detail="century")
        with pytest.raises(QuestionError, match="has no hour"):
            call(operation, DATE, detail="hour")
        with pytest.raises(QuestionError, match="needs date or timestamp"):
            call(operation, TEXT, detail="year")


@pytest.mark.parametrize("detail", [None, (), (1.5,), (100_001,), (True,), "1"])
def test_dates_move_by_constant_days(detail: object) -> None:
    with pytest.raises(QuestionError, match="number of days"):
        call("add_days", DATE, detail=detail)  # type: ignore[arg-type]


def test_unknown_operations_name_close_ones() -> None:
    with pytest.raises(QuestionError, match="did you mean multiply") as caught:
        call("multipl", REAL, REAL)
    assert caught.value.code == "SRD-Q103"
    with pytest.raises(QuestionError, match="documentation"):
        call("zzzz", REAL)


@pytest.mark.parametrize("operation", sorted(RULES))
def test_no_operation_takes_nothing(operation: str) -> None:
    with pytest.raises(QuestionError):
        call(operation)


@pytest.mark.parametrize("operation", ["add", "not", "is_null", "case", "coalesce", "equal", "to_text"])
def test_details_are_refused_where_there_are_none(operation: str) -> None:
    with pytest.raises(QuestionError, match="nothing besides"):
        call(operation, BOOLEAN, BOOLEAN, BOOLEAN, detail="x")


def test_large_and_deep_expressions_are_refused_before_an_engine_sees_them() -> None:
    deep: Expression = REAL
    for _ in range(60):
        deep = call("add", deep, REAL)
    with pytest.raises(QuestionError, match="too deeply") as caught:
        call("add", deep, REAL)
    assert caught.value.code == "SRD-Q101"
    wide: Expression = REAL
    for _ in range(9):
        wide = call("add", wide, wide)
    with pytest.raises(QuestionError, match="too many parts"):
        call("add", wide, wide)
    repeated: Expression = REAL
    for _ in range(4):
        repeated = call("ln", repeated)
    with pytest.raises(QuestionError, match="too many parts"):
        call("ln", repeated)
    with pytest.raises(QuestionError, match="concat joins 301 parts, and 300 are possible"):
        call("concat", *[TEXT] * 301)
    with pytest.raises(QuestionError, match="power of a power"):
        call("power", call("negate", call("power", REAL, literal(2))), literal(2))


@pytest.mark.parametrize("value", [2**63, -(2**63), 1e151, float("nan"), float("inf"), "\0", "\ud800", b"x", [1]])
def test_constants_that_no_engine_holds_are_refused(value: object) -> None:
    with pytest.raises(QuestionError) as caught:
        literal(value)  # type: ignore[arg-type]
    assert caught.value.code == "SRD-Q104"


def test_timestamps_have_no_zone() -> None:
    with pytest.raises(QuestionError, match="time zone"):
        literal(datetime(2026, 1, 31, tzinfo=timezone.utc))  # noqa: UP017
    with pytest.raises(QuestionError, match="time zone"):
        to_timestamp("2026-01-31T12:00:00+02:00")


def test_kinds_of_constants() -> None:
    values = [True, 1, 1.5, "a", datetime(2026, 1, 31), date(2026, 1, 31)]
    kinds = [literal(value).kind for value in values]
    assert kinds == [Kind.BOOLEAN, Kind.INTEGER, Kind.REAL, Kind.TEXT, Kind.TIMESTAMP, Kind.DATE]
    assert as_kind(REAL, Kind.INTEGER) is REAL
    assert as_kind(literal("a"), Kind.INTEGER) == literal("a")


@pytest.mark.parametrize(("text", "value"), [("12", 12), ("0.5", 0.5), ("1e3", 1000.0), ("1.", 1.0)])
def test_numbers_are_read_as_written(text: str, value: float) -> None:
    assert number(text) == value
    assert type(number(text)) is type(value)


@pytest.mark.parametrize("text", ["9" * 20, "9223372036854775808", "1e400", "abc", "²"])
def test_numbers_that_are_none_are_refused(text: str) -> None:
    with pytest.raises(QuestionError):
        literal(number(text))


def test_decimals_are_exact() -> None:
    assert exact(0.1) * 10 == 1
    assert exact(3) == 3
