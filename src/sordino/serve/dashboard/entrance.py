"""Coming in and going out: login by token or by single sign-on, logout."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Form, Query, Request
from fastapi.responses import HTMLResponse, Response

from sordino.errors import SordinoError
from sordino.serve.http.browsing import begin_session, end_session, service_of, session_of
from sordino.serve.refusals import ForbiddenError, UnauthenticatedError

from .pages import Sender, page, see

router = APIRouter()

_LONGEST_TOKEN = 200
_OWN = (None, "same-origin", "none")


@router.get("/login")
def login(request: Request, back: Annotated[str, Query(alias="next")] = "/") -> Response:
    """Show the form in which a token is typed."""
    if _inside(request):
        return see(_local(back))
    return _form(request, _local(back))


@router.post("/login")
def enter(
    request: Request, token: Annotated[str, Form()] = "", back: Annotated[str, Form(alias="next")] = "/"
) -> Response:
    """Begin a session for whoever has the token."""
    if request.headers.get("sec-fetch-site") not in _OWN:
        raise ForbiddenError("a login must begin on a page of this service; open the login page", "SRD-S013")
    service, desk = service_of(request), request.app.state.desk
    try:
        if len(token) > _LONGEST_TOKEN:
            raise UnauthenticatedError
        cookie = service.identities.begin_with_token(token.strip(), service.settings.session_hours)
    except UnauthenticatedError as error:
        desk.unknown.check(request.client.host if request.client else "unknown")
        return _form(request, _local(back), error, 401)
    response = see(_local(back))
    begin_session(request, response, cookie)
    return response


@router.post("/logout")
def leave(request: Request, _: Sender) -> Response:
    """End a session on both sides."""
    response = see("/login")
    end_session(request, response)
    return response


def _form(request: Request, back: str, error: SordinoError | None = None, status: int = 200) -> HTMLResponse:
    single = service_of(request).settings.oidc_issuer is not None
    return page(request, None, "login.html", status, back=back, error=error, single_sign_on=single)


def _inside(request: Request) -> bool:
    try:
        session_of(request)
    except UnauthenticatedError:
        return False
    return True


def _local(address: str) -> str:
    """Return an address of this service, whatever was asked for: a login must not send anybody elsewhere.

    >>> _local("/console"), _local("//elsewhere.example"), _local("https://elsewhere.example"), _local("/\\\\elsewhere")
    ('/console', '/', '/', '/')
    """
    good = address.startswith("/") and not address.startswith(("//", "/\\")) and address.isprintable()
    return address if good and address.isascii() else "/"
