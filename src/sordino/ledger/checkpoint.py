"""Checkpoints: a log's name, its size and its root, signed. What a ledger promises never to take back.

    example.org/ledger
    20852163
    CsUYapGGPo4dkMgIAUqom/Xajj7h2fB2MPA3j2jxq2I=

    — example.org/ledger Az3grlgtzPICa5OS8npVmf1Myq/5IZniMp+ZJurmRDeOoRDe4URY…

**Guarantee.** A checkpoint has one text, and a text that `parse` accepts is the text of one checkpoint. `open` returns
only what the verifying key signed, for the log that it was asked about.
**Source.** C2SP, *tlog-checkpoint*.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from sordino.errors import ArgumentError, LedgerError

from .canonical import from_base64, to_base64
from .keys import SigningKey, VerifyingKey
from .note import open_note, sign
from .tree import EMPTY_ROOT, HASH_BYTES, LARGEST_SIZE

_SIZE = re.compile(r"0|[1-9][0-9]{0,15}")


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """The head of a log: that `origin` had `size` entries under this `root`."""

    origin: str
    size: int
    root: bytes
    extensions: tuple[str, ...] = ()
    """Further lines, which nobody can audit; empty wherever possible."""

    def __post_init__(self) -> None:
        for line in (self.origin, *self.extensions):
            if not line or min(line) < " ":
                raise ArgumentError("lines of a checkpoint must not be empty or hold control characters", "SRD-A001")
        if not 0 <= self.size <= LARGEST_SIZE:
            raise ArgumentError(f"the size of a log is from 0 to {LARGEST_SIZE}, not {self.size}", "SRD-A002")
        if len(self.root) != HASH_BYTES or (self.size == 0 and self.root != EMPTY_ROOT):
            raise ArgumentError(f"a root has {HASH_BYTES} bytes, and the empty log has only one", "SRD-A003")

    def text(self) -> str:
        """Return the text that is signed."""
        lines = (self.origin, str(self.size), to_base64(self.root), *self.extensions)
        return "".join(f"{line}\n" for line in lines)

    @staticmethod
    def parse(text: str) -> Checkpoint:
        """Return the checkpoint that `text` spells, or raise `LedgerError`. Whether anybody signed it is not asked."""
        lines = text.split("\n")
        if len(lines) < 4 or lines.pop() or not _SIZE.fullmatch(lines[1]):
            raise LedgerError("this is not a checkpoint: a name, a size and a root, each on a line", "SRD-L007")
        try:
            return Checkpoint(lines[0], int(lines[1]), from_base64(lines[2]), tuple(lines[3:]))
        except (ArgumentError, LedgerError) as error:
            raise LedgerError(f"this is not a checkpoint: {error.message}", "SRD-L007") from None

    def sign(self, *keys: SigningKey) -> str:
        """Return the note that says this checkpoint, signed by the `keys`."""
        return sign(self.text(), *keys)

    @staticmethod
    def open(note: str, verifier: VerifyingKey, origin: str | None = None) -> Checkpoint:
        """Return the checkpoint in `note` if `verifier` has signed it for `origin` (by default the key's own name).

        A key that signs for two logs would let one pass for the other, so the origin is always compared.
        """
        found = Checkpoint.parse(open_note(note, (verifier,)))
        expected = verifier.name if origin is None else origin
        if found.origin != expected:
            raise LedgerError(f"this checkpoint is of the log {found.origin:.200}, not of {expected}", "SRD-L007")
        return found
