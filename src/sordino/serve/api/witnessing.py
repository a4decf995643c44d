"""Being a witness that cosigns: ``add-checkpoint`` of C2SP tlog-witness, for the logs that the settings name.

There is no token here: a checkpoint that a known log has signed is its own permission, and all else changes nothing.
"""

from __future__ import annotations

from fastapi import APIRouter, Request
from fastapi.responses import Response
from starlette.concurrency import run_in_threadpool

from sordino.ledger.witness_protocol import TEXT_TYPE
from sordino.serve.witness import cosigning

router = APIRouter(prefix="/witness", include_in_schema=False)


@router.post("/add-checkpoint")
async def add_checkpoint(request: Request) -> Response:
    """Cosign a checkpoint of a log that is known here, if it extends the one that was cosigned last."""
    house, body = request.app.state.desk.service.house, await request.body()
    found = await run_in_threadpool(cosigning.answered, house.settings, house.registry, body)
    return Response(found.body, found.status, media_type=found.type)


@router.get("/{origin}/checkpoint")
async def checkpoint(request: Request, origin: str) -> Response:
    """Return the newest checkpoint that was cosigned of a log, by the SHA-256 of its origin."""
    house = request.app.state.desk.service.house
    note = await run_in_threadpool(cosigning.newest, house.settings, house.registry, origin)
    if note is None:
        return Response("this witness has cosigned nothing of this log\n", 404, media_type=TEXT_TYPE)
    return Response(note, media_type=TEXT_TYPE)
