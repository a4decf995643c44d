"""A small service to publish from: who was in which region on which day, with a canary among the regions."""

from __future__ import annotations

from datetime import date, timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from serve.places import OWNER, settings_at
from sordino.serve.keeping.identity import Principal
from sordino.serve.service import Service

CANARY = "zanzibar-canary-5518"
DECLARATIONS = """
name: trips
unit: person
source: trips.parquet
columns:
  region: {keys: [Bern, Oslo, Rome]}
limits: {groups: 21}
"""
ANN = Principal("ann", "analyst", frozenset({"trips"}))
ASKED: dict[str, Any] = {
    "dataset": "trips",
    "recipe": "mobility",
    "parameters": {
        "region": "region",
        "day": "day",
        "days": ["2026-01-05", "2026-01-25"],
        "baseline": ["2026-01-05", "2026-01-18"],
    },
    "epsilon": "1",
}


def write_trips(directory: Path) -> None:
    rows = [(person, place) for person in range(90) for place in range(21) if place < 16 or person % 3]
    regions = [CANARY if row == (7, 3) else ["Bern", "Oslo", "Rome"][row[0] % 3] for row in rows]
    days = pa.array([date(2026, 1, 5) + timedelta(days=place) for _, place in rows], pa.date32())
    table = pa.table({"person": [person for person, _ in rows], "region": regions, "day": days})
    pq.write_table(table, directory / "trips.parquet")


def opened(directory: Path, epsilon: str = "5", **changes: Any) -> Service:
    write_trips(directory)
    service = Service.open(settings_at(directory, **{"heartbeat_seconds": 1, **changes}))
    service.register(OWNER, DECLARATIONS, {"epsilon": epsilon})
    return service
