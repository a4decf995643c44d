"""From the counts of a prefix tree to the words that stand out, with intervals: post-processing, so free.

At each level the candidates are what may follow the prefixes kept so far, and the `kept` largest go on to the next. Of
the last level's words those are told whose estimates are above what noise alone would reach, for any candidate there,
with the probability `false_alarm`. A word whose prefix was not among the largest at some level is lost. Intervals are
each for one word that was named beforehand; the words found are those that came out large, so their estimates lean
upwards a little.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy
from numpy.typing import NDArray

from sordino.arguments import probability, whole
from sordino.collect.estimate import Estimate
from sordino.collect.fingerprint import cells_of, keys
from sordino.collect.frequencies.collisions import with_collisions
from sordino.collect.frequencies.prefix_tree import PrefixTree
from sordino.collect.randomizer import Codes, Counts
from sordino.errors import ArgumentError
from sordino.noise.keystream import Words

_AT_A_TIME = 2**22
_MOST_CANDIDATES = 2**22


@dataclass(frozen=True)
class HeavyWords:
    """Words that stand out, the most frequent first, and how many of all people hold each."""

    words: tuple[str, ...]
    estimate: Estimate

    def top(self, most: int) -> HeavyWords:
        """Return the first `most`."""
        kept = slice(whole("most", most, least=0))
        plain = self.estimate
        first = Estimate(plain.values[kept], plain.standard_errors[kept], plain.reports, plain.slope)
        return HeavyWords(self.words[kept], first)


def heavy_words(tree: PrefixTree, counts: Counts, *, kept: int = 64, false_alarm: float = 0.05) -> HeavyWords:
    """Return the words that stand out of the noise."""
    whole("kept", kept, least=1, most=10**5)
    alarm = float(probability("false_alarm", false_alarm))
    candidates = _following(tree, np.zeros(1, dtype=np.int64), 0, tree.lengths[0])
    for level in range(len(tree.lengths)):
        if level:
            candidates = _following(tree, candidates, tree.lengths[level - 1], tree.lengths[level])
        estimate = _at_level(tree, counts[level], level, candidates)
        order = np.argsort(-estimate.values, kind="stable")[:kept]
        quiet = len(candidates)
        candidates = candidates[order]
    least = -float(scipy.special.ndtri(alarm / quiet)) * estimate.standard_errors[order]
    out = estimate.values[order] > least
    found = _for_all(tree, estimate, order[out], int(counts.sum()))
    return HeavyWords(tuple(tree.word(code) for code in candidates[out].tolist()), found)


def _following(tree: PrefixTree, prefixes: Codes, length: int, longer: int) -> Codes:
    """Return all prefixes of `longer` letters that continue those given; after a word's end comes nothing."""
    base = len(tree.alphabet) + 1
    found = prefixes
    for place in range(length, longer):
        if len(found) * base > _MOST_CANDIDATES:
            raise ArgumentError(
                "too many prefixes to look at: let lengths rise by fewer letters, or keep fewer", "SRD-C157"
            )
        ended = (found % base == 0) if place else np.zeros(len(found), dtype=np.bool_)
        on = found[~ended, None] * base + np.arange(base)
        found = np.concatenate([found[ended] * base, on.ravel()])
    return found


def _at_level(tree: PrefixTree, counts: NDArray[np.int64], level: int, candidates: Codes) -> Estimate:
    """Return how many of those at the level have each prefix."""
    reports = int(counts.sum())
    if reports == 0:
        return Estimate(np.zeros(len(candidates)), np.ones(len(candidates)), 0)
    plain = tree.support.estimate(_supported(tree, counts, level, candidates.astype(np.uint64)), reports)
    heavy = plain.values[plain.values > 5 * plain.standard_errors]
    return with_collisions(plain, float(np.square(heavy).sum()), cells=tree.cells, hashes=tree.seeds)


def _supported(tree: PrefixTree, counts: NDArray[np.int64], level: int, prefixes: Words) -> Counts:
    seeds = np.arange(tree.seeds)
    by = keys(tree.salt, level * tree.seeds + seeds)
    found = np.empty(len(prefixes), dtype=np.int64)
    step = max(1, _AT_A_TIME // tree.seeds)
    for start in range(0, len(prefixes), step):
        places = cells_of(prefixes[start : start + step, None], by[None, :], tree.cells)
        found[start : start + step] = counts.ravel()[seeds * tree.cells + places].sum(axis=1)
    return found


def _for_all(tree: PrefixTree, last: Estimate, order: NDArray[np.intp], reports: int) -> Estimate:
    """Return estimates for all people: those at the last level are a sample, drawn with the level's chance."""
    scale = 1 / float(tree.shares[-1])
    values = last.values[order] * scale
    sampled = (scale - 1) * np.clip(values, 0.0, reports)
    errors = np.sqrt(np.square(last.standard_errors[order] * scale) + sampled)
    return Estimate(values, errors, reports, last.slope * scale + scale - 1)
