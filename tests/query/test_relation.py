"""What relations say of themselves: who owns their rows, how often a row is in them, what limits hold."""

# ruff: noqa: S608  (these texts are read, never run)

from __future__ import annotations

from collections import Counter

from query.sql_schemas import CUSTOMERS, ORDERS, SHOP, TRIPS, ZONES, ask, ask_rows
from sordino.data.metadata import Limits
from sordino.query.model.limits import limits_of
from sordino.query.model.relation import PerPerson, Relation, Scan


def relation(text: str) -> Relation:
    return ask(f"SELECT COUNT(*) FROM {text}").relation


def test_scans() -> None:
    assert Scan(CUSTOMERS).owner == "customer_id"
    assert Scan(ORDERS).owner is None, "it is known through its parent only"
    assert Scan(TRIPS).owner is None
    assert Scan(ZONES).is_public
    assert Scan(ZONES).copies == Counter()
    assert Scan(TRIPS).copies == Counter({"trips": 1})


def test_owners_by_name() -> None:
    assert relation("customers WHERE age > 5").owner == "customer_id"
    assert relation("customers c JOIN orders o USING (customer_id)").owner == "customer_id"
    assert relation("(SELECT age, customer_id AS who FROM customers)").owner == "customer_id"
    assert relation("(SELECT age FROM customers)").owner is None
    assert relation("(SELECT DISTINCT customer_id FROM customers)").owner == "customer_id"
    assert (
        relation("(SELECT age, customer_id FROM customers UNION ALL SELECT age, customer_id FROM customers)").owner
        == "c1"
    )
    assert (
        relation("(SELECT age, customer_id FROM customers UNION ALL SELECT customer_id, age FROM customers)").owner
        is None
    )


def test_copies_of_a_row() -> None:
    def copies(text: str) -> Counter[str]:
        found = ask_rows(f"SELECT COUNT(*) FROM {text}").relation
        assert isinstance(found, Relation)
        return found.copies

    assert copies("trips WHERE fare > 5 AND zone IN (SELECT zone FROM zones)") == Counter({"trips": 1})
    assert copies("trips JOIN zones USING (zone)") == Counter({"trips": 1})
    assert copies("(SELECT city FROM trips UNION ALL SELECT zone FROM trips)") == Counter({"trips": 2})


def limits(text: str, *keys: str) -> Limits:
    return limits_of(relation(text), keys, SHOP)


def test_limits_are_those_of_the_private_table() -> None:
    assert limits("zones JOIN orders USING (zone)") == Limits(rows=10)
    assert limits("(SELECT * FROM orders WHERE paid)") == Limits(rows=10)
    assert isinstance(relation("(SELECT DISTINCT customer_id FROM orders)"), PerPerson)
    assert limits("(SELECT DISTINCT customer_id FROM orders)") == Limits(1, 1, 1)
    assert limits("(SELECT DISTINCT customer_id, zone FROM orders)") == Limits(rows=10)
    assert SHOP.tables["zones"].limits == Limits()
