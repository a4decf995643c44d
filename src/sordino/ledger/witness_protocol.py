"""``add-checkpoint``: how a log asks a witness to cosign, as bytes, and what becomes of it. No network here.

    old 20852014
    PlRNCrwHpqhGrupue0L7gxbjbMiKA9temvuZZDDpkaw=

    example.com/behind-the-sofa
    20852163
    …

**Guarantee.** `answer` cosigns a checkpoint only if a log that the witness knows has signed it and it extends the
newest one that the witness cosigned; whoever keeps `remember` atomic never cosigns two histories of one origin.
**Source.** C2SP, *tlog-witness*.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from sordino.errors import LedgerError

from .canonical import from_base64, to_base64
from .checkpoint import Checkpoint
from .cosignature import cosign
from .keys import SigningKey, VerifyingKey
from .note import text_of
from .tree import HASH_BYTES, verify_consistency

MOST_HASHES = 63
_OLD = re.compile(r"old (0|[1-9][0-9]{0,15})", re.ASCII)
SIZE_TYPE = "text/x.tlog.size"
TEXT_TYPE = "text/plain; charset=utf-8"


class Answer(NamedTuple):
    """A status of HTTP, and a body of a type."""

    status: int
    body: str = ""
    type: str = TEXT_TYPE


Remember = Callable[[str, str | None, str], bool]
"""Takes an origin, the note remembered so far (or None) and the one from now on; False if others were quicker."""


def asked(old: int, proof: Sequence[bytes], note: str) -> bytes:
    """Return the body of a request."""
    return "".join([f"old {old}\n", *(f"{to_base64(each)}\n" for each in proof), "\n", note]).encode()


def answer(
    body: bytes,
    logs: Mapping[str, VerifyingKey],
    key: SigningKey,
    seconds: int,
    recall: Callable[[str], str | None],
    remember: Remember,
) -> Answer:
    """Return what a witness with `key` answers to a request about one of the `logs`, by origin, at a time."""
    try:
        old, proof, note = _read(body)
        said = Checkpoint.parse(text_of(note))
    except (LedgerError, UnicodeDecodeError) as error:
        return Answer(400, f"{error}\n")
    verifier = logs.get(said.origin)
    if verifier is None:
        return Answer(404, "this witness does not know this log\n")
    try:
        new = Checkpoint.open(note, verifier)
    except LedgerError as error:
        return Answer(403, f"{error}\n")
    if old > new.size:
        return Answer(400, "the old size is above that of the checkpoint\n")
    known = recall(said.origin)
    before = None if known is None else Checkpoint.parse(text_of(known))
    if old != (0 if before is None else before.size):
        return Answer(409, f"{0 if before is None else before.size}\n", SIZE_TYPE)
    if (proof and not old) or (before is not None and not _extends(before, new, proof)):
        return Answer(422, "the proof does not show that this extends what was cosigned\n")
    line = cosign(key, new.text(), seconds)
    kept = note[: note.rindex("\n\n") + 2] + _lines_of(note, verifier.name) + line
    if not remember(said.origin, known, kept):
        now = recall(said.origin)
        return Answer(409, f"{Checkpoint.parse(text_of(now)).size if now else 0}\n", SIZE_TYPE)
    return Answer(200, line)


def _extends(before: Checkpoint, new: Checkpoint, proof: Sequence[bytes]) -> bool:
    return verify_consistency(before.size, before.root, new.size, new.root, proof)


def _lines_of(note: str, name: str) -> str:
    block = note[note.rindex("\n\n") + 2 :]
    return "".join(line for line in block.splitlines(keepends=True) if line.startswith(f"\u2014 {name} "))


def _read(body: bytes) -> tuple[int, tuple[bytes, ...], str]:
    head, blank, note = body.decode().partition("\n\n")
    first, *lines = head.split("\n")
    found = _OLD.fullmatch(first)
    proof = tuple(map(from_base64, lines))
    if not blank or found is None or len(proof) > MOST_HASHES or any(len(each) != HASH_BYTES for each in proof):
        raise LedgerError("this is no request to add a checkpoint: old, hashes, an empty line, the note", "SRD-L012")
    return int(found[1]), proof, note
