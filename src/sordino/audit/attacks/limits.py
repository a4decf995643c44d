"""What a privacy guarantee leaves to any attack, in the numbers by which attacks are judged.

**Source**: Wasserman, Zhou 2010 and Kairouz, Oh, Viswanath 2015 for tests between neighbours, by way of
`sordino.accounting.tradeoff`.
"""

from __future__ import annotations

import numpy as np

from sordino.accounting.curve import Floats
from sordino.accounting.tradeoff import TradeOff
from sordino.arguments import Number, rational

_RATES = np.unique(np.concatenate([[0.0], np.geomspace(1e-9, 1.0, 4000), np.linspace(0.0, 1.0, 4001)]))


def most_correct(limit: TradeOff, prior: Number = 0.5) -> float:
    """Return how often any attack is right about one person's secret bit, at most (rounded up).

    **Guarantee**: if the bit is 1 with chance `prior`, whatever is known about everybody else, and the two data sets
    that differ in it are as hard to tell apart as `limit` says, then no attack is right more often. An attack with
    false positive rate x misses at least f(x), so it is wrong with a chance of (1 − prior)·x + prior·f(x) or more.
    The least of that over a grid of rates is lowered by what lies between two points of the grid.

    >>> round(most_correct(TradeOff.approximate(1)), 3)
    0.731
    """
    ones = float(rational("prior", prior, least=0, most=1))
    misses = limit(_RATES)
    # f falls from left to right, so between two points it is at least its value at the right one.
    wrong = (1 - ones) * _RATES[:-1] + ones * misses[1:]
    return float(1 - max(0.0, min(wrong.min(), (1 - ones) * _RATES[-1] + ones * misses[-1])))


def most_found(limit: TradeOff, false_positives: Floats | float) -> Floats:
    """Return the largest true positive rate that `limit` allows at each false positive rate."""
    return 1 - limit(false_positives)
