"""A publication whose process is killed at any stage: a charge without files, never files without a charge."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import sordino as so

HERE = Path(__file__).parents[1]
SOURCE = Path(so.__file__).parents[1]
PROGRAM = """
import os, signal, sys
import pyarrow as pa
import sordino as so
from sordino.ledger.files import FileStore

folder, moment = sys.argv[1], sys.argv[2]
stages = 0

def passed(name):
    if name == moment:
        os.kill(os.getpid(), signal.SIGKILL)

def tell(*_, **__):
    global stages
    stages += 1
    passed(f"stage {stages}")

put = FileStore.put_all
def put_all(self, files):
    passed("before files")
    found = put(self, files)
    passed("after files")
    return found
FileStore.put_all = put_all

table = pa.table({"a": ["x", "y"] * 30, "b": ["u", "v", "w"] * 20, "n": list(range(60))})
columns = {"a": so.keys(["x", "y"]), "b": so.keys(["u", "v", "w"]), "n": so.bounds(0, 59)}
data = so.dataset("people", table, unit=so.ROW, columns=columns)
with so.open(folder + "/budget.db") as house:
    account = house.account(data, so.budget(epsilon=3))
    so.publish.synthetic(account, ["a", "b", "n"]).telling(tell).run(epsilon=1)
print("ended")
"""


def run(folder: Path, moment: str) -> subprocess.CompletedProcess[str]:
    environ = {**os.environ, "PYTHONPATH": os.pathsep.join([str(SOURCE), str(HERE)])}
    folder.mkdir()
    return subprocess.run(  # noqa: S603
        [sys.executable, "-c", PROGRAM, str(folder), moment],
        env=environ,
        capture_output=True,
        text=True,
        timeout=300,
    )


@pytest.mark.slow
@pytest.mark.parametrize("moment", ["stage 1", "stage 2", "stage 5", "before files", "after files"])
def test_whoever_dies_leaves_a_charge_and_no_release(tmp_path: Path, moment: str) -> None:
    folder = tmp_path / "died"
    died = run(folder, moment)
    assert died.returncode == -signal.SIGKILL, died.stderr
    with so.open(folder / "budget.db") as house:
        assert house.verify().sound
        (balance,) = house.ledger.look(lambda state: tuple(state.balances.values()))
        assert balance.spent[-1] > 0
        left = house.ledger.files.directory
        written = [each for each in left.iterdir() if not each.name.startswith(".")] if left and left.exists() else []
        assert bool(written) == (moment == "after files")


@pytest.mark.slow
def test_whoever_lives_leaves_both(tmp_path: Path) -> None:
    ended = run(tmp_path / "lived", "never")
    assert ended.stdout == "ended\n", ended.stderr
    with so.open(tmp_path / "lived" / "budget.db") as house:
        assert house.verify().sound
        assert house.ledger.files.directory is not None
        assert len(list(house.ledger.files.directory.iterdir())) >= 2
