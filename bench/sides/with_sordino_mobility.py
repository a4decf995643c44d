"""Mobility reports of simulated people, as users make them."""

from __future__ import annotations

import csv
from collections import defaultdict
from datetime import date, timedelta
from importlib.metadata import version
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
import pyarrow as pa

import sordino as so

PEOPLE, REGIONS, DAYS, USUAL, VISITS = 50_000, 60, 90, 28, 90
FIRST = date(2026, 1, 5)
SPRING = 62  # days since the beginning of 2020
Timing = tuple[float, int, dict[str, Any]]


def versions() -> dict[str, str]:
    """Return what was measured."""
    return {"sordino": version("sordino")}


def reports(series: str, runs: int) -> Timing:
    """Return coverage, what is shown, and errors of counts, ours and with Laplace noise."""
    table, exact = _people(_series(Path(series)))
    names = [f"r{place:02}" for place in range(REGIONS)]
    trips = so.dataset("trips", table, unit="person", columns={"region": so.keys(names)})
    words: dict[str, Any] = {
        "region": "region",
        "day": "day",
        "days": (FIRST.isoformat(), (FIRST + timedelta(days=DAYS - 1)).isoformat()),
        "baseline": (FIRST.isoformat(), (FIRST + timedelta(days=USUAL - 1)).isoformat()),
        "visits": VISITS,
    }
    truth, spent = _changes(exact), 0.0
    covered, shown, within, errors, laplace = [], [], [], [], []
    for _ in range(runs):
        begun = perf_counter()
        account = so.account(trips, so.budget(epsilon=2, delta="4e-6"))
        made = so.publish.mobility(account, **words).run(epsilon=1, delta="1e-6")
        found = made.changes(0.95)
        spent += perf_counter() - begun
        plain = so.publish.mobility(so.account(trips, so.budget(epsilon=1)), **words).run(epsilon=1)
        certain = found.certain(10)
        covered.append(np.mean((found.low <= truth) & (truth <= found.high)))
        shown.append(certain.mean())
        within.append(np.abs(found.change - truth)[certain] <= 10)
        errors.append(np.mean((made.counts - exact) ** 2))
        laplace.append(np.mean((plain.counts - exact) ** 2))
    told = {
        "covered": float(np.mean(covered)),
        "cells": truth.size,
        "shown": float(np.mean(shown)),
        "within": float(np.mean(np.concatenate(within))),
        "error": float(np.sqrt(np.mean(errors))),
        "laplace": float(np.sqrt(np.mean(laplace))),
    }
    return spent, runs, told


def _series(path: Path) -> np.ndarray[Any, Any]:
    """Return regions × days after the baseline: changes in percent, of the first countries that have all of them."""
    known: dict[str, dict[int, float]] = defaultdict(dict)
    with path.open() as file:
        for row in csv.DictReader(file):
            if row["retail_and_recreation"]:
                known[row["Country"]][int(row["Year"])] = float(row["retail_and_recreation"])
    wanted = range(SPRING, SPRING + DAYS - USUAL)
    whole = [[days[day] for day in wanted] for days in known.values() if all(day in days for day in wanted)]
    return np.array(whole[:REGIONS])


def _people(series: np.ndarray[Any, Any]) -> tuple[pa.Table, np.ndarray[Any, Any]]:
    """Return who was where on which day, and the exact counts of people."""
    dice = np.random.default_rng(11)
    sizes = dice.dirichlet(np.full(REGIONS, 1.5))
    home = dice.choice(REGIONS, PEOPLE, p=sizes)
    week = np.array([0.7, 0.7, 0.7, 0.72, 0.75, 0.6, 0.45])
    factor = np.concatenate([np.ones((REGIONS, USUAL)), np.clip(1 + series / 100, 0, 1.3)], axis=1)
    parts = []
    for day in range(DAYS):
        out = np.flatnonzero(dice.random(PEOPLE) < week[day % 7] * factor[home, day])
        away = np.flatnonzero(dice.random(PEOPLE) < 0.02)
        regions = np.concatenate([home[out], dice.integers(0, REGIONS, len(away))])
        person = np.concatenate([out, away])
        parts.append(np.unique(np.stack([person, regions, np.full(len(person), day)], axis=1), axis=0))
    rows = np.concatenate(parts)
    exact = np.zeros((REGIONS, DAYS), np.int64)
    np.add.at(exact, (rows[:, 1], rows[:, 2]), 1)
    names = pa.array([f"r{place:02}" for place in range(REGIONS)])
    days = pa.array([FIRST + timedelta(days=place) for place in range(DAYS)], pa.date32())
    table = pa.table({"person": rows[:, 0], "region": names.take(rows[:, 1]), "day": days.take(rows[:, 2])})
    return table, exact


def _changes(exact: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    weekday = np.arange(DAYS) % 7
    usual = np.stack([exact[:, :USUAL][:, weekday[:USUAL] == each].mean(axis=1) for each in range(7)], axis=1)
    return 100 * (exact[:, USUAL:] / usual[:, weekday[USUAL:]] - 1)
