"""Visits of users, as a data set that has a name, a unit and a relation, and accounts of it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import sordino as so
from sordino.accounting.bound import Unit
from sordino.accounting.neighbours import Neighbours
from sordino.data.account import DataAccount, account_for

USER = Unit("user")


@dataclass(frozen=True)
class Visits:
    name: str = "visits"
    unit: Unit = USER
    neighbours: Neighbours = Neighbours.ADD_REMOVE


VISITS = Visits()


def in_memory(epsilon: Any = 1000, neighbours: Neighbours = Neighbours.ADD_REMOVE) -> DataAccount[Visits]:
    return DataAccount(Visits(neighbours=neighbours), account_for(so.budget(epsilon=epsilon)))


def unlimited() -> DataAccount[Visits]:
    return DataAccount(VISITS, so.unlimited("made-up data"))


def house(folder: Path) -> Any:
    return so.open(folder / "budget.db")


def kept(opened: Any, epsilon: Any = 10) -> DataAccount[Visits]:
    found: DataAccount[Visits] = opened.account(VISITS, so.budget(epsilon=epsilon))
    return found
