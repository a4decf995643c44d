"""Exact noise for the next step, drawn on a thread of its own while this step computes gradients.

The thread goes ahead by so many draws at most, which bounds the memory. When a step wants its noise, what is missing is
drawn by the thread and by the caller, until they meet; what is there is used first.

**Guarantee**: every draw is used once: it is handed out by a queue and kept nowhere. Noise does not depend on data, so
when and by whom it is drawn does not matter; what is drawn and never used is dropped.
"""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from sordino.noise.law import Drawable

_PIECE = 1 << 17
"""Draws that are made at once: few enough to stay in the processor's cache."""

_AHEAD = 6
"""How many pieces are drawn before they are wanted."""

_NARROW = np.iinfo(np.int32)

Piece = NDArray[Any]
"""Whole numbers: int32 where all of them fit, which takes half the memory, else int64."""


class NoiseAhead:
    """Draws of `law`, `size` for each step. Used in a ``with``."""

    def __init__(self, law: Drawable, size: int) -> None:
        self._law = law
        self._piece = min(_PIECE, max(1, size))
        self._count, self._rest = divmod(size, self._piece)
        self._pool = ThreadPoolExecutor(max_workers=1, thread_name_prefix="noise")
        self._begun = self._begin(min(_AHEAD, self._count))

    def pieces(self) -> Iterator[Piece]:
        """Yield the fresh draws of one step, piece by piece, and begin those of the next.

        Pieces of one size are alike, so whichever is there first is used first, and none waits in memory for others.
        """
        begun, self._begun = self._begun, []  # nothing is begun after a step that failed
        begun += self._begin(self._count - len(begun))
        last = self._pool.submit(self._draw, self._rest)
        while begun:
            if not begun[0].done() and begun[-1].cancel():
                begun.pop()
                yield self._draw(self._piece)
            else:
                yield begun.pop(0).result()
        if self._rest:
            yield self._draw(self._rest) if last.cancel() else last.result()
        self._begun = self._begin(min(_AHEAD, self._count))

    def take(self) -> NDArray[np.int64]:
        """Return the fresh draws of one step in one array, and begin those of the next."""
        return np.concatenate([piece.astype(np.int64, copy=False) for piece in self.pieces()])

    def _begin(self, count: int) -> list[Future[Piece]]:
        return [self._pool.submit(self._draw, self._piece) for _ in range(count)]

    def _draw(self, size: int) -> Piece:
        if not size:
            return np.zeros(0, dtype=np.int32)
        found = self._law.fitting(size)
        if found.dtype == np.int32:
            return found
        fits = _NARROW.min <= found.min() and found.max() <= _NARROW.max
        return found.astype(np.int32) if fits else found

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._pool.shutdown(wait=True, cancel_futures=True)
