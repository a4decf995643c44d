"""The intake of a round: reports are appended and synced before they are acknowledged, and each is counted once.

A folder holds *segments*, one for each process that ever took reports, and a mark once the round is closed. A segment
is a row of frames, one for each time that was synced: ``SRDF``, length, CRC-32, then records (id and payload). The
checksum begins with that of the segment's own name, which is random: so no report can hold what looks like a frame.
Whatever waits while a frame is written goes into the next one together, so many requests share one sync.

**Guarantee**: what was acknowledged is on the disk, once, whatever is killed and whenever; a duplicate id is
acknowledged and not written again; once the mark stands nothing is acknowledged any more, by any process. There is no
address and no time in it; the order of arrival is forgotten when the round is closed (``kept.py``).
**Assumes**: the folder is on one machine's file system (locks by ``flock``) and readable by the service alone.
"""

from __future__ import annotations

import fcntl
import mmap
import os
import struct
import threading
import zlib
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from sordino.errors import RunError, SordinoError
from sordino.ledger.keys import sync_directory
from sordino.noise.keystream import SOURCE

from .randomizer import Counts, Payloads
from .wire import ID, STALE, payloads_of, refused

Records = NDArray[np.uint8]
Done = Callable[[SordinoError | None], None]
Waiting = tuple[bytes, list[bytes], Done]

SEGMENTS = "*.segment"
CLOSED = "closed"
FULL, BROKEN = "SRD-C710", "SRD-C711"
MOST_RECORDS = 10_000_000
"""Of one round in one process: ids are remembered in memory, about 100 bytes each."""
MOST_WAITING = 64 * 2**20
"""Bytes that wait to be synced; beyond it senders are asked to wait."""

_UNCOUNTED = 4 * 2**20
_MAGIC = b"SRDF"
_FRAME = struct.Struct("<4sII")


class Counting(Protocol):
    """What an intake needs to know of the records that it takes: a randomizer says it, or whoever counts nothing."""

    @property
    def size(self) -> int:
        """How many bytes a payload has."""
        ...

    def count(self, payloads: Payloads) -> Counts:
        """Return what estimates need of payloads; counts of parts add up to the counts of all."""
        ...


class Intake:
    """Where a round's reports arrive, in one process. Any number of threads may bring some."""

    def __init__(self, folder: Path, digest: bytes, way: Counting) -> None:
        self._folder = folder
        self._way = way
        self._width = ID + way.size
        self._head = b"sordino intake 1\n" + digest + struct.pack("<I", self._width)
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._segment: int | None = None
        self._mark = 0
        self._end = 0
        self._changed = threading.Condition()
        self._waiting: list[Waiting] = []
        self._bytes = 0
        self._syncing = False
        self._ended = False
        self._seen: set[bytes] = set()
        self._read_to: dict[str, int] = {}
        self._fresh: list[bytes] = []
        """What was read or synced and not counted yet."""
        self._fresh_bytes = 0
        self._counts = way.count(np.zeros((0, way.size), np.uint8))
        self._counted = 0
        with locked(folder, fcntl.LOCK_SH):
            self._read_others()
        self._writer = threading.Thread(target=self._write_on, daemon=True, name="sordino-intake")
        self._writer.start()

    @property
    def closed(self) -> bool:
        """Whether the round is over, for every process."""
        return is_closed(self._folder)

    def take(self, records: Records) -> None:
        """Return once all these records are on the disk, each once."""
        waited: Future[None] = Future()

        def done(error: SordinoError | None) -> None:
            waited.set_result(None) if error is None else waited.set_exception(error)

        self.submit(records, done)
        waited.result()

    def submit(self, records: Records, done: Done) -> None:
        """Have records written, and call `done` from another thread once they are on the disk, or why they are not."""
        width = self._width
        body = records.tobytes()
        with self._changed:
            if self._ended:
                raise _broken()
            if self._bytes + len(body) > MOST_WAITING or len(self._seen) >= MOST_RECORDS:
                raise _full()
            ids = [body[start : start + ID] for start in range(0, len(body), width)]
            if len(set(ids)) < len(ids) or not self._seen.isdisjoint(ids):
                body, ids = self._new(body, ids)
            if not ids and not self._waiting and not self._syncing:  # all of it was synced before
                waiting = False
            else:  # a duplicate may still be on its way to the disk: it waits for whatever does
                waiting = True
                self._seen.update(ids)
                self._bytes += len(body)
                self._waiting.append((body, ids, done))
                self._changed.notify()
        if not waiting:
            done(refused(STALE) if self.closed else None)

    def knows(self, records: Records) -> bool:
        """Return whether all of these were taken before, or are being taken."""
        return all(bytes(each[:ID]) in self._seen for each in records)

    def counts(self) -> tuple[int, Counts]:
        """Return how many reports came so far, to every process, each once, and their counts."""
        with locked(self._folder, fcntl.LOCK_SH), self._changed:
            self._read_others()
            self._count()
            return self._counted, self._counts.copy()

    def end(self) -> None:
        """Write what waits, and give everything back. The round stays as it is."""
        with self._changed:
            if self._ended:
                return
            self._ended = True
            self._changed.notify_all()
        self._writer.join()
        if self._segment is not None:
            os.close(self._segment)

    def _new(self, body: bytes, ids: list[bytes]) -> tuple[bytes, list[bytes]]:
        """Return the records whose ids are new, the first of each."""
        kept: dict[bytes, int] = {}
        for place, each in enumerate(ids):
            if each not in self._seen:
                kept.setdefault(each, place)
        rows = [body[place * self._width : (place + 1) * self._width] for place in kept.values()]
        return b"".join(rows), list(kept)

    # The writer

    def _write_on(self) -> None:
        while True:
            with self._changed:
                self._syncing = False
                while not self._waiting and not self._ended:
                    self._changed.wait()
                if not self._waiting:
                    return
                batch, self._waiting, self._bytes, self._syncing = self._waiting, [], 0, True
            error = self._written(b"".join([body for body, _, _ in batch]))
            if error is not None:
                batch += self._given_up(batch)
            for _, _, done in batch:
                done(error)

    def _given_up(self, batch: list[Waiting]) -> list[Waiting]:
        """Forget the ids of what was not written, and return what came meanwhile, which fails with it.

        There may be duplicates among it, without bytes of their own: acknowledged, they would be on no disk.
        """
        with self._changed:
            others, self._waiting, self._bytes = self._waiting, [], 0
            for _, ids, _ in (*batch, *others):
                self._seen.difference_update(ids)
        return others

    def _written(self, body: bytes) -> SordinoError | None:
        """Return None once a frame is on the disk, or why it is not; what was written of it is taken back."""
        if not body:
            return None
        try:
            with locked(self._folder, fcntl.LOCK_SH):
                if self.closed:
                    return refused(STALE)
                if self._segment is None:
                    self._begin()
                self._append(_FRAME.pack(_MAGIC, len(body), zlib.crc32(body, self._mark)) + body)
        except OSError:
            self._take_back()
            return _broken()
        with self._changed:
            self._remember(body)
        return None

    def _append(self, frame: bytes) -> None:
        assert self._segment is not None  # noqa: S101
        left = memoryview(frame)
        while left:
            left = left[os.write(self._segment, left) :]
        os.fdatasync(self._segment)
        self._end += len(frame)

    def _begin(self) -> None:
        """Begin a segment of this process."""
        name = f"{SOURCE.words(2).tobytes().hex()}.segment"
        self._segment = os.open(self._folder / name, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_APPEND, 0o600)
        self._read_to[name] = -1  # never read as another's
        self._mark = _mark_of(name)
        self._end = 0
        self._append(self._head)
        sync_directory(self._folder)

    def _take_back(self) -> None:
        """Cut off a frame that could not be written or synced, and go on in another segment."""
        if self._segment is None:
            return
        with suppress(OSError):
            os.ftruncate(self._segment, self._end)
            os.fsync(self._segment)
        os.close(self._segment)
        self._segment = None

    # What other processes wrote, now or before

    def _read_others(self) -> None:
        for path in sorted(self._folder.glob(SEGMENTS)):
            start = self._read_to.get(path.name, 0)
            if start < 0:
                continue
            for body, end in frames(path, self._head, start):
                self._read_to[path.name] = end
                ids = [body[place : place + ID] for place in range(0, len(body), self._width)]
                if len(set(ids)) < len(ids) or not self._seen.isdisjoint(ids):
                    body, ids = self._new(body, ids)
                self._seen.update(ids)
                self._remember(body)

    def _remember(self, body: bytes) -> None:
        self._fresh.append(body)
        self._fresh_bytes += len(body)
        if self._fresh_bytes > _UNCOUNTED:
            self._count()

    def _count(self) -> None:
        records = np.frombuffer(b"".join(self._fresh), np.uint8).reshape(-1, self._width)
        self._fresh, self._fresh_bytes = [], 0
        self._counts = self._counts + self._way.count(payloads_of(records))
        self._counted += len(records)


@contextmanager
def locked(folder: Path, how: int) -> Iterator[None]:
    """Hold the folder's lock, shared or alone, among threads and processes."""
    gate = os.open(folder / "lock", os.O_CREAT | os.O_RDWR, 0o600)
    try:
        fcntl.flock(gate, how)
        yield
    finally:
        os.close(gate)


def seal(folder: Path) -> None:
    """Close the round in a folder for every process: nothing is acknowledged after this returns."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    with locked(folder, fcntl.LOCK_EX):
        mark = os.open(folder / CLOSED, os.O_CREAT | os.O_WRONLY, 0o600)
        os.fsync(mark)
        os.close(mark)
        sync_directory(folder)


def is_closed(folder: Path) -> bool:
    """Return whether the round in a folder is over."""
    return (folder / CLOSED).exists()


def frames(path: Path, head: bytes, start: int = 0) -> Iterator[tuple[bytes, int]]:
    """Yield the records of each whole frame of a segment from `start` on, and where the next one begins.

    A frame that was torn by a crash ends the segment: nobody was told that it was taken. One that is followed by a
    whole one was damaged later, and is an error: what was acknowledged would be lost silently.
    """
    with open(path, "rb") as file:
        if os.fstat(file.fileno()).st_size < max(start, len(head)):
            return  # not even its head was written whole
        with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
            if data[: len(head)] != head:
                raise damaged()
            place, mark = max(start, len(head)), _mark_of(path.name)
            while (frame := _frame(data, place, mark)) is not None:
                place += _FRAME.size + len(frame)
                yield frame, place
            if _followed(data, place, mark):
                raise damaged()


def _mark_of(name: str) -> int:
    return zlib.crc32(name.encode())


def _frame(data: mmap.mmap, place: int, mark: int) -> bytes | None:
    if place + _FRAME.size > len(data):
        return None
    magic, length, check = _FRAME.unpack_from(data, place)
    body = data[place + _FRAME.size : place + _FRAME.size + length]
    whole = magic == _MAGIC and length > 0 and len(body) == length and zlib.crc32(body, mark) == check
    return body if whole else None


def _followed(data: mmap.mmap, place: int, mark: int) -> bool:
    """Return whether a whole frame begins anywhere after a place where none does."""
    later = data.find(_MAGIC, place + 1)
    while later >= 0:
        if _frame(data, later, mark) is not None:
            return True
        later = data.find(_MAGIC, later + 1)
    return False


def damaged() -> SordinoError:
    """Return the error for a segment that is not what was written."""
    return RunError("the intake of this round was damaged on the disk; restore it from a copy", BROKEN)


def _broken() -> SordinoError:
    return RunError("reports cannot be written at the moment, and this one was not taken; send it again later", BROKEN)


def _full() -> SordinoError:
    return RunError("more reports arrive than can be written; this one was not taken: send it again later", FULL)
