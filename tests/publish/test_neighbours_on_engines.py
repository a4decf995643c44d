"""The neighbour oracle for every recipe over tables, on every engine: D and D without one person."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date, timedelta
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest

import sordino as so
from publish.replaying import judged, within
from query.engines import Engine
from sordino.mechanisms.laplace import Laplace
from sordino.mechanisms.watch import Watch
from sordino.publish.publication import Publication

PEOPLE, LIMIT, GONE = 40, 2, 11
FIRST = date(2026, 1, 5)
DICE = np.random.default_rng(9)
ROWS = 90
OWNER = np.concatenate([np.arange(PEOPLE), DICE.integers(0, PEOPLE, ROWS - PEOPLE - 6), [GONE] * 6])
TABLE = pa.table(
    {
        "person": OWNER,
        "city": DICE.choice(["Oslo", "Bern", "Rome", "nowhere"], ROWS, p=[0.5, 0.25, 0.2, 0.05]).tolist(),
        "income": pa.array([None if each < 0.1 else float(each * 900) for each in DICE.random(ROWS)]),
        "age": DICE.integers(0, 99, ROWS),
        "lat": np.append(DICE.random(ROWS - 1), [7.0]),
        "lon": DICE.random(ROWS),
        "day": pa.array([FIRST + timedelta(days=int(each)) for each in DICE.integers(0, 21, ROWS)], pa.date32()),
    }
)
WITHOUT = TABLE.filter(pc.not_equal(TABLE["person"], GONE))
COLUMNS = {"city": so.keys(["Oslo", "Bern", "Rome"]), "income": so.bounds(0, 1000), "age": so.bounds(0, 99)}
WEEKS = {"days": ("2026-01-05", "2026-01-25"), "baseline": ("2026-01-05", "2026-01-18")}
BOX = {"box": (0, 0, 1, 1), "cells": (16, 16)}
RECIPES: dict[str, Callable[[Any], Publication[Any]]] = {
    "synthetic": lambda data: so.publish.synthetic(data, ["city", "income", "age"], bins=4, method="mst"),
    "ranges": lambda data: so.publish.ranges(data, "income", cells=32),
    "map": lambda data: so.publish.heat_map(data, "lat", "lon", **BOX),
    "sites": lambda data: so.publish.heat_map(data, "lat", "lon", sites=2, **BOX),
    "quadtree": lambda data: so.publish.heat_map(data, "lat", "lon", method="quadtree", **BOX),
    "mobility": lambda data: so.publish.mobility(data, region="city", day="day", visits=3, **WEEKS),
}


def account(engine: Engine, table: pa.Table) -> Any:
    data = so.dataset(
        "rows", engine.load("rows", table), unit="person", columns=COLUMNS, limits=so.limits(rows=LIMIT, groups=3)
    )
    return so.account(data, so.budget(epsilon=100))


@pytest.mark.parametrize("recipe", RECIPES)
def test_nothing_but_noise_tells_a_person(engine: Engine, recipe: str) -> None:
    drawn = "rows.parquet" if recipe == "synthetic" else ""
    judged(RECIPES[recipe], account(engine, TABLE), account(engine, WITHOUT), drawn=drawn, epsilon=4)


def test_marginals_tell_no_person(engine: Engine) -> None:
    found = [
        so.account(each.protected, so.budget(rho=9)) for each in (account(engine, TABLE), account(engine, WITHOUT))
    ]
    judged(lambda data: so.publish.marginals(data, ["city", "age"], cells={"age": 6}), *found, rho=1)


@pytest.mark.parametrize("recipe", ["answers", "alerts"])
def test_comparisons_move_within_the_bound(engine: Engine, recipe: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Sparse vectors are asked one by one: what each is asked on neighbours is held against its bound."""
    seen: list[list[Any]] = []
    for table in (TABLE, WITHOUT):
        asked: list[Any] = []
        seen.append(asked)
        with monkeypatch.context() as patched:
            patched.setattr(Watch, "ask", lambda _self, value, asked=asked: bool(asked.append(value)))
            patched.setattr("sordino.noise.uniform", lambda _most: 7)
            patched.setattr(Laplace, "release", lambda _self, value, _grant: np.asarray(value) * 0 + 9)
            made = _asked(recipe, account(engine, table))
            made.run(epsilon=4)
            design = made.plan(epsilon=4).design
            bound = design.plan.scores if recipe == "answers" else design.bound
    moved = np.abs(np.array(seen[0], dtype=float) - np.array(seen[1], dtype=float))
    assert len(moved) > 3
    assert 0 < moved.max() <= bound.linf
    if recipe == "alerts":
        within(np.array(seen[0]), np.array(seen[1]), bound)


def _asked(recipe: str, data: Any) -> Publication[Any]:
    if recipe == "answers":
        questions = [so.publish.those(city=city) for city in ("Oslo", "Bern", "Rome")] * 2
        return so.publish.answers(data, ["city"], questions)
    return so.publish.mobility_alerts(data, region="city", day="day", visits=3, **WEEKS)
