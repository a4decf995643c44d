"""The house behind the doors: the ledger, the registry, and data sets that are opened when somebody first asks.

What the API, the dashboard and the command line do goes through here: `asking` gives a data set on a gate, which
charges, and `Asked.quoted` the same on what the ledger held at one moment, which cannot.
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
from sordino.accounting.any_account import AnyAccount
from sordino.accounting.work import Stage, untold
from sordino.data.dataset import Dataset, open_dataset
from sordino.data.declarations_file import from_dict
from sordino.data.ownership import Declaration
from sordino.data.sources import Source, duckdb_file
from sordino.data.strict_yaml import parse
from sordino.errors import ArgumentError, SordinoError
from sordino.gate import Gate, Policy
from sordino.ledger.account import LedgerAccount
from sordino.ledger.ledger import Ledger
from sordino.ledger.scope import Scope
from sordino.query.ask import TableAccount
from sordino.query.engine.memory import Memory
from sordino.query.sql.views import check_views
from sordino.serve.keeping.identity import Principal
from sordino.serve.keeping.registry import Registry, read_policy
from sordino.serve.kinds.kind import Kind, Request
from sordino.serve.kinds.table import Kinds
from sordino.serve.refusals import StateError, UnknownError
from sordino.serve.settings import Settings
from sordino.serve.witness.watching import Unwatched, Watcher

from .price_processes import PriceProcesses
from .quoting import Holdings, Quote
from .slots import Slots

_LARGEST_DECLARATIONS = 1 << 20


class Opened:
    """A data set that is open, to be asked on one account after the other."""

    def __init__(self, dataset: Dataset) -> None:
        check_views(dataset.schema)
        self.dataset = dataset
        self._memory = Memory(dataset.schema, dataset.table)

    def on(self, account: AnyAccount) -> TableAccount:
        """Return the data set with everything charged to `account`; what was translated before is shared."""
        return TableAccount(self.dataset, account, self._memory)


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

    def days(self, kind: Kind, request: Request) -> tuple[str, ...]:
        """Return the days that a request reads, where days have budgets of their own."""
        if self.opened.dataset.schema.blocks is None:
            return ()
        return kind.days(self.opened.on(unlimited("a request is read for the days in it, and not run")), request)

    def quoted(self, holdings: Holdings) -> tuple[TableAccount, Quote]:
        """Return the data set on an account that only quotes."""
        quote = Quote(holdings)
        return self.opened.on(quote), quote


class Premises:
    """Everything that a service has open. Any number of threads may use it."""

    def __init__(self, settings: Settings, ledger: Ledger, registry: Registry, watcher: Watcher | None = None) -> None:
        self.settings = settings
        self.ledger = ledger
        self.registry = registry
        self.kinds = Kinds.load(settings.kinds)
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
        found = open_dataset(declaration)
        check_views(found.schema)
        return found

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
    ) -> TableAccount:
        """Return a data set on a gate, by which everything is charged before it is run.

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
