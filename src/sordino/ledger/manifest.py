"""Manifests: which files belong to a release, each by name, digest and size. Entries hold them, and so do receipts."""

from __future__ import annotations

import re
from typing import Any, NamedTuple

from .entry import Spelling, ascending, digests, is_count, require

MOST_FILES = 1000
"""The files that one release may have; pack more into one."""

_NAME = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9._-]{0,199}", re.ASCII)


class Listed(NamedTuple):
    """One file of a release: what it is called, the SHA-256 of its bytes, and how many there are."""

    name: str
    digest: str
    size: int


Manifest = tuple[Listed, ...]


def _read(plain: Any) -> Manifest:
    return tuple(Listed(name, digest, size) for name, digest, size in plain)


MANIFEST = Spelling(lambda files: [tuple(each) for each in files], _read)


def check_manifest(files: Manifest) -> None:
    """Refuse names that are no plain names of files, or repeat, and what is no digest or size."""
    if not files:
        return
    require(len(files) <= MOST_FILES, f"a release has at most {MOST_FILES} files")
    require(all(_NAME.fullmatch(each.name) for each in files), "a file is named by letters, digits, dots and dashes")
    require(all(is_count(each.size) for each in files), "size must be a whole number")
    digests(*(each.digest for each in files))
    ascending([each.name for each in files], "files")
