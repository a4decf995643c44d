"""The query console: a question is priced first, and what was priced is what is run.

Everything works without scripts, by plain forms that give whole pages; with htmx the same addresses give the part that
changes. The form to run holds the question as it was priced and a key of its own, so that to send it twice is charged
once.
"""

from __future__ import annotations

from collections.abc import Mapping
from http import HTTPStatus
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request
from fastapi.responses import HTMLResponse
from starlette.concurrency import run_in_threadpool

from sordino.errors import SordinoError
from sordino.serve.asking.jobs import finished
from sordino.serve.dashboard.pages import Sender, Visitor, page, partial
from sordino.serve.dashboard.troubles import title_of
from sordino.serve.http.browsing import service_of
from sordino.serve.http.problems import status_of
from sordino.serve.keeping.identity import Principal, Session
from sordino.serve.keeping.registry import random_hex
from sordino.serve.refusals import AccessError
from sordino.serve.service import Service
from sordino.serve.telling import event_words

from .answers import shown_answer
from .copied import copies
from .form import FURTHER, Sent, Typed, first_line, place_of, typed
from .starters import starters
from .vocabulary import vocabulary

router = APIRouter()

_KIND = "query"
_WAITS = "SRD-B005"
STAGES = ("waiting", "planned", "reserved", "running", "settled")


@router.get("/console")
def console(request: Request, session: Visitor) -> HTMLResponse:
    """Show the form, with what the address says already in it."""
    session.who.must_be("owner", "analyst")
    return _whole(request, session, typed(request.query_params), "outcome_none.html")


@router.get("/console/schema")
def schema(request: Request, session: Visitor, dataset: Annotated[str, Query()] = "") -> HTMLResponse:
    """Show the tables and columns of another data set, for whoever writes and for completion."""
    session.who.must_be("owner", "analyst")
    return page(request, session, "schema.html", **_schema(service_of(request), session.who, dataset))


@router.post("/console/price")
def price(request: Request, session: Sender, sent: Sent) -> HTMLResponse:
    """Show what a question costs, what would be left, and how far off each column will be. Touches no data."""
    session.who.must_be("owner", "analyst")
    service = service_of(request)
    try:
        question = sent.question
        priced = request.app.state.desk.pricing.submit(service.price, session.who, _KIND, question).result()
    except AccessError:
        raise
    except SordinoError as error:
        return _refused(request, session, sent, error)
    values = {
        "priced": priced,
        "cost": event_words.price(priced),
        "budget": service.budget(session.who, sent["dataset"]),
        "degrades": _degrades(service, session.who, sent, priced),
        "approval": _approval(service, session.who, question),
        "fitting": _fitting(sent, priced),
        "key": random_hex(),
        "copies": copies(question, service.settings.url or str(request.base_url)),
    }
    return _outcome(request, session, sent, "outcome_priced.html", **values)


@router.post("/console/run")
async def run(request: Request, session: Sender, sent: Sent) -> HTMLResponse:
    """Charge what was priced, and show what is released, or the job that it became."""
    session.who.must_be("owner", "analyst")
    service = service_of(request)
    form = await request.form()
    key = form.get("key")
    try:
        question = sent.question
        job = await run_in_threadpool(
            service.submit, session.who, _KIND, question, key if isinstance(key, str) else None
        )
        if not await finished(job, service.settings.threshold_seconds):
            shown = await run_in_threadpool(service.jobs.keep, job)
            return await run_in_threadpool(_job, request, session, sent, shown)
        released = job.future.result()
    except AccessError:
        raise
    except SordinoError as error:
        return await run_in_threadpool(_refused, request, session, sent, error)
    return await run_in_threadpool(_answered, request, session, sent, released)


@router.get("/console/jobs/{identifier}")
def job(request: Request, session: Visitor, identifier: str) -> HTMLResponse:
    """Show how far a job is, and what came of it."""
    session.who.must_be("owner", "analyst")
    service = service_of(request)
    shown = service.jobs.job(session.who, identifier)
    sent = typed({"dataset": shown["dataset"]})
    if shown["release"] is not None:
        released = service.release(session.who, shown["release"])
        return _answered(request, session, typed({**sent, "sql": released["sql"]}), {**released, "replayed": False})
    if shown["error"] is not None:
        error = SordinoError(shown["error"]["message"], shown["error"]["code"])
        return _refused(request, session, sent, error, HTTPStatus.OK)
    return _job(request, session, sent, shown)


def _job(request: Request, session: Session, sent: Typed, shown: Mapping[str, Any]) -> HTMLResponse:
    stage = shown["stage"] if shown["stage"] in STAGES else STAGES[0]
    values: dict[str, Any] = {"job": shown, "stages": STAGES, "at": STAGES.index(stage)}
    return _outcome(request, session, sent, "outcome_job.html", **values)


def _answered(request: Request, session: Session, sent: Typed, released: Mapping[str, Any]) -> HTMLResponse:
    values: dict[str, Any] = {
        "release": released,
        "shown": shown_answer(released["answer"]),
        "budget": service_of(request).budget(session.who, released["dataset"]),
    }
    found = _outcome(request, session, sent, "outcome_answered.html", **values)
    found.headers["hx-trigger"] = "charged"  # what else shows the budget loads itself again
    return found


def _refused(
    request: Request, session: Session, sent: Typed, error: SordinoError, status: int | None = None
) -> HTMLResponse:
    """Say why nothing was priced or run; where the budget is short, also what is left and when it begins anew."""
    told = status_of(error) if status is None else status
    if told == HTTPStatus.INTERNAL_SERVER_ERROR:
        raise error
    values = {
        "title": title_of(told) if status is None else "Nothing came of this run",
        "message": first_line(error.message),
        "code": error.code,
        "place": place_of(sent["sql"], error),
        "waits": error.code == _WAITS,
        "budget": service_of(request).budget(session.who, sent["dataset"]) if _short(error) else None,
    }
    found = _outcome(request, session, sent, "outcome_refused.html", told, **values)
    found.headers["x-sordino-code"] = error.code
    return found


def _short(error: SordinoError) -> bool:
    return error.code.startswith("SRD-B")


def _outcome(
    request: Request, session: Session, sent: Typed, template: str, status: int = 200, **values: Any
) -> HTMLResponse:
    """Return what came of the form: the part for htmx (which shows what has status 200), or the page with the form."""
    if partial(request):
        return page(request, session, template, sent=sent, whole=False, **values)
    return _whole(request, session, sent, template, status, **values)


def _whole(
    request: Request, session: Session, sent: Typed, template: str, status: int = 200, **values: Any
) -> HTMLResponse:
    service, who = service_of(request), session.who
    names = [each["name"] for each in service.datasets(who) if each["sort"] in service.kind(_KIND).about]
    chosen = sent["dataset"] if sent["dataset"] in names else next(iter(names), "")
    known = {
        "names": names,
        "sent": Typed({**sent, "dataset": chosen}),
        "outcome": template,
        "whole": True,
        "further": FURTHER,
        "more": any(sent[name] for name in FURTHER),
        **_schema(service, who, chosen),
    }
    return page(request, session, "console.html", status, **known, **values)


def _schema(service: Service, who: Principal, name: str) -> dict[str, Any]:
    found = service.dataset(who, name) if name else None
    asked = found if found is not None and found["sort"] in service.kind(_KIND).about else None
    return {"found": asked, "words": vocabulary(asked), "starters": starters(asked)}


def _approval(service: Service, who: Principal, question: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """Return the owner's approval of exactly this question, if there is one that was not used yet."""
    mine = (each for each in service.approvals(who) if each["analyst"] == who.subject and each["question"] == question)
    return next((each for each in mine if each["state"] in ("approved", "pending")), None)


def _degrades(service: Service, who: Principal, sent: Typed, priced: Mapping[str, Any]) -> bool:
    """Whether what does not fit would be run with the noise that does; not where an error was asked for."""
    allowed = not priced["fits"] and priced["would_fit"] is not None and sent["spend"] != "error"
    return allowed and bool(service.dataset(who, sent["dataset"])["policy"]["degrade"])


def _fitting(sent: Typed, priced: Mapping[str, Any]) -> Typed | None:
    """Return the same form with the most that would fit, if anything would."""
    if not priced["would_fit"]:
        return None
    ((word, amount),) = priced["would_fit"].items()
    return sent.spending(word, amount)
