"""The command line against a service: a real one, on a port, in a thread."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import uvicorn

import sordino as so
from serve.commanding import COUNT, Commands, commands_in
from serve.places import OWNER
from servers import needs
from sordino.ledger.keys import SigningKey
from sordino.serve.app import create_app
from sordino.serve.commands.place import settings_in
from sordino.serve.service import Service

pytestmark = pytest.mark.service


@contextmanager
def serving(service: Service) -> Iterator[str]:
    """Run a service on a free port of this machine; give its address."""
    needs("service")
    server = uvicorn.Server(uvicorn.Config(create_app(service), port=0, log_config=None, ws="none"))
    thread = threading.Thread(target=server.run)
    thread.start()
    try:
        while not server.started:
            time.sleep(0.01)
        yield f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join()


def test_everything_goes_over_the_wire_as_well(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    run: Commands = commands_in(tmp_path, monkeypatch)
    run.begin("1")
    (tmp_path / "elsewhere").mkdir()
    with Service.open(settings_in(tmp_path)) as service, serving(service) as url:
        token = service.issue_token(OWNER, "ann", "analyst", ["trips"])
        monkeypatch.chdir(tmp_path / "elsewhere")
        there = ("--url", url, "--token", token)
        assert "price: ε = 0.25" in run("ask", COUNT, "--epsilon", "0.25", "--dry-run", *there)
        run("ask", COUNT, "--epsilon", "0.25", "--receipt", "r.json", *there)
        monkeypatch.setenv("SORDINO_URL", url)
        monkeypatch.setenv("SORDINO_TOKEN", token)
        assert "would fit" in run.refused(capsys, "ask", COUNT, "--epsilon", "2", code=3)
        (budget,) = run.json("budget")["budgets"]
        assert budget["by_analyst"] == [{"analyst": "ann", "part": 0.25, "charges": 1}]
        key = service.ledger.key.text
        held = run.json("receipt", "verify", "r.json", "--key", key)
        assert run("receipt", "show", held["id"]) == (tmp_path / "elsewhere" / "r.json").read_text()
        other = SigningKey.generate("elsewhere").verifier.text
        assert "DOES NOT HOLD" in run("receipt", "verify", "r.json", "--key", other, code=1)
        with so.connect(url, token, key=key) as house:
            assert len(house.account().sql(COUNT).run(epsilon="0.25")) == 1
            assert house.account().budget["used"] == 0.5
    assert "does not answer" in run.refused(capsys, "budget", code=6)
