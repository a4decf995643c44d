"""A memory elsewhere: the newest checkpoint that anybody was told, and what each scope had spent by then.

A signed log cannot show that its end was cut off, or that it is an old copy: it was signed like that, once. A witness
can. It is told after every commit and before anybody uses what was committed, and it never moves backwards; a ledger
that does not extend it freezes. Where a ledger must go on from an old copy, what the witness remembers of spending says
how much to burn.

**Assumes.** The witness is kept where whoever can change the ledger cannot change it too: another disk, another user,
another machine. A file beside the ledger still shows that one was put back from a backup without the other.
"""

from __future__ import annotations

import errno
import fcntl
import os
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from sordino.errors import ArgumentError, FrozenError, LedgerError

from .canonical import decode, encode

LARGEST_FILE = 1 << 20
SYNC_SECONDS = 1.0


@dataclass(frozen=True)
class Seen:
    """What a witness has seen: the newest signed checkpoint, and what scopes had spent, as decimal texts."""

    size: int
    note: str
    spent: Mapping[str, str] = field(default_factory=dict)
    anew: bool = False
    """Whether the ledger was restored by its owner, so that what was seen before is history."""


class Witness(Protocol):
    """Whoever remembers for a ledger."""

    watches: bool
    """Whether it remembers at all, so that to have no memory is to have lost it."""

    def begin(self, seen: Seen) -> None:
        """Start to remember a ledger; raise if there is a memory already."""

    def tell(self, seen: Seen) -> None:
        """Remember that a ledger got this far; `spent` names only what changed."""

    def news(self) -> Seen | None:
        """Return what is remembered if others may have told something since the last call, else None."""

    def recall(self) -> Seen | None:
        """Return all that is remembered, or None where there is no memory."""

    def close(self) -> None:
        """Write down what is not written down yet."""


class NoWitness:
    """No witness, and the reason why. Old copies and cut-off ends of such a ledger are not detected."""

    watches = False

    def __init__(self, reason: str) -> None:
        if not isinstance(reason, str) or not reason.strip():
            raise ArgumentError("reason must say in words why nobody watches over this ledger", "SRD-A001")
        self.reason = reason

    def begin(self, seen: Seen) -> None:
        """Forget it."""

    def tell(self, seen: Seen) -> None:
        """Forget it."""

    def news(self) -> Seen | None:
        """Return None: nobody told anything."""
        return None

    def recall(self) -> Seen | None:
        """Return None: nothing is remembered."""
        return None

    def close(self) -> None:
        """Do nothing."""

    def __repr__(self) -> str:
        return f"NoWitness({self.reason!r})"


class FileWitness:
    """A witness in a file: one line of canonical JSON for each commit, rewritten as one when it grows too long.

    Any number of processes on one machine may share it. Lines are written at once and synced at most once a second and
    at the end: a power loss may cost it its last second, after which the ledger is ahead, which is no offence.
    """

    watches = True

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path).absolute()
        self._file: int | None = None
        self._looked: tuple[int, int] | None = None
        self._whole: Seen | None = None
        """What the file says, as long as it is as this process left it (`_looked`)."""
        self._synced = 0.0

    def begin(self, seen: Seen) -> None:
        """Start a new file; refuse to replace one that has a memory."""
        if self.recall() is not None:
            raise LedgerError(f"{self.path} is the witness of a ledger already; name another file", "SRD-L063")
        with self._opened(os.O_CREAT) as file:
            self._append(file, seen)
            os.fsync(file)
        self._sync_directory()

    def tell(self, seen: Seen) -> None:
        """Append a line."""
        with self._opened() as file:
            whole = self._whole if _mark(file) == self._looked else None
            self._append(file, seen, complete=whole is not None)
            after = None if whole is None else _with(whole, seen)
            if os.fstat(file).st_size > LARGEST_FILE:
                file = self._compacted(file, after)
            if whole is not None:
                self._whole, self._looked = after, None if after is None else _mark(file)

    def news(self) -> Seen | None:
        """Return what is remembered if the file is not as this process left it."""
        if self._looked is not None and _mark(self.path) == self._looked:
            return None
        with self._opened() as file:
            found = self._whole = self._read(file)
            self._looked = _mark(file) if _ends_well(file) else None
        return found

    def recall(self) -> Seen | None:
        """Return all that the file holds, or None if it is missing or empty."""
        if not self.path.exists():
            return None
        with self._opened() as file:
            return self._read(file)

    def close(self) -> None:
        """Sync and close the file."""
        if self._file is not None:
            os.fsync(self._file)
            os.close(self._file)
            self._file = None

    @contextmanager
    def _opened(self, flags: int = 0) -> Iterator[int]:
        """Hold the lock of the file that is at the path now; another process may have rewritten it."""
        try:
            while True:
                if self._file is None:
                    self._file = os.open(self.path, os.O_RDWR | os.O_APPEND | os.O_CLOEXEC | flags, 0o600)
                fcntl.flock(self._file, fcntl.LOCK_EX)
                if _is_at(self._file, self.path):
                    break
                os.close(self._file)
                self._file = None
            try:
                yield self._file
            finally:
                if self._file is not None:
                    fcntl.flock(self._file, fcntl.LOCK_UN)
        except OSError as error:
            raise LedgerError(
                f"the witness {self.path} cannot be read or written ({error.strerror}), and without it nothing is "
                "answered; what was charged stays charged",
                "SRD-L063",
            ) from None

    def _append(self, file: int, seen: Seen, *, complete: bool = False) -> None:
        end = os.fstat(file).st_size
        if not complete and not _ends_well(file):
            end = _content(file).rfind(b"\n") + 1
            os.ftruncate(file, end)
        line = _line(seen)
        try:
            if os.write(file, line) != len(line):
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        except OSError:
            os.ftruncate(file, end)
            raise
        now = time.monotonic()
        if now - self._synced > SYNC_SECONDS:
            os.fsync(file)
            self._synced = now

    def _read(self, file: int) -> Seen | None:
        lines = [_parsed(line, self.path) for line in _content(file).split(b"\n")[:-1]]
        if not lines:
            return None
        lines = lines[max((place for place, seen in enumerate(lines) if seen.anew), default=0) :]
        lines.sort(key=lambda seen: seen.size)  # processes may have told in another order than they committed
        spent: dict[str, str] = {}
        for seen in lines:
            spent |= seen.spent
        return Seen(lines[-1].size, lines[-1].note, spent, anew=any(seen.anew for seen in lines))

    def _compacted(self, old: int, whole: Seen | None) -> int:
        """Replace the file by one line that says the same; whoever has the old one open sees that it is gone."""
        whole = whole or self._read(old)
        scratch = self.path.with_name(f".{self.path.name}.new")
        fresh = os.open(scratch, os.O_RDWR | os.O_APPEND | os.O_CLOEXEC | os.O_CREAT | os.O_TRUNC, 0o600)
        fcntl.flock(fresh, fcntl.LOCK_EX)
        if whole is not None:
            self._append(fresh, whole)
        os.fsync(fresh)
        os.replace(scratch, self.path)
        self._file = fresh
        os.close(old)
        self._sync_directory()
        return fresh

    def _sync_directory(self) -> None:
        handle = os.open(self.path.parent, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)

    def __repr__(self) -> str:
        return f"FileWitness({str(self.path)!r})"


def _is_at(file: int, path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(file), os.stat(path))
    except FileNotFoundError:
        return False


def _mark(file: int | Path) -> tuple[int, int] | None:
    try:
        found = os.stat(file)
    except FileNotFoundError:
        return None
    return found.st_ino, found.st_size


def _with(whole: Seen, seen: Seen) -> Seen | None:
    """Return what a file says that said `whole` and has a line more; None where it must be read to know."""
    if seen.anew:
        return seen
    if seen.size < whole.size:
        return None
    return Seen(seen.size, seen.note, {**whole.spent, **seen.spent}, whole.anew)


def _ends_well(file: int) -> bool:
    """Return whether no crash and no full disk has cut off the last line."""
    end = os.fstat(file).st_size
    return not end or os.pread(file, 1, end - 1) == b"\n"


def _content(file: int) -> bytes:
    return os.pread(file, os.fstat(file).st_size, 0)


def _line(seen: Seen) -> bytes:
    plain = {"anew": seen.anew, "note": seen.note, "size": seen.size, "spent": sorted(seen.spent.items())}
    return encode(plain) + b"\n"


def _parsed(line: bytes, path: Path) -> Seen:
    try:
        match decode(line):
            case {"anew": bool(anew), "note": str(note), "size": int(size), "spent": list(spent), **rest} if not rest:
                pairs = dict(spent)
                if all(isinstance(text, str) for pair in pairs.items() for text in pair):
                    return Seen(size, note, pairs, anew)
    except (LedgerError, TypeError, ValueError):
        pass
    raise FrozenError(f"the witness {path} holds a line that no ledger wrote", "SRD-L063")
