"""FROM, joins, subqueries, windows and unions: a person's rows depend on that person's rows and public ones alone."""

# ruff: noqa: S608  (these texts are read, never run)

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from query.sql_schemas import ORDERS, SHOP, ask, ask_rows
from sordino.accounting.bound import Unit
from sordino.data.kinds import Kind, Range
from sordino.data.metadata import Column, OwnedByParent, Schema, Table
from sordino.errors import QuestionError
from sordino.query.model.expression import ColumnRef
from sordino.query.model.lineage import origin, owners
from sordino.query.model.literals import literal
from sordino.query.model.operations import call
from sordino.query.model.question import Aggregate
from sordino.query.model.relation import Filter, Join, PerPerson, Project, Relation, Scan, SemiJoin, UnionAll, Windowed
from sordino.query.sql.parse import parse


def relation(text: str, ask_whom: Any = ask) -> Relation:
    found = ask_whom(text).relation
    assert isinstance(found, Relation)
    return found


def table(found: Relation) -> str:
    assert isinstance(found, Scan)
    return found.table.name


# Joins


def test_a_private_table_joins_a_public_one() -> None:
    found = relation("SELECT COUNT(*) FROM orders o JOIN zones z ON o.zone = z.zone")
    assert isinstance(found, Join)
    assert (table(found.left), table(found.right)) == ("orders", "zones")
    assert found.on == (("zone", "zone"),)
    assert dict(found.right_names) == {"zone": "zone_2", "name": "name", "tax": "tax"}
    assert (found.how, found.on_owner, found.single) == ("inner", False, False)


def test_a_left_join_keeps_rows_and_makes_nulls() -> None:
    found = relation("SELECT SUM(tax) FROM orders LEFT JOIN zones USING (zone)")
    assert isinstance(found, Join)
    assert found.how == "left"
    assert found.columns["tax"].nullable


def test_a_public_table_joined_first_changes_places() -> None:
    question = ask(
        "SELECT z.name, SUM(o.amount), COUNT(z.zone) FROM zones z JOIN orders o ON z.zone = o.zone GROUP BY z.name"
    )
    found = question.relation
    assert isinstance(found, Join)
    assert (table(found.left), table(found.right)) == ("orders", "zones")
    assert question.aggregates[1] == Aggregate("count", (ColumnRef(Kind.TEXT, "zone_2"),))


def test_public_tables_join_among_themselves() -> None:
    text = (
        "SELECT COUNT(*) FROM orders JOIN (SELECT a.zone FROM zones a JOIN zones b ON a.zone = b.name) p USING (zone)"
    )
    found = relation(text)
    assert isinstance(found, Join)
    assert found.right.is_public


def test_under_row_level_privacy_a_row_meets_one_public_row() -> None:
    found = relation("SELECT COUNT(*) FROM trips JOIN zones USING (zone)", ask_rows)
    assert isinstance(found, Join)
    assert found.single


@pytest.mark.parametrize(
    ("text", "on"),
    [
        ("customers c JOIN orders o ON c.customer_id = o.customer_id", ()),
        ("orders a JOIN orders b ON a.customer_id = b.customer_id AND a.zone = b.zone", (("zone", "zone"),)),
        ("items JOIN orders USING (order_id)", (("order_id", "order_id"),)),
        ("orders JOIN items USING (order_id)", (("order_id", "order_id"),)),
        ("items JOIN returns USING (order_id)", (("order_id", "order_id"),)),
        ("customers c LEFT JOIN orders o ON (o.customer_id = c.customer_id)", ()),
    ],
)
def test_private_tables_join_on_their_owner(text: str, on: tuple[tuple[str, str], ...]) -> None:
    found = relation(f"SELECT COUNT(*) FROM {text}")
    assert isinstance(found, Join)
    assert found.on_owner
    assert found.on == on


def test_owners_are_followed_through_subqueries() -> None:
    found = relation(
        "SELECT COUNT(*) FROM (SELECT customer_id AS who, amount FROM orders WHERE paid) o "
        "JOIN (SELECT customer_id AS person FROM customers) c ON o.who = c.person"
    )
    assert isinstance(found, Join)
    assert found.on_owner
    assert found.on == ()
    assert owners(found, SHOP) == {"customer_id", "customer_id_2"}


def test_more_conditions_become_filters() -> None:
    text = "orders o JOIN zones z ON o.zone = z.zone AND z.tax > 0.5 AND o.amount > z.tax"
    found = relation(f"SELECT COUNT(*) FROM {text}")
    assert isinstance(found, Filter)
    assert isinstance(found.source, Join)
    assert isinstance(found.source.right, Filter)
    left = relation("SELECT COUNT(*) FROM orders o LEFT JOIN zones z ON o.zone = z.zone AND z.tax > 0.5")
    assert isinstance(left, Join)
    assert isinstance(left.right, Filter)


@pytest.mark.parametrize(
    ("text", "remedy", "code"),
    [
        ("orders JOIN customers ON orders.day = customers.joined", "person", "SRD-Q105"),
        ("items JOIN customers ON items.order_id = customers.customer_id", "person", "SRD-Q105"),
        ("orders o JOIN customers c ON o.customer_id = c.custmer_id", "did you mean customer_id?", "SRD-Q103"),
        ("orders o, customers c WHERE o.customer_id = c.custmer_id", "did you mean customer_id?", "SRD-Q103"),
        ("orders FULL JOIN zones USING (zone)", "LEFT JOIN", "SRD-Q102"),
        ("orders CROSS JOIN items", "two private tables", "SRD-Q102"),
        ("orders NATURAL JOIN zones", "NATURAL JOIN is not possible: write JOIN … USING (x)", "SRD-Q102"),
        ("orders ASOF JOIN zones USING (zone)", "ON a.x = b.x", "SRD-Q102"),
        ("orders POSITIONAL JOIN zones", "leave it out", "SRD-Q102"),
        ("orders LEFT JOIN zones", "ON a.x = b.x", "SRD-Q102"),
        ("orders, items", "write FROM orders JOIN items ON orders.x = items.x", "SRD-Q102"),
        ("orders SEMI JOIN zones USING (zone)", "EXISTS", "SRD-Q102"),
        ("orders ANTI JOIN zones USING (zone)", "NOT EXISTS", "SRD-Q102"),
        ("orders NATURAL JOIN zones", "", "SRD-Q102"),
        ("orders ASOF JOIN zones ON orders.zone >= zones.zone", "", "SRD-Q102"),
        ("orders POSITIONAL JOIN zones", "", "SRD-Q102"),
        ("orders o JOIN zones z ON o.zone > z.zone", "equality", "SRD-Q102"),
        ("orders o JOIN zones z ON LOWER(o.zone) = z.zone", "equality", "SRD-Q102"),
        ("orders o JOIN zones z ON o.zone = z.zone OR o.paid", "equality", "SRD-Q102"),
        ("orders o JOIN zones z ON o.amount = z.tax", "cast", "SRD-Q104"),
        ("orders o JOIN zones z ON o.order_id = z.zone", "cast", "SRD-Q104"),
        ("orders o LEFT JOIN zones z ON o.zone = z.zone AND o.paid", "WHERE", "SRD-Q102"),
        ("orders JOIN orders USING (customer_id)", "alias", "SRD-Q103"),
        ("orders JOIN zones USING (zon)", "zone", "SRD-Q103"),
        ("orders o JOIN zones z ON o.zone = z.zone AND zone = 'a'", "o.zone or z.zone", "SRD-Q103"),
        ("orders o JOIN LATERAL (SELECT 1) x ON TRUE", "subquery", "SRD-Q102"),
        ("orders o JOIN zones z ON o.zone = z.zone AND o.zone IN (SELECT zone FROM zones)", "", "SRD-Q102"),
        ("(SELECT z.zone FROM zones z LEFT JOIN orders o ON z.zone = o.zone) x", "belong to nobody", "SRD-Q105"),
        ("orders TABLESAMPLE 10 PERCENT", "sample", "SRD-Q102"),
        ("orders PIVOT (SUM(amount) FOR zone IN ('a'))", "CASE", "SRD-Q102"),
        ("(VALUES (1, 2)) v(x, y)", "rows of one constant", "SRD-Q104"),
        ("UNNEST([1, paid]) u", "", "SRD-Q103"),
        ("generate_series(1, 10)", "table", "SRD-Q102"),
    ],
)
def test_refused_sources(text: str, remedy: str, code: str) -> None:
    with pytest.raises(QuestionError) as caught:
        ask(f"SELECT COUNT(*) FROM {text}")
    assert remedy in str(caught.value)
    assert caught.value.code == code


@pytest.mark.parametrize(
    "text",
    [
        "SELECT COUNT(*) FROM trips a JOIN trips b ON a.city = b.city",
        "SELECT COUNT(*) FROM trips WHERE city IN (SELECT city FROM trips)",
        "SELECT AVG(n) FROM (SELECT city, COUNT(*) AS n FROM trips GROUP BY city)",
        "SELECT COUNT(*) FROM (SELECT DISTINCT city FROM trips)",
        "SELECT COUNT(*) FROM (SELECT ROW_NUMBER() OVER (PARTITION BY city ORDER BY fare) AS r FROM trips)",
    ],
)
def test_rows_as_units_have_nothing_in_common(text: str) -> None:
    with pytest.raises(QuestionError) as caught:
        ask_rows(text)
    assert caught.value.code == "SRD-Q105"


# Subqueries


def test_subqueries_without_names() -> None:
    assert relation("SELECT COUNT(*) FROM (SELECT * FROM orders)")
    with pytest.raises(QuestionError, match="two tables have no name"):
        ask("SELECT COUNT(*) FROM (SELECT zone FROM orders) JOIN (SELECT zone FROM zones) USING (zone)")


def test_a_path_that_leads_nowhere_ends() -> None:
    lost = Table("lost", {"x": Column(Kind.INTEGER)}, OwnedByParent("x", "nowhere", "y"))
    schema = Schema("s", {"lost": lost}, Unit("person"))
    assert owners(Scan(lost), schema) == frozenset()


def test_origins_are_followed_through_joins() -> None:
    found = relation(
        "SELECT COUNT(*) FROM items i JOIN orders o USING (order_id) JOIN returns r ON o.order_id = r.order_id"
    )
    assert origin(found, "reason") == ("returns", "reason")
    assert origin(found, "price") == ("items", "price")


def test_an_expression_that_only_some_aliases_have() -> None:
    question = ask(
        "SELECT zone AS z, z.x AS y, COUNT(*) FROM (SELECT zone, paid AS x FROM orders) z GROUP BY zone, z.x"
    )
    assert [key.name for key in question.keys] == ["z", "y"]


def test_subqueries_project_under_names_of_our_own() -> None:
    question = ask('SELECT SUM("owner__") FROM (SELECT amount AS "owner__", zone AS "x; DROP" FROM orders) AS t')
    found = question.relation
    assert isinstance(found, Project)
    assert [name for name, _, _ in found.outputs] == ["amount", "zone"]
    assert found.columns["amount"].range == Range.of(0, 1000)


def test_names_of_our_own_never_meet() -> None:
    text = "(SELECT amount * 2 AS a, zone, zone AS again, c0, amount * 3 AS b FROM (SELECT *, 1 AS c0 FROM orders))"
    found = relation(f"SELECT SUM(a + b), COUNT(DISTINCT again) FROM {text}")
    assert isinstance(found, Project)
    names = [name for name, _, _ in found.outputs]
    assert (names[:3], len(set(names))) == (["c0", "zone", "zone_2"], 5)


def test_names_by_with() -> None:
    question = ask(
        "WITH big AS (SELECT *, amount * 2 AS twice FROM orders WHERE amount > 5), zones AS (SELECT * FROM big) "
        "SELECT zone, SUM(twice) FROM zones GROUP BY zone"
    )
    assert question.keys[0].name == "zone"
    assert question.aggregates[0].arguments[0] == ColumnRef(Kind.REAL, "c7")


def test_columns_may_be_renamed() -> None:
    assert ask("WITH c(x, y) AS (SELECT zone, amount FROM orders) SELECT SUM(y) FROM c").aggregates
    assert ask("SELECT SUM(k.y) FROM (SELECT zone, amount FROM orders) AS k(x, y)").aggregates
    assert ask("SELECT SUM(z) FROM zones AS q(a, b, z) JOIN orders ON orders.zone = q.a").aggregates
    with pytest.raises(QuestionError, match="name them all"):
        ask("WITH c(x) AS (SELECT zone, amount FROM orders) SELECT COUNT(*) FROM c")


def test_names_of_with_are_seen_below_only() -> None:
    with pytest.raises(QuestionError, match="no table 'inner_one'"):
        ask(
            "SELECT COUNT(*) FROM (WITH inner_one AS (SELECT * FROM orders) SELECT * FROM inner_one) x JOIN "
            "inner_one USING (zone)"
        )
    with pytest.raises(QuestionError, match="RECURSIVE"):
        ask("WITH RECURSIVE r AS (SELECT * FROM orders) SELECT COUNT(*) FROM r")


def test_stars_are_written_out() -> None:
    found = relation("SELECT COUNT(*) FROM (SELECT * FROM orders JOIN zones USING (zone))")
    assert len(found.columns) == 7 + 2
    found = relation("SELECT COUNT(*) FROM (SELECT z.*, o.amount FROM orders o JOIN zones z USING (zone))")
    assert len(found.columns) == 3 + 1
    for text, match in [
        ("SELECT q.* FROM orders", "alias 'q'"),
        ("SELECT * EXCLUDE (zone) FROM orders", "list the columns"),
        ("SELECT COLUMNS('a') FROM orders", "list the columns"),
    ]:
        with pytest.raises(QuestionError, match=match):
            ask(f"SELECT COUNT(*) FROM ({text})")


def test_equal_names_are_told_apart_by_a_number() -> None:
    assert ask("SELECT SUM(x), SUM(x_2) FROM (SELECT amount AS x, order_id AS x FROM orders)").aggregates


@pytest.mark.parametrize(
    ("text", "remedy"),
    [
        ("SELECT * FROM orders LIMIT 5", "push out"),
        ("SELECT * FROM orders OFFSET 5", "push out"),
        ("SELECT * FROM orders ORDER BY day", "outside"),
        ("SELECT * FROM orders HAVING paid", "WHERE"),
        ("SELECT DISTINCT ON (zone) * FROM orders", ""),
        ("SELECT ROW_NUMBER() OVER w AS r FROM orders WINDOW w AS (PARTITION BY customer_id)", "OVER (PARTITION BY"),
        ("SELECT * FROM orders QUALIFY ROW_NUMBER() OVER (PARTITION BY customer_id ORDER BY day) = 1", "WHERE outside"),
        ("INSERT INTO orders SELECT * FROM orders RETURNING *", ""),
    ],
)
def test_refused_subqueries(text: str, remedy: str) -> None:
    with pytest.raises(QuestionError) as caught:
        ask(f"SELECT COUNT(*) FROM ({text})")
    assert remedy in str(caught.value)


# One person at a time


def test_an_inner_group_by_is_keyed_by_the_person() -> None:
    found = relation(
        "SELECT AVG(n) FROM (SELECT customer_id, zone AS z, COUNT(*) AS n, SUM(amount) AS s, AVG(amount) + 1 AS m, "
        "COUNT(DISTINCT day) AS d, COUNT_IF(paid) AS p, COUNT(*) FILTER (WHERE paid) AS f, MIN(day) AS first "
        "FROM orders GROUP BY 1, z HAVING n > 1)"
    )
    assert isinstance(found, Project)
    assert isinstance(found.source, Filter)
    grouped = found.source.source
    assert isinstance(grouped, PerPerson)
    assert [(name, function) for name, function, _, _ in grouped.summaries] == [
        ("s0", "count"),
        ("s1", "sum"),
        ("s2", "mean"),
        ("s3", "count_distinct"),
        ("s4", "count"),
        ("s5", "min"),
    ]
    assert found.columns["s0"] == Column(Kind.INTEGER, Range.of(0, 10), nullable=False)
    assert found.columns["s1"] == Column(Kind.REAL, Range.of(0, 10_000), nullable=False)
    assert found.columns["c4"].range == Range.of(1, 1001)
    assert owners(found, SHOP) == {"customer_id"}
    assert origin(found, "zone") == ("orders", "zone")
    assert origin(found, "s0") is None


def test_without_declared_rows_summaries_have_no_range() -> None:
    found = relation("SELECT AVG(n) FROM (SELECT customer_id, COUNT(*) AS n, SUM(age) AS s FROM customers GROUP BY 1)")
    assert found.columns["s0"].range is None
    assert found.columns["s1"].range is None
    joined = relation(
        "SELECT AVG(n) FROM (SELECT customer_id, COUNT(*) AS n FROM orders JOIN zones USING (zone) GROUP BY "
        "customer_id)"
    )
    assert joined.columns["s0"].range is None, "a join may add rows"


def test_the_person_may_be_known_by_a_foreign_key() -> None:
    inner = "SELECT o.customer_id, COUNT(*) AS n FROM items i JOIN orders o USING (order_id) GROUP BY 1"
    assert isinstance(relation(f"SELECT AVG(n) FROM ({inner})"), Project)


def test_distinct_rows_of_each_person() -> None:
    found = relation("SELECT COUNT(*) FROM (SELECT DISTINCT customer_id, zone FROM orders)")
    assert isinstance(found, PerPerson)
    assert found.summaries == ()
    assert owners(found, SHOP) == {"customer_id"}


@pytest.mark.parametrize(
    ("text", "remedy", "code"),
    [
        ("SELECT zone, COUNT(*) AS n FROM orders GROUP BY zone", "GROUP BY customer_id", "SRD-Q105"),
        ("SELECT COUNT(*) AS n FROM orders", "GROUP BY customer_id", "SRD-Q105"),
        ("SELECT order_id, COUNT(*) AS n FROM items GROUP BY order_id", "join the table that holds it", "SRD-Q105"),
        ("SELECT DISTINCT zone FROM orders", "SELECT DISTINCT customer_id", "SRD-Q105"),
        ("SELECT zone, COUNT(*) FROM zones GROUP BY zone", "public", "SRD-Q106"),
        ("SELECT DISTINCT zone FROM zones", "public", "SRD-Q106"),
        ("SELECT customer_id, amount, COUNT(*) FROM orders GROUP BY customer_id, amount", "FLOOR", "SRD-Q106"),
        ("SELECT DISTINCT customer_id, amount FROM orders", "FLOOR", "SRD-Q106"),
        ("SELECT customer_id, MEDIAN(amount) AS m FROM orders GROUP BY customer_id", "COUNT, COUNT_IF", "SRD-Q102"),
        ("SELECT customer_id, zone, COUNT(*) FROM orders GROUP BY customer_id", "GROUP BY", "SRD-Q106"),
        ("SELECT customer_id, COUNT(*) FROM orders GROUP BY ROLLUP (customer_id)", "", "SRD-Q102"),
        ("SELECT customer_id, MAX(paid) FROM orders GROUP BY customer_id", "CASE", "SRD-Q104"),
        ("SELECT customer_id, SUM(zone) FROM orders GROUP BY customer_id", "CAST", "SRD-Q104"),
        ("SELECT customer_id, SUM(DISTINCT amount) FROM orders GROUP BY customer_id", "COUNT(DISTINCT x)", "SRD-Q102"),
        (
            "SELECT o.customer_id FROM customers c LEFT JOIN orders o USING (customer_id) GROUP BY 1",
            "customer_id",
            "SRD-Q105",
        ),
    ],
)
def test_what_would_mix_people_is_refused(text: str, remedy: str, code: str) -> None:
    with pytest.raises(QuestionError) as caught:
        ask(f"SELECT COUNT(*) FROM ({text})")
    assert remedy in str(caught.value)
    assert caught.value.code == code


# Windows


def test_windows_are_partitioned_by_the_person() -> None:
    found = relation(
        "SELECT COUNT(*) FROM (SELECT amount - LAG(amount) OVER (PARTITION BY customer_id ORDER BY day DESC) AS d, "
        "ROW_NUMBER() OVER (PARTITION BY zone, customer_id ORDER BY day) AS r, RANK() OVER (PARTITION BY customer_id "
        "ORDER BY amount) AS k, LEAD(zone) OVER (PARTITION BY customer_id ORDER BY day), "
        "SUM(amount) OVER (PARTITION BY customer_id) AS s, SUM(amount) OVER (PARTITION BY customer_id) AS "
        "again FROM orders)"
    )
    assert isinstance(found, Project)
    windowed = found.source
    assert isinstance(windowed, Windowed)
    assert [(window[0], window[1]) for window in windowed.windows] == [
        ("w0", "lag"),
        ("w1", "row_number"),
        ("w2", "rank"),
        ("w3", "lead"),
        ("w4", "sum"),
    ]
    assert windowed.windows[0][4] == ((ColumnRef(Kind.DATE, "day"), True),)
    assert windowed.windows[1][3] == (ColumnRef(Kind.TEXT, "zone"),)
    assert windowed.columns["w1"] == Column(Kind.INTEGER, Range.of(1, 10), nullable=False)
    assert windowed.columns["w0"].nullable
    assert owners(windowed, SHOP) == {"customer_id"}
    assert origin(windowed, "zone") == ("orders", "zone")
    assert origin(windowed, "w0") is None


def test_a_window_within_clip_has_bounds() -> None:
    found = relation(
        "SELECT AVG(d) FROM (SELECT CLIP(amount - LAG(amount) OVER (PARTITION BY customer_id ORDER BY day), -5, 5) "
        "AS d FROM orders)"
    )
    assert [column.range for column in found.columns.values()] == [Range.of(-5, 5)]


@pytest.mark.parametrize(
    ("window", "remedy", "code"),
    [
        ("ROW_NUMBER() OVER (ORDER BY day)", "PARTITION BY customer_id", "SRD-Q105"),
        ("ROW_NUMBER() OVER (PARTITION BY zone ORDER BY day)", "PARTITION BY customer_id", "SRD-Q105"),
        ("ROW_NUMBER() OVER (PARTITION BY customer_id)", "ORDER BY", "SRD-Q102"),
        ("ROW_NUMBER(1) OVER (PARTITION BY customer_id ORDER BY day)", "no argument", "SRD-Q104"),
        ("LAG(amount, 2) OVER (PARTITION BY customer_id ORDER BY day)", "LAG(x)", "SRD-Q104"),
        ("SUM(amount) OVER (PARTITION BY customer_id ORDER BY day)", "leave the order out", "SRD-Q102"),
        ("SUM(amount) OVER (PARTITION BY customer_id ROWS 1 PRECEDING)", "", "SRD-Q102"),
        ("NTILE(4) OVER (PARTITION BY customer_id ORDER BY day)", "", "SRD-Q103"),
        ("FIRST_VALUE(amount) OVER (PARTITION BY customer_id ORDER BY day)", "", "SRD-Q102"),
        ("MEDIAN(amount) OVER (PARTITION BY customer_id)", "", "SRD-Q103"),
        ("COUNT(DISTINCT zone) OVER (PARTITION BY customer_id)", "", "SRD-Q103"),
        ("SUM(amount) FILTER (WHERE paid) OVER (PARTITION BY customer_id)", "", "SRD-Q103"),
    ],
)
def test_refused_windows(window: str, remedy: str, code: str) -> None:
    with pytest.raises(QuestionError) as caught:
        ask(f"SELECT COUNT(*) FROM (SELECT {window} AS w FROM orders)")
    assert remedy in str(caught.value)
    assert caught.value.code == code


# UNION ALL


def test_union_all_puts_rows_together() -> None:
    question = ask(
        "SELECT source, SUM(v) FROM (SELECT 'order' AS source, amount AS v, customer_id AS who FROM orders "
        "UNION ALL SELECT 'item', price, order_id FROM items UNION ALL (SELECT 'none', 0.5, 1 FROM "
        "customers)) GROUP BY source"
    )
    found = question.relation
    assert isinstance(found, UnionAll)
    assert len(found.branches) == 3
    assert question.keys[0].column.keys == ("order", "item", "none")
    assert found.columns["c1"] == Column(Kind.REAL, Range.of(0, 1000))
    assert owners(found, SHOP) == frozenset()
    assert origin(found, "c2") is None


def test_integers_beside_reals_in_a_union_are_made_real_in_either_order() -> None:
    parts = ["SELECT age AS v, customer_id AS who FROM customers", "SELECT amount, customer_id FROM orders"]
    for first, second in (parts, parts[::-1]):
        question = ask(f"SELECT SUM(v) FROM ({first.replace('amount', 'amount AS v')} UNION ALL {second}) AS t")
        found = question.relation
        assert isinstance(found, UnionAll)
        assert [[column.kind for column in branch.columns.values()] for branch in found.branches] == [
            [Kind.REAL, Kind.INTEGER],
            [Kind.REAL, Kind.INTEGER],
        ]
        assert found.columns["c0"].range == Range.of(0, 1000)


@pytest.mark.parametrize(
    ("text", "column"),
    [
        ("orders o JOIN customers c ON o.day = c.joined", "ON a.customer_id = b.customer_id"),
        ("(SELECT zone, COUNT(*) AS n FROM orders GROUP BY zone) AS t", "GROUP BY customer_id"),
        ("(SELECT zone, COUNT(*) AS n FROM (SELECT zone, customer_id AS who FROM orders) GROUP BY zone) t", "BY who"),
        ("(SELECT DISTINCT zone FROM orders) AS t", "SELECT DISTINCT customer_id"),
        ("(SELECT RANK() OVER (ORDER BY amount) AS r FROM orders) AS t", "PARTITION BY customer_id"),
    ],
)
def test_a_hint_names_the_column_that_holds_the_person(text: str, column: str) -> None:
    with pytest.raises(QuestionError) as caught:
        ask(f"SELECT COUNT(*) FROM {text}")
    assert column in str(caught.value)
    assert caught.value.code == "SRD-Q105"


def test_owners_survive_a_union_if_all_parts_know_them() -> None:
    question = ask(
        "SELECT COUNT(DISTINCT who), COUNT(*) FROM (SELECT customer_id AS who FROM orders UNION ALL SELECT "
        "customer_id FROM customers)"
    )
    assert question.aggregates[0] == Aggregate("count_people")


@pytest.mark.parametrize(
    ("text", "remedy", "code"),
    [
        ("SELECT zone FROM orders UNION SELECT product FROM items", "keyed by the person", "SRD-Q105"),
        ("SELECT zone FROM orders UNION ALL SELECT zone FROM zones", "private rows alone", "SRD-Q105"),
        ("SELECT zone FROM orders UNION ALL SELECT order_id FROM items", "kinds", "SRD-Q104"),
        ("SELECT zone FROM orders UNION ALL SELECT product, price FROM items", "as many columns", "SRD-Q104"),
        ("SELECT zone FROM orders UNION ALL BY NAME SELECT zone FROM orders", "", "SRD-Q102"),
        ("SELECT zone FROM orders EXCEPT SELECT product FROM items", "NOT EXISTS", "SRD-Q102"),
        ("SELECT zone FROM orders INTERSECT SELECT product FROM items", "EXISTS", "SRD-Q102"),
        ("SELECT zone FROM orders UNION ALL SELECT zone FROM orders LIMIT 5", "push out", "SRD-Q102"),
        (" UNION ALL ".join(["SELECT zone FROM orders"] * 101), "100 parts", "SRD-Q101"),
    ],
)
def test_refused_unions(text: str, remedy: str, code: str) -> None:
    with pytest.raises(QuestionError) as caught:
        ask(f"SELECT COUNT(*) FROM ({text})")
    assert remedy in str(caught.value)
    assert caught.value.code == code


# WHERE with subqueries


def test_membership_in_public_rows() -> None:
    found = relation("SELECT COUNT(*) FROM orders WHERE paid AND zone IN (SELECT zone FROM zones WHERE tax > 0.5)")
    assert isinstance(found, SemiJoin)
    assert isinstance(found.source, Filter)
    assert (found.on, found.negated, found.on_owner) == ((("zone", "zone"),), False, False)


def test_not_in_leaves_out_null() -> None:
    found = relation("SELECT COUNT(*) FROM orders WHERE zone NOT IN (SELECT zone FROM zones)")
    assert isinstance(found, SemiJoin)
    assert found.negated
    assert isinstance(found.source, Filter)
    assert found.source.condition == call("not", call("is_null", ColumnRef(Kind.TEXT, "zone")))


def test_several_columns_may_be_members() -> None:
    found = relation("SELECT COUNT(*) FROM orders WHERE (zone, zone) IN (SELECT zone, name FROM zones)")
    assert isinstance(found, SemiJoin)
    assert found.on == (("zone", "zone"), ("zone", "name"))


@pytest.mark.parametrize("word", ["", "NOT "])
def test_membership_in_ones_own_rows(word: str) -> None:
    found = relation(
        f"SELECT COUNT(*) FROM customers WHERE customer_id {word}IN (SELECT customer_id FROM orders WHERE paid)"
    )
    assert isinstance(found, SemiJoin)
    assert (found.on, found.negated, found.on_owner) == ((), bool(word), True)


@pytest.mark.parametrize("word", ["", "NOT "])
def test_existence_of_ones_own_rows(word: str) -> None:
    found = relation(
        f"SELECT COUNT(*) FROM customers c WHERE {word}EXISTS (SELECT 1 FROM orders WHERE customer_id = c.customer_id "
        "AND (c.joined = day) AND amount > 5)"
    )
    assert isinstance(found, SemiJoin)
    assert (found.on, found.negated, found.on_owner) == ((("joined", "day"),), bool(word), True)
    assert isinstance(found.members, Filter)


def test_existence_of_public_rows() -> None:
    found = relation("SELECT COUNT(*) FROM orders o WHERE NOT (EXISTS (SELECT * FROM zones z WHERE z.name = o.zone))")
    assert isinstance(found, SemiJoin)
    assert (found.on, found.negated, found.on_owner) == ((("zone", "name"),), True, False)


@pytest.mark.parametrize(
    ("text", "remedy", "code"),
    [
        ("orders WHERE zone IN (SELECT zone FROM orders)", "person", "SRD-Q105"),
        ("orders o WHERE EXISTS (SELECT 1 FROM orders p WHERE p.zone = o.zone)", "person", "SRD-Q105"),
        ("orders o WHERE EXISTS (SELECT 1 FROM zones)", "outer", "SRD-Q105"),
        ("orders o WHERE EXISTS (SELECT 1 FROM zones z WHERE z.zone > o.zone)", "outer", "SRD-Q105"),
        (
            "orders o WHERE EXISTS (SELECT 1 FROM zones z WHERE z.zone = o.zone AND z.tax > o.amount)",
            "alias 'o'",
            "SRD-Q103",
        ),
        ("orders o WHERE EXISTS (SELECT COUNT(*) FROM zones z WHERE z.zone = o.zone)", "always", "SRD-Q102"),
        ("orders o WHERE EXISTS (SELECT 1 FROM zones z WHERE z.zone = o.zone LIMIT 1)", "", "SRD-Q102"),
        ("orders o WHERE EXISTS (SELECT 1 FROM zones UNION ALL SELECT 2 FROM zones)", "plain SELECT", "SRD-Q102"),
        ("orders WHERE paid OR zone IN (SELECT zone FROM zones)", "", "SRD-Q102"),
        ("orders o WHERE paid OR EXISTS (SELECT 1 FROM zones z WHERE z.zone = o.zone)", "AND", "SRD-Q102"),
        ("orders WHERE LOWER(zone) IN (SELECT zone FROM zones)", "subquery", "SRD-Q104"),
        ("orders WHERE zone IN (SELECT zone, name FROM zones)", "as many", "SRD-Q104"),
        ("orders WHERE order_id IN (SELECT zone FROM zones)", "cast", "SRD-Q104"),
        ("orders WHERE amount > (SELECT AVG(amount) FROM orders)", "constant", "SRD-Q102"),
        (
            "orders JOIN (SELECT * FROM zones WHERE zone IN (SELECT zone FROM orders)) z USING (zone)",
            "private table and join",
            "SRD-Q105",
        ),
    ],
)
def test_refused_predicates(text: str, remedy: str, code: str) -> None:
    with pytest.raises(QuestionError) as caught:
        ask(f"SELECT COUNT(*) FROM {text}")
    assert remedy in str(caught.value)
    assert caught.value.code == code


# Keys from a public table


def test_keys_from_a_public_table() -> None:
    question = ask(
        "SELECT z.zone, COUNT(o.amount) AS n FROM zones z LEFT JOIN orders o ON z.zone = o.zone AND o.paid "
        "WHERE z.tax > 0.5 GROUP BY z.zone"
    )
    assert question.key_table is not None
    assert question.key_table.columns == ("zone",)
    assert isinstance(question.key_table.relation, Filter)
    assert isinstance(question.relation, Filter)
    assert question.relation.condition == ColumnRef(Kind.BOOLEAN, "paid")
    assert question.keys[0].expression == ColumnRef(Kind.TEXT, "zone")
    assert question.aggregates == (Aggregate("count", (ColumnRef(Kind.REAL, "amount"),)),)


def test_several_key_columns_in_the_order_of_the_group_by() -> None:
    question = ask(
        "SELECT SUM(i.price) FROM products p LEFT JOIN (SELECT product, UPPER(product) AS up, price FROM items) i "
        "ON p.product = i.product AND p.sort = i.up GROUP BY p.sort, p.product"
    )
    assert question.key_table is not None
    assert question.key_table.columns == ("sort", "product")
    assert [key.expression.columns for key in question.keys] == [{"c1"}, {"product"}]


@pytest.mark.parametrize(
    ("text", "remedy", "code"),
    [
        (
            "SELECT z.zone, COUNT(*) FROM zones z LEFT JOIN orders o ON z.zone = o.zone GROUP BY z.zone",
            "COUNT(p.x)",
            "SRD-Q106",
        ),
        ("SELECT COUNT(o.zone) FROM zones z LEFT JOIN orders o ON z.zone = o.zone", "GROUP BY k.x", "SRD-Q106"),
        (
            "SELECT COUNT(o.zone) FROM zones z LEFT JOIN orders o ON z.zone = o.zone GROUP BY z.name, o.paid",
            "columns of the public table",
            "SRD-Q106",
        ),
        (
            "SELECT SUM(z.tax) FROM zones z LEFT JOIN orders o ON z.zone = o.zone GROUP BY z.name",
            "SUM(p.x)",
            "SRD-Q106",
        ),
        (
            "SELECT COUNT(o.zone) FROM zones z LEFT JOIN orders o ON z.zone = o.zone WHERE o.paid GROUP BY z.zone",
            "ON",
            "SRD-Q106",
        ),
        (
            "SELECT COUNT(o.zone) FROM zones z LEFT JOIN orders o ON z.zone = o.zone AND z.tax > 0.5 GROUP BY z.zone",
            "subquery",
            "SRD-Q102",
        ),
        (
            "SELECT COUNT(o.zone) FROM zones z LEFT JOIN orders o ON z.zone = o.zone AND z.name = o.zone GROUP "
            "BY z.zone",
            "k.y = p.y",
            "SRD-Q102",
        ),
    ],
)
def test_refused_key_tables(text: str, remedy: str, code: str) -> None:
    with pytest.raises(QuestionError) as caught:
        ask(text)
    assert remedy in str(caught.value)
    assert caught.value.code == code


def test_literals_are_all_that_survives_of_a_text() -> None:
    question = ask('SELECT zone, COUNT(*) FROM (SELECT zone, amount AS "secret_name" FROM orders) "t_alias" GROUP BY 1')
    assert "secret_name" not in repr(question.relation)
    assert "t_alias" not in repr(question.relation)


# Tables after a comma

JOINED_BY_COMMAS = {
    "SELECT COUNT(*) FROM orders o, zones z WHERE o.zone = z.zone AND o.amount > 3": (
        "SELECT COUNT(*) FROM orders o JOIN zones z ON o.zone = z.zone WHERE o.amount > 3"
    ),
    "SELECT COUNT(*) FROM orders, products, items WHERE (orders.order_id = items.order_id) AND items.product = "
    "products.product": (
        "SELECT COUNT(*) FROM orders JOIN items ON orders.order_id = items.order_id JOIN products ON items.product = "
        "products.product"
    ),
    "SELECT COUNT(*) FROM orders a, orders b WHERE a.zone = b.zone AND a.paid AND b.customer_id = a.customer_id": (
        "SELECT COUNT(*) FROM orders a JOIN orders b ON a.zone = b.zone AND b.customer_id = a.customer_id WHERE a.paid"
    ),
    "SELECT COUNT(*) FROM customers c, orders o JOIN zones z ON o.zone = z.zone WHERE c.customer_id = o.customer_id": (
        "SELECT COUNT(*) FROM customers c JOIN orders o ON c.customer_id = o.customer_id JOIN zones z "
        "ON o.zone = z.zone"
    ),
    "SELECT AVG(n) FROM (SELECT o.customer_id, COUNT(*) AS n FROM orders o, zones z WHERE o.zone = z.zone "
    "GROUP BY 1)": (
        "SELECT AVG(n) FROM (SELECT o.customer_id, COUNT(*) AS n FROM orders o JOIN zones z USING (zone) GROUP BY 1)"
    ),
    "SELECT COUNT(*) FROM customers c WHERE EXISTS (SELECT 1 FROM orders o, zones z WHERE o.zone = z.zone AND "
    "o.customer_id = c.customer_id AND tax > 0.5)": (
        "SELECT COUNT(*) FROM customers c WHERE EXISTS (SELECT 1 FROM orders o JOIN zones z ON o.zone = z.zone WHERE "
        "o.customer_id = c.customer_id AND tax > 0.5)"
    ),
}


@pytest.mark.parametrize("text", JOINED_BY_COMMAS)
def test_tables_after_a_comma_are_joined_by_equalities_in_where(text: str) -> None:
    assert relation(text) == relation(JOINED_BY_COMMAS[text])


@pytest.mark.parametrize(
    ("text", "remedy", "code"),
    [
        ("orders o, items z WHERE o.order_id = z.order_id OR o.paid", "FROM o JOIN z ON o.x = z.x", "SRD-Q102"),
        ("orders o, items z WHERE o.order_id > z.order_id", "JOIN", "SRD-Q102"),
        ("orders o, zones z WHERE zone = zone", "say which", "SRD-Q103"),
        ("orders o, zones z, items p WHERE o.zone = z.zone", "leads from 'o' to 'p'", "SRD-Q102"),
        ("orders a, orders b WHERE a.zone = b.zone", "keyed by the person", "SRD-Q105"),
        ("orders o, zones z WHERE o.amount = z.tax", "cast", "SRD-Q104"),
    ],
)
def test_commas_that_lead_nowhere_are_refused(text: str, remedy: str, code: str) -> None:
    with pytest.raises(QuestionError) as caught:
        ask(f"SELECT COUNT(*) FROM {text}")
    assert remedy in str(caught.value)
    assert caught.value.code == code


# Keys that are computed from a public table


@pytest.mark.parametrize("keys", ["zones z", "(SELECT zone, name FROM zones WHERE tax > 0.5) z"])
def test_groups_may_be_by_any_column_of_the_keys_table(keys: str) -> None:
    question = ask(
        f"SELECT z.name, z.zone || '!' AS up, SUM(o.amount) FROM {keys} LEFT JOIN orders o ON z.zone = o.zone AND "
        "o.paid GROUP BY z.name, up"
    )
    assert isinstance(question.relation, Join)
    assert isinstance(question.relation.left, Filter)
    assert (question.relation.how, question.relation.right.is_public) == ("inner", True)
    assert question.key_table is not None
    listed = question.key_table.relation
    assert isinstance(listed, Project)
    assert [expression for _, expression, _ in listed.outputs] == [
        ColumnRef(Kind.TEXT, "name"),
        call("concat", ColumnRef(Kind.TEXT, "zone"), literal("!")),
    ]
    assert question.key_table.columns == ("k0", "k1")
    assert [key.expression for key in question.keys] == [
        ColumnRef(Kind.TEXT, "name"),
        call("concat", ColumnRef(Kind.TEXT, "zone_2"), literal("!")),
    ]


def test_where_rows_are_protected_keys_by_a_join_keep_one_row_one_row() -> None:
    text = "SELECT z.name, COUNT(t.fare) FROM zones z LEFT JOIN trips t ON z.zone = t.zone GROUP BY z.name"
    found = relation(text, ask_rows)
    assert isinstance(found, Join)
    assert found.single


# Columns that exist and cannot be asked about


def test_a_hidden_column_says_why() -> None:
    table = replace(ORDERS, hidden={"Photo": "it has the type blob; offer a text in a view"})
    schema = replace(SHOP, tables={**SHOP.tables, "orders": table})
    for text in ("photo FROM orders", "SUM(o.PHOTO) FROM orders o", "COUNT(*) FROM (SELECT photo FROM orders)"):
        with pytest.raises(QuestionError, match="the column 'Photo' cannot be asked about: it has the type") as caught:
            parse(f"SELECT {text}", schema)
        assert caught.value.code == "SRD-Q202"
    with pytest.raises(QuestionError, match="there is no column 'foto'"):
        parse("SELECT COUNT(foto) FROM orders", schema)
