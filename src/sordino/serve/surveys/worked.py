"""Rounds in a service: opened by a charge, looked at while they last (local trust alone), closed once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

from sordino.collect.plan import Counted, plan_of
from sordino.collect.surveys import LOCAL, SHUFFLED, TWO_SERVERS
from sordino.data.account import DataAccount
from sordino.errors import ArgumentError, GrantError
from sordino.serve.kinds.kind import Plain, StillOpen

from .declared import Declared
from .one_of_two import OneOfTwo
from .shown import estimated

if TYPE_CHECKING:
    from sordino.collect.round import Closed, Round


Live: TypeAlias = "Round | Mixed | OneOfTwo"


def opened(data: DataAccount[Declared], work: str | None) -> StillOpen:
    """Charge a round and open it; one that is open goes on under its charge, and one that is over is refused."""
    from sordino.collect.round import Round, over, work_of, write_down

    declared = data.protected
    survey, folder = declared.survey, declared.folder
    role = check_parties(declared)
    plan, before = plan_of(survey), work or work_of(folder)
    try:
        found = data.begin(plan) if before is None else data.resume(before, plan)
    except GrantError:
        if work is not None:
            raise
        raise over(survey) from None
    live: Live
    if role is not None:
        write_down(folder, found.id)
        live = OneOfTwo(declared, found, role)
    elif survey.trust == SHUFFLED:
        live = Mixed(Round(survey, found, folder), declared)
    else:
        live = Round(survey, found, folder)
    return StillOpen(found.id, {"digest": survey.digest.hex(), "words": survey.price(None).words()}, live)


def check_parties(declared: Declared) -> int | None:
    """Refuse a survey that others than this service are to collect; return which of two servers this one is."""
    from sordino.collect.shuffle.arrival import Arrival
    from sordino.collect.two_servers.messages import role_of

    survey = declared.survey
    if survey.trust == TWO_SERVERS:
        return role_of(survey, declared.key)
    if survey.trust != LOCAL:
        if not survey.parties:
            raise ArgumentError(
                "a service shuffles nothing by its own hands, which would earn nothing: name a shuffler, by its url "
                "and key as `sordino shuffle` tells them, or declare trust: local",
                "SRD-C713",
            )
        Arrival(survey, declared.key, declared.folder)
    return None


def resume(data: DataAccount[Declared], _: Any, work: str) -> Live:
    """Go on with a round by its id, after a restart."""
    found: Live = opened(data, work).live
    return found


def look(live: Live, _: Mapping[str, Any]) -> Plain:
    """Return what reports so far say, under local trust; nothing, while there are none."""
    from sordino.collect.round import Round

    if not isinstance(live, Round):
        raise ArgumentError(
            "what a shuffler or two servers collect is shown once, when the round is closed; close it", "SRD-C713"
        )
    said = live.intake.counts()[0] > 0
    return estimated(live.survey, live.estimate()) if said else {"reports": 0, "confidence": 0.95, "values": []}


def finish(live: Live) -> Any:
    """Close a round; what is settled is how many reports there were, and the digest of their counts, or the answer."""
    if isinstance(live, OneOfTwo):
        return live.finish()
    closed = live.closed() if isinstance(live, Mixed) else live.close()
    return Counted.of(closed.survey, closed.reports, closed.counts).with_receipt(closed.receipt)


@dataclass(frozen=True)
class Mixed:
    """A round whose batch somebody else mixes: nothing is seen of it before it is closed."""

    round: Round
    declared: Declared

    def closed(self) -> Closed:
        """Return what the shuffler's batch says; without one, or with a short one, the round is closed empty."""
        from sordino.collect.shuffle.arrival import Arrival

        arrival = Arrival(self.round.survey, self.declared.key, self.declared.folder)
        try:
            found = self.round.take_shuffled(arrival) if arrival.whole else self.round.close()
        except ArgumentError:  # fewer than it was priced for: they are not shown, and what was charged stays charged
            found = self.round.close()
        arrival.forget()
        return found
