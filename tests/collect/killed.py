"""An alert and a pan-private count in processes of their own, with a real ledger, to be killed at named points."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from collect.visits import house, kept
from sordino.accounting.work import Work
from sordino.collect import alert_secret
from sordino.collect import alerting as alerts
from sordino.collect.alerting import AlertWatch, alert, open_alert
from sordino.collect.pan import kept as pan_kept
from sordino.collect.pan.counting import PanCount
from sordino.collect.pan.opening import density
from sordino.data.account import DataAccount

METRICS, STEPS, POSITIVES = 20, 8, 3
SHIFTS = {(3, 4), (6, 7)}
"""(step, metric): far beyond every noise at this ε."""
ALERT = alert(metrics=METRICS, steps=STEPS, threshold=1_000, positives=POSITIVES)
POINTS: dict[str, tuple[Any, str, int]] = {
    "charging": (DataAccount, "begin", 1),
    "writing the threshold": (alert_secret, "write_new", 1),
    "arming": (Work, "part", 1),
    "a quiet step": (Work, "part", 3),
    "an alarm": (Work, "part", 4),
    "settling": (Work, "finish", 1),
    "forgetting": (alerts, "forget", 1),
}
"""Where an alert can be killed: what is called there, and which call it is."""
PAN_POINTS: dict[str, tuple[Any, str, int]] = {
    "charging": (DataAccount, "begin", 1),
    "counting a save": (Work, "part", 2),
    "writing a save": (pan_kept, "write", 2),
    "putting a save in place": (pan_kept, "sync_directory", 2),
    "recording an estimate": (Work, "part", 3),
    "settling": (Work, "finish", 1),
}


def values(step: int) -> np.ndarray[Any, Any]:
    found = np.zeros(METRICS, dtype=np.int64)
    for when, metric in SHIFTS:
        found[metric] = 2_000 * (step == when)
    return found


def opened_alert(folder: Path, account: Any, resume: str | None = None) -> AlertWatch:
    return open_alert(account, ALERT, epsilon=5, folder=folder / "alert", resume=resume)


def watch(folder: Path, resume: str | None = None, point: str | None = None, after: bool = False) -> None:
    """Take all steps that are left, noting each alarm that leaves; with `point`, die there."""
    if point is not None:
        _die_at(*POINTS[point], after=after)
    with house(folder) as opened:
        found = opened_alert(folder, kept(opened), resume)
        with open(folder / "run.log", "ab", buffering=0) as log:
            for step in range(found.steps + 1, STEPS + 1):
                for alarm in found.step(values(step)):
                    log.write(f"{alarm.step} {alarm.metric}\n".encode())
        found.close()


def opened_count(folder: Path, account: Any, resume: str | None = None, older: bool = False) -> PanCount:
    return density(
        account, users=400, epsilon=9, saves=3, releases=2, file=folder / "state", resume=resume, older=older
    )


def count(folder: Path, resume: str | None = None, point: str | None = None, after: bool = False) -> None:
    """Add and save twice, then estimate; with `point`, die there."""
    if point is not None:
        _die_at(*PAN_POINTS[point], after=after)
    with house(folder) as opened:
        found = opened_count(folder, kept(opened), resume)
        for part in np.split(np.arange(200), 2):
            found.add(part)
            found.save()
        found.estimate()
        found.close()


def _die_at(owner: Any, name: str, calls_until: int, *, after: bool) -> None:
    called: Callable[..., Any] = getattr(owner, name)
    calls = 0

    def dying(*given: Any, **words: Any) -> Any:
        nonlocal calls
        calls += 1
        if calls == calls_until and not after:
            os.kill(os.getpid(), signal.SIGKILL)
        found = called(*given, **words)
        if calls == calls_until:
            os.kill(os.getpid(), signal.SIGKILL)
        return found

    setattr(owner, name, dying)
