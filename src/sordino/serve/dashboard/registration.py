"""Registering data sets: propose from metadata, check, then register. Nothing is stored before the owner says so."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import Response

from sordino.serve import looking
from sordino.serve.http.browsing import service_of
from sordino.serve.keeping.identity import Session

from . import guided
from .forms import REFUSALS, Entered, Filled, again, budget_of, confirmed
from .home import shown_of
from .pages import Sender, Visitor, page, see

router = APIRouter()

EXAMPLE = """\
name: trips
# whose a row is; or: row
unit: rider_id
source: trips/*.parquet
columns:
  fare: {bounds: [0, 100]}
  city: {keys: [Oslo, Rome]}
# what counts of one rider
limits: {rows: 20}
"""
_FOR_GOOD = "a budget that was opened stays in the ledger for good"


@router.get("/admin/register")
def register(request: Request, session: Visitor, anew: str = "") -> Response:
    """Show the form in which a data set is declared; `anew` names one to declare anew."""
    session.who.must_be("owner")
    declared = service_of(request).declarations(session.who, anew) if anew else ""
    return _form(request, session, Entered({"declarations": declared}), known=bool(anew))


@router.post("/admin/propose")
def propose(request: Request, session: Sender, typed: Filled) -> Response:
    """Fill the form in with what names and types of columns say."""
    try:
        text = service_of(request).propose(session.who, typed["name"], typed["source"], typed["unit"])
    except REFUSALS as error:
        return again(request, session, "register.html", error, _values(typed, wrong="proposal"))
    return _form(
        request, session, Entered(typed | {"declarations": text}), proposed=True, **_guided(request, session, text)
    )


@router.post("/admin/write")
def write_down(request: Request, session: Sender, typed: Filled) -> Response:
    """Write what was typed beside each column into the declarations."""
    session.who.must_be("owner")
    try:
        text = guided.written(typed["declarations"], typed)
        more = _guided(request, session, text)
    except REFUSALS as error:
        return again(request, session, "register.html", error, _values(typed, wrong="declarations"))
    return _form(request, session, Entered(typed | {"declarations": text}), **more)


@router.post("/admin/check")
def check(request: Request, session: Sender, typed: Filled) -> Response:
    """Show what declarations would make public, without storing anything."""
    try:
        service = service_of(request)
        found = service.preview(session.who, typed["declarations"])
    except REFUSALS as error:
        return again(request, session, "register.html", error, _values(typed, wrong="declarations"))
    more = _rows(found, typed["declarations"]) | shown_of(service, found)
    return _form(request, session, typed, preview=found, known=found["known"], **more)


@router.post("/admin/look")
def look(request: Request, session: Sender, typed: Filled) -> Response:
    """Tell the owner how much of the data counts as declared, before a budget is opened, and mark the declarations."""
    try:
        found = looking.look(service_of(request).house, session.who, typed["declarations"])
    except REFUSALS as error:
        return again(request, session, "register.html", error, _values(typed, wrong="declarations"))
    return _form(request, session, Entered(typed | {"declarations": found["declarations"]}), report=found["report"])


@router.post("/admin/register")
def store(request: Request, session: Sender, typed: Filled) -> Response:
    """Register a data set with its budget, or declare it anew."""
    try:
        confirmed(typed, _FOR_GOOD)
        found = service_of(request).register(session.who, typed["declarations"], budget_of(typed) or None)
    except REFUSALS as error:
        return again(request, session, "register.html", error, _values(typed, wrong="declarations"))
    return see(f"/admin/datasets/{found['name']}?done=registered")


def _values(typed: Entered, **more: Any) -> dict[str, Any]:
    plain = {"typed": typed, "error": None, "wrong": "", "preview": None, "known": False, "proposed": False}
    return plain | {"report": None, "guided": None, "example": EXAMPLE} | more


def _guided(request: Request, session: Session, declarations: str) -> dict[str, Any]:
    """Return the form by columns for declarations of one table, which opens the source; nothing for other ones."""
    return _rows(service_of(request).preview(session.who, declarations), declarations)


def _rows(found: dict[str, Any], declarations: str) -> dict[str, Any]:
    rows = guided.rows_of(found, declarations)
    return {"guided": rows, "kinds": guided.KINDS, "limit": guided.limit_of(declarations), "guided_unit": found["unit"]}


def _form(request: Request, session: Session, typed: Entered, **more: Any) -> Response:
    return page(request, session, "register.html", **_values(typed, **more))
