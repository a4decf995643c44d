"""``sordino audit``: verdict lines, JSON, exit codes for build servers, and errors that name the remedy."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
import textwrap
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import uvicorn
import yaml

import sordino.__main__
from serve.commanding import COUNT, Commands, commands_in
from serve.places import OWNER, opened
from servers import needs
from sordino.audit.probing.finding import Finding, Probed
from sordino.audit.probing.service import ServiceAudit
from sordino.audit.transparency.report import Report
from sordino.serve.app import create_app

THEIRS = """
import hashlib
import math
import os
import numpy as np
from sordino.accounting import accountants
from sordino.accounting.curve import flatten

def laplace(value, n, seed=None):
    return value + np.random.default_rng(seed).laplace(0, 1, n)

def half_the_noise(value, n, seed=None):
    return value + np.random.default_rng(seed).laplace(0, 0.5, n)

def coin(value):
    return bool(np.random.default_rng().random() < (0.73 if value else 0.27))

def broken(value, n):
    raise RuntimeError("no data here")

NUMBER = 3

def leaky(included):
    return included.astype(float)

def honest(included):
    return np.random.default_rng(3).random(len(included))

def many_leaky(included, count):
    return np.full(count, float(included))

def forgetful(event, delta):
    return sum(accountants.epsilon(part, str(delta), "zcdp") for part in flatten(event))

def knows_nothing(event, delta):
    return math.inf

def crashes(event, delta):
    if event.kind == "gaussian":
        raise KeyError("sigma")
    return accountants.epsilon(event, str(delta), "zcdp")

def count(value, n):
    return len(value) + np.random.default_rng().laplace(0, 2, n)

def opaque(value, n):
    return [hashlib.sha256(os.urandom(8)).hexdigest() for _ in range(n)]

def sealed(value, n):
    return [bytes([255]) + str(round(number, 3)).encode() for number in half_the_noise(value, n)]

def unsealed(output):
    return output[1:].decode()
"""


@pytest.fixture
def commands(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Commands:
    (tmp_path / "theirs.py").write_text(textwrap.dedent(THEIRS))
    monkeypatch.delitem(sys.modules, "theirs", raising=False)
    for name in ("SORDINO_TOKEN_WITHOUT", "SORDINO_OTHER_TOKEN", "SORDINO_AUDITOR_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    assert sordino.__main__.app  # the audit is mounted there
    return commands_in(tmp_path, monkeypatch)


# ---- mechanisms -----------------------------------------------------------------------------------------------------

FEW = ("--draws", 20_000, "--seed", 1)


def test_an_honest_mechanism_is_not_refuted_and_a_dishonest_one_is(commands: Commands) -> None:
    said = commands("audit", "mechanism", "theirs:laplace", "--epsilon", 1, "--pair", 0, 1, *FEW)
    assert "not refuted" in said.splitlines()[-1] + said
    said = commands("audit", "mechanism", "theirs:half_the_noise", "--epsilon", 1, "--pair", 0, 1, *FEW, code=1)
    assert "refuted" in said
    assert "not refuted" not in said


def test_json_holds_the_same(commands: Commands) -> None:
    words = ("audit", "mechanism", "theirs:half_the_noise", "--epsilon", 1, "--neighbours", "scalars", *FEW)
    found = commands.json(*words, code=1)
    assert found["refuted"] is True or found["verdict"] == "refuted"
    assert found["epsilon"] > 1


def test_a_function_of_one_value_and_other_claims(commands: Commands) -> None:
    few = ("--draws", 2_000)
    commands("audit", "mechanism", "theirs:coin", "--each", "--epsilon", 1, "--pair", "true", "false", *few)
    commands("audit", "mechanism", "theirs:laplace", "--mu", 3, "--pair", 0, 1, *few)
    commands("audit", "mechanism", "theirs:laplace", "--epsilon", 1, "--delta", "1e-3", "--pair", 0, 1, *few)
    event = '{"kind":"laplace","scale":"1","sensitivity":"1"}'
    commands("audit", "mechanism", "theirs:laplace", "--event", event, "--pair", 0, 1, *few)


def test_mechanisms_of_sordino_go_by_name(commands: Commands) -> None:
    words = ("audit", "mechanism", "Laplace", "--with", "scale=2", "--draws", 5_000)
    assert commands.json(*words)["epsilon"] <= 0.5
    commands(*words, "--epsilon", "0.1", "--draws", 40_000, code=1)
    assert commands.json("audit", "mechanism", "RandomizedResponse", "--with", "epsilon=1", *FEW)["epsilon"] <= 1


def test_nothing_counted_is_no_verdict(commands: Commands) -> None:
    said = commands("audit", "mechanism", "theirs:opaque", "--epsilon", 1, "--pair", 0, 1, "--draws", 2_000, code=2)
    assert "nothing could be counted" in said
    assert "give view=" in said


def test_a_view_low_bits_and_other_neighbours(commands: Commands) -> None:
    few = ("--epsilon", 1, "--draws", 4_000)
    view = ("--view", "theirs:unsealed")
    found = commands.json("audit", "mechanism", "theirs:sealed", "--pair", 0, 1, *view, *few, code=1)
    assert found["witness"]["event"]["reader"]["view"] == "unsealed"
    assert found["witness"]["pair"] in ([0, 1], [1, 0])
    words = ("audit", "mechanism", "theirs:laplace", "--pair", 0, 1, "--epsilon", 1, "--draws", 20_000)
    assert "in floating point" in commands(*words)
    commands(*words, "--low-bits", code=1)
    for name in ("without_one", "with_one_doubled", "emptied", "with_one_replaced"):
        commands("audit", "mechanism", "theirs:count", "--neighbours", f"{name}:[3, 1, 4]", *few)


@pytest.mark.parametrize(
    ("words", "remedy"),
    [
        (("theirs:laplace", "--epsilon", 1), "give neighbouring inputs to try: --pair 0 1"),
        (("theirs:laplace", "--pair", "zero", 1), "is not JSON"),
        (("theirs:laplace", "--pair", 0, 1, "--neighbours", "scalars"), "not both"),
        (("theirs:laplace", "--neighbours", "cousins"), "must begin with scalars, lists, without_one"),
        (("theirs:laplace", "--neighbours", "lists"), "lists:5"),
        (("theirs:laplace", "--epsilon", 1, "--mu", 1, "--pair", 0, 1), "make one claim"),
        (("theirs:laplace", "--delta", "1e-5", "--pair", 0, 1), "give --epsilon with it"),
        (("theirs:laplace", "--epsilon", "much", "--pair", 0, 1), "epsilon"),
        (("theirs:nothing", "--pair", 0, 1), "has no nothing"),
        (("theirs:NUMBER", "--pair", 0, 1), "cannot be called"),
        (("nowhere:laplace", "--pair", 0, 1), "there is no module nowhere"),
        (("theirs:2x", "--pair", 0, 1), "package.module:name"),
        (("theirs:broken", "--epsilon", 1, "--pair", 0, 1), "theirs:broken raised RuntimeError: no data here"),
        (("Laplaace",), "sordino has no mechanism 'Laplaace'; it has"),
        (("Laplace",), "is built from scale, grid; give each by --with"),
        (("Laplace", "--with", "scale"), "must read name=value"),
    ],
)
def test_the_wrong_words_are_refused_with_the_remedy(
    commands: Commands, capsys: pytest.CaptureFixture[str], words: tuple[Any, ...], remedy: str
) -> None:
    assert remedy in commands.refused(capsys, "audit", "mechanism", *words)


# ---- trainings and accountants --------------------------------------------------------------------------------------


def test_trainings(commands: Commands, capsys: pytest.CaptureFixture[str]) -> None:
    leak = commands.json(
        "audit", "training", "theirs:leaky", "--one-run", "--canaries", 200, "--mu", "0.1", "--seed", 1, code=1
    )
    assert leak["verdict"] == "refuted"
    honest = commands.json("audit", "training", "theirs:honest", "--one-run", "--canaries", 200, "--mu", 1)
    assert honest["verdict"] == "not refuted"
    many = commands("audit", "training", "theirs:many_leaky", "--many-runs", "--trainings", 200, "--epsilon", 1, code=1)
    assert "refuted" in many
    assert "--one-run (many canaries) or --many-runs" in commands.refused(capsys, "audit", "training", "theirs:leaky")


def test_accountants(commands: Commands, capsys: pytest.CaptureFixture[str]) -> None:
    few = ("--rounds", 1, "--seed", 1)
    assert "unsound" in commands("audit", "accountant", "theirs:forgetful", *few, code=1)
    assert "name an accountant" in commands.refused(capsys, "audit", "accountant")
    assert "--peer must be one of" in commands.refused(capsys, "audit", "accountant", "--peer", "somebody")
    assert "nothing was audited" in commands.refused(capsys, "audit", "accountant", "theirs:knows_nothing", *few)
    said = commands("audit", "accountant", "theirs:crashes", *few, code=2)
    assert "crashed: theirs:crashes raised KeyError" in said
    assert "shown by Gaussian(" in said
    assert said.splitlines()[-1].startswith("crashed: ")


# ---- releases and reports -------------------------------------------------------------------------------------------


def test_a_report_is_written_checked_and_found_altered(commands: Commands, capsys: pytest.CaptureFixture[str]) -> None:
    commands.begin()
    commands("ask", COUNT, "--epsilon", "0.5", "--receipt", "receipt.json")
    Path("people.yaml").write_text("purpose: Planning of bus lines\ncurator: City of Oslo\n")
    said = commands(
        "audit",
        "report",
        "report.json",
        "--page",
        "report.html",
        "--registry",
        "record.yaml",
        "--statements",
        "people.yaml",
    )
    assert "1 releases, signed" in said
    assert "Planning of bus lines" in Path("report.html").read_text()
    assert (
        yaml.safe_load(Path("record.yaml").read_text())["deployment"]["basic"]["intended_use"]
        == "Planning of bus lines"
    )
    assert commands("audit", "release", "report.json", "--key", "budget.db.pub").splitlines()[-1].startswith("holds")
    assert commands.json("audit", "release", "receipt.json", "--key", "budget.db.pub")["verdict"] == "holds"
    altered = Path("report.json").read_text().replace("Planning of bus lines", "Planning of bus lanes")
    Path("altered.json").write_text(altered)
    lines = commands("audit", "release", "altered.json", "--key", "budget.db.pub", code=1).splitlines()
    assert lines[0].startswith("broken: signature")
    assert lines[-1].startswith("refuted")
    key = "audit", "release", "report.html", "--key", "budget.db.pub"
    assert "not the page made from it" in commands.refused(capsys, *key)
    assert "exists already" in commands.refused(capsys, "audit", "report", "report.json")


def test_a_release_is_reported_by_its_id(commands: Commands, capsys: pytest.CaptureFixture[str]) -> None:
    commands.begin()
    commands("ask", COUNT, "--epsilon", "0.5", "--receipt", "receipt.json")
    identifier = json.loads(json.loads(Path("receipt.json").read_text())["reserved"])["id"]
    commands("audit", "report", "one.json", "--release", identifier)
    body = json.loads(Path("receipt.json").read_text())["release"]["text"]
    Path("body.json").write_text(body)
    Path("other.json").write_text(body.replace("rides", "riders"))
    words = ("audit", "release", "one.json", "--key", "budget.db.pub", "--release")
    assert commands.json(*words, "body.json")["verdict"] == "holds"
    assert commands.json(*words, "other.json", code=1)["verdict"] == "refuted"
    assert Report.from_json(Path("one.json").read_text()).content["subject"]["release"] == identifier
    Path("people.yaml").write_text("- a list\n")
    assert "names and texts" in commands.refused(capsys, "audit", "report", "x.json", "--statements", "people.yaml")


# ---- services -------------------------------------------------------------------------------------------------------


@contextmanager
def running(directory: Path, *, leave_out: int | None = None) -> Iterator[tuple[str, str]]:
    """Run a service on trips, or on them without one rider; give its address and an analyst's token."""
    import pyarrow.compute as pc
    import pyarrow.parquet as pq

    directory.mkdir()
    with opened(directory, {"epsilon": 3}) as service:
        if leave_out is not None:
            path = directory / "trips.parquet"
            table = pq.read_table(path)
            pq.write_table(table.filter(pc.not_equal(table["rider"], leave_out)), path)
        token = service.issue_token(OWNER, "ann", "analyst", ["trips"])
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        needs("service")
        server = uvicorn.Server(uvicorn.Config(create_app(service), port=port, log_level="error"))
        thread = threading.Thread(target=server.run, daemon=True)
        thread.start()
        while not server.started:
            time.sleep(0.02)
        try:
            yield f"http://127.0.0.1:{port}", token
        finally:
            server.should_exit = True
            thread.join(20)


@pytest.mark.parametrize("found", [(), (Finding("replay", "a finding", ("ask twice",)),)], ids=["nothing", "something"])
def test_tokens_come_from_files_or_the_environment(
    commands: Commands, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], found: Any
) -> None:
    asked: dict[str, Any] = {}

    def audit(here: str, there: str, **words: Any) -> ServiceAudit:
        asked.update(words, here=here, there=there)
        return ServiceAudit((Probed("replay", 1, found),), 3, 3, None, 1.0)

    monkeypatch.setattr("sordino.audit.probing.service.service", audit)
    two = ("audit", "service", "http://127.0.0.1:1", "http://127.0.0.1:2")
    assert "--token-file, or into SORDINO_TOKEN" in commands.refused(capsys, *two)
    Path("ann.token").write_text("of-a-file\n")
    monkeypatch.setenv("SORDINO_TOKEN_WITHOUT", "of-the-environment")
    told = commands.json(*two, "--token-file", "ann.token", "--canary", "x", code=1 if found else 0)
    assert told["verdict"] == ("refuted" if found else "not refuted")
    assert (asked["token"], asked["token_without"], asked["canaries"]) == ("of-a-file", "of-the-environment", ["x"])
    assert (asked["here"], asked["other_token"]) == ("http://127.0.0.1:1", None)


@pytest.mark.long
@pytest.mark.service
def test_two_running_services_are_audited(commands: Commands, monkeypatch: pytest.MonkeyPatch) -> None:
    with (
        running(commands.directory / "with") as (here, ann),
        running(commands.directory / "without", leave_out=3) as (there, other),
    ):
        Path("ann.token").write_text(ann + "\n")
        monkeypatch.setenv("SORDINO_TOKEN_WITHOUT", other)
        few = ("--questions", 2, "--seconds", 5, "--seed", 1)
        found = commands.json("audit", "service", here, there, "--token-file", "ann.token", *few)
        assert found["verdict"] == "not refuted"
        assert found["answered"] > 0


def test_a_crash_is_no_verdict(commands: Commands, monkeypatch: pytest.MonkeyPatch) -> None:
    def crash(*_: Any, **__: Any) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr("sordino.audit.measuring.measure", crash)
    commands("audit", "mechanism", "theirs:laplace", "--epsilon", 1, "--pair", 0, 1, code=2)


def test_commands_load_heavy_things_only_when_called() -> None:
    program = "import sys, sordino.audit.commands.audit; print(*sys.modules)"
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)  # noqa: S603
    loaded = set(ran.stdout.split())
    assert "sordino.audit.commands.mechanism" in loaded
    heavy = {"scipy", "fastapi", "httpx", "jinja2", "matplotlib", "sordino.audit.measuring", "sordino.ledger.ledger"}
    assert not loaded & heavy
