"""Pages of trainings: a recipe is priced, then begun; a training shows its recipe, its price, its step and its ε.

Nothing else is shown of one that runs: no loss, no norm, no time of a step.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

from fastapi import APIRouter, Form, Query, Request
from fastapi.responses import Response

from sordino.serve.dashboard.pages import Sender, Visitor
from sordino.serve.dashboard.written import LONGEST, Written

from .shown import LETTERS, by_tranche, within_words

router = APIRouter()

_RECIPE = """dataset: {name}
model: {{kind: mlp, hidden: [64]}}
batch: 256
epochs: 10
clip: 1
epsilon: 1
"""
Recipe = Annotated[str, Form(max_length=LONGEST)]


def _shown(priced: Mapping[str, Any], progress: Mapping[str, Any] | None) -> dict[str, Any]:
    return {
        "cost": within_words(priced),
        "letter": LETTERS[priced["measure"]],
        "drawing": by_tranche(priced["by_tranche"], priced["measure"], (progress or {}).get("step")),
    }


_PAGES = Written(
    kind="training",
    address="/trainings",
    form_template="training_new.html",
    job_template="training.html",
    form_of_text="a recipe is a list of words and values, one on each line, as batch: 256",
    code="SRD-T202",
    shown=_shown,
)


@router.get("/trainings/new")
def begin(
    request: Request,
    session: Visitor,
    dataset: Annotated[str, Query(max_length=200)] = "",
    recipe: Annotated[str, Query(max_length=LONGEST)] = "",
) -> Response:
    """Show the form of a recipe."""
    names = _PAGES.datasets(request, session)
    chosen = dataset if dataset in names else next(iter(names), "…")
    return _PAGES.form(request, session, recipe or _RECIPE.format(name=chosen))


@router.post("/trainings/price")
def price(request: Request, session: Sender, recipe: Recipe = "") -> Response:
    """Show what a recipe costs, tranche by tranche. Touches no data."""
    return _PAGES.price(request, session, recipe)


@router.post("/trainings/run")
def run(request: Request, session: Sender, recipe: Recipe = "", key: Annotated[str, Form()] = "") -> Response:
    """Begin a training, and show it."""
    return _PAGES.run(request, session, recipe, key)


@router.get("/trainings/{identifier}")
def training(request: Request, session: Visitor, identifier: str) -> Response:
    """Show the recipe of a training, its price, and how far it is."""
    return _PAGES.job(request, session, identifier)
