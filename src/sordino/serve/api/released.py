"""Releases, receipts, budgets and transparency."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query
from fastapi.responses import JSONResponse, Response

from .calls import Calling
from .models import ERRORS
from .shapes import BudgetReport, ReleaseFull, ReleaseShort, Transparency, answers, listed

router = APIRouter(responses=ERRORS)

_LARGEST = 2**53


@router.get("/releases", tags=["released"], responses=answers(listed("releases", ReleaseShort)))
async def releases(
    call: Calling,
    dataset: str | None = None,
    before: Annotated[int | None, Query(ge=0, le=_LARGEST)] = None,
    limit: Annotated[int, Query(ge=1, le=500)] = 50,
) -> Any:
    """Return the newest releases that you may see; `before` is the `position` of the last one on the page before."""
    found = await call(lambda service, who: service.releases(who, dataset=dataset, before=before, limit=limit))
    return JSONResponse({"releases": found})


@router.get("/releases/{identifier}", tags=["released"], responses=answers(ReleaseFull))
async def release(call: Calling, identifier: str) -> Any:
    """Return one release with its answer."""
    return JSONResponse(await call(lambda service, who: service.release(who, identifier)))


@router.get(
    "/releases/{identifier}/answer.csv",
    tags=["released"],
    response_class=Response,
    responses={200: {"content": {"text/csv": {}}, "description": "the table"}},
)
async def table(call: Calling, identifier: str) -> Any:
    """Return what was released as comma-separated values, each noisy column followed by the ends of its intervals."""
    return Response(await call(lambda service, who: service.table(who, identifier)), media_type="text/csv")


@router.get("/receipts/{identifier}", tags=["released"], responses=answers(dict[str, Any]))
async def receipt(call: Calling, identifier: str) -> Any:
    """Return the receipt of a release as the text that verifies offline; keep it byte for byte."""
    text = await call(lambda service, who: service.receipt(who, identifier))
    return Response(text, media_type="application/json")


@router.get("/budgets/dataset/{name}", tags=["released"], responses=answers(BudgetReport))
async def budget(call: Calling, name: str) -> Any:
    """Return the budget of a data set: cap, used part, what remains, who used it, the budget over time."""
    return JSONResponse(await call(lambda service, who: service.budget(who, name)))


@router.get("/budgets/{kind}/{name}", tags=["released"], responses=answers(BudgetReport))
async def scope_budget(call: Calling, kind: Literal["analyst", "project", "group"], name: str) -> Any:
    """Return the same for an analyst, a project or a group."""
    return JSONResponse(await call(lambda service, who: service.scope_budget(who, kind, name)))


@router.get("/transparency/{dataset}", tags=["released"], responses=answers(Transparency))
async def transparency(call: Calling, dataset: str) -> Any:
    """Return how the budget of a data set was spent, by which mechanisms and noise; public if the owner says so."""
    return JSONResponse(await call.even_unknown(lambda service, who: service.transparency(who, dataset)))
