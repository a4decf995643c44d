"""A small service to test with: a table of trips in which one value is a canary, an owner, analysts, an auditor."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from sordino.serve.keeping.identity import Principal
from sordino.serve.service import Service
from sordino.serve.settings import Settings

CANARY_NUMBER = 48271.390625
CANARY_TEXT = "zanzibar-canary-9137"

DECLARATIONS = """
name: trips
unit: rider
source: trips.parquet
columns:
  fare: {bounds: [0, 100]}
  city: {keys: [Oslo, Rome, Bern]}
limits: {rows: 5}
"""

OWNER = Principal("olga", "owner")
ANALYST = Principal("ann", "analyst", frozenset({"trips"}))
OTHER = Principal("bob", "analyst", frozenset({"trips"}))
STRANGER = Principal("eve", "analyst", frozenset({"another"}))
AUDITOR = Principal("ada", "auditor")

COUNT = "SELECT COUNT(*) AS rides FROM trips"
PUBLISHED = {"dataset": "trips", "recipe": "synthetic", "parameters": {"columns": ["city", "fare"]}, "epsilon": "0.1"}


def count(epsilon: Any = 0.1, **more: Any) -> dict[str, Any]:
    return {"dataset": "trips", "sql": COUNT, "epsilon": epsilon, **more}


def write_trips(directory: Path) -> None:
    riders = [number // 3 for number in range(300)]
    fares = [float(number % 50) for number in range(300)]
    cities = ["Oslo", "Rome", "Bern"] * 100
    notes = ["plain"] * 300
    fares[7], cities[7], notes[7] = CANARY_NUMBER, CANARY_TEXT, CANARY_TEXT
    table = {"rider": riders, "fare": fares, "city": cities, "note": notes}
    pq.write_table(pa.table(table), directory / "trips.parquet")


def settings_at(directory: Path, **changes: Any) -> Settings:
    return Settings(**{"database": str(directory / "budget.db"), "data": str(directory), **changes})


def opened(directory: Path, budget: dict[str, Any] | None = None, **changes: Any) -> Service:
    write_trips(directory)
    service = Service.open(settings_at(directory, **changes))
    service.register(OWNER, DECLARATIONS, budget or {"epsilon": 1})
    return service
