"""Square wave: exact ε, the law of reports, unbiased shares, intervals, quantiles, EM, poison."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from collect.numbers.laws import FALSE_ALARM, by_borders, fits, within
from sordino.collect.frequencies.numbered import read
from sordino.collect.numbers.choice import number
from sordino.collect.numbers.distribution import Distribution
from sordino.collect.numbers.square_wave import SquareWave, _half_width
from sordino.errors import ArgumentError

EPSILONS = ("0.001", "0.5", "1", "3", "8", "32")


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_no_two_codes_differ_by_more_than_epsilon(epsilon: str) -> None:
    wave = SquareWave(Fraction(epsilon), 8)
    within(epsilon, [by_borders(wave, code) for code in range(9)])


@pytest.mark.parametrize("epsilon", ["0.5", "2", "4"])
def test_many_reports_have_the_law_of_one(epsilon: str) -> None:
    wave = SquareWave(Fraction(epsilon), 8)
    for code in (0, 5, 8):
        cells = read(wave.reports(np.full(40_000, code)))
        assert fits(cells, by_borders(wave, code)) > FALSE_ALARM
        for factor in (Fraction(7, 10), Fraction(13, 10)):
            other = read(SquareWave(Fraction(epsilon) * factor, 8).reports(np.full(40_000, code)))
            known = np.isin(other, np.arange(wave.window.cells))
            assert not known.all() or fits(other, by_borders(wave, code)) < FALSE_ALARM


def test_the_window_is_that_of_the_paper() -> None:
    """Li et al. 2020 give b = 0.256 for ε = 1; towards 0 it is ½, and both branches meet."""
    assert _half_width(1.0) == pytest.approx((math.e - math.e + 1) / (2 * math.e * (math.e - 2)))
    assert _half_width(0.0099999) == pytest.approx(_half_width(0.0100001), abs=2e-7)
    assert _half_width(1e-3) == pytest.approx(0.5, abs=1e-3)


@pytest.mark.parametrize("epsilon", ["0.5", "2", "8"])
def test_the_decoder_undoes_the_coins(epsilon: str) -> None:
    wave = SquareWave(Fraction(epsilon), 16)
    laws = [by_borders(wave, code) for code in range(17)]
    law = np.array([[float(each[cell]) for each in laws] for cell in range(wave.window.cells)])
    np.testing.assert_allclose(wave.chances, law, rtol=1e-12)
    np.testing.assert_allclose(wave.decoder @ law, np.eye(17), atol=1e-8)
    np.testing.assert_allclose(wave.decoder.sum(axis=0), 1.0, atol=1e-9)


@pytest.mark.parametrize(("epsilon", "steps", "people"), [("1", 16, 4000), ("4", 32, 4000)])
def test_intervals_cover_and_quantiles_are_within(epsilon: str, steps: int, people: int) -> None:
    rng, rounds, wave = np.random.default_rng(3), 400, SquareWave(Fraction(epsilon), steps)
    codes = np.floor(rng.beta(2, 3, people) * steps + 0.5).astype(np.int64)
    shares = np.bincount(codes, minlength=steps + 1) / people
    below, mean = np.cumsum(shares), codes.mean() / steps
    borders = (np.arange(steps + 2) - 0.5) / steps
    median = np.interp(0.5, np.append(0, below), borders)
    found = [wave.estimate(wave.count(wave.reports(codes)), people) for _ in range(rounds)]

    def covered(name: str, truth: Any) -> Any:
        ends = np.array([getattr(each, name).intervals(0.95) for each in found])
        return ((ends[..., 0] <= truth) & (truth <= ends[..., 1])).mean(axis=0)

    assert abs(covered("raw", shares).mean() - 0.95) < 0.02
    assert abs(covered("cumulative", below)[:-1].mean() - 0.95) < 0.02
    assert abs(covered("mean", mean) - 0.95) < 0.049  # 4.5 standard errors of 400 rounds
    errors = np.array([each.cumulative.values - below for each in found])
    told = np.array([each.cumulative.standard_errors for each in found])
    assert np.mean(errors[:, :-1] ** 2) == pytest.approx(np.mean(told[:, :-1] ** 2), rel=0.1)
    assert np.all(np.abs(errors.mean(axis=0)) < 5 * told.mean(axis=0) / math.sqrt(rounds) + 1e-9)
    quantiles = [each.quantile(0.5) for each in found[:100]]
    assert sum(each.low <= median <= each.high for each in quantiles) >= 90
    assert all(each.low <= each.value <= each.high for each in quantiles)


def test_what_is_told_before_spending_is_the_error_of_even_shares() -> None:
    wave, people, rounds = SquareWave(Fraction(1), 16), 1700, 300
    codes = np.arange(17).repeat(100)
    below = np.arange(1, 18) / 17
    errors = np.array(
        [wave.estimate(wave.count(wave.reports(codes)), people).cumulative.values - below for _ in range(rounds)]
    )
    measured = np.sqrt(np.mean(errors**2, axis=0)).max()
    assert measured == pytest.approx(wave.error(people), rel=0.15)


def test_likely_shares_are_most_likely() -> None:
    """Stopped late, EM's shares cannot be bettered by moving mass between any two codes (Kuhn and Tucker)."""
    wave = SquareWave(Fraction(2), 8)
    counts = wave.count(wave.reports(np.array([2] * 30_000 + [6] * 10_000)))
    late = Distribution(counts, wave.chances, wave.decoder, 1e-9)
    shares = late.likely()
    assert shares.min() >= 0
    assert shares.sum() == pytest.approx(1)
    slopes = wave.chances.T @ (counts / (wave.chances @ shares)) / counts.sum()
    assert slopes.max() <= 1 + 1e-3
    assert slopes[shares > 0.01] == pytest.approx(1, abs=1e-3)
    assert abs(shares[2] - 0.75) < 0.1
    smooth = late.likely(smooth=True)
    assert smooth.min() >= 0
    assert smooth.sum() == pytest.approx(1)
    assert np.abs(np.diff(smooth, 2)).sum() < np.abs(np.diff(shares, 2)).sum()


def test_poison_is_reached_and_not_passed() -> None:
    wave, people, liars = SquareWave(Fraction(1), 16), 500, 25
    bound = wave.poison(people, liars)
    best = 0.0
    for cell in range(wave.window.cells):
        payload = np.frombuffer(cell.to_bytes(wave.size, "little"), dtype=np.uint8)[None]
        moved = wave.estimate(wave.count(payload), 1).cumulative.values[:-1]
        for held in (0.0, 1.0):
            best = max(best, liars / people * np.abs(moved - held).max())
    assert 0.8 * bound <= best <= bound * (1 + 1e-9)


def test_in_the_units_that_were_asked_in() -> None:
    question = number(-10, 30, epsilon=4, what="distribution", steps=64)
    held = np.random.default_rng(8).normal(5, 4, 50_000)
    payloads = question.randomizer.reports(question.codes(held))
    found = question.estimate(question.randomizer.count(payloads), len(held))
    assert found.points[0] == -10
    assert found.points[-1] == 30
    assert found.quantile(0.5).value == pytest.approx(5, abs=1)
    low, high = found.mean.intervals(0.999)
    assert low < held.mean() < high
    with pytest.raises(ArgumentError):
        number(0, 1, epsilon=1, what="distribution", way="piecewise")
    with pytest.raises(ArgumentError, match="SRD-A002"):
        number(0, 1, epsilon=1, what="distribution", steps=2048)
