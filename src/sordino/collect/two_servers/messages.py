"""What two servers say to each other: pieces in one message, told from anybody else's by what they have in common.

A message is pieces, each after its length (four bytes, the lowest first), and 32 bytes of HMAC-SHA256 over them. The
use is part of the secret: what was said for one purpose, or about another survey, is nothing for any other.
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Sequence

from sordino.collect.sealing import PartyKey
from sordino.collect.surveys import Survey
from sordino.errors import ArgumentError, SourceError

_MAC = 32
_LENGTH = 4

CHECK, CHECKED, SUM, SUMMED = b"check", b"checked", b"sum", b"summed"
LEADER, HELPER = 0, 1


def role_of(survey: Survey, key: PartyKey) -> int:
    """Return which of a survey's two servers the holder of a key is."""
    for role, each in enumerate(survey.parties):
        if each.key == key.text:
            return role
    raise ArgumentError(
        "this survey names two other servers; give the key that `sordino survey key` prints here for one of them",
        "SRD-C718",
    )


def verification_key(survey: Survey, key: PartyKey) -> bytes:
    """Return the servers' verification key: secret from all devices, and the same for both servers."""
    return _common(survey, key, b"verification key")


def spoken(survey: Survey, key: PartyKey, use: bytes, pieces: Sequence[bytes]) -> bytes:
    """Return a message to the other server."""
    said = packed(pieces)
    return said + _told(survey, key, use, said)


def heard(survey: Survey, key: PartyKey, use: bytes, message: bytes) -> list[bytes]:
    """Return the pieces of a message by the other server; refuse what anybody else says."""
    said, told = message[:-_MAC], message[-_MAC:]
    if not hmac.compare_digest(_told(survey, key, use, said), told):
        raise SourceError("this is no message of the other server of this survey; it was not listened to", "SRD-C719")
    return unpacked(said)


def packed(pieces: Sequence[bytes]) -> bytes:
    """Return pieces behind each other, each after its length."""
    return b"".join([part for each in pieces for part in (len(each).to_bytes(_LENGTH, "little"), each)])


def unpacked(said: bytes) -> list[bytes]:
    """Return the pieces that were packed."""
    found, place = [], 0
    while place < len(said):
        start = place + _LENGTH
        place = start + int.from_bytes(said[place:start], "little")
        found.append(said[start:place])
    return found


def _told(survey: Survey, key: PartyKey, use: bytes, said: bytes) -> bytes:
    return hmac.digest(_common(survey, key, use), said, hashlib.sha256)


def _common(survey: Survey, key: PartyKey, use: bytes) -> bytes:
    other = survey.parties[1 - role_of(survey, key)]
    return key.between(other.public, use + b" " + survey.digest)
