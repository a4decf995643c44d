"""How a ledger goes on under another origin and key, and says so: signed by the key so far, believed by who knows it.

A public log must never sign two histories under one origin and key. So a ledger that goes on from an old copy, though
newer checkpoints than the copy's were signed, does so as another log: under an origin and a key of its own. What joins
the two is a *handover*, a note that the key so far signs over the place where the copy ends and the key that goes on::

    sordino ledger continued
    example.org/ledger
    1042
    CsUYapGGPo4dkMgIAUqom/Xajj7h2fB2MPA3j2jxq2I=
    example.org/ledger/restored-1f0c…+a1b2c3d4+AQ…

    — example.org/ledger …

**Guarantee.** `checked_handover` returns only what the key so far signed. A handover can never pass for a checkpoint:
no name of a key has spaces, and so no origin of a ledger has.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from sordino.errors import LedgerError

from .canonical import from_base64, to_base64
from .keys import SigningKey, VerifyingKey
from .note import open_note, sign
from .tree import HASH_BYTES

_TITLE = "sordino ledger continued"
_LINES = 6  # with the empty one at the end
_SIZE = re.compile(r"0|[1-9][0-9]{0,15}", re.ASCII)
_RESTORED = re.compile(r"/restored-[0-9a-f]{16}\Z", re.ASCII)


class Handover(NamedTuple):
    """Where the history of one key ends, and who goes on from there."""

    previous: VerifyingKey
    size: int
    root: bytes
    key: VerifyingKey

    def sign(self, key: SigningKey) -> str:
        """Return the note that says so, signed by the key so far."""
        return sign(self._text(), key)

    def _text(self) -> str:
        return f"{_TITLE}\n{self.previous.name}\n{self.size}\n{to_base64(self.root)}\n{self.key.text}\n"


class Joint(NamedTuple):
    """What an entry needs that goes on under another key: both keys, the root of the copy, and what is lost."""

    previous: SigningKey
    key: VerifyingKey
    root: bytes
    lost: str | None

    def handover(self, size: int) -> str:
        """Return the note of the handover at `size`."""
        return Handover(self.previous.verifier, size, self.root, self.key).sign(self.previous)


def checked_handover(note: str, previous: VerifyingKey) -> Handover:
    """Return what `note` says, which the key so far must have signed, or raise `LedgerError`."""
    text = open_note(note, (previous,))
    lines = text.split("\n")
    if lines[:2] == [_TITLE, previous.name] and len(lines) == _LINES and _SIZE.fullmatch(lines[2]):
        _, _, size, root, key, _ = lines
        found = Handover(previous, int(size), from_base64(root), VerifyingKey.parse(key))
        if len(found.root) == HASH_BYTES and found.key.name != previous.name and found.key.public != previous.public:
            return found
    raise LedgerError("this is no handover: it must say where a ledger ends, and which key goes on", "SRD-L011")


def next_origin(origin: str, random: str) -> str:
    """Return the origin under which a ledger goes on: a name below the first one that it had.

    >>> next_origin("example.org/ledger/restored-00112233445566ff", "8899aabbccddeeff")
    'example.org/ledger/restored-8899aabbccddeeff'
    """
    return f"{_RESTORED.sub('', origin)}/restored-{random[:16]}"
