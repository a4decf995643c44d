"""The ledger: what is reserved is charged for good, proven, replayed, and the same for everyone who opens it."""

from __future__ import annotations

import copy
import os
import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest
from sqlalchemy import update

from ledger.samples import TRIPS, digest, files, fill, request, reserved, rule, spent
from sordino.accounting.budget import budget
from sordino.accounting.events import Pure
from sordino.errors import ArgumentError, BudgetError, ConflictError, FrozenError, GrantError, LedgerError
from sordino.ledger import log as log_module
from sordino.ledger import nodes as nodes_module
from sordino.ledger import session as session_module
from sordino.ledger.checkpoint import Checkpoint
from sordino.ledger.entries import Checkpointed, Failed, from_bytes
from sordino.ledger.keys import SigningKey, VerifyingKey
from sordino.ledger.ledger import Ledger
from sordino.ledger.receipt import Receipt, verify_receipt
from sordino.ledger.reservation import Replay, Reservation
from sordino.ledger.schema import RELEASES
from sordino.ledger.scope import Scope
from sordino.ledger.tree import leaf_hash, verify_consistency, verify_inclusion
from sordino.ledger.witness import FileWitness, NoWitness, Seen

Open = Callable[..., Ledger]


@pytest.fixture
def opened(place: str, tmp_path: Path) -> Iterator[Open]:
    """Return a function that opens the same ledger again, as another process would."""
    ledgers = []

    def open_it(**words: object) -> Ledger:
        ledgers.append(Ledger.open(place, **(files(place, tmp_path) | words)))  # type: ignore[arg-type]
        return ledgers[-1]

    yield open_it
    for ledger in ledgers:
        ledger.close()


@pytest.fixture
def ledger(opened: Open) -> Ledger:
    found = opened()
    found.open_scope(TRIPS, rule(), by="owner")
    return found


def test_what_is_reserved_is_spent_for_everyone(ledger: Ledger, opened: Open) -> None:
    other = opened()
    first = reserved(ledger)
    assert (first.position, spent(ledger), spent(other)) == (1, Fraction(1, 10), Fraction(1, 10))
    reserved(other)
    assert spent(ledger) == Fraction(2, 10)
    with pytest.raises(BudgetError, match=r"does not fit.*SRD-B001"):
        ledger.reserve(request(Pure(Fraction(9, 10))))
    assert spent(ledger) == Fraction(2, 10)
    assert repr(ledger).endswith("3 entries)")


def test_ten_tenths_are_one_and_no_eleventh(ledger: Ledger) -> None:
    for _ in range(10):
        reserved(ledger)
    with pytest.raises(BudgetError, match="SRD-B001"):
        ledger.reserve(request())
    assert spent(ledger) == 1


def test_a_receipt_proves_the_release_offline(ledger: Ledger) -> None:
    receipts = []
    for answer in (b"42", b"\xff binary"):
        receipts.append(ledger.settle(reserved(ledger), answer))
    for receipt, answer in zip(receipts, (b"42", b"\xff binary"), strict=True):
        facts = verify_receipt(Receipt.from_json(receipt.to_json()), ledger.key.text)
        assert facts.release == answer
        assert ledger.receipt(facts.reserved.id).release == ledger.release(facts.reserved.id) == answer
        verify_receipt(ledger.receipt(facts.reserved.id), ledger.key.text, answer)
    foreign = SigningKey.generate("somebody.else").verifier.text
    with pytest.raises(LedgerError, match="SRD-L009"):
        verify_receipt(receipts[0], foreign)


def test_settling_is_once_and_by_whoever_knows_the_id(ledger: Ledger, opened: Open) -> None:
    reservation = reserved(ledger)
    verify_receipt(opened().settle(reservation.id, b"42"), ledger.key.text)
    with pytest.raises(LedgerError, match="SRD-L024"):
        ledger.settle(reservation, b"43")
    assert ledger.receipt(reservation.id).release == b"42"
    with pytest.raises(ArgumentError, match="SRD-A001"):
        ledger.settle(reservation, "43")  # type: ignore[arg-type]


def test_what_fails_stays_charged(ledger: Ledger) -> None:
    reservation = reserved(ledger)
    assert isinstance(ledger.fail(reservation, "SRD-R001"), Failed)
    assert spent(ledger) == Fraction(1, 10)
    with pytest.raises(LedgerError, match="SRD-L072"):
        ledger.receipt(reservation.id)


def test_a_key_replays_without_a_second_charge(ledger: Ledger, opened: Open) -> None:
    other = opened()
    first = reserved(ledger, key="k")
    running = other.reserve(request(key="k"))
    assert isinstance(running, Replay)
    assert running.running
    ledger.settle(first, b"42")
    again = other.reserve(request(key="k"))
    assert again == Replay(first.id, digest("how many?"), b"42", failed=False)
    assert other.replayed(digest("k")) == again
    assert other.replayed(digest("another")) is None
    with pytest.raises(ConflictError, match="SRD-L030"):
        other.reserve(request(key="k", asked="how much?"))
    ledger.fail(reserved(ledger, key="f"), "SRD-R001")
    failed = other.replayed(digest("f"))
    assert failed is not None
    assert (failed.failed, failed.running, failed.release) == (True, False, None)
    assert spent(ledger) == Fraction(2, 10)


def test_all_scopes_or_none(ledger: Ledger) -> None:
    ann, team = Scope("analyst", "ann"), Scope("project", "team")
    policy = type(rule()).open(budget(epsilon="0.3"))
    ledger.open_scope(ann, policy, by="owner")
    ledger.open_scope(team, type(rule()).open(budget(epsilon="0.2")), by="owner")
    for _ in range(2):
        reserved(ledger, project="team")
    with pytest.raises(BudgetError, match="project 'team'"):
        ledger.reserve(request(project="team"))
    assert [spent(ledger, scope) for scope in (TRIPS, ann, team)] == [Fraction(2, 10)] * 3
    ledger.set_budget(team, budget(epsilon=1), by="owner", reason="more work")
    reserved(ledger, project="team")
    assert [spent(ledger, scope) for scope in (TRIPS, ann, team)] == [Fraction(3, 10)] * 3


def test_proofs_hold_for_every_entry(ledger: Ledger) -> None:
    sizes = [(ledger.size, Checkpoint.open(ledger.checkpoint(), ledger.key).root)]
    for _ in range(4):
        ledger.settle(reserved(ledger), b"42")
        sizes.append((ledger.size, Checkpoint.open(ledger.checkpoint(), ledger.key).root))
    size, root = sizes[-1]
    for position in range(size):
        proof = ledger.inclusion(position)
        assert verify_inclusion(leaf_hash(ledger.entry(position)), position, size, proof, root)
    for old, old_root in sizes:
        assert verify_consistency(old, old_root, size, root, ledger.consistency(old))
    assert ledger.inclusion(0, 1) == ()
    for wrong in (
        lambda: ledger.inclusion(0, size + 1),
        lambda: ledger.consistency(0, -1),
        lambda: ledger.inclusion(size),
    ):
        with pytest.raises(ArgumentError, match="SRD-A002"):
            wrong()
    with pytest.raises(LedgerError, match="SRD-L070"):
        ledger.entry(size)


def test_long_ledgers_keep_checkpoints_tiles_and_a_snapshot(
    ledger: Ledger, opened: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(session_module, "CHECKPOINT_EVERY", 256)
    ledger.set_budget(TRIPS, budget(epsilon=1000), by="owner", reason="a long test")
    fill(ledger, 400, at_once=50)
    for _ in range(3):
        ledger.settle(reserved(ledger), b"42")
    kinds = [type(from_bytes(ledger.entry(position))) for position in range(ledger.size)]
    assert kinds.count(Checkpointed) == 3
    assert ledger.verify().sound
    size, root = ledger.size, Checkpoint.open(ledger.checkpoint(), ledger.key).root
    ledger.close()
    again = opened()
    assert again._session._snapshot > 700
    assert again.look(lambda state: state.size) == size
    for position in (0, 255, 256, 511, size - 1):
        proof = again.inclusion(position)
        assert verify_inclusion(leaf_hash(again.entry(position)), position, size, proof, root)
    assert spent(again) == Fraction(403, 10)
    assert again.verify().sound
    assert sum(1 for _ in again.entries(5, 9)) == 4


def test_closing_writes_a_snapshot_that_is_worth_it(
    ledger: Ledger, opened: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(session_module, "SNAPSHOT_LEAST", 3)
    reserved(ledger)
    reserved(ledger)
    ledger.close()
    ledger.close()
    again = opened()
    assert (again._session._snapshot, spent(again)) == (3, Fraction(2, 10))
    reserved(again)
    assert spent(again) == Fraction(3, 10)
    with pytest.raises(LedgerError, match="SRD-L054"):
        reserved(ledger)
    assert "closed" in repr(ledger)


def test_an_owner_freezes_and_thaws(ledger: Ledger, opened: Open) -> None:
    other = opened()
    with pytest.raises(LedgerError, match="SRD-L071"):
        ledger.restore("owner", "nothing happened")
    open_one = reserved(ledger)
    ledger.freeze("suspicion")
    for each in (ledger, other):
        with pytest.raises(FrozenError, match="SRD-L028"):
            each.reserve(request())
    restored = other.restore("owner", "it was nothing")
    assert [amount for _, amount in restored.burnt] == [(0, 0)]
    reserved(ledger)
    assert spent(other) == Fraction(2, 10)
    with pytest.raises(LedgerError, match="SRD-L024"):  # what was open when it was restored is good no more
        ledger.settle(open_one, b"42")
    assert ledger.verify().sound


def test_time_never_goes_back(opened: Open) -> None:
    times = iter([5_000, 3_000, 9_000_000_000, 10_000])
    ledger = opened(clock=lambda: next(times))
    ledger.open_scope(TRIPS, rule(budget(epsilon=1), refresh="day"), by="owner")
    reserved(ledger)
    reserved(ledger)  # far ahead: a new day
    reserved(ledger)  # and back: no second new day
    found = [(entry.kind, entry.time) for entry in ledger.entries()]
    assert found == [
        ("opened", 5_000),
        ("reserved", 5_000),
        ("refreshed", 9_000_000_000),
        ("reserved", 9_000_000_000),
        ("reserved", 9_000_000_000),
    ]
    assert spent(ledger) == Fraction(2, 10)
    assert ledger.look(lambda state: state.lifetime(TRIPS)) == (0, 3 * 10**11)
    assert ledger.verify().sound


def test_a_fork_must_open_it_again(ledger: Ledger) -> None:
    child = os.fork()
    if not child:
        refused = 1
        try:
            reserved(ledger)
        except LedgerError as error:
            refused = 0 if error.code == "SRD-L054" else 2
        finally:
            os._exit(refused)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert ledger.size == 1
    with pytest.raises(LedgerError, match="SRD-L054"):
        copy.copy(ledger)


def test_threads_share_one(ledger: Ledger) -> None:
    results: list[str] = []

    def spend() -> None:
        for _ in range(5):
            try:
                ledger.settle(reserved(ledger), b"42")
                results.append("granted")
            except BudgetError:
                results.append("refused")

    threads = [threading.Thread(target=spend) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert (results.count("granted"), results.count("refused")) == (10, 10)
    assert ledger.verify().sound


def test_the_key_is_made_once_and_kept(tmp_path: Path) -> None:
    place = tmp_path / "ledger.db"
    with Ledger.open(place) as ledger:
        ledger.open_scope(TRIPS, rule(), by="owner")
        public = (tmp_path / "ledger.db.pub").read_text()
        assert VerifyingKey.parse(public.rstrip("\n")) == ledger.key
    (tmp_path / "ledger.db.pub").write_text("another\n")
    with pytest.raises(LedgerError, match="SRD-L056"):
        Ledger.open(place)
    (tmp_path / "ledger.db.pub").unlink()
    (tmp_path / "ledger.db.key").rename(tmp_path / "elsewhere.key")
    with pytest.raises(LedgerError, match="SRD-L056"):
        Ledger.open(place)
    with Ledger.open(place, key=tmp_path / "elsewhere.key") as ledger:
        reserved(ledger)
    with Ledger.open(place, key=SigningKey.generate("somebody.else"), witness=NoWitness("a test")) as ledger:
        assert ledger.frozen is not None
        assert ledger.frozen.code == "SRD-L060"


def test_a_ledger_on_a_server_needs_a_key_and_a_witness(postgres_place: Callable[[], str], tmp_path: Path) -> None:
    place = postgres_place()
    with pytest.raises(ArgumentError, match="key="):
        Ledger.open(place)
    with pytest.raises(ArgumentError, match="witness="):
        Ledger.open(place, key=tmp_path / "key")
    with Ledger.open(place, key=tmp_path / "key", witness=FileWitness(tmp_path / "witness")) as ledger:
        assert ledger.frozen is None


def test_a_request_about_what_nobody_opened_is_refused(ledger: Ledger) -> None:
    with pytest.raises(LedgerError, match="SRD-L022"):
        ledger.reserve(request(datasets=(Scope("dataset", "others"),)))
    with pytest.raises(ArgumentError, match="SRD-A003"):
        ledger.reserve(request(datasets=()))
    assert ledger.size == 1


def test_proofs_come_from_rows_as_well_as_from_memory(opened: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(nodes_module, "TILE", 4)
    monkeypatch.setattr(nodes_module, "_LEVELS", {4: 1, 16: 2, 64: 3})
    ledger = opened()
    ledger.open_scope(TRIPS, rule(budget(epsilon=1000)), by="owner")
    for _ in range(3):
        fill(ledger, 15, at_once=15)
    size, root = ledger.size, Checkpoint.open(ledger.checkpoint(), ledger.key).root
    for position in range(size):
        remembered = ledger.inclusion(position)
        ledger._session.log.nodes.forget()
        assert ledger.inclusion(position) == remembered
        assert verify_inclusion(leaf_hash(ledger.entry(position)), position, size, remembered, root)
    ledger._session.log.nodes.forget()
    with ledger._session.log.store.writing() as writing:
        writing._cursor.execute("DELETE FROM ledger_tiles WHERE level = 2")
    with pytest.raises(FrozenError, match="SRD-L064"):
        ledger.inclusion(size - 1)


def test_a_long_log_is_read_in_batches(opened: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(log_module, "BATCH", 16)
    monkeypatch.setattr(session_module, "SNAPSHOT_LEAST", 10**6)
    ledger = opened()
    ledger.open_scope(TRIPS, rule(budget(epsilon=1000)), by="owner")
    fill(ledger, 20)
    other = opened()
    fill(ledger, 20)
    assert spent(other) == spent(ledger) == 4
    assert other.inclusion(3) == ledger.inclusion(3)


def test_housekeeping_that_fails_does_not_undo_a_charge(ledger: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(session_module, "CHECKPOINT_EVERY", 2)

    def full() -> None:
        raise LedgerError("the disk is full", "SRD-L050")

    monkeypatch.setattr(ledger._session, "_write_snapshot", full)
    assert reserved(ledger).position == 1
    assert ledger.size == 3  # a checkpoint came after it


def test_a_restoration_that_fails_leaves_it_frozen(ledger: Ledger, tmp_path: Path, place: str) -> None:
    ledger.close()
    files(place, tmp_path)["witness"].unlink()
    with Ledger.open(place, **files(place, tmp_path)) as again:
        with pytest.raises(ArgumentError, match="SRD-A001"):
            again.restore("owner", "")
        assert again.frozen is not None
        with pytest.raises(FrozenError, match="SRD-L068"):
            again.reserve(request())


def test_another_kind_of_witness_will_do(tmp_path: Path) -> None:
    class Made:
        watches = True

        def __init__(self) -> None:
            self.told: Seen | None = None

        def begin(self, seen: Seen) -> None:
            self.told = seen

        def check(self) -> None:
            pass

        def ready(self, _: Seen, /) -> Seen | None:
            return None

        def tell(self, seen: Seen, /) -> Seen | None:
            self.told = seen
            return None

        def news(self) -> Seen | None:
            return self.told

        def recall(self) -> Seen | None:
            return self.told

        def history(self) -> tuple[Seen, ...]:
            return () if self.told is None else (self.told,)

        def close(self) -> None:
            pass

    witness = Made()
    with Ledger.open(tmp_path / "ledger.db", witness=witness) as ledger:
        ledger.open_scope(TRIPS, rule(), by="owner")
        assert witness.told is not None
        assert witness.told.size == 1
        assert ledger.verify().sound


def open_work(ledger: Ledger, parts: int = 3) -> str:
    found = ledger.reserve(replace(request(), parts=parts))
    assert isinstance(found, Reservation)
    return found.id


def test_parts_are_the_same_for_everyone(ledger: Ledger, opened: Open) -> None:
    identifier, other = open_work(ledger), opened()
    assert ledger.part(identifier, 1, b"one") == other.part(identifier, 1, b"uno") == b"one"
    assert other.part(identifier, 3, b"tre") == ledger.recorded(identifier, 3) == b"tre"
    assert other.recorded(identifier, 2) is None
    with pytest.raises(GrantError, match="SRD-G007"):
        ledger.part(identifier, 2, b"two")
    for number in (0, 4):
        with pytest.raises((GrantError, LedgerError)):
            ledger.part(identifier, number, b"none")
    other.settle(identifier, b"end")
    assert ledger.part(identifier, 1, b"again") == b"one", "what left once may leave again"
    with pytest.raises(LedgerError, match="SRD-L024"):
        ledger.part(identifier, 4, b"late")
    assert spent(ledger) == Fraction(1, 10)
    assert ledger.verify().sound
    assert opened().recorded(identifier, 3) == b"tre"


def test_threads_that_record_one_part_agree(ledger: Ledger) -> None:
    identifier, found = open_work(ledger), []
    threads = [
        threading.Thread(target=lambda at=at: found.append(ledger.part(identifier, 1, b"%d" % at))) for at in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 8
    assert len(set(found)) == 1
    assert ledger.verify().sound


def test_a_part_that_was_altered_is_found(ledger: Ledger) -> None:
    identifier = open_work(ledger)
    ledger.part(identifier, 1, b"one")
    with ledger._session.log.store.engine.begin() as connection:
        connection.execute(update(RELEASES).where(RELEASES.c.id == f"{identifier}/1").values(body=b"two"))
    with pytest.raises(LedgerError, match="SRD-L072"):
        ledger.recorded(identifier, 1)
    assert ledger.verify().problems[0].code == "SRD-L072"


def test_work_that_stays_open_is_no_interrupted_run(ledger: Ledger) -> None:
    for parts in (0, 3):
        ledger.reserve(replace(request(), parts=parts, key=digest(str(parts))))
        found = ledger.replayed(digest(str(parts)))
        assert found is not None
        assert (found.running, found.stays_open) == (True, parts > 0)
