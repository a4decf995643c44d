"""Whatever breaks at whatever moment: what was answered was charged, no lock stays behind, and the ledger verifies."""

from __future__ import annotations

import errno
import os
import random
import signal
import time
from collections.abc import Callable, Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from ledger.samples import TRIPS, files, request, reserved, rule, spent
from ledger.workers import answer_for_ever
from sordino.accounting.budget import budget
from sordino.errors import LedgerError
from sordino.ledger.entries import Reserved
from sordino.ledger.ledger import Ledger
from sordino.ledger.store import Store
from sordino.ledger.witness import FileWitness

LARGE = budget(epsilon=10**6)


@pytest.fixture
def ledger(place: str, tmp_path: Path) -> Iterator[Ledger]:
    with Ledger.open(place, **files(place, tmp_path)) as found:
        found.open_scope(TRIPS, rule(LARGE), by="owner")
        yield found


# Killed


def kill_and_look(place: str, directory: Path, processes: Any, rounds: int) -> int:
    """Kill workers at random moments; return how many answers were given in all."""
    beside, answers = files(place, directory), directory / "answers"
    with Ledger.open(place, **beside) as ledger:
        ledger.open_scope(TRIPS, rule(LARGE), by="owner")
    for _ in range(rounds):
        workers = [processes.Process(target=answer_for_ever, args=(place, beside, str(answers))) for _ in range(2)]
        for worker in workers:
            worker.start()
        _wait_for_growth(answers, workers)
        time.sleep(random.uniform(0, 0.1))  # noqa: S311
        for worker in workers:
            os.kill(worker.pid, signal.SIGKILL)
        for worker in workers:
            worker.join(60)
            assert worker.exitcode == -signal.SIGKILL
        _check(place, beside, answers)
    return len(answers.read_text().split())


def _wait_for_growth(answers: Path, workers: list[Any]) -> None:
    before = answers.stat().st_size if answers.exists() else 0
    for _ in range(3000):
        assert all(worker.exitcode is None for worker in workers), "a worker ended by itself"
        if answers.exists() and answers.stat().st_size > before:
            return
        time.sleep(0.01)
    raise AssertionError("no worker answered within 30 s: is there a stuck lock?")


def _check(place: str, beside: dict[str, Path], answers: Path) -> None:
    with Ledger.open(place, **beside) as ledger:
        assert ledger.frozen is None, str(ledger.frozen)
        charged = {entry.id for entry in ledger.entries() if isinstance(entry, Reserved)}
        assert set(answers.read_text().split("\n")[:-1]) <= charged
        report = ledger.verify()
        assert report.sound, str(report)
        assert spent(ledger) == Fraction(len(charged), 10)


def test_killed_at_random_moments(place: str, tmp_path: Path, processes: Any) -> None:
    assert kill_and_look(place, tmp_path, processes, rounds=4) >= 4


@pytest.mark.long
def test_killed_at_200_random_moments(place: str, tmp_path: Path, processes: Any) -> None:
    assert kill_and_look(place, tmp_path, processes, rounds=200) >= 200


# A statement that fails


class Faulty:
    """A cursor whose first statement that begins with `word` fails: before it is executed, or after."""

    def __init__(self, real: Any, failure: type[Exception], word: str, *, after: bool) -> None:
        self._real, self._failure, self._word, self._after = real, failure, word, after
        self.failed = False

    def execute(self, text: str, *rest: Any) -> None:
        fails = text.startswith(self._word) and not self.failed
        self.failed = self.failed or fails
        if fails and not self._after:
            raise self._failure("a fault")
        self._real.execute(text, *rest)
        if fails:
            raise self._failure("a fault")

    def __getattr__(self, name: str) -> Any:
        return getattr(self._real, name)


def with_fault(store: Store, monkeypatch: pytest.MonkeyPatch, word: str, *, after: bool) -> list[Faulty]:
    """Let a statement of the next transaction fail, and no other."""
    begun, cursors = store._begun, []

    def faulty() -> Any:
        if cursors:
            return begun()
        cursors.append(Faulty(begun(), store.failures[0], word, after=after))
        return cursors[-1]

    monkeypatch.setattr(store, "_begun", faulty)
    return cursors


@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
@pytest.mark.parametrize("word", ["INSERT", "UPDATE", "COMMIT"])
def test_a_fault_at_every_step_of_a_charge(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch, word: str, after: bool
) -> None:
    reserved(ledger)
    with monkeypatch.context() as patch:
        cursors = with_fault(ledger._session.log.store, patch, word, after=after)
        if (word, after) == ("COMMIT", True):  # it succeeded, and only the answer was lost: the charge stands
            reserved(ledger)
        else:
            with pytest.raises(LedgerError, match=r"SRD-L05[05]"):
                ledger.reserve(request())
        assert cursors[0].failed
    assert spent(ledger) == Fraction(2 if (word, after) == ("COMMIT", True) else 1, 10)
    ledger.settle(reserved(ledger), b"42")
    assert ledger.verify().sound


def test_a_fault_while_the_lock_is_taken(ledger: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    store = ledger._session.log.store

    def broken(_: object) -> None:
        raise store.failures[0]("a fault")

    with monkeypatch.context() as patch:
        patch.setattr(store, "locked_head", broken)
        with pytest.raises(LedgerError, match="SRD-L050"):
            ledger.reserve(request())
    reserved(ledger)
    assert spent(ledger) == Fraction(1, 10)


def test_a_lost_settlement_is_found_again(ledger: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    reservation = reserved(ledger)
    with monkeypatch.context() as patch:
        with_fault(ledger._session.log.store, patch, "COMMIT", after=True)
        assert ledger.settle(reservation, b"42").release == b"42"
    assert ledger.receipt(reservation.id).release == b"42"
    assert ledger.verify().sound


def test_an_interrupt_between_commit_and_memory(ledger: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(ledger._session.log, "accept", interrupted)
        with pytest.raises(KeyboardInterrupt):
            ledger.reserve(request())
    assert spent(ledger) == Fraction(1, 10)
    reserved(ledger)
    assert ledger.verify().sound


# A disk that is full, or a witness that cannot be told


def test_a_full_disk_charges_nothing(sqlite_place: Callable[[], str]) -> None:
    with Ledger.open(sqlite_place()) as ledger:
        ledger.open_scope(TRIPS, rule(LARGE), by="owner")
        store = ledger._session.log.store
        with store.writing() as writing:
            cursor: Any = writing._cursor
            pages = cursor.execute("PRAGMA page_count").fetchone()[0]
            cursor.execute(f"PRAGMA max_page_count={pages + 1}")

        def fill_it() -> None:
            for _ in range(200):
                ledger.settle(reserved(ledger), b"42" * 100)

        with pytest.raises(LedgerError, match=r"disk is full.*SRD-L050"):
            fill_it()
        size = ledger.size
        with store.writing() as writing:
            writing._cursor.execute("PRAGMA max_page_count=1000000")
        reserved(ledger)
        assert ledger.size == size + 1
        assert ledger.verify().sound


def test_a_witness_that_cannot_be_told_gives_no_grant(ledger: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    real = os.pwrite

    def full(file: int, data: bytes, offset: int) -> int:
        if data.startswith(b'{"anew"'):
            real(file, data[:20], offset)
            raise OSError(errno.EIO, "Input/output error")
        return real(file, data, offset)

    with monkeypatch.context() as patch:
        patch.setattr(os, "pwrite", full)
        with pytest.raises(LedgerError, match=r"witness.*SRD-L063"):
            ledger.reserve(request())
    assert ledger.frozen is None
    assert spent(ledger) == Fraction(1, 10)  # the charge stands, and nobody may answer for it
    reserved(ledger)
    witness = ledger._session.log.witness
    assert isinstance(witness, FileWitness)
    seen = witness.recall()
    assert seen is not None
    assert (seen.size, seen.spent) == (ledger.size, {"dataset:trips": "0 200000000000"})
    assert ledger.verify().sound
