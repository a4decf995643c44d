"""The table of kinds that a service offers: those of the house, of installed packages, and of the settings."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import lru_cache
from importlib import import_module
from importlib.metadata import entry_points

from sordino.serve.refusals import SettingsError

from .kind import Kind

GROUP = "sordino.kinds"
OF_THE_HOUSE = ("sordino.serve.questions.kind:QUESTION",)
_NAME = re.compile(r"[a-z][a-z0-9-]{0,39}")
_TAKEN = ("run", "jobs", "datasets", "releases", "receipts", "budgets", "ledger")


class Kinds(Mapping[str, Kind]):
    """Kinds by name; each also knows where it comes from, so that another process can load the same.

    >>> list(Kinds.load(())), Kinds.load(()).origin("query")
    (['query'], 'sordino.serve.questions.kind:QUESTION')
    """

    def __init__(self, found: Mapping[str, Kind], origins: Mapping[str, str]) -> None:
        self._found = dict(found)
        self._origins = dict(origins)

    @classmethod
    def load(cls, named: Iterable[str]) -> Kinds:
        """Return the table with what is named as ``module:NAME``; refuse what is no kind, or the second of a name."""
        installed = (each.value for each in entry_points(group=GROUP))
        found: dict[str, Kind] = {}
        origins: dict[str, str] = {}
        for origin in dict.fromkeys((*OF_THE_HOUSE, *installed, *named)):
            kind = kind_at(origin)
            if kind.name in found:
                raise _wrong(origin, f"there is a kind {kind.name!r} already, from {origins[kind.name]}")
            found[kind.name], origins[kind.name] = kind, origin
        return cls(found, origins)

    def origin(self, name: str) -> str:
        """Return where a kind comes from, as ``module:NAME``."""
        return self._origins[name]

    def __getitem__(self, name: str) -> Kind:
        return self._found[name]

    def __iter__(self):  # type: ignore[no-untyped-def]
        return iter(self._found)

    def __len__(self) -> int:
        return len(self._found)


@lru_cache(maxsize=64)
def kind_at(origin: str) -> Kind:
    """Return the kind at ``module:NAME``, or say what is wrong with it."""
    module, _, name = origin.partition(":")
    try:
        kind = getattr(import_module(module), name)
    except (ImportError, ValueError, AttributeError) as error:
        raise _wrong(origin, f"it cannot be loaded ({type(error).__name__})") from None
    if not isinstance(kind, Kind):
        raise _wrong(origin, f"it is a {type(kind).__name__}, and not a sordino.serve.kinds.kind.Kind")
    if not _NAME.fullmatch(kind.name) or kind.name in _TAKEN:
        raise _wrong(origin, "its name must be lower case letters, digits and dashes, and not that of another address")
    return kind


def _wrong(origin: str, why: str) -> SettingsError:
    return SettingsError(f"the kind {origin!r} does not fit: {why}; name it as module:NAME in kinds", "SRD-S010")
