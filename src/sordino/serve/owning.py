"""What owners do: register data sets, set budgets and policies, cap analysts, projects and groups, decide approvals."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from sqlalchemy import Row

from sordino.accounting.neighbours import Neighbours
from sordino.data.account import Protected, blocks_of
from sordino.errors import ArgumentError, LedgerError
from sordino.gate import Policy
from sordino.ledger.balance import Balance
from sordino.ledger.periods import moment
from sordino.ledger.rule import Rule
from sordino.ledger.scope import Scope

from .asking.premises import Declared, Premises
from .keeping.identity import Principal
from .keeping.registry import plain_policy, read_policy
from .kinds.sort import Carried
from .refusals import StateError, UnknownError
from .telling.budgets import checked_kind, read_budget

_BUDGET = ("epsilon", "delta", "rho", "own_delta_share", "refresh", "groups")
_POLICY = ("least", "most", "approval", "pause", "degrade")


def register(
    house: Premises,
    who: Principal,
    declarations: str,
    budget: Mapping[str, Any] | None,
    policy: Mapping[str, Any] | None,
) -> str:
    """Register a data set, or replace what is declared about it, and return its name. Its budget stays what it is.

    Everything is checked before anything is stored: the declarations are read and the source is opened.
    """
    declared = house.declared(declarations)
    found = house.open_declared(declared).protected
    name = found.name
    for other in house.registry.names():
        if other != name and other.lower() == name.lower():
            raise StateError(
                f"there is a data set {other!r} already; the same data under another spelling would get a budget of "
                "its own, so use that name, or one that differs in more than case",
                "SRD-S015",
            )
    scope = Scope("dataset", name)
    known: Balance | None = house.ledger.look(lambda state: state.balances.get(scope.text))
    checked = read_policy(plain_policy(_policy(policy, None))) if policy is not None else None
    if known is None:
        house.ledger.open_scope(scope, _rule(scope, budget, found), who.subject)
    else:
        _check_same(scope, known.rule, budget, found)
        _check_same_people(house, name, declared)
    house.registry.put_dataset(name, declared.sort.name, declarations, who.subject)
    if checked is not None:
        house.registry.put_policy(name, checked)
    return name


def set_budget(house: Premises, who: Principal, dataset: str, budget: Mapping[str, Any], reason: str) -> None:
    """Give a data set another budget; who did it and why is in the ledger for good."""
    house.row(who, dataset)
    _known_words("budget", budget, ("epsilon", "delta", "rho", "own_delta_share"))
    house.ledger.set_budget(Scope("dataset", dataset), read_budget(budget), who.subject, reason)


def set_policy(house: Premises, who: Principal, dataset: str, policy: Mapping[str, Any]) -> dict[str, Any]:
    """Change what is named of a data set's policy."""
    before = read_policy(json.loads(house.row(who, dataset).policy))
    after = _policy(policy, before)
    house.registry.put_policy(dataset, after)
    return plain_policy(after)


def cap(
    house: Premises,
    who: Principal,
    kind: str,
    name: str,
    budget: Mapping[str, Any],
    refresh: Any,
    unit: str | None,
    reason: str,
    neighbours: Neighbours = Neighbours.ADD_REMOVE,
) -> None:
    """Give an analyst, a project or a group a budget, or another one; a group also the relation of its members."""
    scope = Scope(checked_kind(kind), name)  # type: ignore[arg-type]  # checked there
    known = house.ledger.look(lambda state: scope.text in state.balances)
    if known:
        house.ledger.set_budget(scope, read_budget(budget), who.subject, reason)
        return
    if (kind == "group") != (unit is not None):
        raise ArgumentError(
            "a group protects whom its data sets protect, so say its unit, as they do; an analyst and a project have "
            "none",
            "SRD-A003",
        )
    protects = {"unit": unit, "neighbours": neighbours} if kind == "group" else {}
    house.ledger.open_scope(scope, Rule.open(read_budget(budget), refresh=refresh, **protects), who.subject)  # type: ignore[arg-type]


def approvals(house: Premises, who: Principal) -> list[dict[str, Any]]:
    """Return wishes for approval: an analyst's own, about what the token is for, or all of them."""
    rows = house.registry.approvals(who.subject if who.role == "analyst" else None)
    return [shown_approval(row) for row in rows if who.may_see(row.dataset)]


def decide(house: Premises, who: Principal, identifier: str, approve: bool, reason: str) -> dict[str, Any]:
    """Approve of one release, or do not."""
    if house.registry.approval(identifier) is None:
        raise UnknownError("approval")
    if not house.registry.decide_approval(identifier, "approved" if approve else "denied", who.subject, reason[:1000]):
        raise StateError("this approval was decided before; what was decided stands", "SRD-S009")
    row = house.registry.approval(identifier)
    return {} if row is None else shown_approval(row)


def shown_approval(row: Row[Any]) -> dict[str, Any]:
    """Return an approval as what JSON can hold."""
    return {
        "id": row.id,
        "dataset": row.dataset,
        "analyst": row.subject,
        "kind": row.kind,
        "question": json.loads(row.question),
        "message": row.message,
        "state": row.state,
        "created": moment(row.created),
        "decided": None if row.decided is None else moment(row.decided),
        "decided_by": row.decided_by,
        "reason": row.reason,
    }


def _rule(scope: Scope, budget: Mapping[str, Any] | None, found: Protected) -> Rule:
    if not budget:
        raise LedgerError(f"{scope} has no budget in this ledger yet; give one, as epsilon: 1", "SRD-L022")
    _known_words("budget", budget, _BUDGET)
    return Rule.open(
        read_budget(budget),
        unit=found.unit.name,
        neighbours=found.neighbours,
        refresh=budget.get("refresh"),
        blocks=blocks_of(found),
        groups=tuple(sorted(budget.get("groups") or ())),
    )


def _check_same(scope: Scope, known: Rule, budget: Mapping[str, Any] | None, found: Protected) -> None:
    if known.unit != found.unit.name:
        raise StateError(
            f"{scope} protects each {known.unit}, and these declarations each {found.unit.name}: what was spent does "
            "not carry over; register it under another name, in one group with this one",
            "SRD-S015",
        )
    if known.neighbours is not found.neighbours:
        was = "" if known.neighbours is None else known.neighbours.value
        raise StateError(
            f"{scope} is protected under {was}, and by these declarations under {found.neighbours.value}: what was "
            "spent does not carry over; register it under another name, in one group with this one",
            "SRD-S015",
        )
    if known.blocks != blocks_of(found):
        raise StateError(
            f"{scope} was opened {'with' if known.blocks else 'without'} a budget for each day, and these declarations "
            "say otherwise: what was spent does not carry over; register it under another name",
            "SRD-S015",
        )
    if budget and _rule(scope, budget, found).to_plain() != known.to_plain():
        raise LedgerError(
            f"{scope} was opened with another budget ({known.budget}); leave the budget out, or change it by "
            "set_budget, with a reason",
            "SRD-L026",
        )


def _check_same_people(house: Premises, name: str, given: Declared) -> None:
    """Refuse another sort, or what its sort says must stay: by that, what was spent was spent on somebody else."""
    row = house.registry.dataset(name)
    if row is None:
        return
    sorts = "the sort", row.sort, given.sort.name
    for what, old, new in (sorts, *_carried(house, row, given)):
        if old != new:
            raise StateError(
                f"{what} of {name!r} was {old}, and is {new} in these declarations: what was spent does not "
                "carry over; register it under another name, in one group with this one",
                "SRD-S015",
            )


def _carried(house: Premises, row: Row[Any], given: Declared) -> Carried:
    return given.sort.carried(house.read(row.declarations).said, given.said) if row.sort == given.sort.name else ()


def _policy(given: Mapping[str, Any], before: Policy | None) -> Policy:
    _known_words("policy", given, _POLICY)
    start = {} if before is None else {name: getattr(before, name) for name in _POLICY}
    words = start | {name: value for name, value in given.items() if value is not None or name == "approval"}
    if not isinstance(words.get("degrade", False), bool):
        raise ArgumentError("degrade must be true or false", "SRD-A001")
    return Policy(**words)


def _known_words(where: str, given: Mapping[str, Any], known: tuple[str, ...]) -> None:
    for word in given:
        if word not in known:
            raise ArgumentError(f"{where} has no field {str(word)[:60]!r}; it has {', '.join(known)}", "SRD-A001")
