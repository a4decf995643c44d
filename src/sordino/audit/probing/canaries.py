"""Canaries: values that were planted in the data, and must come back in no body, error or header.

Everything that any probe hears is searched. A canary is told by its number, never by its value.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence

from sordino.errors import ArgumentError

from .finding import Notebook, Probed
from .line import Seen

_SHORTEST = 6
"""Shorter ones turn up by chance, in ids and noise."""


class Ears:
    """Listens to everything that services say."""

    def __init__(self, canaries: Sequence[str | float]) -> None:
        self._spellings = [_spellings(each) for each in canaries]
        self._note = Notebook("canaries")
        self._lock = threading.Lock()

    def __call__(self, seen: Seen) -> None:
        """Search a response for canaries, its headers included."""
        said = "\n".join((seen.text, *(f"{name}: {value}" for name, value in seen.headers.items())))
        with self._lock:
            for number, spellings in enumerate(self._spellings, start=1):
                told = any(each in said for each in spellings)
                words = f"canary {number} in a response with status {seen.status}"
                self._note.check(not told, "a value of the data comes back", words, seen.request)

    def probed(self) -> Probed:
        """Return what was heard."""
        return self._note.probed(None if self._spellings else "no canaries were named")


def _spellings(canary: str | float) -> tuple[str, ...]:
    """Return how a value may be spelt; a number also with a comma and with fewer digits behind the point."""
    text = canary if isinstance(canary, str) else repr(canary)
    if len(text) < _SHORTEST:
        raise ArgumentError(
            f"a canary must have at least {_SHORTEST} characters, or it would be found by chance", "SRD-V042"
        )
    if isinstance(canary, str):
        return tuple({text, text.encode("unicode_escape").decode()})
    whole, _, rest = text.partition(".")
    cut = [f"{whole}.{rest[:digits]}" for digits in range(2, len(rest) + 1)] if len(whole) > 3 else [text]
    return tuple({text, text.replace(".", ","), *cut})
