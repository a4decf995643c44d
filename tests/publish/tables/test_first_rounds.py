"""The first rounds of AIM, measured by an auditor who knows nothing of them but what comes out."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from publish.tables.test_purse import Rounds
from sordino.accounting.bound import Bound
from sordino.audit import measure
from sordino.publish.spending import Spend
from sordino.publish.tables.purse import Purse

ONE = Bound(1, Fraction(1), Fraction(1), Fraction(1))
HERE, THERE = np.array([[6, 0], [1, 3]]), np.array([[6, 1], [1, 3]])
SPEND = Spend(epsilon=Fraction(2))


def rounds(table: Any, number: int) -> Any:
    """Return what the first rounds give out: noisy counts of a column, the choice, noisy counts of the chosen."""
    marginals = {(0,): table.sum(axis=1), (1,): table.sum(axis=0), (0, 1): table}
    found = np.zeros((number, 7))
    for row in found:
        purse = Purse(Rounds(SPEND), SPEND, marginals.__getitem__, lambda _: ONE, SPEND.amount)
        first = purse.measure((0,), Fraction(2, 5)).numbers
        pair = np.outer(first, [0.5, 0.5])
        expected = {(1,): pair.sum(axis=0), (0, 1): pair}
        chosen = purse.most_off(expected, {(1,): 1, (0, 1): 2}, dict.fromkeys(expected, 1.0), Fraction(4, 5))
        numbers = purse.measure(chosen, Fraction(4, 5)).numbers.ravel()
        assert purse.left == 0
        row[:2], row[2], row[3 : 3 + numbers.size] = first, len(chosen), numbers
    return found


def test_rounds_give_out_a_choice_and_what_was_chosen() -> None:
    found = rounds(HERE, 40)
    assert set(found[:, 2]) <= {1.0, 2.0}


@pytest.mark.long
def test_the_first_rounds_are_not_above_their_claim_and_the_measure_is_not_blind() -> None:
    found = measure(rounds, 2, pairs=[(HERE, THERE)], draws=60_000, confidence=0.9999)
    assert not found.refuted
    assert 0.6 < found.epsilon <= 2
    assert measure(rounds, "0.5", pairs=[(HERE, THERE)], draws=60_000, confidence=0.9999).refuted
