"""What each way to answer must send, computed by the Python side from made-up words: for every other language."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any

import numpy as np

from sordino.collect.coins import Replayed
from sordino.collect.frequencies.count_mean import CountMeanSketch
from sordino.collect.frequencies.hadamard import Hadamard
from sordino.collect.frequencies.hadamard_mean import HadamardCountMeanSketch
from sordino.collect.frequencies.hashing import LocalHashing
from sordino.collect.frequencies.k_ary import KAry
from sordino.collect.frequencies.memoised_hashing import MemoisedHashing
from sordino.collect.frequencies.prefix_tree import PrefixTree
from sordino.collect.frequencies.projective import ProjectiveGeometry
from sordino.collect.frequencies.rappor import Rappor
from sordino.collect.frequencies.subset import Subset
from sordino.collect.frequencies.unary import Unary
from sordino.collect.numbers.attributes import Attributes
from sordino.collect.numbers.classes import EpsilonClasses
from sordino.collect.numbers.hybrid import Hybrid
from sordino.collect.numbers.laplace import LocalLaplace
from sordino.collect.numbers.piecewise import Piecewise
from sordino.collect.numbers.square_wave import SquareWave
from sordino.collect.numbers.two_values import TwoValues
from sordino.collect.numbers.vectors import Directions
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


Other = Callable[[np.random.Generator, Fraction], tuple[Any, Any]]


def _memoised(epsilon: Fraction) -> dict[str, Fraction]:
    return {"longitudinal": min(2 * epsilon, Fraction(32)), "epsilon": min(epsilon, Fraction(15))}


def _number(make: Any) -> Other:
    def made(dice: np.random.Generator, epsilon: Fraction) -> tuple[Any, Any]:
        steps = 2 ** int(dice.integers(1, 17))
        return make(epsilon=epsilon, steps=steps), int(dice.integers(steps + 1))

    return made


def _several(dice: np.random.Generator, epsilon: Fraction) -> tuple[Any, Any]:
    made = [_number(make)(dice, epsilon) for make in (TwoValues, Piecewise, Hybrid, LocalLaplace)]
    chosen = [made[each] for each in dice.integers(4, size=int(dice.integers(1, 5)))]
    return Attributes(tuple(way for way, _ in chosen)), [code for _, code in chosen]


def _classes(dice: np.random.Generator, epsilon: Fraction) -> tuple[Any, Any]:
    ways = (Piecewise(epsilon=epsilon, steps=64), TwoValues(epsilon=1, steps=64))
    return EpsilonClasses(("a", "b"), ways), [int(dice.integers(2)), int(dice.integers(65))]


def _vector(dice: np.random.Generator, epsilon: Fraction) -> tuple[Any, Any]:
    dimension = int(dice.integers(1, 40))
    way = Directions(epsilon=epsilon, dimension=dimension, count_directions=int(dice.integers(2, 40)))
    drawn = dice.normal(size=dimension)
    length = float(dice.choice([0.0, 0.5, 1.0])) / max(float(np.linalg.norm(drawn)), 1e-9)
    return way, np.trunc(drawn * length * 2**15 * (1 - 1e-12)).astype(int).tolist()


def _word(dice: np.random.Generator) -> int:
    return int.from_bytes(dice.bytes(8), "little")


OTHERS: dict[str, Other] = {
    "two-values": _number(TwoValues),
    "piecewise": _number(Piecewise),
    "square-wave": lambda dice, epsilon: (SquareWave(epsilon=epsilon, steps=512), int(dice.integers(513))),
    "hybrid": _number(Hybrid),
    "local-laplace": _number(LocalLaplace),
    "attributes": _several,
    "epsilon-classes": _classes,
    "directions": _vector,
    "count-mean-sketch": lambda dice, epsilon: (CountMeanSketch(2**64, epsilon, hashes=256, width=64), _word(dice)),
    "hadamard-sketch": lambda dice, epsilon: (
        HadamardCountMeanSketch(2**64, epsilon, hashes=512, width=128),
        _word(dice),
    ),
    "projective": lambda dice, epsilon: _coded(dice, ProjectiveGeometry(int(dice.integers(4, 300)), epsilon)),
    "rappor": lambda dice, epsilon: (Rappor(**_memoised(epsilon)), _word(dice)),
    "memoised-hashing": lambda dice, epsilon: _coded(dice, MemoisedHashing(domain=500, **_memoised(epsilon))),
    "prefix-tree": lambda dice, epsilon: _spelled(dice, PrefixTree(epsilon)),
}
"""How each is made by dice and an ε, with a value for it."""


def _coded(dice: np.random.Generator, way: Any) -> tuple[Any, Any]:
    return way, int(dice.integers(way.domain))


def _spelled(dice: np.random.Generator, way: Any) -> tuple[Any, Any]:
    letters = dice.integers(len(way.alphabet), size=int(dice.integers(0, 9)))
    return way, way.code("".join(way.alphabet[each] for each in letters))


def other_vectors(name: str, count: int, seed: int) -> Iterator[tuple[dict[str, Any], Any, str, str]]:
    """Yield the same for the other ways to answer; large values are texts, which JSON keeps whole."""
    dice = np.random.default_rng(seed)
    for _ in range(count):
        way, value = OTHERS[name](dice, Fraction(int(dice.integers(10, 1000)), 100))
        given = dice.bytes(8 * 400)
        said = str(value) if isinstance(value, int) and value > 2**53 else value
        yield dict(way.public()), said, given.hex(), bytes(way.report(value, Replayed(given))).hex()


def vectors(name: str, count: int, seed: int) -> Iterator[Vector]:
    """Yield what is public, a code, random bytes and the payload, in hexadecimal."""
    make, most = WAYS[name]
    dice = np.random.default_rng(seed)
    for _ in range(count):
        domain = max(2, int(np.exp(dice.uniform(np.log(2), np.log(most)))))
        randomizer = make(domain, Fraction(int(dice.integers(10, 3201)), 100))
        value, given = int(dice.integers(domain)), dice.bytes(8 * (min(domain, 300) + 300))
        yield dict(randomizer.public()), value, given.hex(), randomizer.report(value, Replayed(given)).hex()
