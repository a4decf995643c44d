"""The ledger: checkpoint, entries, proofs, verification, and being another ledger's witness."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query
from fastapi.responses import JSONResponse

from . import shapes
from .calls import Calling
from .models import ERRORS, WitnessedCheckpoint

router = APIRouter(prefix="/ledger", tags=["ledger"], responses=ERRORS)

Position = Annotated[int, Query(ge=0, le=2**53)]
MaybePosition = Annotated[int | None, Query(ge=0, le=2**53)]


@router.get("/checkpoint", responses=shapes.answers(shapes.SignedCheckpoint))
async def checkpoint(call: Calling) -> Any:
    """Return the newest signed checkpoint and the public key."""
    return JSONResponse(await call(lambda service, who: service.checkpoint(who)))


@router.get("/entries", responses=shapes.answers(shapes.listed("entries", shapes.EntryShown)))
async def entries(call: Calling, start: Position, end: Position) -> Any:
    """Return entries from `start` up to `end`, at most a thousand."""
    return JSONResponse({"entries": await call(lambda service, who: service.entries(who, start, end))})


@router.get("/inclusion", responses=shapes.answers(shapes.Inclusion))
async def inclusion(call: Calling, position: Position, size: MaybePosition = None) -> Any:
    """Return the proof that an entry is in the ledger."""
    return JSONResponse(await call(lambda service, who: service.inclusion(who, position, size)))


@router.get("/consistency", responses=shapes.answers(shapes.Consistency))
async def consistency(call: Calling, old: Position, new: MaybePosition = None) -> Any:
    """Return the proof that the ledger only grew."""
    return JSONResponse(await call(lambda service, who: service.consistency(who, old, new)))


@router.post("/verify", responses=shapes.answers(shapes.Verified))
async def verify(call: Calling) -> Any:
    """Read the whole ledger again and judge every entry."""
    return JSONResponse(await call(lambda service, who: service.verify(who)))


@router.get("/witness", responses=shapes.answers(shapes.Witnessed))
async def witnessed(call: Calling, key: Annotated[str, Query(min_length=1, max_length=1000)]) -> Any:
    """Return what this service remembers of another ledger."""
    return JSONResponse(await call(lambda service, who: service.witnessed(who, key)))


@router.post("/witness", responses=shapes.answers(shapes.Acknowledged))
async def add_checkpoint(call: Calling, body: WitnessedCheckpoint) -> Any:
    """Remember the newest checkpoint of another ledger, if it extends what is remembered."""
    found = await call(
        lambda service, who: service.add_checkpoint(
            who, body.key, body.note, body.old_size, body.proof, body.spent, body.signature, anew=body.anew
        )
    )
    return JSONResponse(found)
