"""Schemas that the SQL tests ask about: a shop of people, and trips that are units by themselves."""

from __future__ import annotations

from sordino.accounting.bound import ROW, Unit
from sordino.data.kinds import Kind, Range
from sordino.data.metadata import Column, Limits, OwnedByColumn, OwnedByParent, OwnedByRow, Public, Schema, Table
from sordino.query.model.question import Question
from sordino.query.sql.parse import parse

ZONES = Table(
    "zones",
    {"zone": Column(Kind.TEXT), "name": Column(Kind.TEXT), "tax": Column(Kind.REAL, Range.of(0, 1), nullable=False)},
    Public(),
)
PRODUCTS = Table("products", {"product": Column(Kind.TEXT), "sort": Column(Kind.TEXT)}, Public())
CUSTOMERS = Table(
    "customers",
    {
        "customer_id": Column(Kind.INTEGER),
        "city": Column(Kind.TEXT, keys=("Bern", "Basel", "Chur")),
        "age": Column(Kind.INTEGER, Range.of(0, 120)),
        "joined": Column(Kind.DATE),
    },
    OwnedByColumn("customer_id"),
)
ORDERS = Table(
    "orders",
    {
        "order_id": Column(Kind.INTEGER),
        "customer_id": Column(Kind.INTEGER),
        "day": Column(Kind.DATE),
        "amount": Column(Kind.REAL, Range.of(0, 1000), nullable=False),
        "zone": Column(Kind.TEXT),
        "paid": Column(Kind.BOOLEAN),
        "at": Column(Kind.TIMESTAMP),
    },
    OwnedByParent("customer_id", "customers", "customer_id"),
    Limits(rows=10),
)
ITEMS = Table(
    "items",
    {"order_id": Column(Kind.INTEGER), "price": Column(Kind.REAL, Range.of(0, 100)), "product": Column(Kind.TEXT)},
    OwnedByParent("order_id", "orders", "order_id"),
)
RETURNS = Table(
    "returns",
    {"order_id": Column(Kind.INTEGER), "reason": Column(Kind.TEXT)},
    OwnedByParent("order_id", "orders", "order_id"),
)
SHOP = Schema(
    "shop",
    {table.name: table for table in (CUSTOMERS, ORDERS, ITEMS, RETURNS, ZONES, PRODUCTS)},
    Unit("customer_id"),
)

TRIPS = Table(
    "trips",
    {"city": Column(Kind.TEXT), "fare": Column(Kind.REAL, Range.of(0, 100)), "zone": Column(Kind.TEXT)},
    OwnedByRow(),
)
ROWS = Schema("taxi", {"trips": TRIPS, "zones": ZONES}, ROW)


def ask(text: str) -> Question:
    """Return what is asked of the shop."""
    return parse(text, SHOP)


def ask_rows(text: str) -> Question:
    """Return what is asked of the trips."""
    return parse(text, ROWS)
