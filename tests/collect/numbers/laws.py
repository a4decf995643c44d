"""The law of one report, word by word, apart from the code under test; and how samples are judged against it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from fractions import Fraction
from typing import Any

import numpy as np
from scipy import stats

from sordino.collect.coins import WORD, odds

FALSE_ALARM = 1e-7
"""Of one goodness-of-fit test; the same words never come twice, so this is how often a sound law fails."""

Law = dict[int, Fraction]


class Given:
    """Words that are given one after the other."""

    def __init__(self, words: Iterable[int]) -> None:
        self._words = iter(words)

    def word(self) -> int:
        return next(self._words)

    def words(self, count: int) -> Any:
        return np.array([self.word() for _ in range(count)], dtype=np.uint64)


def by_borders(randomizer: Any, code: int, before: tuple[int, ...] = ()) -> Law:
    """Return the law of the last word's report, found by bisection for the borders between reports.

    From the start of each interval on: gallop until the report changes, then halve. (Galloping doubles its step, so an
    interval of another report could only be missed if the same report came again beyond it, for neighbours at once.)
    """
    law: Counter[int] = Counter()

    def told(word: int) -> int:
        return int.from_bytes(randomizer.report(code, Given([*before, word])), "little")

    start = 0
    while start < WORD:
        here, low, high = told(start), start, WORD
        # The end of the interval: gallop, then halve. Intervals of one report are contiguous.
        step = 1
        while low + step < WORD and told(low + step) == here:
            low, step = low + step, 2 * step
        high = min(low + step, WORD)
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if told(middle) == here else (low, middle)
        law[here] += high - start
        start = high
    return {cell: Fraction(words, WORD) for cell, words in law.items()}


def largest_ratio(laws: list[Law]) -> Fraction:
    """Return by what factor the chances of one report differ at most between codes."""
    cells = {cell for law in laws for cell in law}
    assert all(law.get(cell, 0) > 0 for law in laws for cell in cells), (
        "a report that one code cannot send gives it away"
    )
    return max(max(law[cell] for law in laws) / min(law[cell] for law in laws) for cell in cells)


def within(epsilon: Any, laws: list[Law], *, tight: float = 0.98) -> None:
    """Assert that laws lose no more than ε, in fractions, and not much less."""
    assert all(sum(law.values()) == 1 for law in laws)
    ratio, most = largest_ratio(laws), odds(Fraction(epsilon))
    assert ratio <= most
    assert float(ratio) >= 1 + tight * (float(most) - 1)


def fits(cells: Any, law: Law) -> float:
    """Return the p-value of a chi-squared test of drawn cells against a law; rare cells are put together."""
    drawn = Counter(np.asarray(cells).tolist())
    total = sum(drawn.values())
    seen, expected, rare_seen, rare = [], [], 0, 0.0
    for cell, chance in law.items():
        if float(chance) * total < 10:
            rare_seen, rare = rare_seen + drawn[cell], rare + float(chance) * total
        else:
            seen.append(drawn[cell])
            expected.append(float(chance) * total)
    assert set(drawn) <= set(law), "a report that the law does not know"
    if rare > 0:
        seen.append(rare_seen)
        expected.append(rare)
    statistic = sum((s - e) ** 2 / e for s, e in zip(seen, expected, strict=True))
    return float(stats.chi2.sf(statistic, max(len(seen) - 1, 1)))
