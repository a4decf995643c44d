"""Pages of trainings: a recipe is priced, then begun; a training shows its recipe, its price, its step and its ε.

Nothing else is shown of one that runs: no loss, no norm, no time of a step. The form to begin holds the recipe as it
was priced and a key of its own, so that to send it twice begins one job.
"""

from __future__ import annotations

import json
from typing import Annotated, Any

from fastapi import APIRouter, Form, Query, Request
from fastapi.responses import Response

from sordino.data.strict_yaml import parse
from sordino.errors import ArgumentError, SordinoError
from sordino.serve.dashboard.pages import Sender, Visitor, page, see
from sordino.serve.dashboard.troubles import title_of
from sordino.serve.http.browsing import service_of
from sordino.serve.http.problems import status_of
from sordino.serve.keeping.identity import Session
from sordino.serve.keeping.registry import random_hex
from sordino.serve.refusals import AccessError, UnknownError

from .shown import LETTERS, by_tranche, within_words

router = APIRouter()

_KIND = "training"
_LONGEST = 20_000
_RECIPE = """dataset: {name}
model: {{kind: mlp, hidden: [64]}}
batch: 256
epochs: 10
clip: 1
epsilon: 1
"""
Recipe = Annotated[str, Form(max_length=_LONGEST)]


@router.get("/trainings/new")
def begin(
    request: Request,
    session: Visitor,
    dataset: Annotated[str, Query(max_length=200)] = "",
    recipe: Annotated[str, Query(max_length=_LONGEST)] = "",
) -> Response:
    """Show the form of a recipe."""
    session.who.must_be("owner", "analyst")
    service = service_of(request)
    names = [each["name"] for each in service.datasets(session.who) if each["sort"] in service.kind(_KIND).about]
    chosen = dataset if dataset in names else next(iter(names), "…")
    return _form(request, session, recipe or _RECIPE.format(name=chosen))


@router.post("/trainings/price")
def price(request: Request, session: Sender, recipe: Recipe = "") -> Response:
    """Show what a recipe costs, tranche by tranche. Touches no data."""
    session.who.must_be("owner", "analyst")
    try:
        asked = _read(recipe)
        pricing = request.app.state.desk.pricing
        priced = pricing.submit(service_of(request).price, session.who, _KIND, asked).result()
    except AccessError:
        raise
    except SordinoError as error:
        return _refused(request, session, recipe, error)
    values = {"priced": priced, "cost": within_words(priced), "key": random_hex(), "letter": LETTERS[priced["measure"]]}
    return _form(request, session, recipe, **values, drawing=_drawn(priced, None))


@router.post("/trainings/run")
def run(request: Request, session: Sender, recipe: Recipe = "", key: Annotated[str, Form()] = "") -> Response:
    """Begin a training, and show it."""
    session.who.must_be("owner", "analyst")
    try:
        job = service_of(request).submit(session.who, _KIND, _read(recipe), key or None)
    except AccessError:
        raise
    except SordinoError as error:
        return _refused(request, session, recipe, error)
    return see(f"/trainings/{job.id}")


@router.get("/trainings/{identifier}")
def training(request: Request, session: Visitor, identifier: str) -> Response:
    """Show the recipe of a training, its price, and how far it is."""
    session.who.must_be("owner", "analyst")
    service = service_of(request)
    job = service.jobs.job(session.who, identifier)
    if job["kind"] != _KIND:
        raise UnknownError("training")
    priced = service.price(session.who, _KIND, job["request"])
    now = (job["progress"] or {}).get("step")
    values: dict[str, Any] = {
        "job": job,
        "recipe": json.dumps(job["request"], indent=2, ensure_ascii=False),
        "priced": priced,
        "cost": within_words(priced),
        "letter": LETTERS[priced["measure"]],
        "drawing": _drawn(priced, now),
    }
    return page(request, session, "training.html", **values)


def _read(text: str) -> dict[str, Any]:
    found = parse(text, "the recipe")
    if not isinstance(found, dict):
        raise ArgumentError("a recipe is a list of words and values, one on each line, as batch: 256", "SRD-T202")
    return found


def _drawn(priced: dict[str, Any], now: int | None) -> dict[str, Any]:
    return by_tranche(priced["by_tranche"], priced["measure"], now)


def _refused(request: Request, session: Session, recipe: str, error: SordinoError) -> Response:
    status = status_of(error)
    if status >= 500:
        raise error
    return _form(request, session, recipe, status, error=error, title=title_of(status))


def _form(request: Request, session: Session, recipe: str, status: int = 200, **values: Any) -> Response:
    known = {"recipe": recipe, "priced": None, "error": None, **values}
    return page(request, session, "training_new.html", status, **known)
