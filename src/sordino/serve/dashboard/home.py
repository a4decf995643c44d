"""Data sets, and all that is public about one: who is protected, what may be asked, and how its budget goes down."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse

from sordino.errors import LedgerError
from sordino.serve.http.browsing import service_of
from sordino.serve.keeping.identity import Principal
from sordino.serve.kinds.page import page_of
from sordino.serve.service import Service
from sordino.serve.telling import event_words

from . import charts
from .pages import Visitor, page, percent, when
from .words import neighbour_words, policy_words

router = APIRouter()

_NO_BUDGET = "SRD-L022"
_SHOWN_BESIDE = ("name", "owner", "registered", "version", "policy", "budget", "declarations", "known")
"""What is told of data of every sort, and has its own place on the page."""


@router.get("/")
def datasets(request: Request, session: Visitor) -> HTMLResponse:
    """Show the data sets that whoever is here may know of, each with what is left of its budget."""
    service, who = service_of(request), session.who
    return page(request, session, "home.html", datasets=service.datasets(who), own=_own_budget(service, who))


@router.get("/datasets/{name}")
def dataset(request: Request, session: Visitor, name: str) -> HTMLResponse:
    """Show what is publicly known about one data set."""
    service, who = service_of(request), session.who
    found = service.dataset(who, name)
    budget = None if found["budget"] is None else service.budget(who, name)
    return page(
        request,
        session,
        "dataset.html",
        found=found,
        begun=[kind.begun_at for kind in service.house.kinds.values() if kind.begun_at and found["sort"] in kind.about],
        budget=budget,
        figures=[] if budget is None else _figures(budget),
        burn_down=None if budget is None else _burn_down(found, budget),
        shares=None if budget is None or not budget["by_analyst"] else charts.by_analyst(budget["by_analyst"]),
        policy=policy_words(found["policy"]),
        neighbours=neighbour_words(found["neighbours"], found["unit"]),
        **shown_of(service, found),
    )


def shown_of(service: Service, found: dict[str, Any]) -> dict[str, Any]:
    """Return what the sort of a data set shows of what is told of it: a template (`about`), and what that needs."""
    told = {name: value for name, value in found.items() if name not in _SHOWN_BESIDE}
    shown = page_of(service.house.kinds.sorts[found["sort"]].page, told)
    return {"heading": "What is publicly known", **shown.values, "about": shown.template}


def _own_budget(service: Service, who: Principal) -> dict[str, Any] | None:
    """Return the budget of whoever is here, over all data sets, if they have one."""
    try:
        return service.scope_budget(who, "analyst", who.subject) if who.role == "analyst" else None
    except LedgerError as error:
        if error.code != _NO_BUDGET:
            raise
        return None


def _figures(budget: dict[str, Any]) -> list[tuple[str, str]]:
    """Return the budget in a few words and numbers."""
    refreshes = budget["refreshes_at"]
    period = " this period" if budget["refresh"] else ""
    figures = [
        ("Budget", budget["budget"]),
        (f"Used{period}", percent(budget["used"])),
        ("Left", budget["remaining"]),
        ("Begins anew", when(refreshes) if refreshes else "never: what is spent stays spent"),
        (f"Spent in its whole life ({budget['counted_in']})", budget["lifetime"]),
    ]
    if budget["loss"] is not None:
        figures.append(("All releases together", event_words.together(budget["loss"])))
    return figures


def _burn_down(found: dict[str, Any], budget: dict[str, Any]) -> charts.Spec | None:
    """Return how the budget went down; where every day has its own, there is no one line to draw."""
    if budget["blocks"] is not None:
        return None
    return charts.burn_down(_history(found, budget), budget["refresh"] is not None)


def _history(found: dict[str, Any], budget: dict[str, Any]) -> list[tuple[str, float]]:
    """Return the used part over time, from before the first charge to now."""
    points = [(str(time), float(used)) for time, used in budget["points"]]
    opened = datetime.fromtimestamp(found["registered"] / 1000, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    begin = min(opened, points[0][0]) if points else opened
    now = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    return [(begin, 0.0), *points, (max(now, begin), float(budget["used"]))]
