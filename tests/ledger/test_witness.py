"""The witness: what it was told last is what it remembers, whoever else tells it, whatever is cut off."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from ledger.samples import TRIPS, reserved, rule, spent
from sordino.errors import ArgumentError, FrozenError, LedgerError
from sordino.ledger import witness as witness_module
from sordino.ledger.canonical import encode
from sordino.ledger.ledger import Ledger
from sordino.ledger.witness import FileWitness, NoWitness, Seen


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "witness"


def test_what_was_told_last_is_remembered(path: Path) -> None:
    witness = FileWitness(path)
    assert witness.recall() is None
    witness.begin(Seen(0, "first"))
    witness.tell(Seen(1, "second", {"dataset:a": "1", "dataset:é": "2"}))
    witness.tell(Seen(2, "third", {"dataset:a": "3"}))
    expected = Seen(2, "third", {"dataset:a": "3", "dataset:é": "2"})
    assert witness.recall() == expected
    witness.close()
    witness.close()
    assert FileWitness(path).recall() == expected
    assert path.stat().st_mode & 0o077 == 0
    assert "witness" in repr(witness)


@pytest.mark.parametrize("anew", [False, True])
def test_its_lines_are_canonical_json(path: Path, anew: bool) -> None:
    seen = Seen(7, 'text \u2014 "quoted" \\ back\n', {'dataset:"é"\\': "1 2", "analyst:a": "0 3"}, anew)
    plain = {"anew": anew, "note": seen.note, "size": 7, "spent": sorted(seen.spent.items())}
    witness = FileWitness(path)
    witness.begin(seen)
    witness.close()
    assert path.read_bytes().rstrip(b" ") == encode(plain) + b"\n"
    assert FileWitness(path).recall() == seen


def test_it_never_moves_backwards_whoever_tells_first(path: Path) -> None:
    witness, other = FileWitness(path), FileWitness(path)
    witness.begin(Seen(0, "first"))
    assert other.news() == Seen(0, "first")
    assert other.tell(Seen(2, "later", {"dataset:a": "2"})) is None
    earlier = Seen(1, "earlier", {"dataset:a": "1", "dataset:b": "1"})
    assert witness.tell(earlier) == Seen(2, "later", {"dataset:a": "2"})  # and it remembers nothing of this
    assert witness.tell(earlier) is None  # now that it has been heard that there is more
    assert witness.recall() == Seen(2, "later", {"dataset:a": "2", "dataset:b": "1"})
    assert [witness.news(), other.news()] == [None, witness.recall()]
    assert [witness.news(), other.news()] == [None, None]
    other.tell(Seen(3, "last"))
    assert other.news() is None  # what it told itself is no news
    assert [seen.size for seen in witness.history()] == [0, 2, 1, 3]
    assert witness.news() == Seen(3, "last", {"dataset:a": "2", "dataset:b": "1"})
    witness.close()
    other.close()


def test_a_restoration_begins_anew(path: Path) -> None:
    witness = FileWitness(path)
    witness.begin(Seen(0, "first"))
    witness.tell(Seen(9, "lost", {"dataset:gone": "5"}))
    witness.tell(Seen(4, "restored", {"dataset:a": "1"}, anew=True))
    witness.tell(Seen(5, "after"))
    assert witness.recall() == Seen(5, "after", {"dataset:a": "1"}, anew=True)
    witness.close()


def test_a_line_that_was_cut_off_never_was(path: Path) -> None:
    witness = FileWitness(path)
    witness.begin(Seen(0, "first"))
    witness.tell(Seen(1, "second"))
    witness.close()
    with path.open("ab") as file:
        file.write(b'{"anew":false,"note":"thi')
    assert FileWitness(path).recall() == Seen(1, "second")
    again = FileWitness(path)
    assert again.tell(Seen(2, "third")) == Seen(1, "second")
    again.tell(Seen(2, "third"))
    assert again.recall() == Seen(2, "third")
    again.close()


def test_it_is_rewritten_when_it_grows_too_long(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(witness_module, "LARGEST_FILE", 2000)
    monkeypatch.setattr(witness_module, "SPARE", 500)
    one, other = FileWitness(path), FileWitness(path)
    one.begin(Seen(0, "first"))
    largest = 0
    for size in range(1, 200):
        teller, seen = one if size % 3 else other, Seen(size, f"note {size}", {f"dataset:{size % 7}": str(size)})
        while teller.ready(seen) is not None:
            pass
        assert teller.tell(seen) is None
        largest = max(largest, path.stat().st_size)
    expected = Seen(199, "note 199", {f"dataset:{place}": str(199 - (199 - place) % 7) for place in range(7)})
    assert one.recall() == other.recall() == expected
    assert largest < 3500
    assert [each.name for each in path.parent.iterdir()] == ["witness"]
    one.close()
    other.close()


def test_a_memory_is_not_replaced(path: Path) -> None:
    witness = FileWitness(path)
    witness.begin(Seen(0, "first"))
    with pytest.raises(LedgerError, match="SRD-L063"):
        FileWitness(path).begin(Seen(0, "another"))
    witness.close()


def test_a_missing_file_is_said(path: Path) -> None:
    with pytest.raises(LedgerError, match="SRD-L063"):
        FileWitness(path).news()
    witness = FileWitness(path)
    witness.begin(Seen(0, "first"))
    path.unlink()
    with pytest.raises(LedgerError, match="SRD-L063"):
        witness.tell(Seen(1, "second"))
    witness.close()


@pytest.mark.parametrize(
    "line", [b"nothing", b"{}", b'{"anew":false,"note":"n","size":1,"spent":[["a",1]]}', b'{"size": 1}', b"[1]"]
)
def test_a_line_that_no_ledger_wrote_is_refused(path: Path, line: bytes) -> None:
    path.write_bytes(line + b"\n")
    with pytest.raises(FrozenError, match="SRD-L063"):
        FileWitness(path).recall()


def test_going_without_is_said_aloud() -> None:
    none = NoWitness("an experiment")
    none.begin(Seen(0, "note"))
    none.tell(Seen(1, "note"))
    none.close()
    assert (none.news(), none.recall(), none.watches) == (None, None, False)
    assert repr(none) == "NoWitness('an experiment')"
    for empty in ("", "  "):
        with pytest.raises(ArgumentError, match="SRD-A001"):
            NoWitness(empty)


def test_a_ledger_changes_its_witness(tmp_path: Path) -> None:
    place, new = tmp_path / "ledger.db", FileWitness(tmp_path / "new")
    with Ledger.open(place) as ledger:
        ledger.open_scope(TRIPS, rule(), by="owner")
        reserved(ledger)
        ledger.watch(new)
        reserved(ledger)
    with Ledger.open(place, witness=tmp_path / "new") as ledger:
        assert ledger.frozen is None
        assert spent(ledger) * 10 == 2
        reserved(ledger)
    with Ledger.open(place) as ledger:  # the old one is behind, which is no offence
        assert ledger.frozen is None


def test_an_unwitnessed_ledger_is_thawed_without_burning(tmp_path: Path) -> None:
    with Ledger.open(tmp_path / "ledger.db", witness=NoWitness("a test")) as ledger:
        ledger.open_scope(TRIPS, rule(), by="owner")
        reserved(ledger)
        ledger.freeze("suspicion")
        ledger.restore("owner", "it was nothing")
        assert spent(ledger) * 10 == 1


def test_what_nobody_got_to_tell_is_told_at_the_next_opening(tmp_path: Path) -> None:
    place = tmp_path / "ledger.db"
    with Ledger.open(place) as ledger:
        ledger.open_scope(TRIPS, rule(), by="owner")
        before = (tmp_path / "ledger.db.witness").read_bytes()
        reserved(ledger)
    (tmp_path / "ledger.db.witness").write_bytes(before)
    with Ledger.open(place) as ledger:
        seen = FileWitness(tmp_path / "ledger.db.witness").recall()
        assert seen is not None
        assert (seen.size, seen.spent) == (ledger.size, {"dataset:trips": "0 100000000000"})


def test_an_altered_scope_or_amount_cannot_be_restored_from(tmp_path: Path) -> None:
    place, path = tmp_path / "ledger.db", tmp_path / "ledger.db.witness"
    with Ledger.open(place) as ledger:
        ledger.open_scope(TRIPS, rule(), by="owner")
        ledger.freeze("suspicion")
    good = path.read_bytes()
    for old, new in ((b'"dataset:trips"', b'"nothing"'), (b'"0 0"', b'"0 -1"')):
        path.write_bytes(good.replace(old, new))
        with Ledger.open(place) as ledger, pytest.raises(LedgerError, match="SRD-L063"):
            ledger.restore("owner", "it was nothing")


def test_handles_are_given_back(tmp_path: Path) -> None:
    before = len(os.listdir("/proc/self/fd"))
    for _ in range(3):
        with Ledger.open(tmp_path / "ledger.db") as ledger:
            assert ledger.frozen is None
    assert len(os.listdir("/proc/self/fd")) <= before + 1


def test_a_line_that_is_cut_off_after_the_file_was_read_is_not_built_upon(tmp_path: Path) -> None:
    path = tmp_path / "witness"
    one, other = FileWitness(path), FileWitness(path)
    one.begin(Seen(1, "a\n", {"dataset:a": "0 1"}))
    assert other.news() is not None
    other.tell(Seen(2, "b\n", {"dataset:b": "0 2"}))
    with path.open("ab") as file:
        file.write(b'{"anew":false,"no')
    found = one.news()
    assert found is not None
    assert found.size == 2
    one.tell(Seen(3, "c\n", {"dataset:a": "0 3"}))
    assert other.recall() == Seen(3, "c\n", {"dataset:a": "0 3", "dataset:b": "0 2"})
    assert one.news() is None
    one.tell(Seen(4, "d\n"))  # from memory now, and compacted from it as well
    assert one.news() is None
    assert other.recall() == Seen(4, "d\n", {"dataset:a": "0 3", "dataset:b": "0 2"})
    one.close()
    other.close()


def test_what_is_compacted_from_memory_is_what_the_file_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    witness = FileWitness(tmp_path / "witness")
    witness.begin(Seen(0, "a\n", {"dataset:a": "0 1"}))
    monkeypatch.setattr(witness_module, "LARGEST_FILE", 300)
    monkeypatch.setattr(witness_module, "SPARE", 100)
    for size in range(1, 20):
        seen = Seen(size, f"{size}\n", {f"dataset:{size % 3}": f"0 {size}"})
        assert witness.ready(seen) is None
        assert witness.tell(seen) is None
        assert (tmp_path / "witness").stat().st_size <= 900
        found = FileWitness(tmp_path / "witness").recall()
        assert found == witness._whole
        assert found is not None
        assert (found.size, found.spent["dataset:a"]) == (size, "0 1")
    witness.close()
