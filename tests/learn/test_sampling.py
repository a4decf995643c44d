"""Samplers: what they draw is what their events say, whatever the true number of units is."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

from sordino.accounting.events import FixedSizeSampled, Gaussian, PoissonSampled, Repeated
from sordino.errors import ArgumentError
from sordino.learn.run.sampling import SAMPLERS, most_drawn, sampler

STEP = Gaussian(1)


def test_poisson_draws_each_unit_by_itself_at_its_rate() -> None:
    draw = sampler("poisson", 30, 100).draws(50)
    seen = np.zeros((2000, 50))
    for row in seen:
        row[draw(0)] = 1
    sizes = seen.sum(1)
    assert abs(stats.zscore([*sizes, 15])[-1]) < 1
    assert stats.binomtest(int(seen.sum()), seen.size, 0.3).pvalue > 1e-4
    for wrong in (0.7 * 0.3, 1.3 * 0.3):
        assert stats.binomtest(int(seen.sum()), seen.size, wrong).pvalue < 1e-9
    assert sizes.var() == pytest.approx(50 * 0.3 * 0.7, rel=0.2)  # independent: no less, as a fixed size would have
    together = np.corrcoef(seen[:, 0], seen[:, 1])[0, 1]
    assert abs(together) < 0.1


@pytest.mark.parametrize("units", [60, 100, 140])
def test_a_fixed_size_is_of_places_not_of_whoever_is_there(units: int) -> None:
    draw = sampler("fixed-size", 20, 100).draws(units)
    drawn = [draw(step) for step in range(400)]
    assert all(len(set(each)) == len(each) and np.all(np.diff(each) > 0) for each in drawn)
    assert max(len(each) for each in drawn) <= 20
    if units >= 100:
        assert all(len(each) == 20 and each.max() < 100 for each in drawn)
    often = sum(len(each) for each in drawn) / (400 * min(units, 100))
    assert often == pytest.approx(0.2, rel=0.1)  # never more, though there are fewer than was declared


def test_in_one_pass_everybody_is_in_one_step_of_each_epoch() -> None:
    way = sampler("one-pass", 25, 100)
    draw = way.draws(90)
    for epoch in range(3):
        drawn = [draw(epoch * way.least + step) for step in range(way.least)]
        assert sorted(np.concatenate(drawn)) == list(range(90))
    again = [draw(3 * way.least + step) for step in range(way.least)]
    assert any(list(one) != list(other) for one, other in zip(drawn, again, strict=True))  # drawn anew


def test_whoever_leaves_moves_nobody_else_in_one_pass(monkeypatch: pytest.MonkeyPatch) -> None:
    labels = np.random.default_rng(1).integers(4, size=100)
    monkeypatch.setattr("sordino.learn.run.sampling.noise.uniform", lambda _, units: labels[:units])
    way = sampler("one-pass", 25, 100)
    all_there, without = way.draws(100), way.draws(99)
    for step in range(way.least):
        assert [each for each in all_there(step) if each != 99] == list(without(step))


def test_the_events_are_what_is_drawn() -> None:
    assert sampler("poisson", 30, 100).event(STEP, 7) == Repeated(PoissonSampled(STEP, Fraction(3, 10)), 7)
    assert sampler("poisson", 100, 100).event(STEP, 7) == Repeated(STEP, 7)
    assert sampler("fixed-size", 30, 100).event(STEP, 7) == Repeated(FixedSizeSampled(STEP, 30, 100), 7)
    way = sampler("one-pass", 30, 100)
    assert way.least == 4
    assert [way.event(STEP, steps).count for steps in (1, 4, 5, 8)] == [1, 1, 2, 2]


def test_what_is_drawn_at_most_is_exceeded_almost_never() -> None:
    for rate, size in ((Fraction(1, 100), 60_000), (Fraction(1, 2), 40), (Fraction(1, 1000), 1000), (Fraction(1), 9)):
        most = most_drawn(rate, size)
        assert most <= size
        assert stats.binom.logsf(most, size, float(rate)) < -100 * np.log(2) or most == size
    assert most_drawn(Fraction(512, 60_000), 60_000) < 1.6 * 512


@pytest.mark.parametrize("name", SAMPLERS)
def test_a_batch_larger_than_all_is_refused(name: str) -> None:
    with pytest.raises(ArgumentError, match="must not exceed size"):
        sampler(name, 101, 100)
    with pytest.raises(ArgumentError):
        sampler("shuffled", 10, 100)
