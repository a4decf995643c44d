"""The house behind the doors: the ledger, the registry, and data sets that are opened when somebody first asks.

What the API, the dashboard and the command line do goes through here: `asking` gives a data set on a gate, which
charges, and `Asked.quoted` the same on what the ledger held at one moment, which cannot.
"""

from __future__ import annotations

import copy
import json
import re
import threading
from collections.abc import Callable
from dataclasses import dataclass
from glob import glob
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from sqlalchemy import Row

from sordino.errors import ArgumentError, SordinoError
from sordino.gate import Policy
from sordino.ledger.ledger import Ledger
from sordino.ledger.scope import Scope
from sordino.query.ask import Ask, DataAccount
from sordino.query.data.dataset import Dataset, open_dataset
from sordino.query.data.declarations_file import from_dict
from sordino.query.data.ownership import Declaration
from sordino.query.data.sources import Source, duckdb_file
from sordino.query.data.strict_yaml import parse
from sordino.query.model.task import Exact, Task

from .identity import Principal
from .price_processes import PriceProcesses
from .quoting import Holdings, Quote
from .refusals import StateError, UnknownError
from .registry import Registry, read_policy
from .settings import Settings
from .slots import SlottedGate
from .watching import Unwatched, Watcher

_LARGEST_DECLARATIONS = 1 << 20


class Opened(DataAccount):
    """A data set that is open, to be asked on one account after the other.

    Its engine is asked one task at a time: a connection has one result at a time, and threads would take each other's.
    """

    def __init__(self, dataset: Dataset) -> None:
        super().__init__(dataset, Quote.__new__(Quote))  # no account yet: `on` gives each request its own
        self._turn = threading.Lock()

    def on(self, account: Any) -> DataAccount:
        """Return the same data set, with everything charged to `account`; what was translated before is shared."""
        found = copy.copy(self)
        found.account = account
        return found

    def days(self, ask: Callable[[DataAccount], Ask]) -> tuple[str, ...]:
        """Return the days that a question reads, where days have budgets of their own."""
        return () if self.dataset.schema.blocks is None else ask(self).days

    def compute(self, task: Task, salt: int) -> Exact:
        """Run a task on the data's engine, after those before it; what comes back is secret."""
        with self._turn:
            return super().compute(task, salt)


@dataclass(frozen=True)
class Asked:
    """A data set that somebody may ask about: open, with the owner's policy."""

    name: str
    opened: Opened
    policy: Policy
    version: int
    """How often it was declared anew."""

    @property
    def scope(self) -> Scope:
        """Who is charged."""
        return Scope("dataset", self.name)

    def quoted(self, holdings: Holdings) -> tuple[DataAccount, Quote]:
        """Return the data set on an account that only quotes."""
        quote = Quote(holdings)
        return self.opened.on(quote), quote


class House:
    """Everything that a service has open. Any number of threads may use it."""

    def __init__(self, settings: Settings, ledger: Ledger, registry: Registry, watcher: Watcher | None = None) -> None:
        self.settings = settings
        self.ledger = ledger
        self.registry = registry
        self.price_processes: PriceProcesses | None = None
        """Where prices are found, if not in this process."""
        self._watcher = watcher or Unwatched()
        self._opened: dict[str, tuple[int, Opened]] = {}
        self._opening = threading.Lock()

    def declared(self, text: str) -> Declaration:
        """Return what a text of declarations says; files that it names must lie in the directory of data."""
        directory, declaration = Path(self.settings.data).resolve(), self.read(text)
        for name, table in declaration.tables.items():
            if not _served(table.source, directory):
                raise ArgumentError(
                    f"the source of table {name!r} lies outside of the directory that this service serves, or is no "
                    "path; move the files there, or set data to where they are",
                    "SRD-A005",
                )
        return declaration

    def read(self, text: str) -> Declaration:
        """Return what a text of declarations says, wherever its files are."""
        if len(text) > _LARGEST_DECLARATIONS:
            raise ArgumentError("declarations are at most 1 MiB long", "SRD-A006")
        return from_dict(parse(text, "the declarations"), Path(self.settings.data).resolve())

    def open_declared(self, declaration: Declaration) -> Dataset:
        """Open what was declared, to see that it can be."""
        return open_dataset(declaration)

    def row(self, who: Principal, name: str) -> Row[Any]:
        """Return the registration of a data set, if there is one that `who` may know of."""
        row = self.registry.dataset(name) if who.may_see(name) else None
        if row is None:
            raise UnknownError("there is no such data set that you may see; GET /api/v1/datasets lists yours")
        return row

    def asked(self, who: Principal, name: str) -> Asked:
        """Return a data set, opened if it was not."""
        row = self.row(who, name)
        known = self._opened.get(name)
        if known is None or known[0] != row.version:
            with self._opening:
                known = self._opened.get(name)
                if known is None or known[0] != row.version:
                    known = self._opened[name] = row.version, self._reopened(who, row.declarations)
        return Asked(name, known[1], read_policy(json.loads(row.policy)), known[0])

    def _reopened(self, who: Principal, declarations: str) -> Opened:
        """Open what was registered before; where that fails now, only an owner is told why."""
        try:
            return Opened(self.open_declared(self.declared(declarations)))
        except SordinoError:
            if who.role == "owner":
                raise
        raise StateError("this data set cannot be opened at the moment; its owner must see to it", "SRD-S018")

    def held(self, who: Principal, asked: Asked, project: str | None = None, days: tuple[str, ...] = ()) -> Holdings:
        """Return what a data set and all that is charged with it hold now."""
        return Holdings.of(self.ledger, asked.scope, who.subject, project, days)

    def asking(self, who: Principal, asked: Asked, /, **gate: Any) -> tuple[DataAccount, SlottedGate]:
        """Return a data set on a gate, by which everything is charged before it is run."""
        found = SlottedGate(
            self.ledger,
            asked.scope,
            who.subject,
            policy=asked.policy,
            slot=self.settings.slot_seconds,
            watcher=self._watcher,
            **gate,
        )
        return asked.opened.on(found), found

    def close(self) -> None:
        """Give everything back."""
        self.ledger.close()
        self.registry.close()


def _served(source: Any, directory: Path) -> bool:
    """Return whether a source is on a server, or a file in a directory."""
    try:
        path = _path_of(source)
        return path is None or _within(path, directory)
    except ValueError:  # brackets that are no address, or a NUL
        return False


def _path_of(source: Any) -> str | None:
    """Return the file or the pattern of files that a source names, or None if it is on a server."""
    where = source.where if isinstance(source, Source) else source
    if not isinstance(where, str) or "://" not in where:
        return where if isinstance(where, str) else None
    return str(duckdb_file(where)) if urlsplit(where).scheme == "duckdb" else None


def _within(path: str, directory: Path) -> bool:
    """Return whether all files that a path or a pattern names lie in a directory, and links lead nowhere else."""
    plain = re.split(r"[*?[]", path, maxsplit=1)[0]
    if plain != path:  # what stands before the first wildcard may be the beginning of a longer name
        plain = plain.rpartition("/")[0] or "/"
    if ".." in Path(path).parts or not Path(plain).resolve().is_relative_to(directory):
        return False
    return all(Path(each).resolve().is_relative_to(directory) for each in glob(path, recursive=True))


Stage = Callable[[str], None]
"""Told how far a run is: planned, reserved, running, settled or failed."""
