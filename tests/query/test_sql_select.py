"""The outermost SELECT: aggregates, keys, and what is computed from noisy values."""

# ruff: noqa: S608  (these texts are read, never run)

from __future__ import annotations

from fractions import Fraction

import pytest

from query.sql_schemas import ask, ask_rows
from sordino.data.kinds import Kind
from sordino.errors import QuestionError
from sordino.query.model.expression import ColumnRef, Expression
from sordino.query.model.literals import literal
from sordino.query.model.operations import call
from sordino.query.model.question import Aggregate, Options, Output
from sordino.query.model.relation import Scan

AMOUNT = ColumnRef(Kind.REAL, "amount")
ZONE = ColumnRef(Kind.TEXT, "zone")
PAID = ColumnRef(Kind.BOOLEAN, "paid")
HALF = Fraction(1, 2)


def counted(place: int) -> ColumnRef:
    return ColumnRef(Kind.INTEGER, f"a{place}")


def real(place: int) -> ColumnRef:
    return ColumnRef(Kind.REAL, f"a{place}")


def test_a_question_is_read_whole() -> None:
    question = ask(
        "SELECT zone, COUNT(*) AS n, AVG(amount) FROM orders GROUP BY zone HAVING COUNT(*) > 10 "
        "ORDER BY n DESC, zone LIMIT 5 OFFSET 2"
    )
    assert isinstance(question.relation, Scan)
    assert question.aggregates == (Aggregate("count_rows"), Aggregate("mean", (AMOUNT,)))
    assert [key.name for key in question.keys] == ["zone"]
    assert question.outputs == (
        Output("zone", ColumnRef(Kind.TEXT, "k0")),
        Output("n", counted(0)),
        Output("avg_amount", real(1)),
    )
    assert question.having == call("greater", counted(0), literal(10))
    assert question.order == ((counted(0), True), (ColumnRef(Kind.TEXT, "k0"), False))
    assert (question.limit, question.offset, question.options) == (5, 2, Options())
    assert question.key_table is None
    assert question.grouping_sets is None


def case(test: Expression, then: Expression) -> Expression:
    return call("case", test, then, literal(None))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("COUNT(*)", Aggregate("count_rows")),
        ("COUNT(1)", Aggregate("count_rows")),
        ("COUNT(zone)", Aggregate("count", (ZONE,))),
        ("COUNT(DISTINCT zone)", Aggregate("count_distinct", (ZONE,))),
        ("COUNT(DISTINCT customer_id)", Aggregate("count_people")),
        ("COUNT_IF(paid)", Aggregate("count", (case(PAID, literal(1)),))),
        ("COUNTIF(paid)", Aggregate("count", (case(PAID, literal(1)),))),
        ("COUNT(*) FILTER (WHERE paid)", Aggregate("count", (case(PAID, literal(1)),))),
        ("COUNT(zone) FILTER (WHERE paid)", Aggregate("count", (case(PAID, ZONE),))),
        ("COUNT_PEOPLE()", Aggregate("count_people")),
        ("SUM(amount)", Aggregate("sum", (AMOUNT,))),
        ("SUM(amount) FILTER (WHERE paid)", Aggregate("sum", (case(PAID, AMOUNT),))),
        ("SUM(amount * 2)", Aggregate("sum", (call("multiply", AMOUNT, literal(2)),))),
        ("AVG(CASE WHEN paid THEN 1 ELSE 0 END)", Aggregate("mean", (call("case", PAID, literal(1), literal(0)),))),
        ("mean(amount)", Aggregate("mean", (AMOUNT,))),
        ("VARIANCE(amount)", Aggregate("variance", (AMOUNT,))),
        ("VAR_POP(amount)", Aggregate("variance", (AMOUNT,))),
        ("STDDEV(amount)", Aggregate("deviation", (AMOUNT,))),
        ("STDDEV_POP(amount)", Aggregate("deviation", (AMOUNT,))),
        ("MIN(amount)", Aggregate("minimum", (AMOUNT,))),
        ("MAX(amount)", Aggregate("maximum", (AMOUNT,))),
        ("MEDIAN(amount)", Aggregate("quantile", (AMOUNT,), (HALF,))),
        ("QUANTILE(amount, 0.1)", Aggregate("quantile", (AMOUNT,), (Fraction(1, 10),))),
        ("QUANTILE_CONT(amount, [0.1, 0.5])", Aggregate("quantile", (AMOUNT,), (Fraction(1, 10), HALF))),
        ("APPROX_QUANTILE(amount, 1)", Aggregate("quantile", (AMOUNT,), (Fraction(1),))),
        ("PERCENTILE_CONT(0.5) WITHIN GROUP (ORDER BY amount)", Aggregate("quantile", (AMOUNT,), (HALF,))),
        ("PERCENTILE_CONT(amount, 0.5)", Aggregate("quantile", (AMOUNT,), (HALF,))),
        ("HISTOGRAM(amount, 0, 1.5, 9)", Aggregate("histogram", (AMOUNT,), (Fraction(0), Fraction(3, 2), Fraction(9)))),
        ("HISTOGRAM(amount, 2)", Aggregate("histogram", (AMOUNT,), (Fraction(0), Fraction(500), Fraction(1000)))),
        ("COVAR_POP(amount, order_id)", Aggregate("covariance", (AMOUNT, ColumnRef(Kind.INTEGER, "order_id")))),
        ("CORR(amount, order_id)", Aggregate("correlation", (AMOUNT, ColumnRef(Kind.INTEGER, "order_id")))),
        ("REGRESSION(amount, order_id)", Aggregate("regression", (AMOUNT, ColumnRef(Kind.INTEGER, "order_id")))),
        ("MODE(paid)", Aggregate("top", (PAID,), (Fraction(1),))),
        ("TOP(paid, 2)", Aggregate("top", (PAID,), (Fraction(2),))),
    ],
)
def test_aggregates(text: str, expected: Aggregate) -> None:
    question = ask(f"SELECT {text} FROM orders")
    assert question.aggregates == (expected,)
    assert question.outputs[0].expression.columns == {"a0"}


def test_equal_aggregates_are_asked_once() -> None:
    question = ask("SELECT SUM(amount), COUNT(*), SUM(amount) / COUNT(*) AS mean FROM orders HAVING COUNT(1) > 5")
    assert question.aggregates == (Aggregate("sum", (AMOUNT,)), Aggregate("count_rows"))
    assert question.outputs[2] == Output("mean", call("divide", real(0), counted(1)))


def test_arithmetic_around_aggregates() -> None:
    question = ask("SELECT ROUND(AVG(amount)) AS a, CASE WHEN COUNT(*) > 5 THEN 'many' ELSE 'few' END AS b FROM orders")
    assert question.outputs[0].expression == call("round", real(0))
    many = call("case", call("greater", counted(1), literal(5)), literal("many"), literal("few"))
    assert question.outputs[1].expression == many


def test_regression_of_two_numbers_is_computed_after_the_noise() -> None:
    question = ask("SELECT REGR_SLOPE(amount, order_id), REGR_INTERCEPT(amount, order_id) FROM orders")
    assert [aggregate.function for aggregate in question.aggregates] == ["covariance", "variance", "mean", "mean"]
    slope = call("divide", real(0), real(1))
    assert question.outputs[0].expression == slope
    assert question.outputs[1].expression == call("subtract", real(2), call("multiply", slope, real(3)))
    y = question.aggregates[0].arguments[0]
    number = ColumnRef(Kind.INTEGER, "order_id")
    assert y == call("case", call("is_null", number), literal(None), AMOUNT), "rows without x do not count"
    assert question.aggregates[1].arguments == (number,), "y is never missing"


def test_names_of_columns_are_made_up_and_different() -> None:
    question = ask("SELECT COUNT(*), COUNT(*), COUNT(DISTINCT zone), AVG(amount) + 1, SUM(amount) AS count FROM orders")
    names = [output.name for output in question.outputs]
    assert names == ["count", "count_2", "count_distinct_zone", "column_4", "count_3"]


@pytest.mark.parametrize(
    "text",
    [
        "SELECT zone, COUNT(*) FROM orders GROUP BY zone",
        "SELECT zone, COUNT(*) FROM orders GROUP BY 1",
        "SELECT zone AS z, COUNT(*) FROM orders GROUP BY z",
        "SELECT orders.zone, COUNT(*) FROM orders GROUP BY ALL",
        "SELECT o.zone, COUNT(*) FROM orders AS o GROUP BY (o.zone)",
        "SELECT ZONE, COUNT(*) FROM Orders GROUP BY zone, zone",
        "(SELECT zone, COUNT(*) FROM orders GROUP BY zone)",
        "FROM orders SELECT zone, COUNT(*) GROUP BY zone;",
    ],
)
def test_keys_may_be_named_in_many_ways(text: str) -> None:
    question = ask(text)
    assert [key.expression for key in question.keys] == [ZONE]
    assert question.outputs[0].expression == ColumnRef(Kind.TEXT, "k0")


def test_keys_may_be_expressions() -> None:
    question = ask("SELECT FLOOR(amount / 10) * 10 AS b, COUNT(*) FROM orders GROUP BY FLOOR(amount / 10) ORDER BY b")
    (key,) = question.keys
    assert key.expression == call("floor", call("divide", AMOUNT, literal(10)))
    assert question.outputs[0].expression == call("multiply", ColumnRef(Kind.INTEGER, "k0"), literal(10))


def test_keys_know_their_values() -> None:
    question = ask("SELECT EXTRACT(quarter FROM day) q, paid, COUNT(*) FROM orders GROUP BY q, paid")
    assert [key.column.keys for key in question.keys] == [(1, 2, 3, 4), (False, True)]
    assert [key.name for key in question.keys] == ["q", "paid"]
    question = ask("SELECT COUNT(*) FROM customers GROUP BY city, UPPER(city), age")
    assert [key.name for key in question.keys] == ["city", "key_2", "age"]
    assert question.keys[0].column.keys == ("Bern", "Basel", "Chur")


@pytest.mark.parametrize(
    ("group", "sets"),
    [
        ("ROLLUP (zone, paid)", ((0, 1), (0,), ())),
        ("CUBE (zone, paid)", ((0, 1), (0,), (1,), ())),
        ("GROUPING SETS ((zone), (paid), ())", ((0,), (1,), ())),
        ("GROUPING SETS (zone, (zone, paid), zone)", ((0,), (0, 1))),
        ("GROUPING SETS (ROLLUP (zone, paid), ())", ((0, 1), (0,), ())),
        ("zone, ROLLUP (paid)", ((0, 1), (0,))),
        ("ROLLUP ((zone, paid))", ((0, 1), ())),
    ],
)
def test_grouping_sets(group: str, sets: tuple[tuple[int, ...], ...]) -> None:
    question = ask(f"SELECT zone, paid, COUNT(*) FROM orders GROUP BY {group}")
    assert question.grouping_sets == sets
    assert [key.expression for key in question.keys] == [ZONE, PAID]


def test_order_by_position_alias_and_expression() -> None:
    question = ask(
        "SELECT zone AS amount, SUM(orders.amount) AS s FROM orders GROUP BY zone ORDER BY 2, amount, COUNT(*) DESC"
    )
    assert question.order == ((real(0), False), (ColumnRef(Kind.TEXT, "k0"), False), (counted(1), True))


def test_having_may_use_aliases() -> None:
    question = ask("SELECT SUM(amount) AS s FROM orders HAVING s > 5 AND COUNT(*) > 1")
    assert question.having == call("and", call("greater", real(0), literal(5)), call("greater", counted(1), literal(1)))


def test_constants_beside_aggregates() -> None:
    assert ask("SELECT 'all' AS label, COUNT(*) FROM orders").outputs[0].expression == literal("all")


def test_names_resolve_without_regard_to_case_and_with_quotes() -> None:
    assert ask('SELECT SUM("AMOUNT") FROM "Orders"').aggregates == (Aggregate("sum", (AMOUNT,)),)


def test_rows_as_units() -> None:
    question = ask_rows("SELECT city, AVG(fare), COUNT(DISTINCT zone) FROM trips GROUP BY city")
    assert [aggregate.function for aggregate in question.aggregates] == ["mean", "count_distinct"]


@pytest.mark.parametrize(
    ("text", "remedy", "code"),
    [
        ("SELECT * FROM orders", "aggregates", "SRD-Q102"),
        ("SELECT orders.* FROM orders", "aggregates", "SRD-Q102"),
        ("SELECT amount FROM orders", "GROUP BY", "SRD-Q106"),
        ("SELECT amount + 1, COUNT(*) FROM orders", "GROUP BY", "SRD-Q106"),
        ("SELECT zone, COUNT(*) FROM orders GROUP BY paid", "GROUP BY", "SRD-Q106"),
        ("SELECT city FROM customers GROUP BY city", "public already", "SRD-Q106"),
        ("SELECT DISTINCT city, paid FROM customers JOIN orders USING (customer_id)", "COUNT(*)", "SRD-Q106"),
        ("SELECT z.zone FROM zones z LEFT JOIN orders o ON z.zone = o.zone GROUP BY z.zone", "public", "SRD-Q106"),
        ("SELECT zone FROM orders GROUP BY ROLLUP (zone)", "write COUNT(*)", "SRD-Q106"),
        ("SELECT 1 FROM orders", "COUNT(*)", "SRD-Q106"),
        ("SELECT DISTINCT zone FROM orders GROUP BY zone", "leave it out", "SRD-Q102"),
        ("SELECT DISTINCT COUNT(*) FROM orders", "leave it out", "SRD-Q102"),
        ("SELECT DISTINCT ON (zone) zone FROM orders", "leave it out", "SRD-Q102"),
        ("SELECT DISTINCT customer_id FROM orders", "COUNT(DISTINCT", "SRD-Q106"),
        ("SELECT DISTINCT amount FROM orders", "FLOOR", "SRD-Q106"),
        ("SELECT COUNT(*)", "FROM", "SRD-Q102"),
        ("SELECT amount, COUNT(*) FROM orders GROUP BY amount", "FLOOR", "SRD-Q106"),
        ("SELECT COUNT(*) FROM orders GROUP BY customer_id", "show persons", "SRD-Q106"),
        ("SELECT COUNT(*) FROM customers GROUP BY ROLLUP (customer_id)", "show persons", "SRD-Q106"),
        ("SELECT 'a' AS x, COUNT(*) FROM orders GROUP BY x", "constant", "SRD-Q106"),
        ("SELECT COUNT(*) FROM orders GROUP BY 7", "column number 7", "SRD-Q103"),
        ("SELECT COUNT(*) FROM orders GROUP BY 1", "aggregate", "SRD-Q102"),
        ("SELECT COUNT(*) FROM orders ORDER BY 2", "column number 2", "SRD-Q103"),
        ("SELECT COUNT(*) FROM orders ORDER BY amount", "GROUP BY", "SRD-Q106"),
        ("SELECT COUNT(*) FROM orders ORDER BY COUNT(*) NULLS FIRST", "last", "SRD-Q102"),
        ("SELECT COUNT(*) FROM orders ORDER BY ALL", "", "SRD-Q102"),
        ("SELECT QUANTILE(amount, [0.5, 0.6]) AS q FROM orders ORDER BY q", "one number", "SRD-Q104"),
        ("SELECT HISTOGRAM(amount, 5) + 1 FROM orders", "lists", "SRD-Q320"),
        ("SELECT COUNT(*) FROM orders HAVING MODE(paid)", "", "SRD-Q"),
        ("SELECT COUNT(*) FROM orders HAVING COUNT(*)", "comparison", "SRD-Q104"),
        ("SELECT COUNT(*) FROM orders LIMIT -1", "LIMIT 10", "SRD-Q104"),
        ("SELECT COUNT(*) FROM orders LIMIT COUNT(*)", "LIMIT 10", "SRD-Q104"),
        ("SELECT COUNT(*) FROM orders LIMIT 10 PERCENT", "", "SRD-Q1"),
        ("SELECT COUNT(*) FROM orders FETCH FIRST 5 ROWS ONLY", "LIMIT 10", "SRD-Q102"),
        ("SELECT SUM(SUM(amount)) FROM orders", "never into each other", "SRD-Q102"),
        ("SELECT SUM(zone) FROM orders", "CAST", "SRD-Q104"),
        ("SELECT SUM(DISTINCT amount) FROM orders", "COUNT(DISTINCT x)", "SRD-Q102"),
        ("SELECT COUNT(DISTINCT *) FROM orders", "COUNT(DISTINCT x)", "SRD-Q1"),
        ("SELECT COUNT() FROM orders", "argument", "SRD-Q104"),
        ("SELECT COUNT_PEOPLE(zone) FROM orders", "argument", "SRD-Q104"),
        ("SELECT COUNT_PEOPLE() FILTER (WHERE paid) FROM orders", "WHERE", "SRD-Q104"),
        ("SELECT ? AS x, COUNT(*) FROM orders", "value itself", "SRD-Q102"),
        ("SELECT ANY_VALUE(amount) FROM orders", "MODE", "SRD-Q102"),
        ("SELECT ARRAY_AGG(amount) FROM orders", "HISTOGRAM", "SRD-Q102"),
        ("SELECT STRING_AGG(zone, ',') FROM orders", "HISTOGRAM", "SRD-Q102"),
        ("SELECT BOOL_AND(paid) FROM orders", "COUNT_IF", "SRD-Q102"),
        ("SELECT GROUPING(zone), COUNT(*) FROM orders GROUP BY ROLLUP (zone)", "NULL key", "SRD-Q102"),
        ("SELECT MAX(amount, contribution_bounds_per_group => (0, 10)) FROM orders", "per_row", "SRD-Q108"),
        ("SELECT MODE(zone) FROM orders", "keys", "SRD-Q106"),
        ("SELECT TOP(paid, 3) FROM orders", "2 values", "SRD-Q104"),
        ("SELECT TOP(paid, amount) FROM orders", "constant", "SRD-Q104"),
        ("SELECT QUANTILE(amount, 1.5) FROM orders", "0 to 1", "SRD-Q104"),
        ("SELECT QUANTILE(0.5, amount) FROM orders", "write QUANTILE(x, 0.5)", "SRD-Q104"),
        ("SELECT HISTOGRAM(10, amount) FROM orders", "write HISTOGRAM(x, 10)", "SRD-Q104"),
        ("SELECT TOP(2, zone) FROM orders", "write TOP(x, 3)", "SRD-Q104"),
        ("SELECT TOP(paid, 0) FROM orders", "cannot give 0 of 2 values: ask for 1 to 2", "SRD-Q104"),
        ("SELECT SUM(ROUND(2, amount)) FROM orders", "write ROUND(x, 2)", "SRD-Q104"),
        ("SELECT zone, COUNT(*) AS n FROM orders GROUP BY zone ORDER BY wage", "there are n, zone", "SRD-Q103"),
        ("SELECT QUANTILE(amount, amount) FROM orders", "constant", "SRD-Q104"),
        ("SELECT QUANTILE(amount, []) FROM orders", "0 to 1", "SRD-Q104"),
        ("SELECT QUANTILE(amount) FROM orders", "argument", "SRD-Q104"),
        ("SELECT SUM(amount) WITHIN GROUP (ORDER BY amount) FROM orders", "PERCENTILE_CONT", "SRD-Q102"),
        ("SELECT HISTOGRAM(amount) FROM orders", "argument", "SRD-Q104"),
        ("SELECT HISTOGRAM(amount, 3, 2, 1) FROM orders", "ascend", "SRD-Q104"),
        ("SELECT HISTOGRAM(amount, 0) FROM orders", "bins", "SRD-Q104"),
        ("SELECT HISTOGRAM(order_id, 5) FROM orders", "edges", "SRD-Q106"),
        ("SELECT REGRESSION(amount) FROM orders", "REGRESSION(y, x1, x2)", "SRD-Q104"),
        ("SELECT ABS(amount) FILTER (WHERE paid) FROM orders", "FILTER goes with", "SRD-Q102"),
        ("SELECT SUM(amount) OVER () FROM orders", "subquery", "SRD-Q102"),
        (
            "SELECT COUNT(*) FROM orders GROUP BY CUBE (zone, paid, day, at, order_id, LOWER(zone), UPPER(zone))",
            "",
            "SRD-Q102",
        ),
        (
            "SELECT COUNT(*) FROM orders GROUP BY CUBE (zone, paid, day), CUBE (at, order_id, LOWER(zone), "
            "UPPER(zone))",
            "64",
            "SRD-Q102",
        ),
        ("SELECT COUNT(*) FROM orders GROUP BY zone WITH ROLLUP", "ROLLUP (a, b)", "SRD-Q102"),
        ("SELECT COUNT(*) FROM orders UNION ALL SELECT COUNT(*) FROM orders", "UNION ALL", "SRD-Q102"),
        ("SELECT COUNT(*) FROM zones", "query them directly", "SRD-Q106"),
        ("SELECT COUNT(*) FROM orders QUALIFY COUNT(*) > 1", "subquery", "SRD-Q102"),
        ("SELECT COUNT(*) FROM orders FOR UPDATE", "only read", "SRD-Q102"),
        ("SELECT " + ", ".join(["COUNT(*)"] * 301) + " FROM orders", "300", "SRD-Q102"),
        (
            "SELECT COUNT(*) FROM orders GROUP BY " + ", ".join(f"SUBSTR(zone, {i})" for i in range(1, 66)),
            "64 keys",
            "SRD-Q102",
        ),
    ],
)
def test_refusals_name_the_remedy(text: str, remedy: str, code: str) -> None:
    with pytest.raises(QuestionError) as caught:
        ask(text)
    assert remedy in str(caught.value)
    assert caught.value.code.startswith(code)


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("SELECT COUNT(*) FROM ordrs", "did you mean orders?"),
        ("SELECT SUM(amout) FROM orders", "did you mean amount?"),
        ("SELECT SUM(o.amout) FROM orders o", "did you mean amount?"),
        ("SELECT SUM(orders.amount) FROM orders o", "there is no table or alias 'orders'"),
        ("SELECT SUMM(amount) FROM orders", "did you mean SUM?"),
        ("SELECT SUM(ABSS(amount)) FROM orders", "did you mean ABS?"),
        ("SELECT COUNT(*) FROM qqqqqq", "there are customers, items"),
        ("SELECT zone, COUNT(*) FROM orders GROUP BY zon", "did you mean zone?"),
    ],
)
def test_misspelt_names_are_guessed(text: str, hint: str) -> None:
    with pytest.raises(QuestionError) as caught:
        ask(text)
    assert hint in str(caught.value)
    assert caught.value.code == "SRD-Q103"


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("SELECT zone FROM orders GROUP BY zone", ["zone"]),
        ("SELECT zone FROM orders GROUP BY ALL", ["zone"]),
        ("SELECT DISTINCT zone FROM orders", ["zone"]),
        ("SELECT DISTINCT zone AS z, city FROM orders JOIN customers USING (customer_id) WHERE paid", ["z", "city"]),
        ("SELECT DISTINCT LOWER(zone) AS z FROM orders HAVING z > 'a' ORDER BY z DESC LIMIT 3", ["z"]),
    ],
)
def test_which_groups_there_are_can_be_asked_by_itself(text: str, names: list[str]) -> None:
    question = ask(text)
    assert question.aggregates == ()
    assert [key.name for key in question.keys] == names
    assert [output.name for output in question.outputs] == names


@pytest.mark.parametrize("sets", ["ROLLUP (zone)", "CUBE (zone)", "GROUPING SETS (zone, ())"])
@pytest.mark.parametrize("clause", ["", "SELECT WITH DIFFERENTIAL_PRIVACY "])
def test_totals_can_be_ordered_and_cut(sets: str, clause: str) -> None:
    for rest in ("LIMIT 5", "LIMIT 5 OFFSET 2", "ORDER BY n DESC LIMIT 5", "HAVING n > 3 LIMIT 5"):
        question = ask(f"{clause or 'SELECT '}zone, COUNT(*) AS n FROM orders GROUP BY {sets} {rest}")
        assert (question.limit, question.grouping_sets) == (5, ((0,), ()))
    question = ask(f"SELECT zone, COUNT(*) AS n FROM orders GROUP BY {sets} OFFSET 2")
    assert question.offset == 2
