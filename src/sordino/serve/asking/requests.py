"""Requests of every kind: a plain dictionary in, the released answer out.

**Guarantee**: the order of every run is parse → price → reserve → touch data → answer → settle; what is refused was
refused before data was touched; what was asked under an idempotency key is answered and charged once.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

from sordino.errors import ArgumentError, BudgetError, ConflictError, RunError, SordinoError
from sordino.gate import ApprovalError
from sordino.ledger.account import ReplayedError
from sordino.ledger.chain import Chain
from sordino.ledger.receipt import Receipt
from sordino.ledger.reservation import Replay
from sordino.serve.keeping.identity import Principal
from sordino.serve.keeping.registry import MOST_WISHES, random_hex
from sordino.serve.kinds.kind import Kind, Request, Running, StillOpen, digest
from sordino.serve.refusals import BusyError, StateError

from .interrupted import INTERRUPTED, LOST_CHARGED, left_behind
from .premises import Asked, Premises
from .quotation import quotation

_LONGEST_KEY = 200


def price(house: Premises, who: Principal, kind: Kind, plain: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a request costs and what its kind says of it; touches no data (see ``quotation.py``)."""
    who.must_be("owner", "analyst")
    request, asked = read(house, who, kind, plain)
    holdings = house.held(who, asked, request.project, asked.days(kind, request))
    if house.price_processes is not None:
        about = (holdings, asked.policy, house.kinds.origin(kind.name), request.plain)
        sort = asked.opened.sort.name
        outline = (house.kinds.sort_origins[sort], sort, asked.opened.outline)
        return house.price_processes.price((asked.name, asked.version), outline, about)
    data, quote = asked.quoted(holdings)
    return quotation(kind, data, quote, asked.policy, request)


def run(
    house: Premises, who: Principal, kind: Kind, plain: Mapping[str, Any], key: str, running: Running
) -> dict[str, Any]:
    """Charge a request and return what is released, or what was released before; `key` is as `key_digest` gives it."""
    who.must_be("owner", "analyst")
    request, asked = read(house, who, kind, plain)
    wanted = digest(kind.name, request)
    this = _This(house, who, kind, request, asked, key, wanted)
    earlier = None if running.work is not None else house.ledger.replayed(key)
    if earlier is not None:
        return this.replayed(earlier)
    begun = running.work is not None or this.newest_tranche() is not None
    approval = None if begun else house.registry.take_approval(who.subject, wanted)
    try:
        return this.run(running, approved=approval is not None or begun)
    except ReplayedError as error:
        if approval is not None:
            house.registry.return_approval(approval)
        return this.replayed(error.replay)
    except ApprovalError as error:
        if (meanwhile := house.ledger.replayed(key)) is not None:  # sent twice, and the other one had the approval
            return this.replayed(meanwhile)
        raise this.waiting(error) from None
    except RunError:
        raise
    except BaseException:
        if approval is not None and house.ledger.replayed(key) is None:
            house.registry.return_approval(approval)
        raise


def ended(house: Premises, who: Principal, kind: Kind, plain: Mapping[str, Any], key: str) -> dict[str, Any]:
    """Return what was released by a job that has ended, under the digest of its key; runs nothing."""
    request, asked = read(house, who, kind, plain)
    this = _This(house, who, kind, request, asked, key, digest(kind.name, request))
    found = this.newest_tranche() or house.ledger.replayed(key)
    if found is None:
        raise RunError(LOST_CHARGED, INTERRUPTED)
    return this.replayed(found) | {"replayed": False}


def read(house: Premises, who: Principal, kind: Kind, plain: Mapping[str, Any]) -> tuple[Request, Asked]:
    """Return what is asked, and what it is about; refused if that is of a sort that the kind knows nothing about."""
    request: Request = kind.read(plain)
    asked = house.asked(who, request.dataset)
    if (sort := asked.opened.sort.name) not in kind.about:
        raise ArgumentError(
            f"{kind.title} is about {' or '.join(kind.about)}, and this data set is of the sort {sort!r}; name another",
            "SRD-A003",
        )
    return request, asked


def key_digest(who: Principal, given: str | None) -> str:
    """Return what the ledger keeps of an idempotency key; it is the subject's own, so that nobody meets another's."""
    key = random_hex() if given is None else given
    if not isinstance(key, str) or not 0 < len(key) <= _LONGEST_KEY or not key.isprintable():
        raise ArgumentError(f"an idempotency key is 1 to {_LONGEST_KEY} printable characters", "SRD-A001")
    return hashlib.sha256(f"{len(who.subject)} {who.subject} {key}".encode()).hexdigest()


@runtime_checkable
class Receipted(Protocol):
    """A release that holds the receipt that it was settled with."""

    receipt: object

    def to_json(self) -> str:
        """Return all that was released, as JSON."""
        ...


@dataclass(frozen=True)
class _This:
    """One request of somebody, under one key."""

    house: Premises
    who: Principal
    kind: Kind
    request: Request
    asked: Asked
    key: str
    digest: str

    def run(self, running: Running, *, approved: bool) -> dict[str, Any]:
        """Run it through the gate; where it does not fit, also say whose budget is short, and until when."""
        data = self.house.asking(
            self.who,
            self.asked,
            project=self.request.project,
            approved=approved,
            key=self.key,
            digest=self.digest,
            stage=running.stage,
        )
        try:
            release = self.kind.run(data, self.request, running)
        except BudgetError as refusal:
            if refusal.code != "SRD-B001":
                raise
            said = refusal.message
        else:
            return self._told(release)
        raise BudgetError(f"{said}{self._short()}", "SRD-B001")

    def _told(self, release: object) -> dict[str, Any]:
        """Return what is told of what was just settled; the ledger has it, if the release did not keep its receipt."""
        if isinstance(release, StillOpen):
            self.house.works.keep(release.work, release.live)
            return self._open(release.work, release.said, replayed=False)
        if isinstance(release, Receipted) and isinstance(release.receipt, Receipt):
            return self.released(release.to_json().encode(), release.receipt.to_json(), replayed=False)
        ledger, settled = self.house.ledger, self.newest_tranche() or self.house.ledger.replayed(self.key)
        if settled is None or settled.release is None:
            raise RunError("a run of this kind ended without a release; what was charged stays charged", "SRD-R001")
        return self.released(ledger.release(settled.id), ledger.receipt(settled.id).to_json(), replayed=False)

    def newest_tranche(self) -> Replay | None:
        """Return what became of the newest reservation, for what is charged in tranches; else None."""
        return Chain(self.house.ledger, self.key).newest()

    def _short(self) -> str:
        days = self.asked.days(self.kind, self.request)
        data, quote = self.asked.quoted(self.house.held(self.who, self.asked, self.request.project, days))
        found = self.kind.price(data, self.request)
        short = quote.short(found.event, found.ran)
        return f"; what falls short is {short}" if short else ""

    def waiting(self, error: ApprovalError) -> SordinoError:
        """Return the error that says under which id it waits for the owner's approval."""
        spelt = json.dumps(self.request.plain, ensure_ascii=False)
        registry, name = self.house.registry, self.kind.name
        wish = registry.ask_approval(self.request.dataset, self.who.subject, self.digest, name, spelt, error.message)
        if wish is None:
            return BusyError(f"{MOST_WISHES} of your wishes for approval wait already", "SRD-S014", 60)
        return ApprovalError(f"{error.message} (asked for as approval {wish})", error.code)

    def replayed(self, earlier: Replay) -> dict[str, Any]:
        """Return what was released under the same key before."""
        if earlier.request != self.digest:
            raise ConflictError(
                "this idempotency key was used before for another request; use a new key for a new request", "SRD-L030"
            )
        if earlier.running and earlier.stays_open and self.kind.opened is not None:
            return self._open(earlier.id, {}, replayed=True)
        if left_behind(self.house, earlier, self.key):
            raise RunError(LOST_CHARGED, INTERRUPTED)
        if earlier.running:
            raise StateError("the request under this idempotency key is still running; ask again later", "SRD-S008")
        if earlier.release is None:
            raise RunError("the engine could not finish this question; what was charged stays charged", "SRD-R001")
        ledger = self.house.ledger
        return self.released(ledger.release(earlier.id), ledger.receipt(earlier.id).to_json(), replayed=True)

    def _open(self, identifier: str, said: dict[str, Any], *, replayed: bool) -> dict[str, Any]:
        """Return what is told of work that was charged and stays open; its receipt comes when it is finished."""
        return {
            "id": identifier,
            "kind": self.kind.name,
            "dataset": self.request.dataset,
            "request": self.request.plain,
            "answer": said,
            "receipt": None,
            "replayed": replayed,
        }

    def released(self, body: bytes, receipt: str, *, replayed: bool) -> dict[str, Any]:
        """Return what is told of a release."""
        charge = json.loads(json.loads(receipt)["reserved"])
        return {
            "id": charge["id"],
            "kind": self.kind.name,
            "dataset": self.request.dataset,
            "request": self.request.plain,
            "answer": json.loads(body),
            "receipt": receipt,
            "replayed": replayed,
        }
