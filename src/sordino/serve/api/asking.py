"""Data sets, prices, runs and jobs."""

from __future__ import annotations

import asyncio
from typing import Annotated, Any

from fastapi import APIRouter, Header, Query
from fastapi.responses import JSONResponse

from sordino.serve.jobs import finished

from .calls import Call, Calling
from .models import ERRORS, Question, plain
from .shapes import DatasetFull, DatasetShort, JobAccepted, JobShown, Priced, Released, answers, listed

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


@router.post("/price", tags=["asking"], responses=answers(Priced))
async def price(call: Calling, question: Question) -> Any:
    """Return what a question costs, whether it fits, and how far off every column will be. Touches no data."""
    asked = plain(question) or {}
    return JSONResponse(await call.price(lambda service, who: service.price(who, asked)))


@router.post("/run", tags=["asking"], responses={**answers(Released), **_ACCEPTED})
async def run(call: Calling, question: Question, idempotency_key: IdempotencyKey = None) -> Any:
    """Charge a question and return the released answer, or a job if it takes long.

    With an ``Idempotency-Key``, the same request is answered and charged once, however often it is sent.
    """
    asked = plain(question) or {}
    job = await call(lambda service, who: service.jobs.submit(who, asked, idempotency_key))
    return await answer_or_job(call, job)


async def answer_or_job(call: Call, job: Any) -> JSONResponse:
    """Return what a run released if it ends in time, else the job to look at."""
    service = call.desk.service
    if await finished(job, service.settings.threshold_seconds):
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
