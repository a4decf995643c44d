"""How a page is drawn: templates, who is looking, where they may go, and the words that all pages share.

A page is a function that takes a `Visitor` (a session), asks the service and returns `page(...)`; one that takes a form
takes a `Sender`, whose form carried the session's token. Both are plain functions (no ``async``), so they run in
threads. Their routers are ``APIRouter()``; errors that they let pass become pages (``troubles.py``).

**Guarantee**: every value is escaped where it is put into a page; no page holds a script or a style of its own.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any

from fastapi import Depends, Form, Request
from fastapi.responses import HTMLResponse, Response
from jinja2 import Environment, FileSystemLoader, StrictUndefined

from sordino.serve.http.browsing import CSRF_FIELD, form_session_of, service_of, session_of
from sordino.serve.keeping.identity import ROLES, Principal, Session


@dataclass(frozen=True)
class Link:
    """One entry of the navigation, and who has it."""

    address: str
    label: str
    roles: tuple[str, ...] = ROLES
    about_all: bool = False
    """Whether it is only for those who may know of all data sets."""

    def is_for(self, who: Principal) -> bool:
        """Whether somebody's navigation has it."""
        return who.role in self.roles and (who.sees_all or not self.about_all)


NAVIGATION = (
    Link("/", "Data sets"),
    Link("/console", "Ask", ("owner", "analyst")),
    Link("/surveys", "Surveys", ("owner", "analyst")),
    Link("/releases", "Releases"),
    Link("/jobs", "Jobs", ("owner", "analyst")),
    Link("/approvals", "Approvals", ("owner", "analyst")),
    Link("/ledger", "Ledger", ("owner", "auditor"), about_all=True),
    Link("/admin", "Admin", ("owner",)),
    Link("/epsilon", "What ε means"),
)


def _sender(request: Request, csrf: Annotated[str | None, Form(alias=CSRF_FIELD)] = None) -> Session:
    return form_session_of(request, csrf)


Visitor = Annotated[Session, Depends(session_of)]
"""Whose session a request belongs to; without one a browser is sent to the login."""
Sender = Annotated[Session, Depends(_sender)]
"""The same for a form (POST): its field of `csrf` has been checked."""


def page(request: Request, session: Session | None, template: str, status: int = 200, **values: Any) -> HTMLResponse:
    """Return a page, or a part of one for htmx; ``session`` of None is for pages that anybody may see."""
    who = None if session is None else session.who
    known = {
        "session": session,
        "who": who,
        "links": [] if who is None else [link for link in NAVIGATION if link.is_for(who)],
        "here": request.url.path,
        "frozen": service_of(request).frozen,
    }
    return HTMLResponse(ENVIRONMENT.get_template(template).render(known | values), status)


def partial(request: Request) -> bool:
    """Whether htmx asks, for a part of a page that is already there."""
    return request.headers.get("hx-request") == "true"


def see(address: str) -> Response:
    """Send a browser to another page after a form, so that to load it again does not send the form again."""
    return Response(status_code=303, headers={"location": address})


# Words and numbers, as filters of templates


def percent(part: float) -> str:
    """Write a part as people do.

    >>> percent(0.123), percent(1), percent(0.0004)
    ('12.3 %', '100 %', '0.04 %')
    """
    return f"{100 * part:.3g} %" if part < 1 else f"{100 * part:.0f} %"


def number(value: Any, spread: float | None = None) -> str:
    r"""Write a number so that it can be read: thousands apart, and as many digits as make sense beside its `spread`.

    >>> number(1234567), number(0.000123456), number(-2.5), number(12345.678), number(None)
    ('1\xa0234\xa0567', '0.000123', '−2.5', '12\xa0346', '–')
    >>> number(46.13208, 249.1), number(14.80852, 2.3), number(46.13208, 0.01)
    ('46', '14.81', '46.1321')
    """
    if value is None:
        return "–"
    if not isinstance(value, int | float) or isinstance(value, bool):
        return str(value)
    size = abs(value) if spread is None else spread
    if isinstance(value, int) or size >= _FAR:
        text = f"{value:,.0f}"
    elif spread is None or not 0 < spread < math.inf:
        text = f"{value:.3g}" if size < 1 else f"{value:.5g}"
    else:
        text = f"{value:,.{max(0, _DIGITS - math.floor(math.log10(spread)) - 1)}f}"
    return text.replace(",", "\u00a0").replace("-", "−")


_FAR = 10_000
_DIGITS = 3
"""Of the spread of a number: what is further behind is noise."""


def dated(words: str) -> str:
    """Write the times in a text as people read them.

    >>> dated("begins anew at 2026-12-01T00:00:00Z")
    'begins anew at 1 Dec 2026, 00:00 UTC'
    """
    return _MOMENT.sub(lambda found: when(found[0]), words)


_MOMENT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ")


def when(text: str | int | None) -> str:
    """Write a time (ISO 8601, or milliseconds since 1970) as people read it.

    >>> when("2026-11-16T05:51:38Z"), when(0), when(None)
    ('16 Nov 2026, 05:51 UTC', '1 Jan 1970, 00:00 UTC', '–')
    """
    if text is None:
        return "–"
    time = datetime.fromtimestamp(text / 1000, UTC) if isinstance(text, int) else datetime.fromisoformat(text)
    return f"{time.day} {time:%b %Y, %H:%M} UTC"


def _environment(filters: Mapping[str, Any]) -> Environment:
    found = Environment(
        loader=FileSystemLoader(Path(__file__).parent / "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    found.filters.update(filters)
    return found


ENVIRONMENT = _environment({"percent": percent, "number": number, "when": when, "dated": dated})
