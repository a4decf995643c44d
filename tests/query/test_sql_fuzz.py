"""Whatever the text, the outcome is a question or an error on purpose; and every question keeps its invariant."""

# ruff: noqa: S608  (these texts are read, never run)

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress

from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from query.sql_schemas import ROWS, SHOP
from sordino.data.metadata import Schema
from sordino.errors import ArgumentError, QuestionError
from sordino.query.model.expression import Call, Expression
from sordino.query.model.lineage import owners
from sordino.query.model.operations import RULES
from sordino.query.model.question import Question
from sordino.query.model.ranges import derive
from sordino.query.model.relation import Join, PerPerson, Relation, SemiJoin, UnionAll, Windowed
from sordino.query.sql.parse import parse

SOUP = (
    "SELECT FROM WHERE GROUP BY HAVING ORDER LIMIT JOIN LEFT ON USING AND OR NOT IN EXISTS BETWEEN LIKE IS NULL CASE "
    "WHEN THEN ELSE END AS DISTINCT UNION ALL WITH OVER PARTITION ROLLUP CUBE FILTER CAST EXTRACT INTERVAL DAY DATE "
    "TIMESTAMP orders customers items zones o c z amount customer_id zone order_id paid day at age city tax price "
    "COUNT SUM AVG MIN MEDIAN QUANTILE HISTOGRAM ABS ROUND DATE_TRUNC RANDOM read_parquet ( ) ( ) ( ) , , . * + - / % "
    "= <> < > || ; ' \" ` :: [ ] 1 0 2.5 1e400 'a' '2026-01-31' TRUE -- /* */ ? $1 @ # \\ \0 é"
)
WORDS = SOUP.split(" ")

VALID = (
    "SELECT zone, COUNT(*) AS n, AVG(amount) FROM orders WHERE paid AND day >= '2026-01-31' GROUP BY "
    "zone HAVING n > 5 ORDER BY n LIMIT 3",
    "SELECT c.city, SUM(o.amount * z.tax) FROM customers c JOIN orders o ON c.customer_id = "
    "o.customer_id JOIN zones z ON o.zone = z.zone GROUP BY c.city",
    "SELECT AVG(n) FROM (SELECT customer_id, COUNT(*) AS n FROM orders GROUP BY customer_id) t WHERE n BETWEEN 1 AND 5",
    "WITH f AS (SELECT *, ROW_NUMBER() OVER (PARTITION BY customer_id ORDER BY day) AS r FROM orders) "
    "SELECT COUNT(*) FROM f WHERE r = 1",
    "SELECT COUNT(*) FROM customers c WHERE EXISTS (SELECT 1 FROM orders o WHERE o.customer_id = "
    "c.customer_id AND o.amount > 5)",
    "SELECT COUNT(*) FROM orders WHERE zone NOT IN (SELECT zone FROM zones WHERE tax > 0.5) AND amount IN (1, 2)",
    "SELECT s, COUNT(DISTINCT who) FROM (SELECT 'a' AS s, customer_id AS who FROM orders UNION ALL "
    "SELECT 'b', customer_id FROM customers) GROUP BY ROLLUP (s)",
    "SELECT z.zone, COUNT(o.amount) FROM zones z LEFT JOIN orders o ON z.zone = o.zone GROUP BY z.zone",
    "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1, max_groups_contributed=2) CASE WHEN age > 30 "
    "THEN 'old' ELSE 'young' END AS g, COUNT(*) FROM customers GROUP BY g",
    "SELECT QUANTILE(amount, [0.1, 0.9]), HISTOGRAM(amount, 0, 10, 20), ROUND(SUM(amount) FILTER (WHERE "
    "paid) / COUNT(*), 2) FROM orders",
)


def relations(relation: Relation) -> Iterator[Relation]:
    yield relation
    for below in relation.inputs:
        yield from relations(below)


def check_expression(expression: Expression) -> None:
    for node in expression.walk():
        assert not isinstance(node, Call) or node.operation in RULES


def check(question: Question, schema: Schema) -> None:
    """Judge the invariant of ``relation`` node by node, not trusting who built it."""
    assert not question.relation.is_public
    for node in relations(question.relation):
        columns = node.columns
        assert owners(node, schema) <= set(columns)
        if isinstance(node, Join):
            assert node.on_owner is not node.right.is_public
            assert node.right.is_public or not node.left.is_public
            assert not (schema.by_row and node.on_owner)
            assert node.single is (schema.by_row and not node.left.is_public)
        if isinstance(node, SemiJoin):
            assert node.on_owner is not node.members.is_public
            assert node.members.is_public or not node.source.is_public
        if isinstance(node, PerPerson | Windowed):
            assert not schema.by_row
            assert not node.is_public
        if isinstance(node, PerPerson):
            assert owners(node, schema)
        if isinstance(node, UnionAll):
            assert len({branch.is_public for branch in node.branches}) == 1
            assert all(list(branch.columns) == list(columns) for branch in node.branches)
    for aggregate in question.aggregates:
        for argument in aggregate.arguments:
            check_expression(argument)
            derive(argument, question.relation.columns)
    for key in question.keys:
        assert key.column.kind.can_be_key
        check_expression(key.expression)
    names = {f"k{place}" for place in range(len(question.keys))} | {
        f"a{place}" for place in range(len(question.aggregates))
    }
    for output in question.outputs:
        check_expression(output.expression)
        assert output.expression.columns <= names
    for expression, _ in question.order:
        assert expression.columns <= names
    assert question.key_table is None or question.key_table.relation.is_public


def attempt(text: str) -> None:
    for schema in (SHOP, ROWS):
        with suppress(QuestionError, ArgumentError):
            check(parse(text, schema), schema)


@settings(deadline=None, max_examples=200, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(st.sampled_from(WORDS), max_size=40).map(" ".join))
@example("SELECT")
@example("SELECT COUNT(*) FROM orders WHERE zone = '\0'")
def test_soup_of_words(text: str) -> None:
    attempt(text)
    attempt("SELECT " + text)
    attempt("SELECT COUNT(*) FROM orders WHERE " + text)


@settings(deadline=None, max_examples=300)
@given(st.text(max_size=80))
def test_any_text(text: str) -> None:
    attempt(text)
    attempt("SELECT COUNT(*) FROM orders WHERE zone = '" + text)


@st.composite
def mutated(draw: st.DrawFn) -> str:
    words = draw(st.sampled_from(VALID)).replace("(", " ( ").replace(")", " ) ").replace(",", " , ").split()
    for _ in range(draw(st.integers(1, 4))):
        place = draw(st.integers(0, len(words) - 1))
        change = draw(st.sampled_from(["drop", "repeat", "replace", "insert", "swap"]))
        other = draw(st.integers(0, len(words) - 1))
        new = {
            "drop": [],
            "repeat": [words[place]] * 2,
            "replace": [draw(st.sampled_from(WORDS))],
            "insert": [words[place], draw(st.sampled_from(WORDS))],
            "swap": [words[other]],
        }[change]
        words[place : place + 1] = new
        if not words:
            return ""
    return " ".join(words)


@settings(deadline=None, max_examples=300)
@given(mutated())
def test_mutations_of_valid_questions(text: str) -> None:
    attempt(text)


def test_the_valid_ones_are() -> None:
    for text in VALID:
        check(parse(text, SHOP), SHOP)
