"""Every signature in a ledger, checked from the first entry to the last: by the key that signs now, or one before it.

A ledger that went on from an old copy has had several keys (``continuing.py``), and only the entry that hands over says
who signed before it. So what the newest key did not sign waits until that entry comes, and is then checked by the key
that it names; what waits at the end nobody signed.

**Guarantee**: with `faults` empty, each key handed over to the next, the last is the one that the caller trusts, and
every signature that was shown here is that of the key in force at its place.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from sordino.errors import LedgerError

from .checkpoint import Checkpoint
from .continuing import checked_handover
from .entries import Continued
from .keys import VerifyingKey
from .note import open_note
from .tree import Frontier

Holds = Callable[[VerifyingKey], bool]


class Fault(NamedTuple):
    """What is wrong at a position."""

    position: int
    reason: str


class Signatures:
    """What has been checked so far, in the order of positions."""

    def __init__(self, key: VerifyingKey) -> None:
        self.keys = [key]
        """All that have signed, as far as entries say so; the newest is the first."""
        self.checked = 0
        self.faults: list[Fault] = []
        self._newest = key
        self._waiting: list[tuple[int, Holds]] = []
        self._last: str | None = None
        self._frontier = Frontier()

    def take(self, leaves: list[bytes], kept: list[tuple[int, bytes]]) -> None:
        """Check the signatures `kept` beside the next entries, whose hashes are `leaves`."""
        start = self._frontier.size
        for position, signature in kept:
            size = position + 1
            self._frontier = self._frontier.extend(leaves[self._frontier.size - start : size - start])
            self._check(position, _on(size, self._frontier.root, signature))
        self._frontier = self._frontier.extend(leaves[self._frontier.size - start :])

    def note(self, position: int, note: str) -> None:
        """Check the note of a checkpoint that stands among the entries."""
        self._check(position, lambda key: opens(note, key))

    def handed_over(self, entry: Continued, root: bytes | None) -> None:
        """Take the entry by which a key hands over to the next; `root` is that of the entries before it, if known."""
        previous = VerifyingKey.parse(entry.previous)
        if self._last not in (None, entry.previous):
            self._wrong(entry.sequence, "the key that hands over is not the one that signed before")
        if root is not None and checked_handover(entry.handover, previous).root != root:
            self._wrong(entry.sequence, "the handover is of another history than the entries before it")
        later = [each for each in self._waiting if each[0] >= entry.sequence]
        self._waiting = [each for each in self._waiting if each[0] < entry.sequence]
        self._settle(previous)
        for position, holds in later:
            self._check(position, holds)
        self.keys.append(previous)
        self._last = entry.key

    def end(self) -> None:
        """Judge what is left after the last entry."""
        if self._last not in (None, self._newest.text):
            self._wrong(self._frontier.size, "the ledger went on under another key than the one given")
        self._settle(self._newest)

    def _check(self, position: int, holds: Holds) -> None:
        if not self._waiting and holds(self._newest):
            self.checked += 1
        else:
            self._waiting.append((position, holds))

    def _settle(self, key: VerifyingKey) -> None:
        for position, holds in self._waiting:
            if holds(key):
                self.checked += 1
            else:
                self._wrong(position, f"the signature kept with it is not that of {key.name}")
                break
        self._waiting.clear()

    def _wrong(self, position: int, reason: str) -> None:
        self.faults.append(Fault(position, reason))


def _on(size: int, root: bytes, signature: bytes) -> Holds:
    return lambda key: key.verify(Checkpoint(key.name, size, root).text().encode(), signature)


def opens(note: str, key: VerifyingKey) -> bool:
    """Return whether a key has signed a checkpoint of the log of its name."""
    try:
        return Checkpoint.parse(open_note(note, (key,))).origin == key.name
    except LedgerError:
        return False
