"""A watch: the sparse vector technique over answers that come one at a time.

A watch is what is left of a grant once it is used: the noisy threshold, which is drawn once and stays secret, and how
many positives may still be given. ``sparse_vector.py`` has the guarantee and the proof. Safe to share between threads:
each `ask` is one turn, taken whole.
"""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sordino import noise
from sordino.errors import ArgumentError, GrantError

from .grid import Grid


class Watch:
    """Says of each answer whether it is above the threshold; refuses to go on after the last positive allowed."""

    __slots__ = ("_law", "_left", "_lock", "_noisy_threshold", "grid")

    def __init__(self, noisy_threshold: int, law: noise.DiscreteLaplace, grid: Grid, positives: int) -> None:
        self.grid = grid
        self._noisy_threshold = noisy_threshold
        self._law = law
        self._left = positives
        self._lock = threading.Lock()

    @property
    def positives_left(self) -> int:
        """How many positives may still be given: known to whoever has seen the answers."""
        return self._left

    @property
    def noisy_threshold(self) -> int:
        """The secret, in steps: to be kept where nobody reads, so that a watch goes on after a restart; never shown."""
        return self._noisy_threshold

    def ask(self, value: Any) -> bool:
        """Return whether `value` is above the threshold, both noisy."""
        return self.compare(answer_to_steps(self.grid, value))

    def compare(self, steps: int) -> bool:
        """Return whether an answer in steps is above; one turn, so that no two threads share the last positive."""
        with self._lock:
            if self._left == 0:
                raise GrantError(
                    "this watch has given all the positive answers that were paid for; "
                    "reserve a new grant and start another",
                    "SRD-G005",
                )
            above = steps + self._law.draw() >= self._noisy_threshold
            self._left -= above
            return bool(above)

    def compare_all(self, steps: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Return whether each answer in steps is above, up to and with the last positive allowed; one turn for all."""
        with self._lock:
            above: NDArray[np.bool_] = steps + self._law.draw(steps.size) >= self._noisy_threshold
            positive = np.flatnonzero(above)[: self._left]
            told = steps.size if positive.size < self._left else int(positive[-1]) + 1 if self._left else 0
            self._left -= positive.size
            return above[:told]

    def __repr__(self) -> str:
        return f"{type(self).__name__}(positives_left={self._left})"

    def __reduce__(self) -> str:
        raise GrantError("a watch cannot be copied or sent elsewhere: its positives are paid for once", "SRD-G003")


class NumericWatch:
    """A watch that says of each positive how large it is, with noise of its own."""

    __slots__ = ("_law", "_watch")

    def __init__(self, watch: Watch, law: noise.DiscreteLaplace) -> None:
        self._watch = watch
        self._law = law

    @property
    def positives_left(self) -> int:
        """How many positives may still be given."""
        return self._watch.positives_left

    def ask(self, value: Any) -> float | None:
        """Return a noisy `value` if it is above the threshold, else None."""
        steps = answer_to_steps(self._watch.grid, value)
        if not self._watch.compare(steps):
            return None
        return float(self._watch.grid.from_steps(steps + self._law.draw()))

    def __repr__(self) -> str:
        return f"{type(self).__name__}(positives_left={self.positives_left})"


def answer_to_steps(grid: Grid, value: Any) -> int:
    """Return one number in steps, or refuse without showing it."""
    steps = grid.to_steps(value)
    if type(steps) is not int:
        raise ArgumentError("the value must be a single number; release() takes lists", "SRD-A001")
    return steps
