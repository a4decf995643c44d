"""Units that are replaced within a public part: how many there are in each part is not protected.

A statistics office may have to publish the population of every state exactly. Under replace-one only the number of all
units is free, so such totals need a relation of their own: *replace-one within a part*. Two data sets are neighbours if
one unit has other data in them, and is in the same part in both. It is said by the unit: ``row (within its state)``.

**Guarantee**: what costs so much under replace-one costs no more here; and the number of units in each part is the same
on all neighbours, so its release costs nothing.
**Proof**: neighbours within a part are neighbours under replace-one, so every bound and every price towards those holds
towards these. A unit that stays in its part leaves all parts' numbers as they are, and what is constant on neighbours
may be known to whoever tells them apart. ∎ Nothing follows the other way round, nor for other parts: units of another
part are other units, so an account or a group of these takes nothing that is priced for those.
**Source**: Abowd et al. 2022, section 3 (invariants); Gao, Gong, Yu 2022; Dharangutte, Gao, Gong, Yu 2023.
"""

from __future__ import annotations

import re

from .bound import Unit

_NAMED = re.compile(r"(?P<unit>.+) \(within its (?P<part>[A-Za-z_][A-Za-z0-9_]*)\)")


def within(unit: Unit, column: str) -> Unit:
    """Return the unit that is only ever replaced by another with the same value of a public column.

    >>> within(Unit("row"), "state").name
    'row (within its state)'
    """
    return Unit(f"{unit.name} (within its {column})")


def part_of(unit: str) -> str | None:
    """Return the column within which units of this name are replaced, or None."""
    found = _NAMED.fullmatch(unit)
    return None if found is None else found["part"]


def not_protected(unit: str, relation: str) -> tuple[str, ...]:
    """Return what may be published exactly about units of this name under a relation, by its name, in words.

    >>> not_protected("row (within its state)", "replace-one")
    ('how many rows there are in all', 'how many rows there are in each state')
    """
    if relation == "add-remove":
        return ()
    found = _NAMED.fullmatch(unit)
    if found is None:
        return (f"how many {unit}s there are in all",)
    return f"how many {found['unit']}s there are in all", f"how many {found['unit']}s there are in each {found['part']}"
