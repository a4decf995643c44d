"""Cosignatures: somebody else says that a checkpoint extends all that they saw of the log before, and when.

    — witness.example.org/w1 jWbPPwAAAABkGFDLEZMHwSRaJNiIDoe9DYn/zXcrtPHeolMI5OWX…

A cosignature is a line of a note, beside the ledger's own: the id of the key, the time in eight bytes, and Ed25519 over
``cosignature/v1``, the time and the checkpoint's text. A cosigner's key is a text like a ledger's, with 0x04 for 0x01.

**Guarantee.** `cosigned` returns only what a cosigner that the caller named has signed over exactly this checkpoint,
with the time that they signed; a false line under the name and id of one of them spoils the note.
**Source.** C2SP, *tlog-cosignature*, the type for Ed25519.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import NamedTuple

from sordino.errors import LedgerError

from .canonical import from_base64, to_base64
from .keys import SigningKey, VerifyingKey
from .note import signatures_of, text_of

_TYPE = b"\x04"
_ID_BYTES, _TIME_BYTES = 4, 8
_LATEST = 2**63 - 1


@dataclass(frozen=True, slots=True)
class Cosigner:
    """The public half of the key of somebody who cosigns."""

    key: VerifyingKey
    id: bytes = field(init=False)

    def __post_init__(self) -> None:
        named = self.key.name.encode() + b"\n" + _TYPE + self.key.public
        object.__setattr__(self, "id", hashlib.sha256(named).digest()[:_ID_BYTES])

    @property
    def name(self) -> str:
        """Who cosigns."""
        return self.key.name

    @property
    def text(self) -> str:
        """The key as one line: ``name+id+base64``."""
        return f"{self.name}+{self.id.hex()}+{to_base64(_TYPE + self.key.public)}"

    @staticmethod
    def parse(text: str) -> Cosigner:
        """Return the cosigner whose key `text` spells, or raise `LedgerError`."""
        name, _, rest = text.partition("+")
        try:
            content = from_base64(rest.partition("+")[2])
            found = Cosigner(VerifyingKey(name, content[1:]))
        except (LedgerError, ValueError):
            found = None
        if found is None or found.text != text:
            raise LedgerError("this is not the key of a cosigner: name+id+base64, of type 4 (Ed25519)", "SRD-L003")
        return found

    def time_of(self, text: str, content: bytes) -> int | None:
        """Return when this cosigner signed `text`, in seconds since 1970; None if it did not."""
        stamp, signature = content[_ID_BYTES : _ID_BYTES + _TIME_BYTES], content[_ID_BYTES + _TIME_BYTES :]
        time = int.from_bytes(stamp, "big")
        fine = len(stamp) == _TIME_BYTES and time <= _LATEST and self.key.verify(_message(text, time), signature)
        return time if fine else None


class Cosigned(NamedTuple):
    """Who has cosigned a checkpoint, and when, in seconds since 1970."""

    name: str
    time: int


def cosign(key: SigningKey, text: str, seconds: int) -> str:
    """Return the line by which `key` cosigns a checkpoint's text at a time; whether it extends others is not asked."""
    content = Cosigner(key.verifier).id + seconds.to_bytes(_TIME_BYTES, "big") + key.sign(_message(text, seconds))
    return f"\u2014 {key.name} {to_base64(content)}\n"


def cosigned(note: str, cosigners: Iterable[Cosigner]) -> tuple[Cosigned, ...]:
    """Return which of the `cosigners` have signed `note`, and when; raise `LedgerError` for a false line of one."""
    known, text, found = {(each.name, each.id): each for each in cosigners}, text_of(note), []
    for name, content in signatures_of(note):
        cosigner = known.get((name, content[:_ID_BYTES]))
        if cosigner is None:
            continue
        time = cosigner.time_of(text, content)
        if time is None:
            raise LedgerError(f"the cosignature of {name} on this checkpoint is false: it was changed", "SRD-L006")
        found.append(Cosigned(name, time))
    return tuple(found)


def with_lines(note: str, lines: str, cosigners: Iterable[Cosigner]) -> str:
    """Return `note` with those of the `lines` that are good cosignatures of the `cosigners`; others are left out."""
    text, kept = text_of(note), note
    for each in cosigners:
        for line in lines.splitlines(keepends=True):
            if any(signed.name == each.name for signed in cosigned(f"{text}\n{line}", [each])):
                kept += line
                break
    return kept


def _message(text: str, time: int) -> bytes:
    return f"cosignature/v1\ntime {time}\n{text}".encode()
