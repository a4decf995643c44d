"""The owner's desk: what waits, what there is, and the way to everything that only an owner does.

``registration.py``  data sets: propose, check, register
``allowances.py``    budgets, policies and caps
``admission.py``     tokens and members
``approving.py``     approvals, which analysts see, too
"""

from __future__ import annotations

from fastapi import APIRouter, Request
from fastapi.responses import Response

from sordino.serve.http.browsing import service_of

from . import admission, allowances, approving, registration
from .pages import Visitor, page

router = APIRouter()


@router.get("/admin")
def admin(request: Request, session: Visitor) -> Response:
    """Show the desk."""
    service, who = service_of(request), session.who
    who.must_be("owner")
    tokens = service.tokens(who)
    return page(
        request,
        session,
        "admin.html",
        datasets=service.datasets(who),
        waiting=[each for each in service.approvals(who) if each["state"] == "pending"],
        good=sum(each["state"] == "good" for each in tokens),
        members=len(service.members(who)),
        caps=sum(not scope.startswith("dataset:") for scope in service.scopes(who)),
    )


for _part in (registration, allowances, admission, approving):
    router.include_router(_part.router)
