"""How much to burn when a ledger goes on from something else than its newest copy.

What is gone may have been answered, so it stays spent: each scope is charged what the witness saw beyond what this copy
says. Where the copy went another way than the witness (somebody spent from it unwatched), everything that the witness
saw is charged on top; and where the witness has no memory, all that is left.
"""

from __future__ import annotations

from sordino.accounting.columns import Vector
from sordino.errors import FrozenError, LedgerError

from .scope import Scope
from .state import State
from .vectors import read_vector, summed
from .witness import Seen

BEHIND, DIVERGED, FORGOTTEN = "SRD-L061", "SRD-L062", "SRD-L068"
RESTORABLE = frozenset({BEHIND, DIVERGED, FORGOTTEN})
"""Why a ledger may be frozen so that to restore it is a way out."""


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
