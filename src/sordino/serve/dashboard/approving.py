"""Approvals: an analyst's wishes for large spends, and the owner's decisions, each with a reason."""

from __future__ import annotations

import json
from typing import Any
from urllib.parse import urlencode

from fastapi import APIRouter, Request
from fastapi.responses import Response

from sordino.errors import ArgumentError
from sordino.serve.browsing import service_of
from sordino.serve.identity import Session
from sordino.serve.refusals import UnknownError

from .forms import REFUSALS, Entered, Filled, again
from .pages import Sender, Visitor, page, see
from .question_form import FIELDS

router = APIRouter()

_DONE = {
    "approved": "Approved: the analyst may now run exactly this, once.",
    "denied": "Declined: nothing was charged, and the analyst sees the reason.",
}
_SHOWN = ("dataset", "sql")


@router.get("/approvals")
def approvals(request: Request, session: Visitor, done: str = "") -> Response:
    """List wishes for approval: an analyst's own, or all; those that wait first."""
    found = [{**each, "asked": _asked(each)} for each in service_of(request).approvals(session.who)]
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
    budget = service_of(request).budget(session.who, found["dataset"])
    shown = {"approval": found, "asked": _asked(found), "budget": budget, "console": _console(found["question"])}
    return {**shown, "typed": Entered(), "error": None}


def _console(question: dict[str, Any]) -> str:
    """Return the address of the console with the same question in it."""
    goal = question.get("error") or {}
    spend = next((word for word in ("error", "rho") if question.get(word)), "epsilon")
    fields = {**question, **goal, "spend": spend}
    return "/console?" + urlencode({name: fields[name] for name in FIELDS if fields.get(name)})


def _asked(found: dict[str, Any]) -> list[tuple[str, str]]:
    """Return what was asked beside data set and SQL, in words."""
    question = found["question"]
    return [
        (_WORDS.get(name, name), value if isinstance(value, str) else json.dumps(value, ensure_ascii=False))
        for name, value in question.items()
        if name not in _SHOWN and value not in (None, {}, [], "")
    ]


_WORDS = {"epsilon": "ε", "delta": "δ", "rho": "ρ", "error": "Wanted error", "noise": "Noise", "words": "Options"}
