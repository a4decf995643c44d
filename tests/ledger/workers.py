"""What other processes do in the tests of this room; here, so that a spawned process can import it."""

from __future__ import annotations

import os
import threading
from pathlib import Path
from typing import Any

from ledger.samples import reserved
from sordino.errors import BudgetError
from sordino.ledger.ledger import Ledger
from sordino.ledger.opening import store_at
from sordino.ledger.store import Head


def add_one(place: str, times: int) -> None:
    store = store_at(place)
    for _ in range(times):
        with store.writing() as writing:
            head = writing.lock_head()
            assert head is not None
            writing.put_entries(head.size, [b"%d" % os.getpid()], None)
            writing.put_head(Head(head.size + 1, head.frontier, head.note))
    store.close()


def open_together(place: str, beside: dict[str, Path], barrier: Any) -> None:
    """Open a ledger when all others do."""
    barrier.wait(60)
    with Ledger.open(place, **beside) as ledger:
        assert ledger.frozen is None


def spend_together(places: list[tuple[str, dict[str, Path]]], threads: int, barrier: Any, results: Any) -> None:
    """In each ledger in turn, let so many threads try to spend a tenth at one moment; report how many were granted."""
    for place, beside in places:
        with Ledger.open(place, **beside) as ledger:
            granted: list[bool] = []
            start = threading.Barrier(threads)
            workers = [threading.Thread(target=_spend, args=(ledger, start, barrier, granted)) for _ in range(threads)]
            for worker in workers:
                worker.start()
            for worker in workers:
                worker.join()
            results.put((place, len(granted), sum(granted)))


def _spend(ledger: Ledger, start: threading.Barrier, barrier: Any, granted: list[bool]) -> None:
    if start.wait() == 0:
        barrier.wait(60)
    start.wait()
    try:
        ledger.settle(reserved(ledger), b"42")
        granted.append(True)
    except BudgetError:
        granted.append(False)


def answer_for_ever(place: str, beside: dict[str, Path], answers: str) -> None:
    """Reserve, answer (a line in a file), settle, again and again, until somebody ends it."""
    ledger = Ledger.open(place, **beside)
    with open(answers, "ab", buffering=0) as file:
        while True:
            reservation = reserved(ledger)
            file.write(f"{reservation.id}\n".encode())
            ledger.settle(reservation, b"42")
