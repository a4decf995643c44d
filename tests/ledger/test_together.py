"""Group commit: many threads, one transaction; each its own outcome, and nobody waits without need."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from ledger.samples import TRIPS, files, request, reserved, rule, spent
from ledger.tampering import look_up
from ledger.test_crashes import with_fault
from sordino.accounting.budget import budget
from sordino.errors import BudgetError, ConflictError, LedgerError
from sordino.ledger import together
from sordino.ledger.ledger import Ledger
from sordino.ledger.opening import store_at
from sordino.ledger.receipt import Receipt, verify_receipt
from sordino.ledger.reservation import Replay, Reservation
from sordino.ledger.together import Gather, Line, Wish

MANY = 12


@pytest.fixture
def ledger(place: str, tmp_path: Path) -> Iterator[Ledger]:
    with Ledger.open(place, **files(place, tmp_path)) as found:
        found.open_scope(TRIPS, rule(), by="owner")
        yield found


def at_once(line: Line, calls: list[Callable[[], Any]]) -> list[Any]:
    """Make the calls, each in a thread, so that all of them are in the line before anybody leads."""
    found: list[Any] = [None] * len(calls)

    def make(place: int) -> None:
        try:
            found[place] = calls[place]()
        except BaseException as error:
            found[place] = error

    threads = [threading.Thread(target=make, args=(place,)) for place in range(len(calls))]
    assert line._leading.acquire(timeout=60)
    try:
        for number, thread in enumerate(threads):
            thread.start()
            while len(line._waiting) <= number and thread.is_alive():  # in this order
                time.sleep(0.001)
    finally:
        line._step_back()
    for thread in threads:
        thread.join(60)
        assert not thread.is_alive()
    return found


def commits(place: str) -> int:
    """Return how many commits appended something: each left one signature."""
    return int(look_up(place, "SELECT COUNT(signature) FROM ledger_entries")[0][0])


# On a ledger


def test_many_threads_one_commit(ledger: Ledger, place: str) -> None:
    line = ledger._session._line
    before = commits(place)
    granted = at_once(line, [lambda: reserved(ledger) for _ in range(MANY)])
    assert [type(each) for each in granted] == [Reservation] * 10 + [BudgetError] * 2
    assert [each.position for each in granted[:10]] == list(range(1, 11))
    assert spent(ledger) == 1
    receipts = at_once(line, [lambda it=each: ledger.settle(it, b"42") for each in granted[:10]])  # type: ignore[misc]
    for receipt in receipts:
        assert isinstance(receipt, Receipt), receipt
        verify_receipt(receipt, ledger.key.text, b"42")
    assert commits(place) == before + 2
    assert ledger.verify().sound


def test_each_gets_an_outcome_of_its_own(ledger: Ledger) -> None:
    open_one = reserved(ledger)
    calls: list[Callable[[], Any]] = [
        lambda: ledger.reserve(request(key="k")),
        lambda: ledger.reserve(request(key="k")),
        lambda: ledger.reserve(request(key="k", asked="another")),
        lambda: ledger.reserve(request(analyst=17)),
        lambda: ledger.settle(open_one, b"42"),
        lambda: ledger.settle(open_one, b"43"),
        lambda: ledger.set_budget(TRIPS, budget(epsilon="0.25"), by="owner", reason="less"),
        lambda: ledger.reserve(request()),
    ]
    found = at_once(ledger._session._line, calls)
    assert isinstance(found[0], Reservation)
    assert isinstance(found[1], Replay)
    assert found[1].running
    assert isinstance(found[2], ConflictError)
    assert isinstance(found[3], ValueError | TypeError | AttributeError)
    assert found[4].release == b"42"
    assert found[5].code == "SRD-L024"
    assert found[6].kind == "budgeted"
    assert isinstance(found[7], BudgetError)
    assert spent(ledger) == Fraction(2, 10)
    assert ledger.receipt(open_one.id).release == b"42"
    assert ledger.verify().sound


@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
@pytest.mark.parametrize("word", ["INSERT", "COMMIT"])
def test_a_fault_reaches_all_of_a_batch(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch, word: str, after: bool
) -> None:
    reserved(ledger)
    with monkeypatch.context() as patch:
        with_fault(ledger._session.log.store, patch, word, after=after)
        found = at_once(ledger._session._line, [lambda: reserved(ledger) for _ in range(4)])
    if (word, after) == ("COMMIT", True):
        assert [each.position for each in found] == [2, 3, 4, 5]
    else:
        assert all(isinstance(each, LedgerError) for each in found)
        assert len({id(each) for each in found}) == 4
    assert spent(ledger) == Fraction(5 if (word, after) == ("COMMIT", True) else 1, 10)
    reserved(ledger)
    assert ledger.verify().sound


@pytest.mark.parametrize("where", ["decide", "append", "accept", "tell"])
def test_an_interrupted_leader_harms_nobody_else(ledger: Ledger, monkeypatch: pytest.MonkeyPatch, where: str) -> None:
    session = ledger._session
    leader: list[int] = []
    target: tuple[Any, str] = {
        "decide": (session, "clock"),
        "append": (session.log, "append"),
        "accept": (session.log, "accept"),
        "tell": (session, "_tell"),
    }[where]
    real = getattr(*target)

    def interrupted(*arguments: Any) -> Any:
        if not leader:
            leader.append(threading.get_ident())
            raise KeyboardInterrupt
        return real(*arguments)

    monkeypatch.setattr(*target, interrupted)
    found = at_once(session._line, [lambda: reserved(ledger) for _ in range(4)])
    assert [type(each) for each in found].count(KeyboardInterrupt) == 1
    others = [each for each in found if not isinstance(each, KeyboardInterrupt)]
    assert [type(each) for each in others] == [Reservation] * 3
    committed = where in ("accept", "tell")  # then the interrupted one's charge stands as well, without an answer
    assert spent(ledger) == Fraction(4 if committed else 3, 10)
    seen = session.log.witness.recall()
    assert seen is not None
    assert seen.size == ledger.size
    reserved(ledger)
    assert ledger.verify().sound


def test_a_leader_interrupted_at_a_receipt_leaves_the_others_to_make_theirs(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    held = [reserved(ledger) for _ in range(4)]
    real, interrupted = ledger._releases.receipt_for, iter([True])

    def interrupted_once(*arguments: Any) -> Receipt:
        if next(interrupted, False):
            raise KeyboardInterrupt
        return real(*arguments)

    monkeypatch.setattr(ledger._releases, "receipt_for", interrupted_once)
    found = at_once(ledger._session._line, [lambda it=each: ledger.settle(it, b"42") for each in held])  # type: ignore[misc]
    receipts = [each for each in found if isinstance(each, Receipt)]
    assert [type(each) for each in found].count(KeyboardInterrupt) == 1
    assert len(receipts) == 3
    for receipt in receipts:
        verify_receipt(receipt, ledger.key.text, b"42")
    assert all(ledger.receipt(each.id).release == b"42" for each in held)
    assert ledger.verify().sound


def test_a_receipt_that_fails_is_its_own_affair(ledger: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    held = [reserved(ledger) for _ in range(3)]
    real = ledger._releases.receipt_for

    def failing(kept: Any, *arguments: Any) -> Receipt:
        if kept.id == held[1].id:
            raise LedgerError("the disk fails", "SRD-L050")
        return real(kept, *arguments)

    monkeypatch.setattr(ledger._releases, "receipt_for", failing)
    found = at_once(ledger._session._line, [lambda it=each: ledger.settle(it, b"42") for each in held])  # type: ignore[misc]
    assert [type(each) for each in found] == [Receipt, LedgerError, Receipt]
    assert ledger.verify().sound


def test_who_comes_while_the_leader_waits_for_the_lock_comes_along(
    ledger: Ledger, place: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = commits(place)
    store = store_at(place)
    found: list[Any] = []
    line, led = ledger._session._line, threading.Event()
    write = line._write

    def write_when_told(batch: list[Wish], gather: Gather) -> None:
        led.set()
        write(batch, gather)

    monkeypatch.setattr(line, "_write", write_when_told)
    threads = [threading.Thread(target=lambda: found.append(reserved(ledger))) for _ in range(4)]
    with store.writing() as writing:
        writing.lock_head()
        threads[0].start()
        assert led.wait(60)  # the first is alone in its batch
        for thread in threads[1:]:
            thread.start()
        while len(line._waiting) < 3:
            time.sleep(0.001)
    for thread in threads:
        thread.join(60)
    store.close()
    assert len(found) == 4
    assert commits(place) == before + 1


# The line itself


def test_a_lonely_thread_leads_at_once() -> None:
    batches: list[int] = []

    def write(batch: list[Wish], _gather: Gather) -> None:
        batches.append(len(batch))
        for wish in batch:
            wish.finish()

    line = Line(write)
    for _ in range(3):
        line.join(Wish(lambda *_: ()))
    assert batches == [1, 1, 1]


def test_nobody_is_forgotten_and_all_go_in_order(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(together, "MOST_TOGETHER", 3)
    written: list[Wish] = []

    def write(batch: list[Wish], gather: Gather) -> None:
        gather(batch)
        assert len(batch) <= 3
        written.extend(batch)
        for wish in batch:
            wish.finish()

    line = Line(write)
    wishes = [Wish(lambda *_: ()) for _ in range(MANY)]
    at_once(line, [lambda it=each: line.join(it) for each in wishes])  # type: ignore[misc]
    assert written == wishes


def test_who_is_interrupted_while_waiting_takes_the_wish_back(monkeypatch: pytest.MonkeyPatch) -> None:
    written: list[Wish] = []

    def write(batch: list[Wish], _gather: Gather) -> None:
        written.extend(batch)
        for wish in batch:
            wish.finish()

    line = Line(write)
    wishes = [Wish(lambda *_: ()) for _ in range(3)]

    real = Wish.wait

    def interrupted_at_last(wish: Wish) -> None:
        if wish is not wishes[0]:
            return real(wish)
        wish._calls.get(timeout=60)  # it has been called to lead: all others are there
        raise KeyboardInterrupt

    monkeypatch.setattr(Wish, "wait", interrupted_at_last)
    found = at_once(line, [lambda it=each: line.join(it) for each in wishes])  # type: ignore[misc]
    assert isinstance(found[0], KeyboardInterrupt)
    assert found[1:] == written == wishes[1:]


def test_a_wish_that_an_interrupted_leader_dropped_is_written_all_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(together, "_PATIENCE", 0.01)
    written: list[Wish] = []

    def write(batch: list[Wish], _gather: Gather) -> None:
        written.extend(batch)
        for wish in batch:
            wish.finish()

    line = Line(write)
    wish = Wish(lambda *_: ())
    line._leading.acquire()
    thread = threading.Thread(target=line.join, args=(wish,))
    thread.start()
    while not line._waiting:
        time.sleep(0.001)
    line._waiting.clear()  # an interrupt came between taking it from the line and putting it into a batch
    line._step_back()
    thread.join(60)
    assert not thread.is_alive()
    assert written == [wish]
