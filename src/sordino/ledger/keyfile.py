"""The file of a ledger's key, and how another key takes its place when the ledger goes on as another log.

Beside ``budget.db.key`` lies its public half, ``budget.db.pub``. A key that takes over is first written to
``budget.db.key.next``; once the entry is committed that it signs, the old one is put away as
``budget.db.key.retired-<id>`` with its public half, by which receipts of before are still checked, and the new one
takes its name. Whoever is killed in between leaves that to the next who opens the ledger.

**Guarantee**: whatever is killed when, the file holds the key that signs the head, or `load` makes it so. A key is
never written over another, and none is made for a ledger that has a head.
"""

from __future__ import annotations

import os
from pathlib import Path

from sordino.errors import LedgerError
from sordino.noise.keystream import SOURCE

from .continuing import next_origin
from .keys import SigningKey, sync_directory
from .store import Head, Store

ORIGIN = "sordino.invalid/ledger"
"""The name above that of every ledger whose owner has not said where it belongs; no such host can ever be."""


class KeyFile:
    """The key of one ledger, in a file."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._next = path.with_name(f"{path.name}.next")
        self._public = path.with_suffix(".pub")

    def load(self, store: Store, origin: str | None) -> SigningKey:
        """Return the key; made, under a new name below `origin`, if the ledger in `store` is new as well."""
        with store.reading() as reading:
            head = reading.head()
        if self._next.exists() and head is not None:
            self._take_over(head)
        if not self.path.exists():
            self._make(store, head, origin or ORIGIN)
        found = SigningKey.load(self.path)
        self._keep_public(found)
        return found

    def successor(self, key: SigningKey) -> SigningKey:
        """Return a new key, kept beside the one that still signs; one that was never used is made anew."""
        self._next.unlink(missing_ok=True)
        found = SigningKey.generate(next_origin(key.name, token()))
        found.save(self._next)
        return found

    def succeed(self, key: SigningKey) -> None:
        """Put away the key in the file, and put the successor `key` in its place."""
        if not self._next.exists() or SigningKey.load(self._next).verifier != key.verifier:
            return  # another process was quicker
        if self.path.exists():
            self._retire()
        os.replace(self._next, self.path)
        sync_directory(self.path.parent)
        self._keep_public(key)

    def _take_over(self, head: Head) -> None:
        key = SigningKey.load(self._next)
        if head.note.partition("\n")[0] == key.name:
            self.succeed(key)

    def _retire(self) -> None:
        old = SigningKey.load(self.path)
        mark = f"retired-{old.verifier.id.hex()}"
        if self._public.exists():
            os.replace(self._public, self._public.with_name(f"{self._public.name}.{mark}"))
        os.replace(self.path, self.path.with_name(f"{self.path.name}.{mark}"))

    def _make(self, store: Store, head: Head | None, origin: str) -> None:
        if head is not None:
            raise LedgerError(
                f"the ledger {store.place} exists, but its key {self.path} does not; put the key back: with another "
                "one nothing could be signed that anybody believes",
                "SRD-L056",
            )
        try:
            SigningKey.generate(f"{origin}/{token()}").save(self.path)
        except LedgerError:
            if not self.path.exists():
                raise  # otherwise another process was faster, and its key is the one

    def _keep_public(self, key: SigningKey) -> None:
        """Write the public half beside the key, for whoever checks receipts; refuse one that is of another key."""
        line, path = f"{key.verifier.text}\n", self._public
        if not path.exists():
            scratch = path.with_name(f".{path.name}.{token()}")
            with scratch.open("w", encoding="utf-8") as file:
                file.write(line)
                file.flush()
                os.fsync(file.fileno())  # or a power loss could leave an empty file in its place
            os.replace(scratch, path)
        elif path.read_text(encoding="utf-8") != line:
            raise LedgerError(
                f"{path} is not the public half of the key beside it; find out which one is right", "SRD-L056"
            )


def token() -> str:
    """Return 128 random bits in hexadecimal digits."""
    return f"{SOURCE.word():016x}{SOURCE.word():016x}"
