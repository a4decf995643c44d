"""Random questions over several private tables and a public one, each in every order in which FROM can name them.

The data keep to the declared limits, and some people reach them, so whatever is cut off shows.
"""
# ruff: noqa: S608, S311  (texts from names of this file; what is drawn here protects nobody)

from __future__ import annotations

from collections.abc import Iterator
from itertools import permutations
from random import Random
from typing import Any

import pyarrow as pa

import sordino as so

CITIES, ZONES, SORTS, REGIONS = ("Bern", "Oslo", "Rome"), (0, 1, 2, 3), ("food", "ink", "toy"), ("east", "west")
PEOPLE, ORDERS, ITEMS, VISITS = 14, 3, 4, 2
"""So few rows of a person, and values so small, that at the largest ε noise is far below one row whatever is joined."""

ALIASES = {"customers": "c", "orders": "o", "items": "i", "visits": "v", "zones": "z"}
EDGES = {
    frozenset({"customers", "orders"}): "c.id = o.customer_id",
    frozenset({"orders", "items"}): "o.id = i.order_id",
    frozenset({"customers", "visits"}): "v.person = c.id",
    frozenset({"orders", "visits"}): "o.customer_id = v.person",
    frozenset({"orders", "zones"}): "z.zone = o.zone",
    frozenset({"visits", "zones"}): "v.zone = z.zone",
}
"""What may be joined, and on what."""
FURTHER = {frozenset({"orders", "visits"}): "o.zone = v.zone"}
KEYS = {
    "customers": ("c.city",),
    "orders": ("o.zone",),
    "items": ("i.sort",),
    "visits": ("v.zone",),
    "zones": ("z.region",),
}
VALUES = {
    "customers": ("c.decade",),
    "orders": ("o.amount",),
    "items": ("i.price",),
    "visits": ("v.minutes",),
    "zones": ("z.rate",),
}
CONDITIONS = {
    "customers": ("c.decade > 4", "c.city <> 'Oslo'"),
    "orders": ("o.amount BETWEEN 1 AND 4", "o.zone IN (0, 2)"),
    "items": ("i.sort = 'ink'", "i.price < 4"),
    "visits": ("v.minutes >= 3",),
    "zones": ("z.rate > 1",),
}
PRIVATE_SETS = (
    ("customers", "orders"),
    ("orders", "items"),
    ("customers", "visits"),
    ("orders", "visits"),
    ("customers", "orders", "items"),
    ("customers", "orders", "visits"),
    ("orders", "items", "visits"),
)


def tables(seed: int) -> dict[str, pa.Table]:
    """Return rows of people each of whom has few of some tables and as many as allowed of others."""
    drawn = Random(seed)
    customers: list[tuple[Any, ...]] = []
    orders: list[tuple[Any, ...]] = []
    items: list[tuple[Any, ...]] = []
    visits: list[tuple[Any, ...]] = []
    for person in range(PEOPLE):
        customers.append((person, drawn.choice(CITIES), drawn.randint(2, 6)))
        first = len(orders)
        for _ in range(drawn.choice((0, 1, ORDERS, ORDERS))):
            orders.append((len(orders), person, drawn.choice(ZONES), drawn.randint(0, 6)))
        for _ in range(drawn.choice((0, 2, ITEMS, ITEMS)) if len(orders) > first else 0):
            items.append((drawn.randrange(first, len(orders)), drawn.choice(SORTS), drawn.randint(1, 5)))
        for _ in range(drawn.choice((0, 1, VISITS, VISITS))):
            visits.append((person, drawn.choice(ZONES), drawn.randint(0, 6)))
    zones = [(zone, REGIONS[zone % 2], zone) for zone in ZONES]
    named = {
        "customers": (customers, ("id", "city", "decade")),
        "orders": (orders, ("id", "customer_id", "zone", "amount")),
        "items": (items, ("order_id", "sort", "price")),
        "visits": (visits, ("person", "zone", "minutes")),
        "zones": (zones, ("zone", "region", "rate")),
    }
    return {
        name: pa.table({column: [row[place] for row in rows] for place, column in enumerate(columns)})
        for name, (rows, columns) in named.items()
    }


def shop(data: dict[str, pa.Table]) -> Any:
    """Return the data set with limits that are true of it."""
    bounds, keys = so.bounds, so.keys
    return so.dataset(
        "shop",
        {
            "customers": so.private(
                data["customers"],
                unit="id",
                columns={"city": keys(CITIES), "decade": bounds(2, 6)},
                limits=so.limits(rows=1),
            ),
            "orders": so.private(
                data["orders"],
                parent={"customer_id": "customers.id"},
                columns={"zone": keys(ZONES), "amount": bounds(0, 6)},
                limits=so.limits(rows=ORDERS),
            ),
            "items": so.private(
                data["items"],
                parent={"order_id": "orders.id"},
                columns={"sort": keys(SORTS), "price": bounds(1, 5)},
                limits=so.limits(rows=ITEMS, groups=len(SORTS), rows_per_group=ITEMS),
            ),
            "visits": so.private(
                data["visits"],
                unit="person",
                columns={"zone": keys(ZONES), "minutes": bounds(0, 6)},
                limits=so.limits(rows=VISITS, groups=VISITS, rows_per_group=VISITS),
            ),
            "zones": so.public(
                data["zones"], columns={"zone": keys(ZONES), "region": keys(REGIONS), "rate": bounds(0, 3)}
            ),
        },
        unit="customer",
    )


class Asked:
    """One question: its tables and what is asked of them, to be written in any order of its tables."""

    def __init__(self, drawn: Random) -> None:
        chosen = list(drawn.choice(PRIVATE_SETS))
        if drawn.random() < 0.4 and ({"orders", "visits"} & set(chosen)):
            chosen.append("zones")
        self.tables = tuple(chosen)
        self.edges = self._tree(drawn)
        self.comma = drawn.random() < 0.3
        self.left = self._left(drawn)
        self.key = drawn.choice([None, *(key for name in chosen for key in KEYS[name])])
        self.value = drawn.choice([value for name in chosen for value in VALUES[name]])
        usable = [name for name in chosen if name != self.left]
        wheres = [each for name in usable for each in CONDITIONS[name]]
        self.conditions = drawn.sample(wheres, min(len(wheres), drawn.choice((0, 0, 1, 2))))
        self.shape = drawn.choice(("plain", "plain", "plain", "subquery", "union"))
        self.aggregates = drawn.choice((("COUNT(*)",), ("COUNT(*)", "SUM({})"), ("SUM({})",), ("COUNT({})",)))

    def _tree(self, drawn: Random) -> dict[frozenset[str], str]:
        """Return equalities that join all tables, at random among those possible: the public one comes to the rest."""
        joined, edges = {self.tables[0]}, {}
        possible = [edge for edge in EDGES if edge <= set(self.tables)]
        while len(joined) < len(self.tables):
            near = [each for each in possible if len(each & joined) == 1]
            edge = drawn.choice([each for each in near if "zones" not in each] or near)
            further = FURTHER.get(edge)
            edges[edge] = EDGES[edge] + (f" AND {further}" if further and drawn.random() < 0.3 else "")
            joined |= edge
        return edges

    def _left(self, drawn: Random) -> str | None:
        """Return a table at the end of the tree that is joined by LEFT JOIN, if one is; the others stay in any order.

        It comes last, so it may be no public table whose rows others hang on.
        """
        ends = [name for name in self.tables if sum(name in edge for edge in self.edges) == 1]
        return drawn.choice(ends) if not self.comma and drawn.random() < 0.25 and len(self.tables) > 1 else None

    def orders(self) -> Iterator[tuple[str, ...]]:
        """Yield the orders of tables that FROM can have: each is joined to those before it."""
        rest = [name for name in self.tables if name != self.left]
        for order in permutations(rest):
            whole = (*order, self.left) if self.left else order
            if self.comma or all(self._edges_to(whole[:place], whole[place]) for place in range(1, len(whole))):
                yield whole

    def _edges_to(self, before: tuple[str, ...], name: str) -> list[str]:
        return [on for edge, on in self.edges.items() if name in edge and edge & set(before)]

    def _source(self, order: tuple[str, ...]) -> tuple[str, list[str]]:
        named = [f"{name} AS {ALIASES[name]}" for name in order]
        if self.comma:
            return ", ".join(named), [*self.edges.values(), *self.conditions]
        text = named[0]
        for place in range(1, len(order)):
            how = "LEFT JOIN" if order[place] == self.left else "JOIN"
            text += f" {how} {named[place]} ON {' AND '.join(self._edges_to(order[:place], order[place]))}"
        return text, self.conditions

    def text(self, order: tuple[str, ...]) -> str:
        """Return the question in SQL, with its tables in this order."""
        source, conditions = self._source(order)
        where = f" WHERE {' AND '.join(conditions)}" if conditions else ""
        if self.shape == "plain":
            return self._grouped(self.key, self.value, f"{source}{where}")
        columns = f"{self.key or 1} AS k, {self.value} AS x"
        inner = f"SELECT {columns} FROM {source}{where}"
        if self.shape == "union":
            mirrored, _ = self._source(order[::-1]) if self.comma else (source, None)
            inner += f" UNION ALL SELECT {columns} FROM {mirrored}{where}"
        return self._grouped("k" if self.key else None, "x", f"({inner}) AS t")

    def _grouped(self, key: str | None, value: str, source: str) -> str:
        names = [f"{each.format(value)} AS a{place}" for place, each in enumerate(self.aggregates)]
        listed = ", ".join([*([f"{key} AS k"] if key else []), *names])
        return f"SELECT {listed} FROM {source}" + (f" GROUP BY {key}" if key else "")
