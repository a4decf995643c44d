"""Shuffling: published values, and the law of shuffled reports computed outright for small crowds."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom

from sordino.accounting import renyi, shuffle
from sordino.accounting.curve import curve
from sordino.accounting.events import Shuffled
from sordino.errors import ArgumentError


def test_published_values() -> None:
    """Apple's code gives 0.172 and 0.0550 for the same bound on a coarse grid; 0.118, 0.0432 are variation ratios."""
    assert shuffle.epsilon(4, 10**5, "1e-6") == pytest.approx(0.1698, abs=1e-4)
    assert shuffle.epsilon(1, 10**4, "1e-6") == pytest.approx(0.0530, abs=1e-4)
    assert shuffle.epsilon(4, 10**5, "1e-6", categories=2) == pytest.approx(0.118, abs=5e-4)
    assert shuffle.epsilon(1, 10**4, "1e-6", categories=2) == pytest.approx(0.0432, abs=1e-4)


def response_counts(local: float, ones: int, zeros: int) -> np.ndarray:
    """Return the law of the number of reports "1" when so many people hold 1 and 0 (binary randomized response)."""
    truth = 1 / (1 + math.exp(-local))
    of_ones = binom.pmf(np.arange(ones + 1), ones, truth)
    of_zeros = binom.pmf(np.arange(zeros + 1), zeros, 1 - truth)
    return np.convolve(of_ones, of_zeros)


@given(local=st.floats(0.1, 4), reports=st.integers(2, 60), share=st.floats(0, 1))
@settings(max_examples=80)
def test_covers_binary_randomized_response_exactly(local: float, reports: int, share: float) -> None:
    ones = round(share * (reports - 1))
    p, q = response_counts(local, ones + 1, reports - 1 - ones), response_counts(local, ones, reports - ones)
    for epsilon in (0.0, 0.1 * local, 0.3 * local, 0.8 * local):
        truth = max(np.sum(np.maximum(a - math.exp(epsilon) * b, 0)) for a, b in ((p, q), (q, p)))
        tight = shuffle.delta(local, reports, epsilon, categories=2)
        general = shuffle.delta(local, reports, epsilon)
        assert truth <= tight * (1 + 1e-9) + 1e-15
        assert tight <= general * (1 + 1e-9) + 1e-15


@given(local=st.floats(0.2, 3), others=st.integers(1, 25), epsilon=st.floats(0, 2))
@settings(max_examples=60)
def test_clone_pair_by_plain_sum(local: float, others: int, epsilon: float) -> None:
    clones, truth = math.exp(-local), 1 / (1 + math.exp(-local))
    total = 0.0
    for c in range(others + 1):
        half = np.append(binom.pmf(np.arange(c + 1), c, 0.5), 0.0)
        shifted = np.roll(half, 1)
        p, q = truth * shifted + (1 - truth) * half, (1 - truth) * shifted + truth * half
        total += binom.pmf(c, others, clones) * np.sum(np.maximum(p - math.exp(epsilon) * q, 0))
    ours = shuffle.delta_of(local, others + 1, clones, epsilon)
    assert total * (1 - 1e-9) - 1e-15 <= ours <= total * (1 + 1e-6) + 1e-12


def test_more_reports_hide_better_and_cells_stay_sound() -> None:
    values = [shuffle.epsilon(2, reports, "1e-8") for reports in (2, 100, 10**4, 10**9, 10**12)]
    assert all(later <= earlier for earlier, later in pairwise(values))
    assert values[0] == pytest.approx(2, rel=1e-6)
    assert values[-1] < 1e-4
    assert shuffle.epsilon("0.001", 10**6, "0.5") == 0.0
    assert shuffle.delta(1, 100, 1) == 0.0


def test_epsilon_and_delta_agree() -> None:
    epsilon = shuffle.epsilon(2, 5000, "1e-7")
    assert shuffle.delta(2, 5000, epsilon) <= 1e-7
    assert shuffle.delta(2, 5000, epsilon * (1 - 1e-4)) > 1e-7


def test_event_is_an_epsilon_with_a_delta_of_its_own() -> None:
    event = Shuffled(4, 10**5, "1e-6")
    assert float(curve(event, "pure")(event)) == shuffle.epsilon(4, 10**5, "1e-6")
    assert renyi.epsilon(event, "1e-6") == pytest.approx(0.1698, abs=1e-4)


@pytest.mark.parametrize(
    "arguments",
    [(0, 10, "1e-6"), (1, 1, "1e-6"), (1, 10**13, "1e-6"), (1, 10, 0), (1, 10, 1), (1, 2.5, "0.1"), (True, 10, "0.1")],
)
def test_bad_arguments(arguments: tuple[object, ...]) -> None:
    with pytest.raises(ArgumentError):
        shuffle.epsilon(*arguments)  # type: ignore[arg-type]


def test_bad_categories() -> None:
    with pytest.raises(ArgumentError, match="categories"):
        shuffle.epsilon(1, 10, "1e-6", categories=1)
