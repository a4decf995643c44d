"""What an engine would have to read is counted before anything is charged: subqueries put into each other and all."""

# ruff: noqa: S608  (these texts are read, never run)

from __future__ import annotations

import re
from dataclasses import replace

import ibis
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from query.lowering_expressions import expressions
from query.sql_schemas import ask
from sordino.data.kinds import Kind
from sordino.errors import QuestionError
from sordino.query.engine.expressions import lower_expression
from sordino.query.engine.values import TYPES
from sordino.query.model.complexity import refuse_large_question
from sordino.query.model.expression import Call, ColumnRef, Expression
from sordino.query.model.literals import literal
from sordino.query.model.operations import call
from sordino.query.model.weights import LARGEST, Weight, weigh

KINDS = {f"the_{kind.value}": kind for kind in Kind}
TABLE = ibis.table({name: TYPES[kind] for name, kind in KINDS.items()}, name="t")
REAL, TEXT = ColumnRef(Kind.REAL, "the_real"), ColumnRef(Kind.TEXT, "the_text")


def columns_read(expression: Expression, dialect: str) -> int:
    """How many columns stand in what the engine is given; PostgreSQL reads x BETWEEN a AND b as two comparisons."""
    sql = str(ibis.to_sql(TABLE.select(v=lower_expression(expression, TABLE, dialect)), dialect=dialect))
    return len(re.findall('"the_[a-z]+"', sql)) + (sql.count("BETWEEN") if dialect == "postgres" else 0)


@pytest.mark.parametrize("dialect", ["duckdb", "postgres"])
@settings(deadline=None, max_examples=150)
@given(expression=st.sampled_from(list(Kind)).flatmap(lambda kind: expressions(KINDS, kind, 3)))
def test_the_weight_is_never_below_what_is_read(dialect: str, expression: Expression) -> None:
    assert columns_read(expression, dialect) <= weigh(expression, {}).parts


@pytest.mark.parametrize("dialect", ["duckdb", "postgres"])
@pytest.mark.parametrize("operation", ["exp", "ln", "sqrt", "negate", "floor", "sign", "power"])
def test_nor_where_operations_repeat_their_arguments(dialect: str, operation: str) -> None:
    for argument in (REAL, call("multiply", call("multiply", REAL, REAL), REAL), call("coalesce", REAL, literal(0))):
        expression = call(operation, argument, *[literal(3)] * (operation == "power"))
        assert columns_read(expression, dialect) <= weigh(expression, {}).parts


def substituted(expression: Expression, columns: dict[str, Expression]) -> Expression:
    """The expression as an engine makes it: with those of a subquery in place of its columns."""
    if isinstance(expression, ColumnRef):
        return columns[expression.name]
    if isinstance(expression, Call):
        return replace(expression, arguments=tuple(substituted(each, columns) for each in expression.arguments))
    return expression


@given(below=expressions(KINDS, Kind.TEXT, 2), above=expressions({"c": Kind.TEXT}, Kind.TEXT, 2))
def test_columns_weigh_what_stands_for_them(below: Expression, above: Expression) -> None:
    whole = weigh(substituted(above, {"c": below}), {})
    assert weigh(above, {"c": weigh(below, {})}) == whole


def test_constants_of_a_list_count() -> None:
    many = call("in", TEXT, detail=tuple(map(str, range(400))))
    assert weigh(many, {}) == Weight(102, 1)


def nested(times: int, expression: str, source: str = "orders") -> str:
    """Subqueries one upon another, each of which computes the column zone, or amount, of the one below."""
    for place in range(times):
        source = f"(SELECT customer_id, {expression} FROM {source}) AS s{place}"
    return source


SIXTEEN = " || ".join(["zone"] * 16) + " AS zone"
BRANCHES = " ".join(f"WHEN amount > {place} THEN amount + {place}" for place in range(6))
HOSTILE = {
    "texts": f"SELECT COUNT(*) FROM {nested(7, SIXTEEN)} WHERE LENGTH(zone) > 3",
    "texts as keys": f"SELECT zone, COUNT(*) FROM {nested(7, SIXTEEN)} GROUP BY zone",
    "texts in an aggregate": f"SELECT COUNT(DISTINCT zone) FROM {nested(4, SIXTEEN)}",
    "branches": f"SELECT SUM(amount) FROM {nested(6, f'CASE {BRANCHES} ELSE amount END AS amount')}",
    "products": f"SELECT SUM(amount) FROM {nested(12, 'amount * amount AS amount')}",
    "roots": f"SELECT COUNT(*) FROM {nested(9, 'SQRT(amount) AS amount')} WHERE amount > 1",
    "keys of each person": (
        "SELECT COUNT(*) FROM (SELECT customer_id, zone FROM "
        f"{nested(5, SIXTEEN)} GROUP BY customer_id, zone) WHERE zone > 'a'"
    ),
    "windows": (
        f"SELECT COUNT(*) FROM (SELECT LAG(zone) OVER (PARTITION BY customer_id ORDER BY zone) AS z FROM "
        f"{nested(5, SIXTEEN)}) WHERE z > 'a'"
    ),
    "joins": (
        f"SELECT COUNT(*) FROM orders o JOIN {nested(5, SIXTEEN)} ON o.customer_id = s4.customer_id WHERE s4.zone > 'a'"
    ),
    "members": (
        "SELECT COUNT(*) FROM orders WHERE customer_id IN (SELECT customer_id FROM "
        f"{nested(6, SIXTEEN)} WHERE zone > 'a')"
    ),
    "edges": "SELECT HISTOGRAM(SQRT(amount) * amount, " + ", ".join(map(str, range(500))) + ") FROM orders",
    "sets": "SELECT COUNT(*) FROM orders GROUP BY GROUPING SETS ("
    + ", ".join(f"(CASE WHEN {' OR '.join(['amount > 1'] * 60)} THEN {place} ELSE 0 END)" for place in range(30))
    + ")",
    "public keys": (
        f"SELECT k.zone, COUNT(o.amount) FROM (SELECT {SIXTEEN} FROM (SELECT {SIXTEEN} FROM (SELECT {SIXTEEN} FROM "
        f"(SELECT {SIXTEEN} FROM zones)))) AS k LEFT JOIN orders o ON k.zone = o.zone GROUP BY k.zone"
    ),
    "sums of many": "SELECT SUM(" + " + ".join(["amount"] * 1_001) + ") FROM orders",
}  # fmt: skip


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_what_would_grow_beyond_measure_is_refused(text: str) -> None:
    with pytest.raises(QuestionError, match=r"too many parts|more than 2?[04],000 parts") as caught:
        ask(text)
    assert caught.value.code == "SRD-Q101"


def test_unions_of_unions_are_refused() -> None:
    parts = [f"u{place} AS (SELECT * FROM u{place - 1} UNION ALL SELECT * FROM u{place - 1})" for place in range(1, 7)]
    text = f"WITH u0 AS (SELECT zone FROM orders), {', '.join(parts)} SELECT COUNT(*) FROM u6 WHERE "
    assert ask(text + "zone > 'a'")
    with pytest.raises(QuestionError, match="more than 20,000 parts"):
        ask(text + " OR ".join(f"zone LIKE '{place}%'" for place in range(190)))


def chained(times: int, step: str) -> str:
    """A chain of names, each made from the one before."""
    parts = [f"w{place} AS ({step.format(f'w{place - 1}')})" for place in range(1, times + 1)]
    named = f"WITH w0 AS (SELECT customer_id, zone FROM orders), {', '.join(parts)}"
    return f"{named} SELECT COUNT(*) FROM w{times} WHERE zone > 'a'"


STEPS = {
    "joins": ("SELECT a.customer_id, a.zone FROM {0} a JOIN orders b ON a.customer_id = b.customer_id", 14),
    "summaries": ("SELECT customer_id, MAX(zone) AS zone FROM {0} GROUP BY customer_id", 20),
    "windows": (
        "SELECT customer_id, LAG(zone) OVER (PARTITION BY customer_id ORDER BY zone) AS zone FROM {0}",
        20,
    ),
    "unions": ("SELECT customer_id, zone FROM {0} UNION ALL SELECT customer_id, zone FROM orders", 17),
}


@pytest.mark.parametrize(("step", "possible"), STEPS.values(), ids=STEPS)
def test_selections_stand_upon_each_other_to_a_limit(step: str, possible: int) -> None:
    assert ask(chained(possible, step))
    with pytest.raises(QuestionError, match=r"one upon another|too many subqueries") as caught:
        ask(chained(possible + 3, step))
    assert caught.value.code == "SRD-Q101"


def test_expressions_through_subqueries_have_a_depth() -> None:
    lower = "SELECT customer_id, LOWER(LOWER(LOWER(LOWER(LOWER(zone))))) AS zone FROM {0}"
    assert ask(chained(11, lower))
    with pytest.raises(QuestionError, match="nested more than 60 deep") as caught:
        ask(chained(12, lower))
    assert caught.value.code == "SRD-Q101"


def test_ordinary_questions_are_far_below_the_limit() -> None:
    pricing = """
    SELECT zone, SUM(net) AS net, SUM(gross) AS gross, AVG(gross - net) AS tax, COUNT(*) AS n
    FROM (SELECT zone, amount * (1 - 0.05) AS net, amount * (1 - 0.05) * (1 + tax) AS gross, paid
          FROM (SELECT o.zone, o.amount, o.paid, z.tax FROM orders o JOIN zones z ON o.zone = z.zone))
    WHERE paid AND gross / NULLIF(net, 0) < 1.5 GROUP BY zone
    """
    question = ask(pricing)
    longer = replace(question, aggregates=question.aggregates * 5)
    refuse_large_question(longer)
    assert LARGEST == 4_000
