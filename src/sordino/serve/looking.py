"""The owner's own look at the data, before a budget is opened: how much of it counts as it is declared.

**Guarantee**: only an owner may look, and only at declarations under a name that has no budget; no analyst's request,
no run and no restart does. What is told is exact and outside of every account, so the declarations that come back are
marked by what was declared then: whatever is changed afterwards is told as *set after looking*.
"""

from __future__ import annotations

from typing import Any

from sordino.data.dataset import Dataset
from sordino.data.looked import Looked
from sordino.data.strict_yaml import write
from sordino.errors import ArgumentError
from sordino.ledger.scope import Scope

from .asking.premises import Premises
from .keeping.identity import Principal
from .refusals import StateError


def look(house: Premises, who: Principal, declarations: str) -> dict[str, Any]:
    """Return the report on a data set that has no budget yet, as text, and its declarations with the marks."""
    who.must_be("owner")
    found = house.open_declared(house.declared(declarations)).protected
    if not isinstance(found, Dataset):
        raise ArgumentError("only tables can be looked at; other sorts of data have no bounds to check", "SRD-A001")
    if house.ledger.look(lambda state: Scope("dataset", found.name).text in state.balances):
        raise StateError(
            f"{found.name!r} has a budget already, and from then on nobody is told what the data holds but by paying "
            "for it; look before a budget is opened",
            "SRD-S040",
        )
    report = found.health()
    return {"name": found.name, "report": str(report), "declarations": marked(declarations, report.looked)}


def marked(declarations: str, looked: Looked) -> str:
    """Return declarations with the marks of a look, in place of those that stood there."""
    lines = [line for line in declarations.splitlines() if not line.startswith("looked:")]
    marks = write({"looked": dict(looked)}).strip().replace("\n", " ")
    return "\n".join([*lines, marks]) + "\n"
