"""Reports as they are kept once a round is closed: Parquet, ordered by their random ids, and the intake is removed.

**Guarantee**: each report is in it once. Nothing in it says when or in which order reports arrived, or from where.
**Assumes**: ids are random, as those of every client are; who chooses them tells what they choose to tell.
"""

from __future__ import annotations

import fcntl
import os
import struct
from collections.abc import Iterable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, cast

import numpy as np
from numpy.typing import NDArray

from sordino.ledger.keys import sync_directory

from .intake import SEGMENTS, Records, frames, locked
from .randomizer import Counts, Payloads, Randomizer
from .wire import ID

if TYPE_CHECKING:
    import pyarrow as pa

REPORTS = "reports.parquet"
_PASS_BYTES = 256 * 2**20
"""About how much of all reports is sorted at once."""
_BATCH_ROWS = 1 << 18


def keep(folder: Path, digest: bytes, way: Randomizer) -> Path:
    """Write the reports of a sealed round to Parquet, remove its intake, and return the path; again is as once."""
    path = folder / REPORTS
    with locked(folder, fcntl.LOCK_EX):
        if not path.exists():
            _write(folder, path, digest, way.size)
        for segment in folder.glob(SEGMENTS):
            segment.unlink()
        sync_directory(folder)
    return path


def _write(folder: Path, path: Path, digest: bytes, size: int) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    width = ID + size
    head = b"sordino intake 1\n" + digest + struct.pack("<I", width)
    segments = sorted(folder.glob(SEGMENTS))
    passes = min(256, 1 + sum(each.stat().st_size for each in segments) // _PASS_BYTES)
    edges = np.linspace(0, 256, passes + 1).astype(int)
    schema = pa.schema([("id", pa.binary(ID)), ("payload", pa.binary(size))])
    scratch = path.with_suffix(".part")
    with open(scratch, "wb", opener=lambda name, flags: os.open(name, flags, 0o600)) as file:
        # Ids and payloads are random, so nothing that finds patterns in them is worth its time.
        plain = {"use_dictionary": False, "write_statistics": False, "compression": "none"}
        with pq.ParquetWriter(file, schema, **plain) as writer:
            for low, high in pairwise(edges):
                rows = _unique(_between(segments, head, width, int(low), int(high)), width)
                for start in range(0, len(rows), _BATCH_ROWS):
                    writer.write_batch(_batch(rows[start : start + _BATCH_ROWS], schema))
        file.flush()
        os.fsync(file.fileno())
    os.replace(scratch, path)
    sync_directory(folder)


def _between(segments: list[Path], head: bytes, width: int, low: int, high: int) -> Iterator[Records]:
    """Yield records whose ids begin with a byte from `low` up to `high`."""
    for path in segments:
        for body, _ in frames(path, head):
            rows = np.frombuffer(body, np.uint8).reshape(-1, width)
            yield rows[(rows[:, 0] >= low) & (rows[:, 0] < high)]


def _unique(parts: Iterable[Records], width: int) -> Records:
    """Return records in the order of their ids, the first of each."""
    rows = np.concatenate([np.zeros((0, width), np.uint8), *parts])
    ids = np.ascontiguousarray(rows[:, :ID]).view(">u8")
    order = np.lexsort((ids[:, 1], ids[:, 0]))
    ids = ids[order]
    first = np.ones(len(rows), bool)
    first[1:] = (ids[1:] != ids[:-1]).any(1)
    return rows[order[first]]


def _batch(rows: Records, schema: pa.Schema) -> pa.RecordBatch:
    import pyarrow as pa

    columns = (np.ascontiguousarray(rows[:, :ID]), np.ascontiguousarray(rows[:, ID:]))
    arrays = [
        pa.FixedSizeBinaryArray.from_buffers(field.type, len(rows), [None, pa.py_buffer(column)])
        for field, column in zip(schema, columns, strict=True)
    ]
    return pa.RecordBatch.from_arrays(arrays, schema=schema)


def batches(path: Path | str) -> Iterator[pa.RecordBatch]:
    """Yield the payloads that Parquet holds (a file, or a pattern of files), batch by batch, by DuckDB."""
    import duckdb

    with duckdb.connect(config={"preserve_insertion_order": False}) as connection:
        reader = connection.sql("SELECT payload FROM read_parquet(?)", params=[str(path)]).to_arrow_reader(_BATCH_ROWS)
        yield from cast("Iterable[pa.RecordBatch]", reader)


def counted(way: Randomizer, payloads: Iterable[pa.RecordBatch]) -> tuple[int, Counts]:
    """Return how many payloads there are and their counts, from record batches of any engine: the same whichever."""
    total, reports = way.count(np.zeros((0, way.size), np.uint8)), 0
    for batch in payloads:
        total = total + way.count(_payloads(batch.column("payload"), way.size))
        reports += batch.num_rows
    return reports, total


def _payloads(column: pa.Array, size: int) -> Payloads:
    """Return a column of binaries as rows of bytes."""
    import pyarrow as pa

    fixed = column.cast(pa.binary(size))
    held: NDArray[np.uint8] = np.frombuffer(fixed.buffers()[1], np.uint8)
    start = fixed.offset * size
    return held[start : start + len(fixed) * size].reshape(len(fixed), size)
