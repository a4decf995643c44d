"""The shuffler: takes envelopes, waits for the batch, permutes, forwards, and forgets order and times.

Its folder holds what waits: sealed reports, as they came (``intake.py``: on the disk before they are acknowledged,
each once). When there are as many as it waits for, it takes no more, and writes them down in an order that it draws;
then the intake is removed, so that nobody can ask it for more, and the batch is sent until the analyser has all of it.
Then that is removed as well.

**Guarantee**: nothing leaves before the batch is whole; every order of it is as likely (``noise`` draws it); what is
left afterwards is a mark that the batch was sent. No address is ever written down.
**Assumes**: whoever runs it does not work with the analyser, and counts honest people: reports by the analyser's own
devices hide nobody (`Survey.batch` is of honest ones).
"""

from __future__ import annotations

import os
import struct
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from sordino import noise
from sordino.arguments import whole
from sordino.collect.intake import SEGMENTS, Intake, Records, frames, is_closed, seal
from sordino.collect.randomizer import Counts, Payloads
from sordino.collect.sealing import PartyKey, not_opened
from sordino.collect.surveys import SHUFFLED, Survey
from sordino.collect.wire import ID, STALE, WRONG_LENGTH, refused
from sordino.errors import ArgumentError
from sordino.ledger.keys import sync_directory
from sordino.noise.keystream import SOURCE

from .envelope import inner_length, length, unwrapped
from .parts import secret, split

_BATCH, _SENT = "batch", "sent"
_MOST_AT_ONCE = 1000


@dataclass(frozen=True)
class Sealed:
    """Sealed reports as an intake takes them: there is nothing to count in them."""

    size: int

    def count(self, payloads: Payloads) -> Counts:  # noqa: ARG002  (sealed: there is nothing to see)
        """Return nothing."""
        return np.zeros(0, np.int64)


class Shuffler:
    """A shuffler of one survey. `wait_for` is how many reports its batch has: the survey's `batch`, or more."""

    def __init__(self, survey: Survey, key: PartyKey, folder: Path, *, wait_for: int | None = None) -> None:
        check(survey, key)
        self.survey = survey
        self.wait_for = whole("wait_for", wait_for or survey.batch, least=survey.batch or 2)
        self._key, self._folder = key, folder
        self._intake = Intake(folder, survey.digest, Sealed(inner_length(survey)))

    def take(self, body: bytes) -> int:
        """Return how many envelopes were taken, once they are on the disk; one that came before is acknowledged.

        They follow each other without anything between them. None is taken if one of them is no envelope.
        """
        size = length(self.survey)
        count, rest = divmod(len(body), size)
        if rest or not 1 <= count <= _MOST_AT_ONCE:
            raise refused(WRONG_LENGTH)
        records = self._records([body[start : start + size] for start in range(0, len(body), size)])
        if self.full and not self._intake.knows(records):
            raise refused(STALE)
        if not self.full:
            self._intake.take(records)
        return count

    @property
    def waiting(self) -> int:
        """How many reports wait."""
        return self._intake.counts()[0]

    @property
    def full(self) -> bool:
        """Whether the batch is whole, so that no more is taken."""
        return is_closed(self._folder)

    @property
    def sent(self) -> bool:
        """Whether the analyser has the batch, and this shuffler has nothing any more."""
        return (self._folder / _SENT).exists()

    def forward(self, send: Callable[[bytes], None]) -> bool:
        """Send the batch if it is whole, part by part, and forget it; return whether it was sent, now or before.

        `send` returns once the analyser has a part; what it raises leaves the batch as it is, to be sent again.
        """
        if self.sent:
            return True
        if not self.full and self.waiting < self.wait_for:
            return False
        seal(self._folder)
        kept = self._mixed()
        shared = secret(self.survey, self._key, 0)
        for part in split(self.survey, shared, kept[:ID], kept[ID:]):
            send(part)
        self.forget()
        return True

    def forget(self) -> None:
        """Forget the batch: the analyser has it, or has closed the round without it."""
        seal(self._folder)
        _write(self._folder / _SENT, b"")
        (self._folder / _BATCH).unlink(missing_ok=True)
        for segment in self._folder.glob(SEGMENTS):
            segment.unlink()
        sync_directory(self._folder)

    def close(self) -> None:
        """Write what waits, and give files back."""
        self._intake.end()

    def _records(self, envelopes: list[bytes]) -> Records:
        """Return what an intake takes: half of what each envelope was sealed by as its id, and what lies in it."""
        inner = [unwrapped(self.survey, self._key, each) for each in envelopes]
        if any(each is None for each in inner):
            raise not_opened()
        rows = b"".join([each[:ID] + (told or b"") for each, told in zip(envelopes, inner, strict=True)])
        return np.frombuffer(rows, np.uint8).reshape(len(envelopes), ID + inner_length(self.survey))

    def _mixed(self) -> bytes:
        """Return the batch in the order that was drawn, once: its id, then sealed reports. The intake is gone then."""
        path = self._folder / _BATCH
        if not path.exists():
            self._intake.end()
            rows = np.concatenate(list(self._kept()))
            rows = rows[np.unique(rows[:, :ID], axis=0, return_index=True)[1], ID:]
            identity = SOURCE.words(2).astype("<u8").tobytes()
            _write(path, identity + rows[noise.permutation(len(rows))].tobytes())
        for segment in self._folder.glob(SEGMENTS):
            segment.unlink()
        sync_directory(self._folder)
        return path.read_bytes()

    def _kept(self) -> Iterator[Records]:
        width = ID + inner_length(self.survey)
        head = b"sordino intake 1\n" + self.survey.digest + struct.pack("<I", width)
        for path in sorted(self._folder.glob(SEGMENTS)):
            for body, _ in frames(path, head):
                yield np.frombuffer(body, np.uint8).reshape(-1, width)


def check(survey: Survey, key: PartyKey) -> None:
    """Refuse a survey that is not shuffled by the holder of this key."""
    if survey.trust != SHUFFLED or len(survey.parties) != 2 or survey.parties[1].key != key.text:
        raise ArgumentError(
            "this survey does not name this shuffler; its owner declares trust: shuffled with the shuffler's url and "
            "key, as this process shows them",
            "SRD-C718",
        )


def _write(path: Path, content: bytes) -> None:
    scratch = path.with_suffix(".part")
    with os.fdopen(os.open(scratch, os.O_CREAT | os.O_TRUNC | os.O_WRONLY, 0o600), "wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    os.replace(scratch, path)
    sync_directory(path.parent)
