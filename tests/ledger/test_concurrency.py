"""Of 64 who spend a tenth of a budget of one at the same moment, exactly ten succeed: across threads and processes."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from ledger.samples import TRIPS, files, rule, spent
from ledger.workers import open_together, spend_together
from sordino.ledger.keys import SigningKey
from sordino.ledger.ledger import Ledger

PROCESSES = 4
THREADS = 16


def granted(places: Callable[[], str], directory: Path, processes: Any, rounds: int) -> list[int]:
    """Return how many of 64 spends were granted, for each round on a ledger of its own."""
    ledgers = []
    for _ in range(rounds):
        place = places()
        ledgers.append((place, files(place, directory)))
        with Ledger.open(place, **ledgers[-1][1]) as ledger:
            ledger.open_scope(TRIPS, rule(), by="owner")
    barrier, results = processes.Barrier(PROCESSES), processes.Queue()
    workers = [
        processes.Process(target=spend_together, args=(ledgers, THREADS, barrier, results)) for _ in range(PROCESSES)
    ]
    for worker in workers:
        worker.start()
    found: dict[str, list[tuple[int, int]]] = {place: [] for place, _ in ledgers}
    for _ in range(rounds * PROCESSES):
        place, tried, succeeded = results.get(timeout=300)
        found[place].append((tried, succeeded))
    for worker in workers:
        worker.join(60)
        assert worker.exitcode == 0
    for place, beside in ledgers:
        assert sum(tried for tried, _ in found[place]) == PROCESSES * THREADS
        with Ledger.open(place, **beside) as ledger:
            assert spent(ledger) == Fraction(sum(succeeded for _, succeeded in found[place]), 10)
            assert ledger.verify().sound
    return [sum(succeeded for _, succeeded in found[place]) for place, _ in ledgers]


def test_all_who_open_a_new_ledger_at_one_moment_find_one(
    places: Callable[[], str], tmp_path: Path, processes: Any
) -> None:
    """An empty PostgreSQL has no row yet that the first of them could lock."""
    for _ in range(3):
        place = places()
        beside = files(place, tmp_path)
        SigningKey.generate("sordino").save(beside["key"])
        barrier = processes.Barrier(PROCESSES)
        workers = [processes.Process(target=open_together, args=(place, beside, barrier)) for _ in range(PROCESSES)]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join(60)
            assert worker.exitcode == 0
        with Ledger.open(place, **beside) as ledger:
            assert ledger.verify().sound


def test_exactly_ten_of_64_succeed(places: Callable[[], str], tmp_path: Path, processes: Any) -> None:
    assert granted(places, tmp_path, processes, rounds=2) == [10, 10]


@pytest.mark.long
def test_exactly_ten_of_64_succeed_every_time(places: Callable[[], str], tmp_path: Path, processes: Any) -> None:
    assert granted(places, tmp_path, processes, rounds=50) == [10] * 50
