"""Many coins of one chance, 64 to a word: the digits of the chance decide, plane by plane, from the highest on.

A coin is U < t for a uniform word U, exactly as in `report`, where a word is drawn for each bit. Here the bits of 64
such words are drawn plane by plane; the first plane in which U and t differ decides. After twelve planes one coin in
4,096 is open, and is decided by the other 52 bits, one by one.
"""

from __future__ import annotations

import numpy as np

from sordino.noise.keystream import SOURCE, Words

_PLANES = 12
_LEFT = 64 - _PLANES


def flips(chance: int, count: int) -> Words:
    """Return `count` words of 64 independent coins each, True with the chance of `chance` words out of 2⁶⁴."""
    decided = np.zeros(count, dtype=np.uint64)
    open_ = np.full(count, 2**64 - 1, dtype=np.uint64)
    for digit in range(63, _LEFT - 1, -1):
        plane = SOURCE.words(count)
        if chance >> digit & 1:
            decided |= open_ & ~plane
            open_ &= plane
        else:
            open_ &= ~plane
    return decided | _last(chance, open_)


def _last(chance: int, open_: Words) -> Words:
    """Decide what is open after all planes; bits keep their places."""
    rows = np.flatnonzero(open_)
    bits = np.unpackbits(open_[rows].view(np.uint8).reshape(-1, 8), axis=1)
    which = np.flatnonzero(bits)
    rest = SOURCE.words(len(which)) >> np.uint64(_PLANES)
    bits.ravel()[which] = rest < np.uint64(chance % 2**_LEFT)
    found = np.zeros_like(open_)
    found[rows] = np.packbits(bits, axis=1).view(np.uint64).ravel()
    return found
