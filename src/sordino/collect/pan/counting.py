"""Pan-private counting at work: updates come in, states are kept and seen, noisy counts go out.

    with distinct(account, expected=100_000, epsilon=1) as count:
        count.add(ids)                  # as often as data comes
        print(count.estimate().interval())

**Guarantee**: that of ``coins.py``: whoever sees all outputs, all files that were ever written, and memory as often as
`intrusions` says, learns no more about one unit than the ε that was charged. A file is a state that is seen: it is
counted in the ledger before it is written, and cells are randomised anew before it (as memory may have been looked at)
and after it. So is a state in memory of which the owner learns that it was seen (`intruded`).
**Assumes**: what ``coins.py`` assumes. A look into memory sees the cells, not an update while it is made, nor what the
interpreter has not yet overwritten; memory is not written to disk (swap, core dumps), or that counts as an intrusion.

**Crashes.** What came since the last save is lost: to keep it would be one more state that is seen. A save that a crash
cut off is counted, in the ledger, and its file may be missing; the work then goes on from the version before, where
``older=True`` says that this is known: an older version is as private as the newest (``coins.py``, the last lines of
the proof), but what came since is not in it.
"""

from __future__ import annotations

import json
import threading
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from sordino import noise
from sordino.accounting.grant import Grant
from sordino.accounting.work import Work
from sordino.arguments import array
from sordino.collect.said import Said
from sordino.errors import ArgumentError, BudgetError, GrantError

from . import kept, places
from .cells import Cells
from .estimate import Distinct, Held, came, held
from .kept import Kept
from .plan import PanPlan

_KEYS = 2**63
SAVED, SEEN, COUNTED = "saved", "seen", "counted"
"""What a part of the work says: a version was written, an intrusion announced, or noisy counts."""


class PanCount:
    """An open pan-private count. Build it with `distinct`, `density` or `heavy`; safe to share between threads."""

    def __init__(self, plan: PanPlan, work: Work, file: Path | None, *, resumed: bool, older: bool = False) -> None:
        self.plan = plan
        self._work = work
        self._file = file
        self._lock = threading.Lock()
        self._said = _recorded(work, plan.parts)
        if resumed:
            found = _newest(self._said, plan, work, file, older)
            self._cells, self._key = found.cells, found.key
            self._cells.randomise()
        else:
            self._cells, self._key = Cells.fresh(plan.coins, plan.cells), noise.uniform(_KEYS)

    @property
    def id(self) -> str:
        """Under which the count goes on after a restart, if it was saved and its account outlives the process."""
        return self._work.id

    def add(self, units: Any, items: Any = None) -> None:
        """Count updates: of each unit that came, with its item where items are counted.

        A unit may come any number of times. What has no cell, or an item that was not declared, counts nowhere.
        """
        with self._lock:
            self._check_open()
            if self.plan.ids is None:
                found, known = places.numbered(units, self.plan.cells)
            else:
                found, known = places.hashed(units, self.plan.ids, self._key, self.plan.cells)
            numbers = self._numbers(items, known)
            declared = numbers > 0
            self._cells.put(found[declared], numbers[declared])

    def estimate(self) -> Distinct | Held:
        """Return what was counted so far, by counts with fresh noise: one of the `releases` that were declared."""
        with self._lock:
            self._check_open()
            self._check_left(COUNTED, self.plan.releases, "estimates")
            exact = self._cells.counts()
            shown = exact[1:] if exact.size == 2 else exact
            noisy = self.plan.output.release(shown, Grant(self.plan.output.event(self.plan.bound), self.plan.bound))
            self._say(COUNTED, {"counts": noisy.tolist(), "randomised": self._cells.randomised})
            return _estimate(self.plan, self._said[-1])

    @property
    def estimates(self) -> list[Distinct | Held]:
        """All estimates so far, also those before a restart."""
        return [_estimate(self.plan, said) for said in self._said if said["part"] == COUNTED]

    def save(self) -> None:
        """Keep the state in its file, from which it goes on after a restart: one of the `saves` that were declared."""
        with self._lock:
            self._check_open()
            self._check_left(SAVED, self.plan.saves, "saves")
            version = self._count(SAVED) + 1
            self._cells.randomise()
            self._say(SAVED, {"version": version})
            try:
                if self._file is not None:  # there is one, where a save is declared
                    kept.write(self._file, self.plan, Kept(self._work.id, version, self._key, self._cells))
            finally:  # what was written before it failed can be seen
                self._cells.randomise()

    def intruded(self) -> None:
        """Say that somebody saw the state in memory, so that another may see it: one of the intrusions declared."""
        with self._lock:
            self._check_open()
            self._check_left(SEEN, self.plan.intrusions - 1, "intrusions that may be announced")
            self._cells.randomise()
            self._say(SEEN, {})

    def close(self) -> Said:
        """Settle, and remove the file. Nothing is paid back for what was not used."""
        with self._lock:
            self._check_open()
            said = self._work.finish(Said({"estimates": self._count(COUNTED), "saves": self._count(SAVED)}))
            self._cells.values = np.zeros(0, dtype=np.uint8)
            if self._file is not None:
                self._file.unlink(missing_ok=True)
            return said

    def _numbers(self, items: Any, known: NDArray[np.bool_]) -> NDArray[np.int64]:
        """Return the number of each item, 0 for one that was not declared."""
        if len(self.plan.items) == 1:
            if items is not None:
                raise ArgumentError("this counts units alone; add(units) without items", "SRD-C611")
            return np.ones(int(known.sum()), dtype=np.int64)
        given = array("items", items)
        if given.shape != known.shape or given.dtype.kind not in "UT":
            raise ArgumentError("items must be a list of texts, one for each unit", "SRD-C611")
        names = np.array(self.plan.items)
        order = np.argsort(names)
        found = np.minimum(np.searchsorted(names[order], given[known]), names.size - 1)
        return np.where(names[order][found] == given[known], order[found] + 1, 0)

    def _count(self, sort: str) -> int:
        return sum(said["part"] == sort for said in self._said)

    def _check_left(self, sort: str, declared: int, words: str) -> None:
        if self._count(sort) >= declared:
            raise BudgetError(
                f"this count has had all {declared} {words} that were declared and charged; close it and begin another",
                "SRD-C615",
            )

    def _check_open(self) -> None:
        if not self._cells.values.size:
            raise GrantError("this count is closed, or another process goes on with it", "SRD-C614")

    def _say(self, sort: str, more: dict[str, Any]) -> None:
        """Record the next part; if another process was there first this one ends, for two would count apart."""
        ours = Said({"part": sort, "mark": noise.uniform(_KEYS), **more})
        recorded = self._work.part(len(self._said) + 1, ours)
        if recorded != ours.to_json().encode():
            self._cells.values = np.zeros(0, dtype=np.uint8)
            self._check_open()
        self._said.append(json.loads(recorded))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, _kind: Any, error: BaseException | None, _trace: TracebackType | None) -> None:
        if error is None:
            self.close()

    def __repr__(self) -> str:
        return f"PanCount({self.plan.dataset!r}, {self.plan.cells} cells, {self._count(COUNTED)} estimates)"

    def __reduce__(self) -> str:
        raise GrantError("a pan-private count cannot be copied: each copy is one more state to be seen", "SRD-G003")


def _estimate(plan: PanPlan, said: dict[str, Any]) -> Distinct | Held:
    tell = came if len(plan.items) == 1 else held
    return tell(plan, said["counts"], said["randomised"])


def _recorded(work: Work, parts: int) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    for number in range(1, parts + 1):
        said = work.recorded(number)
        if said is None:
            break
        found.append(json.loads(said))
    return found


def _newest(said: list[dict[str, Any]], plan: PanPlan, work: Work, file: Path | None, older: bool) -> Kept:
    """Return the newest version that was kept, or an older one if that is wanted."""
    versions = [each["version"] for each in said if each["part"] == SAVED]
    if not versions or file is None:
        raise GrantError(
            "this count was never saved, so there is no state to go on from: begin another, with saves=", "SRD-C614"
        )
    found = kept.read(file, plan, work.id)
    if found.version != versions[-1] and not (older and found.version < versions[-1]):
        raise GrantError(
            f"the file holds version {found.version} of the state, and {versions[-1]} were saved: what came since is "
            "not in it. Find the newest, or go on from this one by older=True",
            "SRD-C614",
        )
    return found
