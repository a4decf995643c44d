"""Browsers: the cookie of a session, who it is, and the forms that it may send. The dashboard's pages build on this.

**Guarantee**: the cookie is out of reach for scripts, is not sent with requests that other sites begin (but for links),
and travels over TLS alone where the service is called by https. Every form must carry the session's own token.
"""

from __future__ import annotations

from fastapi import Request, Response

from sordino.serve.keeping.identity import Session, check_csrf
from sordino.serve.refusals import ForbiddenError, UnauthenticatedError
from sordino.serve.service import Service

COOKIE = "sordino_session"
CSRF_FIELD = "csrf"


def service_of(request: Request) -> Service:
    """Return the service that a request came to."""
    service: Service = request.app.state.desk.service
    return service


def session_of(request: Request) -> Session:
    """Return whose session a request belongs to, or raise `UnauthenticatedError`."""
    cookie = request.cookies.get(COOKIE)
    if not cookie:
        raise UnauthenticatedError("log in first")
    desk = request.app.state.desk
    session = service_of(request).identities.of_session(cookie)
    desk.rate.check(session.who.subject)
    request.state.subject = session.who.subject
    return session


def form_session_of(request: Request, csrf: str | None) -> Session:
    """Return the same for a form, which must carry the token of the session that its page belonged to."""
    session = session_of(request)
    if csrf is None:
        raise ForbiddenError("this form does not carry the token of your session; load the page again", "SRD-S013")
    check_csrf(session, csrf)
    return session


def begin_session(request: Request, response: Response, cookie: str) -> None:
    """Give a browser the cookie that `Identities.begin_with_token` or `begin_as_member` returned."""
    settings = service_of(request).settings
    response.set_cookie(
        COOKIE,
        cookie,
        max_age=3600 * settings.session_hours,
        httponly=True,
        secure=settings.secure_cookies,
        samesite="lax",
        path="/",
    )


def end_session(request: Request, response: Response) -> None:
    """Forget a session on both sides."""
    cookie = request.cookies.get(COOKIE)
    if cookie:
        service_of(request).identities.end_session(cookie)
    response.delete_cookie(COOKIE, path="/")
