"""How far joins may multiply rows: they are cut before they do.

Otherwise a question could make one person's few rows so many that the engine runs out of memory, or of time, if and
only if that person is in the data.
"""

from __future__ import annotations

from collections.abc import Iterator

from .relation import Join, Relation

MOST_COPIES = 10_000
"""How many rows all public joins of a question together can make of one."""
MOST_ROWS = 1_000
"""How many rows of one person go into each side of a private join."""


def joins(relation: Relation) -> Iterator[Join]:
    """Yield all joins in a tree, the outer ones first."""
    if isinstance(relation, Join):
        yield relation
    for below in relation.inputs:
        yield from joins(below)


def most_per_key(relation: Relation) -> int:
    """Return how many rows of a key each public join of a tree keeps, so that all together keep to `MOST_COPIES`."""
    many = sum(1 for each in joins(relation) if each.right.is_public and not each.left.is_public)
    return int(MOST_COPIES ** (1 / max(many, 1)))
