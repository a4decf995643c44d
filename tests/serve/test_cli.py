"""The command line, as a person or a script would use it."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest
from typer.testing import CliRunner

from sordino.accounting.events import Gaussian, PoissonSampled, Pure, Repeated
from sordino.errors import ArgumentError, UnsupportedError
from sordino.serve import cli
from sordino.version import VERSION

runner = CliRunner()


def run(*words: str) -> str:
    result = runner.invoke(cli.app, list(words), catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.output


def quotes(*words: str) -> dict[str, float | None]:
    return {quote["calculus"]: quote["epsilon"] for quote in json.loads(run(*words, "--json"))["quotes"]}


def test_a_training_run_is_priced_by_every_accountant() -> None:
    found = quotes("epsilon", "--noise", "4", "--rate", "0.01", "--steps", "10000", "--delta", "1e-5")
    assert found["pure"] is None
    assert found["renyi"] is not None
    assert found["pld"] is not None
    assert 0.94687 <= found["pld"] <= 0.94687 * 1.001
    assert 1.0 < found["renyi"] <= 1.0355


def test_the_table_names_every_accountant_and_says_why_one_is_silent() -> None:
    output = run("epsilon", "--noise", "1", "--mechanism", "laplace", "--steps", "3", "--delta", "1e-6")
    for calculus in ("pure", "basic", "advanced", "optimal", "zcdp", "renyi", "gaussian", "pld"):
        assert calculus in output
    assert "no 'gaussian' curve" in output


def test_figures_are_rounded_away_from_the_truth() -> None:
    words = ("epsilon", "--noise", "3", "--mechanism", "laplace", "--delta", "1e-9")
    pld = next(q for q in json.loads(run(*words, "--json"))["quotes"] if q["calculus"] == "pld")
    row = next(line for line in run(*words).splitlines() if line.startswith("│ pld"))
    epsilon, lower = (float(cell) for cell in row.split("│")[2:4])
    assert lower <= pld["pair_at_least"] <= pld["epsilon"] <= epsilon


def test_pure_needs_no_delta() -> None:
    assert quotes("epsilon", "--noise", "10", "--mechanism", "discrete-laplace", "--steps", "10")["pure"] == 1.0


def test_fixed_batches_are_priced_too() -> None:
    found = quotes("epsilon", "--noise", "5", "--batch", "10", "--population", "1000", "--delta", "1e-5")
    assert found["renyi"] is not None
    assert 0 < found["renyi"] < 1


def test_prices_name_their_neighbours_and_follow_them() -> None:
    words = ("epsilon", "--noise", "4", "--rate", "0.01", "--steps", "100", "--delta", "1e-5")
    assert "for neighbours under add-remove," in run(*words)
    coming = json.loads(run(*words, "--json"))
    staying = json.loads(run(*words, "--relation", "replace-one", "--json"))
    assert coming["neighbours"] == ["add-remove"]
    assert staying["neighbours"] == ["replace-one", "zero-out"]
    ours, theirs = (quote["quotes"][-1]["epsilon"] for quote in (coming, staying))
    assert 1.3 * ours < theirs < 2.5 * ours
    response = ("epsilon", "--noise", "1", "--mechanism", "randomized-response")
    assert json.loads(run(*response, "--json"))["neighbours"] == ["replace-one", "zero-out"]
    for refused in ([*response, "--relation", "add-remove"], [*response, "--rate", "0.01"]):
        with pytest.raises((ArgumentError, UnsupportedError)):
            runner.invoke(cli.app, refused, catch_exceptions=False)


def test_events_of_a_file_are_priced_together(tmp_path) -> None:
    path = tmp_path / "events.jsonl"
    training = Repeated(PoissonSampled(Gaussian("16"), "0.01"), 100)
    path.write_text(f"{training.to_json()}\n\n{Pure('0.25').to_json()}\n", encoding="utf-8")
    found = quotes("epsilon", "--events", str(path), "--delta", "1e-5")
    alone = quotes("epsilon", "--noise", "4", "--rate", "0.01", "--steps", "100", "--delta", "1e-5")
    assert found["pld"] is not None
    assert alone["pld"] is not None
    assert max(alone["pld"], 0.2) < found["pld"] <= alone["pld"] + 0.26


@pytest.mark.parametrize("mechanism", ["gaussian", "laplace", "discrete-laplace", "randomized-response", "exponential"])
def test_noise_is_the_way_back_from_epsilon(mechanism: str) -> None:
    words = ("--mechanism", mechanism, "--steps", "4", "--delta", "1e-6")
    levels = json.loads(run("noise", "--epsilon", "1.5", *words, "--json"))["noise"]
    assert levels
    for calculus, level in levels.items():
        priced = quotes("epsilon", "--noise", repr(level), *words)[calculus]
        assert priced is not None
        assert priced == pytest.approx(1.5, rel=1e-3), calculus
        assert priced <= 1.5 * (1 + 1e-9), calculus


def test_noise_prints_a_table() -> None:
    output = run("noise", "--epsilon", "1", "--delta", "1e-5")
    assert "gaussian" in output
    assert "3.73" in output  # Balle & Wang 2018: σ = 3.730632 at (1, 1e-5)


def test_explain_speaks_plainly_and_draws(tmp_path) -> None:
    picture = tmp_path / "curve.png"
    output = run("explain", "--epsilon", "0.5", "--delta", "1e-9", "--people", "1000000", "--plot", str(picture))
    assert "family of five" in output
    assert picture.read_bytes().startswith(b"\x89PNG")
    assert json.loads(run("explain", "--epsilon", "0.5", "--json"))


@pytest.mark.parametrize(
    ("words", "remedy"),
    [
        (["epsilon", "--delta", "1e-5"], "--noise"),
        (["epsilon", "--noise", "nan"], "noise must be finite"),
        (["epsilon", "--noise", "-1"], "noise must be greater than 0"),
        (["epsilon", "--noise", "1", "--delta", "2"], "delta"),
        (["epsilon", "--noise", "1", "--steps", "0"], "count must be at least 1"),
        (["epsilon", "--noise", "1", "--rate", "1.5"], "rate must be at most 1"),
        (["epsilon", "--noise", "1", "--rate", "0.5", "--batch", "3", "--population", "9"], "not both"),
        (["epsilon", "--noise", "1", "--batch", "3"], "go together"),
        (["epsilon", "--events", "/nowhere/at/all"], "cannot be read"),
        (["noise", "--epsilon", "0"], "epsilon must be greater than 0"),
        (["explain", "--epsilon", "abc"], "epsilon must be a decimal number"),
        (["explain", "--epsilon", "1", "--plot", "/nowhere/at/all.png"], "cannot be written"),
    ],
)
def test_a_mistake_ends_with_exit_code_2_and_names_the_remedy(words, remedy, monkeypatch, capsys) -> None:
    monkeypatch.setattr(sys, "argv", ["sordino", *words])
    with pytest.raises(SystemExit) as exit_info:
        cli.main()
    assert exit_info.value.code == 2
    assert remedy in " ".join(capsys.readouterr().err.split())


def test_a_file_of_nonsense_or_of_nothing_is_refused(tmp_path, monkeypatch, capsys) -> None:
    for text in ("", "not json", '{"kind": "unheard-of"}', "[]", "3"):
        path = tmp_path / "events.jsonl"
        path.write_text(text, encoding="utf-8")
        monkeypatch.setattr(sys, "argv", ["sordino", "epsilon", "--events", str(path)])
        with pytest.raises(SystemExit) as exit_info:
            cli.main()
        assert exit_info.value.code == 2
        assert "SRD-A004" in capsys.readouterr().err


def test_the_installed_command_answers() -> None:
    result = subprocess.run(
        [sys.executable, "-m", "sordino", "explain", "--epsilon", "1"], capture_output=True, text=True, check=False
    )
    assert result.returncode == 0, result.stderr
    assert "ε = 1" in result.stdout


def test_the_version_is_told() -> None:
    assert run("--version") == f"sordino {VERSION}\n"
