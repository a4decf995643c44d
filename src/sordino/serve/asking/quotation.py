"""The price of a request as the service tells it. A pure function: no ledger, no lock and no data is in reach."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from sordino.errors import BudgetError
from sordino.gate import ApprovalError, Policy
from sordino.serve.kinds.kind import Kind, Quoted, Request

from .quoting import Quote


def quotation(kind: Kind, data: Any, quote: Quote, policy: Policy, request: Request) -> dict[str, Any]:
    """Return what a request costs, whether that fits, what the owner says to it, and what its kind adds."""
    found: Quoted = kind.price(data, request)
    charged = quote.price(found.event, found.ran)
    part = charged.part or Fraction(0)
    return {
        "kind": kind.name,
        "dataset": request.dataset,
        "charge": str(charged),
        "part": float(part),
        "used": min(quote.used, 1.0),
        "used_after": quote.used_after(found.event, found.ran),
        "fits": charged.fits,
        "short": quote.short(found.event, found.ran) or None,
        "policy": _verdict(policy, part),
        "event": found.event.to_json(),
        **found.said,
    }


def _verdict(policy: Policy, part: Fraction) -> dict[str, Any]:
    try:
        policy.check(part, approved=False)
    except ApprovalError as error:
        return {"allows": "approval", "message": error.message, "code": error.code}
    except BudgetError as error:
        return {"allows": "nothing", "message": error.message, "code": error.code}
    return {"allows": "run", "message": None, "code": None}
