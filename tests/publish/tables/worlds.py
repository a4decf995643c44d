"""A small made-up population, and a way to hear everything exact that a publication hands to its mechanisms."""

from __future__ import annotations

from datetime import date
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import sordino as so
from sordino.publish.publication import Running

CITIES, COUNTRIES = ["Oslo", "Bern", "Rome"], ["NO", "CH", "IT"]


def rows_of(people: int = 400, seed: int = 3) -> pa.Table:
    random = np.random.default_rng(seed)
    age = random.integers(0, 95, people)
    city = random.integers(0, 3, people)
    begun = random.integers(0, 300, people)
    return pa.table(
        {
            "age": age,
            "married": [bool(each >= 18 and coin < 0.6) for each, coin in zip(age, random.random(people), strict=True)],
            "city": [CITIES[each] for each in city],
            "country": [COUNTRIES[each] for each in city],
            "income": [None if coin < 0.1 else coin * 90_000 for coin in random.random(people)],
            "begun": [date.fromordinal(738_000 + int(each)) for each in begun],
            "ended": [date.fromordinal(738_000 + int(each)) for each in begun + random.integers(0, 60, people)],
        }
    )


COLUMNS = {
    "age": so.bounds(0, 99, nullable=False),
    "city": so.keys(CITIES),
    "country": so.keys(COUNTRIES),
    "income": so.bounds(0, 100_000, granularity=100),
}
DAYS = (date.fromordinal(738_000), date.fromordinal(738_400))


def people(table: pa.Table | None = None, **words: Any) -> Any:
    words = {"unit": so.ROW, "columns": COLUMNS, **words}
    return so.dataset("people", rows_of() if table is None else table, **words)


def account(table: pa.Table | None = None, budget: Any = None, **words: Any) -> Any:
    return so.account(people(table, **words), budget or so.budget(rho=10))


class Heard:
    """Everything that mechanisms were given, with what they answered; a second run is given the same answers."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, answers: list[Any] | None = None) -> None:
        self.values: list[Any] = []
        self.bounds: list[Any] = []
        self.events: list[Any] = []
        self.answers: list[Any] = []
        real = Running.release

        def release(running: Running, mechanism: Any, bound: Any, value: Any) -> Any:
            answer = real(running, mechanism, bound, value)
            if answers is not None:
                answer = answers[len(self.answers)]
            self.values.append(np.array(value))
            self.bounds.append(bound)
            self.events.append(mechanism.event(bound))
            self.answers.append(answer)
            return answer

        monkeypatch.setattr(Running, "release", release)
