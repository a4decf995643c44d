"""Signed notes: a text, a blank line, and one line for each signature, as C2SP writes them.

    Ledgers are read by people, too.

    — example.org/ledger c29tZSBieXRlcw==

**Guarantee.** `open_note` returns a text only if a key that the caller named has signed exactly these bytes. Signatures
of others are ignored; a false one under the name and id of a known key spoils the note, and so does any byte out of
place: control characters (a carriage return is one), base64 in another spelling, a missing last newline.
**Source.** C2SP, *signed-note* v1.0.0.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from sordino.errors import ArgumentError, LedgerError

from .canonical import from_base64, to_base64
from .keys import SigningKey, VerifyingKey, is_key_name

_DASH = "\u2014 "
_ID_BYTES = 4
_UNWRITABLE = re.compile(r"[\x00-\x09\x0b-\x1f\ud800-\udfff]")  # controls but newlines, halves of surrogate pairs
_MOST_SIGNATURES = 100  # the specification asks for 16 at least


def sign(text: str, *keys: SigningKey) -> str:
    """Return the note of `text` (which ends in a newline) signed by each of the `keys`."""
    if not keys:
        raise ArgumentError("a note needs at least one key to sign it", "SRD-A003")
    if not text.endswith("\n") or _UNWRITABLE.search(text):
        raise ArgumentError(
            "the text of a note must end in a newline and hold no control characters but newlines", "SRD-A001"
        )
    message = text.encode()
    lines = (f"{_DASH}{key.name} {to_base64(key.verifier.id + key.sign(message))}\n" for key in keys)
    return f"{text}\n{''.join(lines)}"


def open_note(note: str, verifiers: Iterable[VerifyingKey]) -> str:
    """Return the text of `note` if one of the `verifiers` has signed it, or raise `LedgerError`."""
    known = _by_name_and_id(verifiers)
    text, signatures = _parts(note)
    message, signed = text.encode(), False
    for name, content in signatures:
        key = known.get((name, content[:_ID_BYTES]))
        if key is None:
            continue
        if not key.verify(message, content[_ID_BYTES:]):
            raise LedgerError(f"the signature of {name} on this note is false: the text was changed", "SRD-L006")
        signed = True
    if not signed:
        signers = ", ".join(sorted({name for name, _ in signatures}))
        raise LedgerError(
            f"this note is signed by {signers:.200}, but not by a key that is trusted here "
            f"({', '.join(sorted(key.text for key in known.values())) or 'none is'})",
            "SRD-L006",
        )
    return text


def signatures_of(note: str) -> list[tuple[str, bytes]]:
    """Return the name and the bytes (id and signature) of each line of `note`, whoever made them."""
    return _parts(note)[1]


def lines_of(note: str) -> list[str]:
    """Return the lines of `note` that sign it, each with its newline, whoever made them."""
    _parts(note)
    return note[note.rindex("\n\n") + 2 :].splitlines(keepends=True)


def text_of(note: str) -> str:
    """Return the text of `note`, whoever signed it: nothing in it is to be believed."""
    return _parts(note)[0]


def _parts(note: str) -> tuple[str, list[tuple[str, bytes]]]:
    """Return the text and, for each signature, the name and the bytes (id and signature)."""
    text, blank, block = note.rpartition("\n\n")
    lines = block.split("\n")
    if not blank or lines.pop() or not lines or _UNWRITABLE.search(note):
        raise LedgerError(
            "this is not a signed note: a text, a blank line and signatures, each on a line that ends in a newline, "
            "without control characters",
            "SRD-L005",
        )
    if len(lines) > _MOST_SIGNATURES:
        raise LedgerError(f"a note may have {_MOST_SIGNATURES} signatures, not {len(lines)}", "SRD-L005")
    return f"{text}\n", [_signature(line) for line in lines]


def _signature(line: str) -> tuple[str, bytes]:
    name, _, encoded = line.removeprefix(_DASH).partition(" ")
    try:
        content = from_base64(encoded)
    except LedgerError:
        content = b""
    if not line.startswith(_DASH) or not is_key_name(name) or len(content) <= _ID_BYTES:
        raise LedgerError(
            "a signature in this note is malformed: it must be an em dash, the name of the key, and base64", "SRD-L005"
        )
    return name, content


def _by_name_and_id(verifiers: Iterable[VerifyingKey]) -> dict[tuple[str, bytes], VerifyingKey]:
    known: dict[tuple[str, bytes], VerifyingKey] = {}
    for key in verifiers:
        if known.setdefault((key.name, key.id), key) != key:
            raise ArgumentError(f"two different keys are called {key.name}+{key.id.hex()}; trust one", "SRD-A003")
    return known
