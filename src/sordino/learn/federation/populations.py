"""What a federated training is charged to: all that its members hold together, and who is protected.

>>> population("phones", members=1000)
Population('phones', 1,000 members, protects each client)
>>> population("heart study", members=5, unit="patient", size=60_000)
Population('heart study', 5 members, protects each patient)
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sordino.accounting.bound import Unit
from sordino.accounting.neighbours import Neighbours
from sordino.arguments import whole
from sordino.data.account import DataAccount
from sordino.errors import ArgumentError

CLIENT = Unit("client")


@dataclass(frozen=True, repr=False)
class Population:
    """All units of all members, under one name: something that an account is opened for. Build it with `population`."""

    name: str
    members: int
    unit: Unit
    size: int
    """About how many units there are in all: public."""
    neighbours: Neighbours

    def __repr__(self) -> str:
        return f"Population({self.name!r}, {self.members:,} members, protects each {self.unit.name})"


def population(
    name: str,
    *,
    members: int,
    unit: str = "client",
    size: int | None = None,
    neighbours: Neighbours = Neighbours.ADD_REMOVE,
) -> Population:
    """Declare what is learned from together.

    Args:
        name: the identity to which everything is charged.
        members: how many take part: phones, hospitals.
        unit: "client", where a member is one person; else who is protected at each member, such as "patient".
        size: about how many of these there are in all, as is publicly known. No two members hold data of one unit.
        neighbours: the change of one unit that is protected against. Where a member is the unit and everybody knows
            who takes part, that is `Neighbours.ZERO_OUT`.
    """
    if not isinstance(name, str) or not name.strip():
        raise ArgumentError("a population needs a name, to which everything is charged", "SRD-A001")
    if not isinstance(unit, str) or not unit.strip():
        raise ArgumentError("unit must be 'client', or what a protected person is called", "SRD-A001")
    count = whole("members", members, least=1)
    if (size is None) != (unit == CLIENT.name):
        raise ArgumentError(
            "where a member holds many units, say size=…, about how many there are in all; where each is one, leave it "
            "out",
            "SRD-A003",
        )
    return Population(name, count, Unit(unit), count if size is None else whole("size", size, least=1), neighbours)


def check_account(account: Any) -> DataAccount[Population]:
    """Return the account if it was opened for a population."""
    if not isinstance(account, DataAccount) or not isinstance(account.protected, Population):
        raise ArgumentError(
            "budget must be an account of a population: so.account(federation.population(…), so.budget(…))", "SRD-A001"
        )
    return account
