"""Two copies of a ledger beside one witness: one of them goes on, and the other never grants anything."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from ledger.samples import TRIPS, request, reserved, rule, spent
from sordino.accounting.events import Laplace
from sordino.errors import FrozenError
from sordino.ledger.ledger import Ledger
from sordino.ledger.reservation import Reservation
from sordino.ledger.verify import verify_store
from sordino.ledger.witness import FileWitness, Seen

ALL = Laplace(scale=1)


@pytest.fixture
def copies(tmp_path: Path) -> Iterator[tuple[Ledger, Ledger]]:
    """Yield a ledger and a copy of it, both open, with one witness."""
    witness = tmp_path / "witness"
    with Ledger.open(tmp_path / "one.db", witness=witness) as ledger:
        ledger.open_scope(TRIPS, rule(), by="owner")
    for suffix in ("", ".key", ".pub"):
        shutil.copy(tmp_path / f"one.db{suffix}", tmp_path / f"two.db{suffix}")
    with (
        Ledger.open(tmp_path / "one.db", witness=witness) as one,
        Ledger.open(tmp_path / "two.db", witness=witness) as two,
    ):
        yield one, two


def before(method: str, then: Callable[[], object], monkeypatch: pytest.MonkeyPatch) -> None:
    """Let something happen once, just before a witness is asked to do something."""
    real, waiting = getattr(FileWitness, method), [then]

    def meanwhile(self: FileWitness, seen: Seen) -> Seen | None:
        if waiting:
            waiting.pop()()
        found: Seen | None = real(self, seen)
        return found

    monkeypatch.setattr(FileWitness, method, meanwhile)


@pytest.mark.parametrize(("method", "charged"), [("tell", 1), ("ready", 0)])
def test_of_two_copies_one_is_granted_the_budget(
    copies: tuple[Ledger, Ledger], method: str, charged: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One copy spends everything between the other's commit (or its preparation) and its telling."""
    one, two = copies
    granted: list[object] = []
    before(method, lambda: granted.append(one.reserve(request(ALL))), monkeypatch)
    with pytest.raises(FrozenError, match=r"SRD-L06[12]"):
        two.reserve(request(ALL))
    assert isinstance(granted[0], Reservation)
    assert two.frozen is not None
    with pytest.raises(FrozenError):
        two.reserve(request(ALL))
    assert two.stored_size == 1 + charged  # what was committed stands, for whoever restores the copy
    one.settle(granted[0], b"answer")
    assert one.verify().sound
    assert "SRD-L06" in str([problem.code for problem in two.verify().problems])


def test_replicas_of_one_ledger_tell_in_any_order(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place = tmp_path / "ledger.db"
    with Ledger.open(place) as one, Ledger.open(place) as two:
        one.open_scope(TRIPS, rule(), by="owner")
        before("tell", lambda: reserved(one), monkeypatch)
        reserved(two)
        reserved(one)
        assert spent(one) * 10 == spent(two) * 10 == 3
        assert one.frozen is two.frozen is None
        seen = one.seen()
        assert seen is not None
        assert (seen.size, seen.spent) == (4, {"dataset:trips": "0 300000000000"})
        assert two.verify().sound


def test_a_line_of_another_history_is_found_wherever_it_stands(tmp_path: Path) -> None:
    """As whoever does not compare may have told: the largest line is right, an earlier one is not."""
    place, witness = tmp_path / "one.db", tmp_path / "one.db.witness"
    with Ledger.open(place) as ledger:
        ledger.open_scope(TRIPS, rule(), by="owner")
    for suffix in ("", ".key", ".pub", ".witness"):
        shutil.copy(tmp_path / f"one.db{suffix}", tmp_path / f"two.db{suffix}")
    with Ledger.open(tmp_path / "two.db") as other:
        reserved(other)
    forked = (tmp_path / "two.db.witness").read_bytes().strip(b" ").splitlines(keepends=True)[-1]
    with Ledger.open(place) as ledger:
        reserved(ledger)
        reserved(ledger)
        lines = witness.read_bytes().strip(b" ").splitlines(keepends=True)
        witness.write_bytes(b"".join([*lines[:-1], forked, lines[-1]]))
        report = verify_store(ledger._session.log.store, ledger.key, FileWitness(witness))
        assert [problem.code for problem in report.problems] == ["SRD-L062"]
        assert "another copy" in str(report)
