"""Estimates: unbiased, as far off as was said beforehand, with intervals that hold; and what liars can do."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from collect.randomizers import MAKERS, Seeded, use
from sordino.collect.estimate import Estimate
from sordino.errors import ArgumentError

CELLS = [(name, domain, epsilon) for name in MAKERS for domain in (2, 10) for epsilon in (0.5, 2, 4)]
PEOPLE = 400


def _population(domain: int, people: int) -> Any:
    """Most hold the first values; every second value nobody."""
    shares = np.where(np.arange(domain) % 2 == 0, 1 / (1 + np.arange(domain)), 0)
    return np.repeat(np.arange(domain), np.diff(np.round(people * np.cumsum([0, *shares]) / shares.sum()).astype(int)))


def _runs(randomizer: Any, values: Any, runs: int) -> list[Estimate]:
    payloads = randomizer.reports(np.tile(values, runs))
    return [randomizer.estimate(randomizer.count(part), len(values)) for part in np.split(payloads, runs)]


@pytest.mark.parametrize(("name", "domain", "epsilon"), CELLS)
def test_squared_error_and_intervals_are_as_told(name: str, domain: int, epsilon: float, monkeypatch: Any) -> None:
    """The mean squared error of many runs is accepted at what is told, and told from 0.7 and 1.3 of it."""
    use(monkeypatch, Seeded(11))
    randomizer = MAKERS[name](domain, epsilon)
    values = _population(domain, PEOPLE)
    truth = np.bincount(values, minlength=domain)
    runs = _runs(randomizer, values, 1500 if domain == 2 else 400)
    errors = np.array([run.values - truth for run in runs])
    told = np.array([randomizer.variance(PEOPLE, held) for held in truth])
    assert math.isclose(told.mean(), PEOPLE * randomizer.mean_squared_error(), rel_tol=1e-9)
    assert np.abs(errors.mean(axis=0) / np.sqrt(told / len(runs))).max() < 5
    squares = np.square(errors).mean(axis=1)
    mean, spread = squares.mean() / told.mean(), squares.std() / told.mean() / math.sqrt(len(runs))
    for level, holds in ((1.0, True), (0.7, False), (1.3, False)):
        assert (abs(mean - level) < 4.5 * spread) == holds, f"{len(runs)} runs, {mean:.3f} of what is told"
    low, high = np.moveaxis([run.intervals() for run in runs], -1, 0)
    covered = np.mean((low <= truth) & (truth <= high))
    assert 0.93 < covered < 0.97


@pytest.mark.parametrize("name", MAKERS)
@pytest.mark.parametrize("epsilon", [1, 5])
def test_errors_of_many_values_are_as_told(name: str, epsilon: int, monkeypatch: Any) -> None:
    use(monkeypatch, Seeded(12))
    randomizer = MAKERS[name](1000, epsilon)
    values = _population(1000, 10_000)
    truth = np.bincount(values, minlength=1000)
    error = randomizer.estimate(randomizer.count(randomizer.reports(values)), 10_000).values - truth
    ratio = np.square(error).mean() / (10_000 * randomizer.mean_squared_error())
    assert abs(ratio - 1) < 0.25, f"1,000 values, {ratio:.3f} of what is told"


@pytest.mark.parametrize("name", MAKERS)
def test_one_in_a_hundred_lies_and_moves_as_far_as_told_and_no_further(name: str, monkeypatch: Any) -> None:
    """1 % always, or never, support one value: the shift from honest answers reaches the bound and keeps it."""
    use(monkeypatch, Seeded(14))
    for domain in (2, 10, 1000):
        randomizer = MAKERS[name](domain, 1)
        people, liars = 10_000, 100
        bound = randomizer.poison().shift(liars)
        payloads = randomizer.reports(np.arange(people) % domain)
        honest = randomizer.count(payloads[liars:])
        for target in (0, domain - 1):
            up = _attack(randomizer, target, liars)
            down = _attack(randomizer, (target + 1) % domain, liars, never=target)
            shifts = []
            for attack, held in ((up, 0), (down, 1)):
                assert randomizer.well_formed(attack).all()
                moved = randomizer.estimate(honest + randomizer.count(attack), people).values[target]
                without = randomizer.estimate(honest, people - liars).values[target] + held * liars
                shifts.append(abs(moved - without))
            assert max(shifts) <= bound * (1 + 1e-9)
            assert max(shifts) >= 0.8 * bound


def _attack(randomizer: Any, target: int, liars: int, never: int | None = None) -> Any:
    """Return payloads that support the target, and not another value: the first of many honest ones that do."""
    payloads = randomizer.reports(np.full(4000, target))
    for row in payloads:
        supports = randomizer.supported(randomizer.count(row[None]))
        if supports[target] and (never is None or not supports[never]):
            return np.tile(row, (liars, 1))
    raise AssertionError("no payload supports the target")


@pytest.mark.parametrize("name", MAKERS)
def test_no_payload_moves_an_estimate_further_than_told(name: str) -> None:
    randomizer = MAKERS[name](5, "0.7")
    poison = randomizer.poison()
    for row in randomizer.reports(np.arange(500) % 5):
        supports = randomizer.supported(randomizer.count(row[None]))
        alone = (supports - float(randomizer.support.other)) / float(randomizer.support.contrast)
        assert alone.max() <= float(poison.raised) * (1 + 1e-12)
        assert 1 - alone.min() <= float(poison.lowered) * (1 + 1e-12)
    assert poison.shift(0) == 0


def test_consistent_counts_could_be_true_and_are_closer(monkeypatch: Any) -> None:
    use(monkeypatch, Seeded(13))
    randomizer = MAKERS["unary"](200, 1)
    values = _population(200, 2000)
    truth = np.bincount(values, minlength=200)
    raw = randomizer.estimate(randomizer.count(randomizer.reports(values)), 2000)
    told = raw.consistent()
    assert (told.values >= 0).all()
    assert math.isclose(told.values.sum(), 2000)
    assert np.square(told.values - truth).sum() < np.square(raw.values - truth).sum() / 2
    assert (told.intervals() >= 0).all()
    assert told.reports == 2000
    assert (told.standard_errors == raw.standard_errors).all()
    inside = (told.intervals()[:, 0] <= truth) & (truth <= told.intervals()[:, 1])
    assert inside.mean() > 0.9


@pytest.mark.parametrize(
    ("given", "wanted"),
    [([3.0, 1.0], [3.0, 1.0]), ([5.0, -1.0], [4.0, 0.0]), ([-2.0, -2.0], [2.0, 2.0]), ([9.0, 7.0], [3.0, 1.0])],
)
def test_consistent_is_the_nearest(given: list[float], wanted: list[float]) -> None:
    found = Estimate(np.array(given), np.ones(2), 4).consistent().values
    assert found == pytest.approx(wanted)


def test_intervals_without_a_slope_are_those_of_the_normal_law() -> None:
    estimate = Estimate(np.array([10.0, -3.0]), np.array([2.0, 1.0]), 50)
    assert estimate.intervals(0.95) == pytest.approx(np.array([[6.08007, 13.91993], [-4.95996, -1.04004]]), abs=1e-4)
    assert estimate.shares().values == pytest.approx([0.2, -0.06])
    for wrong in (0, 1, 2, float("nan")):
        with pytest.raises(ArgumentError):
            estimate.intervals(wrong)


def test_intervals_with_a_slope_are_wilsons() -> None:
    """The variance of a Poisson count is its mean: a slope of 1."""
    poisson = Estimate(np.array([10.0]), np.array([math.sqrt(10.0)]), 10**9, 1.0)
    assert poisson.intervals()[0] == pytest.approx([5.4318, 18.4098], abs=1e-3)  # the score interval of 10 events


def test_an_estimate_of_nothing_is_refused() -> None:
    with pytest.raises(ArgumentError, match="SRD-C102"):
        MAKERS["k-ary"](5, 1).estimate(np.zeros(5, dtype=np.int64), 0)
