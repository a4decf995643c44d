"""Checkpoints of a ledger that others have cosigned, kept in rows, and put into receipts: time from somebody else.

**Guarantee**: what is kept was signed by the ledger's key and by the cosigner, and is a beginning of the ledger. Rows
are believed by these signatures alone; one that was altered makes `verify` say so.
"""

from __future__ import annotations

from collections.abc import Sequence

from sordino.errors import LedgerError

from .checkpoint import Checkpoint
from .cosignature import Cosigner, cosigned
from .log import Log
from .note import lines_of, text_of
from .store import Kept


class Cosignatures:
    """The cosignatures that are kept for one ledger."""

    def __init__(self, log: Log) -> None:
        self._log = log

    def keep(self, note: str, cosigners: Sequence[Cosigner]) -> int:
        """Keep a checkpoint of this ledger with what the `cosigners` have added; return how many did."""
        checkpoint = Checkpoint.open(note, self._log.key.verifier)
        if self._log.nodes.frontier(checkpoint.size).root != checkpoint.root:
            raise LedgerError("what was cosigned is no beginning of this ledger", "SRD-L007")
        good = [each for each in cosigners if cosigned(note, [each])]
        with self._log.store.writing() as writing:
            known = {(each.size, each.cosigner) for each in writing.cosigned(checkpoint.size)}
            writing.put_cosigned(
                [Kept(checkpoint.size, each.text, note) for each in good if (checkpoint.size, each.text) not in known]
            )
        return len(good)

    def newest(self, above: int = 0) -> tuple[int, str] | None:
        """Return the newest checkpoint of more than `above` entries that was cosigned, by all who did; None if none."""
        with self._log.store.reading() as reading:
            found = reading.cosigned(above + 1)
        kept = [each for each in found if _ours(each, self._log)]
        if not kept:
            return None
        size = max(each.size for each in kept)
        first, *others = [each for each in kept if each.size == size]
        note = first.note
        for each in others:
            note += "".join(line for line in lines_of(each.note) if line not in lines_of(note))
        return size, note

    def seen_by(self, cosigner: Cosigner) -> int:
        """Return how many entries of this ledger a cosigner has seen, as far as is kept here."""
        with self._log.store.reading() as reading:
            found = reading.cosigned(0)
        return max(
            (each.size for each in found if each.cosigner == cosigner.text and _ours(each, self._log)), default=0
        )


def _ours(kept: Kept, log: Log) -> bool:
    """Return whether a row is of the log that this is now; one that went on as another has older ones."""
    return text_of(kept.note).partition("\n")[0] == log.key.name
