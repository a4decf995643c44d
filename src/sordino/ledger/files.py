"""Files of releases: what is too large for a row, in one directory, each named by the SHA-256 of its bytes.

A file is written beside its name, synced, given its name, and the directory synced, before the entry that lists it is
appended. So whatever was settled is there; what a crash left behind is a file that nobody lists and nobody was given.

**Guarantee**: `read` and `fault` believe nothing but bytes whose digest is the name that an entry lists.
"""

from __future__ import annotations

import hashlib
import io
import os
import tempfile
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO

from sordino.errors import ArgumentError, LedgerError

from .keys import sync_directory
from .manifest import Listed, Manifest, check_manifest

LARGE_BODY = 64 * 1024
"""A body of more bytes than this is a file."""
_CHUNK = 1 << 20


class FileStore:
    """A directory for files of releases, made when the first is put; or none, where `directory` is None.

    Without a directory (a ledger on a server that was opened without ``files=``) bodies stay in their rows, however
    large, and a release that has files of its own is refused: before the charge, if its plan says so.
    """

    def __init__(self, directory: Path | None) -> None:
        self.directory = directory

    def check_place(self) -> None:
        """Refuse where there is no place for files, before anything is charged for what has some."""
        if self.directory is None:
            raise ArgumentError(
                "this plan releases files, and this ledger has no place for them; open it with files=, a directory "
                "that all who open the ledger can reach",
                "SRD-L075",
            )

    def put_all(self, files: Mapping[str, bytes | Path]) -> Manifest:
        """Write all files and return their manifest."""
        if not files:
            return ()
        self.check_place()
        check_manifest(tuple(Listed(name, "0" * 64, 0) for name in sorted(files)))
        return tuple(Listed(name, *self.put(files[name])) for name in sorted(files))

    def keeps(self, body: bytes) -> bool:
        """Whether a body is large enough to be a file, and there is a place."""
        return len(body) > LARGE_BODY and self.directory is not None

    def put(self, content: bytes | Path) -> tuple[str, int]:
        """Write bytes, or a copy of a file, under their digest; return digest and size. Synced when it returns."""
        self.check_place()
        directory = Path(self.directory or "")
        try:
            _make(directory)
            handle, scratch = tempfile.mkstemp(prefix=".", dir=directory)
            try:
                with os.fdopen(handle, "wb") as written:
                    with io.BytesIO(content) if isinstance(content, bytes) else content.open("rb") as source:
                        digest, size = _copy(source, written)
                    written.flush()
                    os.fsync(written.fileno())
                os.replace(scratch, directory / digest)
            except BaseException:
                with suppress(OSError):
                    os.unlink(scratch)
                raise
            sync_directory(directory)
        except OSError:
            raise LedgerError(
                f"a file of the release cannot be read, or not be written to {directory}; see that there is room, and "
                "who owns it",
                "SRD-L050",
            ) from None
        return digest, size

    def read(self, digest: str) -> bytes:
        """Return the bytes of a file, or raise `LedgerError` if they are missing or altered."""
        try:
            found = (Path(self.directory or "") / digest).read_bytes() if self.directory is not None else b""
        except OSError:
            found = b""
        if hashlib.sha256(found).hexdigest() != digest:
            raise LedgerError(
                f"the file {digest} of a release is missing, or altered since; put it back into {self.directory}",
                "SRD-L076",
            )
        return found


def fault(directory: Path | None, digest: str) -> str | None:
    """Return what is wrong with the file of a digest, in one word, or None; reads all of it."""
    if directory is None:
        return "missing"
    try:
        with (directory / digest).open("rb") as source:
            return None if _copy(source, None)[0] == digest else "altered"
    except OSError:
        return "missing"


def faults(directory: Path | None, listed: Iterable[Listed]) -> list[str]:
    """Return what is wrong with files, each by its name and digest."""
    found = ((each, fault(directory, each.digest)) for each in listed)
    return [f"the file {each.name} ({each.digest}) is {wrong}" for each, wrong in found if wrong is not None]


def _copy(source: BinaryIO, target: BinaryIO | None) -> tuple[str, int]:
    digest, size = hashlib.sha256(), 0
    while chunk := source.read(_CHUNK):
        digest.update(chunk)
        size += len(chunk)
        if target is not None:
            target.write(chunk)
    return digest.hexdigest(), size


def _make(directory: Path) -> None:
    if not directory.is_dir():
        directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        sync_directory(directory.parent)
