"""What operators look at: health, metrics, and the description of the API."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import JSONResponse, Response

from sordino.serve.http.metrics import CONTENT_TYPE, Metrics
from sordino.serve.keeping.identity import Principal
from sordino.serve.service import Service

from .calls import Calling
from .models import ERRORS
from .shapes import Health, Somebody, answers

router = APIRouter(tags=["operating"])


@router.get("/healthz", responses={**answers(Health), **answers(Health, 503, "the ledger is frozen")})
async def health(request: Request) -> JSONResponse:
    """Say whether the service answers, and whether its ledger does; for everybody."""
    frozen = request.app.state.desk.service.frozen
    return JSONResponse(
        {"ok": frozen is None, "frozen": None if frozen is None else frozen.code}, 503 if frozen else 200
    )


@router.get("/metrics", responses={**ERRORS, 200: {"description": "the page", "content": {"text/plain": {}}}})
async def metrics(request: Request, call: Calling) -> Response:
    """Return the page that Prometheus reads, with the token of an owner or an auditor."""
    found: Metrics = request.app.state.metrics

    def page(service: Service, who: Principal) -> bytes:
        who.must_see_all()
        return found.page(service.house)

    return Response(await call(page), media_type=CONTENT_TYPE)


@router.get("/api/v1/openapi.json", responses=ERRORS)
async def description(request: Request, call: Calling) -> Any:
    """Return the description of this API, for whoever has a token."""
    return JSONResponse(await call(lambda _service, _who: request.app.openapi()))


@router.get("/api/v1/whoami", responses={**ERRORS, **answers(Somebody)})
async def whoami(call: Calling) -> Any:
    """Return who you are here: subject, role, data sets."""
    who = await call(lambda _service, who: who)
    datasets = None if who.datasets is None else sorted(who.datasets)
    return JSONResponse({"subject": who.subject, "role": who.role, "datasets": datasets})
