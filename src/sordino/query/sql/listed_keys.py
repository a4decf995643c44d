"""Keys that WHERE lists: ``WHERE x IN ('a', 'b') GROUP BY x`` has these groups, whatever the data holds.

The constants stand in the question's own text, and no row with another value of the key comes through, so which groups
there are is public: all of them are returned. What is declared comes first, and in its order.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from math import ceil, floor

from sordino.data.kinds import Kind
from sordino.data.metadata import Column, KeyValue
from sordino.query.model.expression import Call, Expression, Literal
from sordino.query.model.literals import exact
from sordino.query.model.relation import Filter, Relation, SemiJoin

MOST_LISTED = 1_000
"""How many whole numbers between two ends are listed."""


def with_listed_keys(key: Expression, column: Column, relation: Relation) -> Column:
    """Return what is known about a key, with the values to which the question's conditions hold it."""
    conditions = list(_conditions(relation))
    listed = [found for found in (_values(each, key) for each in conditions) if found is not None]
    between = _between(key, conditions)
    if between is not None:
        listed.append(between)
    known = column.keys
    for values in listed:
        known = values if known is None else tuple(each for each in known if each in set(values))
    return replace(column, keys=known, nullable=False) if listed and known else column


def _conditions(relation: Relation) -> Iterator[Expression]:
    """Yield what every row meets, in parts that must all hold: what the outermost WHERE says."""
    while isinstance(relation, Filter | SemiJoin):
        if isinstance(relation, Filter):
            yield from _parts(relation.condition)
        relation = relation.source


def _parts(condition: Expression) -> Iterator[Expression]:
    if isinstance(condition, Call) and condition.operation == "and":
        for part in condition.arguments:
            yield from _parts(part)
    else:
        yield condition


def _values(condition: Expression, key: Expression) -> tuple[KeyValue, ...] | None:
    """Return the values of the key for which a condition can hold, if it lists them."""
    if not isinstance(condition, Call) or not key.kind.can_be_key:
        return None
    if condition.operation == "or":
        found = [_values(part, key) for part in condition.arguments]
        listed = [value for values in found if values is not None for value in values]
        return None if None in found else tuple(dict.fromkeys(listed))
    if condition.operation == "in" and condition.arguments[0] == key and isinstance(condition.detail, tuple):
        return tuple(dict.fromkeys(condition.detail))  # type: ignore[arg-type]  # no reals are keys
    if condition.operation == "equal" and key in condition.arguments:
        other = condition.arguments[1 if condition.arguments[0] == key else 0]
        if isinstance(other, Literal) and other.kind is key.kind and other.value is not None:
            return (other.value,)  # type: ignore[return-value]  # no reals are keys
    return None


_LOW = {"greater_equal": 0, "greater": 1}
_HIGH = {"less_equal": 0, "less": 1}
_TURNED = {"greater_equal": "less_equal", "greater": "less", "less_equal": "greater_equal", "less": "greater"}


def _between(key: Expression, conditions: list[Expression]) -> tuple[KeyValue, ...] | None:
    """Return the whole numbers between two constants, if the conditions hold a key of integers to them."""
    if key.kind is not Kind.INTEGER:
        return None
    low: list[int] = []
    high: list[int] = []
    for condition in conditions:
        end = _end(condition, key)
        if end is None:
            continue
        operation, value = end
        if operation in _LOW:
            low.append(floor(value) + 1 if operation == "greater" else ceil(value))
        else:
            high.append(ceil(value) - 1 if operation == "less" else floor(value))
    if not low or not high or not 0 <= min(high) - max(low) < MOST_LISTED:
        return None
    return tuple(range(max(low), min(high) + 1))


def _end(condition: Expression, key: Expression) -> tuple[str, Fraction] | None:
    if not isinstance(condition, Call) or condition.operation not in _TURNED:
        return None
    left, right = condition.arguments
    operation = condition.operation if left == key else _TURNED[condition.operation]
    other = right if left == key else left
    if key not in (left, right) or not isinstance(other, Literal) or not other.kind.is_number or other.value is None:
        return None
    return operation, exact(other.value)  # type: ignore[arg-type]  # a number
