"""Pages of publications: what is asked for is priced, then begun; a job shows its price, its stage, and then a picture.

The form to begin holds what was priced and a key of its own, so that to send it twice begins one job.
"""

from __future__ import annotations

import json
from typing import Annotated, Any

from fastapi import APIRouter, Form, Query, Request
from fastapi.responses import FileResponse, Response

from sordino.data.strict_yaml import parse
from sordino.errors import ArgumentError, SordinoError
from sordino.publish.recipes import RECIPES
from sordino.serve.dashboard.pages import Sender, Visitor, page, see
from sordino.serve.dashboard.troubles import title_of
from sordino.serve.http.browsing import service_of
from sordino.serve.http.problems import status_of
from sordino.serve.keeping.identity import Session
from sordino.serve.keeping.registry import random_hex
from sordino.serve.refusals import AccessError, UnknownError

from .shown import cost_words
from .worked import PICTURE

router = APIRouter()

_KIND = "publication"
_LONGEST = 20_000
_EXAMPLE = """dataset: {name}
recipe: {recipe}
parameters: {{}}
epsilon: 1
"""
Text = Annotated[str, Form(max_length=_LONGEST)]


@router.get("/publications/new")
def begin(
    request: Request,
    session: Visitor,
    dataset: Annotated[str, Query(max_length=200)] = "",
    recipe: Annotated[str, Query(max_length=100)] = "",
    asked: Annotated[str, Query(max_length=_LONGEST)] = "",
) -> Response:
    """Show the form of a publication."""
    session.who.must_be("owner", "analyst")
    service = service_of(request)
    names = [each["name"] for each in service.datasets(session.who) if each["sort"] in service.kind(_KIND).about]
    chosen = dataset if dataset in names else next(iter(names), "…")
    known = recipe if recipe in RECIPES else next(iter(RECIPES), "…")
    return _form(request, session, asked or _EXAMPLE.format(name=chosen, recipe=known))


@router.post("/publications/price")
def price(request: Request, session: Sender, asked: Text = "") -> Response:
    """Show what a publication costs, and how far off it will be. Touches no data."""
    session.who.must_be("owner", "analyst")
    try:
        pricing = request.app.state.desk.pricing
        priced = pricing.submit(service_of(request).price, session.who, _KIND, _read(asked)).result()
    except AccessError:
        raise
    except SordinoError as error:
        return _refused(request, session, asked, error)
    return _form(request, session, asked, priced=priced, cost=cost_words(priced), key=random_hex())


@router.post("/publications/run")
def run(request: Request, session: Sender, asked: Text = "", key: Annotated[str, Form()] = "") -> Response:
    """Begin a publication, and show it."""
    session.who.must_be("owner", "analyst")
    try:
        job = service_of(request).submit(session.who, _KIND, _read(asked), key or None)
    except AccessError:
        raise
    except SordinoError as error:
        return _refused(request, session, asked, error)
    return see(f"/publications/{job.id}")


@router.get("/publications/{identifier}")
def publication(request: Request, session: Visitor, identifier: str) -> Response:
    """Show what was asked for, its price, how far it is, and what came of it."""
    session.who.must_be("owner", "analyst")
    service = service_of(request)
    job = service.jobs.job(session.who, identifier)
    if job["kind"] != _KIND:
        raise UnknownError("publication")
    priced = service.price(session.who, _KIND, job["request"])
    values: dict[str, Any] = {
        "job": job,
        "asked": json.dumps(job["request"], indent=2, ensure_ascii=False),
        "priced": priced,
        "cost": cost_words(priced),
    }
    return page(request, session, "publication.html", **values)


@router.get("/publications/{identifier}/picture.png")
def picture(request: Request, session: Visitor, identifier: str) -> Response:
    """Give the picture that a settled job drew."""
    session.who.must_be("owner", "analyst")
    path = service_of(request).jobs.file(session.who, identifier, PICTURE)
    return FileResponse(path, media_type="image/png")


def _read(text: str) -> dict[str, Any]:
    found = parse(text, "what is asked for")
    if not isinstance(found, dict):
        raise ArgumentError(
            "a publication is asked for by words and values, one on each line, as recipe: …", "SRD-P008"
        )
    return found


def _refused(request: Request, session: Session, asked: str, error: SordinoError) -> Response:
    status = status_of(error)
    if status >= 500:
        raise error
    return _form(request, session, asked, status, error=error, title=title_of(status))


def _form(request: Request, session: Session, asked: str, status: int = 200, **values: Any) -> Response:
    known = {"asked": asked, "recipes": tuple(RECIPES), "priced": None, "error": None, **values}
    return page(request, session, "publication_new.html", status, **known)
