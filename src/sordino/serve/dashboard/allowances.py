"""What may be spent: the budget and the policy of a data set, and caps for analysts, projects and groups."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import Response

from sordino.arguments import rational
from sordino.serve.http.browsing import service_of
from sordino.serve.keeping.identity import Session

from .forms import REFUSALS, Entered, Filled, again, budget_of, confirmed, whole_number
from .pages import Sender, Visitor, page, see

router = APIRouter()

_DONE = {
    "registered": "The data set is registered, and its budget is open.",
    "budget": "The budget was changed. Who did it, and why, is in the ledger for good.",
    "policy": "The policy was changed, and holds from now on.",
    "cap": "The cap is set.",
}
_FOR_GOOD = "who did it, and why, stays in the ledger for good"


@router.get("/admin/datasets/{name}")
def manage(request: Request, session: Visitor, name: str, done: str = "") -> Response:
    """Show the budget and the policy of a data set, to be changed."""
    session.who.must_be("owner")
    return page(request, session, "manage.html", **_managed(request, session, name, done=_DONE.get(done)))


@router.post("/admin/datasets/{name}/budget")
def set_budget(request: Request, session: Sender, typed: Filled, name: str) -> Response:
    """Raise or lower the budget of a data set."""
    session.who.must_be("owner")
    try:
        confirmed(typed, _FOR_GOOD)
        service_of(request).set_budget(session.who, name, budget_of(typed), typed["reason"])
    except REFUSALS as error:
        values = _managed(request, session, name, typed=typed, wrong="budget")
        return again(request, session, "manage.html", error, values)
    return see(f"/admin/datasets/{name}?done=budget")


@router.post("/admin/datasets/{name}/policy")
def set_policy(request: Request, session: Sender, typed: Filled, name: str) -> Response:
    """Change what is allowed for one release."""
    session.who.must_be("owner")
    try:
        service_of(request).set_policy(session.who, name, _policy(typed))
    except REFUSALS as error:
        values = _managed(request, session, name, policy=typed, wrong="policy")
        return again(request, session, "manage.html", error, values)
    return see(f"/admin/datasets/{name}?done=policy")


@router.get("/admin/caps")
def caps(request: Request, session: Visitor, done: str = "") -> Response:
    """List the caps of analysts, projects and groups, and show the form in which one is set."""
    session.who.must_be("owner")
    return page(request, session, "caps.html", **_caps(request, session, Entered(), done=_DONE.get(done)))


@router.post("/admin/caps")
def set_cap(request: Request, session: Sender, typed: Filled) -> Response:
    """Give an analyst, a project or a group a budget, or another one."""
    session.who.must_be("owner")
    budget = budget_of(typed)
    refresh = budget.pop("refresh", None)
    try:
        confirmed(typed, _FOR_GOOD)
        service_of(request).cap(
            session.who,
            typed["kind"],
            typed["name"],
            budget,
            refresh,
            unit=typed["unit"] or None,
            reason=typed["reason"] or "set by the owner",
        )
    except REFUSALS as error:
        return again(request, session, "caps.html", error, _caps(request, session, typed))
    return see("/admin/caps?done=cap")


def _managed(request: Request, session: Session, name: str, **more: Any) -> dict[str, Any]:
    service = service_of(request)
    found, budget = service.dataset(session.who, name), service.budget(session.who, name)
    plain = {
        "found": found,
        "budget": budget,
        "typed": Entered({word: f"{budget[word]:.15g}" for word in ("epsilon", "delta", "rho") if budget[word]}),
        "policy": _percents(found["policy"]),
        "error": None,
        "wrong": "",
        "done": None,
    }
    return plain | more


def _caps(request: Request, session: Session, typed: Entered, **more: Any) -> dict[str, Any]:
    service, who = service_of(request), session.who
    kinds = [scope.partition(":") for scope in service.scopes(who)]
    found = [{"kind": kind, **service.scope_budget(who, kind, name)} for kind, _, name in kinds if kind != "dataset"]
    return {"caps": found, "typed": typed, "error": None, "done": None} | more


def _percents(policy: dict[str, Any]) -> Entered:
    """Return a policy as its form shows it: parts in percent, exactly."""
    parts = {name: "" if policy[name] is None else _percent(Fraction(policy[name])) for name in _PARTS}
    return Entered(parts | {"pause": str(policy["pause"]), "degrade": "yes" if policy["degrade"] else ""})


_PARTS = ("least", "most", "approval")


def _percent(part: Fraction) -> str:
    """Write a part in percent.

    >>> _percent(Fraction(1, 20)), _percent(Fraction(1)), _percent(Fraction(1, 8))
    ('5', '100', '12.5')
    """
    whole = 100 * part
    return f"{(Decimal(whole.numerator) / Decimal(whole.denominator)).normalize():f}"


def _policy(typed: Entered) -> dict[str, Any]:
    """Return the policy that was typed; an approval that was left empty is asked for no more."""
    default = {"least": "0", "most": "100", "approval": ""}
    texts = {name: typed[name] or default[name] for name in _PARTS}
    parts = {
        name: rational(f"{name} (in percent)", text, least=0, most=100) / 100 if text else None
        for name, text in texts.items()
    }
    pause = whole_number("pause", typed["pause"] or "0")
    return {**parts, "pause": pause, "degrade": typed["degrade"] == "yes"}
