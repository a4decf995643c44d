"""Answers to look at, without any data: estimates made up, and questions that only say how to show them."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, timedelta
from typing import Any

import numpy as np

from sordino.data.kinds import Kind
from sordino.data.metadata import OwnedByRow, Schema, Table
from sordino.noise import DiscreteLaplace
from sordino.query.answer.answer import Answer
from sordino.query.answer.arrange import assemble
from sordino.query.estimate.estimate import Linear, Several
from sordino.query.model.expression import ColumnRef, Expression
from sordino.query.model.question import Output, Question
from sordino.query.model.relation import Scan

LAW = DiscreteLaplace(10)  # reaches 30 at 95 %
CITY, DAY = ColumnRef(Kind.TEXT, "k0"), ColumnRef(Kind.DATE, "k1")
COUNT, MEAN = ColumnRef(Kind.INTEGER, "a0"), ColumnRef(Kind.REAL, "a1")


def question(outputs: Sequence[tuple[str, Expression]], **how: Any) -> Question:
    table = Table("trips", {}, OwnedByRow())
    named = tuple(Output(name, expression) for name, expression in outputs)
    return Question(Schema("rides", {"trips": table}), Scan(table), (), named, **how)


def counts(*values: float) -> Linear:
    return Linear(np.array(values, dtype=np.float64), [(LAW, 1.0)], whole=True)


def means(*values: float) -> Linear:
    return Linear(np.array(values, dtype=np.float64), [(LAW, 0.01)])


def by_city(cities: Sequence[Any] = ("Mill", "Old Town", "Harbour"), **how: Any) -> Answer:
    several = len(cities)
    values = {
        "k0": list(cities),
        "a0": counts(*np.linspace(1000, 10, several).round()),
        "a1": means(*np.linspace(1, 9, several)),
    }
    asked = question([("city", CITY), ("trips", COUNT), ("fare", MEAN)], **how)
    return assemble(asked, values, notes=["fares were clipped"], details={"question": "SELECT <b>"})


def by_day(cities: Sequence[str], days: int = 10) -> Answer:
    keys = [(city, date(2026, 1, 1) + timedelta(days=day)) for city in cities for day in range(days)]
    values: dict[str, Any] = {"k0": [city for city, _ in keys], "k1": [day for _, day in keys]}
    values["a0"] = counts(*range(len(keys)))
    return assemble(question([("city", CITY), ("day", DAY), ("trips", COUNT)]), values)


def histogram(cities: Sequence[str], labels: tuple[str, ...] | None = ("[0, 1)", "[1, 2)", "[2, 9)")) -> Answer:
    parts = tuple(counts(*[10.0 * place] * len(cities)) for place in range(3))
    values = {"k0": list(cities), "a0": Several(parts, labels)}
    return assemble(question([("city", CITY), ("trips", COUNT)]), values)
