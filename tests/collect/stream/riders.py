"""Somebody to count: riders, as a data set that holds nothing itself."""

from __future__ import annotations

from dataclasses import dataclass

from sordino.accounting.bound import Unit
from sordino.accounting.neighbours import Neighbours

RIDER = Unit("rider")


@dataclass(frozen=True)
class Riders:
    name: str = "rides"
    unit: Unit = RIDER
    neighbours: Neighbours = Neighbours.ADD_REMOVE
