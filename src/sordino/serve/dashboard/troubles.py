"""Errors as pages: whoever came with a browser reads the words that programs get as JSON.

Who is not logged in is sent to the login. A part of a page that htmx asked for becomes an alert in its place, with
status 200 so that it is shown; the code is in ``x-sordino-code``, and in the log, as always.
"""

from __future__ import annotations

import json
from http import HTTPStatus
from typing import Any
from urllib.parse import quote, urlsplit

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import HTMLResponse, JSONResponse, Response
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.types import Scope

from sordino.errors import SordinoError
from sordino.serve.http import problems
from sordino.serve.http.browsing import COOKIE, service_of
from sordino.serve.keeping.identity import Session
from sordino.serve.refusals import shape

from .pages import ENVIRONMENT, page, partial

_TITLES = {
    401: "Please log in",
    402: "The budget does not cover this",
    403: "This is not for you",
    404: "There is nothing here",
    405: "There is nothing here",
    409: "This does not go with what is there",
    413: "That is too much at once",
    422: "This cannot be done as written",
    424: "The engine failed",
    429: "A little slower, please",
    500: "Something went wrong",
    503: "The ledger is frozen or out of reach",
}


def install(app: FastAPI) -> None:
    """Let an application tell its errors to browsers as pages, and to programs as before."""
    app.add_exception_handler(SordinoError, _told)
    app.add_exception_handler(RequestValidationError, _told)
    app.add_exception_handler(HTTPException, _told)


async def _told(request: Request, error: Exception) -> Response:
    said = problems.response_for(error)
    return await run_in_threadpool(as_page, request, said) if _browses(request) else said


def at_the_door(scope: Scope, status: int, code: str, message: str) -> Response:
    """Return what the door itself tells, before anybody is known: a page without navigation, or JSON for programs."""
    request = Request(scope)
    said = JSONResponse(shape(code, message), status, {"x-sordino-code": code})
    if not _browses(request) or partial(request):
        return said
    known: dict[str, Any] = {
        "session": None,
        "who": None,
        "links": [],
        "here": "",
        "frozen": None,
        "title": title_of(status),
    }
    text = ENVIRONMENT.get_template("trouble.html").render(known, error=shape(code, message)["error"])
    return HTMLResponse(text, status, {"x-sordino-code": code})


def title_of(status: int) -> str:
    """Return the heading of a page that tells an error of this status."""
    return _TITLES.get(status, _TITLES[500])


def as_page(request: Request, said: Response) -> Response:
    """Return the page that says the same as an error in JSON."""
    status, session = said.status_code, _session(request)
    if status == HTTPStatus.UNAUTHORIZED and session is None and not request.url.path.startswith(_ENTRANCES):
        return _to_login(request)
    error = json.loads(bytes(said.body))["error"]
    kept = {name: value for name, value in said.headers.items() if name in ("retry-after", "x-sordino-code", "allow")}
    template = "trouble_part.html" if partial(request) else "trouble.html"
    found: HTMLResponse = page(request, session, template, status, title=title_of(status), error=error)
    if partial(request):
        found.status_code = HTTPStatus.OK
    found.headers.update(kept)
    return found


_ENTRANCES = ("/login", "/oidc/")


def _browses(request: Request) -> bool:
    """Whether a person reads the answer: nothing of the API, and asked for as a page or by htmx."""
    return not request.url.path.startswith("/api/") and (
        partial(request) or "text/html" in request.headers.get("accept", "")
    )


def _to_login(request: Request) -> Response:
    if partial(request):
        back = urlsplit(request.headers.get("hx-current-url", "/")).path
        return Response(status_code=200, headers={"hx-redirect": _login(back)})
    back = request.url.path if request.method == "GET" else "/"
    query = f"?{request.url.query}" if request.method == "GET" and request.url.query else ""
    return Response(status_code=303, headers={"location": _login(back + query)})


def _login(back: str) -> str:
    return "/login" if back == "/" else f"/login?next={quote(back, safe='/')}"


def _session(request: Request) -> Session | None:
    """Return whose page it would have been, for the navigation; nobody's if that is what went wrong."""
    try:
        return service_of(request).identities.of_session(request.cookies.get(COOKIE, ""))
    except SordinoError:
        return None
