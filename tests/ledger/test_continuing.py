"""A ledger that goes on from an old copy is another log: a new origin and key, joined by an entry."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ledger.samples import TRIPS, reserved, rule, spent
from ledger.tampering import look_up, tamper
from sordino.accounting.budget import budget
from sordino.errors import ArgumentError, LedgerError
from sordino.ledger import keyfile as keyfile_module
from sordino.ledger.checkpoint import Checkpoint
from sordino.ledger.continuing import Handover, checked_handover, next_origin
from sordino.ledger.entries import Continued, Restored, Settled, from_bytes
from sordino.ledger.keys import SigningKey, VerifyingKey
from sordino.ledger.ledger import Ledger
from sordino.ledger.receipt import verify_receipt
from sordino.ledger.verify import Report, verify_store
from sordino.ledger.witness import FileWitness, Seen

SUFFIXES = ("", ".key", ".pub")


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A ledger whose newest copy is lost: two charges are in the witness, and not in the copy that was put back."""
    (tmp_path / "home").mkdir()
    place = tmp_path / "home" / "ledger.db"
    with Ledger.open(place, origin="stats.example.org/ledgers") as ledger:
        ledger.open_scope(TRIPS, rule(budget(epsilon=1)), by="owner")
        ledger.settle(reserved(ledger), b"42")
        ledger.mark()
    for suffix in SUFFIXES:
        shutil.copy(f"{place}{suffix}" if suffix != ".pub" else place.with_suffix(".db.pub"), tmp_path / f"old{suffix}")
    with Ledger.open(place) as ledger:
        reserved(ledger)
        reserved(ledger)
    for leftover in ("ledger.db-wal", "ledger.db-shm"):
        (tmp_path / "home" / leftover).unlink(missing_ok=True)
    shutil.copy(tmp_path / "old", place)
    return place


def restored(place: Path) -> tuple[Continued, VerifyingKey]:
    with Ledger.open(place) as ledger:
        old = ledger.key
        found = ledger.restore("olga", "the disk broke")
        assert isinstance(found, Continued)
        return found, old


def verified(place: Path, key: VerifyingKey | None = None) -> Report:
    with Ledger.open(place) as ledger:
        witness = FileWitness(f"{place}.witness")
        return verify_store(ledger._session.log.store, key or ledger.key, witness)


def test_an_origin_is_one_for_each_ledger_and_reads_like_an_address(tmp_path: Path) -> None:
    with (
        Ledger.open(tmp_path / "one.db", origin="stats.example.org/ledgers") as one,
        Ledger.open(tmp_path / "two.db", origin="stats.example.org/ledgers") as two,
        Ledger.open(tmp_path / "three.db") as three,
    ):
        names = [ledger.key.name for ledger in (one, two, three)]
        assert len(set(names)) == 3
        assert names[0].startswith("stats.example.org/ledgers/")
        assert names[2].startswith("sordino.invalid/ledger/")
        assert one.checkpoint().partition("\n")[0] == names[0]


def test_an_old_copy_goes_on_under_another_origin_and_key(home: Path) -> None:
    entry, old = restored(home)
    new = VerifyingKey.parse(entry.key)
    assert new.name.startswith(f"{old.name}/restored-")
    assert (new.public != old.public, entry.previous) == (True, old.text)
    assert entry.lost is not None
    assert Checkpoint.open(entry.lost, old).size == 6  # what the witness remembers, and nobody has any more
    assert checked_handover(entry.handover, old).size == entry.sequence == entry.lost_from == 4
    with Ledger.open(home) as ledger:
        assert (ledger.frozen, ledger.key) == (None, new)
        assert spent(ledger) * 10 == 3
        receipt = ledger.settle(reserved(ledger), b"43")
        assert verify_receipt(receipt, new.text).checkpoint.origin == new.name
        assert ledger.verify().sound
        settled = from_bytes(ledger.entry(2))
        assert isinstance(settled, Settled)
        before = ledger.receipt(settled.id)
        assert verify_receipt(before, new.text).release == b"42"
    report = verified(home)
    assert (report.verdict, report.signatures) == ("sound", 4 + 1 + 3)  # one for each commit, and the one marked
    assert Path(f"{home}.key.retired-{old.id.hex()}").exists()
    assert home.with_suffix(f".db.pub.retired-{old.id.hex()}").read_text() == f"{old.text}\n"


def test_the_key_so_far_signs_no_fork(home: Path) -> None:
    """Under the old origin and key there is one history, whatever was lost: that of before."""
    entry, old = restored(home)
    with Ledger.open(home) as ledger:
        reserved(ledger)
        newest = ledger.checkpoint()
        with pytest.raises(LedgerError, match="SRD-L006"):
            Checkpoint.open(newest, old)
        assert verify_store(ledger._session.log.store, old).problems[0].code == "SRD-L060"
    assert entry.lost is not None
    Checkpoint.open(entry.lost, old)


def test_a_ledger_may_go_on_twice(home: Path, tmp_path: Path) -> None:
    first, _ = restored(home)
    for suffix in SUFFIXES:
        shutil.copy(
            f"{home}{suffix}" if suffix != ".pub" else home.with_suffix(".db.pub"), tmp_path / f"second{suffix}"
        )
    with Ledger.open(home) as ledger:
        reserved(ledger)
    shutil.copy(tmp_path / "second", home)
    second, previous = restored(home)
    assert second.previous == first.key == previous.text
    assert next_origin(previous.name, "0" * 32) == next_origin(VerifyingKey.parse(first.previous).name, "0" * 32)
    assert verified(home).verdict == "sound"


def test_without_a_memory_all_is_burnt_and_the_ledger_is_another(home: Path) -> None:
    Path(f"{home}.witness").unlink()
    entry, _ = restored(home)
    assert entry.lost is None
    assert entry.burnt == ((TRIPS, (0, 10**12)),)
    assert verified(home).verdict == "sound"


def test_a_thaw_changes_no_key(tmp_path: Path) -> None:
    with Ledger.open(tmp_path / "ledger.db") as ledger:
        ledger.freeze("suspicion")
        key = ledger.key
        assert type(ledger.restore("olga", "it was nothing")) is Restored
        assert ledger.key == key


def test_a_key_that_is_in_no_file_needs_a_successor(tmp_path: Path) -> None:
    witness, keys = tmp_path / "witness", [SigningKey.generate(f"example.org/{number}") for number in range(2)]
    with Ledger.open(tmp_path / "ledger.db", key=keys[0], witness=witness) as ledger:
        ledger.open_scope(TRIPS, rule(), by="owner")
    witness.unlink()
    with Ledger.open(tmp_path / "ledger.db", key=keys[0], witness=witness) as ledger:
        with pytest.raises(ArgumentError, match="key="):
            ledger.restore("olga", "lost")
        assert ledger.frozen is not None
        assert isinstance(ledger.restore("olga", "lost", key=keys[1]), Continued)
        ledger.mark()
    with Ledger.open(tmp_path / "ledger.db", key=keys[1], witness=witness) as ledger:
        assert ledger.verify().sound


class _KilledError(BaseException):
    pass


def _killed(*_: Any, **__: Any) -> None:
    raise _KilledError


@pytest.mark.parametrize("forgotten", [False, True])
@pytest.mark.parametrize("where", ["the witness", "the file", "between the files"])
def test_whoever_is_killed_leaves_a_ledger_that_goes_on(
    home: Path, where: str, forgotten: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if forgotten:
        Path(f"{home}.witness").unlink()
    with monkeypatch.context() as patch, Ledger.open(home) as ledger:
        if where == "the witness":
            patch.setattr(FileWitness, "begin" if forgotten else "tell", _killed)
        elif where == "the file":
            patch.setattr(keyfile_module.KeyFile, "succeed", _killed)
        else:
            patch.setattr(keyfile_module.os, "replace", _after_the_first(keyfile_module.os.replace))
        with pytest.raises(_KilledError):
            ledger.restore("olga", "the disk broke")
    with Ledger.open(home) as ledger:
        assert ledger.frozen is None, str(ledger.frozen)
        assert isinstance(from_bytes(ledger.entry(4)), Continued)
        assert ledger.size == 5
        if not forgotten:
            reserved(ledger)
        assert ledger.verify().sound
    assert verified(home).verdict == "sound"


def _after_the_first(real: Callable[..., None]) -> Callable[..., None]:
    calls: list[int] = []

    def replace(*arguments: Any) -> None:
        calls.append(1)
        if len(calls) > 2:
            raise _KilledError
        real(*arguments)

    return replace


def test_what_fails_before_the_commit_changes_nothing(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with Ledger.open(home) as ledger:
        old = ledger.key
        with monkeypatch.context() as patch:
            patch.setattr(FileWitness, "foretell", _killed)
            with pytest.raises(_KilledError):
                ledger.restore("olga", "the disk broke")
        assert ledger.key == old
        assert ledger.frozen is not None
        assert isinstance(ledger.restore("olga", "the disk broke"), Continued)
    assert verified(home).verdict == "sound"


def test_an_old_witness_and_an_old_copy_together_are_not_taken_for_one_that_was_killed(home: Path) -> None:
    """The entry names what the witness remembered; a witness that remembers anything else has another story."""
    restored(home)
    witness = FileWitness(f"{home}.witness")
    seen = witness.recall()
    assert seen is not None
    other = Checkpoint("example.org/other", 3, bytes(32)).sign(SigningKey.generate("example.org/other"))
    Path(f"{home}.witness").unlink()
    FileWitness(f"{home}.witness").begin(Seen(3, other))
    with Ledger.open(home) as ledger:
        assert ledger.frozen is not None
        assert ledger.frozen.code == "SRD-L063"


def test_a_kept_signature_that_is_not_the_key_s_is_named(home: Path) -> None:
    restored(home)
    key = verified(home)
    assert key.sound
    for position in (1, 4):
        (signature,) = [row[1] for row in _signatures(home) if row[0] == position]
        tamper(str(home), "UPDATE ledger_entries SET signature = ? WHERE position = ?", bytes(64), position)
        report = verified(home)
        assert [(each.position, each.code) for each in report.problems] == [(position, "SRD-L079")]
        tamper(str(home), "UPDATE ledger_entries SET signature = ? WHERE position = ?", signature, position)
    assert verified(home).sound


def _signatures(place: Path) -> list[tuple[int, bytes]]:
    with Ledger.open(place) as ledger, ledger._session.log.store.reading() as reading:
        return reading.signatures(0, 100)


def test_an_edit_is_located_though_the_key_has_changed_since(home: Path) -> None:
    restored(home)
    ((body,),) = look_up(str(home), "SELECT body FROM ledger_entries WHERE position = 1")
    tamper(str(home), "UPDATE ledger_entries SET body = ? WHERE position = 1", body.replace(b"ann", b"bob"))
    with Ledger.open(home) as ledger:
        report = verify_store(ledger._session.log.store, ledger.key)
    assert (report.problems[0].position, report.problems[0].code) == (1, "SRD-L064")


def test_what_is_no_handover_is_refused() -> None:
    key, other = SigningKey.generate("example.org/a"), SigningKey.generate("example.org/b")
    good = Handover(key.verifier, 3, bytes(32), other.verifier)
    assert checked_handover(good.sign(key), key.verifier) == good
    for wrong in (
        good._replace(key=key.verifier).sign(key),
        good._replace(previous=other.verifier).sign(key),
        good._replace(root=bytes(31)).sign(key),
        Checkpoint(key.name, 3, bytes(32)).sign(key),
    ):
        with pytest.raises(LedgerError, match="SRD-L011"):
            checked_handover(wrong, key.verifier)
    with pytest.raises(LedgerError, match="SRD-L006"):
        checked_handover(good.sign(other), key.verifier)
