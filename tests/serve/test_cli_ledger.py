"""The command line of auditors and owners: ledger, receipt, token, serve."""

from __future__ import annotations

import shutil
import sqlite3
from pathlib import Path

import pytest
import typer

from serve.commanding import COUNT, Commands, commands_in
from serve.places import OWNER
from sordino import __main__ as whole
from sordino.accounting.columns import Columns
from sordino.ledger.ledger import Ledger
from sordino.ledger.repricing import _due
from sordino.ledger.witness import NoWitness
from sordino.serve import running
from sordino.serve.keeping.shutting_out import shut_everybody_out
from sordino.serve.refusals import UnauthenticatedError
from sordino.serve.service import Service
from sordino.serve.settings import Settings


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A ledger with two answers, to be copied."""
    place = tmp_path_factory.mktemp("kept")
    with pytest.MonkeyPatch.context() as patch:
        run = commands_in(place, patch)
        run.begin()
        run("ask", COUNT, "--epsilon", "0.5", "--receipt", "r.json")
        run("ask", COUNT, "--epsilon", "0.5")
    return place


@pytest.fixture
def run(kept: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Commands:
    shutil.copytree(kept, tmp_path, dirs_exist_ok=True)
    return commands_in(tmp_path, monkeypatch)


def test_a_sound_ledger_is_said_to_be(run: Commands) -> None:
    assert "sound: 5 entries" in run("ledger", "verify")
    assert "prices were not checked" in run("ledger", "verify")
    assert run.json("ledger", "verify") == {
        "verdict": "sound",
        "sound": True,
        "size": 5,
        "repriced": False,
        "problems": [],
    }
    assert "every charge covers its event, priced again" in run("ledger", "verify", "--reprice")
    assert run.json("ledger", "verify", "--reprice")["repriced"]
    key = (run.directory / "budget.db.pub").read_text().strip()
    assert "sound: 5" in run("ledger", "verify", "--place", "budget.db", "--key", key, "--witness", "budget.db.witness")


def test_forks_are_told_on_the_command_line(run: Commands, tmp_path: Path) -> None:
    directory = run.directory
    with Ledger.open(directory / "budget.db", witness=NoWitness("an auditor looks")) as ledger:
        (directory / "small").write_text(ledger.checkpoint())
    for suffix in ("", ".key", ".pub"):
        shutil.copy(directory / f"budget.db{suffix}", tmp_path / f"copy.db{suffix}")
    run("ask", COUNT, "--epsilon", "0.25", "--receipt", "large")
    with Ledger.open(tmp_path / "copy.db", witness=NoWitness("somebody goes another way")) as copy:
        for _ in range(2):
            copy.mark()
        (directory / "forked").write_text(copy.checkpoint())
    key = (directory / "budget.db.pub").read_text().strip()
    assert "one history" in run("ledger", "compare", "small", "large")
    assert run.json("ledger", "compare", "r.json", "small", "--key", key, code=1)["verdict"] == "undecided"
    assert "A FORK" in run("ledger", "compare", "large", "forked", code=1)
    assert "A FORK" in run("ledger", "compare", "large", "forked", "--key", key, code=1)


def test_an_auditor_needs_no_signing_key(run: Commands) -> None:
    (run.directory / "budget.db.key").unlink()
    (run.directory / "sordino.yaml").unlink()
    assert "sound: 5" in run("ledger", "verify", "--place", "budget.db")


@pytest.mark.parametrize(
    ("change", "position"),
    [
        ("UPDATE {table} SET body = CAST(replace(body, '500000000000', '400000000000') AS BLOB) WHERE {place} = 1", 1),
        ("DELETE FROM {table} WHERE {place} = 3", 3),
    ],
)
def test_the_first_bad_entry_is_named(run: Commands, change: str, position: int) -> None:
    connection = sqlite3.connect(run.directory / "budget.db")
    table, place = _entries(connection)
    connection.execute(change.format(table=table, place=place))
    connection.commit()
    connection.close()
    assert f"NOT SOUND: entry {position}: " in run("ledger", "verify", code=1)
    assert run.json("ledger", "verify", code=1)["problems"][0]["position"] == position


def test_a_lost_witness_shows(run: Commands) -> None:
    (run.directory / "budget.db.witness").unlink()
    assert "no memory" in run("ledger", "verify", code=1)


_FILES = ("budget.db", "budget.db-wal", "budget.db-shm")


def _copy(directory: Path) -> None:
    for name in _FILES:
        if (directory / name).exists():
            shutil.copy(directory / name, directory / f"old-{name}")


def _put_back(directory: Path) -> None:
    for name in _FILES:
        (directory / name).unlink(missing_ok=True)
        if (directory / f"old-{name}").exists():
            shutil.copy(directory / f"old-{name}", directory / name)


def test_an_old_copy_is_frozen_until_restored(run: Commands, capsys: pytest.CaptureFixture[str]) -> None:
    _copy(run.directory)
    run("ask", COUNT, "--epsilon", "1")
    _put_back(run.directory)
    assert "NOT SOUND: entry 5: it is missing" in run("ledger", "verify", code=1)
    assert "SRD-L061" in run.refused(capsys, "ask", COUNT, "--epsilon", "0.1")
    words = ("ledger", "restore", "--by", "olga", "--reason", "a disk failed")
    run(*words, code=1, answer="n\n")
    assert "2 lost, burnt for: data set 'trips'" in run(*words, "--yes")
    assert "sound: 6" in run("ledger", "verify")
    assert run.json("budget")["budgets"][0]["used"] == pytest.approx(2 / 3)
    assert "by olga, as sordino.invalid/ledger/" in run("ledger", "show")
    assert "not frozen" in run.refused(capsys, *words, "--yes")


@pytest.mark.parametrize("keep", [False, True])
def test_no_backup_brings_back_who_was_shut_out(run: Commands, capsys: pytest.CaptureFixture[str], keep: bool) -> None:
    settings = Settings.load(run.directory / "sordino.yaml")
    with Service.open(settings) as service:
        token = service.issue_token(OWNER, "ann", "analyst")
        service.admit(OWNER, "bob", "analyst")
    _copy(run.directory)
    with Service.open(settings) as service:
        service.revoke_token(OWNER, service.tokens(OWNER)[0]["id"])
        service.dismiss(OWNER, "bob")
    _put_back(run.directory)
    assert "SRD-L061" in run.refused(capsys, "ask", COUNT, "--epsilon", "0.1")  # though nothing was spent since
    said = run("ledger", "restore", "--by", "olga", "--reason", "a disk failed", "--yes", *["--keep-access"] * keep)
    assert ("1 tokens are revoked and 1 members dismissed" in said) is not keep
    with Service.open(settings) as service:
        assert [each["state"] for each in service.tokens(OWNER)] == ["good" if keep else "revoked"]
        assert bool(service.members(OWNER)) is keep
        if not keep:
            with pytest.raises(UnauthenticatedError):
                service.identities.of_token(token)


def test_everybody_is_shut_out_before_an_old_copy_goes_on(run: Commands, monkeypatch: pytest.MonkeyPatch) -> None:
    settings = Settings.load(run.directory / "sordino.yaml")
    with Service.open(settings) as service:
        service.issue_token(OWNER, "ann", "analyst")
    _copy(run.directory)
    with Service.open(settings) as service:
        service.revoke_token(OWNER, service.tokens(OWNER)[0]["id"])
    _put_back(run.directory)

    def killed(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(Ledger, "restore", killed)
        run("ledger", "restore", "--by", "olga", "--reason", "a disk failed", "--yes", code=130)
    with Service.open(settings) as service:
        assert [each["state"] for each in service.tokens(OWNER)] == ["revoked"]


def test_who_thaws_the_ledger_shuts_nobody_out(run: Commands) -> None:
    settings = Settings.load(run.directory / "sordino.yaml")
    with Service.open(settings) as service:
        service.issue_token(OWNER, "ann", "analyst")
        service.ledger.freeze("SRD-L064")
    assert "revoked" not in run("ledger", "restore", "--by", "olga", "--reason", "looked at", "--yes")
    with Service.open(settings) as service:
        assert [each["state"] for each in service.tokens(OWNER)] == ["good"]


def test_a_ledger_without_a_service_has_nobody_to_shut_out(tmp_path: Path) -> None:
    place = str(tmp_path / "alone.db")
    with Ledger.open(place):
        assert shut_everybody_out(place, "olga") is None


def test_entries_are_shown(run: Commands) -> None:
    said = run("ledger", "show")
    assert "dataset:trips by " in said
    assert "charged to dataset:trips" in said
    newest = run.json("ledger", "show", "--last", 2)
    assert [entry["sequence"] for entry in newest["entries"]] == [3, 4]
    assert newest["size"] == 5


@pytest.mark.parametrize(
    ("words", "remedy"),
    [
        (("ledger", "verify", "--place", "nothing.db"), "no ledger nothing.db"),
        (("ledger", "verify", "--key", "nonsense"), "cannot be read"),
        (("ledger", "verify", "--key", "a+b+c"), "not a verifying key"),
        (("ledger", "verify", "--place", "postgresql://nowhere/at"), "give --key"),
        (("ledger", "show", "--place", "trips.parquet"), "SRD-L05"),
        (("receipt", "verify", "nothing.json", "--key", "budget.db.pub"), "cannot be read"),
        (("receipt", "verify", "r.json", "--key", "trips.yaml"), "not a verifying key"),
        (("receipt", "verify", "r.json", "--key", "budget.db.pub", "--release", "nothing"), "cannot be read"),
        (("receipt", "show", "nothing"), "no such release"),
        (("token", "issue", "ann"), "--every-dataset"),
        (("token", "revoke", "nothing"), "no token"),
        (("serve", "--port", "99999"), "port"),
        (("serve", "-C", "nowhere"), "sordino init"),
    ],
)
def test_mistakes_are_refused(run: Commands, capsys, words, remedy) -> None:  # type: ignore[no-untyped-def]
    assert remedy in run.refused(capsys, *words)
    assert not (run.directory / "nothing.db").exists()


def test_receipts_hold_or_do_not(run: Commands) -> None:
    words = ("receipt", "verify", "r.json", "--key", "budget.db.pub")
    holds = run.json(*words)
    assert holds["holds"]
    receipt = run.directory / "r.json"
    assert run("receipt", "show", holds["id"]).startswith("{")
    (run.directory / "again.json").write_text(run("receipt", "show", holds["id"]) + "\n")
    assert "holds: " in run("receipt", "verify", "again.json", "--key", "budget.db.pub")
    (run.directory / "other.txt").write_text("another release")
    assert "DOES NOT HOLD: the release was altered" in run(*words, "--release", "other.txt", code=1)
    receipt.write_text(receipt.read_text().replace("rider", "Rider"))
    assert run.json(*words, code=1)["code"] in ("SRD-L009", "SRD-L010")
    receipt.write_text("{}")
    assert "SRD-L008" in run(*words, code=1)


def test_who_charges_too_little_is_found_out(run: Commands, monkeypatch: pytest.MonkeyPatch) -> None:
    words = ("receipt", "verify", "r.json", "--key", "budget.db.pub")
    said = run(*words)
    assert "priced again: data set 'trips' in all of its " in said
    assert "not checked: that all charges together kept within the budget" in said
    assert run.json(*words)["not_checked"]
    real = Columns.charge
    with monkeypatch.context() as patch:  # the owner's accounting is another than everybody's
        patch.setattr(Columns, "charge", lambda columns, event: (*real(columns, event)[:-1], 1))
        run("ask", COUNT, "--epsilon", "0.5", "--receipt", "cheap.json")
    words = ("receipt", "verify", "cheap.json", "--key", "budget.db.pub")
    _due.cache_clear()
    assert "DOES NOT HOLD: data set 'trips' was charged less than its event costs" in run(*words, code=1)
    assert run.json(*words, code=1)["code"] == "SRD-L074"
    assert "sound: " in run("ledger", "verify")
    assert "NOT SOUND: entry " in run("ledger", "verify", "--reprice", code=1)


def test_tokens_come_and_go(run: Commands) -> None:
    token = run("token", "issue", "ann", "--dataset", "trips", "--days", 3).strip()
    assert token.startswith("sordino_")
    assert run.json("token", "issue", "ada", "--role", "auditor")["token"] != token
    listed = run("token", "list")
    assert token not in listed
    assert "analyst" in listed
    found = next(each for each in run.json("token", "list")["tokens"] if each["subject"] == "ann")
    assert (found["datasets"], found["state"]) == (["trips"], "good")
    run("token", "revoke", found["id"])
    assert {each["state"] for each in run.json("token", "list")["tokens"]} == {"good", "revoked"}


def test_serve_starts_the_service_of_a_directory(run: Commands, monkeypatch: pytest.MonkeyPatch) -> None:
    started = []
    monkeypatch.setattr(running, "serve", started.append)
    run("serve", "--port", 8123)
    (settings,) = started
    assert (settings.host, settings.port) == ("127.0.0.1", 8123)
    assert settings.database == str(run.directory / "budget.db")


def test_every_option_of_every_command_is_described() -> None:
    page = (Path(__file__).parents[2] / "docs" / "reference" / "cli.md").read_text()
    for name, group in typer.main.get_command(whole.app).commands.items():  # type: ignore[attr-defined]
        for verb, command in getattr(group, "commands", {"": group}).items():
            assert f"`sordino {name} {verb}".rstrip() in page
            options = {option for item in command.params for option in item.opts if option.startswith("--")}
            assert not {option for option in options if f"`{option}`" not in page}, (name, verb)


def _entries(connection: sqlite3.Connection) -> tuple[str, str]:
    """Return the table of entries and the column of their positions."""
    tables = [row[0] for row in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
    for table in tables:
        columns = [row[1] for row in connection.execute(f"PRAGMA table_info({table})")]
        if "body" in columns and "entr" in table:
            return table, columns[0]
    raise AssertionError(tables)
