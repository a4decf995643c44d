"""Verification with the public key alone: what a report says of sound ledgers, growing ones, and broken rules."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from ledger.samples import TRIPS, fill, request, reserved, rule
from ledger.tampering import tamper
from sordino.accounting.budget import budget
from sordino.errors import FrozenError
from sordino.ledger import decisions
from sordino.ledger import session as session_module
from sordino.ledger import verify as verify_module
from sordino.ledger.entries import Checkpointed, Settled, to_bytes
from sordino.ledger.keys import SigningKey
from sordino.ledger.ledger import Ledger
from sordino.ledger.opening import store_at
from sordino.ledger.together import Wish
from sordino.ledger.verify import Problem, Report, verify_store
from sordino.ledger.witness import FileWitness

BATCH = 256


@pytest.fixture(autouse=True)
def small_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(verify_module, "BATCH", BATCH)


@pytest.fixture
def ledger(place: str, tmp_path: Path) -> Iterator[Ledger]:
    with Ledger.open(place, key=tmp_path / "key", witness=tmp_path / "witness") as found:
        found.open_scope(TRIPS, rule(budget(epsilon=10**6)), by="owner")
        yield found


def test_an_auditor_needs_the_public_key_only(ledger: Ledger, place: str, tmp_path: Path) -> None:
    fill(ledger, BATCH // 2 + 10)
    told: list[tuple[int, int]] = []
    store = store_at(place)
    witness = FileWitness(tmp_path / "witness")
    for replay in (True, False):
        report = verify_store(
            store, ledger.key, witness, replay=replay, progress=lambda done, size: told.append((done, size))
        )
        assert (report.sound, report.size, report.replayed) == (True, ledger.size, replay)
        assert report.checkpoint == ledger.checkpoint()
    assert told == [(BATCH, ledger.size), (ledger.size, ledger.size)] * 2
    foreign = verify_store(store, SigningKey.generate(ledger.key.name).verifier, replay=False)
    assert foreign.problems[0].code == "SRD-L060"
    store.close()
    witness.close()


def test_a_growing_ledger_is_sound_at_every_moment(ledger: Ledger, place: str, tmp_path: Path) -> None:
    stop, store, witness = threading.Event(), store_at(place), FileWitness(tmp_path / "witness")

    def grow() -> None:
        while not stop.is_set():
            ledger.settle(reserved(ledger), b"42")

    grower = threading.Thread(target=grow)
    grower.start()
    try:
        reports = [verify_store(store, ledger.key, witness) for _ in range(15)]
    finally:
        stop.set()
        grower.join(60)
    assert [str(report) for report in reports if not report.sound] == []
    store.close()
    witness.close()


def test_an_entry_that_breaks_a_rule_is_named_though_the_key_signed_it(ledger: Ledger) -> None:
    reservation = reserved(ledger)
    log, state = ledger._session.log, ledger._session.state
    wrong = Settled(log.size, state.time, f"0{reservation.id[1:]}", "0" * 64)
    with log.store.writing() as writing:
        log.accept(log.append(writing, (to_bytes(wrong),)))
    report = verify_store(log.store, ledger.key)
    assert [(problem.position, problem.code) for problem in report.problems] == [(2, "SRD-L065")]
    assert "SRD-L024" in str(report)
    assert verify_store(log.store, ledger.key, replay=False).sound


@pytest.mark.parametrize("kind", ["unsigned", "another history"])
def test_a_checkpoint_among_the_entries_is_checked(ledger: Ledger, kind: str) -> None:
    reserved(ledger)
    log, state = ledger._session.log, ledger._session.state
    note = log.head.note if kind == "unsigned" else SigningKey.generate("else")
    text = note.replace(log.key.name, "nobody") if isinstance(note, str) else _other_history(ledger)
    with log.store.writing() as writing:
        log.accept(log.append(writing, (to_bytes(Checkpointed(log.size, state.time, text)),)))
    (problem,) = verify_store(log.store, ledger.key).problems
    assert (problem.position, problem.code) == (2, "SRD-L079" if kind == "unsigned" else "SRD-L065")


def _other_history(ledger: Ledger) -> str:
    from sordino.ledger.checkpoint import Checkpoint
    from sordino.ledger.tree import leaf_hash

    return Checkpoint(ledger.key.name, 1, leaf_hash(b"another")).sign(ledger._session.log.key)


def test_a_checkpoint_of_long_ago_is_good(ledger: Ledger) -> None:
    old = ledger.checkpoint()
    fill(ledger, BATCH // 2 + 5)
    ledger._session.append(Wish(lambda state, now: (decisions.decide_checkpoint(state, old, now),)))
    assert ledger.verify().sound


def test_a_snapshot_that_was_signed_but_is_wrong_is_named(ledger: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    reserved(ledger)
    ledger._session._write_snapshot()
    assert ledger.verify().sound
    monkeypatch.setattr(ledger._session.state, "frozen", "something")
    ledger._session._write_snapshot()
    assert {problem.code for problem in ledger.verify().problems} == {"SRD-L069"}


def test_a_ledger_that_is_not_sound_freezes(ledger: Ledger, place: str) -> None:
    reserved(ledger)
    tamper(place, "UPDATE ledger_entries SET body = ? WHERE position = 1", b"{}")
    report = ledger.verify()
    assert not report.sound
    assert str(report).startswith("2 entries were read and replayed and are NOT sound: entry 1: it was altered")
    with pytest.raises(FrozenError, match=r"entry 1: it was altered.*SRD-L064"):
        ledger.reserve(request())
    assert "SRD-L064" in repr(ledger)


def test_reports_are_words() -> None:
    assert str(Report(3, None, (), replayed=False)) == "3 entries were read and are sound"
    assert str(Problem(None, "SRD-L060", "the head is missing")) == "the head is missing"
    assert session_module.CHECKPOINT_EVERY == 4096
