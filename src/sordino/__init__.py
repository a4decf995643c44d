"""sordino: differential privacy on one ledger. A *sordino* is the mute of a violin: the music still comes through.

A map of the house, from the ground up (upper rooms may import lower ones, never the other way):

``noise``       exact randomness; the only room that touches entropy
``accounting``  what privacy costs: units, bounds, events, curves, composition, calibration, budgets and filters
``mechanisms``  noise and accounting together: each adds noise and names its own event
``serve``       the skins: for now the command line, ``sordino epsilon``, ``sordino noise``, ``sordino explain``

The way of a release: a mechanism names its *event* under a *bound*; an *account* prices the event, charges it and gives
a *grant*; the mechanism releases once for that grant.

>>> import sordino as so
>>> account = so.Account(so.budget(epsilon=1))
>>> count = so.mechanisms.Laplace(scale=10)
>>> bound = so.Bound.scalar(1)
>>> grant = account.reserve(count.event(bound), bound)
>>> isinstance(count.release(1234, grant), int)
True

Everything here is imported when first asked for, so ``import sordino`` costs next to nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from . import accounting, mechanisms, noise
    from .accounting.account import Account, unlimited
    from .accounting.bound import ROW, Bound, Unit
    from .accounting.budget import Budget, budget
    from .accounting.event import Event
    from .accounting.explain import explain
    from .accounting.neighbours import Neighbours

_HOME = {
    "account": "query.ask",
    "bounding": "query.bounding",
    "bounds": "query.declare",
    "column": "query.declare",
    "dataset": "query.dataset",
    "keys": "query.declare",
    "limits": "query.declare",
    "private": "query.declare",
    "public": "query.declare",
    "within": "query.goal",
    "Account": "accounting.account",
    "Bound": "accounting.bound",
    "Budget": "accounting.budget",
    "Event": "accounting.event",
    "Neighbours": "accounting.neighbours",
    "ROW": "accounting.bound",
    "Unit": "accounting.bound",
    "budget": "accounting.budget",
    "explain": "accounting.explain",
    "unlimited": "accounting.account",
}
_ROOMS = ("accounting", "mechanisms", "noise", "query")

__all__ = [
    "ROW",
    "Account",
    "Bound",
    "Budget",
    "Event",
    "Neighbours",
    "Unit",
    "accounting",
    "budget",
    "explain",
    "mechanisms",
    "noise",
    "unlimited",
]


def __getattr__(name: str) -> Any:
    if name in _ROOMS:
        return import_module(f"{__name__}.{name}")
    if name in _HOME:
        return getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
    raise AttributeError(f"sordino has no {name!r}; it has {', '.join(__all__)}")


def __dir__() -> list[str]:
    return __all__
