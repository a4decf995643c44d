"""Wherever a thread is interrupted on its way through a commit, log and state stay in step, or are read again."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from fractions import Fraction
from itertools import count
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

from ledger.samples import TRIPS, request, rule
from sordino.accounting.budget import budget
from sordino.errors import BudgetError
from sordino.ledger import session
from sordino.ledger.entries import Reserved
from sordino.ledger.ledger import Ledger
from sordino.ledger.reservation import Reservation
from sordino.ledger.snapshot import snapshot
from sordino.ledger.state import State

ROOM = str(Path(session.__file__).parent)
WATCHED = frozenset({"session.py", "together.py", "undoing.py", "state.py", "balance.py", "log.py", "witness.py"})


def interrupted_at(number: int, call: Callable[[], Any]) -> bool:
    """Make a call and interrupt it at the line of this number in the files that are watched; whether there was one."""
    left = [number]

    def trace(frame: FrameType, event: str, _: Any) -> Any:
        directory, _, name = frame.f_code.co_filename.rpartition("/")
        if directory != ROOM or name not in WATCHED:
            return None
        if event == "line":
            left[0] -= 1
            if not left[0]:
                sys.settrace(None)
                raise KeyboardInterrupt
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        call()
    except KeyboardInterrupt:
        return True
    finally:
        sys.settrace(before)
    return False


def in_step(ledger: Ledger, replayed: State) -> bool:
    """Whether what this process holds is what the bytes in the store add up to; `replayed` is read on to the end."""
    for entry in ledger.entries(replayed.size):
        replayed.apply(entry)
    return ledger.look(snapshot) == snapshot(replayed)


@pytest.mark.parametrize("kind", ["reserve", "settle"])
def test_an_interrupt_at_any_line_loses_no_charge(tmp_path: Path, kind: str) -> None:
    # In a thread of its own: CPython 3.11 goes on handling an error for good when a trace interrupts its handler.
    with ThreadPoolExecutor(1) as thread:
        thread.submit(interrupt_everywhere, tmp_path / "ledger.db", kind).result()
    assert sys.exc_info() == (None, None, None)


def interrupt_everywhere(path: Path, kind: str) -> None:
    with Ledger.open(path) as ledger:
        ledger.open_scope(TRIPS, rule(budget(epsilon=1000)), by="owner")
        given: list[Any] = []
        replayed = State()

        def call() -> None:
            if kind == "settle":
                ledger.settle(given.pop(), b"42")
            else:
                ledger.reserve(request(key=f"key {len(given)}"))

        for number in count(1):
            given.append(ledger.reserve(request()))
            if not interrupted_at(number, call):
                break
            assert in_step(ledger, replayed), number
        assert number > 100  # there were that many lines to interrupt
        assert ledger.verify().sound


def test_an_interrupt_right_after_the_commit_leaves_nothing_to_spend_twice(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Ledger.open(tmp_path / "ledger.db") as ledger:
        ledger.open_scope(TRIPS, rule(), by="owner")
        log = ledger._session.log
        accept = log.accept

        def interrupted(appended: Any) -> None:
            accept(appended)
            raise KeyboardInterrupt

        with monkeypatch.context() as patch:
            patch.setattr(log, "accept", interrupted)
            with pytest.raises(KeyboardInterrupt):
                ledger.reserve(request())
        granted = 0
        for _ in range(12):
            with suppress(BudgetError):
                granted += isinstance(ledger.reserve(request()), Reservation)
        assert granted == 9
        charged = [entry for entry in ledger.entries() if isinstance(entry, Reserved)]
        assert len(charged) * Fraction(1, 10) == 1
        assert ledger.verify().sound


class _Late:
    """A lock for leaders that a thread tries to take only after others have led, once."""

    def __init__(self, real: Any, meanwhile: Callable[[], object]) -> None:
        self._real = real
        self._meanwhile = meanwhile
        self._thread = threading.get_ident()

    def acquire(self, *, blocking: bool) -> bool:
        if threading.get_ident() == self._thread and self._meanwhile is not None:
            thread = threading.Thread(target=self._meanwhile)
            self._meanwhile = None  # type: ignore[assignment]
            thread.start()
            thread.join(60)
        return bool(self._real.acquire(blocking=blocking))

    def release(self) -> None:
        self._real.release()


def test_what_others_wrote_meanwhile_is_not_written_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A thread finds its wish not done, is held up, and leads when another has written it: it is charged once."""
    with Ledger.open(tmp_path / "ledger.db") as ledger:
        ledger.open_scope(TRIPS, rule(), by="owner")
        line = ledger._session._line
        with monkeypatch.context() as patch:
            patch.setattr(line, "_leading", _Late(line._leading, lambda: ledger.reserve(request())))
            own = ledger.reserve(request())
        assert isinstance(own, Reservation)
        assert sum(isinstance(entry, Reserved) for entry in ledger.entries()) == 2
        with monkeypatch.context() as patch:
            patch.setattr(line, "_leading", _Late(line._leading, lambda: ledger.reserve(request())))
            assert ledger.settle(own, b"42").release == b"42"
        assert ledger.verify().sound
