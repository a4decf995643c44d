"""The catalogue: data sets as the public may know them, by what was declared. Nothing from data."""

from __future__ import annotations

from typing import Any

from sordino.serve.asking.premises import Opened, Premises
from sordino.serve.keeping.identity import Principal
from sordino.serve.keeping.registry import plain_policy

from .budgets import summary

Plain = dict[str, Any]


def datasets(house: Premises, who: Principal) -> list[Plain]:
    """Return all data sets that `who` may know of, in short."""
    found = []
    for name in house.registry.names():
        if who.may_see(name):
            row = house.row(who, name)
            found.append({"name": name, "owner": row.owner, "sort": row.sort, "budget": summary(house, name)})
    return found


def dataset(house: Premises, who: Principal, name: str) -> Plain:
    """Return what is publicly known about a data set, its policy and its budget in short."""
    asked = house.asked(who, name)
    row = house.row(who, name)
    found = _public(asked.opened) | {
        "name": name,
        "owner": row.owner,
        "registered": row.time,
        "version": row.version,
        "policy": plain_policy(asked.policy),
        "budget": summary(house, name),
    }
    if who.role == "owner":
        found["declarations"] = row.declarations
    return found


def preview(house: Premises, declarations: str) -> Plain:
    """Return what declarations would make public, and the budget that there is under their name already."""
    found = house.open_declared(house.declared(declarations))
    name = found.protected.name
    known = house.registry.dataset(name) is not None
    return _public(found) | {"name": name, "known": known, "budget": summary(house, name)}


def _public(found: Opened) -> Plain:
    """Return what its sort tells, and what is told of every sort."""
    told = found.sort.public(found.protected)
    protected = {"unit": found.protected.unit.name, "neighbours": found.protected.neighbours.value}
    return told | {"sort": found.sort.name, **protected}
