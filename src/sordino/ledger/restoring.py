"""How much to burn when a ledger goes on from something else than its newest copy.

What is gone may have been answered, so it stays spent: each scope is charged what the witness saw beyond what this copy
says. Where the copy went another way than the witness (somebody spent from it unwatched), everything that the witness
saw is charged on top; and where the witness has no memory, all that is left.
"""

from __future__ import annotations

from sordino.accounting.columns import Vector
from sordino.errors import ArgumentError, FrozenError, LedgerError

from .continuing import Joint
from .decisions import decide_restore
from .entries import Entry, Restored
from .keyfile import KeyFile
from .keys import SigningKey
from .log import checkpoint_in
from .scope import Scope
from .session import Session
from .state import State
from .vectors import read_vector, summed
from .witness import Seen

BEHIND, DIVERGED, FORGOTTEN = "SRD-L061", "SRD-L062", "SRD-L068"
RESTORABLE = frozenset({BEHIND, DIVERGED, FORGOTTEN})
"""Why a ledger may be frozen so that to restore it is a way out."""


def restore(session: Session, kept: KeyFile | None, by: str, reason: str, key: SigningKey | None) -> Restored:
    """Go on with a ledger that is frozen; where it is an old copy, as another log: under a new origin and key.

    **Guarantee**: the key so far signs nothing after the copy that another history of it may have signed already. The
    entry by which the ledger goes on names the newest checkpoint that is known to be lost.
    """
    with session.turn(even_frozen=True):
        if session.frozen is None:
            session.refresh()
        if session.frozen is None and session.state.frozen is None:
            raise LedgerError("this ledger is not frozen, so there is nothing to restore", "SRD-L071")
        if session.frozen is not None and session.frozen.code not in RESTORABLE:
            raise session.frozen
        seen, log, old = session.log.witness.recall(), session.log, session.log.key
        amounts, size = witnessed(session.state, seen, session.frozen)
        successor = None if session.frozen is None else _successor(old, kept, key)
        if seen is not None:
            checkpoint_in(seen, old.verifier)
        lost = None if seen is None else seen.note

        def decide(state: State, now: int) -> tuple[Entry, ...]:
            joint = None if successor is None else Joint(old, successor.verifier, log.frontier.root, lost)
            return (decide_restore(state, amounts, size, by, reason, now, joint),)

        (restored,) = session.restore(decide, successor)
        if successor is not None and key is None and kept is not None:
            kept.succeed(successor)
    assert isinstance(restored, Restored)  # noqa: S101
    return restored


def _successor(key: SigningKey, kept: KeyFile | None, given: SigningKey | None) -> SigningKey:
    """Return the key under which a ledger goes on that is another log from now on."""
    if given is not None:
        return given
    if kept is None:
        raise ArgumentError(
            "this ledger was opened with a key that is in no file, and goes on under another one: give key=, a new "
            "SigningKey under a name of its own",
            "SRD-A003",
        )
    return kept.successor(key)


def witnessed(state: State, seen: Seen | None, frozen: FrozenError | None) -> tuple[dict[Scope, Vector], int]:
    """Return the lifetime totals to burn up to, and the size up to which entries are lost."""
    if seen is None:
        known = state.lifetimes() if frozen is None else {}  # nobody watches, and the owner thaws what the owner froze
        return dict(known), state.size
    totals = {_scope(text): _vector(amount) for text, amount in seen.spent.items()}
    if frozen is not None and frozen.code == DIVERGED:
        here = state.lifetimes()
        totals = {scope: summed(here.get(scope, amount), amount) for scope, amount in totals.items()}
    return totals, max(seen.size, state.size)


def _scope(text: str) -> Scope:
    try:
        return Scope.parse(text)
    except ValueError:
        raise LedgerError(
            f"the witness speaks of {text[:80]!r}, which is no scope; it was altered", "SRD-L063"
        ) from None


def _vector(text: str) -> Vector:
    try:
        return read_vector(text)
    except ValueError:
        raise LedgerError("the witness holds an amount that is none; it was altered", "SRD-L063") from None
