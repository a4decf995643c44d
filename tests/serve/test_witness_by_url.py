"""A witness that is another service: what it remembers, what happens when it is silent, and what it finds out."""

from __future__ import annotations

import shutil
import socket
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import uvicorn
from sqlalchemy import delete

from serve.commanding import commands_in
from serve.places import ANALYST, AUDITOR, COUNT, DECLARATIONS, OWNER, count, settings_at, write_trips
from servers import needs
from sordino.accounting.budget import budget
from sordino.errors import ArgumentError, FrozenError, LedgerError
from sordino.ledger.keys import SigningKey
from sordino.ledger.ledger import Ledger
from sordino.ledger.rule import Rule
from sordino.ledger.scope import Scope
from sordino.ledger.witness import NoWitness, Seen
from sordino.serve.app import create_app
from sordino.serve.http.problems import status_of
from sordino.serve.keeping.tables import WITNESSED
from sordino.serve.refusals import SettingsError, UnknownError
from sordino.serve.service import Service
from sordino.serve.settings import Settings
from sordino.serve.witness.line import MovedError, UnreachedError, WitnessLine
from sordino.serve.witness.witnessing import RemoteWitness


class Elsewhere:
    """Another service on a port of this machine, which can fall silent and answer again."""

    def __init__(self, directory: Path) -> None:
        directory.mkdir()
        self.service = Service.open(settings_at(directory))
        needs("service")
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.port = self._socket.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}"
        self._server: uvicorn.Server | None = None
        self.answer()

    def answer(self) -> None:
        """Begin to listen."""
        if self._socket.fileno() < 0:
            self._socket = socket.create_server(("127.0.0.1", self.port))
        config = uvicorn.Config(create_app(self.service), log_config=None, ws="none", lifespan="off")
        self._server = uvicorn.Server(config)
        self._thread = threading.Thread(target=self._server.run, args=([self._socket],))
        self._thread.start()

    def fall_silent(self) -> None:
        """Stop to listen."""
        assert self._server is not None
        self._server.should_exit = True
        self._thread.join()
        self._socket.close()
        self._server = None

    def token(self, role: str = "auditor") -> str:
        return self.service.issue_token(OWNER, "ledger", role)

    def remembered(self, service: Service) -> dict[str, Any]:
        return self.service.witnessed(OWNER, service.ledger.key.text)

    def close(self) -> None:
        if self._server is not None:
            self.fall_silent()
        self.service.close()


@pytest.fixture
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Elsewhere]:
    found = Elsewhere(tmp_path / "elsewhere")
    monkeypatch.setenv("SORDINO_WITNESS_TOKEN", found.token())
    yield found
    found.close()


def watched(directory: Path, elsewhere: Elsewhere, **changes: Any) -> Service:
    """A service of trips whose witness is another; opened again if it is there."""
    directory.mkdir(exist_ok=True)
    settings = settings_at(directory, witness=elsewhere.url, **{"witness_seconds": 2, **changes})
    write_trips(directory)
    service = Service.open(settings)
    if service.frozen is None and not service.datasets(OWNER):
        service.register(OWNER, DECLARATIONS, {"epsilon": 1})
    return service


def kinds(service: Service) -> list[str]:
    return [entry["kind"] for entry in service.entries(OWNER, 0, 100)]


def test_no_data_is_touched_before_the_witness_knows_of_the_charge(tmp_path: Path, elsewhere: Elsewhere) -> None:
    stages: list[tuple[str, int]] = []
    with watched(tmp_path / "a", elsewhere, witness_seconds=30) as service:

        def stage(name: str) -> None:
            stages.append((name, elsewhere.remembered(service)["size"]))

        service.run(ANALYST, "query", count(0.25), None, stage)
        assert dict(stages)["running"] >= 2  # opened and reserved
        size, key = service.checkpoint(OWNER)["size"], service.ledger.key.text
    with watched(tmp_path / "a", elsewhere) as service:
        assert service.frozen is None
        service.house._watcher.wait()  # what was settled is told at the latest when the ledger is opened again
        with pytest.raises(UnknownError):  # another's token reads nothing of it
            elsewhere.service.witnessed(AUDITOR, key)
        seen = elsewhere.service.witnessed(OWNER, key)
        assert seen["size"] == size == 3
        assert "250000000000" in seen["spent"]["dataset:trips"]
        assert service.verify(AUDITOR)["sound"]
    assert not (tmp_path / "a" / "budget.db.witness").exists()


def test_while_the_witness_is_silent_nothing_is_charged_or_answered(tmp_path: Path, elsewhere: Elsewhere) -> None:
    with watched(tmp_path / "a", elsewhere) as service:
        service.run(ANALYST, "query", count(0.1))
        elsewhere.fall_silent()
        with pytest.raises(UnreachedError, match="stays charged") as caught:
            service.run(ANALYST, "query", count(0.1), "k")
        assert status_of(caught.value) == 503
        assert kinds(service) == ["opened", "reserved", "settled", "reserved", "failed"]
        with pytest.raises(UnreachedError, match="nothing was charged"):
            service.run(ANALYST, "query", count(0.1))
        assert len(kinds(service)) == 5
        assert service.price(ANALYST, "query", count(0.1))["fits"]
        elsewhere.answer()
        _eventually(lambda: elsewhere.remembered(service)["size"] == 5)
        assert service.run(ANALYST, "query", count(0.1))["answer"]
        assert service.budget(OWNER, "trips")["used"] == pytest.approx(0.3)


def test_with_a_grace_answers_go_on_for_a_while(tmp_path: Path, elsewhere: Elsewhere) -> None:
    with watched(tmp_path / "a", elsewhere, witness_grace_seconds=3600) as service:
        elsewhere.fall_silent()
        for _ in range(2):
            assert service.run(ANALYST, "query", count(0.1))["answer"]
        elsewhere.answer()
        _eventually(lambda: elsewhere.remembered(service)["size"] == 5)
    elsewhere.fall_silent()
    with pytest.raises(UnreachedError):  # at the start there is no grace
        watched(tmp_path / "a", elsewhere, witness_grace_seconds=3600)


def test_a_grace_ends(elsewhere: Elsewhere) -> None:
    clock = [0.0]
    witness = RemoteWitness(WitnessLine(elsewhere.url, "k", "t", 0.1), 0.01, 10.0, lambda: clock[0])
    witness.tell(Seen(1, "note"))
    witness.wait()
    clock[0] = 10.0
    with pytest.raises(UnreachedError, match="stays charged"):
        witness.wait()
    witness.check()  # nobody has tried yet, so nobody knows that it is silent
    witness._fell_silent(UnreachedError("cannot be reached"))
    with pytest.raises(UnreachedError, match="nothing was charged"):
        witness.check()
    witness._acknowledged(1, 10.0)
    witness.check()
    witness.wait()
    witness.close()


def test_an_old_copy_freezes_and_an_owner_of_both_can_go_on(
    tmp_path: Path, elsewhere: Elsewhere, monkeypatch: pytest.MonkeyPatch
) -> None:
    home, copy = tmp_path / "a", tmp_path / "copy"
    watched(home, elsewhere).close()
    shutil.copytree(home, copy)
    with watched(home, elsewhere, witness_seconds=30) as service:
        service.run(ANALYST, "query", count(0.5))
    shutil.rmtree(home)
    shutil.copytree(copy, home)
    with watched(home, elsewhere) as service:
        assert service.frozen is not None
        assert service.frozen.code == "SRD-L061"
        with pytest.raises(FrozenError):
            service.run(ANALYST, "query", count(0.5))
        with pytest.raises(UnreachedError, match="an owner's"):  # an auditor's token is not enough
            service.ledger.restore("olga", "the disk died")
    monkeypatch.setenv("SORDINO_WITNESS_TOKEN", elsewhere.token("owner"))
    with watched(home, elsewhere) as service:
        service.ledger.restore("olga", "the disk died")
        assert elsewhere.remembered(service)["anew"]
        assert service.budget(OWNER, "trips")["used"] >= 0.5
    with watched(home, elsewhere) as service:
        assert service.frozen is None


def test_replicas_tell_one_witness_and_forget_nothing(tmp_path: Path, elsewhere: Elsewhere) -> None:
    quick: dict[str, Any] = {"witness_seconds": 30, "workers": 2}
    with watched(tmp_path / "a", elsewhere, **quick) as first, watched(tmp_path / "a", elsewhere, **quick) as second:
        for number, service in enumerate((first, second, first, second, second, first)):
            service.cap(OWNER, "analyst", f"ann{number}", {"epsilon": 1})
            service.run(ANALYST.__class__(f"ann{number}", "analyst"), "query", count(0.1))
        for service in (first, second):
            service.house._watcher.wait()
        seen = elsewhere.remembered(first)
        assert seen["size"] == first.checkpoint(OWNER)["size"] == 1 + 6 * 3
        assert {f"analyst:ann{number}" for number in range(6)} < seen["spent"].keys()
        assert all("100000000000" in seen["spent"][f"analyst:ann{number}"] for number in range(6))
        assert "600000000000" in seen["spent"]["dataset:trips"]


def test_a_witness_that_forgot_freezes_the_ledger(tmp_path: Path, elsewhere: Elsewhere) -> None:
    with watched(tmp_path / "a", elsewhere, witness_seconds=30) as service:
        with elsewhere.service.house.registry.engine.begin() as connection:
            connection.execute(delete(WITNESSED))
        with pytest.raises(FrozenError) as caught:
            service.run(ANALYST, "query", count(0.1))
        assert caught.value.code == "SRD-L068"
        with pytest.raises(FrozenError):
            service.checkpoint(OWNER)


def test_another_history_freezes_the_ledger(tmp_path: Path, elsewhere: Elsewhere) -> None:
    home, copy = tmp_path / "a", tmp_path / "b"
    watched(home, elsewhere).close()
    shutil.copytree(home, copy)
    with Ledger.open(copy / "budget.db", witness=NoWitness("somebody spends from a copy")) as ledger:
        for day in range(6):
            ledger.open_scope(Scope("project", f"p{day}"), Rule.open(budget(epsilon=1)), by="mallory")
        note, key, signer = ledger.checkpoint(), ledger.key.text, ledger._session.log.key
    with watched(home, elsewhere, witness_seconds=30) as service:
        service.run(ANALYST, "query", count(0.1))
        with watched(copy, elsewhere) as other:
            assert other.frozen is not None
            assert other.frozen.code == "SRD-L062"
        size = elsewhere.remembered(service)["size"]
        line = WitnessLine(elsewhere.url, key, elsewhere.token("owner"), 5, signer=signer)
        with pytest.raises(FrozenError, match="another history"):
            line.tell(Seen(7, note), size, ())
        line.tell(Seen(7, note, anew=True), 0, ())  # and if whoever owns the witness lets the copy be the ledger:
        line.close()
        with pytest.raises(FrozenError) as caught:
            service.run(ANALYST, "query", count(0.1))  # its checkpoint is not taken, as the witness has another now
        assert caught.value.code in ("SRD-L061", "SRD-L062")


def test_what_the_line_makes_of_answers(tmp_path: Path, elsewhere: Elsewhere) -> None:
    with watched(tmp_path / "a", elsewhere) as service:
        key, note, size = service.ledger.key.text, service.ledger.checkpoint(), service.ledger.size
        service.house._watcher.wait()
        signer = service.ledger._session.log.key
    for url, token, words in (
        (elsewhere.url, "sordino_wrong", "does not take this token"),
        (f"{elsewhere.url}/static", elsewhere.token(), "says nothing"),
        (f"{elsewhere.url}/docs/errors?", elsewhere.token(), "not a witness|says nothing"),
        ("http://127.0.0.1:9", elsewhere.token(), "cannot be reached"),
    ):
        line = WitnessLine(url, key, token, 5)
        with pytest.raises(UnreachedError, match=words):
            line.remembered()
        line.close()
    line = WitnessLine(elsewhere.url, key, elsewhere.token(), 5)
    with pytest.raises(LedgerError, match="SRD-L006"):
        line.tell(Seen(size, note), size, ())
    line.signer = SigningKey.generate("somebody.else")
    with pytest.raises(UnreachedError, match="SRD-L006"):
        line.tell(Seen(size, note), size, ())
    line.signer = signer
    with pytest.raises(MovedError):
        line.tell(Seen(size, note), size - 1, ())
    with pytest.raises(UnreachedError, match="owner"):
        line.tell(Seen(size, note, anew=True), 0, ())
    with pytest.raises(UnreachedError, match="SRD-A001"):
        line.tell(Seen(size, note, {"dataset:trips": "much"}), size, ())
    other = WitnessLine(elsewhere.url, key, elsewhere.service.issue_token(OWNER, "other", "auditor"), 5, signer=signer)
    assert other.remembered() is None
    with pytest.raises(MovedError):
        other.tell(Seen(size, note, {"dataset:trips": "1 2"}), size, ())
    other.close()
    line.tell(Seen(size, note, {"dataset:trips": "1 2"}), size, ())
    line.tell(Seen(size, note, {"dataset:trips": "2 1"}), size, ())
    found = line.remembered()
    assert found is not None
    assert found.size == size
    line.close()


def test_settings_of_a_witness_that_is_an_address(
    tmp_path: Path, elsewhere: Elsewhere, monkeypatch: pytest.MonkeyPatch
) -> None:
    for url in ("http://other.example", "ftp://other.example", "https://", "http://[::1"):
        with pytest.raises(SettingsError, match="https"):
            Settings(witness=url)
    assert Settings(witness="https://other.example").witness_url == "https://other.example"
    assert Settings(witness="/elsewhere/w").witness_url is None
    monkeypatch.delenv("SORDINO_WITNESS_TOKEN")
    with pytest.raises(SettingsError, match="token"):
        watched(tmp_path / "a", elsewhere)
    with pytest.raises(SettingsError, match="cannot be read"):
        watched(tmp_path / "a", elsewhere, witness_token_file=str(tmp_path / "none"))
    (tmp_path / "token").write_text(f"{elsewhere.token()}\n")
    with watched(tmp_path / "a", elsewhere, witness_token_file=str(tmp_path / "token")) as service:
        assert service.frozen is None
    with pytest.raises(ArgumentError, match=r"sordino\.yaml"):
        Ledger.open(tmp_path / "another.db", witness="https://other.example")


def test_the_command_line_asks_the_witness(
    tmp_path: Path, elsewhere: Elsewhere, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = tmp_path / "a"
    home.mkdir()
    run = commands_in(home, monkeypatch)
    (home / "sordino.yaml").write_text(f"database: budget.db\ndata: .\nwitness: {elsewhere.url}\n")
    (home / "trips.yaml").write_text(DECLARATIONS)
    run("declare", "trips.yaml", "--epsilon", "1")
    run("ask", COUNT, "--epsilon", "0.5")
    assert elsewhere.url in run("ledger", "verify")
    with elsewhere.service.house.registry.engine.begin() as connection:
        connection.execute(delete(WITNESSED))
    assert "SRD-L068" in run("ledger", "verify", code=1)
    monkeypatch.setenv("SORDINO_WITNESS_TOKEN", elsewhere.token("owner"))
    assert "restored" in run("ledger", "restore", "--by", "olga", "--reason", "the witness was lost", "--yes")
    assert elsewhere.url in run("ledger", "verify")


def _eventually(holds: Callable[[], bool]) -> None:
    for _ in range(600):
        if holds():
            return
        threading.Event().wait(0.05)
    raise AssertionError("it never came to that")


def test_errors_of_a_witness_are_told_as_the_ledger_s() -> None:
    assert isinstance(UnreachedError("silent"), LedgerError)
    assert UnreachedError("silent").code == "SRD-S021"
