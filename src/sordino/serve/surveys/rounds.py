"""Rounds and the ledger: which charge a round was opened under, and what was settled when it was closed."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sordino.accounting.budget import Budget
from sordino.accounting.digest import digest_of
from sordino.accounting.work import Work
from sordino.data.account import DataAccount
from sordino.errors import LedgerError
from sordino.gate import Gate
from sordino.ledger.account import LedgerAccount, ReplayedError
from sordino.ledger.ledger import Ledger
from sordino.ledger.scope import Scope

from .declared import FOLDER
from .on_spark import on_spark

if TYPE_CHECKING:
    from sordino.collect.round import Closed, Round
    from sordino.collect.surveys import Survey


def collect(house: Any, survey: Survey, budget: Budget | None, who: str) -> Round:
    """Open a round on the ledger of a house, or go on with it: the ledger itself knows whether it was opened before."""
    from sordino.collect.plan import RoundPlan
    from sordino.collect.price import budget_of
    from sordino.collect.round import Round, check_one_house, over

    check_one_house(survey)
    ledger, scope, plan = house.ledger, Scope("dataset", survey.name), RoundPlan(survey)
    folder = folder_beside(ledger, survey)
    known = ledger.look(lambda state: scope.text in state.balances)
    groups = () if survey.group is None else (survey.group,)
    house.account(survey, budget or (None if known else budget_of(survey.event())), analyst=who, groups=groups)
    gate = Gate(LedgerAccount(ledger, scope, who), key=_key(plan.digest()), asked=plan.digest())
    account = DataAccount(survey, gate)
    try:
        work = account.begin(plan)
    except ReplayedError as before:
        if not before.replay.running:
            raise over(survey) from None
        work = account.resume(before.replay.id, plan)
    return Round(survey, work, folder)


def open_charge(ledger: Ledger, survey: Survey) -> str | None:
    """Return the id of the charge under which a round is open, None if it is not."""
    from sordino.collect.plan import plan_of

    scope, digest = Scope("dataset", survey.name), plan_of(survey).digest()
    for identifier in ledger.look(lambda state: [name for name, held in state.open.items() if held.parts]):
        found = ledger.reservation(identifier)
        if found is not None and found.plan == digest and scope in (each.scope for each in found.charges):
            return identifier
    return None


def work_at(ledger: Ledger, survey: Survey) -> Work:
    """Return the work of a round that is open, under the charge that it was opened with."""
    from sordino.collect.plan import plan_of
    from sordino.collect.wire import STALE, refused

    identifier = open_charge(ledger, survey)
    found = None if identifier is None else ledger.reservation(identifier)
    if identifier is None or found is None:
        raise refused(STALE)
    account = LedgerAccount(ledger, Scope("dataset", survey.name), found.analyst)
    return DataAccount(survey, Gate(account)).resume(identifier, plan_of(survey))


def settled(ledger: Ledger, folder: Path) -> str:
    """Return what was settled of a round, as it was."""
    from sordino.collect.round import work_of

    return ledger.release(work_of(folder) or "").decode()


def closed_of(ledger: Ledger, survey: Survey, folder: Path, spark: Any = None) -> Closed:
    """Return a round that was closed, with its receipt; refuse counts that are not those that were settled.

    Reports are counted on DuckDB, or on a session of `spark`.
    """
    from sordino.collect.intake import damaged
    from sordino.collect.plan import counts_digest
    from sordino.collect.round import closed_round, work_of

    count = None if spark is None else on_spark(spark)
    found, work = closed_round(survey, folder, count=count), work_of(folder) or ""
    if json.loads(ledger.release(work))["counts"] != counts_digest(found.counts):
        raise damaged()
    return replace(found, receipt=ledger.receipt(work))


def folder_beside(ledger: Ledger, survey: Survey) -> Path:
    """Return where the reports of a round lie: beside the ledger's own files."""
    place = ledger.files.directory
    if place is None:
        raise LedgerError(
            "a ledger on a server has no place for reports; open it with files=…, a directory beside which they lie",
            "SRD-L075",
        )
    return place.with_name(f"{place.name.removesuffix('.files')}.{FOLDER}") / survey.digest.hex()


def _key(plan: str) -> str:
    return digest_of(("round", plan))
