"""Verification: read the whole ledger again and believe nothing but the public key.

By hash only, every entry's bytes are checked against the signed head, the tiles and the witness. In full, every entry
is also judged by the rules (canonical bytes, order, time, caps, scopes; no time lies ahead; events and norms mean
something), every signature that a commit left behind and every checkpoint among the entries by the key that signed at
its place, every snapshot by the state that the entries add up to, and every release that is kept, in a row or in files,
by the digests that were settled. And with `reprice`, every charge is compared with the price of its event, found again.

**Guarantee.** A sound report means: the entries are those that the key's holder signed, they extend what the witness
saw, and (in full) every one of them kept the rules at its place; only with `reprice`, that no charge is less than what
this version of the accounting says. Otherwise the first bad position is named, with what
is wrong there; an edit is located by the signatures that each commit left behind (``locate.py``).
**Assumes.** The verifying key came by another way than the store.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from sordino.errors import LedgerError

from .checkpoint import Checkpoint
from .cosignature import Cosigner, cosigned
from .entries import Checkpointed, Continued, Part, Reserved, Settled, from_bytes
from .files import faults
from .keys import VerifyingKey
from .loading import opened
from .locate import Roots, first_bad, what_is_wrong
from .log import checkpoint_in
from .manifest import Listed
from .nodes import LEVELS, TILE
from .note import text_of
from .opening import files_for
from .periods import moment
from .plausible import implausible
from .receipt import release_digest
from .report import Problem, Report
from .repricing import UNDERCHARGED, repriced
from .signatures import Signatures, opens
from .snapshot import snapshot
from .state import State
from .store import BATCH, IN_A_FILE, Head, Reading, Snapshot, Store
from .tree import Frontier, leaf_hashes
from .witness import NoWitness, Seen, Witness

__all__ = ["AHEAD", "CURABLE", "Problem", "Progress", "Report", "verify_store"]

_FAR = 2**62
_RELEASED = (Settled, Part)
_CONTINUED = b'"kind":"continued"'
_MOST_UNDERCHARGED = 100  # that are named; more are of no help

AHEAD = "SRD-L078"
SLACK = 300_000
"""Milliseconds by which the clocks of who wrote and who verifies may differ."""
CURABLE = frozenset({UNDERCHARGED, AHEAD})
"""What is wrong with a ledger that is still the one that was signed: it need not freeze."""

Progress = Callable[[int, int], None]
"""Told how many entries of how many have been read."""


def verify_store(
    store: Store,
    key: VerifyingKey,
    witness: Witness | None = None,
    *,
    replay: bool = True,
    reprice: bool = False,
    progress: Progress | None = None,
    files: Path | None = None,
    now: int | None = None,
) -> Report:
    """Return what is wrong with the ledger in `store`, judged by the public `key` and what `witness` remembers.

    `files` is the directory in which what is too large for a row must lie; by default that beside a ledger in a file.
    `now` is the time, in milliseconds since 1970, beyond which no entry may lie; by default what the clock says.
    """
    files = files_for(store, files).directory
    with store.reading() as reading:
        latest = (time.time_ns() // 1_000_000 if now is None else now) + SLACK
        return _Verification(reading, key, replay or reprice, reprice, files, latest).run(
            witness or NoWitness("none was given"), progress
        )


@dataclass
class _Verification:
    reading: Reading
    key: VerifyingKey
    replay: bool
    reprice: bool
    files: Path | None
    latest: int
    problems: list[Problem] = field(default_factory=list)
    state: State | None = None
    roots: Roots = field(init=False)
    signatures: Signatures = field(init=False)
    snapshots: dict[int, Snapshot] = field(default_factory=dict)
    ahead: bool = False
    """Whether an entry was found whose time lies ahead."""

    def run(self, witness: Witness, progress: Progress | None) -> Report:
        # Before the head: what is written meanwhile may be beyond it, and that is no offence.
        told = self._told_to(witness)
        self.roots, self.state = Roots(self.reading), State() if self.replay else None
        self.signatures = Signatures(self.key)
        head = None
        try:
            self.snapshots = {each.size: each for each in self.reading.snapshots()}
            head = self.reading.head()
            self._check(head, told, progress)
        except LedgerError as error:  # a row that cannot be read at all
            self._found(None, error.code, error.message)
        note = head.note if head else None
        checked = self.signatures.checked
        return Report(self.roots.size, note, tuple(self.problems), self.replay, self.reprice, witness.watches, checked)

    def _check(self, head: Head | None, told: tuple[Seen, ...], progress: Progress | None) -> None:
        checkpoint = self._checked_head(head)
        size = 0 if head is None else head.size if checkpoint is None else checkpoint.size
        self._read(size, progress)
        if checkpoint is not None and self.roots.size == size:
            if self.roots.root != checkpoint.root:
                self._locate(size)
            else:
                self._check_signatures()
        for level, found in self.roots.upper_tiles():
            self._check_tiles(level, 0, found)
        self._check_beyond(size)
        if checkpoint is not None:
            self._check_strays(size)
        self._check_snapshots(size)
        self._check_cosigned(size)
        self._check_told(told)

    def _found(self, position: int | None, code: str, reason: str) -> None:
        self.problems.append(Problem(position, code, reason))

    def _checked_head(self, head: Head | None) -> Checkpoint | None:
        if head is None:
            self._found(None, "SRD-L060", "the head of the ledger is missing: it was deleted")
            return None
        try:
            checkpoint = Checkpoint.open(head.note, self.key)
            frontier = Frontier.from_bytes(head.frontier)
        except LedgerError as error:
            self._found(None, "SRD-L060", f"the head of the ledger is foreign, unsigned or altered: {error.message}")
            return None
        if (head.size, frontier.size, frontier.root) != (checkpoint.size, checkpoint.size, checkpoint.root):
            self._found(
                None, "SRD-L060", "the head of the ledger was altered: its size or frontier is not what was signed"
            )
        return checkpoint

    def _read(self, size: int, progress: Progress | None) -> None:
        for start in range(0, size, BATCH):
            stop = min(start + BATCH, size)
            rows = self.reading.bodies(start, stop)
            bodies = [row[1] for row in rows]
            whole = [row[0] for row in rows] == list(range(start, stop))
            if self.state is not None:
                self._judge(start, bodies if whole else [])
            if not whole:
                there = [row[0] for row in rows]
                missing = next(
                    place for place in range(start, stop) if there[place - start : place - start + 1] != [place]
                )
                self._found(missing, "SRD-L064", "it is missing: it was deleted, or the end of the ledger was cut off")
                return
            leaves = leaf_hashes(bodies)
            self._hear_of_keys(start, bodies, leaves)
            self._check_tiles(1, start // TILE, self.roots.extend(leaves))
            if progress is not None:
                progress(stop, size)

    def _check_tiles(self, level: int, first: int, found: list[bytes]) -> None:
        stored = {row[0]: row[1] for row in self.reading.tiles(level, first, first + len(found))}
        for place, value in enumerate(found, first):
            if stored.get(place) != value:
                entries = TILE**level
                self._found(
                    place * entries, "SRD-L073", f"the hash kept for the {entries} entries from here is not theirs"
                )
                return

    def _judge(self, start: int, bodies: list[bytes]) -> None:
        """Let the state judge a batch; after the first entry that breaks a rule there is nothing more to judge."""
        state = self.state
        if state is None:
            return
        settled: dict[str, Settled | Part] = {}
        for position, body in enumerate(bodies, start):
            try:
                entry = from_bytes(body)
                state.apply(entry)
                if entry.time > self.latest and not self.ahead:
                    self.ahead = True
                    self._found(position, AHEAD, f"its time, {moment(entry.time)}, lies in the future")
                if isinstance(entry, _RELEASED):
                    settled[entry.row] = entry
                elif isinstance(entry, Reserved):
                    self._weigh(entry, state)
                elif isinstance(entry, Checkpointed):
                    self._check_checkpoint(entry, leaf_hashes(bodies[: position - start]))
            except LedgerError as error:
                self._found(position, "SRD-L065", f"it must not be in this ledger: {error}")
                self.state = None
                return
            if position + 1 in self.snapshots:
                self._compare(state, self.snapshots[position + 1])
        self._check_releases(start, start + len(bodies), settled)

    def _weigh(self, entry: Reserved, state: State) -> None:
        if (why := implausible(entry)) is not None:
            raise LedgerError(why, "SRD-L077")
        if self.reprice:
            self._reprice(entry, state)

    def _hear_of_keys(self, start: int, bodies: list[bytes], leaves: list[bytes]) -> None:
        """Check the signatures beside a batch, and take note of who signed before; whatever else is wrong with it."""
        self.signatures.take(leaves, self.reading.signatures(start, start + len(bodies)) if self.replay else [])
        for position, body in enumerate(bodies, start):
            if _CONTINUED in body:
                with suppress(LedgerError):  # what it is then, the state says
                    entry = from_bytes(body)
                    if isinstance(entry, Continued) and entry.sequence == position:
                        root = self.roots.ahead(leaves[: position - start], position)
                        self.signatures.handed_over(entry, root)

    def _check_signatures(self) -> None:
        self.signatures.end()
        for fault in self.signatures.faults:
            self._found(fault.position, "SRD-L079", fault.reason)

    def _reprice(self, entry: Reserved, state: State) -> None:
        rules = {charge.scope.text: state.balance(charge.scope).rule for charge in entry.charges}
        _, short, _ = repriced(entry, rules)
        if short and sum(problem.code == UNDERCHARGED for problem in self.problems) < _MOST_UNDERCHARGED:
            self._found(entry.sequence, UNDERCHARGED, "; ".join(short))

    def _check_checkpoint(self, entry: Checkpointed, before: list[bytes]) -> None:
        checkpoint = Checkpoint.parse(text_of(entry.note))
        self.signatures.note(entry.sequence, entry.note)
        if checkpoint.size > entry.sequence or self.roots.ahead(before, checkpoint.size) != checkpoint.root:
            raise LedgerError("the checkpoint in it is of another history", "SRD-L060")

    def _check_releases(self, start: int, stop: int, settled: dict[str, Settled | Part]) -> None:
        kept = {each.id: each for each in self.reading.releases(start, stop)}
        for identifier in dict.fromkeys([*settled, *kept]):
            entry, row = settled.get(identifier), kept.get(identifier)
            if entry is None or row is None or row.settled != entry.sequence or not self._holds(entry, row.body):
                self._found(
                    None, "SRD-L072", f"what is kept as released under {identifier:.80} is not what was settled"
                )
                return
            if entry.files:
                self._check_files(entry, entry.files)

    def _holds(self, entry: Settled | Part, body: bytes) -> bool:
        """Return whether a body, or the file in its place, is what an entry says."""
        if release_digest(body) == entry.release:
            return True
        if body != IN_A_FILE:
            return False
        self._check_files(entry, [Listed("of the body", entry.release, 0)])
        return True

    def _check_files(self, entry: Settled | Part, listed: Iterable[Listed]) -> None:
        for wrong in faults(self.files, listed):
            self._found(entry.sequence, "SRD-L076", wrong)

    def _compare(self, state: State, found: Snapshot) -> None:
        if snapshot(state) != found.body:
            self._found(found.size, "SRD-L069", "the snapshot of the entries before it is not what they add up to")

    def _check_snapshots(self, size: int) -> None:
        for found in self.snapshots.values():
            if found.size > size:
                self._found(size, "SRD-L069", f"it is missing, for there is a snapshot of {found.size} entries")
            elif found.size <= self.roots.size:
                try:
                    opened(found, self.roots.frontier(found.size), self.key)
                except LedgerError as error:
                    self._found(None, "SRD-L069", error.message)

    def _check_cosigned(self, size: int) -> None:
        """Check what others cosigned: that they did, that a key of this ledger signed it, that it is of its history."""
        for kept in self.reading.cosigned(0):
            try:
                cosigner = Cosigner.parse(kept.cosigner)
                checkpoint = Checkpoint.parse(text_of(kept.note))
                seen = cosigned(kept.note, [cosigner])
                known = any(opens(kept.note, key) for key in self.signatures.keys)
            except LedgerError as error:
                self._found(None, "SRD-L079", f"what is kept as cosigned is not: {error.message}")
                return
            here = checkpoint.size == kept.size <= min(size, self.roots.size)
            if not (seen and known and here and self.roots.frontier(kept.size).root == checkpoint.root):
                self._found(None, "SRD-L079", f"what is kept as cosigned by {cosigner.name} is of another history")
                return
            if any(1000 * each.time > self.latest for each in seen):
                self._found(None, AHEAD, f"{cosigner.name} cosigned {kept.size} entries at a time in the future")

    def _locate(self, size: int) -> None:
        position, end = first_bad(self.reading, self.roots, self.signatures.keys, size)
        reason = what_is_wrong(self.reading, position, end)
        self.problems.insert(0, Problem(position, "SRD-L064", reason))

    def _check_beyond(self, size: int) -> None:
        beyond = self.reading.beyond(size)
        if beyond is None:
            return
        head = self.reading.head()  # again: others may have appended since
        if head is None or beyond >= head.size:
            self._found(beyond, "SRD-L064", "it lies beyond the signed head: somebody else put it there")

    def _check_strays(self, size: int) -> None:
        """Find rows that belong to no entry: they change nothing that was signed, but stand in the way of the next."""
        releases = [*self.reading.releases(-_FAR, 0), *self.reading.releases(size, _FAR)]
        tiles = [
            (place * TILE**level, (place + 1) * TILE**level)
            for level in LEVELS
            for start, stop in ((-_FAR, 0), (size // TILE**level, _FAR))
            for place, _ in self.reading.tiles(level, start, stop)
        ]
        before = self.reading.bodies(-_FAR, 0)
        head = self.reading.head()  # again: others may have appended since
        newest = size if head is None else head.size
        if before:
            self._found(before[0][0], "SRD-L064", "it lies before the first entry: somebody else put it there")
        for each in releases:
            if not 0 <= each.settled < newest:
                self._found(None, "SRD-L072", f"what is kept as released under {each.id:.80} was never settled")
                break
        for start, stop in tiles:
            if not 0 <= start < stop <= newest:
                self._found(
                    None, "SRD-L073", f"a hash is kept for the entries from {start} to {stop - 1}, not all there"
                )
                break

    def _told_to(self, witness: Witness) -> tuple[Seen, ...]:
        try:
            told = witness.history()
        except LedgerError as error:
            self._found(None, "SRD-L063", error.message)
            return ()
        if not told and witness.watches:
            self._found(None, "SRD-L068", f"{witness!r} has no memory of this ledger")
        return told

    def _check_told(self, told: tuple[Seen, ...]) -> None:
        """Judge everything that the witness was told: two copies may both have told it."""
        try:
            found = sorted([checkpoint_in(seen, self.key) for seen in told], key=lambda checkpoint: checkpoint.size)
        except LedgerError as error:
            self._found(None, error.code, error.message)
            return
        if found and found[-1].size > self.roots.size:
            self._found(self.roots.size, "SRD-L061", f"it is missing: the witness has seen {found[-1].size} entries")
        here = [checkpoint for checkpoint in found if checkpoint.size <= self.roots.size]
        for checkpoint, frontier in zip(here, self.roots.frontiers(each.size for each in here), strict=True):
            if frontier.root != checkpoint.root:
                self._found(
                    None,
                    "SRD-L062",
                    f"the first {checkpoint.size} entries are not those that the witness was told of: there is "
                    "another copy of this ledger, and both were used",
                )
                return
