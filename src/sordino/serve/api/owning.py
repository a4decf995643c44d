"""What owners do."""

from __future__ import annotations

from typing import Any, Literal

from fastapi import APIRouter
from fastapi.responses import JSONResponse, Response

from .calls import Calling
from .models import ERRORS, Cap, Decision, NewBudget, NewMember, NewToken, PolicyBody, Registration, plain
from .shapes import ApprovalShown, BudgetReport, DatasetFull, MemberShown, PolicyInForce, TokenShown, answers, listed

router = APIRouter(tags=["owning"], responses=ERRORS)


@router.post("/admin/datasets", status_code=201, responses=answers(DatasetFull, 201))
async def register(call: Calling, body: Registration) -> Any:
    """Register a data set, or declare it anew; under its name it keeps its budget."""
    words = plain(body.budget), plain(body.policy)
    return JSONResponse(await call(lambda service, who: service.register(who, body.declarations, *words)), 201)


@router.put("/admin/datasets/{name}/budget", responses=answers(BudgetReport))
async def set_budget(call: Calling, name: str, body: NewBudget) -> Any:
    """Raise or lower a data set's budget; who did it and why is in the ledger for good."""
    words = plain(body.budget) or {}
    return JSONResponse(await call(lambda service, who: service.set_budget(who, name, words, body.reason)))


@router.patch("/admin/datasets/{name}/policy", responses=answers(PolicyInForce))
async def set_policy(call: Calling, name: str, body: PolicyBody) -> Any:
    """Change what is named of a data set's policy."""
    return JSONResponse(await call(lambda service, who: service.set_policy(who, name, plain(body) or {})))


@router.put("/admin/caps/{kind}/{name}", responses=answers(BudgetReport))
async def cap(call: Calling, kind: Literal["analyst", "project", "group"], name: str, body: Cap) -> Any:
    """Give an analyst, a project or a group a budget, or another one."""
    words = plain(body.budget) or {}
    found = await call(
        lambda service, who: service.cap(
            who, kind, name, words, body.refresh, unit=body.unit, reason=body.reason, neighbours=body.neighbours
        )
    )
    return JSONResponse(found)


@router.get("/admin/scopes", responses=answers(listed("scopes", str)))
async def scopes(call: Calling) -> Any:
    """Return all scopes that have budgets."""
    return JSONResponse({"scopes": await call(lambda service, who: service.scopes(who))})


@router.get("/admin/tokens", responses=answers(listed("tokens", TokenShown)))
async def tokens(call: Calling) -> Any:
    """Return all tokens, without what would let anybody use them."""
    return JSONResponse({"tokens": await call(lambda service, who: service.tokens(who))})


@router.post("/admin/tokens", status_code=201, responses=answers(dict[str, str], 201))
async def issue_token(call: Calling, body: NewToken) -> Any:
    """Return a new token, which is shown this once."""
    token = await call(lambda service, who: service.issue_token(who, body.subject, body.role, body.datasets, body.days))
    return JSONResponse({"token": token}, 201)


@router.delete("/admin/tokens/{identifier}", status_code=204)
async def revoke_token(call: Calling, identifier: str) -> Response:
    """End a token and every session that began with it."""
    await call(lambda service, who: service.revoke_token(who, identifier))
    return Response(status_code=204)


@router.get("/admin/members", responses=answers(listed("members", MemberShown)))
async def members(call: Calling) -> Any:
    """Return everybody who may come in by single sign-on."""
    return JSONResponse({"members": await call(lambda service, who: service.members(who))})


@router.post("/admin/members", status_code=204)
async def admit(call: Calling, body: NewMember) -> Response:
    """Let somebody come in by single sign-on, or change as what."""
    await call(lambda service, who: service.admit(who, body.subject, body.role, body.datasets))
    return Response(status_code=204)


@router.delete("/admin/members/{subject}", status_code=204)
async def dismiss(call: Calling, subject: str) -> Response:
    """Let somebody come in no more."""
    await call(lambda service, who: service.dismiss(who, subject))
    return Response(status_code=204)


@router.get("/approvals", responses=answers(listed("approvals", ApprovalShown)))
async def approvals(call: Calling) -> Any:
    """Return wishes for approval: your own, or all if you are an owner."""
    return JSONResponse({"approvals": await call(lambda service, who: service.approvals(who))})


@router.post("/admin/approvals/{identifier}", responses=answers(ApprovalShown))
async def decide(call: Calling, identifier: str, body: Decision) -> Any:
    """Approve of one release of one analyst, or do not; they then ask the same again."""
    found = await call(lambda service, who: service.decide(who, identifier, body.approve, body.reason))
    return JSONResponse(found)
