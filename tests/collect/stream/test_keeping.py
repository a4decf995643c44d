"""Crashes at every point, old copies, copies that went two ways: the same bytes again, or a refusal."""

from __future__ import annotations

import json
import os
import shutil
import stat
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sordino as so
from collect.stream.riders import Riders
from sordino.accounting.work import Work
from sordino.collect.stream import Stream, counting, histogram, open_stream
from sordino.collect.stream.keeping import Folder
from sordino.data.account import DataAccount
from sordino.errors import ArgumentError, LedgerError, SordinoError

SPEC = counting(1000, window=7)


class Crash(BaseException):
    """The process is gone."""


def account(path: Path) -> DataAccount[Any]:
    return so.open(path / "budget.db").account(Riders(), so.budget(rho=1))


def begun(path: Path, spec: Any = SPEC) -> Stream:
    return open_stream(account(path), spec, rho="0.1", folder=path / "streams")


def again(path: Path, identifier: str, spec: Any = SPEC) -> Stream:
    return open_stream(account(path), spec, resume=identifier, folder=path / "streams")


def file_of(path: Path, stream: Stream) -> Path:
    return path / "streams" / f"{stream.id}.stream"


def recorded(path: Path, stream: Stream, number: int) -> bytes | None:
    held: Any = account(path).account
    found: bytes | None = held.account.ledger.recorded(stream.id, number)
    return found


@pytest.mark.parametrize("strategy", ["buffered", "square-root", "tree", "weighted-tree"])
def test_a_restart_goes_on_where_it_was(tmp_path: Path, strategy: str) -> None:
    """With next to no noise, totals after a restart are those of one stream."""
    spec = histogram(300, ["a", "b"], strategy=strategy)
    path = tmp_path
    stream = open_stream(account(path), spec, rho="0.9", folder=path / "streams")
    counts = np.random.default_rng(1).integers(0, 9, size=(300, 2))
    taken = 0
    for size in (70, 1, 100, 129):
        totals = stream.add(counts[taken : taken + size]).totals
        taken += size
        stream.pause()
        stream = again(path, stream.id, spec)
        assert stream.taken == taken
        assert stream.last.totals.tolist() == totals.tolist()
    assert np.abs(stream.last.totals[-1] - counts.sum(axis=0)).max() < 12 * stream.plan.deviations().max()
    assert stream.history().totals.shape == (300, 2)
    assert stream.close().receipt is not None


def _at(point: str, patch: pytest.MonkeyPatch) -> None:
    """Have the process die at a point of the next batch."""
    write, part, replaced = Folder.write, Work.part, os.replace

    def before_write(*_: Any) -> None:
        raise Crash

    def after_write(self: Folder, *given: Any) -> None:
        write(self, *given)
        raise Crash

    def after_part(self: Work, *given: Any) -> bytes:
        part(self, *given)
        raise Crash

    def torn(source: Any, target: Any) -> None:
        if str(target).endswith(".stream"):
            Path(source).write_bytes(Path(source).read_bytes()[:100])
            raise Crash
        replaced(source, target)

    if point == "before the file":
        patch.setattr(Folder, "write", before_write)
    elif point == "while the file is written":
        patch.setattr(os, "replace", torn)
    elif point == "after the file":
        patch.setattr(Folder, "write", after_write)
    else:
        patch.setattr(Work, "part", after_part)


@pytest.mark.parametrize(
    ("point", "taken"),
    [("before the file", 3), ("while the file is written", 3), ("after the file", 5), ("after the part", 5)],
)
def test_a_crash_at_every_point(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, point: str, taken: int) -> None:
    stream = begun(tmp_path)
    stream.add([1, 2, 3])
    with monkeypatch.context() as patch:
        _at(point, patch)
        with pytest.raises(Crash):
            stream.add([4, 5])
    stream.pause()  # the lock goes with the process
    waiting = json.loads(file_of(tmp_path, stream).read_bytes().partition(b"\n")[2])["body"].encode()
    resumed = again(tmp_path, stream.id)
    assert resumed.taken == taken
    number = 1 if taken == 3 else 2
    assert recorded(tmp_path, stream, number) == waiting == resumed.last.to_json().encode()
    assert recorded(tmp_path, stream, number + 1) is None
    assert resumed.add([1]).first == taken + 1


@pytest.mark.parametrize("point", ["before the file", "after the file"])
def test_a_crash_before_the_first_release(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, point: str) -> None:
    """What was charged and never wrote a file begins anew, for nothing has left; it says what it spends again."""
    with monkeypatch.context() as patch:
        _at(point, patch)
        with pytest.raises(Crash):
            begun(tmp_path)
    held: Any = account(tmp_path).account
    identifier = held.account.ledger.look(lambda state: next(iter(state.open)))
    for lock in (tmp_path / "streams").glob("*.lock"):
        lock.unlink()
    if point == "before the file":
        with pytest.raises(LedgerError, match="SRD-C504"):
            again(tmp_path, identifier)
    resumed = open_stream(account(tmp_path), SPEC, rho="0.1", resume=identifier, folder=tmp_path / "streams")
    assert resumed.add([1]).first == 1
    resumed.pause()
    assert again(tmp_path, identifier).taken == 1


def test_a_lost_file_of_a_stream_that_released_is_refused(tmp_path: Path) -> None:
    stream = begun(tmp_path)
    stream.add([1])
    stream.pause()
    file_of(tmp_path, stream).unlink()
    with pytest.raises(LedgerError, match="SRD-C502"):
        open_stream(account(tmp_path), SPEC, rho="0.1", resume=stream.id, folder=tmp_path / "streams")


@pytest.mark.parametrize("batches", [1, 2, 5])
def test_an_old_copy_is_refused(tmp_path: Path, batches: int) -> None:
    stream = begun(tmp_path)
    stream.add([1])
    shutil.copy(file_of(tmp_path, stream), tmp_path / "old")
    for _ in range(batches):
        stream.add([2, 2])
    stream.pause()
    newest = file_of(tmp_path, stream).read_bytes()
    shutil.copy(tmp_path / "old", file_of(tmp_path, stream))
    with pytest.raises(LedgerError, match="SRD-C502"):
        again(tmp_path, stream.id)
    file_of(tmp_path, stream).write_bytes(newest)
    assert again(tmp_path, stream.id).taken == 1 + 2 * batches


def test_two_copies_that_go_on_at_once(tmp_path: Path) -> None:
    """The ledger lets one of them; what the other measured never leaves, and it stays refused."""
    stream = begun(tmp_path)
    stream.add([1])
    stream.pause()
    (tmp_path / "other").mkdir()
    shutil.copy(file_of(tmp_path, stream), tmp_path / "other" / file_of(tmp_path, stream).name)
    one = again(tmp_path, stream.id)
    two = open_stream(account(tmp_path), SPEC, resume=stream.id, folder=tmp_path / "other")
    first = one.add([5])
    with pytest.raises(LedgerError, match="SRD-C502"):
        two.add([5])
    with pytest.raises(LedgerError, match="SRD-C507"):
        two.add([5])
    assert recorded(tmp_path, stream, 2) == first.to_json().encode()
    with pytest.raises(LedgerError, match="SRD-C502"):
        open_stream(account(tmp_path), SPEC, resume=stream.id, folder=tmp_path / "other")


def test_an_older_ledger_is_refused(tmp_path: Path) -> None:
    stream = begun(tmp_path)
    stream.add([1])
    before = tmp_path / "before"
    before.mkdir()
    for each in tmp_path.glob("budget*"):
        (shutil.copytree if each.is_dir() else shutil.copy)(each, before / each.name)
    for _ in range(3):
        stream.add([1])
    stream.pause()
    with pytest.raises(LedgerError, match="SRD-C502"):
        open_stream(account(before), SPEC, resume=stream.id, folder=tmp_path / "streams")


def test_one_process_at_a_time(tmp_path: Path) -> None:
    stream = begun(tmp_path)
    with pytest.raises(LedgerError, match="SRD-C503"):
        again(tmp_path, stream.id)
    with stream:
        stream.add([1])
    assert again(tmp_path, stream.id).taken == 1


def test_the_file_is_its_owners_alone_and_small(tmp_path: Path) -> None:
    stream = open_stream(account(tmp_path), counting(10**6), rho="0.01", folder=tmp_path / "streams")
    for _ in range(3):
        stream.add(np.full(1000, 99_999))
    files = list((tmp_path / "streams").iterdir())
    assert all(stat.S_IMODE(each.stat().st_mode) == 0o600 for each in files)
    assert stat.S_IMODE((tmp_path / "streams").stat().st_mode) == 0o700
    assert sum(each.stat().st_size for each in files) <= 64 * 1024
    assert not any(each.name.startswith(".trial") or each.suffix == ".part" for each in files)


@pytest.mark.parametrize(
    "harm", [lambda whole: whole[:-3], lambda whole: whole.replace(b'"taken":3', b'"taken":2'), lambda _: b""]
)
def test_a_file_that_was_changed_is_refused(tmp_path: Path, harm: Callable[[bytes], bytes]) -> None:
    stream = begun(tmp_path)
    stream.add([1, 2, 3])
    stream.pause()
    file = file_of(tmp_path, stream)
    file.write_bytes(harm(file.read_bytes()))
    with pytest.raises(LedgerError, match="SRD-C504"):
        again(tmp_path, stream.id)


def test_the_price_stands_when_it_is_resumed(tmp_path: Path) -> None:
    stream = begun(tmp_path)
    stream.pause()
    with pytest.raises(ArgumentError, match="another price"):
        open_stream(account(tmp_path), SPEC, rho="0.2", resume=stream.id, folder=tmp_path / "streams")
    resumed = open_stream(account(tmp_path), SPEC, rho="0.1", resume=stream.id, folder=tmp_path / "streams")
    assert resumed.plan == stream.plan


def test_a_closed_stream_leaves_no_secret(tmp_path: Path) -> None:
    stream = begun(tmp_path)
    stream.add([1])
    stream.close()
    assert not [each for each in (tmp_path / "streams").iterdir() if each.stat().st_size]
    with pytest.raises(SordinoError):
        again(tmp_path, stream.id)


def test_a_forked_process_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stream = begun(tmp_path)
    monkeypatch.setattr(os, "getpid", lambda: -1)
    with pytest.raises(LedgerError, match="SRD-C503"):
        stream.add([1])


def test_another_spec_is_another_stream(tmp_path: Path) -> None:
    stream = begun(tmp_path)
    stream.pause()
    with pytest.raises(SordinoError):
        again(tmp_path, stream.id, counting(1000, window=8))
    with pytest.raises(SordinoError):
        again(tmp_path, stream.id, counting(1000, window=7, events=2))
    with pytest.raises(SordinoError):
        again(tmp_path, "1-" + "0" * 32)


def test_a_ledger_that_does_not_answer_loses_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The batch was taken; its numbers leave when the ledger answers again, and they are the same."""
    stream = begun(tmp_path)

    def silent(*_: Any) -> bytes:
        raise LedgerError("the ledger does not answer", "SRD-L050")

    with monkeypatch.context() as patch:
        patch.setattr(Work, "part", silent)
        with pytest.raises(LedgerError, match="SRD-L050"):
            stream.add([7])
        with pytest.raises(LedgerError, match="SRD-L050"):
            stream.add([8])
    assert stream.taken == 1
    assert stream.add([8]).first == 2
    assert stream.history().totals.shape == (2,)


def test_a_full_disk_lets_no_number_leave(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stream = begun(tmp_path)

    def full(*_: Any) -> None:
        raise OSError("no space")

    with monkeypatch.context() as patch:
        patch.setattr(os, "replace", full)
        with pytest.raises(LedgerError, match="SRD-C504"):
            stream.add([7])
    assert stream.taken == 0
    assert recorded(tmp_path, stream, 1) is None
    assert stream.add([7]).first == 1


def test_no_place_is_found_out_before_the_charge(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    held = account(tmp_path)
    with pytest.raises(ArgumentError, match="SRD-C505"):
        open_stream(held, SPEC, rho="0.1", folder=tmp_path / "file")
    assert not held.history


_KILLED = """
import os, sys
from pathlib import Path
from collect.stream.test_keeping import Work, begun
stream = begun(Path(sys.argv[1]))
stream.add([1, 2, 3])
Work.part = lambda *given: os.kill(os.getpid(), 9)
stream.add([4, 5])
"""


@pytest.mark.slow
def test_killed_for_good(tmp_path: Path) -> None:
    here = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    call = [sys.executable, "-c", _KILLED, str(tmp_path)]
    ended = subprocess.run(call, env=here, check=False, capture_output=True)  # noqa: S603  (our own text)
    assert ended.returncode == -9, ended.stderr[-500:]
    (identifier,) = (each.stem for each in (tmp_path / "streams").glob("*.stream"))
    resumed = again(tmp_path, identifier)
    assert resumed.taken == 5
    assert recorded(tmp_path, resumed, 2) == resumed.last.to_json().encode()
