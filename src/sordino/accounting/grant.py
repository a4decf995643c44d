"""Grants: permission to release once, for one event, under one bound.

A grant is made by whoever holds a budget, after the price has been charged. A mechanism's `release` demands one, so
data cannot come out uncharged by mistake. (Python cannot stop malice inside one process; the ledger and the service
are what an outsider meets.)
"""

from __future__ import annotations

import threading

from sordino.errors import GrantError

from .bound import Bound
from .event import Event
from .plan import Plan


class Grant:
    """Permission for one release of `event`; used up by the first `use`, even if what follows fails.

    `plan` is the digest of the plan that was charged, or None where a mechanism is used by itself.
    """

    __slots__ = ("_taken", "bound", "event", "plan")

    def __init__(self, event: Event, bound: Bound, plan: str | None = None) -> None:
        self.event = event
        self.bound = bound
        self.plan = plan
        self._taken = threading.Lock()  # acquired by the first use and never given back, so no two threads both get it

    def use(self, event: Event) -> None:
        """Use the grant up for a mechanism that runs `event`, or raise if it was used before or is for another event.

        A plan that is one mechanism hands its own grant on to it.
        """
        if event != self.event:
            raise GrantError(
                f"this grant was given for {self.event!r}, not for {event!r}; reserve a grant for the event you run",
                "SRD-G002",
            )
        if not self._taken.acquire(False):
            raise _used_before()

    def use_for(self, plan: Plan) -> None:
        """Use the grant up for `plan`, or raise if it was used before or was given for another plan.

        **Guarantee**: a grant runs its own plan and no other, however equal their events.
        """
        if plan.digest() != self.plan:
            raise GrantError(
                "this grant was given for another plan, which may cost the same; begin(plan) the one that you run",
                "SRD-G002",
            )
        if not self._taken.acquire(False):
            raise _used_before()

    def __repr__(self) -> str:
        return f"Grant({self.event!r}, {'used' if self._taken.locked() else 'unused'})"

    def __reduce__(self) -> str:
        raise GrantError("a grant cannot be copied or sent elsewhere: it is good for one release here", "SRD-G003")


def _used_before() -> GrantError:
    return GrantError("this grant has been used; every release needs a grant of its own", "SRD-G001")
