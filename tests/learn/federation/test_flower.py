"""Federated trainings over Flower: its messages without a network, and its processes on loopback."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

import sordino as so
from learn.federation.conftest import REPOSITORY
from learn.federation.flower.loopback import QUIET, network, wait_until
from sordino.learn.federation.keys import Identity

SOURCE = REPOSITORY / "src"
REFUSED = "refused [SRD-R021]"
LONG = 300  # seconds that a busy machine may take for a few rounds of processes


def checked(python: Path, *names: str) -> dict[str, Any]:
    """Return what the checks found, in Flower's environment."""
    script = Path(__file__).parent / "flower" / "in_process.py"
    environment = os.environ | QUIET | {"PYTHONPATH": str(SOURCE)}
    done = subprocess.run(  # noqa: S603
        [str(python), str(script), *names], env=environment, capture_output=True, text=True, timeout=LONG, check=False
    )
    assert done.returncode == 0, done.stderr[-2000:]
    found: dict[str, Any] = {}
    for line in done.stdout.splitlines():
        if line.startswith("{"):
            found |= json.loads(line)
    return found


def test_hospitals_and_clients_by_messages(flower_python: Path) -> None:
    found = checked(flower_python, "masked", "killed", "too_few", "adam", "open", "clients_under_masks")
    assert found["masked"] == {"charged at members": [12] * 5, "failed": [], "seen": 3}
    assert found["killed"] == {"failed": [], "charged at members": [2, 2, 0, 2, 2]}
    assert found["too_few"] == {"failed": [0, 1], "charged": 2}
    assert found["adam"] == found["clients_under_masks"] == {"failed": []}
    assert found["open"] == {"charged": 1, "evaluated": [1]}


def test_a_member_answers_nothing_but_rounds_that_it_agreed_to(flower_python: Path) -> None:
    found = checked(flower_python, "refusals")["refusals"]
    assert found.pop("keys") == "answered"
    assert found.pop("malformed") == "refused [SRD-R001]"
    assert set(found.values()) == {REFUSED}
    assert len(found) == 7


@pytest.mark.timeout(4 * LONG)
@pytest.mark.long
def test_processes_on_loopback_with_a_killed_client_and_a_killed_server(flower_python: Path, tmp_path: Path) -> None:
    for number in range(3):
        identity = Identity()
        (tmp_path / f"identity-{number}").write_bytes(identity.secret)
        (tmp_path / f"public-{number}").write_bytes(identity.public)
    with network(flower_python, tmp_path, SOURCE, nodes=3) as net:
        net.begin()
        net.run()
        assert wait_until((tmp_path / "asleep").exists, LONG), net.log("run")
        net.kill("node-2")  # in the middle of the second round, which completes
        assert wait_until((tmp_path / "killed").exists, LONG), net.log("run")
        net.kill("run")
        net.run()  # goes on from the checkpoint
        assert wait_until((tmp_path / "result.json").exists, LONG), net.log("run")
    result = json.loads((tmp_path / "result.json").read_text())
    assert (result["rounds"], result["failed"]) == ([1], [])
    assert result["charged"] == 3  # two, and the round that was in flight
    assert result["sound"]
    assert any(result["weights"])
    with so.open(tmp_path / "hospital-0.db") as house:
        assert house.verify().sound


@pytest.mark.parametrize("name", ["Private", "Masked", "Seat"])
def test_without_flower_the_rest_is_there_and_says_what_is_missing(name: str) -> None:
    import sordino.learn.federation as federation

    assert name in dir(federation)
    with pytest.raises(ModuleNotFoundError, match="flwr"):
        getattr(federation, name)
