"""Exact noise for the next step, drawn on a thread of its own while this step computes gradients.

**Guarantee**: every draw is used once: it is handed out by a queue and kept nowhere. Noise does not depend on data, so
when it is drawn does not matter; what is drawn and never used is dropped.
"""

from __future__ import annotations

from concurrent.futures import Future, ThreadPoolExecutor
from typing import Self

import numpy as np
from numpy.typing import NDArray

from sordino.noise.law import Drawable

_PIECE = 1 << 18


class NoiseAhead:
    """Draws of `law`, `size` at a time, one array ahead. Used in a ``with``."""

    def __init__(self, law: Drawable, size: int) -> None:
        self._law = law
        self._size = size
        self._pool = ThreadPoolExecutor(max_workers=1, thread_name_prefix="noise")
        self._next: Future[NDArray[np.int64]] = self._pool.submit(self._draw)

    def take(self) -> NDArray[np.int64]:
        """Return an array of fresh draws, and begin the next."""
        found = self._next.result()
        self._next = self._pool.submit(self._draw)
        return found

    def _draw(self) -> NDArray[np.int64]:
        whole = np.empty(self._size, dtype=np.int64)
        for start in range(0, self._size, _PIECE):  # pieces stay in the processor's cache
            piece = whole[start : start + _PIECE]
            piece[:] = self._law.draw(len(piece))
        return whole

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._next.cancel()
        self._pool.shutdown(wait=True)
