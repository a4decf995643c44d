"""Approvals: an analyst's wishes for large spends, and the owner's decisions, each with a reason."""

from __future__ import annotations

import json
from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import Response

from sordino.errors import ArgumentError
from sordino.serve.http.browsing import service_of
from sordino.serve.keeping.identity import Session
from sordino.serve.refusals import UnknownError

from .forms import REFUSALS, Entered, Filled, again
from .pages import Sender, Visitor, page, see

router = APIRouter()

_DONE = {
    "approved": "Approved: the analyst may now run exactly this, once.",
    "denied": "Declined: nothing was charged, and the analyst sees the reason.",
}
_TEXTS = ("sql", "calls")
_SHOWN = ("dataset", *_TEXTS)


@router.get("/approvals")
def approvals(request: Request, session: Visitor, done: str = "") -> Response:
    """List wishes for approval: an analyst's own, or all; those that wait first."""
    found = [
        {**each, "asked": _asked(each), "text": _text(each)} for each in service_of(request).approvals(session.who)
    ]
    return page(request, session, "approvals.html", approvals=found, done=_DONE.get(done))


@router.get("/approvals/{identifier}")
def approval(request: Request, session: Visitor, identifier: str) -> Response:
    """Show one wish with all that was asked, to be decided by an owner."""
    found = _found(request, session, identifier)
    return page(request, session, "approval.html", **_values(request, session, found))


@router.post("/approvals/{identifier}")
def decide(request: Request, session: Sender, typed: Filled, identifier: str) -> Response:
    """Approve of one release, or decline it."""
    session.who.must_be("owner")
    found = _found(request, session, identifier)
    approve = typed["decision"] == "approve"
    try:
        if typed["decision"] not in ("approve", "decline"):
            raise ArgumentError("choose to approve or to decline", "SRD-A003")
        if not approve and not typed["reason"]:
            raise ArgumentError("say why it is declined: the analyst will read it", "SRD-A003")
        decided = service_of(request).decide(session.who, identifier, approve, typed["reason"])
    except REFUSALS as error:
        values = _values(request, session, found) | {"typed": typed}
        return again(request, session, "approval.html", error, values)
    return see(f"/approvals?done={decided['state']}")


def _found(request: Request, session: Session, identifier: str) -> dict[str, Any]:
    for each in service_of(request).approvals(session.who):
        if each["id"] == identifier:
            return each
    raise UnknownError("approval")


def _values(request: Request, session: Session, found: dict[str, Any]) -> dict[str, Any]:
    service = service_of(request)
    budget, kind = service.budget(session.who, found["dataset"]), service.house.kinds.get(found["kind"])
    again = None if kind is None or kind.again is None else kind.again(found["question"])
    shown = {"approval": found, "asked": _asked(found), "text": _text(found), "budget": budget, "again": again}
    return {**shown, "typed": Entered(), "error": None}


def _text(found: dict[str, Any]) -> str:
    """Return the text that was asked, of a kind that is asked by one."""
    texts = (found["question"].get(name) for name in _TEXTS)
    return next((text for text in texts if isinstance(text, str)), "")


def _asked(found: dict[str, Any]) -> list[tuple[str, str]]:
    """Return what was asked beside data set and SQL, in words."""
    question = found["question"]
    return [
        (_WORDS.get(name, name), value if isinstance(value, str) else json.dumps(value, ensure_ascii=False))
        for name, value in question.items()
        if name not in _SHOWN and value not in (None, {}, [], "")
    ]


_WORDS = {"epsilon": "ε", "delta": "δ", "rho": "ρ", "error": "Wanted error", "noise": "Noise"}
