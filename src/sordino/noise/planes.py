"""Coins by planes of bits: 64 coins in a word, each 1 with exactly the chance `heads`/2⁶⁴.

A coin compares a uniform 64-bit number U with `heads`, digit by digit, the most significant first. Word j of the plane
of a digit holds that digit of the 64 numbers of word j. While the digits of U and `heads` agree, a coin is open; the
first that differ decide it: 1 if that of U is the smaller. When no 1 is left in `heads`, open coins are 0.

**Guarantee**: each coin is 1 if and only if its U is below `heads`, and all U are independent: digits that were never
drawn could not have changed what was decided. **Proof** of U < heads: at the first digit that differs, U has 0.

Half of the open coins are decided by each plane. So planes are drawn whole for `_WHOLE` digits, and from then on only
for words that have open coins: about nine words a word, where 64 words of comparisons would be needed. What
is left of many blocks is decided together, as each request of words costs a new key.
"""

from __future__ import annotations

import numpy as np

from sordino.arguments import whole

from .keystream import SOURCE, BitSource, Words

_BLOCK = 1 << 13  # words at once, so that their planes stay in the processor's cache
_CHUNK = 1 << 18  # words whose last open coins are decided together
_WHOLE = 9
_DIGITS = 64
_ALL = np.uint64(2**64 - 1)


def planes(heads: int, count: int) -> Words:
    """Return `count` words of 64 independent coins each, that are 1 with probability `heads`/2⁶⁴ exactly."""
    threshold = whole("heads", heads, least=0, most=2**64 - 1)
    size = whole("count", count, least=0, most=2**40)
    coins = np.zeros(size, dtype=np.uint64)
    for start in range(0, size, _CHUNK):
        toss(coins[start : start + _CHUNK], threshold, SOURCE)
    return coins


def toss(coins: Words, heads: int, source: BitSource) -> None:
    """Set the bits of `coins`, which are 0, by planes from `source`.

    Words come block after block, plane after plane; then a plane for each further digit, a word for each of `coins`
    that has open ones.
    """
    digits = [heads >> place & 1 for place in range(_DIGITS - 1, -1, -1)]
    while digits and not digits[-1]:
        digits.pop()
    undecided = np.full(len(coins), _ALL)
    first = digits[:_WHOLE]
    for start in range(0, len(coins) if first else 0, _BLOCK):
        part, open_part = coins[start : start + _BLOCK], undecided[start : start + _BLOCK]
        drawn = source.words(len(first) * len(part)).reshape(len(first), -1)
        for digit, plane in zip(first, drawn, strict=True):
            _decide(part, open_part, digit, plane)
    places = np.flatnonzero(undecided)
    few, undecided = coins[places], undecided[places]
    for digit in digits[_WHOLE:]:
        if not len(places):
            break
        _decide(few, undecided, digit, source.words(len(places)))
        coins[places] = few
        left = undecided != 0
        places, few, undecided = places[left], few[left], undecided[left]


def _decide(coins: Words, undecided: Words, digit: int, plane: Words) -> None:
    """Decide the coins whose digit in `plane` differs from that of `heads`; nothing is left of the plane."""
    if digit:
        np.bitwise_and(undecided, plane, out=plane)  # those that agree
        np.bitwise_xor(undecided, plane, out=undecided)
        np.bitwise_or(coins, undecided, out=coins)
        undecided[:] = plane
    else:
        np.bitwise_not(plane, out=plane)
        np.bitwise_and(undecided, plane, out=undecided)
