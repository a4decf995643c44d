"""Words as whole numbers, and whole numbers as places in a sketch: alike in every language.

A word is the first eight bytes, lowest first, of SHA-256 of its UTF-8 bytes in Unicode's normal form C. Places are
taken from 64-bit products and shifts, which JavaScript has as BigInt and NumPy on whole arrays.

**Guarantee**: none for privacy, and none is needed: a randomizer answers privately about whichever place it is given.
**Assumes**, for accuracy alone: places behave as if drawn at random for each value and each key. The salt is the
survey's, so that two surveys do not share their collisions.
**Source**: Steele, Lea, Flood 2014 (the finaliser of SplitMix64).
"""

from __future__ import annotations

import hashlib
import unicodedata
from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from sordino.noise.keystream import Words

_MASK = 2**64 - 1
_STEP = 0x9E3779B97F4A7C15
_FIRST = 0xBF58476D1CE4E5B9
_SECOND = 0x94D049BB133111EB


def canonical(text: str) -> bytes:
    """Return the bytes of a text that every language hashes: UTF-8 of its normal form C.

    Half of a surrogate pair becomes U+FFFD, as in browsers: to refuse it would tell what somebody wrote.
    """
    whole = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return unicodedata.normalize("NFC", whole).encode("utf-8")


def fingerprint(text: str) -> int:
    """Return a word as a number below 2⁶⁴."""
    return int.from_bytes(hashlib.sha256(canonical(text)).digest()[:8], "little")


def fingerprints(texts: Iterable[str]) -> Words:
    """Return words as numbers below 2⁶⁴."""
    return np.array([fingerprint(text) for text in texts], dtype=np.uint64)


def mixed(number: int) -> int:
    """Return another number below 2⁶⁴, each bit of which depends on all bits of `number`; one to one."""
    number = ((number ^ (number >> 30)) * _FIRST) & _MASK
    number = ((number ^ (number >> 27)) * _SECOND) & _MASK
    return number ^ (number >> 31)


def mixed_all(numbers: Words) -> Words:
    """Return `mixed` of many numbers at once."""
    numbers = (numbers ^ (numbers >> np.uint64(30))) * np.uint64(_FIRST)
    numbers = (numbers ^ (numbers >> np.uint64(27))) * np.uint64(_SECOND)
    return numbers ^ (numbers >> np.uint64(31))


def key(salt: int, which: int) -> int:
    """Return the key of one of many ways to hash."""
    return mixed((salt + (which + 1) * _STEP) & _MASK)


def keys(salt: int, which: NDArray[np.int64]) -> Words:
    """Return the keys of many ways to hash."""
    with np.errstate(over="ignore"):
        return mixed_all(np.uint64(salt) + (which.astype(np.uint64) + np.uint64(1)) * np.uint64(_STEP))


def cell(value: int, by: int, cells: int) -> int:
    """Return the place of a value among `cells` (at most 2³¹) by a key: from the highest 32 bits."""
    return ((mixed(value ^ by) >> 32) * cells) >> 32


def cells_of(values: Words, by: Words, cells: int) -> NDArray[np.int64]:
    """Return the places of values by keys, which are broadcast together."""
    high = mixed_all(values ^ by) >> np.uint64(32)
    return ((high * np.uint64(cells)) >> np.uint64(32)).astype(np.int64)
