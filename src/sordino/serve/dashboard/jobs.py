"""Jobs: runs that take long, of every kind; how far they are, and the reins of their processes."""

from __future__ import annotations

from fastapi import APIRouter, Request
from fastapi.responses import FileResponse, Response

from sordino.serve.http.browsing import service_of

from .pages import Sender, Visitor, page, see

router = APIRouter()


@router.get("/jobs")
def jobs(request: Request, session: Visitor) -> Response:
    """List the newest jobs: one's own, or for an owner all."""
    session.who.must_be("owner", "analyst")
    service = service_of(request)
    where = {name: kind.watched_at for name, kind in service.house.kinds.items()}
    return page(request, session, "jobs.html", jobs=service.jobs.jobs(session.who), where=where)


@router.get("/jobs/{identifier}")
def job(request: Request, session: Visitor, identifier: str) -> Response:
    """Show how far a job is, what its plan makes public, and what came of it."""
    session.who.must_be("owner", "analyst")
    return page(request, session, "job.html", job=service_of(request).jobs.job(session.who, identifier))


@router.get("/jobs/{identifier}/files/{name}")
def file(request: Request, session: Visitor, identifier: str, name: str) -> Response:
    """Give a file that a settled job left for whoever asked."""
    session.who.must_be("owner", "analyst")
    path = service_of(request).jobs.file(session.who, identifier, name)
    return FileResponse(path, media_type="application/octet-stream", filename=name)


@router.post("/jobs/{identifier}/stop")
def stop(request: Request, session: Sender, identifier: str) -> Response:
    """Have a job stopped; what was charged stays charged."""
    session.who.must_be("owner", "analyst")
    service_of(request).jobs.stop(session.who, identifier)
    return see(f"/jobs/{identifier}")


@router.post("/jobs/{identifier}/resume")
def resume(request: Request, session: Sender, identifier: str) -> Response:
    """Go on with a job."""
    session.who.must_be("owner", "analyst")
    service_of(request).jobs.resume(session.who, identifier)
    return see(f"/jobs/{identifier}")
