"""What owners do with surveys, by pages and commands: define one, open a round, look at it, close it, give codes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sordino.arguments import whole
from sordino.errors import ArgumentError
from sordino.serve.asking import open_work
from sordino.serve.keeping.identity import Principal
from sordino.serve.kinds.kind import Plain
from sordino.serve.refusals import StateError
from sordino.serve.service import Service

from .at_hand import declared_as, rounds_of
from .codes import make_codes
from .declared import CODES, Declared
from .rounds import closed_of, open_charge, settled
from .shown import estimated
from .worked import check_parties

if TYPE_CHECKING:
    from collections.abc import Mapping

KIND = "survey"
READY, RUNNING, OVER = "ready", "open", "closed"
_MOST_AT_ONCE = 100_000


def define(service: Service, who: Principal, declarations: str, budget: Mapping[str, Any] | None = None) -> Plain:
    """Register a survey; the first time its budget holds one round and nothing beside it, unless one is given."""
    from sordino.collect.price import budget_of

    who.must_be("owner")
    declared = service.house.declared(declarations).said
    if not isinstance(declared, Declared):
        raise ArgumentError("these declarations are of another sort; begin with sort: survey", "SRD-C714")
    known = service.house.registry.dataset(declared.name) is not None
    given = dict(budget or {})
    if not known and not given:
        own = budget_of(declared.survey.event())
        given = {"epsilon": own.epsilon} | ({"delta": own.delta, "own_delta_share": 1} if own.delta else {})
    if not known and declared.survey.group is not None:
        given["groups"] = [declared.survey.group]
    service.register(who, declarations, given or None)
    return show(service, who, declared.name)


def surveys(service: Service, who: Principal) -> list[Plain]:
    """Return all surveys that somebody may know of, in short."""
    names = [each["name"] for each in service.datasets(who) if each["sort"] == KIND]
    return [{"name": name, "state": state(service, declared_as(service.house, name))} for name in names]


def show(service: Service, who: Principal, name: str) -> Plain:
    """Return what a survey asks and costs, whether its round is open, and what was said as far as it may be seen."""
    service.house.row(who, name)
    declared = declared_as(service.house, name)
    now = state(service, declared)
    found = {
        "name": name,
        "state": now,
        "waits": _waits(declared, now),
        "digest": declared.survey.digest.hex(),
        **declared.public(),
    }
    return found | {"estimate": _estimate(service, declared, now), "work": open_charge(service.ledger, declared.survey)}


def _waits(declared: Declared, now: str) -> str | None:
    """Return what a round that is open waits for, in words; None where nothing is missing."""
    from sordino.collect.shuffle.arrival import Arrival
    from sordino.collect.two_servers.messages import LEADER, role_of

    survey = declared.survey
    if now != RUNNING or survey.trust == "local":
        return None
    if survey.trust == "shuffled":
        whole = bool(survey.parties) and Arrival(survey, declared.key, declared.folder).whole
        return (
            "The batch is here; close the round to count it." if whole else "The shuffler has not sent the batch yet."
        )
    if role_of(survey, declared.key) == LEADER:
        return "Both servers add up when you close the round."
    return "The other server takes the reports; close the round here when it has closed its own."


def state(service: Service, declared: Declared) -> str:
    """Return whether the round that is declared is ready to be opened, open or closed."""
    from sordino.collect.round import work_of

    if open_charge(service.ledger, declared.survey) is not None:
        return RUNNING
    return READY if work_of(declared.folder) is None else OVER


def begin(service: Service, who: Principal, name: str) -> Plain:
    """Charge the round and open it; open already, it stays as it is."""
    from sordino.collect.round import over

    who.must_be("owner", "analyst")
    service.house.row(who, name)
    declared = declared_as(service.house, name)
    if state(service, declared) == OVER:
        raise over(declared.survey)
    check_parties(declared)
    service.run(who, KIND, {"dataset": name}, key=f"round {declared.survey.digest.hex()}")
    return show(service, who, name)


def close(service: Service, who: Principal, name: str) -> Plain:
    """Close the round that is open, count, and settle; to look at it again is free."""
    service.house.row(who, name)
    work = open_charge(service.ledger, declared_as(service.house, name).survey)
    if work is None:
        raise StateError("no round of this survey is open; open one first", "SRD-C705")
    open_work.finish(service.house, who, service.kind(KIND), work, {"dataset": name})
    return show(service, who, name)


def new_codes(service: Service, who: Principal, name: str, count: int) -> list[str]:
    """Return new one-time codes, which are shown this once."""
    who.must_be("owner")
    declared = declared_as(service.house, name)
    if declared.intake != CODES:
        raise ArgumentError("this survey is open to everybody; declare intake: codes to ask for codes", "SRD-C712")
    return make_codes(declared.codes, whole("count", count, least=1, most=_MOST_AT_ONCE))


def _estimate(service: Service, declared: Declared, now: str) -> Plain | None:
    """Return estimates with intervals: live ones under local trust alone, others when the round is over."""
    survey = declared.survey
    if now == OVER and survey.trust == "two-servers":
        return _answered(service, declared)
    if now == OVER:
        closed = closed_of(service.ledger, survey, declared.folder)
        return estimated(survey, closed.estimate()) if closed.reports else None
    if now != RUNNING or survey.trust != "local":
        return None
    reports, counts = rounds_of(service.house).look(declared.name).intake.counts()
    return estimated(survey, survey.asks.estimate(counts, reports)) if reports else None


def _answered(service: Service, declared: Declared) -> Plain | None:
    """Return what two servers found, where it was put together here."""
    from sordino.collect.two_servers.leader import estimate_of
    from sordino.collect.two_servers.messages import LEADER, role_of

    if role_of(declared.survey, declared.key) != LEADER:
        return None
    return estimated(declared.survey, estimate_of(declared.survey, settled(service.ledger, declared.folder)))
