"""The exact law of one report, by going through all words that make a difference.

Each word that a device takes is one of some *options*: a word that stands for all that do the same, and their share of
the 2⁶⁴. Options come from how a protocol is described, not from its code.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np

from sordino.collect.coins import WORD

Options = Sequence[tuple[int, Fraction]]
Law = dict[bytes, Fraction]


class _OutOfWordsError(Exception):
    pass


class _Given:
    def __init__(self, words: Sequence[int]) -> None:
        self.left = list(words)

    def word(self) -> int:
        if not self.left:
            raise _OutOfWordsError
        return self.left.pop(0)

    def words(self, count: int) -> Any:
        return np.array([self.word() for _ in range(count)], dtype=np.uint64)


def cuts(*limits: int) -> Options:
    """Return options for a comparison of a word with limits: the first word of each part, and the part's share."""
    ends = sorted({0, *limits, WORD})
    return [(low, Fraction(high - low, WORD)) for low, high in pairwise(ends)]


def last_words(options: Options) -> Options:
    """Return the same options with the last word of each part of a comparison."""
    starts = [word for word, _ in options[1:]] + [WORD]
    return [(start - 1, share) for start, (_, share) in zip(starts, options, strict=True)]


def remainders(modulus: int, *, exactly: bool = False) -> Options:
    """Return options for a word modulo a number: each remainder's share, or 1/modulus where others are drawn again."""
    if exactly:
        return [(rest, Fraction(1, modulus)) for rest in range(modulus)]
    return [(rest, Fraction((WORD - 1 - rest) // modulus + 1, WORD)) for rest in range(modulus)]


def law(randomizer: Any, value: int, options: Callable[[int], Options]) -> Law:
    """Return the chance of each payload; `options(i)` are those of the word number i."""
    found: Law = defaultdict(Fraction)
    open_ends: list[tuple[tuple[int, ...], Fraction]] = [((), Fraction(1))]
    while open_ends:
        words, share = open_ends.pop()
        source = _Given(words)
        try:
            payload = randomizer.report(value, source)
        except _OutOfWordsError:
            open_ends += [((*words, word), share * part) for word, part in options(len(words))]
            continue
        assert not source.left
        found[payload] += share
    return dict(found)
