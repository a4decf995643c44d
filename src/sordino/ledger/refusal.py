"""The words of a refusal: for every scope that falls short, what remains, what would fit, and when it begins anew."""

from __future__ import annotations

from dataclasses import dataclass

from sordino.accounting.account import refusal_text
from sordino.accounting.columns import Vector
from sordino.accounting.event import Event
from sordino.accounting.filter import Filter
from sordino.errors import BudgetError

from .periods import moment
from .scope import Scope

_MOST_NAMED = 3
"""Scopes that are spoken of in full; a question over a hundred days need not say the same a hundred times."""


@dataclass(frozen=True)
class Shortfall:
    """One scope, or one day of it, that an event does not fit."""

    scope: Scope
    filter: Filter
    spent: Vector
    event: Event
    refreshes_at: int | None
    """When its next period begins, in milliseconds since 1970, if it has periods."""

    @property
    def text(self) -> str:
        """What falls short, in words."""
        again = "" if self.refreshes_at is None else f"; this budget begins anew at {moment(self.refreshes_at)}"
        return f"{self.scope}: {refusal_text(self.filter, self.event, self.spent)}{again}"


def refusal(shortfalls: tuple[Shortfall, ...]) -> BudgetError:
    """Return the error for a request that some scopes cannot pay. Nothing was charged to any of them."""
    said = [shortfall.text for shortfall in shortfalls[:_MOST_NAMED]]
    if len(shortfalls) > _MOST_NAMED:
        said.append(f"and {len(shortfalls) - _MOST_NAMED} more fall short")
    return BudgetError(". ".join(said), "SRD-B001")
