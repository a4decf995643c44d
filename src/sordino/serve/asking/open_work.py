"""More of work that stays open: a part of it, or its end, by its id and the request that began it.

Nothing is kept for it but what the ledger has: the charge, who it was charged to, and the digest of what was asked.
Whoever asks for more says again what was asked, and it must be the same. So any replica answers, also after a restart.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sordino.errors import ArgumentError
from sordino.ledger.receipt import Receipt
from sordino.serve.keeping.identity import Principal
from sordino.serve.kinds.kind import Kind, OpenWork, digest
from sordino.serve.refusals import UnknownError

from . import requests
from .premises import Premises


def part(
    house: Premises, who: Principal, kind: Kind, identifier: str, begun: Mapping[str, Any], asked: Mapping[str, Any]
) -> dict[str, Any]:
    """Return what open work answers; it was charged when it began."""
    work, live = _live(house, who, kind, identifier, begun)
    return work.part(live, asked)


def finish(house: Premises, who: Principal, kind: Kind, identifier: str, begun: Mapping[str, Any]) -> dict[str, Any]:
    """Settle open work; return its last release, with the receipt. There is no refund for what was not asked."""
    work, live = _live(house, who, kind, identifier, begun)
    release = work.finish(live)
    house.works.forget(identifier)
    receipt = release.receipt if isinstance(release.receipt, Receipt) else house.ledger.receipt(identifier)
    return {"id": identifier, "kind": kind.name, "answer": release.to_json(), "receipt": receipt.to_json()}


def _live(
    house: Premises, who: Principal, kind: Kind, identifier: str, begun: Mapping[str, Any]
) -> tuple[OpenWork, Any]:
    """Return the work, if it is open, this analyst's, and was begun by this very request; else it is unknown."""
    who.must_be("owner", "analyst")
    if kind.opened is None:
        raise ArgumentError(f"{kind.title} does not stay open", "SRD-A003")
    request, asked = requests.read(house, who, kind, begun)
    found = house.ledger.reservation(identifier) if _is_id(identifier) else None
    if found is None or found.analyst != who.subject or found.request != digest(kind.name, request):
        raise UnknownError("there is no such open work of yours, or it was begun by another request")
    work = kind.opened()
    data = house.asking(who, asked, project=request.project)
    return work, house.works.at_hand(identifier, lambda: work.resume(data, request, identifier))


def _is_id(text: str) -> bool:
    position, _, token = text.partition("-")
    return position.isascii() and position.isdigit() and len(position) < 19 and bool(token)
