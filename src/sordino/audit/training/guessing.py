"""What a number of correct guesses about canaries says of ε: the test behind one-run audits.

Each of m canaries was put into the training set by a fair coin of its own. From what the training released, an auditor
guesses r of the coins and gets v right. Under ε each guess is right with a chance of at most q = e^ε/(1+e^ε), whatever
the others were, so v is at most binomial; δ lets a few more be right.

**Source**: Steinke, Nasr, Jagielski 2023, "Privacy auditing with one (1) training run", theorem 5.2 and appendix D. For
δ > 0 the walk of ``guessing_curve`` bounds the same chance by other means, so the lesser of the two holds as well.
"""

from __future__ import annotations

import numpy as np
from scipy.special import expit
from scipy.stats import binom

from sordino.accounting.tradeoff import TradeOff

from .guessing_curve import chance_of_guesses_on, least_epsilon_on_curve

_LARGEST = 700.0  # beyond it e^ε is no float; no number of canaries proves as much
_HALVINGS = 50


def chance_of_guesses(correct: int, guesses: int, canaries: int, epsilon: float, delta: float) -> float:
    """Return the greatest chance that an (ε, δ)-private training lets `correct` guesses or more of `guesses` be right.

    **Guarantee**: at least P[V ≥ v] for every mechanism that is (ε, δ)-private under adding or removing one canary
    and every way of guessing from its output. At δ = 0 it is the binomial tail, which randomised response reaches.
    **Assumes**: fair, independent coins; the number of guesses was fixed without looking at the coins.

    >>> chance_of_guesses(10, 10, canaries=10, epsilon=0, delta=0) == 2**-10
    True
    """
    bound = _binomial(correct, guesses, canaries, epsilon, delta)
    if delta == 0:
        return bound
    return min(bound, chance_of_guesses_on(TradeOff.approximate(epsilon, delta), correct, guesses, canaries))


def _binomial(correct: int, guesses: int, canaries: int, epsilon: float, delta: float) -> float:
    """Return theorem 5.2's bound on the chance."""
    right = float(expit(epsilon))
    tail = float(binom.sf(correct - 1, guesses, right))
    if delta == 0 or correct == 0:
        return min(tail, 1.0)
    steps = np.arange(1, correct + 1)
    below = np.cumsum(binom.pmf(correct - steps, guesses, right))  # P[v − i ≤ W < v] for i = 1 … v
    return min(tail + 2 * canaries * delta * float(np.max(below / steps)), 1.0)


def least_epsilon(correct: int, guesses: int, canaries: int, delta: float, doubt: float) -> float:
    """Return the largest ε that so many correct guesses exclude but for a chance of `doubt`; 0 if they exclude none.

    **Guarantee**: above the true ε (at `delta`) with a chance of at most `doubt`. The bound grows with `correct`; where
    it is wrong, at least so many guesses were right that an ε as large as the bound allows it with less than `doubt`.
    """
    if delta == 0:
        return _least_by_binomial(correct, guesses, canaries, delta, doubt)
    return max(
        _least_by_binomial(correct, guesses, canaries, delta, doubt),
        least_epsilon_on_curve(correct, guesses, canaries, delta, doubt),
    )


def _least_by_binomial(correct: int, guesses: int, canaries: int, delta: float, doubt: float) -> float:
    def excluded(epsilon: float) -> bool:
        return _binomial(correct, guesses, canaries, epsilon, delta) < doubt

    if not excluded(0.0):
        return 0.0
    low, high = 0.0, 1.0
    while excluded(high):
        low, high = high, 2 * high
        if high > _LARGEST:
            return low
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if excluded(middle) else (low, middle)
    return low
