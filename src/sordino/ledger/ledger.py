"""The ledger: open it, reserve before data is touched, settle what was released, prove any of it.

Every charge goes one way: take the store's lock → read on to the newest entry → decide → append, with a freshly signed
head → commit → tell the witness → return. So a reservation that was returned is durable, witnessed, and within every
cap, whoever else was spending at the time; and a crash at any step leaves at most a charge without an answer.

>>> from tempfile import TemporaryDirectory
>>> from sordino.accounting import Neighbours
>>> from sordino.accounting.budget import budget
>>> rule = Rule.open(budget(epsilon=1), unit="person", neighbours=Neighbours.ADD_REMOVE)
>>> with TemporaryDirectory() as directory, Ledger.open(f"{directory}/ledger.db") as ledger:
...     ledger.open_scope(Scope("dataset", "trips"), rule, by="owner").sequence, ledger.verify().sound
(0, True)
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from types import MappingProxyType
from typing import Self, TypeVar, cast

from sordino.accounting.budget import Budget
from sordino.accounting.plan import Files
from sordino.accounting.tally import skipped
from sordino.errors import ArgumentError, FrozenError, LedgerError

from . import decisions
from .cosignatures import Cosignatures
from .decisions import Decision, Request
from .entries import (
    Budgeted,
    Checkpointed,
    Entry,
    Failed,
    Frozen,
    Opened,
    Reserved,
    Restored,
    from_bytes,
    part_row,
    position_of,
)
from .files import FileStore
from .keyfile import KeyFile
from .keys import SigningKey, VerifyingKey
from .log import Log
from .opening import Place, files_for, key_file, key_for, store_at, witness_for
from .receipt import Receipt
from .releases import Releases
from .reservation import Replay, Reservation
from .restoring import restore
from .rule import Rule
from .scope import Scope
from .session import Session
from .state import Keyed, State
from .store import Release
from .together import Wish
from .tree import consistency_proof, inclusion_proof
from .verify import CURABLE, Progress, Report, verify_store
from .witness import Seen, Witness

T = TypeVar("T")
E = TypeVar("E", bound=Entry)
NONE: Files = MappingProxyType({})


def _milliseconds() -> int:
    return time.time_ns() // 1_000_000


class Ledger:
    """One ledger in one process; any number of threads may use it, and any number of processes may open it.

    **Guarantee**: see the module. Everything here raises `FrozenError` once the ledger is not what was signed, or not
    what its witness has seen; `frozen` says why.
    **Assumes**: whoever can read the signing key can write what they like; the witness is out of their reach.
    """

    def __init__(self, session: Session, files: FileStore | None = None, kept: KeyFile | None = None) -> None:
        self._session = session
        self._kept = kept
        self._releases = Releases(session.log, files or FileStore(None))

    @classmethod
    def open(
        cls,
        where: Place,
        *,
        key: SigningKey | Place | None = None,
        witness: Witness | Place | None = None,
        files: Place | None = None,
        origin: str | None = None,
        clock: Callable[[], int] = _milliseconds,
    ) -> Ledger:
        """Return the ledger at a path (SQLite) or a URL (PostgreSQL), made if there is none.

        `key` is the file of the signing key, and `witness` the file (or another `Witness`) that remembers the newest
        checkpoint; for a path they are ``<path>.key`` and ``<path>.witness`` unless given. `files` is the directory of
        what is too large for a row (``files.py``), for a path ``<path>.files``. A new ledger gets a name of its own
        below `origin` (as ``stats.example.org/ledgers``), under which its checkpoints are signed. Every entry's hash is
        checked here; a ledger that is not what it must be comes back frozen.
        """
        store = store_at(where)
        try:
            log = Log(store, key_for(store, key, origin), witness_for(store, witness))
            log.begin()
            session = Session(log, clock)
            session.open()
        except BaseException:
            store.close()
            raise
        return cls(session, files_for(store, files), key_file(store, key))

    @property
    def key(self) -> VerifyingKey:
        """The public key: give its text to whoever checks receipts."""
        return self._session.log.key.verifier

    @property
    def files(self) -> FileStore:
        """Where large releases lie."""
        return self._releases.files

    @property
    def frozen(self) -> FrozenError | None:
        """Why this ledger takes nothing, or None."""
        return self._session.frozen

    @property
    def cosignatures(self) -> Cosignatures:
        """What others have cosigned of this ledger."""
        return self._releases.cosignatures

    # What changes the ledger

    def open_scope(self, scope: Scope, rule: Rule, by: str) -> Opened:
        """Give a scope a budget and a rule for the first time; `by` is the owner who does."""
        return self._one(lambda state, now: decisions.decide_open(state, scope, rule, by, now))

    def set_budget(self, scope: Scope, budget: Budget, by: str, reason: str) -> Budgeted:
        """Raise or lower the budget of a scope."""
        return self._one(lambda state, now: decisions.decide_budget(state, scope, budget, by, reason, now))

    def reserve(self, request: Request) -> Reservation | Replay:
        """Charge `request` to every scope that it concerns, or raise `BudgetError` and charge none.

        **Guarantee**: when it returns a `Reservation`, the charge is committed, synced and witnessed. A request whose
        idempotency key was used before for the same request comes back as the `Replay` of what became of it.
        """
        self._price(request)
        decided: list[Decision] = []

        def decide(state: State, now: int) -> tuple[Entry, ...]:
            decided[:] = [decisions.decide_reserve(state, request, now)]
            return decided[0].entries

        written, decision = self._session.append(Wish(decide, charges=True)), decided[0]
        if decision.earlier is not None:
            return self._replay(decision.earlier)
        if decision.reserved is None:
            raise decision.refusal()
        return Reservation(decision.reserved, written.bodies[-1])

    def settle(self, reservation: Reservation | str, release: bytes, files: Files = NONE) -> Receipt:
        """Keep what was released (noise included) under a reservation, and return the receipt.

        `files` are written and synced before the entry that lists them; so is a body that is too large for a row.
        """
        identifier, held = _identifier(reservation), reservation if isinstance(reservation, Reservation) else None
        digest, row, manifest = self._releases.put(release, files)
        receipts: list[Receipt] = []

        def decide(state: State, now: int) -> tuple[Entry, ...]:
            return (decisions.decide_settle(state, identifier, digest, now, manifest),)

        def make_receipt(written: Wish) -> None:
            kept = Release(identifier, written.entries[-1].sequence, row)
            head = written.head or self._session.log.head
            receipts.append(self._releases.receipt_for(kept, head, self._session.state, held, written.bodies[-1]))

        written = self._session.append(Wish(decide, (identifier, row), make_receipt))
        if not receipts:  # whoever wrote it was interrupted before
            make_receipt(written)
        return receipts[0]

    def part(self, reservation: Reservation | str, number: int, release: bytes, files: Files = NONE) -> bytes:
        """Record one more release under a reservation that stays open, and return the bytes that may leave.

        **Guarantee**: when it returns, they are recorded, synced and witnessed. A number that was recorded before gives
        what was recorded then.
        """
        identifier = _identifier(reservation)
        if (before := self.recorded(identifier, number)) is not None:
            return before
        digest, row, manifest = self._releases.put(release, files)
        wish = Wish(
            lambda state, now: decisions.decide_part(state, identifier, number, digest, manifest, now),
            (part_row(identifier, number), row),
        )
        self._session.append(wish)
        kept = self.recorded(identifier, number)  # another's, if another was quicker
        if kept is None:
            raise skipped(number)
        return kept

    def recorded(self, identifier: str, number: int) -> bytes | None:
        """Return what was recorded as a part of a reservation, or None."""
        return self._releases.recorded(identifier, number)

    def fail(self, reservation: Reservation | str, code: str) -> Failed:
        """Say that a reservation came to nothing, by the code of a mute error. The charge stands."""
        identifier = _identifier(reservation)
        return self._one(lambda state, now: decisions.decide_fail(state, identifier, code, now))

    def freeze(self, code: str) -> Frozen:
        """Stop everything, in all processes, until the owner restores the ledger; `code` says why in one word."""
        return self._one(lambda state, now: decisions.decide_freeze(state, code, now))

    def mark(self) -> Checkpointed:
        """Append a signed checkpoint now: whoever puts a copy from before it back is found out."""
        log = self._session.log
        return self._one(lambda state, now: decisions.decide_checkpoint(state, log.head.note, now))

    def restore(self, by: str, reason: str, key: SigningKey | None = None) -> Restored:
        """Go on from an old copy, or after a freeze, burning what lost entries may have spent (``restoring.py``).

        From an old copy it goes on as another log: under a new origin and key, as nobody may sign two histories under
        one. The new key takes the place of the old one in its file; where the ledger was opened with a key that is in
        no file, `key` is the new one.
        """
        return restore(self._session, self._kept, by, reason, key)

    def watch(self, witness: Witness) -> None:
        """Take another witness, which must be new: it begins with what this ledger is now."""
        self._session.watch(witness)

    # What only reads

    def now(self) -> int:
        """Return what the clock says, in milliseconds since 1970."""
        return self._session.clock()

    def look(self, function: Callable[[State], T]) -> T:
        """Return what `function` finds in the newest state; it must not change it or keep it."""
        with self._session.turn():
            self._session.refresh()
            return function(self._session.state)

    @property
    def size(self) -> int:
        """The number of entries."""
        return self.look(lambda state: state.size)

    def checkpoint(self) -> str:
        """Return the newest signed checkpoint, a note in the form of C2SP."""
        return self.look(lambda _: self._session.log.head.note)

    def entry(self, position: int) -> bytes:
        """Return the canonical bytes of one entry."""
        return self._releases.entry(position)

    def entries(self, start: int = 0, stop: int | None = None) -> Iterator[Entry]:
        """Yield the entries from `start` up to `stop`, by default all."""
        end = self.size if stop is None else stop
        with self._session.log.store.reading() as reading:
            for batch in reading.batches(start, end):
                yield from (from_bytes(row[1]) for row in batch)

    def stored(self, start: int, stop: int) -> list[tuple[int, bytes]]:
        """Return positions and bytes as they are stored, judged by nobody: what there is to see of a frozen ledger."""
        with self._session.log.store.reading() as reading:
            return [(row[0], bytes(row[1])) for row in reading.bodies(start, stop)]

    @property
    def stored_size(self) -> int:
        """The number of entries that the store claims to hold; a frozen ledger claims one too."""
        with self._session.log.store.reading() as reading:
            head = reading.head()
        return 0 if head is None else head.size

    @property
    def watched(self) -> bool:
        """Whether anybody remembers for this ledger."""
        return self._session.log.witness.watches

    def seen(self) -> Seen | None:
        """Return what the witness remembers, also where that froze the ledger."""
        with self._session.mutex:
            return self._session.log.witness.recall()

    def inclusion(self, position: int, size: int | None = None) -> tuple[bytes, ...]:
        """Return the proof that the entry at `position` is in the tree of `size` entries, by default the newest."""
        nodes = self._session.log.nodes
        return self.look(lambda state: inclusion_proof(position, _known(size, state), nodes))

    def consistency(self, old: int, new: int | None = None) -> tuple[bytes, ...]:
        """Return the proof that the tree of `new` entries (by default the newest) extends that of `old`."""
        nodes = self._session.log.nodes
        return self.look(lambda state: consistency_proof(old, _known(new, state), nodes))

    def replayed(self, key: str) -> Replay | None:
        """Return what became of the request under an idempotency key (its digest), or None if the key is new."""
        earlier = self.look(lambda state: state.keys.get(key))
        return None if earlier is None else self._replay(earlier)

    def release(self, identifier: str) -> bytes:
        """Return what was released under a reservation, noise included, as it was settled."""
        return self._releases.body(identifier)

    def receipt(self, identifier: str) -> Receipt:
        """Return a receipt, under the newest checkpoint, for what was settled under a reservation."""
        return self.look(lambda state: self._releases.receipt(identifier, self._session.log.head, state))

    def reservation(self, identifier: str) -> Reserved | None:
        """Return the charge of a reservation that is still open, or None."""
        held = self.look(lambda state: identifier in state.open)
        found = from_bytes(self.entry(position_of(identifier))) if held else None
        return found if isinstance(found, Reserved) else None

    def verify(self, progress: Progress | None = None, *, reprice: bool = False) -> Report:
        """Read everything again and judge it; a ledger that is not sound freezes.

        With `reprice` prices are found again. A charge that falls short is told, and freezes nothing: a newer version
        may price an event higher than the one that charged it.
        """
        session = self._session
        report = verify_store(
            session.log.store,
            self.key,
            session.log.witness,
            reprice=reprice,
            progress=progress,
            files=self.files.directory,
        )
        grave = [problem for problem in report.problems if problem.code not in CURABLE]
        if grave and session.frozen is None:
            session.frozen = FrozenError(str(grave[0]), grave[0].code)
        return report

    def close(self) -> None:
        """Write a snapshot if it is worth it, and give back files and connections."""
        self._session.close()

    def _price(self, request: Request) -> None:
        """Find the prices, which are then remembered, so that nobody waits for them under the store's lock.

        No turn is taken: what was read of the rules so far will do, and whoever decides reads them again.
        """
        state = self._session.state
        if not all(scope.text in state.balances for scope in request.datasets):
            return  # nobody here has read of them yet; what is decided under the lock will know
        for scope in state.concerned(list(request.datasets), request.analyst, request.project):
            if (balance := state.balances.get(scope.text)) is not None:
                held = balance.rule.neighbours or state.relation_of(request.datasets)
                request.price_in(balance.rule, held)

    def _one(self, decide: Callable[[State, int], E]) -> E:
        (entry,) = self._session.append(Wish(lambda state, now: (decide(state, now),))).entries
        return cast("E", entry)

    def _replay(self, earlier: Keyed) -> Replay:
        settled = earlier.outcome is not None and not earlier.failed
        found = self.look(lambda state: state.open.get(earlier.id))
        stays_open = found is not None and found.parts > 0
        release = self.release(earlier.id) if settled else None
        return Replay(earlier.id, earlier.request, release, earlier.failed, stays_open)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        session = self._session
        words = f"{session.log.size} entries"
        if session.frozen is not None:
            words = f"frozen: {session.frozen.code}"
        return f"Ledger({session.log.store.place!r}, {'closed' if session.closed else words})"

    def __reduce__(self) -> str:
        raise LedgerError("a ledger cannot be copied or sent elsewhere; open it again there", "SRD-L054")


def _identifier(reservation: Reservation | str) -> str:
    return reservation.id if isinstance(reservation, Reservation) else reservation


def _known(size: int | None, state: State) -> int:
    if size is None:
        return state.size
    if not isinstance(size, int) or not 0 <= size <= state.size:
        raise ArgumentError(f"this ledger has {state.size} entries, not {size}", "SRD-A002")
    return size
