"""The log: entries as bytes, under a tree whose root is signed at every commit, watched by a witness.

What the bytes mean is not known here. A `Log` holds how far this process has read and checked, reads on under the
store's lock, appends, and finds out whether an append whose commit was lost has happened.

**Guarantee.** What `catch_up` returns extends what this process had checked before and is the whole of what the signed
head covers; the head is signed by the ledger's own key and extends all that the witness has seen. Anything else raises
`FrozenError` with a code that names it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from sordino.errors import FrozenError, LedgerError

from .canonical import from_base64
from .checkpoint import Checkpoint
from .keys import SigningKey, VerifyingKey
from .nodes import REMEMBERED, Nodes
from .store import BATCH, Head, Reading, Store, Writing
from .tree import Frontier, leaf_hashes
from .witness import Seen, Witness

_ID_BYTES = 4


@dataclass(frozen=True)
class Appended:
    """Entries that were put into the store together; they count once the commit has succeeded."""

    first: int
    bodies: tuple[bytes, ...]
    frontier: Frontier
    head: Head


class Log:
    """How far one process has read a ledger, and how it appends."""

    def __init__(self, store: Store, key: SigningKey, witness: Witness) -> None:
        self.store = store
        self.key = key
        self.witness = witness
        self.nodes = Nodes(store)
        self.heard: Seen | None = None
        """What the witness said, until this process has read as far."""
        self.rewind()

    def rewind(self) -> None:
        """Begin to read from the first entry again."""
        self.nodes.forget()
        self.frontier = Frontier()
        self.head = self._signed(self.frontier)

    @property
    def size(self) -> int:
        """How many entries this process has read."""
        return self.frontier.size

    def begin(self) -> None:
        """Write the head of an empty ledger if the store has none."""
        with self.store.writing() as writing:
            if writing.lock_head() is not None or writing.lock_opening() is not None:
                return
            if self.witness.recall() is None:
                self.witness.begin(Seen(0, self.head.note))
            writing.begin_head(self.head)

    def catch_up(self, reading: Reading, head: Head | None, pause: int = 0) -> Iterator[list[bytes]]:
        """Yield what was appended beyond what this process has read, in batches; check it all at the end.

        Whoever asks must not act on any of it before the last batch has been asked for. One batch ends at `pause`.
        """
        if head == self.head:
            return
        checkpoint = self._checked_head(head)
        while self.size < checkpoint.size:
            yield self._batch(reading, pause if self.size < pause < checkpoint.size else checkpoint.size)
        if self.frontier.root != checkpoint.root:
            raise FrozenError(
                f"the {checkpoint.size} entries of this ledger are not those that its head signs: one was altered, or "
                "the head is of another history; verify names the first bad one",
                "SRD-L064",
            )
        self.head = Head(self.size, self.frontier.to_bytes(), head.note if head else "")

    def _batch(self, reading: Reading, size: int) -> list[bytes]:
        start, stop = self.size, min(self.size + BATCH, size)
        rows = reading.bodies(start, stop)
        bodies = [row[1] for row in rows]
        if [row[0] for row in rows] != list(range(start, stop)):
            missing = next(place for place, row in enumerate([*rows, (-1, b"")], start) if row[0] != place)
            raise FrozenError(f"entry {missing} of {size} is missing: it was deleted", "SRD-L064")
        leaves = leaf_hashes(bodies)
        if len(leaves) == BATCH:  # far from the end of the log, which proofs are mostly about
            self.nodes.forget()
            self.frontier = self.frontier.extend(leaves)
        else:
            self.frontier, _ = self.nodes.extend(self.frontier, leaves)
        return bodies

    def _checked_head(self, head: Head | None) -> Checkpoint:
        if head is None:
            raise FrozenError("this ledger has lost its head: somebody deleted it; verify says more", "SRD-L060")
        try:
            checkpoint = Checkpoint.open(head.note, self.key.verifier)
            frontier = Frontier.from_bytes(head.frontier)
        except LedgerError as error:
            raise FrozenError(
                f"the head of this ledger is not of its key: {error.message}; if its owner went on from an old copy "
                "meanwhile, it has another key now: open it again with that one",
                "SRD-L060",
            ) from None
        if (head.size, frontier.size, frontier.root) != (checkpoint.size, checkpoint.size, checkpoint.root):
            raise FrozenError("the head of this ledger is not what was signed: somebody altered it", "SRD-L060")
        if checkpoint.size < self.size or (checkpoint.size == self.size and checkpoint.root != self.frontier.root):
            raise FrozenError(
                f"this ledger had {self.size} entries when this process last read it, and is now an older or another "
                f"one of {checkpoint.size}: somebody put another copy in its place; close it and open it again",
                "SRD-L067",
            )
        return checkpoint

    def hear_witness(self) -> None:
        """Ask the witness what it has seen."""
        if self.witness.watches:
            self.heard = self.witness.news() or self.heard

    def check_witness(self) -> None:
        """Raise unless what this process has read extends all that it has heard from the witness."""
        if self.heard is None:
            return
        checkpoint = checkpoint_in(self.heard, self.key.verifier)
        if checkpoint.size > self.size:
            raise FrozenError(
                f"this ledger has {self.size} entries, but its witness has seen {checkpoint.size}: it is an old copy, "
                "or its end was cut off; put the newest copy back, or go on from this one by restore(by, reason), "
                "which burns what the lost entries may have spent",
                "SRD-L061",
            )
        if self.nodes.frontier(checkpoint.size).root != checkpoint.root:
            raise FrozenError(
                f"the first {checkpoint.size} entries of this ledger are not those that its witness has seen: it is "
                "another history; put the right copy back, or go on by restore(by, reason)",
                "SRD-L062",
            )
        self.heard = None

    def signed(self, seen: Seen) -> bool:
        """Return whether what a witness remembers was signed by the key that signs now."""
        try:
            checkpoint_in(seen, self.key.verifier)
        except LedgerError:
            return False
        return True

    def append(self, writing: Writing, bodies: tuple[bytes, ...]) -> Appended:
        """Put entries behind all that this process has read, and sign the new head."""
        self.nodes.forget(REMEMBERED)
        frontier, tiles = self.nodes.extend(self.frontier, leaf_hashes(bodies))
        head = self._signed(frontier)
        writing.put_entries(self.size, bodies, _signature(head.note))
        for level, at, found in tiles:
            writing.put_tile(level, at, found)
        writing.put_head(head)
        return Appended(self.size, bodies, frontier, head)

    def accept(self, appended: Appended) -> None:
        """Take in what was appended, now that it has been committed."""
        self.frontier, self.head = appended.frontier, appended.head

    def holds(self, first: int, bodies: tuple[bytes, ...]) -> bool:
        """Return whether the store holds these entries from position `first`, when nobody knows what a commit did."""
        with self.store.reading() as reading:
            return tuple(row[1] for row in reading.bodies(first, first + len(bodies))) == bodies

    def _signed(self, frontier: Frontier) -> Head:
        note = Checkpoint(self.key.name, frontier.size, frontier.root).sign(self.key)
        return Head(frontier.size, frontier.to_bytes(), note)


def checkpoint_in(seen: Seen, verifier: VerifyingKey) -> Checkpoint:
    """Return the checkpoint that a witness remembers, if the ledger's key signed it."""
    try:
        checkpoint = Checkpoint.open(seen.note, verifier)
        if checkpoint.size == seen.size:
            return checkpoint
        reason = "a size in it is not the one that was signed"
    except LedgerError as error:
        reason = error.message
    raise FrozenError(f"the witness is of another ledger, or altered: {reason}", "SRD-L063")


def _signature(note: str) -> bytes:
    """Return the 64 bytes of the one signature in a note that this process has just signed."""
    return from_base64(note.rstrip("\n").rpartition(" ")[2])[_ID_BYTES:]
