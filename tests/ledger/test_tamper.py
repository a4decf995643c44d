"""Whoever can write to the store but cannot sign: every edit, deletion, reordering, old copy is noticed and named."""

from __future__ import annotations

import random
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from ledger.samples import TRIPS, digest, files, fill, request, reserved, rule, spent
from ledger.tampering import look_up, tamper, tamper_all
from sordino.accounting.budget import budget
from sordino.errors import BudgetError, FrozenError, LedgerError
from sordino.ledger import session as session_module
from sordino.ledger.checkpoint import Checkpoint
from sordino.ledger.entries import Budgeted, to_bytes
from sordino.ledger.keys import SigningKey, VerifyingKey
from sordino.ledger.ledger import Ledger
from sordino.ledger.opening import store_at
from sordino.ledger.rule import Rule
from sordino.ledger.store_sqlite import SqliteStore
from sordino.ledger.tree import Frontier, leaf_hashes, root_of
from sordino.ledger.verify import Report, verify_store
from sordino.ledger.witness import NoWitness

Body = bytes
ENTRIES = 290


@dataclass(frozen=True)
class Template:
    """A ledger of some hundred entries: all its rows and files."""

    rows: dict[str, list[tuple[Any, ...]]]
    files: dict[str, bytes]
    size: int
    key: VerifyingKey

    @staticmethod
    def made(directory: Path) -> Template:
        place = str(directory / "template.db")
        beside = files(place, directory)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(session_module, "SNAPSHOT_LEAST", 200)
            with Ledger.open(place, **beside) as ledger:
                ledger.open_scope(TRIPS, rule(budget(epsilon=100)), by="owner")
                ledger.settle(reserved(ledger, key="k"), b"42")
                fill(ledger, (ENTRIES - 5) // 2 - 5, at_once=40)
                for _ in range(6):
                    ledger.settle(reserved(ledger), b"42")
                size, key = ledger.size, ledger.key
        return Template(copies(place), {name: path.read_bytes() for name, path in beside.items()}, size, key)


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Template:
    return Template.made(tmp_path_factory.mktemp("template"))


class Victim:
    """A closed ledger, and ways to look at it again."""

    def __init__(self, place: str, directory: Path, template: Template) -> None:
        self.place, self.files = place, files(place, directory)
        self.key, self.size = template.key, template.size
        store_at(place).close()
        put_back(place, template.rows)
        for name, path in self.files.items():
            path.touch(mode=0o600)
            path.write_bytes(template.files[name])

    def open(self, **words: Any) -> Ledger:
        return Ledger.open(self.place, **(self.files | words))

    def body(self, position: int) -> bytes:
        return bytes(look_up(self.place, "SELECT body FROM ledger_entries WHERE position = ?", position)[0][0])

    def alter(self, position: int, change: Callable[[bytes], bytes]) -> None:
        body = change(self.body(position))
        tamper(self.place, "UPDATE ledger_entries SET body = ? WHERE position = ?", body, position)

    def frozen_by(self) -> str | None:
        """Return the code by which the ledger is frozen when it is opened; nothing can be charged then."""
        with self.open() as ledger:
            if ledger.frozen is None:
                return None
            with pytest.raises(FrozenError, match=ledger.frozen.code):
                ledger.reserve(request())
            return ledger.frozen.code

    def verify(self) -> Report:
        with self.open() as ledger:
            return ledger.verify()


@pytest.fixture
def victim(place: str, tmp_path: Path, template: Template) -> Victim:
    return Victim(place, tmp_path, template)


def named(report: Report) -> tuple[int | None, str]:
    assert not report.sound
    return report.problems[0].position, report.problems[0].code


def test_an_untouched_ledger_is_sound(victim: Victim) -> None:
    report = victim.verify()
    assert report.sound, str(report)
    assert str(report).endswith("are sound")
    assert (report.size, victim.frozen_by()) == (victim.size, None)


ALTERATIONS: dict[str, tuple[int, Callable[[bytes], bytes]]] = {
    "another analyst": (1, lambda body: body.replace(b'"ann"', b'"bob"')),
    "a lower price": (1, lambda body: body.replace(b"100000000000", b"100000000")),
    "a raised cap": (
        0,
        lambda body: body.replace(b"100000000000000", b"900000000000000").replace(b'\\"100\\"', b'\\"900\\"'),
    ),
    "white space": (1, lambda body: body + b" "),
    "not JSON": (1, lambda body: body[:-1]),
    "no bytes": (1, lambda _: b""),
    "another time": (2, lambda body: body.replace(b'"time":', b'"time":1')),
    "another release": (
        2,
        lambda body: body.replace(digest("").encode()[:0] + b'"release":"', b'"release":"0')[:-1] + b"}",
    ),
}


@pytest.mark.parametrize("name", ALTERATIONS)
def test_an_edit_is_named_by_its_position(victim: Victim, name: str) -> None:
    position, change = ALTERATIONS[name]
    before = victim.body(position)
    victim.alter(position, change)
    assert victim.body(position) != before
    assert victim.frozen_by() == "SRD-L064"
    assert named(victim.verify()) == (position, "SRD-L064")


def test_an_edit_among_entries_that_were_signed_together_is_named_by_their_first(victim: Victim) -> None:
    victim.alter(victim.size - 30, lambda body: body.replace(b'"time":', b'"time":1'))
    position, code = named(victim.verify())
    assert code == "SRD-L064"
    assert position is not None
    assert victim.size - 30 - 80 <= position <= victim.size - 30


def test_a_deleted_entry_is_named(victim: Victim) -> None:
    tamper(victim.place, "DELETE FROM ledger_entries WHERE position = ?", 77)
    assert victim.frozen_by() == "SRD-L064"
    assert named(victim.verify()) == (77, "SRD-L064")


def test_a_deletion_that_closes_the_gap_is_named(victim: Victim) -> None:
    tamper(victim.place, "DELETE FROM ledger_entries WHERE position = ?", 2)
    move = "UPDATE ledger_entries SET position = ? WHERE position = ?"
    tamper_all(victim.place, [(move, (position - 1, position)) for position in range(3, victim.size)])
    assert victim.frozen_by() == "SRD-L064"
    assert victim.size - 1 in {problem.position for problem in victim.verify().problems}


def test_reordered_entries_are_named(victim: Victim) -> None:
    last = victim.size - 1
    one, other = victim.body(last - 2), victim.body(last)
    victim.alter(last - 2, lambda _: other)
    victim.alter(last, lambda _: one)
    assert victim.frozen_by() == "SRD-L064"
    report = victim.verify()
    assert named(report) == (last - 2, "SRD-L064")
    assert "reordered" in report.problems[0].reason


def test_a_cut_off_end_is_named(victim: Victim) -> None:
    tamper(victim.place, "DELETE FROM ledger_entries WHERE position >= ?", victim.size - 3)
    assert victim.frozen_by() == "SRD-L064"
    assert named(victim.verify()) == (victim.size - 3, "SRD-L064")


def test_an_entry_beyond_the_head_is_named(victim: Victim) -> None:
    body = to_bytes(Budgeted(victim.size, 10**15 // 10, TRIPS, budget(epsilon=900), (0, 9 * 10**14), "owner", "more"))
    tamper(victim.place, "INSERT INTO ledger_entries VALUES (?, ?, NULL)", victim.size, body)
    assert named(victim.verify()) == (victim.size, "SRD-L064")
    with victim.open() as ledger, pytest.raises(LedgerError, match="SRD-L053"):
        ledger.reserve(request())


def forged(victim: Victim, key: SigningKey) -> tuple[int, bytes, str]:
    """Return a head over an entry more, signed by somebody else."""
    body = to_bytes(Budgeted(victim.size, 10**14, TRIPS, budget(epsilon=900), (0, 9 * 10**14), "owner", "more"))
    tamper(victim.place, "INSERT INTO ledger_entries VALUES (?, ?, NULL)", victim.size, body)
    bodies = [bytes(row[0]) for row in look_up(victim.place, "SELECT body FROM ledger_entries ORDER BY position")]
    frontier = Frontier().extend(leaf_hashes(bodies))
    return frontier.size, frontier.to_bytes(), Checkpoint(victim.key.name, frontier.size, frontier.root).sign(key)


@pytest.mark.parametrize("name", ["the same name", "another name"])
def test_a_foreign_checkpoint_is_named(victim: Victim, name: str) -> None:
    foreign = SigningKey.generate(victim.key.name if name == "the same name" else "somebody.else")
    tamper(victim.place, "UPDATE ledger_head SET size = ?, frontier = ?, note = ?", *forged(victim, foreign))
    assert victim.frozen_by() == "SRD-L060"
    assert named(victim.verify()) == (None, "SRD-L060")


HEADS = {
    "size": ("UPDATE ledger_head SET size = size - 1", ()),
    "frontier": ("UPDATE ledger_head SET frontier = ?", (Frontier().to_bytes(),)),
    "no frontier": ("UPDATE ledger_head SET frontier = ?", (b"",)),
    "note": ("UPDATE ledger_head SET note = ?", ("nothing\n",)),
    "row": ("DELETE FROM ledger_head", ()),
}


@pytest.mark.parametrize("name", [name for name in HEADS if name != "row"])
def test_an_altered_head_is_named(victim: Victim, name: str) -> None:
    statement, values = HEADS[name]
    tamper(victim.place, statement, *values)
    assert victim.frozen_by() == "SRD-L060"
    assert named(victim.verify()) == (None, "SRD-L060")


def test_a_deleted_head_is_named(victim: Victim) -> None:
    store = victim.open()._session.log.store
    tamper(victim.place, "DELETE FROM ledger_head")
    assert named(verify_store(store, victim.key)) == (None, "SRD-L060")
    store.close()
    assert victim.frozen_by() in {"SRD-L061", "SRD-L069"}  # opening begins an empty one, which the witness knows better


def test_an_altered_tile_is_named(victim: Victim) -> None:
    tamper(victim.place, "UPDATE ledger_tiles SET hash = ?", root_of([]))
    assert named(victim.verify()) == (0, "SRD-L073")


@pytest.mark.parametrize("column", ["body", "note"])
def test_an_altered_snapshot_is_named(victim: Victim, column: str) -> None:
    ((body, note),) = look_up(victim.place, "SELECT body, note FROM ledger_snapshots")
    changed = bytes(body).replace(b'"frozen":null', b'"frozen":"x"') if column == "body" else note.replace("\n", " ", 1)
    tamper(victim.place, f"UPDATE ledger_snapshots SET {column} = ?", changed)  # noqa: S608
    assert victim.frozen_by() == "SRD-L069"
    assert "SRD-L069" in {problem.code for problem in victim.verify().problems}


@pytest.mark.parametrize(
    "statement", ["UPDATE ledger_releases SET body = ?", "DELETE FROM ledger_releases WHERE body <> ?"]
)
def test_an_altered_release_is_named(victim: Victim, statement: str) -> None:
    tamper(victim.place, statement, b"43")
    with victim.open() as ledger, pytest.raises(LedgerError, match="SRD-L072"):
        ledger.replayed(digest("k"))
    assert named(victim.verify()) == (None, "SRD-L072")


def test_a_running_process_sees_its_ledger_rolled_back(victim: Victim) -> None:
    with victim.open(witness=NoWitness("to see what a process knows by itself")) as ledger:
        ((size, frontier, note),) = look_up(victim.place, "SELECT size, frontier, note FROM ledger_head")
        reserved(ledger)
        tamper(victim.place, "DELETE FROM ledger_entries WHERE position >= ?", size)
        tamper(victim.place, "UPDATE ledger_head SET size = ?, frontier = ?, note = ?", size, frontier, note)
        with pytest.raises(FrozenError, match="SRD-L067"):
            ledger.reserve(request())
        with pytest.raises(FrozenError, match="SRD-L067"):
            ledger.restore("owner", "this is not for restoring")


# Old copies, which were signed once


def copies(place: str) -> dict[str, list[tuple[Any, ...]]]:
    tables = ("ledger_entries", "ledger_tiles", "ledger_head", "ledger_snapshots", "ledger_releases")
    return {table: look_up(place, f"SELECT * FROM {table}") for table in tables}  # noqa: S608


def put_back(place: str, rows: dict[str, list[tuple[Any, ...]]]) -> None:
    statements: list[tuple[str, tuple[Any, ...]]] = []
    for table, copied in rows.items():
        statements.append((f"DELETE FROM {table}", ()))  # noqa: S608
        statements += [(f"INSERT INTO {table} VALUES ({', '.join('?' * len(row))})", row) for row in copied]  # noqa: S608
    tamper_all(place, statements)


def test_an_old_copy_freezes_and_is_restored_by_burning_the_gap(victim: Victim) -> None:
    old = copies(victim.place)
    other = Rule.open(budget(epsilon=1), unit="person", neighbours=rule().neighbours)
    with victim.open() as ledger:
        open_one = reserved(ledger)
        for _ in range(4):
            reserved(ledger)
        ledger.open_scope(type(TRIPS)("dataset", "new"), other, by="owner")
        before, size = spent(ledger), ledger.size
    put_back(victim.place, old)
    assert victim.frozen_by() == "SRD-L061"
    report = victim.verify()
    assert named(report) == (victim.size, "SRD-L061")
    with victim.open() as ledger:
        restored = ledger.restore("owner", "the disk died")
        assert (restored.lost_from, restored.lost_to) == (victim.size, size)
        assert (spent(ledger), ledger.frozen) == (before, None)
        with pytest.raises(LedgerError, match="SRD-L022"):  # nobody knows what was spent of it
            ledger.open_scope(type(TRIPS)("dataset", "new"), other, by="owner")
        with pytest.raises(LedgerError, match="SRD-L024"):
            ledger.settle(open_one, b"42")
        reserved(ledger)
        assert ledger.verify().sound
    assert victim.frozen_by() is None
    assert victim.verify().sound


def test_a_copy_that_went_another_way_is_restored_by_burning_both(victim: Victim) -> None:
    old = copies(victim.place)
    with victim.open() as ledger:
        shared = spent(ledger)
        reserved(ledger)
    put_back(victim.place, old)
    with victim.open(witness=NoWitness("somebody goes on unwatched")) as ledger:
        reserved(ledger)
        reserved(ledger)
    assert victim.frozen_by() == "SRD-L062"
    assert (None, "SRD-L062") in {(each.position, each.code) for each in victim.verify().problems}
    with victim.open() as ledger:
        ledger.restore("owner", "two copies were used")
        assert spent(ledger) == (shared + Fraction(2, 10)) + (shared + Fraction(1, 10))
        assert ledger.verify().sound
    assert victim.frozen_by() is None


def test_a_lost_witness_burns_all_that_is_left(victim: Victim) -> None:
    victim.files["witness"].unlink()
    assert victim.frozen_by() == "SRD-L068"
    assert named(victim.verify()) == (None, "SRD-L068")
    with victim.open() as ledger:
        ledger.restore("owner", "the other machine burnt")
        with pytest.raises(BudgetError, match="SRD-B001"):
            ledger.reserve(request())
    assert victim.frozen_by() is None


WITNESSES: dict[str, Callable[[bytes], bytes]] = {
    "another root": lambda text: text.replace(b"=\\n", b"A\\n", 1),
    "another size": lambda text: text.replace(b'"size":', b'"size":1'),
    "not a line": lambda text: text + b"\nnothing",
    "spent is no list": lambda text: text.replace(b'"spent":[', b'"spent":[1,'),
}


@pytest.mark.parametrize("name", WITNESSES)
def test_an_altered_witness_is_named(victim: Victim, name: str) -> None:
    path = victim.files["witness"]
    *lines, last, end = path.read_bytes().split(b"\n")
    path.write_bytes(b"\n".join([*lines, WITNESSES[name](last), end]))
    assert victim.frozen_by() == "SRD-L063"
    assert "SRD-L063" in {problem.code for problem in victim.verify().problems}


# Bytes


def everything(store: SqliteStore) -> list[Any]:
    with store.reading() as reading:
        head = reading.head()
        size = 1000
        rows = [list(map(tuple, reading.bodies(0, size))), list(map(tuple, reading.tiles(1, 0, size)))]
        return [head, *rows, reading.snapshots(), reading.releases(0, size)]


def flip(place: str, key: Any, offsets: list[int], scratch: Path) -> int:
    """Change one byte at a time; return how often it altered what is read. Each time it must have been noticed."""
    original = Path(place).read_bytes()
    store = SqliteStore(place)
    expected = everything(store)
    store.close()
    altered = 0
    for offset in offsets:
        changed = bytearray(original)
        changed[offset] ^= 1 << offset % 8
        for stale in scratch.parent.glob(f"{scratch.name}*"):
            stale.unlink()
        scratch.write_bytes(changed)
        try:
            copy = SqliteStore(scratch)
        except LedgerError:
            altered += 1
            continue
        try:
            same = everything(copy) == expected
            report = verify_store(copy, key)
        except LedgerError:
            same, report = False, None
        finally:
            copy.close()
        altered += not same
        assert same or report is None or not report.sound, f"byte {offset} was changed, and nobody noticed"
    return altered


@pytest.fixture
def small(sqlite_place: Callable[[], str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[str, Any]:
    """Return the place and the key of a small ledger in a file, with a snapshot and tiles."""
    monkeypatch.setattr(session_module, "SNAPSHOT_LEAST", 5)
    place = sqlite_place()
    with Ledger.open(place, witness=NoWitness("bytes speak for themselves")) as ledger:
        ledger.open_scope(TRIPS, rule(budget(epsilon=100)), by="owner")
        fill(ledger, 128, at_once=128)
        key = ledger.key
    shutil.copy(place, tmp_path / "kept.db")
    return place, key


def test_single_bytes_that_alter_what_is_read_are_noticed(small: tuple[str, Any], tmp_path: Path) -> None:
    place, key = small
    length = Path(place).stat().st_size
    assert flip(place, key, random.sample(range(length), 60), tmp_path / "flipped.db") > 10


@pytest.mark.long
def test_any_single_byte_that_alters_what_is_read_is_noticed(small: tuple[str, Any], tmp_path: Path) -> None:
    place, key = small
    length = Path(place).stat().st_size
    assert flip(place, key, list(range(0, length, 7)), tmp_path / "flipped.db") > length // 70
