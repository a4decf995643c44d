"""Suggestions for a linear program that packs: how much of each group, and a price for each node, ever better ones.

    max Σ x_p   over 0 ≤ x ≤ c,  Mx ≤ D;   M has ones where group p has node v.

First an interior point method. Its start is inside both programs, and so is all that follows; what is left to gain is
then the sum of the products x·z + (c − x)·w + s·y, which each step brings down. Each step solves one system as large as
there are heavy nodes. Where that ends for lack of digits, a first-order method goes on, which converges always
(Chambolle & Pock 2011, Theorem 1), if slowly. Nothing here is believed by anybody: see ``capped.py``.
**Source**: Mehrotra 1992.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import LinAlgError, cho_factor, cho_solve

Floats = NDArray[np.float64]
Whole = NDArray[np.int64]

_STEPS_EACH = 12
_BETWEEN_LOOKS = 200
_SHRINK = 0.15
_CLOSE = 0.1
_LEAST_WEIGHT = 1e-13


def suggestions(counts: Whole, members: Whole, heavy: int, cap: float) -> Iterator[tuple[Floats, Floats]]:
    """Yield ever better amounts for the groups and prices for the heavy nodes, without end."""
    amounts = prices = None
    for amounts, prices in _Path(counts, members, heavy, cap).steps():
        yield amounts, prices
    yield from _first_order(counts, members, heavy, cap, amounts, prices)


class _Path:
    """The point on the central path of the dual, for a falling weight of the barrier."""

    def __init__(self, counts: Whole, members: Whole, heavy: int, cap: float) -> None:
        self.c, self.members, self.heavy, self.cap = counts.astype(np.float64), members, heavy, cap
        width, base = members.shape[1], heavy + 1
        self._places = [(i, j) for i in range(width) for j in range(i, width)]
        self._pairs = [members[:, i] * base + members[:, j] for i, j in self._places]

    def steps(self) -> Iterator[tuple[Floats, Floats]]:
        y, weight = np.full(self.heavy, 0.5), float(self.c.mean())
        while weight > _LEAST_WEIGHT:
            for _ in range(_STEPS_EACH):
                x, theta = self._best(y, weight)
                slope = self.cap - self._gather(x) - weight / y
                try:
                    factor = cho_factor(self._normal(theta) + np.diag(weight / y**2))
                    change = -cho_solve(factor, slope)
                except (LinAlgError, ValueError):
                    return
                decrement = -float(slope @ change) / weight
                y = y + self._far(y, change, weight) * change
                if decrement < _CLOSE:
                    break
            yield self._best(y, weight)[0], y
            weight *= _SHRINK

    def _best(self, y: Floats, weight: float) -> tuple[Floats, Floats]:
        """Return the amounts that the prices y call for, and how fast they follow what a group gains."""
        gain = 1 - np.append(y, 0.0)[self.members].sum(axis=1)
        lean = np.abs(gain) * self.c / (2 * weight)
        root = np.sqrt(1 + lean**2)
        less = (1 + 1 / (root + lean)) / (2 * (1 + root))
        low, high = self.c * less, self.c * (1 - less)
        theta = 1 / (weight * (1 / low**2 + 1 / high**2))
        return np.where(gain > 0, high, low), theta

    def _far(self, y: Floats, change: Floats, weight: float) -> float:
        """Return how far to go along a change: to where the slope vanishes, or nearly so."""
        falling = change < 0
        most = min(1.0, 0.99 * float((y[falling] / -change[falling]).min())) if falling.any() else 1.0
        low, high, at = 0.0, most, most
        for _ in range(8):
            slope = self.cap * change.sum() - float(self._gather(self._best(y + at * change, weight)[0]) @ change)
            slope -= weight * float((change / (y + at * change)).sum())
            if slope <= 0:
                low = at
                if at == high:
                    break
            else:
                high = at
            at = (low + high) / 2
        return low or at

    def _gather(self, each: Floats) -> Floats:
        return _gathered(self.members, each, self.heavy)

    def _normal(self, theta: Floats) -> Floats:
        base = self.heavy + 1
        total = np.zeros(base * base)
        for (i, j), keys in zip(self._places, self._pairs, strict=True):
            total += np.bincount(keys, theta if i != j else theta / 2, base * base)
        square = total.reshape(base, base)[:-1, :-1]
        return square + square.T


def _gathered(members: Whole, each: Floats, heavy: int) -> Floats:
    """Return for each heavy node the sum of what its groups have."""
    total = np.zeros(heavy + 1)
    for column in members.T:
        total += np.bincount(column, each, heavy + 1)
    return total[:-1]


def _first_order(
    counts: Whole, members: Whole, heavy: int, cap: float, amounts: Floats | None, prices: Floats | None
) -> Iterator[tuple[Floats, Floats]]:
    c = counts.astype(np.float64)
    x = np.clip(np.nan_to_num(amounts), 0, c) if amounts is not None else c / 2
    y = np.maximum(np.nan_to_num(prices), 0) if prices is not None else np.full(heavy, 0.5)
    # Steps of each group and node, by how many entries its row or column has (Pock & Chambolle 2011, Lemma 2).
    sizes = np.bincount(members.ravel(), minlength=heavy + 1)[:-1]
    pace = np.sqrt(float(c.mean()) * sizes.max())
    tau, sigma = pace / np.maximum((members < heavy).sum(axis=1), 1), 1 / (pace * np.maximum(sizes, 1))
    mean_x, mean_y, steps = np.zeros_like(x), np.zeros_like(y), 0
    while True:
        new = np.clip(x + tau * (1 - np.append(y, 0.0)[members].sum(axis=1)), 0, c)
        load = _gathered(members, 2 * new - x, heavy)
        x, y = new, np.maximum(y + sigma * (load - cap), 0)
        mean_x, mean_y, steps = mean_x + x, mean_y + y, steps + 1
        if steps % _BETWEEN_LOOKS == 0:
            yield x, y
            yield mean_x / steps, mean_y / steps
