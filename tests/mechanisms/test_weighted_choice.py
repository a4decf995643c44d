"""Weighted choice and its coin: exact laws, the undecided path forced."""

from __future__ import annotations

import math
from collections import Counter
from decimal import Context, Decimal
from fractions import Fraction

import numpy as np
import pytest

from sordino.errors import ArgumentError
from sordino.mechanisms import weighted_choice
from sordino.mechanisms.checks.draws import CHANCE, fit
from sordino.mechanisms.weighted_choice import choose_weighted, exponential_coin


def law(scores: list[int], counts: list[int], rate: float) -> dict[int, float]:
    top = max(scores)
    weights = [count * math.exp(rate * (score - top)) for score, count in zip(scores, counts, strict=True)]
    return {i: weight / sum(weights) for i, weight in enumerate(weights)}


@pytest.mark.parametrize("rate", [Fraction(1, 50), Fraction(1, 3), Fraction(5, 2)])
def test_indices_come_out_by_count_times_exponential(rate: Fraction) -> None:
    scores = [round(float(s / rate)) for s in (0, -1, -2, -7, -1)]
    counts = [1, 3, 10, 5000, 2]
    seen = Counter(choose_weighted(np.array(scores), np.array(counts), rate) for _ in range(15000))
    p = fit(seen, law(scores, counts, float(rate)))
    assert p >= CHANCE, f"n = {seen.total()}, k = {len(seen)}, p = {p:.3g}"
    for other in ([7, 3, 10, 5000, 2], [1, 3, 10, 3500, 2], [1, 3, 10, 6500, 2]):
        assert fit(seen, law(scores, other, float(rate))) < CHANCE


def test_one_item_is_certain_and_scores_may_be_far_from_zero() -> None:
    assert choose_weighted(np.array([-(2**61)]), np.array([7]), Fraction(1)) == 0
    assert choose_weighted(np.array([2**61, 2**61 - 10**6]), np.array([1, 1]), Fraction(1)) == 0


def test_scores_that_would_leave_int64_are_raised_and_what_is_public_is_refused() -> None:
    assert choose_weighted(np.array([-(2**61), 0]), np.array([7, 1]), Fraction(9)) == 1
    assert choose_weighted(np.array([-(2**61), 2**61]), np.array([7, 2**61]), Fraction(1, 10**9)) == 1
    with pytest.raises(ArgumentError, match="int64"):
        choose_weighted(np.array([0, 0]), np.array([7, 1]), Fraction(1, 10**18))


@pytest.mark.parametrize(
    ("count", "exponent"), [(1, Fraction(0)), (1, Fraction(1, 2)), (3, Fraction(2)), (10**9, Fraction(21))]
)
def test_the_coin_is_fair(count: int, exponent: Fraction) -> None:
    chance = count * math.exp(-exponent)
    seen = Counter(exponential_coin(count, exponent) for _ in range(3000))
    if chance == 1:
        assert seen == {True: 3000}
        return
    p = fit(seen, {True: chance, False: 1 - chance})
    assert p >= CHANCE, f"n = 3000, k = {seen[True]}, p = {p:.3g}"


def test_an_undecided_coin_draws_more_bits(monkeypatch: pytest.MonkeyPatch) -> None:
    # The first 62 bits are those of the probability itself, so nothing is decided before the next 62 are known.
    first = int(3 * Fraction(Context(prec=60).exp(Decimal(-2))) * 2**62)
    for second, expected in ((0, True), (2**62 - 1, False)):
        bits = iter((first, second))
        monkeypatch.setattr(weighted_choice.noise, "uniform", lambda _below, bits=bits: next(bits))
        assert exponential_coin(3, Fraction(2)) is expected
        assert next(bits, None) is None
