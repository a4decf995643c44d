"""What is measured and how: cases, bars, and interleaved repeats of ours and theirs.

A case names a call for us and, mostly, one for a peer. Each side runs in a process and an environment of its own.
Repeats alternate (ours, theirs, ours, theirs, …) so that a busy minute of the machine falls on both, and medians are
compared.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from statistics import median
from typing import Any

from peers import Worker


@dataclass(frozen=True)
class Call:
    """One function of one side (a file in ``bench/sides/``) with its arguments."""

    side: str
    function: str
    arguments: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Measured:
    """What one side showed: seconds for each unit (a sample, a release, a price), median of all repeats."""

    seconds: float
    values: dict[str, float]
    versions: dict[str, str]


@dataclass(frozen=True)
class Verdict:
    """A figure in words, the bar in words, and whether the figure keeps it; a ratio below 1 means: we are faster."""

    figure: str
    bar: str
    passed: bool


Bar = Callable[[Measured, Measured | None], Verdict]


@dataclass(frozen=True)
class Case:
    """One row of the table."""

    what: str
    ours: Call
    theirs: Call | None
    bar: Bar
    repeats: int = 7
    fresh: bool = False
    """A new process for every repeat, so that nothing remembered from the last one helps."""
    group: str | None = None
    """Cases of one group are also judged together, by the geometric mean of their ratios."""


@dataclass(frozen=True)
class Row:
    """One case as it was measured."""

    case: Case
    ours: Measured
    theirs: Measured | None
    verdict: Verdict
    repeats: int

    @property
    def ratio(self) -> float | None:
        """Our time divided by theirs."""
        return None if self.theirs is None else self.ours.seconds / self.theirs.seconds


# ---- bars -----------------------------------------------------------------------------------------------------------


def at_most_times(limit: float) -> Bar:
    """Ours takes at most `limit` times theirs."""

    def judge(ours: Measured, theirs: Measured | None) -> Verdict:
        assert theirs is not None
        ratio = ours.seconds / theirs.seconds
        return Verdict(f"{ratio:.2f} ×", f"≤ {limit:g} × the peer", ratio <= limit)

    return judge


def times_faster(limit: float) -> Bar:
    """Theirs takes at least `limit` times ours."""

    def judge(ours: Measured, theirs: Measured | None) -> Verdict:
        assert theirs is not None
        ratio = theirs.seconds / ours.seconds
        return Verdict(f"{ratio:,.0f} × faster", f"≥ {limit:g} × faster", ratio >= limit)

    return judge


def at_most_seconds(limit: float) -> Bar:
    """Ours takes at most `limit` seconds."""

    def judge(ours: Measured, _theirs: Measured | None) -> Verdict:
        return Verdict(duration(ours.seconds), f"≤ {duration(limit)}", ours.seconds <= limit)

    return judge


def brackets(truth: float, known_to: float = 1e-5, within: float = 1e-3) -> Bar:
    """Our lower and upper values enclose `truth` and both lie within a share `within` of it."""

    def judge(ours: Measured, _theirs: Measured | None) -> Verdict:
        lower, upper = ours.values["lower"], ours.values["upper"]
        encloses = lower <= truth + known_to and upper >= truth - known_to
        close = upper <= truth * (1 + within) and lower >= truth * (1 - within)
        return Verdict(f"{lower:.6f} – {upper:.6f}", f"encloses {truth} within {within:.1%}", encloses and close)

    return judge


def value_at_most(limit: float) -> Bar:
    """Our value is at most `limit`."""

    def judge(ours: Measured, _theirs: Measured | None) -> Verdict:
        value = ours.values["value"]
        return Verdict(f"{value:.6f}", f"≤ {limit}", value <= limit)

    return judge


def information(ours: Measured, theirs: Measured | None) -> Verdict:
    """No bar of its own: the row is shown, or judged with its group."""
    ratio = "" if theirs is None else f"{ours.seconds / theirs.seconds:.2f} ×"
    return Verdict(ratio, "", passed=True)


def geometric_mean(rows: Sequence[Row]) -> float:
    """Return the geometric mean of the rows' ratios."""
    return math.exp(sum(math.log(row.ratio) for row in rows if row.ratio is not None) / len(rows))


def duration(seconds: float) -> str:
    """Return a time as people read it."""
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)):
        if seconds >= size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds / 1e-9:.3g} ns"


# ---- running --------------------------------------------------------------------------------------------------------


def run(cases: Sequence[Case], repeats: int | None = None) -> Iterator[Row]:
    """Measure the cases one after the other."""
    workers: dict[str, Worker] = {}
    try:
        for case in cases:
            yield _run(case, workers, repeats or case.repeats)
    finally:
        for worker in workers.values():
            worker.close()


def _run(case: Case, workers: dict[str, Worker], repeats: int) -> Row:
    calls = [case.ours] if case.theirs is None else [case.ours, case.theirs]
    answers: list[list[dict[str, Any]]] = [[] for _ in calls]
    if not case.fresh:
        for call in calls:
            _ask(call, workers, fresh=False)  # warms caches and processor up; not counted
    for _ in range(repeats):
        for call, collected in zip(calls, answers, strict=True):
            collected.append(_ask(call, workers, fresh=case.fresh))
    ours, *others = [_median(collected) for collected in answers]
    theirs = others[0] if others else None
    return Row(case, ours, theirs, case.bar(ours, theirs), repeats)


def _ask(call: Call, workers: dict[str, Worker], *, fresh: bool) -> dict[str, Any]:
    if fresh:
        with Worker(call.side) as worker:
            return worker.ask(call.function, call.arguments)
    if call.side not in workers:
        workers[call.side] = Worker(call.side)
    return workers[call.side].ask(call.function, call.arguments)


def _median(answers: Sequence[dict[str, Any]]) -> Measured:
    seconds = median(answer["seconds"] / answer["units"] for answer in answers)
    return Measured(seconds, answers[-1]["values"], answers[-1]["versions"])
