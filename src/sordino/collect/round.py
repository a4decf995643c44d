"""A round: a survey that is open and charged. Reports are taken while it lasts; when it is closed they are counted.

**Guarantee**: a round is charged, durably where its account is, before it takes a report; restarted, it goes on under
the same charge. Live estimates exist under local trust alone: each report is private by itself. A shuffled batch comes
whole, once, and is shown once: two looks at n and n + 1 reports would show one.
"""

from __future__ import annotations

import os
import tempfile
import weakref
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from shutil import rmtree
from typing import Any

from sordino.accounting.work import Work
from sordino.data.account import DataAccount
from sordino.errors import ArgumentError
from sordino.ledger.keys import sync_directory

from .intake import Intake, is_closed, seal
from .kept import batches, counted, keep
from .plan import Counted, RoundPlan
from .randomizer import Counts, Randomizer
from .shuffle.arrival import Arrival
from .surveys import LOCAL, TWO_SERVERS, Survey
from .wire import ID, STALE, Report, read_each

Counting = Callable[[Randomizer, Path], tuple[int, Counts]]
"""Counts the payloads in a Parquet file: how many there are, and their counts."""


@dataclass(frozen=True)
class Taken:
    """What became of reports: how many are on the disk, and how many were refused by which code."""

    taken: int
    refused: Mapping[str, int]


@dataclass(frozen=True)
class Closed:
    """A round that is over: what was counted, and the receipt. To estimate again is free."""

    survey: Survey
    reports: int
    counts: Counts
    path: Path | None
    """Where the reports are, in Parquet; None where they lay in memory's stead and are gone."""
    receipt: Any = None

    def estimate(self) -> Any:
        """Return what the counts say, with intervals."""
        return self.survey.asks.estimate(self.counts, self.reports)


class Round:
    """A round that is open. Build it with `open_round`, or by ``collect`` of a ledger; close it to count."""

    def __init__(self, survey: Survey, work: Work, folder: Path | None = None) -> None:
        self.survey = survey
        self._work = work
        self._folder = folder or Path(tempfile.mkdtemp(prefix="sordino-round-"))
        # In memory's stead: what is left of it goes with the round, quietly.
        self._scratch = None if folder is not None else weakref.finalize(self, rmtree, self._folder, ignore_errors=True)
        self._closed: Closed | None = None
        write_down(self._folder, work.id)

    @cached_property
    def intake(self) -> Intake:
        """Where reports arrive."""
        return Intake(self._folder, self.survey.digest, self.survey.randomizer)

    @property
    def id(self) -> str:
        """Under which the round goes on after a restart, where its account outlives the process."""
        return self._work.id

    def take(self, reports: Iterable[Report | bytes | str]) -> Taken:
        """Return once reports (as `Report`, bytes or JSON) are on the disk. What may not be counted is refused by code.

        A report that comes again is acknowledged, and counted once.
        """
        if self.survey.trust != LOCAL:
            raise ArgumentError(
                "a shuffled survey takes whole batches from the one who shuffles, and no single reports: in the order "
                "of their arrival they would cost more; use take_shuffled",
                "SRD-C713",
            )
        taken, wrong = 0, Counter[str]()
        for part in _parts([_body(each) for each in reports]):
            read = read_each(self.survey, part)
            wrong.update(code for _, code in read.refused)
            if len(read.records):
                self.intake.take(read.records)
            taken += len(read.records)
        return Taken(taken, dict(wrong))

    def take_shuffled(self, reports: Iterable[Report | bytes | str] | Arrival) -> Closed:
        """Take one whole batch, close the round and return what was counted.

        A survey with a shuffler takes what its shuffler sent (`Arrival`) and nothing else.

        **Assumes**: the shuffler permuted the batch and forgot the order, times and origins, and at least `batch` of
        its reports are by honest devices. Where there is none, the analyser's own hands did, and ε₀ was charged.
        """
        if self.survey.parties and not isinstance(reports, Arrival):
            raise ArgumentError(
                "this survey is priced for a batch that its shuffler mixed; give the Arrival of what it sent, or ask "
                "without parties, which is charged as reports that nobody mixed",
                "SRD-C713",
            )
        given = reports.reports() if isinstance(reports, Arrival) else reports
        bodies = {body for each in given if (body := _body(each)) is not None}
        read = [read_each(self.survey, part) for part in _parts(list(bodies))]
        ids = {bytes(row[:ID]) for each in read for row in each.records}
        if self.survey.batch is None or len(ids) < self.survey.batch:
            raise ArgumentError(
                f"a batch of this survey has at least {self.survey.batch or 'its declared number of'} reports that may "
                "be counted, which its price was found for; wait until there are as many",
                "SRD-C713",
            )
        for each in read:
            self.intake.take(each.records)
        return self.close()

    def estimate(self) -> Any:
        """Return what the reports so far say; under local trust alone."""
        if self.survey.trust != LOCAL:
            raise ArgumentError("a shuffled batch is shown once, when it is closed", "SRD-C713")
        reports, counts = self.intake.counts()
        return self.survey.asks.estimate(counts, reports)

    def close(self) -> Closed:
        """Take no more, keep the reports in Parquet, count them, and settle the digest of the counts."""
        if self._closed is None:
            seal(self._folder)
            self.leave()
            path = keep(self._folder, self.survey.digest, self.survey.randomizer)
            reports, counts = counted(self.survey.randomizer, batches(path))
            settled = self._work.finish(Counted.of(self.survey, reports, counts))
            kept = path if self._scratch is None else None
            self._closed = Closed(self.survey, reports, counts, kept, settled.receipt)
            if self._scratch is not None:
                self._scratch()
        return self._closed

    def leave(self) -> None:
        """Give files back, and leave the round open."""
        if "intake" in self.__dict__:
            self.intake.end()

    def __repr__(self) -> str:
        return f"Round({self.survey.name!r}, {self.id!r}, {'open' if self._closed is None else 'closed'})"


_AT_ONCE = 5000
_WORK = "charge"


def _parts(bodies: list[bytes | None]) -> Iterator[list[bytes | None]]:
    for start in range(0, len(bodies), _AT_ONCE):
        yield bodies[start : start + _AT_ONCE]


def _body(given: Report | bytes | str) -> bytes | None:
    """Return a report as bytes; None for what is none."""
    try:
        if isinstance(given, str):
            return Report.from_json(given).to_bytes()
        return given.to_bytes() if isinstance(given, Report) else bytes(given)
    except (ArgumentError, TypeError):
        return None


def open_round(
    survey: Survey, *, budget: DataAccount[Any], folder: Path | None = None, resume: str | None = None
) -> Round:
    """Open a round, charged here; `resume` goes on with one by its id, without another charge.

    Without a `folder` reports lie in a temporary one, which is gone with the round.
    """
    check_account(budget, survey)
    check_one_house(survey)
    if folder is not None and resume is None and is_closed(folder):
        raise over(survey)
    plan = RoundPlan(survey)
    work = budget.begin(plan) if resume is None else budget.resume(resume, plan)
    return Round(survey, work, folder)


def closed_round(survey: Survey, folder: Path, receipt: Any = None, count: Counting | None = None) -> Closed:
    """Return a round that was closed before, from its folder: nothing is charged.

    `count` counts payloads in Parquet by another engine than DuckDB, and comes to the same.
    """
    if not is_closed(folder):
        raise ArgumentError(f"round {survey.round} of {survey.name!r} was not closed; close it first", "SRD-C713")
    path = keep(folder, survey.digest, survey.randomizer)
    way = survey.randomizer
    reports, counts = counted(way, batches(path)) if count is None else count(way, path)
    return Closed(survey, reports, counts, path, receipt)


def work_of(folder: Path) -> str | None:
    """Return the id of the charge under which a folder's round was opened, None if there is none."""
    try:
        return (folder / _WORK).read_text(encoding="ascii")
    except FileNotFoundError:
        return None


def write_down(folder: Path, work: str) -> None:
    """Write down, once, under which charge a round was opened, before a report is taken."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    if work_of(folder) == work:
        return
    with open(folder / f"{_WORK}.part", "w", encoding="ascii") as file:
        file.write(work)
        file.flush()
        os.fsync(file.fileno())
    os.replace(folder / f"{_WORK}.part", folder / _WORK)
    sync_directory(folder)
    sync_directory(folder.parent)


def check_one_house(survey: Survey) -> None:
    """Refuse a survey that one house cannot collect, before anything is charged."""
    if survey.trust == TWO_SERVERS:
        raise ArgumentError(
            "a survey of two servers runs in two services, each with a ledger of its own: define it in both, or "
            "exchange messages yourself by collect.prio3",
            "SRD-C713",
        )


def check_account(budget: Any, survey: Survey) -> None:
    """Refuse an account of something else."""
    if not isinstance(budget, DataAccount) or budget.protected.name != survey.name:
        raise ArgumentError(
            f"budget must be the account of the survey {survey.name!r} itself, as account(survey, budget(…)) gives it",
            "SRD-A001",
        )


def over(survey: Survey) -> ArgumentError:
    """Return the error for a round that was closed before."""
    return ArgumentError(
        f"round {survey.round} of {survey.name!r} is over; to ask again, give round={survey.round + 1}, which is "
        "charged anew",
        STALE,
    )
