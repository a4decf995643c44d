"""Counts by Spark: each task counts the payloads of its part of the files, and the driver adds up what they found.

**Guarantee**: the integers that DuckDB gives on one machine (``kept.py``): both count payloads by the same function,
and counts of parts add up to the counts of all, in whichever order parts come.
**Assumes**: workers can import sordino, and read the path.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from .kept import counted
from .randomizer import Counts, Randomizer

if TYPE_CHECKING:
    import pyarrow as pa

_PART = "reports bigint, counts binary"


def counted_by_spark(session: Any, way: Randomizer, path: Path | str) -> tuple[int, Counts]:
    """Return how many payloads Parquet holds (a file, a folder or a pattern that the session finds), and counts."""

    def part(payloads: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        import pyarrow as pa

        reports, found = counted(way, payloads)
        yield pa.RecordBatch.from_pydict({"reports": [reports], "counts": [found.tobytes()]})

    total, reports = way.count(np.zeros((0, way.size), np.uint8)), 0
    for row in session.read.parquet(str(path)).select("payload").mapInArrow(part, _PART).collect():
        total = total + np.frombuffer(row["counts"], np.int64).reshape(total.shape)
        reports += row["reports"]
    return reports, total
