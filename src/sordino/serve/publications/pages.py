"""Pages of publications: what is asked for is priced, then begun; a job shows its price, its stage, then a picture."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

from fastapi import APIRouter, Form, Query, Request
from fastapi.responses import FileResponse, Response

from sordino.publish.recipes import RECIPES
from sordino.serve.dashboard.pages import Sender, Visitor
from sordino.serve.dashboard.written import LONGEST, Written
from sordino.serve.http.browsing import service_of

from .shown import cost_words
from .worked import PICTURE

router = APIRouter()

_EXAMPLE = """dataset: {name}
recipe: {recipe}
parameters: {{}}
epsilon: 1
"""
Text = Annotated[str, Form(max_length=LONGEST)]


def _shown(priced: Mapping[str, Any], _progress: Mapping[str, Any] | None) -> dict[str, Any]:
    return {"cost": cost_words(priced)}


_PAGES = Written(
    kind="publication",
    address="/publications",
    form_template="publication_new.html",
    job_template="publication.html",
    form_of_text="a publication is asked for by words and values, one on each line, as recipe: …",
    code="SRD-P008",
    shown=_shown,
    beside={"recipes": tuple(RECIPES)},
)


@router.get("/publications/new")
def begin(
    request: Request,
    session: Visitor,
    dataset: Annotated[str, Query(max_length=200)] = "",
    recipe: Annotated[str, Query(max_length=100)] = "",
    asked: Annotated[str, Query(max_length=LONGEST)] = "",
) -> Response:
    """Show the form of a publication."""
    names = _PAGES.datasets(request, session)
    chosen = dataset if dataset in names else next(iter(names), "…")
    known = recipe if recipe in RECIPES else next(iter(RECIPES))
    return _PAGES.form(request, session, asked or _EXAMPLE.format(name=chosen, recipe=known))


@router.post("/publications/price")
def price(request: Request, session: Sender, asked: Text = "") -> Response:
    """Show what a publication costs, and how far off it will be. Touches no data."""
    return _PAGES.price(request, session, asked)


@router.post("/publications/run")
def run(request: Request, session: Sender, asked: Text = "", key: Annotated[str, Form()] = "") -> Response:
    """Begin a publication, and show it."""
    return _PAGES.run(request, session, asked, key)


@router.get("/publications/{identifier}")
def publication(request: Request, session: Visitor, identifier: str) -> Response:
    """Show what was asked for, its price, how far it is, and what came of it."""
    return _PAGES.job(request, session, identifier)


@router.get("/publications/{identifier}/picture.png")
def picture(request: Request, session: Visitor, identifier: str) -> Response:
    """Give the picture that a settled job drew."""
    session.who.must_be("owner", "analyst")
    path = service_of(request).jobs.file(session.who, identifier, PICTURE)
    return FileResponse(path, media_type="image/png")
