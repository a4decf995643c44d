"""Power losses: a ledger at work in a process whose writes and syncs are recorded, and what a disk may hold afterwards.

A disk keeps what was synced. Of what was written to a file since its last sync it keeps anything: each write, a part of
it, or nothing, whatever became of the others.
"""

from __future__ import annotations

import os
import random
import shutil
import struct
import subprocess
import sys
import threading
from dataclasses import dataclass
from pathlib import Path

from ledger.samples import TRIPS, reserved, rule
from sordino.accounting.budget import budget
from sordino.ledger.ledger import Ledger

WRITE, TRUNCATE, SYNC = 1, 2, 3
SECTOR = 512
ANSWERS = "answers"
_HEAD = struct.Struct("<4Q")


@dataclass(frozen=True)
class Step:
    """One thing that a process did to a file."""

    operation: int
    name: str
    offset: int
    data: bytes


def recorded(directory: Path, *, sync: str) -> list[Step]:
    """Let a ledger work in `directory` / "disk", in a process of its own, and return all that it did to files there."""
    compiler = shutil.which("cc") or shutil.which("gcc")
    assert compiler, "a C compiler was not found: run scripts/install-servers"
    library, record, disk = directory / "unsynced.so", directory / "record", directory / "disk"
    disk.mkdir()
    source = Path(__file__).with_name("unsynced.c")
    subprocess.run([compiler, "-shared", "-fPIC", "-O1", "-o", library, source, "-ldl", "-lpthread"], check=True)  # noqa: S603
    environ = os.environ | {
        "LD_PRELOAD": str(library),
        "SORDINO_RECORD": str(record),
        "SORDINO_RECORD_BELOW": str(disk),
    }
    environ["PYTHONPATH"] = os.pathsep.join(sys.path)
    start = f"from ledger.powerloss import work; work({str(disk)!r}, {sync!r})"
    subprocess.run([sys.executable, "-c", start], env=environ, check=True, timeout=120)  # noqa: S603
    return _steps(record.read_bytes(), disk)


def work(place: str, sync: str) -> None:
    """Reserve, answer (a line in a file), settle, say so: alone, and in three threads at once."""
    with Ledger.open(Path(place) / "ledger.db") as ledger:
        with ledger._session.log.store.writing() as writing:
            writing._cursor.execute("PRAGMA wal_autocheckpoint=24")  # so that the file itself is written to as well
        ledger._session.log.store._writer.cursor().execute(f"PRAGMA synchronous={sync}")  # type: ignore[union-attr]
        ledger.open_scope(TRIPS, rule(budget(epsilon=10**6)), by="owner")
        answers = os.open(Path(place) / ANSWERS, os.O_CREAT | os.O_WRONLY | os.O_APPEND, 0o600)

        def answer(times: int) -> None:
            for _ in range(times):
                reservation = reserved(ledger)
                os.write(answers, f"reserved {reservation.id}\n".encode())
                ledger.settle(reservation, b"42" * 100)
                os.write(answers, f"settled {reservation.id}\n".encode())

        answer(12)
        threads = [threading.Thread(target=answer, args=(8,)) for _ in range(3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()


def _steps(record: bytes, disk: Path) -> list[Step]:
    steps, at = [], 0
    while at < len(record):
        operation, path_length, offset, length = _HEAD.unpack_from(record, at)
        at += _HEAD.size
        path, data = record[at : at + path_length], record[at + path_length : at + path_length + length]
        at += path_length + length
        steps.append(Step(operation, os.path.relpath(os.fsdecode(path), disk), offset, data))
    return steps


def answered(steps: list[Step]) -> set[str]:
    """Return the lines that had been given out."""
    said = b"".join(step.data for step in steps if step.name == ANSWERS and step.operation == WRITE)
    return set(said.decode().split("\n")[:-1])


def after_a_power_loss(steps: list[Step], chance: random.Random) -> dict[str, bytes]:
    """Return what the disk may hold after these steps, by the file's name."""
    files: dict[str, bytearray] = {}
    synced = {step.name: place for place, step in enumerate(steps) if step.operation == SYNC}
    share = chance.choice((0.0, 0.1, 0.5, 0.9, 1.0))
    for place, step in enumerate(steps):
        file = files.setdefault(step.name, bytearray())
        pending = place > synced.get(step.name, -1)
        if step.operation == SYNC or (pending and chance.random() >= share):
            continue
        if step.operation == TRUNCATE:
            del file[step.offset :]
            continue
        data = step.data
        if pending and chance.random() < 0.3:
            end = chance.randrange(len(data) + 1)
            data = data[: end - end % SECTOR] if len(data) > SECTOR else data[:end]
        file.extend(bytes(max(0, step.offset + len(data) - len(file))))
        file[step.offset : step.offset + len(data)] = data
    return {name: bytes(content) for name, content in files.items()}
