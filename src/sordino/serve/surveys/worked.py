"""Rounds in a service: opened by a charge, looked at while they last (local trust alone), closed once."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from sordino.collect.plan import Counted, RoundPlan
from sordino.collect.surveys import LOCAL
from sordino.data.account import DataAccount
from sordino.errors import ArgumentError, GrantError
from sordino.serve.kinds.kind import Plain, StillOpen

from .declared import Declared

if TYPE_CHECKING:
    from sordino.collect.estimate import Estimate
    from sordino.collect.round import Round
    from sordino.collect.surveys import Survey

_MOST_SHOWN = 1000


def opened(data: DataAccount[Declared], work: str | None) -> StillOpen:
    """Charge a round and open it; one that is open goes on under its charge, and one that is over is refused."""
    from sordino.collect.round import Round, over, work_of

    survey, folder = data.protected.survey, data.protected.folder
    if survey.trust != LOCAL:
        raise ArgumentError(
            "a service takes reports under local trust alone until somebody else shuffles for it: shuffled by its own "
            "hands they would cost more than is charged; declare trust: local",
            "SRD-C713",
        )
    plan, before = RoundPlan(survey), work or work_of(folder)
    try:
        found = data.begin(plan) if before is None else data.resume(before, plan)
    except GrantError:
        if work is not None:
            raise
        raise over(survey) from None
    live = Round(survey, found, folder)
    return StillOpen(live.id, {"digest": survey.digest.hex(), "words": survey.price(None).words()}, live)


def estimated(survey: Survey, estimate: Estimate) -> Plain:
    """Return estimates with their intervals, as JSON can hold them; the largest first, if there are very many."""
    names = survey.public().get("values")
    shown = sorted(range(len(estimate.values)), key=lambda code: -estimate.values[code])[:_MOST_SHOWN]
    intervals = estimate.intervals(0.95)
    rows = [
        {
            "value": str(code if names is None else names[code]),
            "estimate": float(estimate.values[code]),
            "standard_error": float(estimate.standard_errors[code]),
            "low": float(intervals[code, 0]),
            "high": float(intervals[code, 1]),
        }
        for code in sorted(shown)
    ]
    return {"reports": estimate.reports, "confidence": 0.95, "values": rows}


def resume(data: DataAccount[Declared], _: Any, work: str) -> Round:
    """Go on with a round by its id, after a restart."""
    found: Round = opened(data, work).live
    return found


def look(live: Round, _: Mapping[str, Any]) -> Plain:
    """Return what reports so far say; nothing, while there are none."""
    said = live.intake.counts()[0] > 0
    return estimated(live.survey, live.estimate()) if said else {"reports": 0, "confidence": 0.95, "values": []}


def finish(live: Round) -> Counted:
    """Close a round; what is settled is how many reports there were, and the digest of their counts."""
    closed = live.close()
    return Counted.of(closed.survey, closed.reports, closed.counts).with_receipt(closed.receipt)
