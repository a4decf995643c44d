"""How a stream is opened: charged whole, or gone on with from the newest of its files and no other.

**Guarantee**: nothing is charged before the folder was tried. A stream goes on only where the ledger's newest part is
the one that its file holds, or the file is one release ahead, which is recorded then: see ``stream.py``.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

from sordino.accounting.own_budget import own_budget
from sordino.accounting.work import Work
from sordino.arguments import Number
from sordino.data.account import DataAccount
from sordino.errors import ArgumentError, LedgerError

from .keeping import Folder, Kept, kept_again, plan_again, prepare
from .plan import StreamPlan, plan_of
from .price import check_account
from .spec import StreamSpec
from .stream import Stream


def open_stream(
    account: DataAccount[Any],
    spec: StreamSpec,
    *,
    rho: Number | None = None,
    epsilon: Number | None = None,
    delta: Number | None = None,
    resume: str | None = None,
    folder: Any = None,
) -> Stream:
    """Open a stream, charged whole here for all of its steps; or go on with one by its id, without another charge.

    Args:
        account: of what the stream is about.
        spec: what is counted; the same when a stream is resumed.
        rho: what all of it may spend; or `epsilon`, with `delta` or that of the account. To resume, neither is needed
            (but where a crash came before the first file was written).
        resume: the id of an open stream.
        folder: where the stream's secret file lies. Without one, the stream ends with the process.
    """
    check_account(account)
    if not isinstance(spec, StreamSpec):
        raise ArgumentError("say what is counted: collect.counting(steps=…), summing, histogram or top_k", "SRD-A001")
    place = None if folder is None else prepare(folder)
    if resume is None:
        plan = plan_of(account.protected, spec, own_budget(account.budget, epsilon, delta, rho))
        work, kept = account.begin(plan), _begun(plan)
        if place is None:
            return Stream(plan, work, None, kept)
        with Folder(place, work.id) as file:
            file.write(plan, kept)
            return Stream(plan, work, file, kept)
    if place is None:
        raise ArgumentError("a stream goes on from its file: say folder=…, where it was opened", "SRD-A003")
    with Folder(place, resume) as file:
        return _resumed(account, spec, file, resume, (epsilon, delta, rho))


def _begun(plan: StreamPlan) -> Kept:
    secret, public = plan.strategy.begin(plan.spec.arrivals)
    if plan.spec.window is not None:
        public = {**public, "recent": np.zeros((plan.spec.window, plan.spec.arrivals.cells))}
    return Kept(secret, public)


def _resumed(
    account: DataAccount[Any],
    spec: StreamSpec,
    file: Folder,
    identifier: str,
    spent: tuple[Number | None, Number | None, Number | None],
) -> Stream:
    said = file.read()
    if said is None and spent == (None, None, None):
        raise LedgerError(
            "there is no file of this stream in the folder; say where it lies, or, if nothing ever left of the stream, "
            "what it may spend, as when it was opened",
            "SRD-C504",
        )
    if said is None:
        plan = plan_of(account.protected, spec, own_budget(account.budget, *spent))
        kept = _begun(plan)
    else:
        protected = account.protected
        known = StreamPlan(protected.name, protected.unit, protected.neighbours, spec, spec.tactics(), Fraction(1))
        plan, kept = plan_again(said, known), kept_again(said)
        if spent != (None, None, None):
            _check_spent(plan, plan_of(protected, spec, own_budget(account.budget, *spent)))
    work = account.resume(identifier, plan)
    _check_newest(work, plan, kept)
    stream = Stream(plan, work, file, kept)
    if said is None:
        file.write(plan, kept)
    _ = stream.last  # recorded now, if a crash came before that
    return stream


def _check_spent(plan: StreamPlan, asked: StreamPlan) -> None:
    """Refuse to resume a stream by another price than was paid."""
    if abs(asked.variance / plan.variance - 1) > Fraction(1, 10**5):
        raise ArgumentError(
            "this stream was charged for another price, which stands: leave rho, epsilon and delta out to resume it",
            "SRD-A003",
        )


def _check_newest(work: Work, plan: StreamPlan, kept: Kept) -> None:
    """Refuse a file that is not the newest of its stream, or that another ledger belongs to."""
    number = kept.number
    if number < plan.parts and work.recorded(number + 1) is not None:
        raise LedgerError(
            "the stream's file is an old copy: more was released since, and to measure the same again would leak; put "
            "back the newest file, or open another stream, which is charged anew",
            "SRD-C502",
        )
    if number > 1 and work.recorded(number - 1) is None:
        raise LedgerError(
            "the ledger is older than the stream's file: restore the newest ledger before the stream goes on",
            "SRD-C502",
        )
