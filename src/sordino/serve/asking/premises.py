"""The house behind the doors: the ledger, the registry, and data sets that are opened when somebody first asks.

What the API, the dashboard and the command line do goes through here: `asking` gives what is protected on a gate, which
charges, and `Asked.quoted` what was declared about it on what the ledger held at one moment, which cannot.
"""

from __future__ import annotations

import json
import re
import threading
from dataclasses import dataclass
from glob import glob
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from sqlalchemy import Row

from sordino.accounting.account import unlimited
from sordino.accounting.work import Stage, untold
from sordino.data.account import DataAccount, Protected, blocks_of, check_protected
from sordino.data.declarations_file import TABLES
from sordino.data.ownership import checked_name
from sordino.data.sources import Source, duckdb_file
from sordino.data.strict_yaml import parse
from sordino.errors import ArgumentError, SordinoError
from sordino.gate import Gate, Policy
from sordino.ledger.account import LedgerAccount
from sordino.ledger.ledger import Ledger
from sordino.ledger.scope import Scope
from sordino.serve.keeping.identity import Principal
from sordino.serve.keeping.registry import Registry, read_policy
from sordino.serve.kinds.kind import Kind, Request
from sordino.serve.kinds.sort import On, Sort
from sordino.serve.kinds.table import Kinds
from sordino.serve.refusals import StateError, UnknownError
from sordino.serve.settings import Settings
from sordino.serve.witness.watching import Unwatched, Watcher

from .price_processes import PriceProcesses
from .quoting import Holdings, Quote
from .slots import Slots
from .works import Works

_LARGEST_DECLARATIONS = 1 << 20


@dataclass(frozen=True)
class Declared:
    """What was declared, as its sort reads it."""

    sort: Sort
    said: Any


class Opened:
    """What is protected, open, to be asked on one account after the other."""

    def __init__(self, sort: Sort, protected: Protected) -> None:
        self.sort = sort
        self.protected = protected
        self.outline = sort.outline(protected)
        self.on: On = sort.on(protected)
        """Puts it on an account, by which everything is charged."""
        self.on_outline: On = sort.on(self.outline)
        """Puts what was declared on an account; there is no data behind it."""


@dataclass(frozen=True)
class Asked:
    """What somebody may ask about: open, with the owner's policy."""

    name: str
    opened: Opened
    policy: Policy
    version: int
    """How often it was declared anew."""

    @property
    def scope(self) -> Scope:
        """Who is charged."""
        return Scope("dataset", self.name)

    def days(self, kind: Kind, request: Request) -> tuple[str, ...]:
        """Return the days that a request reads, where days have budgets of their own."""
        if blocks_of(self.opened.protected) is None:
            return ()
        return kind.days(self.opened.on_outline(unlimited("read for the days in it, and not run")), request)

    def quoted(self, holdings: Holdings) -> tuple[DataAccount[Any], Quote]:
        """Return what was declared on an account that only quotes."""
        quote = Quote(holdings)
        return self.opened.on_outline(quote), quote


class Premises:
    """Everything that a service has open. Any number of threads may use it."""

    def __init__(self, settings: Settings, ledger: Ledger, registry: Registry, watcher: Watcher | None = None) -> None:
        self.settings = settings
        self.ledger = ledger
        self.registry = registry
        self.kinds = Kinds.load(settings.kinds)
        self.price_processes: PriceProcesses | None = None
        """Where prices are found, if not in this process."""
        self.works = Works()
        """Work that stays open, as far as this process has it at hand."""
        self._watcher = watcher or Unwatched()
        self._opened: dict[str, tuple[int, Opened]] = {}
        self._opening = threading.Lock()

    def declared(self, text: str) -> Declared:
        """Return what a text of declarations says; files that it names must lie in the directory of data."""
        directory, declared = Path(self.settings.data).resolve(), self.read(text)
        for name, source in declared.sort.sources(declared.said).items():
            if not _served(source, directory):
                raise ArgumentError(
                    f"the source of {name} lies outside of the directory that this service serves, or is no "
                    "path; move the files there, or set data to where they are",
                    "SRD-A005",
                )
        return declared

    def read(self, text: str) -> Declared:
        """Return what a text of declarations says, wherever its files are."""
        if len(text) > _LARGEST_DECLARATIONS:
            raise ArgumentError("declarations are at most 1 MiB long", "SRD-A006")
        given = parse(text, "the declarations")
        name = given.get("sort", TABLES) if isinstance(given, dict) else TABLES
        sort = self.kinds.sorts.get(name) if isinstance(name, str) else None
        if sort is None:
            raise ArgumentError(
                f"the declarations are of a sort that is not known here; there are {', '.join(self.kinds.sorts)}",
                "SRD-A006",
            )
        return Declared(sort, sort.read(given, Path(self.settings.data).resolve()))

    def open_declared(self, declared: Declared) -> Opened:
        """Open what was declared; refuse what no budget can be kept for."""
        found = declared.sort.open(declared.said)
        check_protected(found)
        checked_name("the data set's name", found.name)
        return Opened(declared.sort, found)

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
            return self.open_declared(self.declared(declarations))
        except SordinoError:
            if who.role == "owner":
                raise
        raise StateError("this data set cannot be opened at the moment; its owner must see to it", "SRD-S018")

    def held(self, who: Principal, asked: Asked, project: str | None = None, days: tuple[str, ...] = ()) -> Holdings:
        """Return what a data set and all that is charged with it hold now."""
        return Holdings.of(self.ledger, asked.scope, who.subject, project, days)

    def asking(
        self,
        who: Principal,
        asked: Asked,
        *,
        project: str | None = None,
        approved: bool = False,
        key: str | None = None,
        digest: str | None = None,
        stage: Stage = untold,
    ) -> DataAccount[Any]:
        """Return what is protected on a gate, by which everything is charged before it is run.

        `key` is the digest of an idempotency key, and `digest` of all that was asked under it.
        """
        account = LedgerAccount(self.ledger, asked.scope, who.subject, project=project)
        guard = Slots(self._watcher, self.settings.slot_seconds)
        gate = Gate(account, policy=asked.policy, approved=approved, key=key, asked=digest, stage=stage, guard=guard)
        return asked.opened.on(gate)

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
