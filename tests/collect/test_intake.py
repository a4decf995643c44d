"""The intake: acknowledged is on the disk, once, whatever is killed; damage is told; closed is closed for all."""

from __future__ import annotations

import os
import signal
import struct
import subprocess
import sys
import threading
import zlib
from pathlib import Path

import numpy as np
import pytest

from collect.surveys import bodies, pets
from sordino.collect import intake as module
from sordino.collect.intake import Intake, seal
from sordino.collect.kept import batches, counted, keep
from sordino.errors import ArgumentError, RunError

POLL = pets()


def opened(folder):
    return Intake(folder, POLL.digest, POLL.randomizer)


def records(count):
    return np.ascontiguousarray(bodies(POLL, np.arange(count) % 3)[:, 33:])


def kept(folder):
    path = keep(folder, POLL.digest, POLL.randomizer)
    import pyarrow.parquet as pq

    return pq.read_table(path)["id"].to_pylist()


def test_each_record_counts_once_among_threads_and_processes(tmp_path):
    first, second = opened(tmp_path), opened(tmp_path)
    rows = records(4000)

    def bring(where, shift):
        for start in range(0, 4000, 400):
            where.take(np.roll(rows, shift, axis=0)[start : start + 500])

    threads = [threading.Thread(target=bring, args=(where, shift)) for where in (first, second) for shift in (0, 777)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    expected = POLL.randomizer.count(rows[:, 16:])
    for where in (first, second):
        reports, counts = where.counts()
        assert reports == 4000
        assert np.array_equal(counts, expected)
    seal(tmp_path)
    with pytest.raises(ArgumentError, match="SRD-C705"):
        second.take(records(1))
    with pytest.raises(ArgumentError, match="SRD-C705"):
        second.take(rows[:1])  # a duplicate, too, hears that it is over
    first.end()
    second.end()
    assert kept(tmp_path) == sorted(map(bytes, rows[:, :16]))
    assert not list(tmp_path.glob("*.segment"))
    reports, counts = counted(POLL.randomizer, batches(tmp_path / "reports.parquet"))
    assert reports == 4000
    assert np.array_equal(counts, expected)


def test_nothing_is_acknowledged_before_it_is_synced(tmp_path, monkeypatch):
    held = threading.Event()
    sync = os.fdatasync
    where = opened(tmp_path)
    where.take(records(1))
    monkeypatch.setattr(os, "fdatasync", lambda handle: (held.wait(), sync(handle))[1])
    rows, done = records(2), []
    where.submit(rows, done.append)
    while not where._syncing:
        pass
    where.submit(rows[:1], done.append)  # a duplicate waits for the first to be on the disk
    assert done == []
    held.set()
    where.end()
    assert done == [None, None]
    assert opened(tmp_path).counts()[0] == 3


def test_a_full_disk_is_told_and_forgotten(tmp_path, monkeypatch):
    where, rows = opened(tmp_path), records(10)
    where.take(rows[:5])

    def full(_):
        raise OSError(28, "no space")

    with monkeypatch.context() as patch:
        patch.setattr(os, "fdatasync", full)
        with pytest.raises(RunError, match="SRD-C711"):
            where.take(rows)
    where.take(rows)
    assert where.counts()[0] == 10
    seal(tmp_path)
    where.end()
    assert len(kept(tmp_path)) == 10


def test_a_duplicate_of_what_could_not_be_written_is_not_acknowledged(tmp_path, monkeypatch):
    """It comes while the first is on its way to a disk that turns out to be full."""
    held, where, rows, done = threading.Event(), opened(tmp_path), records(3), []

    def full(_):
        held.wait()
        raise OSError(28, "no space")

    with monkeypatch.context() as patch:
        patch.setattr(os, "fdatasync", full)
        where.submit(rows[:1], done.append)
        while not where._syncing:
            pass
        where.submit(rows[:1], done.append)
        held.set()
        while len(done) < 2:
            pass
    assert [each and each.code for each in done] == ["SRD-C711"] * 2
    where.take(rows)
    where.end()
    assert opened(tmp_path).counts()[0] == 3


def test_too_much_at_once_is_asked_to_wait(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "MOST_WAITING", 100)
    where = opened(tmp_path)
    with pytest.raises(RunError, match="SRD-C710"):
        where.take(records(50))
    monkeypatch.setattr(module, "MOST_RECORDS", 2)
    where.take(records(2))
    with pytest.raises(RunError, match="SRD-C710"):
        where.take(records(1))
    where.end()
    with pytest.raises(RunError, match="SRD-C711"):
        where.take(records(1))


def test_a_torn_frame_is_no_frame_and_a_damaged_one_is_told(tmp_path):
    where, rows = opened(tmp_path), records(60)
    for start in (0, 20, 40):
        where.take(rows[start : start + 20])
    where.end()
    (segment,) = tmp_path.glob("*.segment")
    whole = segment.read_bytes()
    frame = 12 + 20 * 17
    assert len(whole) == 53 + 3 * frame
    for cut in range(0, frame, 7):
        segment.write_bytes(whole[: len(whole) - 1 - cut])
        assert opened(tmp_path).counts()[0] == 40
        segment.write_bytes(whole[: len(whole) - 1 - cut] + bytes(1 + cut))  # a size that was synced before its bytes
        assert opened(tmp_path).counts()[0] == 40
    for size in range(0, 53, 10):
        segment.write_bytes(whole[:size])
        assert opened(tmp_path).counts()[0] == 0
    for place in (10, 60, 53 + frame, 53 + frame + 100):
        hurt = bytearray(whole)
        hurt[place] ^= 1
        segment.write_bytes(hurt)
        with pytest.raises(RunError, match="SRD-C711"):
            opened(tmp_path)


def test_a_report_that_looks_like_a_frame_is_none(tmp_path):
    """Whoever sends it, and is in the frame that a crash tore, does not make it a damaged one."""
    where, rows = opened(tmp_path), records(20)
    where.take(rows[:10])
    forged = rows[10:].copy()
    body = bytes(5)  # four bytes of the id, and the payload
    forged[3] = np.frombuffer(b"SRDF" + struct.pack("<II", len(body), zlib.crc32(body)) + body, np.uint8)
    where.take(forged)
    where.end()
    (segment,) = tmp_path.glob("*.segment")
    segment.write_bytes(segment.read_bytes()[:-20])
    assert opened(tmp_path).counts()[0] == 10


def test_many_reports_are_sorted_in_passes(tmp_path, monkeypatch):
    from sordino.collect import kept as sorting

    monkeypatch.setattr(sorting, "_PASS_BYTES", 1000)
    where, rows = opened(tmp_path), records(3000)
    where.take(rows)
    seal(tmp_path)
    where.end()
    assert kept(tmp_path) == sorted(map(bytes, rows[:, :16]))


def test_parquet_of_any_engine_gives_the_same_counts():
    import pyarrow as pa

    rows = records(1000)
    payloads = [bytes(each) for each in rows[:, 16:]]
    whole = POLL.randomizer.count(rows[:, 16:])
    for kind in (pa.binary(), pa.large_binary(), pa.binary(1)):
        table = pa.table({"payload": pa.array(payloads, kind)})
        reports, counts = counted(POLL.randomizer, table.to_batches(max_chunksize=77))
        assert reports == 1000
        assert np.array_equal(counts, whole)


BRINGING = """
import sys
sys.path.insert(0, sys.argv[2])
from pathlib import Path
import numpy as np
from collect.test_intake import opened
where = opened(Path(sys.argv[1]))
rows = np.load(sys.argv[3])
for start in range(0, len(rows), 10):
    where.take(rows[start : start + 10])
    print(start + 10, flush=True)
"""


def killed(tmp_path, times):
    """Bring the same rows again and again, killed after some were acknowledged; return all that ever was."""
    rows = records(10_000)
    np.save(tmp_path / "rows.npy", rows)
    folder = tmp_path / "round"
    command = [sys.executable, "-c", BRINGING, str(folder), str(Path(__file__).parents[1]), str(tmp_path / "rows.npy")]
    acknowledged = 0
    for attempt in range(times):
        process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)  # noqa: S603
        for line in process.stdout:
            acknowledged = max(acknowledged, int(line))
            if int(line) >= 30 * (attempt + 1):
                break
        os.kill(process.pid, signal.SIGKILL)
        rest = process.communicate()[0].split()
        acknowledged = max([acknowledged, *map(int, rest)])
    return folder, rows, acknowledged


def check(folder, rows, acknowledged):
    seal(folder)
    found = kept(folder)
    assert len(found) == len(set(found))
    assert set(map(bytes, rows[:acknowledged, :16])) <= set(found) <= set(map(bytes, rows[:, :16]))


def test_kills_lose_nothing_and_double_nothing(tmp_path):
    check(*killed(tmp_path, 3))


@pytest.mark.long
def test_many_kills_lose_nothing_and_double_nothing(tmp_path):
    check(*killed(tmp_path, 50))
