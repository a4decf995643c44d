"""A memory elsewhere: the newest checkpoint that anybody was told, and what each scope had spent by then.

A signed log cannot show that its end was cut off, or that it is an old copy: it was signed like that, once. A witness
can. It is told after every commit and before anybody uses what was committed, and it never moves backwards; a ledger
that does not extend it freezes. Where a ledger must go on from an old copy, what the witness remembers of spending says
how much to burn.

**Guarantee.** To tell is to compare and swap: a witness takes nothing from whoever has not heard all that it was told
before. So of two copies of a ledger beside one witness the first that tells goes on, and the other, which does not
extend what it then hears, freezes: its charge stands in its copy, and is never granted.
**Assumes.** The witness is kept where whoever can change the ledger cannot change it too: another disk, another user,
another machine. A file beside the ledger still shows that one was put back from a backup without the other.
"""

from __future__ import annotations

import errno
import fcntl
import os
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from json.encoder import encode_basestring as _quoted
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple, Protocol

from sordino.errors import ArgumentError, FrozenError, LedgerError

from .canonical import decode
from .keys import SigningKey, sync_directory

LARGEST_FILE = 1 << 20
SPARE = 1 << 15
"""Bytes of room behind the next line: for what must be told after it, by this process and by others."""
SYNC_SECONDS = 1.0


class Seen(NamedTuple):
    """What a witness has seen: the newest signed checkpoint, and what scopes had spent, as decimal texts."""

    size: int
    note: str
    spent: Mapping[str, str] = MappingProxyType({})
    anew: bool = False
    """Whether the ledger was restored by its owner, so that what was seen before is history."""


class Witness(Protocol):
    """Whoever remembers for a ledger. What stands here remembers nothing."""

    watches: bool
    """Whether it remembers at all, so that to have no memory is to have lost it."""

    def begin(self, seen: Seen) -> None:  # noqa: ARG002
        """Start to remember a ledger; raise if there is a memory already."""
        return

    def check(self) -> None:
        """Raise if nothing should be charged now, as it, or what must follow it, could not be told."""
        return

    def ready(self, _: Seen, /) -> Seen | None:
        """Do all that can fail before something is told, or raise; asked before it is committed.

        Return what others told meanwhile, as `tell` does: then nothing is ready.
        """
        return None

    def tell(self, _: Seen, /) -> Seen | None:
        """Remember that a ledger got this far, and return None; `spent` names only what changed.

        If others told something since this process last heard, remember nothing and return all that is remembered:
        whoever finds that its ledger extends that may tell again.
        """
        return None

    def news(self) -> Seen | None:
        """Return what is remembered if others may have told something since the last call, else None."""
        return None

    def recall(self) -> Seen | None:
        """Return all that is remembered, or None where there is no memory."""
        return None

    def history(self) -> tuple[Seen, ...]:
        """Return everything that was told since the ledger last began anew, as far as it is still remembered."""
        return ()

    def known_as(self, key: SigningKey) -> None:  # noqa: ARG002
        """Remember, from now on, for the ledger of another key; what was remembered for the old one stays."""
        return

    def foretell(self, seen: Seen, /) -> None:  # noqa: ARG002
        """Do what can fail before a ledger goes on under another key; asked before that is committed."""
        return

    def close(self) -> None:
        """Write down what is not written down yet."""
        return


class NoWitness(Witness):
    """No witness, and the reason why. Old copies and cut-off ends of such a ledger are not detected."""

    watches = False

    def __init__(self, reason: str) -> None:
        if not isinstance(reason, str) or not reason.strip():
            raise ArgumentError("reason must say in words why nobody watches over this ledger", "SRD-A001")
        self.reason = reason

    def __repr__(self) -> str:
        return f"NoWitness({self.reason!r})"


class FileWitness:
    """A witness in a file: one line of canonical JSON for each commit, rewritten as one when it grows too long.

    Any number of processes on one machine may share it. Lines are written at once and synced at most once a second and
    at the end: a power loss may cost it its last second, after which the ledger is ahead, which is no offence.
    Behind the last line stand blanks, written and synced beforehand: room for the lines to come, so that a full disk
    is met when the file is made ready, before a commit.
    """

    watches = True

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path).absolute()
        self._file: int | None = None
        self._looked: int | None = None
        """Where the last line of the open file ended when this process last looked; None if it did not yet."""
        self._size = 0
        """How many bytes, with the blanks, the open file was when it was last found at its path."""
        self._whole: Seen | None = None
        """What it said then."""
        self._next: tuple[Seen | None, bytes] = (None, b"")
        """What this process was made ready to tell, with its line."""
        self._synced = 0.0

    def begin(self, seen: Seen) -> None:
        """Start a new file; refuse to replace one that has a memory."""
        if self.recall() is not None:
            raise LedgerError(f"{self.path} is the witness of a ledger already; name another file", "SRD-L063")
        with self._opened(os.O_CREAT) as file:
            self._look(file)
            self._put(file, seen)
            os.fsync(file)
            sync_directory(self.path.parent)

    def check(self) -> None:
        """Reserve room for some lines: for a charge, and for what becomes of it."""
        if self._has_room(SPARE):
            return
        with self._opened(stands="nothing was charged") as file:
            self._size = _reserve(file, self._end if self._is_as_left(file) else self._size, SPARE)

    def ready(self, seen: Seen) -> Seen | None:
        """Reserve room for a line; rewrite a file that is too long."""
        self._next = seen, _line(seen)
        if self._end <= LARGEST_FILE and self._has_room(len(self._next[1])) and self._is_as_left(self._file):
            return None
        with self._opened(stands="nothing was committed") as file:
            if not self._is_as_left(file) and (others := self._look(file)) is not None:
                return others
            if self._end > LARGEST_FILE:
                with suppress(OSError):  # then it grows on, as long as there is room
                    file = self._rewrite(file)
            self._size = _reserve(file, self._end, len(self._next[1]))
        return None

    def tell(self, seen: Seen) -> Seen | None:
        """Append a line, if the file is as this process last saw it; else return what it says."""
        with self._opened() as file:
            if not self._is_as_left(file) and (others := self._look(file)) is not None and not seen.anew:
                return others
            self._put(file, seen)
        return None

    def news(self) -> Seen | None:
        """Return what is remembered if the file is not as this process left it."""
        if self._is_at_path() and self._is_as_left(self._file):
            return None
        with self._opened() as file:
            return self._look(file)

    def recall(self) -> Seen | None:
        """Return all that the file holds, or None if it is missing or empty."""
        return _merged(self.history())

    def history(self) -> tuple[Seen, ...]:
        """Return every line since the ledger last began anew."""
        if not self.path.exists():
            return ()
        with self._opened() as file:
            return self._lines(_content(file))

    def known_as(self, key: SigningKey) -> None:
        """Go on: a file remembers for one ledger, and what it is told anew says under which key."""

    def foretell(self, seen: Seen) -> None:
        """Do nothing: what is told after the commit is enough, as the entry names what the file says until then."""

    def close(self) -> None:
        """Sync and close the file."""
        if self._file is not None:
            os.fsync(self._file)
            os.close(self._file)
            self._file = self._looked = None

    @contextmanager
    def _opened(self, flags: int = 0, stands: str = "what was charged stays charged") -> Iterator[int]:
        """Hold the lock of the file that is at the path now; another process may have rewritten it."""
        try:
            while True:
                if self._file is None:
                    self._file = os.open(self.path, os.O_RDWR | os.O_CLOEXEC | flags, 0o600)
                fcntl.flock(self._file, fcntl.LOCK_EX)
                if self._is_at_path():
                    break
                os.close(self._file)
                self._file = self._looked = None
            try:
                yield self._file
            finally:
                if self._file is not None:
                    fcntl.flock(self._file, fcntl.LOCK_UN)
        except OSError as error:
            raise LedgerError(
                f"the witness {self.path} cannot be read or written ({error.strerror}), and without it nothing is "
                f"answered; {stands}",
                "SRD-L063",
            ) from None

    @property
    def _end(self) -> int:
        return self._looked or 0

    def _is_at_path(self) -> bool:
        """Return whether the open file is the one at the path."""
        if self._file is None:
            return False
        found = os.fstat(self._file)
        self._size = found.st_size
        try:
            return os.path.samestat(found, os.stat(self.path))
        except FileNotFoundError:
            return False

    def _is_as_left(self, file: int | None) -> bool:
        """Return whether nobody has written behind the last line that this process knows."""
        if file is None or self._looked is None:
            return False
        if not self._looked:
            return os.pread(file, 1, 0) in (b"", b" ")
        return os.pread(file, 2, self._looked - 1) in (b"\n", b"\n ")

    def _has_room(self, room: int) -> bool:
        """Return whether so much room was behind the last line when `news` last found the file as it was left."""
        return self._looked is not None and self._size - self._looked >= room

    def _look(self, file: int) -> Seen | None:
        """Read the file, and return what it says; a line that a crash cut off is cut away, for it never was."""
        content = _content(file)
        self._whole, end = _merged(self._lines(content)), content.rfind(b"\n") + 1
        if content[end:].strip(b" "):
            os.ftruncate(file, end)
            self._size = end
        self._looked = end
        return self._whole

    def _lines(self, content: bytes) -> tuple[Seen, ...]:
        lines = [_parsed(line, self.path) for line in content.split(b"\n")[:-1]]
        return tuple(lines[max((place for place, seen in enumerate(lines) if seen.anew), default=0) :])

    def _put(self, file: int, seen: Seen) -> None:
        """Write a line behind the last one, over the blanks that are there."""
        line, end = self._next[1] if self._next[0] is seen else _line(seen), self._end
        try:
            if os.pwrite(file, line, end) != len(line):
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        except OSError:
            os.ftruncate(file, end)
            raise
        self._looked = end + len(line)
        self._whole = seen if self._whole is None or seen.anew else _with(self._whole, seen)
        now = time.monotonic()
        if now - self._synced > SYNC_SECONDS:
            os.fsync(file)
            self._synced = now

    def _rewrite(self, old: int) -> int:
        """Replace the file by one line that says the same; whoever has the old one open sees that it is gone."""
        if self._whole is None:
            return old
        scratch = self.path.with_name(f".{self.path.name}.new")
        fresh = os.open(scratch, os.O_RDWR | os.O_CLOEXEC | os.O_CREAT | os.O_TRUNC, 0o600)
        try:
            fcntl.flock(fresh, fcntl.LOCK_EX)
            line = _line(self._whole)
            os.pwrite(fresh, line, 0)
            size = _reserve(fresh, len(line), SPARE)
            os.replace(scratch, self.path)
        except OSError:
            os.close(fresh)
            scratch.unlink(missing_ok=True)
            raise
        self._file, self._looked, self._size = fresh, len(line), size
        os.close(old)
        sync_directory(self.path.parent)
        return fresh

    def __repr__(self) -> str:
        return f"FileWitness({str(self.path)!r})"


def _reserve(file: int, end: int, room: int) -> int:
    """Let so many blanks stand behind `end`, on the disk, or add none and raise; return the size of the file."""
    before = os.fstat(file).st_size
    if before - end >= room:
        return before
    blanks = b" " * (end + room + SPARE - before)
    try:
        if os.pwrite(file, blanks, before) != len(blanks):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        os.fsync(file)
    except OSError:
        os.ftruncate(file, before)
        raise
    return before + len(blanks)


def _merged(lines: tuple[Seen, ...]) -> Seen | None:
    """Return what lines say together."""
    found: Seen | None = None
    for seen in sorted(lines, key=lambda seen: seen.size):
        found = seen if found is None else _with(found, seen)
    return found


def _with(whole: Seen, seen: Seen) -> Seen:
    """Return what a file says that said `whole` and has a line more."""
    older, newer = (whole, seen) if whole.size <= seen.size else (seen, whole)
    return Seen(newer.size, newer.note, {**older.spent, **newer.spent}, whole.anew or seen.anew)


def _content(file: int) -> bytes:
    return os.pread(file, os.fstat(file).st_size, 0)


def _line(seen: Seen) -> bytes:
    """Return canonical JSON, as `_parsed` will demand; written by hand, as everybody waits for it at every commit."""
    spent = ",".join([f'[{_quoted(scope)},"{amount}"]' for scope, amount in sorted(seen.spent.items())])
    anew = "true" if seen.anew else "false"
    return f'{{"anew":{anew},"note":{_quoted(seen.note)},"size":{seen.size},"spent":[{spent}]}}\n'.encode()


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
