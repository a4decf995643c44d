"""What each way to answer must send, computed by the Python side from made-up words: for every other language."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any

import numpy as np

from sordino.collect.coins import Replayed
from sordino.collect.frequencies.hadamard import Hadamard
from sordino.collect.frequencies.hashing import LocalHashing
from sordino.collect.frequencies.k_ary import KAry
from sordino.collect.frequencies.subset import Subset
from sordino.collect.frequencies.unary import Unary
from sordino.collect.randomizer import Randomizer

Make = Callable[[int, Fraction], Randomizer]
Vector = tuple[dict[str, Any], int, str, str]

WAYS: dict[str, tuple[Make, int]] = {
    "k-ary": (KAry, 2**20),
    "unary": (Unary, 60),
    "unary-symmetric": (lambda domain, epsilon: Unary(domain, epsilon, "symmetric"), 60),
    "hadamard": (Hadamard, 2**20),
    "hashing": (LocalHashing, 2000),
    "hashing-fast": (lambda domain, epsilon: LocalHashing(domain, epsilon, "fast"), 5000),
    "subset": (Subset, 200),
}
"""How each is made, and up to how many values it is tried."""


def vectors(name: str, count: int, seed: int) -> Iterator[Vector]:
    """Yield what is public, a code, random bytes and the payload, in hexadecimal."""
    make, most = WAYS[name]
    dice = np.random.default_rng(seed)
    for _ in range(count):
        domain = max(2, int(np.exp(dice.uniform(np.log(2), np.log(most)))))
        randomizer = make(domain, Fraction(int(dice.integers(10, 3201)), 100))
        value, given = int(dice.integers(domain)), dice.bytes(8 * (min(domain, 300) + 300))
        yield dict(randomizer.public()), value, given.hex(), randomizer.report(value, Replayed(given)).hex()
