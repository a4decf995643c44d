"""Runs that come out at fixed times, so that how long the engine took says little about the data.

A gate that holds this also lets nothing touch data before a witness elsewhere has acknowledged the charge
(``watching.py``).

**Guarantee**: with a slot of s seconds, what was run is settled (or fails) a whole number of slots after it began, up
to the time that the ledger takes; and as everything else that can be seen (stages, entries and their times, lists of
releases) follows the settlement, no observer of the service learns more of the run's time than that number.
**Assumes**: whoever watches the machine itself (its load, its disk) is trusted like the data's owner.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

from sordino.accounting.grant import Grant
from sordino.accounting.work import Stage
from sordino.serve.witness.watching import Watcher

T = TypeVar("T")


class Slots:
    """The guard of a service's gate: a slot, in seconds (0 is off), and who watches over the ledger from elsewhere."""

    def __init__(self, watcher: Watcher, slot: float = 0.0) -> None:
        self._watcher = watcher
        self._slot = slot

    def check(self) -> None:
        """Raise if nothing should be charged now, as it could not be witnessed."""
        self._watcher.check()

    def wait(self) -> None:
        """Return when the charge was witnessed, or raise."""
        self._watcher.wait()

    def run(self, run: Callable[[Grant], T], grant: Grant, stage: Stage) -> T:
        """Return what `run` releases, at the end of a slot, however it ends."""
        begun = time.monotonic()
        stage("running")
        try:
            return run(grant)
        finally:
            time.sleep(left_of_slot(time.monotonic() - begun, self._slot))


def left_of_slot(elapsed: float, slot: float) -> float:
    """Return how long it is from `elapsed` seconds to the end of the slot that they lie in.

    >>> left_of_slot(2.5, 2.0)
    1.5
    >>> left_of_slot(2.5, 0.0)
    0.0
    """
    return -elapsed % slot if slot else 0.0
