"""The helper: checks reports with the leader, adds up its shares, and hands out its sum once, with the whole noise.

Its folder holds a file for each chunk of reports that were checked: what was asked (its digest), what was answered, and
the sum. All of it is as good as random without the leader's, and as secret as that.

**Guarantee**: a chunk is on the disk before it is answered; asked again it gets the same answer, and with other reports
it is refused. From the moment that the sum is asked for, no report is added any more, and only one sum ever leaves:
with noise that was drawn once and recorded (`prio3.collect`), whoever asks and however often.
**Assumes**: the round is charged and open here (`work`) before a message is answered.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
from pathlib import Path

from sordino.accounting.work import Work
from sordino.collect import prio3
from sordino.collect.intake import locked
from sordino.collect.sealing import PartyKey
from sordino.collect.surveys import Survey
from sordino.errors import ArgumentError
from sordino.ledger.keys import sync_directory

from .leader import CHUNK
from .messages import CHECK, CHECKED, HELPER, SUM, SUMMED, heard, packed, spoken, unpacked, verification_key
from .shares import Shares, share_of

_HASH = 32
_OF_A_REPORT = 4


class Helper:
    """The helper's side of one round, whose folder this is: open (`work`), or over and `settled` as it was."""

    def __init__(
        self, survey: Survey, key: PartyKey, folder: Path, work: Work | None, settled: str | None = None
    ) -> None:
        way = survey.randomizer
        assert isinstance(way, Shares)  # noqa: S101  (by its trust)
        self._survey, self._key, self._folder = survey, key, folder
        self._work, self._settled = work, settled
        self._prio3 = way.prio3(survey.digest)
        self._common = verification_key(survey, key)

    def answer(self, message: bytes) -> bytes:
        """Return the answer to what the leader says."""
        use, _, said = message.partition(b"\n")
        if use not in (CHECK, SUM):
            raise refused()
        pieces = heard(self._survey, self._key, use, said)
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        with locked(self._folder, fcntl.LOCK_EX):
            answered = self._checked(pieces) if use == CHECK else self._summed(pieces)
        return spoken(self._survey, self._key, CHECKED if use == CHECK else SUMMED, answered)

    @property
    def collected(self) -> bool:
        """Whether the sum left."""
        return (self._folder / _SUM).exists()

    def _checked(self, pieces: list[bytes]) -> list[bytes]:
        """Check and add up a chunk, or answer again as before."""
        if len(pieces) < 1 or len(pieces[0]) != 4 or len(pieces) % _OF_A_REPORT != 1 or len(pieces) > 1 + 4 * CHUNK:
            raise refused()
        path = self._folder / f"{int.from_bytes(pieces[0], 'little')}.chunk"
        asked = hashlib.sha256(b"".join([hashlib.sha256(each).digest() for each in pieces])).digest()
        if path.exists():
            return self._again(path, asked)
        if (self._folder / _SUM).exists():
            raise _over()
        ids, publics, sealed, inbound = (pieces[1 + place :: _OF_A_REPORT] for place in range(_OF_A_REPORT))
        shares = [
            prio3.ReportShare(each, public, share_of(self._key, HELPER, self._survey.digest, each, public, box))
            for each, public, box in zip(ids, publics, sealed, strict=True)
        ]
        answered = prio3.helper_answer(self._prio3, self._common, shares, inbound)
        total = prio3.AggregateShare(self._prio3)
        repeated = total.add(answered.finished, ids)
        outbound = [b"" if why else each for each, why in zip(answered.outbound, repeated, strict=True)]
        kept = total.to_bytes()
        _write(path, asked + len(kept).to_bytes(8, "little") + kept + packed(outbound))
        return outbound

    @staticmethod
    def _again(path: Path, asked: bytes) -> list[bytes]:
        kept = path.read_bytes()
        if kept[:_HASH] != asked:
            raise _over()
        return unpacked(kept[_HASH + 8 + int.from_bytes(kept[_HASH : _HASH + 8], "little") :])

    def _summed(self, pieces: list[bytes]) -> list[bytes]:
        """Return the noised sum, once the leader counted the same reports."""
        total = prio3.AggregateShare(self._prio3)
        for path in sorted(self._folder.glob("*.chunk")):
            kept = path.read_bytes()[_HASH:]
            total.merge(prio3.AggregateShare.from_bytes(self._prio3, kept[8 : 8 + int.from_bytes(kept[:8], "little")]))
        if pieces != [total.checksum, total.reports.to_bytes(8, "little")]:
            raise ArgumentError(
                "the servers did not add up the same reports, so their sums say nothing together; the leader sends all "
                "chunks again",
                "SRD-C311",
            )
        if self._work is None:
            return [prio3.NoisedShare.from_json(self._settled or "").to_json().encode()]
        _write(self._folder / _SUM, total.checksum)
        return [prio3.collect(self._work, total).to_json().encode()]


_SUM = "sum"


def refused() -> ArgumentError:
    """Return the error for a message that says nothing."""
    return ArgumentError("this is nothing that the servers of a survey say to each other", "SRD-C719")


def _over() -> ArgumentError:
    return ArgumentError(
        "these reports were answered otherwise before, or the sum was handed out, to which nothing is added", "SRD-C719"
    )


def _write(path: Path, content: bytes) -> None:
    scratch = path.with_name(f".{path.name}")
    with os.fdopen(os.open(scratch, os.O_CREAT | os.O_TRUNC | os.O_WRONLY, 0o600), "wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    os.replace(scratch, path)
    sync_directory(path.parent)
