"""The command line from the first file to an answer: init, declare, ask, budget."""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path

import pytest

import sordino as so
from serve.commanding import COUNT, DECLARED, Commands, commands_in
from serve.places import CANARY_NUMBER, CANARY_TEXT, OWNER
from sordino.errors import ArgumentError, LedgerError, RunError, SourceError, UnsupportedError
from sordino.gate import ApprovalError
from sordino.serve import cli
from sordino.serve.commands.budget import bar, sparkline
from sordino.serve.commands.place import cell, settings_in
from sordino.serve.service import Service

INIT = ("init", "trips.parquet", "--unit", "rider", "--epsilon", "3")


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Commands:
    return commands_in(tmp_path, monkeypatch)


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory in which trips have a budget of ε = 1, to be copied."""
    place = tmp_path_factory.mktemp("begun")
    with pytest.MonkeyPatch.context() as patch:
        commands_in(place, patch).begin("1")
    return place


@pytest.fixture
def begun(run: Commands, template: Path) -> Commands:
    shutil.copytree(template, run.directory, dirs_exist_ok=True)
    return run


def test_init_proposes_without_values_and_asks_before_it_writes(run: Commands) -> None:
    before = set(run.directory.iterdir())
    said = run(*INIT, code=1, answer="n\n")
    assert set(run.directory.iterdir()) == before
    assert "#   fare: {bounds: [low, high]}  # real" in said
    for word in (CANARY_TEXT, str(CANARY_NUMBER), "Oslo", "Rome"):
        assert word not in said
    run(*INIT, answer="y\n")
    text = (run.directory / "trips.yaml").read_text()
    assert "name: trips\nunit: rider\nsource: trips.parquet\n" in text
    assert so.dataset_from_file("trips.yaml").unit.name == "rider"
    assert (run.directory / "sordino.yaml").read_text().endswith("database: budget.db\ndata: .\n")
    (budget,) = run.json("budget")["budgets"]
    assert (budget["name"], budget["epsilon"], budget["delta"], budget["used"]) == ("trips", 3, 0, 0)


def test_what_is_proposed_can_be_filled_in(run: Commands) -> None:
    run(*INIT, "--yes")
    proposed = (run.directory / "trips.yaml").read_text()
    filled = "\n".join(line.removeprefix("# ") for line in proposed.splitlines() if ": {" in line or "columns:" in line)
    for old, new in (("most", "5"), ("low, high", "0, 100"), ("first, second", "Oslo, Rome")):
        filled = filled.replace(old, new)
    (run.directory / "trips.yaml").write_text(proposed + filled)
    assert "4 columns, protects each rider, ε = 3" in run("declare", "trips.yaml")
    assert "± " in run("ask", COUNT, "--epsilon", "1", "--dry-run")


def test_init_works_from_elsewhere_and_beside_what_is_there(run: Commands, tmp_path: Path) -> None:
    place = tmp_path / "place"
    place.mkdir()
    words = ("--directory", place, "--yes", "--delta", "1e-6")
    run(*INIT, *words)
    assert f"data: {tmp_path.resolve()}" in (place / "sordino.yaml").read_text()
    run(*INIT, *words, "--name", "rides", "--unit", "row")
    assert [each["name"] for each in run.json("budget", "-C", place)["budgets"]] == ["rides", "trips"]
    question = "SELECT COUNT(*) AS n FROM rides"
    assert "release " in run("ask", question, "--epsilon", 1, "--dataset", "rides", "-C", place)


def test_patterns_are_called_as_their_directory_is(run: Commands) -> None:
    parts = run.directory / "parts-of-it"
    parts.mkdir()
    (run.directory / "trips.parquet").rename(parts / "one.parquet")
    run("init", "parts-of-it/*.parquet", "--unit", "rider", "--epsilon", "1", "--yes")
    assert "source: parts-of-it/*.parquet" in (run.directory / "parts_of_it.yaml").read_text()


@pytest.mark.parametrize(
    ("words", "remedy"),
    [
        ((*INIT, "--epsilon", "-1"), "epsilon"),
        (("init", "nothing.parquet", "--unit", "rider", "--epsilon", "1"), "no file matches"),
        (("init", "trips.parquet", "--unit", "driver", "--epsilon", "1"), "driver"),
        (("init", "postgresql://host/base", "--unit", "rider", "--epsilon", "1"), "--name"),
        ((*INIT, "--name", "sordino/../x"), "name"),
        ((*INIT, "--directory", "nowhere"), "no directory"),
        ((*INIT, "--name", "sordino"), "something else"),
        (("ask", COUNT, "--epsilon", "1"), "sordino init"),
        (("ask", COUNT, "--error", "much"), "0.05 of fare"),
        (("ask", COUNT, "--error", "fare"), "0.05 of fare"),
        (("ask", COUNT, "--epsilon", "1", "--receipt", "nowhere/r.json"), "another file"),
        (("ask", COUNT, "--epsilon", "1", "--url", "https://example.org"), "token"),
        (("ask", COUNT, "--epsilon", "1", "--token", "x"), "url"),
        (("ask", COUNT, "--epsilon", "1", "--token", "x", "--url", "http://example.org"), "https://"),
        (("declare", "nothing.yaml"), "sordino init"),
        (("budget",), "sordino init"),
    ],
)
def test_mistakes_are_refused_and_leave_nothing_behind(run: Commands, capsys, words, remedy) -> None:  # type: ignore[no-untyped-def]
    before = set(run.directory.iterdir())
    assert remedy in run.refused(capsys, *words, code=4 if "driver" in words else 2)
    assert set(run.directory.iterdir()) == before


def test_init_writes_over_nothing(run: Commands, capsys: pytest.CaptureFixture[str]) -> None:
    (run.directory / "trips.yaml").write_text("mine")
    assert "exists already" in run.refused(capsys, *INIT, "--yes")
    assert (run.directory / "trips.yaml").read_text() == "mine"
    assert not (run.directory / "budget.db").exists()


def test_a_price_charges_nothing_and_an_answer_what_was_said(begun: Commands) -> None:
    said = begun("ask", COUNT, "--epsilon", "0.5", "--dry-run")
    assert "price: ε = 0.5" in said
    assert "nothing was charged" in said
    assert begun.json("ask", COUNT, "--epsilon", "0.5", "--dry-run")["fits"]
    assert begun.json("budget")["budgets"][0]["used"] == 0
    shown = begun("ask", COUNT, "--epsilon", "0.5", "--receipt", "r.json")
    assert "rides" in shown
    assert "± " in shown
    assert "note: " in shown
    assert begun.json("budget", "--dataset", "trips")["budgets"][0]["used"] == 0.5
    assert "holds: " in begun("receipt", "verify", "r.json", "--key", "budget.db.pub")


def test_goals_reach_the_planner(begun: Commands) -> None:
    aimed = begun.json("ask", COUNT, "--error", "50 of rides", "--confidence", "0.9", "--dry-run")
    assert aimed["columns"][0]["half_widths"]["100"] <= 50
    assert aimed["confidence"] == 0.9
    mean = "SELECT AVG(fare) AS fare FROM trips"
    assert float(begun.json("ask", mean, "--error", "5 of fare in groups of 1000", "--dry-run")["epsilon"]) > 0
    assert float(begun.json("ask", COUNT, "--noise", "40", "--dry-run")["epsilon"]) > 0


def test_the_same_key_is_charged_once(begun: Commands) -> None:
    words = ("ask", COUNT, "--epsilon", "0.5", "--key", "monday")
    first, again = begun.json(*words), begun.json(*words)
    assert (first["answer"], first["replayed"], again["replayed"]) == (again["answer"], False, True)
    assert "nothing was charged" in begun(*words)
    assert begun.json("budget")["budgets"][0]["by_analyst"][0]["charges"] == 1


def test_what_does_not_fit_is_refused_with_what_would(begun: Commands, capsys: pytest.CaptureFixture[str]) -> None:
    assert "would fit: epsilon = " in begun("ask", COUNT, "--epsilon", "2", "--dry-run")
    said = begun.refused(capsys, "ask", COUNT, "--epsilon", "2", "--receipt", "r.json", code=3)
    assert "would fit" in said
    assert not (begun.directory / "r.json").exists()
    assert "SRD-Q" in begun.refused(capsys, "ask", "SELECT * FROM trips", "--epsilon", "0.1", code=4)


@pytest.mark.usefixtures("begun")
def test_programs_read_refusals_as_json(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(sys, "argv", ["sordino", "ask", COUNT, "--epsilon", "5", "--json"])
    with pytest.raises(SystemExit) as end:
        cli.main()
    said = capsys.readouterr()
    assert end.value.code == 3
    assert json.loads(said.out)["error"]["code"] == "SRD-B001"
    assert "refused:" in said.err


@pytest.mark.parametrize(
    ("kind", "code"),
    [(ArgumentError, 2), (ApprovalError, 3), (UnsupportedError, 4), (RunError, 5), (SourceError, 6), (LedgerError, 2)],
)
def test_what_a_script_does_next_follows_from_the_exit_code(run: Commands, monkeypatch, capsys, kind, code) -> None:  # type: ignore[no-untyped-def]
    def refuse() -> None:
        raise kind("something", "SRD-A001")

    monkeypatch.setattr(cli, "app", refuse)
    assert "something" in run.refused(capsys, "ask", COUNT, code=code)


def test_a_data_set_must_be_named_where_there_are_several(begun: Commands, capsys: pytest.CaptureFixture[str]) -> None:
    begun("init", "trips.parquet", "--name", "rides", "--unit", "rider", "--epsilon", "1", "--yes")
    assert "there are rides, trips" in begun.refused(capsys, "ask", COUNT, "--epsilon", "0.1")
    assert "release " in begun("ask", COUNT, "--epsilon", "0.1", "--dataset", "trips")


def test_budgets_are_drawn(begun: Commands) -> None:
    for _ in range(2):
        begun("ask", COUNT, "--epsilon", "0.25")
    said = begun("budget")
    assert "█" * 20 + "░" * 20 + " 50 % used" in said
    assert "▆▄" in said
    assert "50 %" in said.splitlines()[-2]
    assert json.loads(begun("budget", "--json"))["budgets"][0]["used"] == 0.5


def test_drawings_are_to_scale() -> None:
    assert bar(0) == "░" * 40
    assert bar(1.5) == "█" * 40
    assert sparkline([1, 0.5, 0]) == "█▄ "
    long = sparkline([1.0] * 599 + [0.0])
    assert (len(long), long[-1]) == (60, " ")


def test_lists_are_shown_too(begun: Commands) -> None:
    said = begun("ask", "SELECT city, QUANTILE(fare, 0.5) AS middle FROM trips GROUP BY city", "--epsilon", "1")
    assert "Oslo" in said


def test_columns_of_csv_files_are_text_until_declared(run: Commands) -> None:
    (run.directory / "rides.csv").write_text("rider,fare,Total Fare\n1,9.5,7\n")
    said = run("init", "rides.csv", "--unit", "rider", "--epsilon", "1", "--yes")
    assert "{kind: real, bounds: [low, high]}" in said
    assert "#   Total Fare: {keys: [first, second]}  # text" in said


def test_budgets_that_begin_anew_say_when(run: Commands, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SORDINO_DATABASE", "other.db")
    assert "no data set yet" in run("budget")
    with Service.open(settings_in(run.directory)) as service:
        service.register(OWNER, DECLARED, {"epsilon": 1, "refresh": "month"})
    said = run("budget")
    assert "begins anew at 20" in said
    assert "░" * 40 + " 0 % used" in said


def test_nothing_that_is_printed_is_obeyed_by_a_terminal() -> None:
    assert cell("a\x1b[31m[bold]b\n") == "a\N{REPLACEMENT CHARACTER}[31m\\[bold]b\n"
