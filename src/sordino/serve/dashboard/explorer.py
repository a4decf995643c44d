"""The ledger explorer: entries, checkpoints, proofs, and a live verification. It also works on a frozen ledger."""

from __future__ import annotations

from typing import Annotated, Any
from urllib.parse import urlencode

from fastapi import APIRouter, Path, Query, Request
from fastapi.responses import Response

from sordino.serve.http.browsing import service_of

from . import entry_words
from .pages import Sender, Visitor, page, partial, see

router = APIRouter()

PAGE = 25
_LARGEST = 2**53


@router.get("/ledger")
def ledger(
    request: Request,
    session: Visitor,
    kind: str = "",
    dataset: str = "",
    before: Annotated[int | None, Query(ge=0, le=_LARGEST)] = None,
) -> Response:
    """Show the newest entries, the signed checkpoint, the witness, and the newest verification."""
    service, who = service_of(request), session.who
    scope = f"dataset:{dataset}" if dataset else None
    found = service.newest_entries(who, before, PAGE, kind=kind or None, scope=scope)
    state = service.ledger_state(who)
    chosen = {"kind": kind, "dataset": dataset}
    return page(
        request,
        session,
        "ledger.html",
        state=state,
        remedies=entry_words.remedies(state["frozen"]["code"]) if state["frozen"] else (),
        run=service.verification(who),
        entries=[{**each, "words": entry_words.sentence(each)} for each in found["entries"]],
        kinds=list(entry_words.KINDS),
        datasets=service.transparent(who),
        kind=kind,
        dataset=dataset,
        older=_address(chosen, found["before"]) if found["before"] else None,
        newer=_address(chosen) if before is not None else None,
    )


@router.get("/ledger/verify")
def verification(request: Request, session: Visitor) -> Response:
    """Show how far the newest verification is: a part of a page, which asks for itself again while it runs."""
    run = service_of(request).verification(session.who)
    return page(request, session, "verifying.html", run=run) if partial(request) else see("/ledger#verify")


@router.post("/ledger/verify")
def verify(request: Request, session: Sender) -> Response:
    """Begin to verify."""
    run = service_of(request).begin_verification(session.who)
    return page(request, session, "verifying.html", run=run) if partial(request) else see("/ledger#verify")


@router.get("/ledger/{position}")
def entry(request: Request, session: Visitor, position: Annotated[int, Path(ge=0, le=_LARGEST)]) -> Response:
    """Show one entry: in words, its canonical bytes, and the proof that it is in the ledger."""
    service, who = service_of(request), session.who
    found = service.entry(who, position)
    body: dict[str, Any] = found.get("entry", {})
    return page(
        request,
        session,
        "entry.html",
        entry=found,
        words=entry_words.sentence(found),
        facts=[(label, body[name]) for name, label in _FACTS if body.get(name)],
        release=body.get("id"),
        size=service.ledger_state(who)["size"],
    )


_FACTS = (("analyst", "Asked by"), ("project", "Project"), ("unit", "Protects each"), ("by", "By"))


def _address(chosen: dict[str, str], before: int | None = None) -> str:
    words = {name: value for name, value in chosen.items() if value} | ({} if before is None else {"before": before})
    return "/ledger?" + urlencode(words) + "#entries"
