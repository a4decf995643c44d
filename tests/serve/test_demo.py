"""The demo: the whole story happens, is checked as it does, and leaves a folder in which all commands work."""

from __future__ import annotations

import io
import re
import shutil
from pathlib import Path

import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest
from fastapi.testclient import TestClient
from rich.console import Console
from typer.testing import CliRunner

from serve.commanding import Commands
from sordino.serve import cli
from sordino.serve.app import create_app
from sordino.serve.commands.place import settings_in
from sordino.serve.demo import showing, story
from sordino.serve.demo.drawing import Whisker, spending, whiskers
from sordino.serve.demo.rides import DECLARATIONS, QUESTIONS, RIDERS, write_rides
from sordino.serve.demo.story import UnexpectedError
from sordino.serve.keeping.identity import local_owner
from sordino.serve.service import Service

MAKEFILE = Path(__file__).parent.parent.parent / "Makefile"


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """A folder in which the story happened, and what was said; to be copied by whoever changes it."""
    folder = tmp_path_factory.mktemp("demo") / "rides"
    result = CliRunner().invoke(cli.app, ["demo", str(folder)], catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return folder, result.stdout


@pytest.fixture
def run(told: tuple[Path, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Commands:
    """The command line in a copy of the folder."""
    shutil.copytree(told[0], tmp_path / "copy")
    monkeypatch.chdir(tmp_path / "copy")
    for name in ("SORDINO_URL", "SORDINO_TOKEN", "SORDINO_DATABASE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("COLUMNS", "200")
    return Commands(tmp_path / "copy", monkeypatch)


def test_the_whole_story_is_told(told: tuple[Path, str]) -> None:
    folder, said = told
    places = [said.index(f"{number}  {question.title}") for number, question in enumerate(QUESTIONS, start=1)]
    assert places == sorted(places)
    for question, following in zip(places, [*places[1:], len(said)], strict=True):
        part = said[question:following]
        assert 0 < part.index("price") < part.index("expect") < part.index("budget  █"), "the price comes first"
        assert "± " in part or " … " in part
    for words in (
        r"✗ refused: this question costs epsilon = 1, and of the budget .* is used;\s+epsilon=0\.\d+ would fit",
        r"left for one question: ε up to 0\.\d+",
        r"entries +13, each replayed",
        r"checkpoint +of 13 entries, signed by sordino\.invalid/ledger/[0-9a-f]{32} ",
        r"witness +has seen nothing that this ledger does not extend\n +✓ sound",
        r"charged data set 'rides' at position 1",
        r"✓ holds",
        r"✗ entry \d+: it was altered",
        r"✓ found",
        r"of 29 intervals at 95 % \d+ hold what is true",
        r"report with plots: \S",
    ):
        assert re.search(words, said), words
    assert "\x1b" not in said
    assert str(folder) in said


def test_on_a_terminal_it_has_colours() -> None:
    told = io.StringIO()
    showing.Shown(Console(file=told, force_terminal=True, width=90, color_system="truecolor"))._mark("✓", "green", "ok")
    assert "\x1b[" in told.getvalue()


def test_all_commands_work_in_the_folder(run: Commands, capsys: pytest.CaptureFixture[str]) -> None:
    (budget,) = run.json("budget")["budgets"]
    assert (budget["name"], budget["unit"], budget["epsilon"], budget["delta"]) == ("rides", "rider_id", 2, 1e-9)
    assert 0.85 < budget["used"] < 0.9
    assert [(each["analyst"], each["charges"]) for each in budget["by_analyst"]] == [("ann", 6)]
    assert "sound: 13 entries" in run("ledger", "verify")
    again = ("--place", "altered.db", "--key", "budget.db.pub", "--witness", "budget.db.witness")
    assert "NOT SOUND: entry " in run("ledger", "verify", *again, code=1)
    assert "holds: " in run("receipt", "verify", "receipt.json", "--key", "budget.db.pub")
    question = "SELECT COUNT(*) AS rides FROM rides"
    assert "release " in run("ask", question, "--epsilon", "0.1")
    refused = run.refused(capsys, "ask", question, "--epsilon", "1", code=3)
    assert "does not fit" in refused or "is used" in refused
    assert run.json("ledger", "verify")["size"] == 15


def test_the_service_starts_in_the_folder(run: Commands) -> None:
    with Service.open(settings_in(run.directory)) as service, TestClient(create_app(service)) as client:
        token = service.issue_token(local_owner(), "ann", "analyst", ["rides"])
        found = client.get("/api/v1/releases", headers={"Authorization": f"Bearer {token}"}).json()["releases"]
        assert len(found) == len(QUESTIONS)


def test_a_folder_that_is_not_empty_is_left_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys) -> None:  # type: ignore[no-untyped-def]
    (tmp_path / "mine.txt").write_text("mine")
    said = Commands(tmp_path, monkeypatch).refused(capsys, "demo", tmp_path)
    assert "is not empty" in said
    assert [path.name for path in tmp_path.iterdir()] == ["mine.txt"]


def test_a_budget_that_does_not_hold_ends_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(story, "QUESTIONS", QUESTIONS[1:2])
    result = CliRunner().invoke(cli.app, ["demo", str(tmp_path / "rides")])
    assert result.exit_code == 1
    assert "NOT AS IT SHOULD BE: the seventh question is said to fit" in result.stdout


def test_an_altered_byte_that_nobody_finds_ends_it(told: tuple[Path, str], monkeypatch: pytest.MonkeyPatch) -> None:
    sound = story.verified(told[0], told[0] / "budget.db")
    monkeypatch.setattr(story, "verified", lambda *_: sound)
    with pytest.raises(UnexpectedError, match="nobody noticed"):
        story._alter(told[0])


def test_the_sample_is_the_same_everywhere_and_within_its_declarations(tmp_path: Path) -> None:
    for name in ("one", "two"):
        write_rides(tmp_path / name)
    one, two = (pq.read_table(tmp_path / name) for name in ("one", "two"))
    assert one == two
    rides = pc.value_counts(one["rider_id"]).field("counts")
    assert (len(rides), pc.max(rides).as_py()) == (RIDERS, 5)
    assert 0 <= pc.min(one["minutes"]).as_py() <= pc.max(one["minutes"]).as_py() <= 90
    assert pc.max(one["kilometres"]).as_py() <= 25
    assert all(name in DECLARATIONS for name in pc.unique(one["district"]).to_pylist())


def test_the_report_needs_nothing_from_elsewhere(told: tuple[Path, str]) -> None:
    page = (told[0] / "report.html").read_text()
    assert page.count("<section>") == 11
    assert page.count("<svg") == 5
    assert not re.search(r"https?://|<script|<img|url\(", page)
    assert "prefers-color-scheme:dark" in page
    assert page.count("<details><summary>Details") == len(QUESTIONS)
    assert "An altered byte is found" in page
    assert not re.search(r"\b(nan|inf)\b", page)


def test_pictures_stay_within_their_frame() -> None:
    rows = [Whisker("a & b", 1.0, -float("inf"), 3.0, 2.0), Whisker("c", 5.0, 4.0, 6.0, 4.5)]
    picture = whiskers("a <title>", rows, zero=True)
    places = [float(place) for place in re.findall(r'c?x[12]?="(-?[\d.]+)"', picture)]
    assert all(0 <= place <= 640 for place in places)
    assert "a &amp; b" in picture
    assert "a &lt;title&gt;" in picture
    assert spending("budget", [0.2, 0.21], 0.9).count("<rect") == 3


def test_make_demo_is_the_same_story() -> None:
    recipe = re.search(r"^demo: .*\n((?:\t.*\n)+)", MAKEFILE.read_text(), flags=re.MULTILINE)
    assert recipe is not None
    assert recipe[1].split() == ["@rm", "-rf", "demo-out", "@$(BIN)/sordino", "demo", "demo-out"]
