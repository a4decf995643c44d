"""A witness that is another sordino: told over HTTP after every commit, by a thread of its own.

Nobody waits for the other machine while a lock is held. What was committed is noted in memory at once and told in the
background: always the newest checkpoint, so that a slow line makes for fewer, not later, messages. Who must know that a
charge was witnessed waits for it by `wait`, with no lock in hand; the service does so before data is touched.

**Guarantee**: with no grace, data is touched only after the witness has acknowledged a checkpoint that covers the
charge. While it does not answer, new charges are refused before anything is charged (`check`); a charge that was
committed when it fell silent stands and is not answered. With a grace of s seconds, charges go on to be answered for
at most s seconds after the witness was last up to date; an old copy put back by then could hide those. A witness that
answers that this ledger does not extend what it has seen freezes the ledger.
**Assumes**: see ``witness_line.py``. At the start the witness must answer: no grace then, for it alone can tell an old
copy from the newest.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

from sordino.errors import FrozenError, LedgerError
from sordino.ledger.checkpoint import Checkpoint
from sordino.ledger.keys import SigningKey
from sordino.ledger.ledger import Ledger
from sordino.ledger.scope import Scope
from sordino.ledger.state import State
from sordino.ledger.vectors import vector_text
from sordino.ledger.witness import Seen
from sordino.serve.logs import tell

from .line import MovedError, UnreachedError, WitnessLine, forgotten

RETRY_SECONDS = 1.0
_CLOSED = "SRD-L054"
_TRIES = 4  # how often a message is sent again because another replica was faster


class RemoteWitness:
    """The witness behind a line; keeps the protocol of `sordino.ledger.witness.Witness`. Hand the ledger to `attend`.

    `seconds` is how long to wait for its word, `grace` how long to do without.
    """

    watches = True

    def __init__(
        self, line: WitnessLine, seconds: float, grace: float = 0.0, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._line = line
        self._seconds = seconds
        self._grace = grace
        self._clock = clock
        self._ledger: Ledger | None = None
        self._change = threading.Condition()
        # What follows is guarded by the condition.
        self._told = 0
        """The size that the ledger had when it last told."""
        self._known = -1
        """The size that the witness remembers, whoever told it; -1 before it was asked."""
        self._covered = 0
        """The size up to which it has acknowledged what this process told, and with it what was spent by then."""
        self._scopes: set[str] = set()
        """Whose totals have changed since."""
        self._since: float | None = None
        """When the oldest entry that was not acknowledged was committed."""
        self._silent: UnreachedError | None = None
        """Why the last message did not get through."""
        self._frozen: FrozenError | None = None
        self._news: Seen | None = None
        self._closed = False
        self._thread: threading.Thread | None = None

    # The protocol of witnesses

    def begin(self, seen: Seen) -> None:
        """Let the witness remember a new ledger."""
        self._line.tell(seen, 0, ())
        with self._change:
            self._news = None  # what was seen before is history
        self._acknowledged(seen.size, self._clock())

    def ready(self, _: Seen, /) -> Seen | None:
        """Return None: what will be committed is noted in memory; whether the witness answers is for `check`."""
        return None

    def tell(self, seen: Seen) -> Seen | None:
        """Note that the ledger got this far; the thread will tell. A restoration is told at once.

        The witness itself compares and swaps: it takes only what extends the checkpoint that it remembers, whoever
        told that, and `wait` raises where it did not.
        """
        if seen.anew:
            self.begin(seen)
            return None
        with self._change:
            self._told = max(self._told, seen.size)
            self._scopes |= seen.spent.keys()
            if self._since is None:
                self._since = self._clock()
            self._change.notify_all()
        return None

    def news(self) -> Seen | None:
        """Return what other replicas told meanwhile, as far as this process has heard; asks nobody."""
        with self._change:
            if self._frozen is not None:
                raise self._frozen
            found, self._news = self._news, None
            return found

    def recall(self) -> Seen | None:
        """Ask the witness for all that it remembers; what this process has read must extend it from then on."""
        found = self._line.remembered()
        if found is not None:
            with self._change:
                self._known, self._news = found.size, found
        return found

    def known_as(self, key: SigningKey) -> None:
        """Speak of the ledger of another key from now on; what the witness remembers of the old one stays there."""
        self._line.key, self._line.signer = key.verifier.text, key
        with self._change:
            self._known, self._news = -1, None

    def foretell(self, seen: Seen) -> None:
        """Let the witness begin with a ledger that goes on under another key, or raise: nothing is committed then."""
        self.begin(seen)

    def history(self) -> tuple[Seen, ...]:
        """Return the one checkpoint that the witness keeps: each that it took extends all before."""
        found = self.recall()
        return () if found is None else (found,)

    def close(self) -> None:
        """End the thread; what was not told by then is told when the ledger is opened again."""
        with self._change:
            self._closed = True
            self._change.notify_all()
        if self._thread is not None and self._thread is not threading.current_thread():
            self._thread.join(self._seconds)
        self._line.close()

    # What the service asks

    def attend(self, ledger: Ledger) -> None:
        """Begin to tell what this ledger commits."""
        self._ledger = ledger
        self._thread = threading.Thread(target=self._work, name="sordino-witness", daemon=True)
        self._thread.start()

    def check(self) -> None:
        """Raise while the witness is silent beyond the grace, so that nothing is charged that could not be answered."""
        with self._change:
            if self._frozen is not None:
                raise self._frozen
            if self._silent is not None and self._overdue():
                raise UnreachedError(f"nothing was charged: {self._silent.message}")

    def wait(self) -> None:
        """Return once the witness has acknowledged all that was told by now, or by grace; else raise."""
        with self._change:
            wanted = self._told
            self._change.wait_for(lambda: self._covered >= wanted or self._frozen is not None, self._seconds)
            if self._frozen is not None:
                raise self._frozen
            if self._covered < wanted and self._overdue():
                raise UnreachedError(
                    f"what was charged stays charged, but the witness {self._line.url} has not acknowledged it, and "
                    "before that no data is touched; ask again when it answers"
                )

    def _overdue(self) -> bool:
        return self._since is not None and self._clock() - self._since >= self._grace

    # The thread

    def _work(self) -> None:
        while self._has_work():
            try:
                self._send_newest()
            except UnreachedError as error:
                self._fell_silent(error)
            except FrozenError as error:
                with self._change:
                    self._frozen = error
                    self._change.notify_all()
                return
            except LedgerError as error:
                if error.code == _CLOSED:
                    return  # what is left is told when the ledger is opened again
                self._fell_silent(UnreachedError(f"the witness cannot be told: {error.message}"))

    def _has_work(self) -> bool:
        """Wait for something to tell, and after a failure a while longer; return False at the end."""
        with self._change:
            if self._silent is not None:
                self._change.wait_for(lambda: self._closed, RETRY_SECONDS)
            self._change.wait_for(lambda: self._closed or self._since is not None)
            return not self._closed

    def _send_newest(self) -> None:
        """Tell the newest checkpoint, going on from whatever the witness remembers."""
        begun = self._clock()
        for _ in range(_TRIES):
            try:
                size = self._send()
                break
            except MovedError:
                self._hear()
        else:
            raise UnreachedError(f"others tell the witness {self._line.url} faster than this process can")
        self._acknowledged(size, begun)

    def _send(self) -> int:
        assert self._ledger is not None  # noqa: S101  (the thread begins with it)
        if self._known < 0:
            self._hear()
        note = self._ledger.checkpoint()
        with self._change:  # after the note: all that it covers has been told here by now, whose totals go with it
            scopes, self._scopes = self._scopes, set()
        try:
            size, old = Checkpoint.open(note, self._ledger.key).size, self._known
            spent = self._ledger.look(lambda state: _spent(state, scopes))
            self._line.tell(Seen(size, note, spent), old, self._ledger.consistency(old, size))
        except BaseException:
            with self._change:
                self._scopes |= scopes
            raise
        return size

    def _hear(self) -> None:
        """Ask what the witness remembers, which must be something."""
        if self.recall() is None:
            raise forgotten(self._line.url)

    def _acknowledged(self, size: int, begun: float) -> None:
        """Note what the witness has acknowledged; what is left was committed after the message was `begun`."""
        with self._change:
            self._known, self._silent = size, None
            self._covered = size
            self._since = None if size >= self._told and not self._scopes else begun
            self._change.notify_all()

    def _fell_silent(self, error: UnreachedError) -> None:
        with self._change:
            first, self._silent = self._silent is None, error
            self._change.notify_all()
        if first:
            tell("the witness cannot be reached", code=error.code)

    def __repr__(self) -> str:
        return f"RemoteWitness({self._line.url!r})"


def _spent(state: State, scopes: set[str]) -> dict[str, str]:
    return {text: vector_text(state.lifetime(Scope.parse(text))) for text in scopes if text in state.balances}
