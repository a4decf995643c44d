"""Releases and their receipts: lists, one release with all that is known of it, and a desk that checks receipts."""

from __future__ import annotations

import json
from typing import Annotated, Any

from fastapi import APIRouter, File, Form, Query, Request, UploadFile
from fastapi.responses import Response

from sordino.serve.http.browsing import service_of
from sordino.serve.kinds.page import page_of
from sordino.serve.refusals import UnknownError
from sordino.serve.telling import event_words

from .pages import Sender, Visitor, page

router = APIRouter()

PAGE = 25
_LONGEST = 1 << 20


@router.get("/releases")
def releases(
    request: Request,
    session: Visitor,
    dataset: str = "",
    before: Annotated[int | None, Query(ge=0, le=2**53)] = None,
) -> Response:
    """List the newest releases: an analyst's own, or all of them."""
    service, who = service_of(request), session.who
    found = service.releases(who, dataset=dataset or None, before=before, limit=PAGE + 1)
    older = f"?before={found[PAGE - 1]['position']}" if len(found) > PAGE else None
    newer = "/releases" if before is not None else None
    return page(
        request,
        session,
        "releases.html",
        releases=found[:PAGE],
        datasets=[each["name"] for each in service.datasets(who)],
        chosen=dataset,
        older=_with(older, dataset),
        newer=_with(newer, dataset),
        price=event_words.price,
    )


@router.get("/releases/{identifier}")
def release(request: Request, session: Visitor, identifier: str) -> Response:
    """Show one release: what its kind shows of it, what was run, the receipt."""
    service, who = service_of(request), session.who
    found = service.release(who, identifier)
    checked = service.check_receipt(who, service.receipt(who, identifier)) if found["outcome"] == "settled" else None
    kind = service.house.kinds.get(found["what"])
    values: dict[str, Any] = {
        "release": found,
        "checked": checked,
        "price": event_words.price,
        "events": event_words.told_of(found["event"]),
        "neighbours": event_words.neighbours(found["neighbours"], found["unit"]),
    }
    if checked is not None:
        shown = page_of(kind and kind.page, found["answer"])
        values |= {**shown.values, "page": shown, "version": found["sordino"]}
    return page(request, session, "release.html", **values)


@router.get("/releases/{identifier}/receipt.json")
def receipt(request: Request, session: Visitor, identifier: str) -> Response:
    """Give the receipt as the file that verifies, byte for byte."""
    text = service_of(request).receipt(session.who, identifier)
    return _file(text, "application/json", f"receipt-{identifier}.json")


@router.get("/releases/{identifier}/answer.csv")
def table(request: Request, session: Visitor, identifier: str) -> Response:
    """Give what was released as comma-separated values, intervals included."""
    return _file(service_of(request).table(session.who, identifier), "text/csv", f"answer-{identifier}.csv")


@router.get("/releases/{identifier}/answer.json")
def whole(request: Request, session: Visitor, identifier: str) -> Response:
    """Give all that was released as JSON."""
    found = service_of(request).release(session.who, identifier)["answer"]
    if found is None:
        raise UnknownError("nothing was released under this id; its charge stands")
    return _file(json.dumps(found, ensure_ascii=False), "application/json", f"answer-{identifier}.json")


@router.get("/receipts")
def desk(request: Request, session: Visitor) -> Response:
    """Show where a receipt may be pasted or uploaded."""
    return page(request, session, "receipts.html", text="", checked=None, events=[])


@router.post("/receipts")
def check(
    request: Request,
    session: Sender,
    text: Annotated[str, Form()] = "",
    file: Annotated[UploadFile | None, File()] = None,
) -> Response:
    """Say whether a receipt holds, what it proves, or which part of it is wrong."""
    uploaded = file.file.read(_LONGEST).decode(errors="replace") if file is not None and file.filename else ""
    given = uploaded or text
    checked = service_of(request).check_receipt(session.who, given)
    events = event_words.told_of(json.loads(checked["event"])) if checked["holds"] else []
    return page(request, session, "receipts.html", text=text, checked=checked, events=events)


def _file(text: str, media_type: str, name: str) -> Response:
    """Return a file to be saved; the id in its name is known, so it has nothing but digits, dashes and letters."""
    return Response(text, media_type=media_type, headers={"content-disposition": f'attachment; filename="{name}"'})


def _with(address: str | None, dataset: str) -> str | None:
    if address is None or not dataset:
        return address
    return f"{address}{'&' if '?' in address else '?'}dataset={dataset}"
