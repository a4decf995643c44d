"""What both sketches of Apple have in common: their shape, and which values may be asked about."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from sordino.arguments import whole
from sordino.collect.estimate import Estimate
from sordino.collect.fingerprint import cells_of, keys
from sordino.collect.frequencies.support import Supporting
from sordino.collect.randomizer import Counts
from sordino.errors import ArgumentError
from sordino.noise.keystream import Words

WORDS = 2**64
"""The domain of all fingerprints: words that nobody listed beforehand."""

_MOST_LISTED = 2**24
_AT_A_TIME = 2**21  # cells that are looked up at a time


class Sketch(Supporting):
    """A sketch of `hashes` functions and `width` cells each, both powers of two."""

    hashes: int
    width: int
    salt: int
    protocol: ClassVar[str]

    @abstractmethod
    def estimate_of(self, values: Words, counts: Counts, reports: int) -> Estimate:
        """Return how many hold each of `values`: codes, or fingerprints of words."""

    def estimate(self, counts: Counts, reports: int) -> Estimate:
        """Return how many hold each code of the domain; for words ask `estimate_of` for the words in question."""
        if self.domain > _MOST_LISTED:
            raise ArgumentError(
                "this domain is too large to list; name the values in question with estimate_of(values, …)", "SRD-C153"
            )
        return self.estimate_of(np.arange(self.domain, dtype=np.uint64), counts, reports)

    def variance(self, reports: int, held: float = 0.0, squares: float = 0.0) -> float:
        """Return the variance of the estimate of a value that `held` of the senders hold.

        Values that share cells add to it as the `squares` of how many hold each of the others sum up to.
        """
        return self.support.variance(reports, held) + squares / ((self.width - 1) * self.hashes)

    def shape(self) -> Mapping[str, Any]:
        """Return what is public of the shape."""
        return {
            "protocol": self.protocol,
            "domain": str(self.domain),
            "hashes": self.hashes,
            "width": self.width,
            "salt": str(self.salt),
        }


def check_sketch(given: Sketch) -> None:
    """Refuse a shape that no sketch has."""
    whole("domain", given.domain, least=2, most=WORDS)
    whole("hashes", given.hashes, least=1, most=2**16)
    whole("width", given.width, least=8, most=2**16)
    whole("salt", given.salt, least=0, most=2**64 - 1)
    if given.hashes & (given.hashes - 1) or given.width & (given.width - 1):
        raise ArgumentError("hashes and width must be powers of two: one word then draws either evenly", "SRD-C154")


def hash_of(word: int, hashes: int) -> int:
    """Return which function a word draws: its highest bits."""
    return (word * hashes) >> 64


def supports(sketch: Sketch, table: NDArray[np.int64], values: Words) -> Counts:
    """Return the sum over functions of the table's cell for each value."""
    functions = np.arange(sketch.hashes)
    by = keys(sketch.salt, functions)
    found = np.empty(len(values), dtype=np.int64)
    step = max(1, _AT_A_TIME // sketch.hashes)
    for start in range(0, len(values), step):
        cells = cells_of(values[start : start + step, None], by[None, :], sketch.width)
        found[start : start + step] = table[functions[None, :], cells].sum(axis=1)
    return found
