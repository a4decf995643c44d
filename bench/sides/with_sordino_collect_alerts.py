"""sordino's alerts and pan-private counts, run as users run them, and audited."""

from __future__ import annotations

import math
import tempfile
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

import sordino as so
from sordino.accounting.bound import Unit
from sordino.accounting.neighbours import Neighbours
from sordino.collect.alert_plan import alert_plan
from sordino.collect.alerting import Alarm, alert, open_alert
from sordino.collect.pan.cells import Cells
from sordino.collect.pan.coins import ONE, Coins
from sordino.collect.pan.opening import distinct
from sordino.data.account import DataAccount

METRICS, STEPS, THRESHOLD, POSITIVES = 2_000, 50, 500, 3
Timing = tuple[float, int, dict[str, Any]]
USER = Unit("user")


def versions() -> dict[str, str]:
    """Return what was measured."""
    return {"sordino": version("sordino")}


@dataclass(frozen=True)
class Visits:
    name: str = "visits"
    unit: Unit = USER
    neighbours: Neighbours = Neighbours.ADD_REMOVE


def alerts(runs: int, ledger: bool) -> Timing:
    """Return in how many runs exactly the shifts beyond the error were found."""
    dice, right, spent = np.random.default_rng(1), 0, 0.0
    watched = alert(metrics=METRICS, steps=STEPS, threshold=THRESHOLD, positives=POSITIVES)
    with tempfile.TemporaryDirectory() as folder:
        account = (
            so.open(Path(folder) / "budget.db").account(Visits(), so.budget(epsilon=runs))
            if ledger
            else DataAccount(Visits(), so.unlimited("a benchmark"))
        )
        for _ in range(runs):
            watch = open_alert(account, watched, epsilon=1, folder=Path(folder) / "alert")
            far = math.ceil(watch.error(0.95))
            which = dice.choice(METRICS, POSITIVES, replace=False).tolist()
            shifts = {Alarm(step, metric) for step, metric in zip((9, 30, 47), which, strict=True)}
            for step in range(1, STEPS + 1):
                values = dice.integers(0, THRESHOLD - far, METRICS)
                for shift in shifts:
                    if shift.step == step:
                        values[shift.metric] = THRESHOLD + far
                begun = perf_counter()
                if watch.positives_left:
                    watch.step(values)
                spent += perf_counter() - begun
            right += set(watch.alarms) == shifts
            watch.close()
    return spent, runs * STEPS, {"right": right, "runs": runs}


def audited_alert(audits: int) -> Timing:
    """Audit the comparisons of an alert: two metrics, four steps, four alarms, as each step makes them."""
    watched = alert(metrics=2, steps=4, threshold=0, positives=4, sensitivity=4, repeat=True)
    comparison = alert_plan(Visits(), watched, 1).comparison

    def release(values: list[int], draws: int) -> list[Any]:
        found, steps = [], np.split(np.array(values), 4)
        for _ in range(draws):
            watch = comparison.watch()
            found.append(tuple(tuple(watch.compare_all(step).tolist()) for step in steps))
        return found

    return _audits(release, (([4] * 4 + [0] * 4, [0] * 4 + [4] * 4),), audits, draws=20_000)


def audited_variant(audits: int) -> Timing:
    """Audit the variant: ten answers, ten alarms."""

    def release(values: list[int], draws: int) -> list[Any]:
        dice = np.random.default_rng()
        noisy = np.asarray(values) + dice.laplace(0, 4 / 3, (draws, len(values)))
        return list(map(tuple, (noisy >= dice.laplace(0, 2, (draws, 1))).tolist()))

    return _audits(release, (([1] * 5 + [0] * 5, [0] * 5 + [1] * 5),), audits, draws=60_000)


def audited_states(audits: int, noise: bool = True) -> Timing:
    """Audit three states of a cell, with updates of its unit at random moments between them, and without any."""
    dice, coins = np.random.default_rng(2), Coins.for_epsilon(so.budget(epsilon=1).epsilon, 1, 3, 2)
    kept = coins if noise else Coins(1, 3, ONE, ONE)

    def release(came: list[bool], draws: int) -> list[Any]:
        cells = Cells.fresh(kept, draws)
        cells.values[:] = cells.values if noise else 0
        seen = []
        for period, comes in enumerate(came):
            if period:
                cells.randomise()
            if comes:
                cells.put(np.arange(draws), 1)
            seen.append(cells.values.tolist())
        return list(zip(*seen, strict=True))

    found = []
    for _ in range(audits):
        came = dice.integers(0, 2, 3).astype(bool).tolist()
        came[int(dice.integers(0, 3))] = True
        found.append(_audits(release, ((came, [False] * 3),), 1, draws=20_000))
    told = [values for _, _, values in found]
    return (
        sum(seconds for seconds, _, _ in found),
        audits,
        {
            "least": min(each["least"] for each in told),
            "most": max(each["most"] for each in told),
            "refuted": sum(each["refuted"] for each in told),
            "audits": audits,
        },
    )


def distinct_error(runs: int) -> Timing:
    """Return how far off estimates of 80,000 units are, in the standard errors that they state."""
    account, spent, off, errors = DataAccount(Visits(), so.unlimited("a benchmark")), 0.0, [], []
    for number in range(runs):
        ids = np.arange(80_000) + 10**6 * number
        begun = perf_counter()
        with distinct(account, expected=100_000, epsilon=1) as count:
            count.add(ids)
            found = count.estimate()
        spent += perf_counter() - begun
        off.append((found.number - 80_000) / found.standard_error)
        errors.append(abs(found.number / 80_000 - 1))
    covered = float(np.mean(np.abs(off) < 1.96))
    return spent, runs, {"error": float(np.mean(errors)), "bias": float(np.mean(off)), "covered": covered}


def _audits(release: Any, pairs: Any, audits: int, draws: int) -> Timing:
    begun = perf_counter()
    found = [so.audit.measure(release, 1, pairs=pairs, draws=draws) for _ in range(audits)]
    bounds = [each.epsilon for each in found]
    refuted = sum(each.refuted for each in found)
    return (
        perf_counter() - begun,
        audits,
        {"least": min(bounds), "most": max(bounds), "refuted": refuted, "audits": audits},
    )
