"""Labels as keys: texts and rows of numbers hashed to whole numbers that a float holds, the same in every process.

Two labels that share a key are counted as one. That is still a set of outputs, so it costs power (once in 2⁵³ labels),
never soundness.
"""

from __future__ import annotations

from functools import lru_cache
from hashlib import blake2b
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sordino.accounting.curve import Floats

Words = NDArray[np.uint64]
_ODD = np.uint64(0x9E3779B97F4A7C15)
_NOT_A_NUMBER = np.uint64(0x7FF8000000000000)
_SHIFT, _HALF = np.uint64(11), np.uint64(29)


@lru_cache(maxsize=1 << 14)
def text_word(text: str) -> int:
    """Return 64 bits that stand for a text."""
    return int.from_bytes(blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "big")


def text_words(texts: Any) -> Words:
    """Return 64 bits for each text."""
    return np.fromiter(map(text_word, texts), dtype=np.uint64, count=len(texts))


def mixed(rows: Floats, words: Words) -> Words:
    """Return 64 bits for each row of numbers together with a word; every NaN is the same, and so are 0 and −0."""
    found = words.copy()
    for place in range(rows.shape[1]):
        column = np.ascontiguousarray(rows[:, place]) + 0.0
        bits = np.where(np.isnan(column), _NOT_A_NUMBER, column.view(np.uint64))
        found = (found ^ bits) * _ODD
        found ^= found >> _HALF
    return found


def keys(words: Words) -> Floats:
    """Return words as numbers that a float holds."""
    return (words >> _SHIFT).astype(float)
