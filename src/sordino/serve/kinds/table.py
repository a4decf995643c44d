"""The table of kinds that a service offers: those of the house, of installed packages, and of the settings.

With them come the sorts of data that can be registered.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from importlib import import_module
from importlib.metadata import entry_points

from sordino.serve.refusals import SettingsError

from .kind import Kind
from .sort import Sort

GROUP = "sordino.kinds"
OF_THE_HOUSE = (
    "sordino.serve.questions.kind:QUESTION",
    "sordino.serve.trainings.kind:TRAINING",
    "sordino.serve.trainings.predicted:PREDICTIONS",
    "sordino.serve.surveys.kind:SURVEY",
    "sordino.serve.publications.kind:PUBLICATION",
)
_NAME = re.compile(r"[a-z][a-z0-9-]{0,39}")
_TAKEN = ("run", "jobs", "datasets", "releases", "receipts", "budgets", "ledger")


class Kinds(Mapping[str, Kind]):
    """Kinds by name, and `sorts` of data by name; each of both with where it comes from, for other processes.

    >>> list(Kinds.load(()))
    ['query', 'training', 'predictions', 'survey', 'publication']
    >>> list(Kinds.load(()).sorts)
    ['tables', 'examples', 'survey', 'graph', 'genotypes']
    >>> Kinds.load(()).origin("query")
    'sordino.serve.questions.kind:QUESTION'
    """

    def __init__(self, origins: Mapping[str, str]) -> None:
        self._origins = dict(origins)
        self._found = {name: kind_at(origin) for name, origin in origins.items()}
        self.sorts: dict[str, Sort] = {}
        self.sort_origins: dict[str, str] = {}
        """From a sort to where the kind comes from that brings it along."""
        for kind in self._found.values():
            for sort in kind.sorts:
                if self.sorts.setdefault(sort.name, sort) is not sort:
                    raise _wrong(self.origin(kind.name), f"another kind brings a sort {sort.name!r} of its own along")
                self.sort_origins.setdefault(sort.name, self.origin(kind.name))

    @classmethod
    def load(cls, named: Iterable[str]) -> Kinds:
        """Return the table with what is named as ``module:NAME``; refuse what is no kind, or the second of a name."""
        installed = (each.value for each in entry_points(group=GROUP))
        origins: dict[str, str] = {}
        for origin in dict.fromkeys((*OF_THE_HOUSE, *installed, *named)):
            name = kind_at(origin).name
            if name in origins:
                raise _wrong(origin, f"there is a kind {name!r} already, from {origins[name]}")
            origins[name] = origin
        return cls(origins)

    def origin(self, name: str) -> str:
        """Return where a kind comes from, as ``module:NAME``."""
        return self._origins[name]

    def __getitem__(self, name: str) -> Kind:
        return self._found[name]

    def __iter__(self) -> Iterator[str]:
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


def sort_at(origin: str, name: str) -> Sort:
    """Return the sort of this name that the kind at ``module:NAME`` brings along."""
    return next(sort for sort in kind_at(origin).sorts if sort.name == name)


def _wrong(origin: str, why: str) -> SettingsError:
    return SettingsError(f"the kind {origin!r} does not fit: {why}; name it as module:NAME in kinds", "SRD-S010")
