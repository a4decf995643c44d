"""The service: the one object that the API, the dashboard and the command line share.

Every method takes who is asking first, refuses what their role does not allow, and returns plain dictionaries that JSON
can hold. Nothing here knows of HTTP.

>>> import tempfile
>>> from sordino.serve.keeping.identity import local_owner
>>> from sordino.serve.settings import Settings
>>> folder = tempfile.TemporaryDirectory()
>>> service = Service.open(Settings(database=f"{folder.name}/budget.db", data=folder.name))
>>> service.datasets(local_owner())
[]
>>> service.close(); folder.cleanup()
"""

from __future__ import annotations

import os
import threading
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, Self

from sordino import noise
from sordino.accounting.neighbours import Neighbours
from sordino.accounting.work import Stage, untold
from sordino.errors import FrozenError, LedgerError
from sordino.ledger.ledger import Ledger
from sordino.ledger.verify import Progress

from . import owning
from .asking import requests
from .asking.apart import Here
from .asking.jobs import Job, Jobs
from .asking.premises import Premises
from .asking.requests import key_digest
from .keeping.identity import Identities, Principal
from .keeping.registry import Registry, random_hex
from .kinds.kind import Kind
from .proposing import proposal
from .refusals import BusyError, SettingsError, UnknownError
from .settings import Settings
from .telling import auditing, catalogue, proofs
from .telling.archive import Archive
from .telling.budgets import report
from .telling.journal import Journal
from .telling.verifying import Verifying
from .witness.watching import open_ledger

Request = Mapping[str, Any]
Plain = dict[str, Any]

_SECRET_BYTES = 32


class Service:
    """A ledger, the data sets that are charged to it, and who may do what. Build it with `open`."""

    def __init__(self, house: Premises, identities: Identities) -> None:
        self.house = house
        self.settings = house.settings
        self.identities = identities
        self.journal = Journal(house.ledger)
        self.jobs = Jobs(house)
        self._archive = Archive(house, self.journal)
        self._verifying = Verifying(house.ledger)
        self._verify_turn = threading.Lock()

    @classmethod
    def open(cls, settings: Settings) -> Service:
        """Open the ledger and the registry, both made if they are missing; a ledger that is not sound is frozen."""
        ledger, witness = open_ledger(settings)
        try:
            secret = _secret(settings)
            registry = Registry(settings.database)
        except BaseException:
            ledger.close()
            raise
        return cls(Premises(settings, ledger, registry, witness), Identities(registry.engine, secret))

    def close(self) -> None:
        """Wait for runs that have begun, then give files and connections back."""
        self.jobs.close()
        self._verifying.close()
        self.house.close()

    @property
    def ledger(self) -> Ledger:
        """The ledger that everything is charged to."""
        return self.house.ledger

    @property
    def frozen(self) -> FrozenError | None:
        """Why nothing is charged or answered, or None."""
        return self.house.ledger.frozen

    # Asking

    def datasets(self, who: Principal) -> list[Plain]:
        """Return the data sets that `who` may know of, in short."""
        return catalogue.datasets(self.house, who)

    def dataset(self, who: Principal, name: str) -> Plain:
        """Return what is publicly known about a data set: unit, tables, columns, policy, budget."""
        return catalogue.dataset(self.house, who, name)

    def kind(self, name: str) -> Kind:
        """Return a kind that is offered here."""
        if name not in self.house.kinds:
            raise UnknownError(f"there is no such kind here; there are {', '.join(self.house.kinds)}")
        return self.house.kinds[name]

    def price(self, who: Principal, kind: str, request: Request) -> Plain:
        """Return what a request costs and what its kind says of it; touches no data (see ``requests.py``)."""
        return requests.price(self.house, who, self.kind(kind), request)

    def run(self, who: Principal, kind: str, request: Request, key: str | None = None, stage: Stage = untold) -> Plain:
        """Charge a request, then return what is released: ``{id, kind, dataset, request, answer, receipt, replayed}``.

        Work of hours becomes a job, which is waited for.
        """
        row = self.kind(kind)
        if row.apart:
            return self.jobs.wait(self.jobs.submit(who, row, request, key), stage)
        return requests.run(self.house, who, row, request, key_digest(who, key), Here(stage))

    def submit(self, who: Principal, kind: str, request: Request, key: str | None = None) -> Job:
        """Begin a run in a thread or a process of its own."""
        return self.jobs.submit(who, self.kind(kind), request, key)

    # What was released

    def releases(
        self, who: Principal, *, dataset: str | None = None, before: int | None = None, limit: int = 50
    ) -> list[Plain]:
        """Return the newest releases: an analyst's own, or all; `before` is the `position` of the last one seen."""
        return self._archive.releases(who, dataset, before, limit)

    def release(self, who: Principal, identifier: str) -> Plain:
        """Return one release with its answer."""
        return self._archive.release(who, identifier)

    def table(self, who: Principal, identifier: str) -> str:
        """Return a release as comma-separated values."""
        return self._archive.table(who, identifier)

    def receipt(self, who: Principal, identifier: str) -> str:
        """Return a receipt as the JSON text that verifies offline."""
        return self._archive.receipt(who, identifier)

    def budget(self, who: Principal, dataset: str) -> Plain:
        """Return all about the budget of a data set (see ``budgets.py``)."""
        self.house.row(who, dataset)
        return report(self.house, self.journal, who, "dataset", dataset)

    def scope_budget(self, who: Principal, kind: str, name: str) -> Plain:
        """Return the same for an analyst, a project or a group; analysts see their own alone."""
        if (kind, name) != ("analyst", who.subject):
            who.must_see_all()
        return report(self.house, self.journal, who, kind, name)

    def scopes(self, who: Principal) -> list[str]:
        """Return all scopes that have budgets, as ``kind:name``."""
        who.must_see_all()
        return [scope.text for scope in self.ledger.look(lambda state: state.scopes)]

    def transparency(self, who: Principal | None, dataset: str) -> Plain:
        """Return how a data set's budget was spent and by which noise, without answers; for all, if the owner says."""
        return self._archive.transparency(who, dataset)

    def transparent(self, who: Principal | None) -> list[str]:
        """Return the names of the data sets whose transparency page `who`, or anybody, may read."""
        return self._archive.transparent(who)

    # The ledger itself

    def checkpoint(self, who: Principal) -> Plain:  # noqa: ARG002  (whoever is known may have it)
        """Return the newest signed checkpoint and the public key."""
        return proofs.checkpoint(self.ledger)

    def entries(self, who: Principal, start: int, end: int) -> list[Plain]:
        """Return entries from `start` up to `end`, at most a thousand."""
        who.must_see_all()
        return proofs.entries(self.ledger, start, end)

    def inclusion(self, who: Principal, position: int, size: int | None = None) -> Plain:  # noqa: ARG002
        """Return the proof that an entry is in the ledger."""
        return proofs.inclusion(self.ledger, position, size)

    def consistency(self, who: Principal, old: int, new: int | None = None) -> Plain:  # noqa: ARG002
        """Return the proof that the ledger only grew."""
        return proofs.consistency(self.ledger, old, new)

    def verify(self, who: Principal, progress: Progress | None = None) -> Plain:
        """Read the whole ledger again and judge it; one that is not sound freezes. One at a time: it takes long."""
        who.must_be("owner", "auditor")
        if not self._verify_turn.acquire(blocking=False):
            raise BusyError("the ledger is being verified already; ask again in a while", "SRD-S014", 5.0)
        try:
            return proofs.verify(self.ledger, progress)
        finally:
            self._verify_turn.release()

    def begin_verification(self, who: Principal) -> Plain:
        """Begin to verify in a thread, to be watched by `verification`; one at a time (see ``verifying.py``)."""
        who.must_be("owner", "auditor")
        return self._verifying.begin(who.subject)

    def verification(self, who: Principal) -> Plain:
        """Return how far the newest verification of this process is, and what it found."""
        who.must_be("owner", "auditor")
        return self._verifying.state()

    def ledger_state(self, who: Principal) -> Plain:
        """Return whether the ledger is frozen and why, its size and key, and what its witness remembers."""
        who.must_be("owner", "auditor")
        return auditing.state(self.ledger)

    def newest_entries(self, who: Principal, before: int | None = None, limit: int = 50, **only: str | None) -> Plain:
        """Return entries from the newest on, also of a frozen ledger; `only` a `kind` or a `scope`."""
        who.must_see_all()
        return auditing.newest(self.ledger, before, limit, **only)

    def entry(self, who: Principal, position: int) -> Plain:
        """Return one entry with its proof."""
        who.must_see_all()
        return auditing.entry(self.ledger, position)

    def check_receipt(self, who: Principal, text: str) -> Plain:  # noqa: ARG002  (whoever is known may ask)
        """Return whether a receipt holds under this ledger's key, what it proves, or which part is wrong."""
        return auditing.check_receipt(self.ledger, text)

    def add_checkpoint(
        self,
        who: Principal,
        key: str,
        note: str,
        old_size: int,
        proof: Iterable[str],
        spent: Mapping[str, str],
        signature: str,
        *,
        anew: bool = False,
    ) -> Plain:
        """Be the witness of another ledger: remember its newest checkpoint, if it extends what is remembered.

        Its key signs all of it (``told.py``). That it begins `anew` is for owners to tell; else who told of it first.
        """
        who.must_be(*(("owner",) if anew else ("owner", "auditor")))
        told = proofs.Told(key, note, old_size, tuple(proof), dict(spent), anew, signature)
        return proofs.add_checkpoint(self.house, told, who)

    def witnessed(self, who: Principal, key: str) -> Plain:
        """Return what is remembered of another ledger: of one's own, or as an owner of any."""
        who.must_be("owner", "auditor")
        return proofs.witnessed(self.house, key, who)

    # Owners

    def propose(self, who: Principal, name: str, source: str, unit: str) -> str:
        """Return declarations to begin with, from names and types of columns alone; stores nothing."""
        who.must_be("owner")
        return proposal(self.house, name, source, unit, "check it again, then register it.")

    def declarations(self, who: Principal, dataset: str) -> str:
        """Return what was declared about a data set, as it was written, whether or not it can be opened now."""
        who.must_be("owner")
        return str(self.house.row(who, dataset).declarations)

    def preview(self, who: Principal, declarations: str) -> Plain:
        """Return what declarations would make public, as `dataset` would; opens the source, stores nothing."""
        who.must_be("owner")
        return catalogue.preview(self.house, declarations)

    def register(
        self,
        who: Principal,
        declarations: str,
        budget: Mapping[str, Any] | None = None,
        policy: Mapping[str, Any] | None = None,
    ) -> Plain:
        """Register a data set, or declare it anew; under its name it keeps its budget (see ``owning.py``)."""
        who.must_be("owner")
        return self.dataset(who, owning.register(self.house, who, declarations, budget, policy))

    def set_budget(self, who: Principal, dataset: str, budget: Mapping[str, Any], reason: str) -> Plain:
        """Raise or lower a data set's budget; who did it and why is in the ledger for good."""
        who.must_be("owner")
        owning.set_budget(self.house, who, dataset, budget, reason)
        return self.budget(who, dataset)

    def set_policy(self, who: Principal, dataset: str, policy: Mapping[str, Any]) -> Plain:
        """Change least, most, approval (parts of the budget), pause (seconds) or degrade of a data set."""
        who.must_be("owner")
        return owning.set_policy(self.house, who, dataset, policy)

    def cap(
        self,
        who: Principal,
        scope_kind: str,
        name: str,
        budget: Mapping[str, Any],
        refresh: str | int | None = None,
        *,
        unit: str | None = None,
        neighbours: str = Neighbours.ADD_REMOVE.value,
        reason: str = "changed by the owner",
    ) -> Plain:
        """Give an analyst, a project or a group (of data sets that hold the same people; with `unit`) a budget.

        A group under replace-one takes data sets under add-remove as well.
        """
        who.must_be("owner")
        owning.cap(self.house, who, scope_kind, name, budget, refresh, unit, reason, Neighbours(neighbours))
        return self.scope_budget(who, scope_kind, name)

    def tokens(self, who: Principal) -> list[Plain]:
        """Return all tokens without what would let anybody use them."""
        who.must_be("owner")
        return self.identities.tokens()

    def issue_token(
        self, who: Principal, subject: str, role: str, datasets: Iterable[str] | None = None, days: int = 90
    ) -> str:
        """Return a new token, which is shown this once; `datasets` of None means all, now and later."""
        who.must_be("owner")
        return self.identities.issue(who.subject, subject, role, datasets, days)

    def revoke_token(self, who: Principal, identifier: str) -> None:
        """End a token and every session that began with it."""
        who.must_be("owner")
        self.identities.revoke(identifier)
        self._outdate_copies()

    def members(self, who: Principal) -> list[Plain]:
        """Return everybody who may come in by single sign-on."""
        who.must_be("owner")
        return self.identities.members()

    def admit(self, who: Principal, subject: str, role: str, datasets: Iterable[str] | None = None) -> None:
        """Let somebody come in by single sign-on; `subject` is what the issuer calls them."""
        who.must_be("owner")
        self.identities.admit(who.subject, subject, role, datasets)
        self._outdate_copies()

    def dismiss(self, who: Principal, subject: str) -> None:
        """Let somebody come in no more."""
        who.must_be("owner")
        self.identities.dismiss(subject)
        self._outdate_copies()

    def _outdate_copies(self) -> None:
        """Let the ledger grow, so that no copy in which somebody still has a right passes for the newest."""
        with suppress(LedgerError):  # frozen or out of reach: what was decided holds all the same
            self.ledger.mark()

    def approvals(self, who: Principal) -> list[Plain]:
        """Return wishes for approval: an analyst's own, or all; those that wait first."""
        who.must_be("owner", "analyst")
        return owning.approvals(self.house, who)

    def decide(self, who: Principal, approval: str, approve: bool, reason: str = "") -> Plain:
        """Approve of one release of one analyst, or do not; they then ask the same again."""
        who.must_be("owner")
        return owning.decide(self.house, who, approval, approve, reason)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _secret(settings: Settings) -> bytes:
    """Return the secret that signs what browsers keep; made once, readable by its owner alone."""
    named = settings.session_secret_file
    path = Path(named) if named else settings.beside / f"{Path(settings.database).name or 'sordino'}.session"
    if not path.exists():
        _make_secret(path)
    secret = path.read_bytes()
    if len(secret) < _SECRET_BYTES:
        raise SettingsError(
            f"{path} is shorter than the {_SECRET_BYTES} bytes that sign what browsers keep; delete it, and another is "
            "made: everybody then logs in again",
            "SRD-S010",
        )
    return secret


def _make_secret(path: Path) -> None:
    """Write a new secret that appears whole or not at all; where another process was faster, its secret is the one."""
    scratch = path.with_name(f".{path.name}.{random_hex()}")
    with os.fdopen(os.open(scratch, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600), "wb") as file:
        file.write(bytes(noise.uniform(256, _SECRET_BYTES).tolist()))
    with suppress(FileExistsError):
        os.link(scratch, path)
    scratch.unlink()
