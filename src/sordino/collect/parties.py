"""Parties of a survey: who takes its reports apart from the analyser, where, and by which key. All of it is public.

Under shuffled trust the analyser and the shuffler; with two servers the leader and the helper. They are part of the
survey's digest, so a device answers those whom the survey names, and both of them say the same survey.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from sordino.errors import ArgumentError

from .sealing import public_key

_LONGEST = 500
_PLAIN = re.compile(r"https?://[A-Za-z0-9.\-\[\]:]+(/[A-Za-z0-9._~\-/]*)?")
"""No user, query or fragment, and nothing that means something in a header."""


@dataclass(frozen=True)
class Party:
    """One of two: its address, as https://b.example.org, and its public key."""

    url: str
    key: str

    @property
    def public(self) -> bytes:
        """The bytes of its key."""
        return public_key(self.key)

    def to_plain(self) -> dict[str, str]:
        """Return it as JSON holds it."""
        return {"url": self.url, "key": self.key}

    @property
    def name(self) -> str:
        """What people are told of it: its host."""
        return urlsplit(self.url).netloc or "this machine"


def party(given: Any) -> Party:
    """Return a party as it is declared: a mapping of url and key."""
    if isinstance(given, Party):
        return given
    if not isinstance(given, Mapping) or set(given) != {"url", "key"} or not isinstance(given["url"], str):
        raise ArgumentError("a party of a survey is declared by its url and its key, and nothing else", "SRD-C714")
    url = given["url"].rstrip("/")
    if url and not is_private(url):
        raise ArgumentError(
            "the address of a party begins with https:// (http:// on this machine alone), as https://b.example.org",
            "SRD-C714",
        )
    public_key(given["key"])
    return Party(url, given["key"])


def parties(given: Iterable[Any]) -> tuple[Party, ...]:
    """Return the parties of a survey: none, or two that are not the same."""
    found = tuple(party(each) for each in given)
    if found and (len(found) != 2 or found[0].key == found[1].key):
        raise ArgumentError(
            "a survey has two parties with keys of their own, or none: whoever holds both keys could undo what the "
            "other one is for",
            "SRD-C714",
        )
    return found


def is_private(url: str) -> bool:
    """Return whether nobody between here and an address can read what is sent to it."""
    try:
        found = urlsplit(url)
        local = found.hostname in ("localhost", "127.0.0.1", "::1")
        plain = found.port is None or found.port >= 0
    except ValueError:
        return False
    bare = _PLAIN.fullmatch(url) is not None
    secure = found.scheme == "https" or (found.scheme == "http" and local)
    return len(url) <= _LONGEST and bool(found.hostname) and secure and plain and bare
