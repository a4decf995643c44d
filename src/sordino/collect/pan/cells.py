"""The state of pan-private counting: one small number for each cell, random at every moment.

What is written and how it is randomised anew is said, and proven private, in ``coins.py``. Cells are changed in place,
so that no older state is held beside the newest.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sordino import noise
from sordino.errors import GrantError

from .coins import ONE, Coins


class Cells:
    """`values` from 0 to `coins.items`; `randomised` says how often they were randomised anew."""

    def __init__(self, coins: Coins, values: NDArray[Any], randomised: int) -> None:
        self.coins = coins
        self.values = values
        self.randomised = randomised

    @classmethod
    def fresh(cls, coins: Coins, count: int) -> Cells:
        """Return uniform cells, to which nobody came."""
        return cls(coins, _uniform(coins, count), 0)

    @property
    def strength(self) -> Fraction:
        """With which strength a cell holds its last item."""
        return self.coins.strength(self.randomised)

    def put(self, places: NDArray[np.int64], items: NDArray[np.int64] | int) -> None:
        """Overwrite cells, each by a draw of its own; of several for one cell the last counts."""
        drawn = _uniform(self.coins, places.size)
        honest = noise.bernoulli(self.strength, places.size)
        self.values[places] = np.where(honest, items, drawn).astype(drawn.dtype)

    def randomise(self) -> None:
        """Randomise all cells anew: to be done whenever a state was seen, or will be kept."""
        lost = ~noise.bernoulli(Fraction(self.coins.keep, ONE), self.values.size)
        np.copyto(self.values, _uniform(self.coins, self.values.size), where=lost)
        self.randomised += 1

    def counts(self) -> NDArray[np.int64]:
        """Return how many cells hold each number: private no more, so to be released with noise alone."""
        return np.bincount(self.values, minlength=self.coins.items + 1).astype(np.int64)

    def __repr__(self) -> str:
        return f"Cells({self.values.size} of {self.coins.items + 1} values, randomised {self.randomised} times)"

    def __reduce__(self) -> str:
        raise GrantError("a pan-private state cannot be copied: each copy is one more state to be seen", "SRD-G003")


def _uniform(coins: Coins, count: int) -> NDArray[Any]:
    return noise.uniform(coins.items + 1, count).astype(kind_of(coins))


def kind_of(coins: Coins) -> np.dtype[Any]:
    """Return the smallest type that holds all values."""
    return np.min_scalar_type(coins.items)
