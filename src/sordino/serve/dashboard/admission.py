"""Who may come in: tokens, which are shown once, and members, who come by single sign-on."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import Response

from sordino.serve.http.browsing import service_of
from sordino.serve.keeping.identity import ROLES, Session
from sordino.serve.refusals import UnknownError

from .forms import REFUSALS, Entered, Filled, again, confirmed, datasets_of, whole_number
from .pages import Sender, Visitor, page, see

router = APIRouter()

_DONE = {
    "revoked": "The token is revoked: nobody can use it any more, and every session that began with it has ended.",
    "admitted": "They may now log in by single sign-on.",
    "dismissed": "They may log in no more, and their sessions have ended.",
}


@router.get("/admin/tokens")
def tokens(request: Request, session: Visitor, done: str = "") -> Response:
    """List all tokens, and show the form in which one is issued."""
    return page(request, session, "tokens.html", **_tokens(request, session, Entered({"days": "90"}), done=done))


@router.post("/admin/tokens")
def issue(request: Request, session: Sender, typed: Filled) -> Response:
    """Issue a token and show it, this once."""
    service, who = service_of(request), session.who
    who.must_be("owner")
    try:
        days = whole_number("days", typed["days"])
        token = service.issue_token(who, typed["subject"], typed["role"], datasets_of(typed), days)
    except REFUSALS as error:
        return again(request, session, "tokens.html", error, _tokens(request, session, typed))
    fresh = Entered({"days": "90"})
    return page(request, session, "tokens.html", **_tokens(request, session, fresh, token=token, issued_to=typed))


@router.get("/admin/tokens/{identifier}")
def token(request: Request, session: Visitor, identifier: str) -> Response:
    """Ask once more before a token is revoked."""
    return page(request, session, "revoke.html", token=_token(request, session, identifier), error=None)


@router.post("/admin/tokens/{identifier}")
def revoke(request: Request, session: Sender, typed: Filled, identifier: str) -> Response:
    """Revoke a token."""
    found = _token(request, session, identifier)
    try:
        confirmed(typed, "a revoked token cannot be made good again")
    except REFUSALS as error:
        return again(request, session, "revoke.html", error, {"token": found})
    service_of(request).revoke_token(session.who, identifier)
    return see("/admin/tokens?done=revoked")


@router.get("/admin/members")
def members(request: Request, session: Visitor, done: str = "") -> Response:
    """List everybody who may come in by single sign-on, and show the form in which one is admitted."""
    return page(request, session, "members.html", **_members(request, session, Entered(), done=done))


@router.post("/admin/members")
def admit(request: Request, session: Sender, typed: Filled) -> Response:
    """Let somebody come in, or change as what."""
    try:
        service_of(request).admit(session.who, typed["subject"], typed["role"], datasets_of(typed))
    except REFUSALS as error:
        return again(request, session, "members.html", error, _members(request, session, typed))
    return see("/admin/members?done=admitted")


@router.post("/admin/members/dismissal")
def dismiss(request: Request, session: Sender, typed: Filled) -> Response:
    """Let somebody come in no more."""
    try:
        confirmed(typed, "their sessions end at once")
    except REFUSALS as error:
        return again(request, session, "members.html", error, _members(request, session, typed, wrong="dismissal"))
    service_of(request).dismiss(session.who, typed["leaving"])
    return see("/admin/members?done=dismissed")


def _tokens(request: Request, session: Session, typed: Entered, **more: Any) -> dict[str, Any]:
    service = service_of(request)
    done = _DONE.get(more.pop("done", ""))
    plain = {"tokens": service.tokens(session.who), "typed": typed, "error": None, "token": None, "done": done}
    return plain | _choices(request, session) | more


def _members(request: Request, session: Session, typed: Entered, **more: Any) -> dict[str, Any]:
    service = service_of(request)
    done = _DONE.get(more.pop("done", ""))
    plain = {"members": service.members(session.who), "typed": typed, "error": None, "done": done, "wrong": "admission"}
    single = service.settings.oidc_issuer
    return plain | _choices(request, session) | {"issuer": single} | more


def _choices(request: Request, session: Session) -> dict[str, Any]:
    return {"datasets": service_of(request).transparent(session.who), "roles": sorted(ROLES)}


def _token(request: Request, session: Session, identifier: str) -> dict[str, Any]:
    for found in service_of(request).tokens(session.who):
        if found["id"] == identifier:
            return found
    raise UnknownError("token")
