"""Two services on loopback, in processes of their own: on data about some people, and on the same without one of them.

The person who is missing in the second has more rows than count, values that fail in casts and divisions, a group of
their own, and canaries.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from serve.places import OWNER, settings_at
from serve.replicas import Replica
from sordino.serve.service import Service

CANARIES = ("zanzibar-canary-9137", 48271.390625)
PERSON = 7
DECLARED = """
name: rides
unit: rider
source: rides.parquet
columns:
  fare: {bounds: [0, 100]}
  seats: {bounds: [1, 8]}
  city: {keys: [Oslo, Rome, Bern]}
limits: {rows: 5}
"""
LOAD = {"rate_per_minute": 10**7, "rate_burst": 10**7, "threshold_seconds": 600, "workers": 8}


@dataclass(frozen=True)
class Tokens:
    """Who may come in, by name."""

    token: str
    other_token: str
    auditor_token: str
    owner_token: str


@dataclass(frozen=True)
class Pair:
    """Two services, and everything that an audit needs to know of them."""

    with_: str
    without: str
    tokens: Tokens
    token_without: str

    def words(self) -> dict[str, Any]:
        """Return the words of `audit.service` but for the addresses."""
        here = self.tokens
        return {
            "token": here.token,
            "token_without": self.token_without,
            "other_token": here.other_token,
            "auditor_token": here.auditor_token,
            "owner_token": here.owner_token,
            "dataset": "rides",
            "canaries": CANARIES,
        }


def rides(*, without: int | None = None, more: int = 12) -> dict[str, list[Any]]:
    """Rides of a hundred people, three each and `more` of one, whose values are such that things fail."""
    people = [number // 3 for number in range(300)]
    rows: dict[str, list[Any]] = {
        "rider": people,
        "fare": [float(number % 50) for number in range(300)],
        "seats": [1 + number % 8 for number in range(300)],
        "tips": [float(number % 9) for number in range(300)],
        "city": ["Oslo", "Rome", "Bern"] * 100,
        "note": ["12", "34"] * 150,
    }
    extra = {"rider": PERSON, "fare": 100.0, "seats": 8, "tips": CANARIES[1], "city": "Oslo", "note": CANARIES[0]}
    for name, value in extra.items():
        rows[name] += [value] * more
    kept = [place for place, person in enumerate(rows["rider"]) if person != without]
    return {name: [values[place] for place in kept] for name, values in rows.items()}


@contextmanager
def pair_of_services(directory: Path, budget: dict[str, Any], *, more: int = 12, **changes: Any) -> Iterator[Pair]:
    """Start both, each with its own ledger, key and tokens; the missing person has `more` rides than others."""
    replicas, tokens = [], []
    try:
        for name, without in (("with", None), ("without", PERSON)):
            home = directory / name
            home.mkdir()
            pq.write_table(pa.table(rides(without=without, more=more)), home / "rides.parquet")
            settings = settings_at(home, **(LOAD | changes))
            with Service.open(settings) as service:
                service.register(OWNER, DECLARED, budget)
                tokens.append(
                    Tokens(
                        service.issue_token(OWNER, "ann", "analyst", ["rides"]),
                        service.issue_token(OWNER, "bob", "analyst", ["rides"]),
                        service.issue_token(OWNER, "ada", "auditor"),
                        service.issue_token(OWNER, "olga", "owner"),
                    )
                )
            replicas.append(Replica(settings, name))
        for replica in replicas:
            replica.wait()
        yield Pair(replicas[0].address, replicas[1].address, tokens[0], tokens[1].token)
    finally:
        for replica in replicas:
            replica.stop()
