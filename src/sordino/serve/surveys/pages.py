"""Pages of surveys: owners define, open, look at and close them; participants read the question and what it costs.

**Guarantee**: no form of a participant's page sends a value: what people say is made unclear on their device first, by
the client's script, which is named with its integrity hash.
"""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Form, Request
from fastapi.responses import FileResponse, JSONResponse, Response

from sordino.errors import SordinoError
from sordino.serve.dashboard.pages import Sender, Visitor, page, see
from sordino.serve.dashboard.troubles import title_of
from sordino.serve.http.browsing import service_of
from sordino.serve.http.doors import CONTENT_SECURITY_POLICY
from sordino.serve.http.problems import status_of
from sordino.serve.keeping.identity import Session
from sordino.serve.refusals import AccessError, UnknownError

from . import owners
from .at_hand import declared_as
from .scripts import CLIENT, VECTORS, scripts

router = APIRouter()

_LONGEST = 200_000
_EXAMPLE = """name: pets
sort: survey
unit: participant
question: Which pet do you have?
values: [cat, dog, another, none]
epsilon: 2
per_day: 1
days: 30
trust: local
"""


@router.get("/surveys")
def surveys(request: Request, session: Visitor) -> Response:
    """List surveys, and show the form of a new one."""
    session.who.must_be("owner", "analyst")
    return _list(request, session)


@router.post("/surveys")
def define(request: Request, session: Sender, declarations: Annotated[str, Form(max_length=_LONGEST)] = "") -> Response:
    """Define a survey."""
    session.who.must_be("owner")
    try:
        found = owners.define(service_of(request), session.who, declarations)
    except AccessError:
        raise
    except SordinoError as error:
        if (status := status_of(error)) >= 500:
            raise
        return _list(request, session, status, declarations=declarations, error=error, title=title_of(status))
    return see(f"/surveys/{found['name']}")


@router.get("/surveys/{name}")
def survey(request: Request, session: Visitor, name: str) -> Response:
    """Show a survey: its price in words, whether it is open, and estimates as far as they may be seen."""
    session.who.must_be("owner", "analyst")
    return _one(request, session, name)


@router.post("/surveys/{name}/{verb}")
def change(request: Request, session: Sender, name: str, verb: str) -> Response:
    """Open or close a round."""
    session.who.must_be("owner", "analyst")
    act = {"open": owners.begin, "close": owners.close}.get(verb)
    if act is None:
        return _one(request, session, name)
    try:
        act(service_of(request), session.who, name)
    except AccessError:
        raise
    except SordinoError as error:
        if (status := status_of(error)) >= 500:
            raise
        return _one(request, session, name, status, error=error, title=title_of(status))
    return see(f"/surveys/{name}")


@router.get("/s/{name}")
def answer(request: Request, name: str) -> Response:
    """Show a participant the question, and what an answer costs, in plain words; nobody needs an account."""
    found = _asked(request, name)
    shown = page(
        request, None, "survey_answer.html", found=found, scripts=scripts(), elsewhere=_elsewhere(request, name)
    )
    parties = found["survey"].get("parties", ())
    if parties and found["survey"]["trust"] == "shuffled":  # sealed reports go to the shuffler, and nowhere else
        policy = CONTENT_SECURITY_POLICY.replace("connect-src 'self'", f"connect-src 'self' {parties[1]['url']}")
        shown.headers["content-security-policy"] = policy
    return shown


@router.get("/client/{file}")
def client(file: str) -> Response:
    """Return a file of the JavaScript client, as it is shipped; pages elsewhere may pin it by its integrity hash."""
    if file not in scripts() and file != VECTORS:
        raise UnknownError("there is no such file of the client")
    kind = "application/json" if file == VECTORS else "text/javascript"
    shared = {"access-control-allow-origin": "*", "cross-origin-resource-policy": "cross-origin"}
    return FileResponse(CLIENT / file, media_type=kind, headers=shared | {"cache-control": "no-cache"})


def _elsewhere(request: Request, name: str) -> str | None:
    """Return where a survey is answered, if it is the other one of two servers that takes reports."""
    declared = declared_as(service_of(request).house, name)
    parties = declared.survey.parties
    takes = declared.survey.trust != "two-servers" or parties[0].key == declared.key.text
    return None if takes else f"{parties[0].url}/s/{name}"


@router.get("/api/v1/surveys/{name}")
def asked(request: Request, name: str) -> Response:
    """Return what a client needs to answer: all that is public, its digest, and whether it is open."""
    return JSONResponse(_asked(request, name), headers={"cache-control": "no-store"})


def _asked(request: Request, name: str) -> dict[str, Any]:
    service = service_of(request)
    declared = declared_as(service.house, name)
    now = owners.state(service, declared)
    found = declared.survey
    return {
        "survey": found.public(),
        "spelled": found.spelled.decode(),
        "digest": found.digest.hex(),
        "state": now,
        "intake": declared.intake,
        "words": found.price(None).words(),
        "reports": f"/api/v1/surveys/{name}/reports",
        "client": {f"/client/{file}": integrity for file, integrity in scripts().items()},
    }


def _list(request: Request, session: Session, status: int = 200, **values: Any) -> Response:
    known = {"surveys": owners.surveys(service_of(request), session.who), "declarations": _EXAMPLE, "error": None}
    return page(request, session, "surveys.html", status, **(known | values))


def _one(request: Request, session: Session, name: str, status: int = 200, **values: Any) -> Response:
    known = {"found": owners.show(service_of(request), session.who, name), "error": None}
    return page(request, session, "survey.html", status, **(known | values))
