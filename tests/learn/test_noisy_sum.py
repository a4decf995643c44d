"""Noise that is drawn ahead, by two, piece by piece; and sums that are rounded exactly before it is added."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
import torch
from numpy.typing import NDArray

from sordino import noise
from sordino.learn.descent import noise_ahead
from sordino.learn.descent.noise_ahead import NoiseAhead
from sordino.learn.descent.noisy_sum import whole_steps

LIMIT = 2**62


class Counting:
    """Draws 0, 1, 2, …: every number once."""

    def __init__(self, first: int = 0) -> None:
        self.next = first

    def fitting(self, size: int) -> NDArray[np.int64]:
        self.next += size
        return np.arange(self.next - size, self.next)


@pytest.fixture
def _small_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(noise_ahead, "_PIECE", 10)
    monkeypatch.setattr(noise_ahead, "_AHEAD", 2)


@pytest.mark.usefixtures("_small_pieces")
@pytest.mark.parametrize("size", [1, 10, 19, 64])
def test_each_step_has_as_many_draws_as_it_asks_for_and_none_comes_twice(size: int) -> None:
    law = noise.RoundedGaussian(4**40)  # so wide that no number comes twice by chance
    with NoiseAhead(law, size) as ahead:
        steps = [np.concatenate(list(ahead.pieces())) for _ in range(5)] + [ahead.take() for _ in range(5)]
    assert {len(step) for step in steps} == {size}
    assert len(np.unique(np.concatenate(steps))) == 10 * size


@pytest.mark.usefixtures("_small_pieces")
def test_after_a_step_that_failed_half_way_the_next_one_is_whole() -> None:
    with NoiseAhead(noise.RoundedGaussian(4**40), 64) as ahead:
        first = next(ahead.pieces())
        assert len(first) == 10
        assert len(ahead.take()) == 64
        assert len(ahead.take()) == 64


@pytest.mark.parametrize("first", [0, 2**31 - 3, 2**40])
def test_numbers_too_wide_for_half_the_memory_keep_their_value(first: int) -> None:
    with NoiseAhead(Counting(first), 5) as ahead:  # type: ignore[arg-type]
        (piece,) = ahead.pieces()
    assert piece.tolist() == list(range(first, first + 5))
    assert piece.dtype == (np.int32 if first == 0 else np.int64)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_sums_are_rounded_to_steps_exactly(dtype: torch.dtype) -> None:
    below_half = float(torch.nextafter(torch.tensor(0.5, dtype=dtype), torch.tensor(0.0, dtype=dtype)))
    values = [0.0, 0.5, -0.5, below_half, -below_half, 1.5, 2.5, -1.5, 1e-40, -1e-40, 2.0**52 + 1, -(2.0**53), 1e17]
    values += np.random.default_rng(0).normal(size=200, scale=5).tolist()
    given = torch.tensor(values, dtype=dtype)
    exact = [int((Fraction(each) + Fraction(1, 2)) // 1) for each in given.tolist()]
    assert whole_steps(given, 0, LIMIT).tolist() == exact
    moved = [int((Fraction(each) * 8 + Fraction(1, 2)) // 1) for each in given.tolist()]
    assert whole_steps(given, -3, LIMIT).tolist() == moved


def test_what_is_no_number_counts_nothing_and_the_largest_stay_within_the_limit() -> None:
    found = whole_steps(torch.tensor([torch.nan, torch.inf, -torch.inf, 3e38]), 0, LIMIT)
    assert found[0] == 0
    assert (found.abs() <= LIMIT).all()
    assert found[1] == found[3] > 0 > found[2]
