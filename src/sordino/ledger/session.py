"""One process at a ledger: the log and the state that it adds up to, read to the same place, one thread at a time.

The core of everything is `Session.append`: take the store's lock → read on to the newest entry → decide → append, with
a freshly signed head → commit → tell the witness. What several threads want at one moment goes this way together
(``together.py``): one after the other is decided, and all are committed and signed at once.

**Guarantee.** When `append` returns, what was decided is committed, synced and witnessed, and was decided by the state
of all entries before it. When it raises, either nothing was appended, or (a lost commit that nobody can look up, or a
witness that cannot be told) what was appended counts and nobody may act on it: a charge without an answer.
"""

from __future__ import annotations

import copy
import os
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from sordino.errors import FrozenError, LedgerError

from .decisions import decide_checkpoint
from .entries import Continued, Entry, Opened, Reserved, Restored, from_bytes, to_bytes
from .keys import SigningKey
from .loading import load, take_in, written
from .log import Appended, Log
from .scope import Scope
from .state import State
from .store import Head, Reading, Release, UnknownOutcomeError, Writing
from .together import After, Decide, Gather, Line, Wish
from .undoing import Trial
from .vectors import vector_text
from .witness import Seen, Witness

CHECKPOINT_EVERY = 4096
"""After so many entries a signed checkpoint is kept among them."""
SNAPSHOT_LEAST = 1024
"""Entries that are worth a snapshot."""
_SNAPSHOT_GROWTH = 1.25  # while open, one whenever the log has grown by a quarter: a constant cost for each entry

_TOUCHED: dict[type[Entry], Callable[[Any], list[Scope]]] = {
    Opened: lambda entry: [entry.scope],
    Reserved: lambda entry: [charge.scope for charge in entry.charges],
    Restored: lambda entry: [scope for scope, _ in entry.burnt],
    Continued: lambda entry: [scope for scope, _ in entry.burnt],
}
"""The scopes whose lifetime totals an entry changes."""


def _follow_up(wish: Wish, after: After) -> None:
    try:
        after(wish)
    except Exception as error:  # what was written stands; only whoever wished for it is told
        wish.error = error


class Session:
    """What a process knows of a ledger, and its turn at it."""

    def __init__(self, log: Log, clock: Callable[[], int]) -> None:
        self.log = log
        self.state = State()
        self.frozen: FrozenError | None = None
        self.mutex = threading.RLock()
        self.clock = clock
        self._line = Line(self._write)
        self._trial: Trial | None = None
        self._process = os.getpid()
        self._closed = False
        self._in_step = False
        """Whether log and state have been read to the same place; not if an interrupt came in between."""
        self._snapshot = 0
        self._forgotten = False
        self._untold: set[Scope] = set()
        self._restoring = False
        self._successor: SigningKey | None = None
        """The key that signs from the entry on that is being written, if that makes the ledger another log."""

    @contextmanager
    def turn(self, *, even_frozen: bool = False) -> Iterator[None]:
        """Give a thread its turn; refuse in another process, after closing, and on a frozen ledger."""
        self._check_usable()
        with self.mutex:
            self._check_usable()
            if self.frozen is not None and not even_frozen:
                raise self.frozen
            try:
                if not self._in_step:
                    self._load()
                yield
            except FrozenError as error:
                if error.code != "SRD-L028":  # frozen by an entry: the state knows, and knows when it ends
                    self.frozen = error
                raise

    def _check_usable(self) -> None:
        if os.getpid() != self._process:
            raise LedgerError("this ledger was opened in another process; open it again after a fork", "SRD-L054")
        if self._closed:
            raise LedgerError("this ledger is closed; open it again", "SRD-L054")

    def open(self) -> None:
        """Read everything for the first time; a ledger that is not what it must be is frozen from the start."""
        try:
            with self.turn():
                self._finish_continuing()
                self._check_memory()
                self._tell_all()
        except FrozenError:
            pass

    def refresh(self) -> None:
        """Read on to the newest entry, without the writers' lock."""
        with self.log.store.reading() as reading:
            self._hear()  # before the head is read, for others go on meanwhile
            self._read_on(reading, reading.head())

    def append(self, wish: Wish) -> Wish:
        """Append what is decided, as the module says, with what other threads want to append at the same moment."""
        self._check_usable()
        return self._line.join(wish)

    def restore(self, decide: Decide, successor: SigningKey | None = None) -> tuple[Entry, ...]:
        """Append the entry of a restoration, whatever the witness says; it then begins anew.

        With a `successor`, that key signs from this entry on, and the one so far nothing any more.
        """
        with self.turn(even_frozen=True):
            before, self.frozen, self._restoring = (self.frozen, self.log.key), None, True
            self._successor = successor
            try:
                return self._alone(decide)
            except BaseException:
                self.frozen, self.log.key = before
                self.log.witness.known_as(self.log.key)
                raise
            finally:
                self._restoring, self._successor = False, None

    def watch(self, witness: Witness) -> None:
        """Let a new witness begin with what the ledger is now, and take it in place of the old one."""
        with self.turn():
            self.refresh()
            witness.begin(self._seen(self.state.scopes, self.log.head))
            self.log.witness.close()
            self.log.witness = witness

    def close(self) -> None:
        """Write a snapshot if it is worth it, and give back files and connections."""
        if self._closed or os.getpid() != self._process:
            return
        with self.mutex:
            if self.frozen is None and self._in_step and self.log.size - self._snapshot >= SNAPSHOT_LEAST:
                self._write_snapshot()
            self._closed = True
            self.log.witness.close()
            self.log.store.close()

    @property
    def closed(self) -> bool:
        """Whether this session has ended."""
        return self._closed

    def _load(self) -> None:
        self.log.rewind()
        self._forgotten = self.log.witness.watches and self.log.witness.recall() is None
        if not self._forgotten:
            self._hear()
        with self.log.store.reading() as reading:
            self.state, self._snapshot = load(self.log, reading)
        self._in_step = True

    def _read_on(self, reading: Reading, head: Head | None) -> None:
        if head != self.log.head:
            self._in_step = False
            for bodies in self.log.catch_up(reading, head):
                take_in(self.state, bodies)
            self._in_step = True
        if not self._restoring:
            self.log.check_witness()

    def _alone(self, decide: Decide) -> tuple[Entry, ...]:
        """Append what is decided, in a turn that this thread has already, past those who wait."""
        wish = Wish(decide)
        self._write([wish], lambda _: None)
        if wish.error is not None:
            raise wish.error
        return wish.entries

    def _write(self, batch: list[Wish], gather: Gather) -> None:
        """Write down, in one transaction, what each wish comes to after those before it; finish them all or raise."""
        with self.turn():
            before = self.log.size
            try:
                self._commit(batch, gather)
                for wish in batch:
                    if wish.after is not None and wish.error is None:
                        _follow_up(wish, wish.after)
                for wish in batch:
                    wish.finish()
            except BaseException as error:
                self._take_back()
                if not isinstance(error, Exception):
                    self._find_out([wish for wish in batch if not wish.done])
                raise
            if self.log.size > before:
                self._keep_house(before)

    def _commit(self, batch: list[Wish], gather: Gather) -> None:
        appended: Appended | None = None
        seen: Seen | None = None
        try:
            with self.log.store.writing() as writing:
                head = writing.lock_head()
                self._hear()
                self._read_on(writing, head)
                gather(batch)  # who came while this thread waited for the lock need not wait for the next
                self._decide(batch, self._hindrance(batch))
                appended = self._put(writing, batch)
                seen = None if appended is None else self._prepare(appended.head)
        except UnknownOutcomeError:
            if appended is None or not self.log.holds(appended.first, appended.bodies):
                raise
        self._trial = None  # no way back; whatever interrupts before log and state are in step has all read again
        if appended is not None:
            self.log.accept(appended)
        self._in_step = True
        if appended is not None:
            self._tell(seen)

    def _hindrance(self, batch: list[Wish]) -> LedgerError | None:
        """Return why nothing may be charged now, or None: what could fail after a charge is tried before it.

        Wishes that charge nothing go on, for they may be what becomes of charges.
        """
        try:
            if any(wish.charges for wish in batch):
                self.log.store.check_room()
                self.log.witness.check()
        except FrozenError:
            raise
        except LedgerError as error:
            return error
        return None

    def _prepare(self, head: Head) -> Seen | None:
        """Make the witness ready for what is about to be committed, as it must not fail after that; return it."""
        if self._restoring:
            if self._successor is not None:  # before the commit: a witness that does not take it leaves all as it was
                self.log.witness.known_as(self.log.key)
                self.log.witness.foretell(self._seen(self.state.scopes, head, anew=True))
            return None
        seen = self._seen(self._untold, head)
        while (others := self.log.witness.ready(seen)) is not None:
            self.log.heard = others
            self.log.check_witness()
        return seen

    def _decide(self, batch: list[Wish], hindrance: LedgerError | None) -> None:
        """Let the state take what each wish comes to, on trial; what goes wrong with one of them is its own affair."""
        self._in_step = False
        trial = self._trial = Trial(self.state)
        for wish in batch:
            wish.entries, wish.bodies, wish.error = (), (), None
            if wish.charges and hindrance is not None:
                wish.error = copy.copy(hindrance)
                continue
            try:
                entries = wish.decide(self.state, self.clock())
                bodies = tuple(map(to_bytes, entries))
                trial.take(entries)
            except Exception as error:
                wish.error = error
            else:
                wish.entries, wish.bodies = entries, bodies

    def _put(self, writing: Writing, batch: list[Wish]) -> Appended | None:
        bodies = tuple(body for wish in batch for body in wish.bodies)
        if not bodies:
            return None
        if self._successor is not None:
            self.log.key, self._snapshot = self._successor, 0
            writing.drop_snapshots()  # they are signed by the key so far
        appended = self.log.append(writing, bodies)
        for wish in batch:
            wish.head = appended.head
            for entry in wish.entries:
                if (touched := _TOUCHED.get(type(entry))) is not None:
                    self._untold.update(touched(entry))
        settled = [(wish.keep, wish.entries[-1].sequence) for wish in batch if wish.keep and wish.entries]
        writing.put_releases([Release(identifier, position, body) for (identifier, body), position in settled])
        return appended

    def _take_back(self) -> None:
        """Give back what the state took on trial and nobody committed."""
        trial, self._trial = self._trial, None
        if trial is not None:
            self._in_step = trial.undo()

    def _find_out(self, batch: list[Wish]) -> None:
        """After an interrupt of this thread, let the others go on whose entries were committed all the same."""
        try:
            kept = [each for each in batch if each.bodies and self.log.holds(each.entries[0].sequence, each.bodies)]
            if kept:
                with self.turn():
                    self.refresh()
                    self._tell_all()
        except LedgerError as error:
            kept = [each for each in batch if each.bodies]
            for wish in kept:
                wish.error = error
        for wish in kept:
            wish.finish()

    def _check_memory(self) -> None:
        """Raise if the witness has forgotten everything; it was told when the ledger began."""
        if self._forgotten:
            raise FrozenError(
                f"{self.log.witness!r} of this ledger is missing or empty, so nobody knows whether this is the newest "
                "copy; put it back, or restore(by, reason), which burns all that is left",
                "SRD-L068",
            )
        self.log.check_witness()

    def _finish_continuing(self) -> None:
        """Tell the witness what whoever went on under another key did not get to tell, and nothing came after."""
        seen = self.log.witness.recall() if self.log.size else None
        if not self.log.witness.watches or (seen is not None and self.log.signed(seen)):
            return
        with self.log.store.reading() as reading:
            ((_, body),) = reading.bodies(self.log.size - 1, self.log.size) or [(0, b"{}")]
        last = from_bytes(body) if b'"kind":"continued"' in body else None
        if isinstance(last, Continued) and last.lost == (None if seen is None else seen.note):
            self._begin_anew()
            self._forgotten = False

    def _begin_anew(self) -> None:
        """Let the witness begin anew with what the ledger is now."""
        witness = self.log.witness
        begin = witness.begin if witness.recall() is None else witness.tell
        begin(self._seen(self.state.scopes, self.log.head, anew=True))
        self.log.heard = None

    def _hear(self) -> None:
        if not self._restoring:
            self.log.hear_witness()

    def _tell_all(self) -> None:
        """Tell the witness what whoever was here before did not get to tell."""
        seen = self.log.witness.recall()
        if seen is not None and seen.size < self.log.size:
            self._say(self.state.scopes)

    def _tell(self, seen: Seen | None) -> None:
        if self._restoring:
            self._begin_anew()
        else:
            self._say(self._untold, seen)
        self._untold.clear()

    def _say(self, scopes: Iterable[Scope], seen: Seen | None = None) -> None:
        """Tell the witness; where others told it more, find first that this ledger extends it, or freeze."""
        while (others := self.log.witness.tell(seen or self._seen(scopes, self.log.head))) is not None:
            self.log.heard, seen = others, None
            with self.log.store.reading() as reading:
                self._read_on(reading, reading.head())

    def _seen(self, scopes: Iterable[Scope], head: Head, *, anew: bool = False) -> Seen:
        spent = {
            scope.text: vector_text(self.state.lifetime(scope)) for scope in scopes if scope.text in self.state.balances
        }
        return Seen(head.size, head.note, spent, anew)

    def _keep_house(self, first: int) -> None:
        """Keep a checkpoint among the entries, and write a snapshot, now and then."""
        size = self.log.size
        try:
            if size // CHECKPOINT_EVERY > first // CHECKPOINT_EVERY:
                self._alone(lambda state, now: (decide_checkpoint(state, self.log.head.note, now),))
                if size >= _SNAPSHOT_GROWTH * self._snapshot:
                    self._write_snapshot()
        except FrozenError:
            raise
        except LedgerError:
            return  # what was asked for is done and durable; another entry will try again

    def _write_snapshot(self) -> None:
        found = written(self.state, self.log.frontier, self.log.key)
        with self.log.store.writing() as writing:
            if writing.lock_head() == self.log.head:  # else others went on, and will write one themselves
                writing.put_snapshot(found)
        self._snapshot = found.size
