"""Trainings that are killed, at named points and at random moments, and gone on with: what was run is paid for."""

from __future__ import annotations

import multiprocessing
import os
import random
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from learn import killed
from learn.killed import POINTS, STEPS, TRANCHE, Seen

PROCESSES = multiprocessing.get_context("forkserver")
PROCESSES.set_forkserver_preload(["learn.warmed"])  # torch is loaded once, not by every process


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


def started(folder: Path, *given: object) -> multiprocessing.process.BaseProcess:
    process = PROCESSES.Process(target=killed.train, args=(folder, *given))
    process.start()
    return process


def finish(folder: Path, checkpoint: str = "run.npz", kind: str = "in tranches") -> Seen:
    process = started(folder, checkpoint, None, False, kind)
    process.join(120)
    assert process.exitcode == 0
    return Seen(folder)


def judge(seen: Seen, kills: int) -> None:
    """Steps that were run are charged, and what is charged beyond a whole training was in flight when it was killed."""
    assert seen.sound
    assert set(seen.ran) == set(range(STEPS))
    assert len(seen.ran) <= seen.charged
    assert len(seen.in_flight) <= kills
    assert seen.charged <= STEPS + sum(seen.in_flight)


@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
@pytest.mark.parametrize("point", POINTS)
def test_killed_at_a_point(tmp_path: Path, point: str, after: bool) -> None:
    process = started(tmp_path, "run.npz", point, after)
    process.join(120)
    assert process.exitcode == -9
    judge(finish(tmp_path), kills=1)


@pytest.mark.parametrize("kind", ["in blocks", "whole"])
@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
def test_killed_in_a_step_of_what_cannot_be_cut(tmp_path: Path, kind: str, after: bool) -> None:
    process = started(tmp_path, "run.npz", "a step", after, kind)
    process.join(120)
    assert process.exitcode == -9
    at_once = 20 if kind == "in blocks" else STEPS
    seen = finish(tmp_path, kind=kind)
    judge(seen, kills=1)
    assert seen.in_flight == [at_once]
    assert seen.charged == STEPS + at_once  # the steps that were run twice are charged twice


def random_kills(folder: Path, kills: int, seed: int) -> None:
    dice = random.Random(seed)  # noqa: S311  (moments, not noise)
    finish(folder)  # the first one waits until the server of processes is there
    (folder / "whole").mkdir()
    begun = time.monotonic()
    finish(folder / "whole")
    lasts, killed_so_far, number = time.monotonic() - begun, 0, 0
    while killed_so_far < kills:
        number += 1
        place = folder / f"run {number}"
        place.mkdir()
        died = 0
        while killed_so_far < kills:
            process = started(place)
            process.join(dice.uniform(0, lasts))
            if process.exitcode is not None:
                assert process.exitcode == 0  # it came to its end before its hour
                break
            process.kill()
            process.join()
            killed_so_far, died = killed_so_far + 1, died + 1
        judge(finish(place), died)


@pytest.mark.slow
def test_killed_at_random_moments(tmp_path: Path) -> None:
    random_kills(tmp_path, kills=5, seed=1)


@pytest.mark.long
def test_killed_a_hundred_times(tmp_path: Path) -> None:
    random_kills(tmp_path, kills=100, seed=2)


def resumed_twice(folder: Path) -> None:
    """Kill a training in its third tranche, copy its checkpoint, and go on from both."""
    process = started(folder, "run.npz", "settling", True)
    process.join(120)
    assert process.exitcode == -9
    (folder / "copy.npz").write_bytes((folder / "run.npz").read_bytes())
    both = [started(folder, name) for name in ("run.npz", "copy.npz")]
    for each in both:
        each.join(120)
        assert each.exitcode == 0
    seen = Seen(folder)
    assert seen.sound
    rest = STEPS - 2 * TRANCHE
    assert len(seen.ran) == 2 * TRANCHE + 2 * rest
    assert seen.charged == 2 * TRANCHE + 2 * rest  # both paid, and nothing was in flight
    assert seen.in_flight == []


def test_two_resumes_of_one_checkpoint_both_pay(tmp_path: Path) -> None:
    resumed_twice(tmp_path)


@pytest.mark.long
def test_twenty_double_resumes(tmp_path: Path) -> None:
    for number in range(20):
        place = tmp_path / str(number)
        place.mkdir()
        resumed_twice(place)
