"""Words that nobody listed beforehand: each device answers about a prefix of its word, of a length that it draws.

Level by level the server keeps the prefixes that stand out and asks the next level only about what may follow them. A
device draws its level, by public chances, then one of `seeds` hash functions, and answers by k-ary response which of
`cells` cells its prefix has. The last level is about whole words.

**Guarantee**: ε for replacing one word, exactly: level and function are drawn without looking at the word, and what
follows is one k-ary response. All that the server does is post-processing of reports.
**Assumes**: as `k_ary`; for accuracy, as `collisions`. Letters outside of the alphabet make a word the empty word, and
what is beyond `longest` is cut: to refuse either would tell something of the word.
**Source**: Bassily, Nissim, Stemmer, Thakurta 2017; Wang, Li, Jha 2021 (prefix extending); Wang et al. 2017 (local
hashing).
"""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from sordino.accounting import events
from sordino.accounting.event import Event
from sordino.arguments import rational, whole
from sordino.collect.coins import WORD, local_epsilon, odds
from sordino.collect.fingerprint import cell, cells_of, key, keys
from sordino.collect.frequencies.k_ary import KAry
from sordino.collect.frequencies.numbered import read, written
from sordino.collect.frequencies.support import Support
from sordino.collect.poison import Poison
from sordino.collect.randomizer import Codes, Counts, Payloads
from sordino.errors import ArgumentError
from sordino.noise.keystream import SOURCE, BitSource

LETTERS = "abcdefghijklmnopqrstuvwxyz"
_MOST_CELLS = 2**12
_MOST_TABLE = 2**26  # numbers in a table of counts


@dataclass(frozen=True)
class PrefixTree:
    """Words of up to `longest` letters of `alphabet`; `lengths` of prefixes, each asked of `shares` of all devices.

    >>> tree = PrefixTree(epsilon=4)
    >>> tree.word(tree.code("sordino")), tree.size, tree.lengths
    ('sordino', 4, (3, 5, 7, 8))
    """

    epsilon: Fraction
    alphabet: str = LETTERS
    longest: int = 8
    lengths: tuple[int, ...] = ()
    shares: tuple[Fraction, ...] = ()
    seeds: int = 4096
    salt: int = 0

    protocol: ClassVar[str] = "prefix-tree"

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", local_epsilon(self.epsilon))
        whole("longest", self.longest, least=1, most=64)
        whole("seeds", self.seeds, least=1, most=2**16)
        whole("salt", self.salt, least=0, most=2**64 - 1)
        object.__setattr__(self, "lengths", tuple(self.lengths) or _steps(self.longest))
        object.__setattr__(self, "shares", _checked_shares(self.shares, len(self.lengths)))
        self._check()

    def _check(self) -> None:
        letters = self.alphabet
        if not letters or len(set(letters)) != len(letters) or unicodedata.normalize("NFC", letters) != letters:
            raise ArgumentError("the alphabet must be different letters, in Unicode's normal form C", "SRD-C156")
        if self.domain > 2**62:
            raise ArgumentError("longest is too much for this alphabet: codes must stay below 2^62", "SRD-C156")
        if list(self.lengths) != sorted({*self.lengths, self.longest}) or self.lengths[0] < 1:
            raise ArgumentError("lengths must rise, from 1 letter or more to the longest word's", "SRD-C156")
        if self.seeds & (self.seeds - 1) or len(self.lengths) * self.seeds * self.cells > _MOST_TABLE:
            raise ArgumentError("seeds must be a power of two, and levels · seeds · cells at most 2^26", "SRD-C154")

    @cached_property
    def domain(self) -> int:
        """How many codes there are: one more than letters for each place, 0 standing for the word's end."""
        return int((len(self.alphabet) + 1) ** self.longest)

    @cached_property
    def cells(self) -> int:
        """How many cells a function has: about e^ε + 1, where the error is smallest."""
        return min(max(2, round(odds(min(self.epsilon, Fraction(10)))) + 1), _MOST_CELLS)

    @cached_property
    def answer(self) -> KAry:
        """How a cell is told."""
        return KAry(self.cells, self.epsilon)

    @property
    def size(self) -> int:
        """A byte for the level, two for the function, and the cell."""
        return 3 + self.answer.size

    @cached_property
    def support(self) -> Support:
        """How often a report supports its own prefix, and another one, which shares a cell by chance."""
        return Support(Fraction(self.answer.truth, WORD), Fraction(1, self.cells))

    @cached_property
    def limits(self) -> tuple[int, ...]:
        """Words below the first draw the first level, and so on; the last level has the rest."""
        summed = [sum(self.shares[: i + 1], Fraction(0)) for i in range(len(self.shares) - 1)]
        return tuple(int(each * WORD) for each in summed)

    def event(self) -> Event:
        """Return one ε-private report."""
        return events.Pure(self.epsilon)

    def shuffled(self, reports: int, delta: Fraction) -> Event:
        """Return shuffled reports of some ε-private randomizer."""
        return events.ShuffledLocal(self.epsilon, reports, delta)

    def public(self) -> Mapping[str, Any]:
        """Return the alphabet, the levels and their limits, the functions and the response."""
        return {
            "protocol": self.protocol,
            "alphabet": self.alphabet,
            "lengths": list(self.lengths),
            "limits": [str(each) for each in self.limits],
            "seeds": self.seeds,
            "cells": self.cells,
            "salt": str(self.salt),
            "lie": str(self.answer.lie),
        }

    def code(self, word: str) -> int:
        """Return a word's code: its letters as digits, the first one highest."""
        letters = unicodedata.normalize("NFC", word)[: self.longest]
        base, places = len(self.alphabet) + 1, [self.alphabet.find(letter) + 1 for letter in letters]
        if 0 in places:
            return 0
        return sum(place * base ** (self.longest - 1 - i) for i, place in enumerate(places))

    def word(self, code: int) -> str:
        """Return the word of a code."""
        base = len(self.alphabet) + 1
        places = [code // base ** (self.longest - 1 - i) % base for i in range(self.longest)]
        return "".join(self.alphabet[place - 1] for place in places if place)

    def prefix(self, code: Any, level: int) -> Any:
        """Return the code of the first letters, as many as the level asks about."""
        return code // (len(self.alphabet) + 1) ** (self.longest - self.lengths[level])

    def report(self, value: int, source: BitSource) -> bytes:
        """Return level, function and cell for a word's code: by one word each, the last for the response."""
        drawn = source.word()
        level = sum(drawn >= limit for limit in self.limits)
        seed = (source.word() * self.seeds) >> 64
        place = cell(self.prefix(value, level), key(self.salt, level * self.seeds + seed), self.cells)
        return bytes([level]) + seed.to_bytes(2, "little") + self.answer.report(place, source)

    def reports(self, values: Codes) -> Payloads:
        """Return payloads for many words' codes at once."""
        limits = np.array(self.limits, dtype=np.uint64)
        level = np.searchsorted(limits, SOURCE.words(len(values)), side="right")
        seed = (SOURCE.words(len(values)) >> np.uint64(32)).astype(np.int64) * self.seeds >> 32
        powers = np.array([(len(self.alphabet) + 1) ** (self.longest - each) for each in self.lengths], dtype=np.int64)
        prefixes = (values // powers[level]).astype(np.uint64)
        places = cells_of(prefixes, keys(self.salt, level * self.seeds + seed), self.cells)
        return np.hstack([written(level, 1), written(seed, 2), self.answer.reports(places)])

    def well_formed(self, payloads: Payloads) -> NDArray[np.bool_]:
        """Tell which name a level, a function and a cell that there are."""
        level, seed = _head(payloads)
        return (level < len(self.lengths)) & (seed < self.seeds) & self.answer.well_formed(payloads[:, 3:])

    def count(self, payloads: Payloads) -> Counts:
        """Return how many reports there are for each level, function and cell."""
        level, seed = _head(payloads)
        shape = (len(self.lengths), self.seeds, self.cells)
        place = (level * self.seeds + seed) * self.cells + read(payloads[:, 3:])
        return np.bincount(place, minlength=shape[0] * shape[1] * shape[2]).astype(np.int64).reshape(shape)

    def variance(self, reports: int, held: float = 0.0, squares: float = 0.0) -> float:
        """Return the variance of the estimate of a whole word that `held` of the senders hold.

        Those who drew the last level count for all others: a sample of that share, besides the coins. Words that share
        cells add to it as the `squares` of how many hold each of the others sum up to.
        """
        share = float(self.shares[-1])
        coins = self.support.variance(reports, held) / share
        return coins + held * (1 / share - 1) + squares / ((self.cells - 1) * self.seeds)

    def poison(self) -> Poison:
        """Return how far one client, who chooses the last level, can move the estimate of a word."""
        plain = self.support
        share = self.shares[-1]
        return Poison((1 - plain.other) / plain.contrast / share, 1 + plain.other / plain.contrast / share)


def _steps(longest: int) -> tuple[int, ...]:
    """Return three letters first, then two more a level."""
    return (*range(min(3, longest), longest, 2), longest)


def _checked_shares(given: Any, levels: int) -> tuple[Fraction, ...]:
    """Return the shares; by default a tenth for each level but the last (less, where they are many)."""
    if not given:
        early = Fraction(1, max(10, 2 * levels))
        return (early,) * (levels - 1) + (1 - early * (levels - 1),)
    shares = tuple(rational("shares", each, above=0, most=1) for each in given)
    if len(shares) != levels or sum(shares) != 1:
        raise ArgumentError("shares must be one for each of the lengths, and sum to 1", "SRD-C156")
    return shares


def _head(payloads: Payloads) -> tuple[Codes, Codes]:
    return read(payloads[:, :1]), read(payloads[:, 1:3])
