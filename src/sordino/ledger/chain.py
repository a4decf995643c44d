"""Reservations that follow one another under one idempotency key, such as the tranches of a training.

Each has a key of its own, made from the one that was given and its number. So the ledger itself knows which came under
it, in whichever process and after whichever crash, and what became of the newest.

**Guarantee**: two processes that go on with one chain at once are both charged, or one is refused: no number is given
to both.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from itertools import count

from sordino.accounting.event import Event
from sordino.accounting.plan import Release

from .entries import Reserved, from_bytes, position_of
from .ledger import Ledger
from .reservation import Replay


class Chain:
    """The reservations under the digest of an idempotency key; numbered from 1, without gaps."""

    def __init__(self, ledger: Ledger, key: str) -> None:
        self._ledger = ledger
        self._key = key
        self._known = 0

    def newest(self) -> Replay | None:
        """Return what became of the newest, None if there is none."""
        first = max(self._known, 1)
        found = list(self._from(first))
        self._known = max(self._known, first + len(found) - 1)
        return found[-1] if found else None

    def next_key(self) -> str:
        """Return the key of the one after the newest."""
        self.newest()
        return self._numbered(self._known + 1)

    def settle_left(self, release: Release) -> None:
        """Settle the newest, which a process left open when it had kept all that came of it."""
        left = self.newest()
        if left is not None and left.running:
            self._ledger.settle(left.id, release.to_json().encode(), release.files)

    def fail_left(self, code: str) -> None:
        """Say that the newest, if a process left it open, came to nothing. The charge stands."""
        left = self.newest()
        if left is not None and left.running:
            self._ledger.fail(left.id, code)

    def events(self) -> list[Event]:
        """Return what each was charged for."""
        entries = (from_bytes(self._ledger.entry(position_of(each.id))) for each in self._from(1))
        return [entry.priced for entry in entries if isinstance(entry, Reserved)]

    def _from(self, first: int) -> Iterator[Replay]:
        for number in count(first):
            found = self._ledger.replayed(self._numbered(number))
            if found is None:
                return
            yield found

    def _numbered(self, number: int) -> str:
        return hashlib.sha256(f"{self._key} {number}".encode()).hexdigest()
