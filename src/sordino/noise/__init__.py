"""Exact randomness: the only room that may touch entropy.

    law.draw()  ──  strips     a guide table and float64 where they are certain: array speed
                      └──────  partition   the exact decision, from more bits and more digits
                                 └───────  enclosure   rigorous bounds for e^x, ln n!, Gaussian masses
    coins, selection           uniform integers, coins, choices, permutations, in the same spirit
    keystream                  AES-256-CTR under keys from the operating system; safe over threads, fork and spawn
    exact                      the reference in integers and fractions, which the tests compare with

**Guarantee.** Whatever is drawn here has exactly the law that its name says: integers in, integers out, and the
decision taken from finitely many bits is the one that infinitely many would give (proof in `partition`). No function
takes a seed.
**Assumes.** The operating system's entropy is sound. The time that a draw takes may depend on its outcome.

Laws: `DiscreteLaplace`, `DiscreteGaussian`, `RoundedGaussian`, `Geometric`, `Poisson`, `Binomial`, `Skellam`,
`TruncatedNegativeBinomial`, each with ``draw(size=None)``, ``variance`` and ``tail(confidence)``.
Functions: `uniform`, `bernoulli`, `flip`, `logistic`, `choose`, `race`, `permutation`.

>>> from sordino import noise
>>> noise.DiscreteLaplace(scale="2.5").draw((2, 3)).shape
(2, 3)
>>> 0 <= noise.choose([3, 1, 4], rate=1) < 3
True
"""

from __future__ import annotations

from .attempts import TruncatedNegativeBinomial
from .coins import bernoulli, flip, logistic, uniform
from .counts import Binomial, Poisson
from .exponential import DiscreteLaplace, Geometric
from .gaussian import DiscreteGaussian, RoundedGaussian
from .selection import choose, permutation, race
from .skellam import Skellam

__all__ = [
    "Binomial",
    "DiscreteGaussian",
    "DiscreteLaplace",
    "Geometric",
    "Poisson",
    "RoundedGaussian",
    "Skellam",
    "TruncatedNegativeBinomial",
    "bernoulli",
    "choose",
    "flip",
    "logistic",
    "permutation",
    "race",
    "uniform",
]
