"""The points of a projective space over a prime field, by number, and those on and off a point's hyperplane.

A point is a vector whose first coordinate that is not 0 is 1. With s coordinates after that one there are q^s of them;
they are numbered by s first, then by those coordinates as the digits of a number, the highest first.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import scipy.fft
from numpy.typing import NDArray

from sordino.collect.randomizer import Codes, Counts


@dataclass(frozen=True)
class Space:
    """All points with `t` coordinates modulo the prime `q`."""

    q: int
    t: int

    @property
    def points(self) -> int:
        """How many points there are."""
        return _points(self.q, self.t)

    @property
    def on(self) -> int:
        """How many points are on a hyperplane."""
        return _points(self.q, self.t - 1)

    @property
    def off(self) -> int:
        """How many points are not on a hyperplane."""
        return int(self.q ** (self.t - 1))

    @property
    def shared(self) -> int:
        """How many points two hyperplanes share."""
        return _points(self.q, self.t - 2)

    def on_hyperplane(self, values: Codes, which: Codes) -> Codes:
        """Return the `which`-th point v with u·v = 0, u being the point of each value.

        The other coordinates are those of a point of one dimension less, and the one at u's last place that is not 0
        follows. It never comes to stand first: if all others before it are 0, so is it.
        """
        own, pivot = self._with_pivot(values)
        free = _spread(_coordinates(self.q, self.t - 1, which), pivot)
        _set(free, pivot, -_dot(own, free) * self._inverse(_get(own, pivot)), self.q)
        return self._number(free)

    def off_hyperplane(self, values: Codes, which: Codes) -> Codes:
        """Return the `which`-th point v with u·v ≠ 0: the other coordinates at will, u·v = 1, then scaled."""
        own, pivot = self._with_pivot(values)
        free = _spread(_digits(which, self.q, self.t - 1), pivot)
        _set(free, pivot, (1 - _dot(own, free)) * self._inverse(_get(own, pivot)), self.q)
        first = _get(free, np.argmax(free != 0, axis=1))
        return self._number(free * self._inverse(first)[:, None] % self.q)

    def on_hyperplanes(self, counts: Counts, values: int) -> Counts:
        """Return how many of the counted points lie on the hyperplane of each of the first `values` points.

        Each count is put on all multiples of its point. Then the Fourier transform at u is, for each counted v, q − 1
        if u·v = 0 and −1 otherwise; the transform is the same at −u, so half of it suffices.
        """
        table = np.zeros(self.q**self.t)
        used = np.flatnonzero(counts)
        points = _coordinates(self.q, self.t, used)
        for times in range(1, self.q):
            table[_number_of(points * times % self.q, self.q)] = counts[used]
        waves = scipy.fft.rfftn(table.reshape((self.q,) * self.t)).real
        asked = _coordinates(self.q, self.t, np.arange(values))
        mirrored = np.where(asked[:, -1:] > self.q // 2, -asked % self.q, asked)
        held = np.rint(waves[tuple(mirrored.T)]).astype(np.int64)
        return np.asarray((held + counts.sum()) // self.q)

    def _with_pivot(self, values: Codes) -> tuple[NDArray[np.int64], Codes]:
        own = _coordinates(self.q, self.t, values)
        return own, self.t - 1 - np.argmax(own[:, ::-1] != 0, axis=1)

    def _inverse(self, numbers: Codes) -> Codes:
        return _inverses(self.q)[numbers]

    def _number(self, vectors: NDArray[np.int64]) -> Codes:
        """Return the numbers of points: a vector with s coordinates after the 1 is q^s + the rest, as a number."""
        s = self.t - 1 - np.argmax(vectors != 0, axis=1)
        powers = self.q ** np.arange(self.t)
        starts = np.array([_points(self.q, each) for each in range(self.t)])
        return np.asarray(_number_of(vectors, self.q) - powers[s] + starts[s])


@lru_cache(maxsize=64)
def _inverses(q: int) -> Codes:
    return np.array([0] + [pow(each, -1, q) for each in range(1, q)], dtype=np.int64)


def _points(q: int, t: int) -> int:
    return int((q**t - 1) // (q - 1))


def _coordinates(q: int, t: int, which: Codes) -> NDArray[np.int64]:
    """Return the vectors of points by their numbers."""
    starts = np.array([_points(q, each) for each in range(t)])
    s = np.searchsorted(starts, which, side="right") - 1
    return _digits(which - starts[s] + (q ** np.arange(t))[s], q, t)


def _digits(numbers: Codes, q: int, t: int) -> NDArray[np.int64]:
    return np.asarray(numbers[:, None] // q ** np.arange(t - 1, -1, -1) % q)


def _number_of(vectors: NDArray[np.int64], q: int) -> Codes:
    return np.asarray(vectors @ (q ** np.arange(vectors.shape[1] - 1, -1, -1)))


def _spread(free: NDArray[np.int64], pivot: Codes) -> NDArray[np.int64]:
    """Return the vectors with a 0 put in at the pivot's place."""
    place = np.arange(free.shape[1] + 1)
    source = np.clip(place - (place > pivot[:, None]), 0, free.shape[1] - 1)
    return np.where(place == pivot[:, None], 0, np.take_along_axis(free, source, axis=1))


def _get(vectors: NDArray[np.int64], place: Codes) -> Codes:
    return np.take_along_axis(vectors, place[:, None], axis=1)[:, 0]


def _set(vectors: NDArray[np.int64], place: Codes, numbers: Codes, q: int) -> None:
    np.put_along_axis(vectors, place[:, None], (numbers % q)[:, None], axis=1)


def _dot(first: NDArray[np.int64], second: NDArray[np.int64]) -> Codes:
    return np.asarray((first * second).sum(axis=1))
