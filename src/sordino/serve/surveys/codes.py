"""One-time codes: who has one may send one report. They are kept apart from reports, as hashes, and in no order of use.

The file holds the SHA-256 of each code, sorted, and a byte that says whether it was used. So it tells which codes were
used, and nothing links one to a report: neither an id, nor an order, nor a time.

**Guarantee**: a code is marked on the disk before its report is acknowledged; a report that is sent again, as its
acknowledgement was lost, needs no second code.
**Assumes**: reports of one code do not reach two replicas in the same moment: each of them could take one. So could a
service that is killed between a report and its mark, for whoever then sends another one with the same code.
"""

from __future__ import annotations

import hashlib
import os
import threading
from base64 import b32encode
from bisect import bisect_left
from pathlib import Path

from sordino.errors import ArgumentError
from sordino.ledger.keys import sync_directory
from sordino.noise.keystream import SOURCE
from sordino.serve.refusals import ForbiddenError

MOST_CODES = 1_000_000
_HASH = 32
_WIDTH = _HASH + 1
_USED = b"\x01"


def make_codes(path: Path, count: int) -> list[str]:
    """Return so many new codes, which are shown this once; those that there were stay good."""
    words = SOURCE.words(2 * count).astype("<u8").tobytes()
    codes = [b32encode(words[16 * each : 16 * each + 16]).decode().rstrip("=").lower() for each in range(count)]
    before = path.read_bytes() if path.exists() else b""
    rows = [before[start : start + _WIDTH] for start in range(0, len(before), _WIDTH)]
    if len(rows) + count > MOST_CODES:
        raise ArgumentError(f"a survey has at most {MOST_CODES:,} codes", "SRD-C712")
    rows += [_digest(code) + b"\x00" for code in codes]
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    scratch = path.with_suffix(".part")
    with os.fdopen(os.open(scratch, os.O_CREAT | os.O_TRUNC | os.O_WRONLY, 0o600), "wb") as file:
        file.write(b"".join(sorted(rows)))
        file.flush()
        os.fsync(file.fileno())
    os.replace(scratch, path)
    sync_directory(path.parent)
    return codes


class Codes:
    """The codes of a survey, as one process knows them."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._claimed: set[int] = set()
        self._lock = threading.Lock()
        self._file: int | None = None
        self._hashes: list[bytes] = []
        self._version = (0, 0)

    def claim(self, code: str | None) -> int:
        """Return the place of a code that was not used, and hold it; refuse any other alike."""
        with self._lock:
            self._refresh()
            wanted = _digest(code or "")
            place = bisect_left(self._hashes, wanted)
            known = place < len(self._hashes) and self._hashes[place] == wanted
            if not known or place in self._claimed or self._used(place):
                raise ForbiddenError("this survey takes reports with a one-time code that was not used", "SRD-C712")
            self._claimed.add(place)
            return place

    def release(self, place: int) -> None:
        """Give a code back whose report was not taken."""
        with self._lock:
            self._claimed.discard(place)

    def mark(self, place: int) -> None:
        """Mark a code as used, on the disk."""
        with self._lock:
            assert self._file is not None  # noqa: S101  (claimed before)
            os.pwrite(self._file, _USED, place * _WIDTH + _HASH)
            handle = self._file
            self._claimed.discard(place)
        os.fdatasync(handle)

    def close(self) -> None:
        """Give the file back."""
        with self._lock:
            if self._file is not None:
                os.close(self._file)
                self._file = None

    def _used(self, place: int) -> bool:
        assert self._file is not None  # noqa: S101
        return os.pread(self._file, 1, place * _WIDTH + _HASH) == _USED

    def _refresh(self) -> None:
        """Read the file again if it was made anew: places have changed, so nothing may be held meanwhile."""
        try:
            found = self._path.stat()
        except FileNotFoundError:
            return
        version = (found.st_ino, found.st_size)
        if version == self._version or (self._claimed and self._hashes):
            return
        if self._file is not None:
            os.close(self._file)
        self._file, self._version = os.open(self._path, os.O_RDWR), version
        data = self._path.read_bytes()
        self._hashes = [data[start : start + _HASH] for start in range(0, len(data), _WIDTH)]


def _digest(code: str) -> bytes:
    return hashlib.sha256(code.strip().lower().encode()).digest()
