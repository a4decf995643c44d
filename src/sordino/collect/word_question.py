"""Words that nobody listed, as a survey asks for them: people name words, and what stands out is told.

By a prefix tree (``frequencies/prefix_tree.py``) the words are found from the reports alone. By RAPPOR or a sketch they
are told for `candidates`, which whoever counts may name at any time: they are no part of the survey, and asking about
other words later is free.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from sordino.arguments import Number
from sordino.errors import ArgumentError

from .coins import local_epsilon
from .fingerprint import fingerprint, fingerprints
from .frequencies.heavy_words import HeavyWords, heavy_words
from .frequencies.prefix_tree import LETTERS, PrefixTree
from .frequencies.rappor import Rappor
from .frequencies.rappor_decoding import decode
from .frequencies.sketch import WORDS, Sketch
from .randomizer import Counts


@dataclass(frozen=True)
class WordQuestion:
    """Which word each person holds."""

    randomizer: Any
    """A prefix tree, RAPPOR, or a sketch over all words."""
    candidates: tuple[str, ...] = ()

    def code(self, value: Any) -> int:
        """Return the code of a word: any text has one, so that nothing is told by a refusal."""
        if not isinstance(value, str):
            raise ArgumentError("the answer must be a word; it is not shown here, and nothing was sent", "SRD-C104")
        way = self.randomizer
        return way.code(value) if isinstance(way, PrefixTree) else fingerprint(value)

    def codes(self, values: Iterable[str]) -> Any:
        """Return the codes of many words."""
        kind = np.int64 if isinstance(self.randomizer, PrefixTree) else np.uint64
        return np.array([self.code(value) for value in values], dtype=kind)

    def public(self) -> Mapping[str, Any]:
        """Return how it is answered."""
        return {"what": "word", "randomizer": dict(self.randomizer.public())}

    def estimate(self, counts: Counts, reports: int) -> Any:
        """Return the words that stand out, or how many hold each candidate, with standard errors and intervals."""
        way = self.randomizer
        if isinstance(way, PrefixTree):
            return heavy_words(way, counts)
        if not self.candidates:
            raise ArgumentError(
                "this way to answer tells how many hold words that are named: words(…, candidates=[…]), which may be "
                "done when the round is closed, or any time later",
                "SRD-C158",
            )
        if isinstance(way, Rappor):
            return decode(way, counts, self.candidates)
        return HeavyWords(self.candidates, way.estimate_of(fingerprints(self.candidates), counts, reports))

    def error(self, people: int) -> float:
        """Return the standard error for a word that nobody holds, about."""
        return math.sqrt(self.randomizer.variance(people))

    def poison(self, people: int, colluding: int) -> float:  # noqa: ARG002  (a count moves alike among however many)
        """Return how far so many liars can move a word's count."""
        return float(self.randomizer.poison().shift(colluding))


def words(
    *,
    epsilon: Number | None = None,
    longest: int = 8,
    alphabet: str = LETTERS,
    way: PrefixTree | Rappor | Sketch | None = None,
    candidates: Iterable[str] = (),
) -> WordQuestion:
    """Return how to ask for a word of up to `longest` letters of an `alphabet`; the words need not be known.

    With `way` another one answers: `Rappor`, or a sketch over all words (``domain=2**64``), whose counts are told for
    `candidates`.

    >>> words(epsilon=4).code("cat") == words(epsilon=4).code("dog")
    False
    """
    if (way is None) == (epsilon is None):
        raise ArgumentError("say epsilon, or a way to answer, which has one of its own", "SRD-A003")
    named = tuple(candidates)
    if not all(isinstance(each, str) for each in named) or len(set(named)) != len(named):
        raise ArgumentError("candidates must be words, each named once", "SRD-C158")
    found = PrefixTree(local_epsilon(epsilon), alphabet, longest) if way is None else way
    if not asks_for_words(found):
        raise ArgumentError("words are asked for by a PrefixTree, Rappor, or a sketch with domain=2**64", "SRD-C714")
    return WordQuestion(found, named)


def asks_for_words(way: Any) -> bool:
    """Return whether a way to answer is one for words."""
    return isinstance(way, PrefixTree | Rappor) or (isinstance(way, Sketch) and way.domain == WORDS)
