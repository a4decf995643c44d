"""Alarms over thousands of metrics that pay for the alarms alone: sparse vector as work that stays open.

    watch = open_alert(account, alert(metrics=2000, steps=50, threshold=400, positives=3), epsilon=1, folder="alarm")
    for values in …:                      # one whole number a metric
        for alarm in watch.step(values):  # recorded in the ledger before it is returned
            …
    watch.close()

**Guarantee**: all that ever leaves an alert (which metrics raised an alarm at which step, which did not, and when it
was used up) is together ε differentially private for the ε that was charged when it opened, however many metrics and
steps there are, through any number of crashes and restarts, and for any number of processes that go on with it. Values
may be chosen by all alarms so far. Charged for its positives whether they come or not; armed again it is another alert.
**Assumes**: one unit moves no metric at any step by more than `sensitivity`, under the relation of the data
(`metric_counts` makes such counts). NaN counts as 0, so a unit must not be able to make one. Nobody reads the folder.
**Source**: Lyu, Su & Li 2017, Algorithm 7; the proof for whole-numbered noise is in ``mechanisms/sparse_vector.py``.

**Proof**, of what restarts add to that. The technique needs three things: one noisy threshold for all comparisons;
fresh noise in each; at most c positives among those that leave. It allows any number of negatives and any values, so
also a step that is asked twice.
*One threshold.* It is drawn once, written to a secret file, and the file synced; then the file's random mark is
recorded as part 1, and no comparison comes before that. A ledger gives one answer for part 1 for ever. So a file is
used only if it has the mark of part 1, and a new threshold is drawn only while part 1 is not recorded, which is while
nothing was compared. A lost file, or a second one by a racing process, ends in a refusal, never in a second threshold.
The file never changes, so an old copy of it is as good as any: there is no older state to go back to.
*At most c.* Step k is part k + 1, and what is returned is what is recorded there, whoever recorded it. A process
compares for step k after it has read what steps 1 … k − 1 recorded, with the c′ positives that those left, and stops
at the last of them. Of several that compare for one step one is recorded, and the others' results leave nowhere. So the
positives on record are at most c; a copy of the folder that is run elsewhere gets the same answers or the next ones.
*Fresh noise.* A comparison that a crash cut off, or whose record failed, left nowhere, and is made again with new
noise. Every step is recorded, alarms or none, so whether a ledger is written to does not depend on data: with records
of positives alone, a full disk would tell of a positive that nobody counted. ∎
"""

from __future__ import annotations

import json
import threading
from pathlib import Path
from types import TracebackType
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from sordino.accounting.work import Work
from sordino.arguments import Number, whole
from sordino.data.account import DataAccount
from sordino.errors import ArgumentError, BudgetError, GrantError
from sordino.mechanisms.sparse_vector import answers_to_steps
from sordino.mechanisms.watch import Watch

from .alert_plan import Alert as Alert
from .alert_plan import AlertPlan, alert_plan
from .alert_plan import alert as alert
from .alert_secret import Secret, armed, check_folder, forget
from .said import Said


class Alarm(NamedTuple):
    """That a metric was above the threshold at a step, both noisy. Steps count from 1, metrics from 0."""

    step: int
    metric: int


class AlertWatch:
    """An open alert. Build it with `open_alert`; safe to share between threads, a turn each."""

    def __init__(self, plan: AlertPlan, work: Work, secret: Secret, folder: Path) -> None:
        self.plan = plan
        self._work = work
        self._secret = secret
        self._folder = folder
        self._lock = threading.Lock()
        self._steps = _recorded(work, plan.alert.steps)
        self._alarms = _alarms(work, self._steps)

    @property
    def id(self) -> str:
        """Under which the alert goes on after a restart, where its account outlives the process."""
        return self._work.id

    @property
    def steps(self) -> int:
        """How many steps were taken."""
        return self._steps

    @property
    def alarms(self) -> tuple[Alarm, ...]:
        """All alarms so far."""
        return self._alarms

    @property
    def positives_left(self) -> int:
        """How many alarms may still be raised."""
        return self.plan.alert.positives - len(self._alarms)

    def step(self, values: Any, *, number: int | None = None) -> list[Alarm]:
        """Compare the next value of every metric, and return the alarms, in the order of metrics.

        The step at which the last positive is raised ends there: metrics after that one are not compared. A metric
        that has raised an alarm is left out from then on, unless the alert was declared with ``repeat=True``.

        Who asks again, as an answer was lost on its way, says the `number` of the step: one that was taken gives the
        alarms of then, whatever `values` are now.
        """
        steps = self._checked(values)
        with self._lock:
            place = self._steps + 1 if number is None else whole("number", number, least=1, most=self._steps + 1)
            if place <= self._steps:
                return [each for each in self._alarms if each.step == place]
            self._check_open()
            said = json.loads(self._work.part(place + 1, Said(self._compared(place, steps))))
            found = [Alarm(place, int(metric)) for metric in said["alarms"]]
            self._steps, self._alarms = place, (*self._alarms, *found)
            return found

    def error(self, confidence: float = 0.95) -> float:
        """Return how far from the threshold a value must be for no comparison at all to err, with `confidence`."""
        return self.plan.error(confidence)

    def close(self) -> Said:
        """Settle and forget the threshold. Nothing is paid back for alarms that were not raised."""
        said = self._work.finish(Said({"steps": self._steps, "alarms": len(self._alarms)}))
        forget(self._folder)
        return said

    def _checked(self, values: Any) -> NDArray[np.int64]:
        steps = answers_to_steps(self.plan.comparison.grid, values)
        if steps.size != self.plan.alert.metrics:
            raise ArgumentError(
                f"a step has one value for each of the {self.plan.alert.metrics} metrics, not {steps.size}", "SRD-C601"
            )
        return steps

    def _check_open(self) -> None:
        if self.positives_left == 0 or self._steps == self.plan.alert.steps:
            spent = "alarms" if self.positives_left == 0 else "steps"
            raise BudgetError(
                f"this alert has had all the {spent} that it was charged for; close it and open another, which is "
                "charged anew",
                "SRD-C602",
            )

    def _compared(self, place: int, steps: NDArray[np.int64]) -> dict[str, Any]:
        """Return what a step says; it leaves only by what the ledger has under its number."""
        asked = np.arange(steps.size)
        if not self.plan.alert.repeat:
            asked = np.delete(asked, [each.metric for each in self._alarms])
        law, grid = self.plan.comparison.query_law, self.plan.comparison.grid
        above = Watch(self._secret.threshold, law, grid, self.positives_left).compare_all(steps[asked])
        raised = asked[: above.size][above].tolist()
        before = self._alarms[-1].step if self._alarms else 0
        return {"step": place, "alarms": raised, "compared": int(above.size), "before": before}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, _kind: Any, error: BaseException | None, _trace: TracebackType | None) -> None:
        if error is None:
            self.close()

    def __repr__(self) -> str:
        return f"AlertWatch({self.plan.dataset!r}, {self.positives_left} of {self.plan.alert.positives} alarms left)"

    def __reduce__(self) -> str:
        raise GrantError("an alert cannot be copied or sent elsewhere; go on with it by its id", "SRD-G003")


def open_alert(
    account: DataAccount[Any], alert: Alert, *, epsilon: Number, folder: str | Path, resume: str | None = None
) -> AlertWatch:
    """Charge `alert` for all its positives, and return the watch; `resume` goes on with one by its id, free of charge.

    `folder` is the alert's own, and keeps the noisy threshold in a file that its owner alone may read. Whoever reads
    it can undo the privacy of every comparison, so keep it like the data: no backup but those of the data.
    """
    if not isinstance(account, DataAccount):
        raise ArgumentError(
            "account must be the account of what is watched, as so.open(…).account(…) returns", "SRD-A001"
        )
    plan, place = alert_plan(account.protected, alert, epsilon), Path(folder)
    if resume is None:
        check_folder(place)
    work = account.begin(plan) if resume is None else account.resume(resume, plan)
    return AlertWatch(plan, work, armed(plan, work, place), place)


def _recorded(work: Work, steps: int) -> int:
    """Return how many steps were taken before: numbers have no gaps, so they are found by halving."""
    low, high = 0, steps
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if work.recorded(middle + 1) is not None else (low, middle - 1)
    return low


def _alarms(work: Work, steps: int) -> tuple[Alarm, ...]:
    """Return all alarms on record: each step names the one before it that had some."""
    found: list[Alarm] = []
    while steps:
        said = json.loads(work.recorded(steps + 1) or b"{}")
        found[:0] = [Alarm(steps, int(metric)) for metric in said["alarms"]]
        steps = int(said["before"])
    return tuple(found)
