"""Reports as they travel: bytes, or JSON whose bytes are base64url. One length for all values of a survey.

========  =====  ==============================================
from      bytes  what
========  =====  ==============================================
0         1      the version of this format, 1
1         32     the digest of the survey
33        16     the id of the report: random, and its own alone
49        n      the payload, as long as the survey's randomizer says
========  =====  ==============================================

Several reports follow each other without anything between them. As JSON a report is
``{"version": 1, "survey": "…", "id": "…", "payload": "…"}``, and several are a list; base64url has no padding.

Random words come in this order: two for the id (eight bytes each, the lowest first), then those of the payload.

**Guarantee**: a report says nothing of the value beyond its payload: the id is random, the length is the survey's.
"""

from __future__ import annotations

import binascii
import json
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Collection
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sordino.errors import ArgumentError
from sordino.noise.keystream import BitSource

from .randomizer import Payloads
from .two_servers.shares import Shares

if TYPE_CHECKING:
    from .surveys import Survey

VERSION = 1
DIGEST = 32
ID = 16
HEADER = 1 + DIGEST + ID
MOST_AT_ONCE = 10_000
"""Reports in one batch."""

MALFORMED = "SRD-C701"
WRONG_LENGTH = "SRD-C702"
FOREIGN = "SRD-C703"
OUT_OF_DOMAIN = "SRD-C704"
STALE = "SRD-C705"
WORDS = {
    MALFORMED: "this is no report of this version; send what a client of this version makes",
    WRONG_LENGTH: "a report of this survey has another length; send whole reports, one after the other",
    FOREIGN: "this report is for another survey; send it where that is asked",
    OUT_OF_DOMAIN: "no device of this survey sends this payload; use a client of this version",
    STALE: "this report is for a round that is over, or was never open; answer the one that is open",
}
_FIELDS = {"version", "survey", "id", "payload"}


@dataclass(frozen=True)
class Report:
    """What a device sends: it may be shown to anybody, at the price that the survey says."""

    survey: bytes
    id: bytes
    payload: bytes

    def to_bytes(self) -> bytes:
        """Return it as bytes."""
        return bytes([VERSION]) + self.survey + self.id + self.payload

    def to_plain(self) -> dict[str, Any]:
        """Return what its JSON holds."""
        said = {"survey": self.survey, "id": self.id, "payload": self.payload}
        return {"version": VERSION} | {name: _text(given) for name, given in said.items()}

    def to_json(self) -> str:
        """Return it as JSON."""
        return json.dumps(self.to_plain(), separators=(",", ":"))

    @classmethod
    def from_bytes(cls, given: bytes) -> Report:
        """Return the report that bytes hold; of which survey, and whether it may be counted, is for others to see."""
        if len(given) <= HEADER or given[0] != VERSION:
            raise refused(MALFORMED)
        return cls(given[1 : 1 + DIGEST], given[1 + DIGEST : HEADER], given[HEADER:])

    @classmethod
    def from_plain(cls, given: Any) -> Report:
        """Return the report that parsed JSON holds."""
        if not isinstance(given, dict) or set(given) != _FIELDS or type(given["version"]) is not int:
            raise refused(MALFORMED)
        if given["version"] != VERSION:
            raise refused(MALFORMED)
        found = cls(*(_bytes(given[name]) for name in ("survey", "id", "payload")))
        if len(found.survey) != DIGEST or len(found.id) != ID or not found.payload:
            raise refused(MALFORMED)
        return found

    @classmethod
    def from_json(cls, given: str) -> Report:
        """Return the report that JSON holds."""
        return cls.from_plain(parsed(given))

    def __repr__(self) -> str:
        return f"Report({self.survey.hex()[:8]}…, {HEADER + len(self.payload)} bytes)"


def report_of(survey: Survey, value: Any, source: BitSource) -> Report:
    """Return a report of a value, by the next words of `source`: the same in every language.

    Charges nothing: a device does (``device.py``).
    """
    code = survey.asks.code(value)
    identity = source.words(2).astype("<u8").tobytes()
    way = survey.randomizer
    if isinstance(way, Shares):
        return Report(survey.digest, identity, way.payload(survey.digest, identity, survey.parties, code, source))
    return Report(survey.digest, identity, way.report(code, source))


@dataclass(frozen=True)
class Batch:
    """What was read of several reports: ids and payloads that may be counted, and why others may not."""

    records: NDArray[np.uint8]
    """A row each: the id, then the payload."""
    refused: tuple[tuple[int, str], ...]
    """The place of each report that is not counted, from 0, and the code that says why."""


def read_bytes(survey: Survey, body: bytes, former: Collection[bytes] = ()) -> Batch:
    """Return what may be counted of reports as bytes; refuse all of them if they cannot be told apart.

    `former` are digests of rounds that are over.
    """
    length = HEADER + survey.randomizer.size
    count, rest = divmod(len(body), length)
    if rest or not 1 <= count <= MOST_AT_ONCE:
        raise refused(WRONG_LENGTH)
    rows = np.frombuffer(body, dtype=np.uint8).reshape(count, length)
    ours = np.frombuffer(bytes([VERSION]) + survey.digest, dtype=np.uint8)
    good = (rows[:, : 1 + DIGEST] == ours).all(1)
    good &= survey.randomizer.well_formed(rows[:, HEADER:])
    records = rows[:, 1 + DIGEST :]
    if good.all():
        return Batch(records, ())
    wrong = [(int(place), _why(survey, rows[place].tobytes(), former)) for place in np.flatnonzero(~good)]
    return Batch(records[good], tuple(wrong))


def read_each(survey: Survey, bodies: list[bytes | None], former: Collection[bytes] = ()) -> Batch:
    """Return what may be counted of reports that came one by one; None is one that could not even be read."""
    if not 1 <= len(bodies) <= MOST_AT_ONCE:
        raise refused(WRONG_LENGTH)
    length = HEADER + survey.randomizer.size
    sized = [place for place, body in enumerate(bodies) if body is not None and len(body) == length]
    wrong = [(place, _misfit(survey, body, former)) for place, body in enumerate(bodies) if not _fits(body, length)]
    if not sized:
        return Batch(np.zeros((0, ID + survey.randomizer.size), np.uint8), tuple(wrong))
    read = read_bytes(survey, b"".join([bodies[place] or b"" for place in sized]), former)
    wrong += [(sized[place], code) for place, code in read.refused]
    return Batch(read.records, tuple(sorted(wrong)))


def read_plain(survey: Survey, given: Any, former: Collection[bytes] = ()) -> Batch:
    """Return what may be counted of reports as parsed JSON: one, or a list."""
    listed = given if isinstance(given, list) else [given]
    return read_each(survey, [_body(each) for each in listed[: MOST_AT_ONCE + 1]], former)


def _body(plain: Any) -> bytes | None:
    try:
        return Report.from_plain(plain).to_bytes()
    except ArgumentError:
        return None


def _fits(body: bytes | None, length: int) -> bool:
    return body is not None and len(body) == length


def _misfit(survey: Survey, body: bytes | None, former: Collection[bytes]) -> str:
    """Return why a report of another length is not counted."""
    if body is None or len(body) <= HEADER or body[0] != VERSION:
        return MALFORMED
    digest = body[1 : 1 + DIGEST]
    return WRONG_LENGTH if digest == survey.digest else STALE if digest in former else FOREIGN


def payloads_of(records: NDArray[np.uint8]) -> Payloads:
    """Return the payloads of records."""
    return np.ascontiguousarray(records[:, ID:])


def parsed(text: str | bytes) -> Any:
    """Return what JSON holds, or refuse it as no report."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        raise refused(MALFORMED) from None


def refused(code: str) -> ArgumentError:
    """Return the error of a report that is not counted; it shows nothing of what came."""
    return ArgumentError(WORDS[code], code)


def _why(survey: Survey, row: bytes, former: Collection[bytes]) -> str:
    """Return why a report of the right length is not counted."""
    digest = row[1 : 1 + DIGEST]
    if row[0] != VERSION:
        return MALFORMED
    if digest != survey.digest:
        return STALE if digest in former else FOREIGN
    return OUT_OF_DOMAIN


def _text(given: bytes) -> str:
    return urlsafe_b64encode(given).rstrip(b"=").decode()


def _bytes(given: Any) -> bytes:
    """Return what base64url without padding spells, if it spells it in the one way."""
    if not isinstance(given, str) or not given.isascii() or len(given) > 1 << 20:
        raise refused(MALFORMED)
    try:
        found = urlsafe_b64decode(given + "=" * (-len(given) % 4))
    except (binascii.Error, ValueError):
        raise refused(MALFORMED) from None
    if _text(found) != given:
        raise refused(MALFORMED)
    return found
