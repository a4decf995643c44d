"""A gate whose releases come out at fixed times, so that how long the engine took says little about the data.

It also lets nothing touch data before a witness elsewhere has acknowledged the charge (``watching.py``).

**Guarantee**: with a slot of s seconds, what was run is settled (or fails) a whole number of slots after it began, up
to the time that the ledger takes; and as everything else that can be seen (stages, entries and their times, lists of
releases) follows the settlement, no observer of the service learns more of the run's time than that number.
**Assumes**: whoever watches the machine itself (its load, its disk) is trusted like the data's owner.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, TypeVar

from sordino.accounting.bound import Bound
from sordino.accounting.event import Event
from sordino.accounting.grant import Grant
from sordino.accounting.plan import Plan
from sordino.errors import SordinoError
from sordino.gate import Gate
from sordino.ledger.account import LedgerGrant

from .watching import Watcher

T = TypeVar("T")


class SlottedGate(Gate):
    """A gate with a slot, in seconds (0 is off), and somebody who watches over the ledger from elsewhere."""

    def __init__(self, *arguments: Any, watcher: Watcher, slot: float = 0.0, **words: Any) -> None:
        super().__init__(*arguments, **words)
        self._slot = slot
        self._watcher = watcher

    def reserve(self, event: Event, bound: Bound) -> LedgerGrant:
        """Do what a gate does, and return only when the charge was witnessed."""
        self._watcher.check()
        grant = super().reserve(event, bound)
        try:
            self._watcher.wait()
        except SordinoError as error:
            self._fail(grant, error)
            raise
        return grant

    def carry_out(self, plan: Plan, run: Callable[[Grant], T]) -> T:
        """Do what a gate does, and end the run at the end of a slot, however it ends."""

        def slotted(grant: Grant) -> T:
            begun = time.monotonic()
            self.stage("running")
            try:
                return run(grant)
            finally:
                time.sleep(left_of_slot(time.monotonic() - begun, self._slot))

        return super().carry_out(plan, slotted)


def left_of_slot(elapsed: float, slot: float) -> float:
    """Return how long it is from `elapsed` seconds to the end of the slot that they lie in.

    >>> left_of_slot(2.5, 2.0)
    1.5
    >>> left_of_slot(2.5, 0.0)
    0.0
    """
    return -elapsed % slot if slot else 0.0
