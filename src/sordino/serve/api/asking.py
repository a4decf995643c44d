"""Data sets, prices and runs of every kind, and jobs."""

from __future__ import annotations

import asyncio
from typing import Annotated, Any

from fastapi import APIRouter, Header, Query
from fastapi.responses import FileResponse, JSONResponse
from pydantic import create_model

from sordino.serve.asking import open_work
from sordino.serve.asking.jobs import finished
from sordino.serve.kinds.kind import Kind

from .calls import Call, Calling
from .models import ERRORS, Body, plain
from .shapes import DatasetFull, DatasetShort, JobAccepted, JobShown, answers, listed

router = APIRouter(responses=ERRORS)

_ACCEPTED = answers(JobAccepted, 202, "it takes long: look at the job")
IdempotencyKey = Annotated[str | None, Header(alias="Idempotency-Key", min_length=1, max_length=200)]


@router.get("/datasets", tags=["asking"], responses=answers(listed("datasets", DatasetShort)))
async def datasets(call: Calling) -> Any:
    """Return the data sets that you may know of, with their budgets in short."""
    return JSONResponse({"datasets": await call(lambda service, who: service.datasets(who))})


@router.get("/datasets/{name}", tags=["asking"], responses=answers(DatasetFull))
async def dataset(call: Calling, name: str) -> Any:
    """Return what is publicly known about a data set: who is protected, tables, columns, policy, budget."""
    return JSONResponse(await call(lambda service, who: service.dataset(who, name)))


def router_of(kind: Kind) -> APIRouter:
    """Return the routes by which requests of a kind are priced and run."""
    shapes = kind.shapes()
    found = APIRouter(responses=ERRORS)

    async def price(call: Calling, request: Any) -> Any:
        """Return what a request costs, whether it fits, and what its kind says of it. Touches no data."""
        asked = plain(request) or {}
        return JSONResponse(await call.price(lambda service, who: service.price(who, kind.name, asked)))

    async def run(call: Calling, request: Any, idempotency_key: IdempotencyKey = None) -> Any:
        """Charge a request and return what is released, or a job if it takes long.

        With an ``Idempotency-Key``, the same request is answered and charged once, however often it is sent.
        """
        asked = plain(request) or {}
        job = await call(lambda service, who: service.submit(who, kind.name, asked, idempotency_key))
        return await answer_or_job(call, job)

    for route, told in ((price, answers(shapes.priced)), (run, {**answers(shapes.released), **_ACCEPTED})):
        route.__annotations__["request"] = shapes.request
        name = route.__name__
        found.add_api_route(
            f"/{kind.name}/{name}",
            route,
            methods=["POST"],
            tags=[kind.name],
            responses=told,
            name=f"{kind.name}_{name}",
        )
    return found


def open_router_of(kind: Kind) -> APIRouter:
    """Return the routes by which more is asked of work that a kind leaves open."""
    found = APIRouter(responses=ERRORS)
    if kind.opened is None:
        return found
    shape = kind.opened().shape
    asking = create_model("Part", __base__=Body, request=(kind.shapes().request, ...), asked=(shape, ...))
    ending = create_model("Finish", __base__=Body, request=(kind.shapes().request, ...))

    async def part(call: Calling, identifier: str, body: Any) -> Any:
        """Ask more of open work, by its id and the request that began it; nothing is charged."""
        begun, asked = plain(body.request) or {}, plain(body.asked) or {}
        told = await call(lambda service, who: open_work.part(service.house, who, kind, identifier, begun, asked))
        return JSONResponse(told)

    async def finish(call: Calling, identifier: str, body: Any) -> Any:
        """Settle open work. There is no refund for what was not asked."""
        begun = plain(body.request) or {}
        return JSONResponse(
            await call(lambda service, who: open_work.finish(service.house, who, kind, identifier, begun))
        )

    for route, given in ((part, asking), (finish, ending)):
        route.__annotations__["body"] = given
        address, name = f"/{kind.name}/{{identifier}}/{route.__name__}", f"{kind.name}_{route.__name__}"
        told = answers(dict[str, Any])
        found.add_api_route(address, route, methods=["POST"], tags=[kind.name], responses=told, name=name)
    return found


async def answer_or_job(call: Call, job: Any) -> JSONResponse:
    """Return what a run released if it ends in time, else the job to look at."""
    service = call.desk.service
    if not job.kind.apart and await finished(job, service.settings.threshold_seconds):
        return JSONResponse(job.future.result())
    shown = await asyncio.get_running_loop().run_in_executor(call.desk.reading, service.jobs.keep, job)
    return JSONResponse({"job": shown}, 202, {"location": f"/api/v1/jobs/{job.id}", "retry-after": "1"})


@router.get("/jobs", tags=["asking"], responses=answers(listed("jobs", JobShown)))
async def jobs(call: Calling, limit: Annotated[int, Query(ge=1, le=500)] = 50) -> Any:
    """Return your newest jobs."""
    return JSONResponse({"jobs": await call(lambda service, who: service.jobs.jobs(who, limit))})


@router.get("/jobs/{identifier}", tags=["asking"], responses=answers(JobShown))
async def job(call: Calling, identifier: str) -> Any:
    """Return the stage of a job, and the release or the error that it ended with."""
    return JSONResponse(await call(lambda service, who: service.jobs.job(who, identifier)))


@router.get(
    "/jobs/{identifier}/files/{name}",
    tags=["asking"],
    response_class=FileResponse,
    responses={200: {"content": {"application/octet-stream": {}}, "description": "the file"}},
)
async def job_file(call: Calling, identifier: str, name: str) -> Any:
    """Return a file that a settled job left for you, such as the weights of a model."""
    path = await call(lambda service, who: service.jobs.file(who, identifier, name))
    return FileResponse(path, media_type="application/octet-stream", filename=name)


@router.post("/jobs/{identifier}/stop", tags=["asking"], responses=answers(JobShown))
async def stop(call: Calling, identifier: str) -> Any:
    """Stop a job in a process of its own; what was charged stays charged, and it can be gone on with."""
    return JSONResponse(await call(lambda service, who: service.jobs.stop(who, identifier)))


@router.post("/jobs/{identifier}/resume", tags=["asking"], responses=answers(JobShown))
async def resume(call: Calling, identifier: str) -> Any:
    """Go on with a job that was stopped, or whose process died. Work that was charged whole is charged once; what is
    charged in tranches, as trainings, goes on to be, and pays again for the steps that are run again."""
    return JSONResponse(await call(lambda service, who: service.jobs.resume(who, identifier)))
