"""The transparency page, which may be public, and ε in plain words."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Query, Request
from fastapi.responses import JSONResponse, Response

from sordino.accounting.explain import Explanation, explain
from sordino.errors import ArgumentError
from sordino.serve.http.browsing import COOKIE, service_of, session_of
from sordino.serve.http.problems import status_of
from sordino.serve.keeping.identity import Principal, Session
from sordino.serve.refusals import UnauthenticatedError
from sordino.serve.telling import event_words

from . import charts
from .forms import whole_number
from .pages import page

router = APIRouter()

PAGE = 50
LEAST, MOST = "0.05", "8"
"""The ends of the slider."""
_LARGEST = 2**53


def _anybody(request: Request) -> Session | None:
    """Return whose session it is, or None for somebody unknown where transparency is public."""
    if request.cookies.get(COOKIE):
        try:
            return session_of(request)
        except UnauthenticatedError:
            pass
    if not service_of(request).settings.public_transparency:
        raise UnauthenticatedError("log in first")
    request.app.state.desk.unknown.check(request.client.host if request.client else "unknown")
    return None


Anybody = Annotated[Session | None, Depends(_anybody)]


def _who(session: Session | None) -> Principal | None:
    return None if session is None else session.who


@router.get("/transparency")
def index(request: Request, session: Anybody) -> Response:
    """List the data sets that have a transparency page."""
    names = service_of(request).transparent(_who(session))
    return page(request, session, "transparencies.html", names=names)


@router.get("/transparency/{name}")
def transparency(
    request: Request, session: Anybody, name: str, before: Annotated[int | None, Query(ge=0, le=_LARGEST)] = None
) -> Response:
    """Show how the budget of a data set was spent, by which noise, without answers."""
    found = service_of(request).transparency(_who(session), name)
    releases = [_told(each) for each in found["releases"]]
    shown = [each for each in releases if before is None or each["position"] < before]
    return page(
        request,
        session,
        "transparency.html",
        found=found,
        neighbours=event_words.neighbours(found["neighbours"], found["unit"]),
        together=event_words.together(found["lifetime"]["loss"]) if found["lifetime"]["loss"] else None,
        mechanisms=_mechanisms(releases),
        allocation=charts.allocation(found["releases"]) if releases else None,
        releases=shown[:PAGE],
        older=f"?before={shown[PAGE - 1]['position']}#releases" if len(shown) > PAGE else None,
        newer=f"/transparency/{found['dataset']}#releases" if before is not None else None,
    )


@router.get("/transparency/{name}/report.json")
def report(request: Request, session: Anybody, name: str) -> Response:
    """Give the same as a file."""
    found = service_of(request).transparency(_who(session), name)
    named = f'attachment; filename="transparency-{found["dataset"]}.json"'  # a name that is known: letters and digits
    return JSONResponse(found, headers={"content-disposition": named})


@router.get("/epsilon")
def epsilon(request: Request, session: Anybody, epsilon: str = "1", delta: str = "0", people: str = "") -> Response:
    """Say what ε and δ mean: odds, beliefs, the best attack, for one person and for a family of five."""
    typed = {"epsilon": epsilon.strip(), "delta": delta.strip(), "people": people.strip()}
    values: dict[str, Any] = {"typed": typed, "least": LEAST, "most": MOST, "error": None, "meaning": None}
    status = 200
    try:
        number = whole_number("people", typed["people"]) if typed["people"] else None
        found = explain(typed["epsilon"], typed["delta"] or "0", number)
        values |= {"meaning": _meaning(found), "most": MOST if found.epsilon <= int(MOST) else typed["epsilon"]}
    except ArgumentError as error:
        values["error"], status = error, status_of(error)
    return page(request, session, "epsilon.html", status, **values)


def _told(each: dict[str, Any]) -> dict[str, Any]:
    """Return a release with its noise, bounding and price in words."""
    return {
        **each,
        "events": event_words.told_of(each["event"]),
        "limits": event_words.bounding(each["bounding"], each["unit"]),
        "cost": event_words.price(each["price"]),
    }


def _mechanisms(releases: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return what was run and what that cost together: by each set of mechanisms that ran for one release.

    What several of them cost together is told as theirs together, so that the parts add up to what is used.
    """
    times: Counter[str] = Counter()
    parts: Counter[str] = Counter()
    for each in releases:
        name = ", ".join(sorted({told.name for told in each["events"]}))
        times[name] += 1
        parts[name] += each["part"]
    return [{"name": name, "releases": count, "part": parts[name]} for name, count in times.most_common()]


def _meaning(explanation: Explanation) -> dict[str, Any]:
    """Return the words of ``sordino explain`` and the numbers for their pictures."""
    promise, person, family, delta, limit = str(explanation).split("\n\n")
    told = json.loads(json.dumps(explanation.to_dict()))
    readings = [
        _reading(person, told["person"], "One person"),
        _reading(family, told["family"], "A family of five, together"),
    ]
    return {"promise": promise, "readings": readings, "delta": delta, "limit": limit}


def _reading(words: str, numbers: dict[str, Any], who: str) -> dict[str, Any]:
    """Return the sentences for somebody, those about beliefs with their numbers."""
    head, *sentences = [line.strip().replace(" %", "\u00a0%") for line in words.split("\n")]
    beliefs = [line for line in sentences if line.startswith("A belief")]
    return {
        "who": who,
        "head": "" if sentences else head,
        "epsilon": numbers["epsilon"],
        "beliefs": list(zip(beliefs, numbers["beliefs"], strict=False)),
        "sentences": [line for line in sentences if line not in beliefs],
    }
