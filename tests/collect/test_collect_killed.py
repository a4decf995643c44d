"""Alerts and pan-private counts that are killed at each point where something is written, and gone on with."""

from __future__ import annotations

import json
import multiprocessing
import os
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from collect import killed
from collect.killed import ALERT, PAN_POINTS, POINTS, POSITIVES, SHIFTS, STEPS
from collect.visits import house, kept
from sordino.errors import GrantError
from sordino.ledger.charging import Reserved, Settled

PROCESSES = multiprocessing.get_context("forkserver")
PROCESSES.set_forkserver_preload(["collect.killed"])


@pytest.fixture(autouse=True, scope="module")
def _importable() -> Iterator[None]:
    """Let the server of processes, which knows no path but this, find the tests."""
    before = os.environ.get("PYTHONPATH")
    os.environ["PYTHONPATH"] = os.pathsep.join([str(Path(__file__).parents[1]), *([before] if before else [])])
    yield
    if before is None:
        del os.environ["PYTHONPATH"]
    else:
        os.environ["PYTHONPATH"] = before


def run(target: Any, *given: object) -> int | None:
    process = PROCESSES.Process(target=target, args=given)
    process.start()
    process.join(120)
    return process.exitcode


def charged(folder: Path) -> tuple[list[str], set[str]]:
    """What was reserved and what was settled."""
    with house(folder) as opened:
        entries = list(opened.ledger.entries())
    return [each.id for each in entries if isinstance(each, Reserved)], {
        each.id for each in entries if isinstance(each, Settled)
    }


def mark(folder: Path) -> str | None:
    file = folder / "alert" / "threshold.secret"
    return json.loads(file.read_text())["mark"] if file.exists() else None


def alarms(folder: Path) -> list[tuple[int, ...]]:
    log = folder / "run.log"
    return [tuple(map(int, line.split())) for line in log.read_text().splitlines()] if log.exists() else []


@pytest.mark.slow
@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
@pytest.mark.parametrize("point", POINTS)
def test_an_alert_killed_at_a_point(tmp_path: Path, point: str, after: bool) -> None:
    assert run(killed.watch, tmp_path, None, point, after) == -9
    reserved, settled = charged(tmp_path)
    begun = not (point == "charging" and not after)
    assert len(reserved) == begun
    before = mark(tmp_path)
    if not reserved or not set(reserved) <= settled:
        killed.watch(tmp_path, reserved[0] if reserved else None)
    reserved, settled = charged(tmp_path)
    assert len(reserved) == 1  # charged once, however often it was begun
    assert settled == set(reserved)
    with house(tmp_path) as opened:
        said = [json.loads(opened.ledger.recorded(reserved[0], number) or b"null") for number in range(1, STEPS + 2)]
        assert opened.verify().sound
    assert before is None or said[0] == {"armed": before}  # a threshold that was written is the one that is used
    found = {(each["step"], metric) for each in said[1:] for metric in each["alarms"]}
    assert found == SHIFTS
    assert len(found) <= POSITIVES
    # What left before the kill, or after it, is what is on record. An alarm that was recorded and not handed out when
    # the process was killed is found by whoever resumes, among `alarms`.
    assert set(alarms(tmp_path)) <= found
    if not (point == "forgetting" and not after) and not (point == "settling" and after):
        assert mark(tmp_path) is None  # the threshold is gone with the alert


@pytest.mark.slow
@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
@pytest.mark.parametrize("point", PAN_POINTS)
def test_a_count_killed_at_a_point(tmp_path: Path, point: str, after: bool) -> None:
    assert run(killed.count, tmp_path, None, point, after) == -9
    reserved, settled = charged(tmp_path)
    assert len(reserved) == (after or point != "charging")
    if not reserved or set(reserved) <= settled:
        return
    cut = (point, after) in {("counting a save", True), ("writing a save", False)}
    with house(tmp_path) as opened:
        account = kept(opened)
        if point == "charging":
            with pytest.raises(GrantError, match="never saved"):
                killed.opened_count(tmp_path, account, reserved[0])
            return
        if cut:  # version 2 is counted, and version 1 is what there is
            with pytest.raises(GrantError, match="version 1 of the state, and 2 were saved"):
                killed.opened_count(tmp_path, account, reserved[0])
        again = killed.opened_count(tmp_path, account, reserved[0], older=cut)
        used = [each["part"] for each in again._said].count("saved")
        files = [each for each in tmp_path.iterdir() if "state" in each.name]
        assert used >= len(files)  # every version that lies anywhere is counted
        assert all(stat.S_IMODE(each.stat().st_mode) == 0o600 for each in files)
        found = again.estimate()
        expected = 100 if cut or (point, after) == ("counting a save", False) else 200
        assert abs(found.number - expected) < 6 * found.standard_error
        again.close()
        assert opened.verify().sound


@pytest.mark.slow
def test_an_alarm_on_record_is_found_by_whoever_goes_on(tmp_path: Path) -> None:
    assert run(killed.watch, tmp_path, None, "an alarm", True) == -9
    assert alarms(tmp_path) == []  # it was recorded, and never left
    with house(tmp_path) as opened:
        again = killed.opened_alert(tmp_path, kept(opened), charged(tmp_path)[0][0])
        assert [tuple(each) for each in again.alarms] == [(3, 4)]
        assert again.step(killed.values(3), number=3) == list(again.alarms)
        assert again.positives_left == ALERT.positives - 1
