"""Randomizers over small domains with the options of their words, for exact laws; and a source that repeats itself."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from collect.enumerated import Options, cuts, remainders
from sordino.collect.frequencies.hadamard import Hadamard
from sordino.collect.frequencies.hashing import LocalHashing
from sordino.collect.frequencies.k_ary import KAry
from sordino.collect.frequencies.subset import Subset
from sordino.collect.frequencies.unary import Unary


def symmetric(domain: int, epsilon: Any) -> Unary:
    return Unary(domain, epsilon, "symmetric")


def fast(domain: int, epsilon: Any) -> LocalHashing:
    return LocalHashing(domain, epsilon, "fast")


MAKERS: dict[str, Callable[[int, Any], Any]] = {
    "k-ary": KAry,
    "unary": Unary,
    "unary-symmetric": symmetric,
    "hadamard": Hadamard,
    "hashing": LocalHashing,
    "hashing-fast": fast,
    "subset": Subset,
}


def options(randomizer: Any) -> Callable[[int], Options]:
    """Return what each word can be, from what is public about the randomizer."""
    told = randomizer.public()
    match told["protocol"]:
        case "k-ary":
            return lambda _: cuts(*(int(told["lie"]) * place for place in range(1, told["domain"])))
        case "unary":
            return lambda _: cuts(int(told["own"]), int(told["other"]))
        case "hadamard":
            return lambda place: cuts(int(told["truth"])) if place else remainders(told["places"])
        case "subset":
            every = math.lcm(*range(1, told["domain"]))
            return lambda place: remainders(every, exactly=True) if place else cuts(int(told["truth"]))
        case _:
            buckets = cuts(*(int(told["lie"]) * place for place in range(1, told["buckets"])))
            return lambda place: remainders(told["prime"]) if place <= told["digits"] else buckets


class Seeded:
    """A source of bits that is the same in every run."""

    def __init__(self, seed: int) -> None:
        self._draw = np.random.default_rng(seed)

    def word(self) -> int:
        return int(self.words(1)[0])

    def words(self, count: int) -> Any:
        return self._draw.integers(0, 2**64, count, dtype=np.uint64)


class Columns:
    """The words of rows, handed out a column at a time."""

    def __init__(self, rows: Any) -> None:
        self._left = list(rows.T)

    def words(self, count: int) -> Any:
        column = self._left.pop(0)
        assert len(column) == count
        return column.copy()


MODULES = (
    "sordino.collect.frequencies.k_ary",
    "sordino.collect.frequencies.unary",
    "sordino.collect.frequencies.hadamard",
    "sordino.collect.frequencies.hashing",
    "sordino.collect.frequencies.subset",
    "sordino.noise.coins",
    "sordino.noise.planes",
)


def use(monkeypatch: Any, source: Any) -> None:
    """Let bulk reports draw from `source`."""
    for module in MODULES:
        monkeypatch.setattr(f"{module}.SOURCE", source)
