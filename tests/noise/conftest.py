from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
from scipy import stats

FALSE_ALARM = 1e-7  # the chance that a sound sampler fails one statistical test
CAUGHT = 1e-12  # a wrong scale must look at least this unlikely


class Replay:
    """A source that hands out given words, then (if told to) words of a seeded generator: for tests only."""

    def __init__(self, words: Sequence[int] = (), then: int | None = None) -> None:
        self.given = list(words)
        self.generator = None if then is None else np.random.default_rng(then)
        self.taken = 0

    def word(self) -> int:
        self.taken += 1
        if self.given:
            return self.given.pop(0)
        if self.generator is None:
            raise AssertionError("more bits were asked for than the test foresaw")
        return int(self.generator.integers(0, 2**64, dtype=np.uint64))

    def words(self, count: int) -> np.ndarray[Any, np.dtype[np.uint64]]:
        if self.given or self.generator is None:
            return np.array([self.word() for _ in range(count)], dtype=np.uint64)
        self.taken += count
        return self.generator.integers(0, 2**64, size=count, dtype=np.uint64)


@pytest.fixture
def replay() -> type[Replay]:
    return Replay


def p_value(observed: Sequence[int], chances: Sequence[float]) -> float:
    """Pearson's chi-square over cells that expect ten or more, and a binomial test of all the others together."""
    seen, expected = np.asarray(observed, dtype=float), np.asarray(chances, dtype=float) * sum(observed)
    common = expected >= 10
    statistic = float(((seen - expected)[common] ** 2 / expected[common]).sum())
    middle = float(stats.chi2.sf(statistic, max(np.count_nonzero(common) - bool(common.all()), 1)))
    rare, chance = int(seen[~common].sum()), min(float(expected[~common].sum()) / sum(observed), 1.0)
    tail = min(stats.binom.cdf(rare, sum(observed), chance), stats.binom.sf(rare - 1, sum(observed), chance))
    return min(1.0, 2 * middle, 4 * float(tail))


@pytest.fixture
def fits() -> Callable[..., None]:
    def check(observed: Sequence[int], chances: Sequence[float]) -> None:
        p = p_value(observed, chances)
        assert p > FALSE_ALARM, f"n = {sum(observed)}, k = {len(observed)}, p = {p}"

    return check


@pytest.fixture
def differs() -> Callable[..., None]:
    def check(observed: Sequence[int], chances: Sequence[float]) -> None:
        p = p_value(observed, chances)
        assert p < CAUGHT, f"n = {sum(observed)}, k = {len(observed)}, p = {p}: a wrong law was not noticed"

    return check
