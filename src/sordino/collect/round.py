"""A round: a survey that is open and charged. Reports are taken while it lasts; when it is closed they are counted.

**Guarantee**: a round is charged, durably where its account is, before it takes a report; restarted, it goes on under
the same charge. Live estimates exist under local trust alone: each report is private by itself. A shuffled batch comes
whole, once, and is shown once: two looks at n and n + 1 reports would show one.
"""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from sordino.accounting.work import Work
from sordino.data.account import DataAccount
from sordino.errors import ArgumentError

from .intake import Intake, is_closed
from .kept import batches, counted, keep
from .plan import Counted, RoundPlan
from .randomizer import Counts
from .survey import LOCAL, Survey
from .wire import STALE, Report, read_each


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
        self._scratch = None if folder is not None else tempfile.TemporaryDirectory(prefix="sordino-round-")
        self._folder = folder or Path(self._scratch.name if self._scratch else "")
        self._closed: Closed | None = None

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
                "a shuffled survey takes whole batches from the one who shuffles, and no single reports: in their order "
                "of arrival they would cost more; use take_shuffled",
                "SRD-C713",
            )
        return self._take(reports)

    def take_shuffled(self, reports: Iterable[Report | bytes | str]) -> Closed:
        """Take one whole batch, close the round and return what was counted.

        **Assumes**: somebody who is not the analyser permuted the batch and forgot the order, times and origins, and at
        least `batch` of its reports are by honest devices. Shuffled by the analyser's own hands it earns nothing.
        """
        listed = list(reports)
        if self.survey.batch is None or len(listed) < self.survey.batch:
            raise ArgumentError(
                f"a batch of this survey has at least {self.survey.batch or 'its declared number of'} reports, which "
                "its price was found for; wait until there are as many",
                "SRD-C713",
            )
        self._take(listed)
        return self.close()

    def _take(self, reports: Iterable[Report | bytes | str]) -> Taken:
        taken, wrong = 0, Counter[str]()
        listed = list(reports)
        for start in range(0, len(listed), _AT_ONCE):
            read = read_each(self.survey, [_body(each) for each in listed[start : start + _AT_ONCE]])
            wrong.update(code for _, code in read.refused)
            if len(read.records):
                self.intake.take(read.records)
            taken += len(read.records)
        return Taken(taken, dict(wrong))

    def estimate(self) -> Any:
        """Return what the reports so far say; under local trust alone."""
        if self.survey.trust != LOCAL:
            raise ArgumentError("a shuffled batch is shown once, when it is closed", "SRD-C713")
        reports, counts = self.intake.counts()
        return self.survey.asks.estimate(counts, reports)

    def close(self) -> Closed:
        """Take no more, keep the reports in Parquet, count them, and settle the digest of the counts."""
        if self._closed is None:
            self.intake.seal()
            self.intake.end()
            path = keep(self._folder, self.survey.digest, self.survey.randomizer)
            reports, counts = counted(self.survey.randomizer, batches(path))
            settled = self._work.finish(Counted.of(self.survey, reports, counts))
            kept = path if self._scratch is None else None
            self._closed = Closed(self.survey, reports, counts, kept, settled.receipt)
            if self._scratch is not None:
                self._scratch.cleanup()
        return self._closed

    def leave(self) -> None:
        """Give files back, and leave the round open."""
        if "intake" in self.__dict__:
            self.intake.end()

    def __repr__(self) -> str:
        return f"Round({self.survey.name!r}, {self.id!r}, {'open' if self._closed is None else 'closed'})"


_AT_ONCE = 5000


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
    if folder is not None and resume is None and is_closed(folder):
        raise over(survey)
    plan = RoundPlan(survey)
    work = budget.begin(plan) if resume is None else budget.resume(resume, plan)
    return Round(survey, work, folder)


def closed_round(survey: Survey, folder: Path, receipt: Any = None) -> Closed:
    """Return a round that was closed before, from its folder: nothing is charged."""
    path = keep(folder, survey.digest, survey.randomizer)
    reports, counts = counted(survey.randomizer, batches(path))
    return Closed(survey, reports, counts, path, receipt)


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
