"""Counting on Spark: its workers read Parquet and count, and this process adds up what they found.

**Guarantee**: the same integers as DuckDB's, whatever the number of workers: counts of parts add up to those of all.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    import pyarrow as pa

    from sordino.collect.randomizer import Counts, Randomizer

    Counting = Callable[[Randomizer, Path], tuple[int, Counts]]


def on_spark(session: Any) -> Counting:
    """Return what counts the payloads in Parquet on a session of Spark, which reaches the files by the same path."""
    return partial(_counted, session)


def _counted(session: Any, way: Randomizer, path: Path) -> tuple[int, Counts]:
    payloads = session.read.parquet(str(path.resolve())).select("payload")
    parts = payloads.mapInArrow(partial(_part, way), "reports long, counts binary").collect()
    total = way.count(np.zeros((0, way.size), np.uint8))
    for part in parts:
        total = total + np.frombuffer(part["counts"], dtype=total.dtype).reshape(total.shape)
    return sum(part["reports"] for part in parts), total


def _part(way: Randomizer, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Count what one worker reads."""
    import pyarrow as pa

    from sordino.collect.kept import counted

    reports, counts = counted(way, batches)
    yield pa.RecordBatch.from_pydict({"reports": [reports], "counts": [np.ascontiguousarray(counts).tobytes()]})
