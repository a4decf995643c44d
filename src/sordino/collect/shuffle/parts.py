"""A batch on its way from the shuffler to the analyser: parts that fit a request, each told from anybody else's.

========  =====  ==========================================================
from      bytes  what
========  =====  ==========================================================
0         1      the version of this format, 1
1         32     the digest of the survey
33        16     the id of the batch: random, the same in all its parts
49        4      the number of this part, from 0, the lowest byte first
53        4      how many parts there are
57        n      sealed reports, in the shuffler's order
57 + n    32     HMAC-SHA256 of all before, by what the two have in common
========  =====  ==========================================================
"""

from __future__ import annotations

import hashlib
import hmac
import struct
from collections.abc import Iterator
from dataclasses import dataclass

from sordino.collect.sealing import PartyKey
from sordino.collect.surveys import Survey

from .envelope import inner_length

_HEAD = struct.Struct("<B32s16sII")
_MAC = 32
_VERSION = 1
_PART = 500_000
MOST_PARTS = 100_000


@dataclass(frozen=True)
class Part:
    """One part of a batch."""

    batch: bytes
    number: int
    of: int
    body: bytes


def secret(survey: Survey, key: PartyKey, other: int) -> bytes:
    """Return what this party has in common with the survey's other one (0 the analyser, 1 the shuffler)."""
    return key.between(survey.parties[other].public, b"batch " + survey.digest)


def split(survey: Survey, shared: bytes, batch: bytes, body: bytes) -> Iterator[bytes]:
    """Yield the parts of a batch, each as it travels."""
    width = inner_length(survey)
    step = max(1, _PART // width) * width
    starts = range(0, len(body), step)
    for number, start in enumerate(starts):
        head = _HEAD.pack(_VERSION, survey.digest, batch, number, len(starts))
        said = head + body[start : start + step]
        yield said + hmac.digest(shared, said, hashlib.sha256)


def read(survey: Survey, shared: bytes, given: bytes) -> Part | None:
    """Return a part that the shuffler of this survey made, None for anything else."""
    said, told = given[:-_MAC], given[-_MAC:]
    if len(said) <= _HEAD.size or not hmac.compare_digest(hmac.digest(shared, said, hashlib.sha256), told):
        return None
    version, digest, batch, number, of = _HEAD.unpack_from(said)
    body = said[_HEAD.size :]
    fits = version == _VERSION and digest == survey.digest and number < of <= MOST_PARTS
    return Part(batch, number, of, body) if fits and len(body) % inner_length(survey) == 0 else None
