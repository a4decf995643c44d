"""Training over members that keep their data: hospitals, phones; masked sums, shared noise, one budget.

    roster, keys, packing      who takes part, what they sign and agree on, and messages as bytes
    shamir, masks              secrets in shares, keystreams as numbers
    member, collector          both sides of a masked sum, as state machines of opaque messages
    steps, noise_shares        clipped vectors in whole steps, and the noise that members share
    populations, plan, recipes what is charged: the units, a round, the noise that fits
    parties, rounds, simulation what a member hands in, the loop, and all of it in one process
    open_sums                  what a trusted server makes of clients' updates
    layout                     a model's arrays as one vector
    strategy, transport, mod   the same over Flower, which only these three files import; `marks` of what was answered

Importing this folder loads no Flower; `Private` and the mods do when they are first asked for.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .keys import Identity
    from .mod import Masked, Seat
    from .parties import Client, Patients
    from .populations import population
    from .recipes import recipe_for
    from .roster import Quorum, Roster
    from .simulation import simulate
    from .strategy import Private

__all__ = [
    "Client",
    "Identity",
    "Masked",
    "Patients",
    "Private",
    "Quorum",
    "Roster",
    "Seat",
    "population",
    "recipe_for",
    "simulate",
]

_HOME = {
    "Client": "parties",
    "Identity": "keys",
    "Masked": "mod",
    "Patients": "parties",
    "Private": "strategy",
    "Quorum": "roster",
    "Roster": "roster",
    "Seat": "mod",
    "population": "populations",
    "recipe_for": "recipes",
    "simulate": "simulation",
}


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = getattr(import_module(f".{_HOME[name]}", __name__), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted(__all__)
