"""Prices, found again: whether what an entry charged covers its event, in every column of every budget.

**Guarantee.** A charge for which `shortfall` returns None is, in each column, at least what this version of the
accounting finds for the event under the rule. Every distinct event is priced once for each set of columns.
**Assumes.** The rule is the one that the scope was opened with: its columns decide what is compared.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

from sordino.accounting.columns import Columns, Vector
from sordino.accounting.event import Event
from sordino.accounting.neighbours import Neighbours
from sordino.accounting.relation import charged_as
from sordino.errors import SordinoError

from .entries import Charge, Reserved
from .rule import Rule

UNDERCHARGED = "SRD-L074"


def shortfall(reserved: Reserved, charge: Charge, rule: Rule) -> str | None:
    """Return in which way `charge` does not cover the event of `reserved` under `rule`; None if it does."""
    if rule.unit is not None and rule.unit != reserved.unit:
        return f"{charge.scope} protects each {rule.unit}, and the price was found for each {reserved.unit}"
    columns = rule.filter.columns
    try:
        due = _due(reserved.event, Neighbours(reserved.neighbours), rule.neighbours, columns)
    except SordinoError as error:
        return f"{charge.scope} was charged for an event that has no price there: {error.message}"
    if len(due) != len(charge.amount):
        return f"{charge.scope} was charged in other columns than its rule has"
    short = [name for name, least, paid in zip(columns.names, due, charge.amount, strict=True) if paid < least]
    if not short:
        return None
    more = f" and {len(short) - 1} columns more" if len(short) > 1 else ""
    return f"{charge.scope} was charged less than its event costs, in {short[0]}{more}"


def repriced(reserved: Reserved, rules: Mapping[str, Rule]) -> tuple[list[str], list[str], list[str]]:
    """Price a charge again; return which scopes it covers, where it falls short, and which were not checked.

    `rules` holds the rule of each scope that there is one for, by the scope's text.
    """
    covered, short, unchecked = [], [], []
    for charge in reserved.charges:
        rule = rules.get(charge.scope.text)
        if rule is None:
            unchecked.append(str(charge.scope))
        elif (why := shortfall(reserved, charge, rule)) is not None:
            short.append(why)
        else:
            covered.append(f"{charge.scope} in all of its {len(charge.amount)} columns")
    return covered, short, unchecked


@lru_cache(maxsize=65536)
def _due(event: str, ran: Neighbours, held: Neighbours | None, columns: Columns) -> Vector:
    """Return what an event that ran under one relation costs in columns that are held under another."""
    return columns.charge(charged_as(Event.from_json(event), ran, ran if held is None else held))
