"""Messages of many reports as rows of one array, and back: what has not the right length becomes a row of zeros."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .field import Bytes, Elements


def as_rows(messages: Sequence[Any], size: int) -> tuple[Bytes, NDArray[np.bool_]]:
    """Return each message as a row of `size` bytes, and whether it was one: rows of what was not are zero."""
    fits = np.array([isinstance(message, bytes) and len(message) == size for message in messages], np.bool_)
    blank = bytes(size)
    joined = b"".join([message if fit else blank for message, fit in zip(messages, fits, strict=True)])
    return np.frombuffer(joined, np.uint8).reshape(len(messages), size), fits


def as_messages(rows: Bytes) -> list[bytes]:
    """Return each row as bytes."""
    data, size = rows.tobytes(), rows.shape[1]
    return [data[start * size : (start + 1) * size] for start in range(len(rows))]


def no_elements(rows: int) -> Elements:
    """Return rows without any element."""
    return np.zeros((rows, 0), dtype=object)


def no_bytes(rows: int) -> Bytes:
    """Return rows without any byte."""
    return np.zeros((rows, 0), np.uint8)
