"""Plans of any kind: their own grant and no other, work that stays open, parts, restarts and kills, large releases."""

from __future__ import annotations

import hashlib
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import sordino as so
from sordino.accounting.account import Account
from sordino.accounting.bound import Bound, Unit
from sordino.accounting.neighbours import Neighbours
from sordino.data.account import DataAccount
from sordino.errors import ArgumentError, BudgetError, GrantError, LedgerError
from sordino.ledger.entries import Entry, Failed, Part, Reserved, Settled
from sordino.ledger.ledger import Ledger
from sordino.ledger.receipt import verify_receipt
from sordino.query.ask import TableAccount
from sordino.query.release.whole import run_whole
from sordino.serve.local import House
from works import Noisy, Rehearsal

PLAYER = Unit("player")
PLAYERS = Bound.scalar(unit=PLAYER)
STREAM = Rehearsal(PLAYERS, "largo", parts=3)


@dataclass(frozen=True)
class Orchestra:
    """Something protected that is no table."""

    name: str = "orchestra"
    unit: Unit = PLAYER
    neighbours: Neighbours = Neighbours.ADD_REMOVE


@pytest.fixture
def house(tmp_path: Path) -> Iterator[House]:
    with so.open(tmp_path / "budget.db") as opened:
        yield opened


def opened(house: House, **words: Any) -> DataAccount[Orchestra]:
    return house.account(Orchestra(), so.budget(epsilon=1), analyst="ada", **words)


@pytest.fixture(params=["memory", "ledger"])
def account(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[DataAccount[Orchestra]]:
    if request.param == "memory":
        yield so.account(Orchestra(), so.budget(epsilon=1))
        return
    with so.open(tmp_path / "budget.db") as house:
        yield opened(house)


def entries(house: House) -> list[Entry]:
    return list(house.ledger.entries())


def test_an_account_opens_for_anything_with_a_name_a_unit_and_a_relation(account: DataAccount[Orchestra]) -> None:
    assert type(account) is DataAccount
    plan = Rehearsal(PLAYERS)
    assert str(account.price(plan).part) == "1/10"
    assert account.carry_out(plan, lambda _: Noisy("done")).said == "done"
    assert account.account.used == 0.1
    assert "orchestra on " in repr(account)
    (entry,) = account.history
    assert entry.event == plan.event()
    with pytest.raises(ArgumentError, match="digest"):
        account.begin(object())  # type: ignore[arg-type]


def test_what_is_not_protected_has_no_account(house: House) -> None:
    with pytest.raises(ArgumentError, match="a name, a unit and neighbours"):
        so.account("orchestra", so.budget(epsilon=1))  # type: ignore[type-var]
    with pytest.raises(ArgumentError, match="a name, a unit and neighbours"):
        house.account(object(), so.budget(epsilon=1))  # type: ignore[type-var]


# ---- a grant runs its own plan and no other ------------------------------------------------------------------------


@pytest.fixture(scope="module")
def rides() -> so.data.dataset.Dataset:  # type: ignore[name-defined]
    table = pa.table({"rider": [1, 1, 2, 3], "fare": [9.0, 5.0, 7.0, 8.0], "tip": [1.0, 2.0, 3.0, 4.0]})
    bounds = {"fare": so.bounds(0, 100), "tip": so.bounds(0, 100)}
    return so.dataset("rides", table, unit="rider", columns=bounds, limits=so.limits(rows=2))


@pytest.mark.parametrize("where", ["memory", "ledger"])
def test_question_b_does_not_run_on_the_grant_of_question_a(where: str, house: House, rides: Any) -> None:
    budget = so.budget(epsilon=1)
    data: TableAccount = so.account(rides, budget) if where == "memory" else house.account(rides, budget)
    a = data.sql("SELECT SUM(fare) AS s FROM rides").plan(epsilon=0.1)
    b = data.sql("SELECT SUM(tip) AS s FROM rides").plan(epsilon=0.1)
    assert a.event() == b.event()
    assert a.digest() != b.digest()

    def touched(*_: object) -> Any:
        pytest.fail("data was touched")

    grant = data.begin(a).grant
    with pytest.raises(GrantError, match="another plan"):
        run_whole(b, grant, touched)
    with pytest.raises(GrantError, match="another plan"):
        run_whole(a, data.account.reserve(a.event(), a.bound), touched)
    run_whole(a, grant, data.compute)
    with pytest.raises(GrantError, match="SRD-G001"):
        run_whole(a, grant, touched)


def test_the_entry_carries_the_digest_and_the_kind_of_the_plan(house: House, rides: Any) -> None:
    data = house.account(rides, so.budget(epsilon=1))
    ask = data.sql("SELECT SUM(fare) AS s FROM rides")
    ask.run(epsilon=0.1)
    reserved = entries(house)[1]
    assert isinstance(reserved, Reserved)
    assert (reserved.plan, reserved.what) == (ask.plan(epsilon=0.1).digest(), "query")
    opened(house).carry_out(Rehearsal(PLAYERS), lambda _: Noisy("done"))
    assert [entry.what for entry in entries(house) if isinstance(entry, Reserved)] == ["query", "rehearsal"]


# ---- work that stays open ------------------------------------------------------------------------------------------


def test_parts_are_recorded_once_and_in_order(account: DataAccount[Orchestra]) -> None:
    with account.begin(STREAM) as work:
        assert work.recorded(1) is None
        assert work.part(1, Noisy("one")) == b'{"said": "one"}'
        assert work.part(1, Noisy("another")) == b'{"said": "one"}'
        assert work.part(3, Noisy("three")) == b'{"said": "three"}'
        with pytest.raises(GrantError, match="SRD-G007"):
            work.part(2, Noisy("two"))
        for number in (0, 4, -1, 1.0, True):
            with pytest.raises(ArgumentError, match="1 to the 3 parts"):
                work.part(number, Noisy("none"))  # type: ignore[arg-type]
        assert work.recorded(3) == b'{"said": "three"}'
        assert work.finish(Noisy("end")).said == "end"
    assert account.account.used == 0.1
    with pytest.raises((GrantError, LedgerError)):
        work.finish(Noisy("again"))
    with pytest.raises(GrantError, match="SRD-G006"):
        account.resume(work.id, STREAM)


def test_an_error_fails_it_and_leaving_it_does_not(account: DataAccount[Orchestra]) -> None:
    with account.begin(STREAM) as left:
        left.part(1, Noisy("one"))
    with pytest.raises(ValueError, match="secret"), account.begin(STREAM) as failed:
        raise ValueError("secret")
    with pytest.raises(KeyboardInterrupt), account.begin(STREAM) as interrupted:
        raise KeyboardInterrupt
    for work in (left, interrupted):
        assert account.resume(work.id, STREAM).part(2, Noisy("two")) == b'{"said": "two"}'
    assert account.resume(left.id, STREAM).recorded(1) == b'{"said": "one"}'
    with pytest.raises(GrantError, match="SRD-G006"):
        account.resume(failed.id, STREAM)
    assert account.account.used == pytest.approx(0.3)


def test_it_is_resumed_with_its_own_plan_only(account: DataAccount[Orchestra]) -> None:
    work = account.begin(STREAM)
    with pytest.raises(GrantError, match="another plan"):
        account.resume(work.id, Rehearsal(PLAYERS, "vivace", parts=3))
    with pytest.raises(GrantError, match="SRD-G006"):
        account.resume("1-" + "0" * 32, STREAM)
    single = account.begin(Rehearsal(PLAYERS))
    with pytest.raises(GrantError, match="begin it again"):
        account.resume(single.id, Rehearsal(PLAYERS))
    again = account.resume(work.id, STREAM)
    again.grant.use_for(STREAM)
    again.finish(Noisy("end"))


def test_the_work_of_another_analyst_or_data_set_is_unknown(house: House) -> None:
    work = opened(house).begin(STREAM)
    with pytest.raises(GrantError, match="SRD-G006"):
        house.account(Orchestra(), analyst="bob").resume(work.id, STREAM)
    with pytest.raises(GrantError, match="SRD-G006"):
        house.account(Orchestra("choir"), so.budget(epsilon=1), analyst="ada").resume(work.id, STREAM)
    for nonsense in ("", "1", "x" * 99, "999999-" + "0" * 32):
        with pytest.raises(GrantError, match="SRD-G006"):
            opened(house).resume(nonsense, STREAM)


def test_a_part_is_an_entry_and_never_a_charge(house: House) -> None:
    with opened(house).begin(STREAM) as work:
        spent = house.ledger.look(lambda state: state.lifetimes())
        work.part(2, Noisy("two"))
        assert house.ledger.look(lambda state: state.lifetimes()) == spent
        work.finish(Noisy("end"))
    _, reserved, part, settled = entries(house)
    assert isinstance(reserved, Reserved)
    assert isinstance(part, Part)
    assert isinstance(settled, Settled)
    assert (reserved.parts, part.id, part.number) == (3, work.id, 2)
    assert part.release == hashlib.sha256(b'{"said": "two"}').hexdigest()
    assert house.verify().sound


def test_a_receipt_is_signed_for_what_was_finished(house: House) -> None:
    work = opened(house).begin(STREAM)
    release = work.finish(Noisy("end"))
    facts = verify_receipt(release.receipt, house.ledger.key.text, release.to_json().encode())
    assert facts.reserved.plan == STREAM.digest()


KILLED = """
import os, signal, sys
import sordino as so
from test_works import STREAM, Orchestra
from works import Noisy
house = so.open(sys.argv[1])
account = house.account(Orchestra(), so.budget(epsilon=1), analyst="ada")
work = account.begin(STREAM)
work.part(1, Noisy("one"))
print(work.id, flush=True)
os.kill(os.getpid(), signal.SIGKILL)
"""


def test_it_goes_on_after_a_kill(tmp_path: Path) -> None:
    place = tmp_path / "budget.db"
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    killed = subprocess.run(  # noqa: S603  (our own text)
        [sys.executable, "-c", KILLED, str(place)], env=environment, capture_output=True, text=True, check=False
    )
    assert killed.returncode == -signal.SIGKILL, killed.stderr
    with so.open(place) as house:
        account = house.account(Orchestra(), analyst="ada")
        with account.resume(killed.stdout.strip(), STREAM) as work:
            assert work.part(1, Noisy("other noise")) == b'{"said": "one"}'
            work.part(2, Noisy("two"))
            release = work.finish(Noisy("end"))
        assert account.account.used == 0.1
        assert house.verify().sound
        verify_receipt(release.receipt, house.ledger.key.text)


def test_a_mute_error_says_its_code_and_nothing_else(house: House) -> None:
    def run(_: object) -> Noisy:
        raise ValueError("ada is ill")

    with pytest.raises(ValueError, match="ill"):
        opened(house).carry_out(Rehearsal(PLAYERS), run)
    failed = entries(house)[-1]
    assert isinstance(failed, Failed)
    assert failed.code == "SRD-R001"
    assert b"ill" not in b"".join(body for _, body in house.ledger.stored(0, 9))


def test_policy_comes_first_for_every_verb(house: House) -> None:
    strict = opened(house, policy=so.gate.Policy(most="0.05"))  # type: ignore[attr-defined]
    for verb in (
        strict.begin,
        lambda plan: strict.carry_out(plan, lambda _: Noisy("")),
        lambda plan: strict.account.reserve(plan.event(), plan.bound),
    ):
        with pytest.raises(BudgetError, match="SRD-B004"):
            verb(Rehearsal(PLAYERS))
    assert len(entries(house)) == 1


# ---- large releases ------------------------------------------------------------------------------------------------

LARGE = Rehearsal(PLAYERS, "tutti", parts=2, large=True)


def files_of(house: House) -> Path:
    directory = house.ledger.files.directory
    assert directory is not None
    return directory


def test_files_are_written_before_they_are_settled_and_listed_in_the_receipt(house: House, tmp_path: Path) -> None:
    (tmp_path / "weights").write_bytes(b"w" * 200_000)
    with opened(house).begin(LARGE) as work:
        work.part(1, Noisy("half", {"weights.bin": b"half"}))
        release = work.finish(Noisy("end", {"weights.bin": tmp_path / "weights", "notes.txt": b"n"}))
    listed = {each.name: each for each in release.receipt.files}
    assert listed["weights.bin"].size == 200_000
    assert listed["weights.bin"].digest == hashlib.sha256(b"w" * 200_000).hexdigest()
    names = {each.name for each in files_of(house).iterdir()}
    assert names == {each.digest for each in listed.values()} | {hashlib.sha256(b"half").hexdigest()}
    assert release.receipt.faults(files_of(house)) == []
    assert house.verify().sound
    (files_of(house) / listed["notes.txt"].digest).write_bytes(b"m")
    (files_of(house) / hashlib.sha256(b"half").hexdigest()).unlink()
    (fault,) = release.receipt.faults(files_of(house))
    assert "notes.txt" in fault
    assert "altered" in fault
    report = house.verify()
    assert [problem.code for problem in report.problems] == ["SRD-L076"] * 2
    said = sorted(problem.reason for problem in report.problems)
    assert "notes.txt" in said[0]
    assert "weights.bin" in said[1]
    assert "missing" in said[1]


def test_a_large_body_is_a_file_and_comes_back_from_it(house: House) -> None:
    large, small = "x" * (64 * 1024), "x" * 1000
    account = opened(house)
    first = account.carry_out(Rehearsal(PLAYERS), lambda _: Noisy(large))
    second = account.carry_out(Rehearsal(PLAYERS), lambda _: Noisy(small))
    body = first.to_json().encode()
    digest = hashlib.sha256(body).hexdigest()
    assert [each.name for each in files_of(house).iterdir()] == [digest]
    identifier = json.loads(first.receipt.reserved)["id"]
    assert house.ledger.release(identifier) == body
    assert first.receipt.release is None
    assert second.receipt.release == second.to_json().encode()
    verify_receipt(first.receipt, house.ledger.key.text, body)
    with pytest.raises(LedgerError, match="SRD-L010"):
        verify_receipt(first.receipt, house.ledger.key.text, body[:-1])
    assert house.verify().sound
    (files_of(house) / digest).write_bytes(body[:-1])
    with pytest.raises(LedgerError, match="SRD-L076"):
        house.ledger.release(identifier)
    assert [problem.code for problem in house.verify().problems] == ["SRD-L076"]


def test_without_a_place_large_plans_are_refused_before_the_charge(tmp_path: Path) -> None:
    from sordino.ledger.files import FileStore

    with so.open(tmp_path / "budget.db") as house:
        account = opened(house)
        house.ledger._releases.files = FileStore(None)
        with pytest.raises(ArgumentError, match="SRD-L075"):
            account.begin(LARGE)
        assert len(entries(house)) == 1
        release = account.carry_out(Rehearsal(PLAYERS), lambda _: Noisy("x" * 100_000))
        assert release.receipt.release == release.to_json().encode()
        with pytest.raises(ArgumentError, match="SRD-L075"):
            account.carry_out(Rehearsal(PLAYERS), lambda _: Noisy("", {"undeclared": b""}))
        assert isinstance(entries(house)[-1], Failed)
        assert house.verify().sound


def test_files_lie_where_they_are_said_to(tmp_path: Path) -> None:
    with so.open(tmp_path / "budget.db", files=tmp_path / "elsewhere" / "files") as house:
        opened(house).carry_out(LARGE, lambda _: Noisy("", {"a": b"a"}))
        assert (tmp_path / "elsewhere" / "files" / hashlib.sha256(b"a").hexdigest()).read_bytes() == b"a"
        with pytest.raises(ArgumentError, match="a file is named"):
            opened(house).carry_out(LARGE, lambda _: Noisy("", {"../a": b"a"}))


# ---- relations -----------------------------------------------------------------------------------------------------


def test_one_account_in_memory_under_replace_one_takes_both(rides: Any) -> None:
    account = Account(so.budget(epsilon=3))
    survey = Orchestra("survey", Unit("rider"), Neighbours.REPLACE_ONE)
    answers = Rehearsal(Bound.scalar(neighbours=Neighbours.REPLACE_ONE, unit=Unit("rider")))
    so.account(survey, account).carry_out(answers, lambda _: Noisy("yes"))
    so.account(rides, account).sql("SELECT COUNT(*) AS n FROM rides").run(epsilon=1)
    assert account.spent_as()[0] == pytest.approx(2.1)
    assert [entry.bound.neighbours for entry in account.history] == [Neighbours.REPLACE_ONE, Neighbours.ADD_REMOVE]
    with pytest.raises(ArgumentError, match="do not add up"):
        so.account(Orchestra("others"), account)


def test_an_account_under_add_remove_refuses_the_reverse(rides: Any) -> None:
    account = Account(so.budget(epsilon=3))
    so.account(rides, account)
    with pytest.raises(ArgumentError, match="replace-one takes what runs under add-remove"):
        so.account(Orchestra("survey", Unit("rider"), Neighbours.REPLACE_ONE), account)


def test_open_ledgers_know_nothing_of_memory(tmp_path: Path) -> None:
    with Ledger.open(tmp_path / "ledger.db") as ledger:
        assert ledger.recorded("1-" + "0" * 32, 1) is None
