"""Arrays and tables as bytes: the files of a release, always the same bytes for the same content."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Mapping
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

_BEGINNING = (1980, 1, 1, 0, 0, 0)
"""The time that every array of an archive is said to be from: files tell nothing of when they were made."""


def arrays_to_bytes(arrays: Mapping[str, NDArray[Any]]) -> bytes:
    """Return an .npz of arrays of numbers, in the order of their names; no pickles."""
    whole = io.BytesIO()
    with zipfile.ZipFile(whole, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in sorted(arrays):
            one = io.BytesIO()
            np.lib.format.write_array(one, np.ascontiguousarray(arrays[name]), allow_pickle=False)
            archive.writestr(zipfile.ZipInfo(f"{name}.npy", _BEGINNING), one.getvalue(), zipfile.ZIP_DEFLATED)
    return whole.getvalue()


def arrays_from_bytes(content: bytes) -> dict[str, NDArray[Any]]:
    """Return the arrays of an .npz; nothing in it is run."""
    with np.load(io.BytesIO(content), allow_pickle=False) as archive:
        return {name: archive[name] for name in archive.files}


def table_to_bytes(table: pa.Table) -> bytes:
    """Return a table as Parquet."""
    sink = io.BytesIO()
    pq.write_table(table, sink, compression="zstd")
    return sink.getvalue()


def table_from_bytes(content: bytes) -> pa.Table:
    """Return the table of a Parquet file."""
    return pq.read_table(io.BytesIO(content))
