"""What relations say of themselves: who owns their rows, how often a row is in them, what limits hold."""

# ruff: noqa: S608  (these texts are read, never run)

from __future__ import annotations

from collections import Counter

from query.sql_schemas import CUSTOMERS, ORDERS, SHOP, TRIPS, ZONES, ask, ask_rows
from sordino.data.metadata import Limits
from sordino.query.model.limits import limits_of
from sordino.query.model.lineage import owners
from sordino.query.model.relation import PerPerson, Relation, Scan


def relation(text: str) -> Relation:
    return ask(f"SELECT COUNT(*) FROM {text}").relation


def test_scans() -> None:
    assert owners(Scan(CUSTOMERS), SHOP) == {"customer_id"}
    assert owners(Scan(ORDERS), SHOP) == {"customer_id"}, "it leads to the parent's own"
    assert owners(Scan(TRIPS), SHOP) == set()
    assert Scan(ZONES).is_public
    assert Scan(ZONES).copies == Counter()
    assert Scan(TRIPS).copies == Counter({"trips": 1})


def test_owners_by_name() -> None:
    def held(text: str) -> frozenset[str]:
        return owners(relation(text), SHOP)

    assert held("customers WHERE age > 5") == {"customer_id"}
    assert held("customers c JOIN orders o USING (customer_id)") == {"customer_id", "customer_id_2"}
    assert held("(SELECT age, customer_id AS who FROM customers)") == {"customer_id"}
    assert held("(SELECT age FROM customers)") == set()
    assert held("(SELECT DISTINCT customer_id FROM customers)") == {"customer_id"}
    assert held("(SELECT age, customer_id FROM customers UNION ALL SELECT age, customer_id FROM customers)") == {"c1"}
    assert held("(SELECT age, customer_id FROM customers UNION ALL SELECT customer_id, age FROM customers)") == set()


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
