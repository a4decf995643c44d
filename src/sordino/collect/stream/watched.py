"""What a stream is about: events that arrive and are not kept, with a name and whom they belong to."""

from __future__ import annotations

from dataclasses import dataclass

from sordino.accounting.bound import Unit
from sordino.accounting.neighbours import Neighbours
from sordino.errors import ArgumentError


@dataclass(frozen=True)
class Watched:
    """Something to open an account for, whose data arrives later; build it with `watched`."""

    name: str
    unit: Unit
    neighbours: Neighbours = Neighbours.ADD_REMOVE


def watched(name: str, *, unit: str, neighbours: Neighbours = Neighbours.ADD_REMOVE) -> Watched:
    """Return what streams are about, to open an account for.

    Args:
        name: its identity, to which everything is charged.
        unit: who is protected: "passenger", or "event" where single events are.
        neighbours: against which change of one of them.

    >>> watched("departures", unit="passenger").unit.name
    'passenger'
    """
    if not isinstance(name, str) or not name.strip() or not isinstance(unit, str) or not unit.strip():
        raise ArgumentError("say what is watched and who is protected, each by a word", "SRD-A001")
    if not isinstance(neighbours, Neighbours):
        raise ArgumentError("neighbours must be one of Neighbours", "SRD-A001")
    return Watched(name, Unit(unit), neighbours)
