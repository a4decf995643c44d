"""Vectors: exact ε whatever the directions, the law of reports, means in each coordinate, poison."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

from collect.numbers.laws import FALSE_ALARM, Given, by_borders, fits, within
from sordino.collect.coins import Replayed
from sordino.collect.numbers.choice import vector
from sordino.collect.numbers.directions import HALF, SQUARE, directions, mixed
from sordino.collect.numbers.nearest import Nearest
from sordino.collect.numbers.vectors import RADIUS, Directions
from sordino.errors import ArgumentError

VECTORS = [(RADIUS, 0), (0, -RADIUS), (20_000, 20_000), (0, 0), (-7, 3), (-30_000, 10_000)]
SEEDS = (0, 1, 2**64 - 1, 0x0123456789ABCDEF)


@pytest.mark.parametrize("epsilon", ["0.001", "1", "4", "32"])
@pytest.mark.parametrize("seed", SEEDS)
def test_no_two_vectors_differ_by_more_than_epsilon(seed: int, epsilon: str) -> None:
    way = Directions(Fraction(epsilon), 2, 8)
    within(epsilon, [by_borders(way, value, (seed,)) for value in VECTORS])  # type: ignore[arg-type]


def test_words_are_those_of_splitmix() -> None:
    """The published first outputs of SplitMix64 with the seed 1234567."""
    known = [6457827717110365317, 3203168211198807973, 9817491932198370423, 4593380528125082431, 16408922859458223821]
    seeds = np.full(5, 1234567, dtype=np.uint64)
    assert mixed(seeds, np.arange(5, dtype=np.uint64)).tolist() == known


def test_coordinates_are_nearly_normal() -> None:
    table = np.array([-entry for entry in HALF] + list(HALF), dtype=np.float64)
    sums = np.add.outer(table, table).ravel() / math.sqrt(SQUARE)
    for power, normal, near in ((2, 1, 1e-12), (4, 3, 2e-4), (6, 15, 1e-3), (8, 105, 0.01)):
        assert np.mean(sums**power) == pytest.approx(normal, rel=near)
    drawn = directions(np.arange(3000, dtype=np.uint64), np.zeros(3000), 6)
    correlations = np.corrcoef(drawn.T) - np.eye(6)
    assert np.abs(correlations).max() < 5 / math.sqrt(3000)


def test_directions_by_hand() -> None:
    """The fifth coordinate of direction 3 is the low 16 bits of word 3·2 + 1."""
    word = int(mixed(np.array([99], dtype=np.uint64), np.array([7], dtype=np.uint64))[0])
    entry = [-each for each in reversed(HALF)] + list(HALF)
    expected = entry[word & 255] + entry[word >> 8 & 255]
    assert directions(np.array([99], dtype=np.uint64), np.array([3]), 5)[0, 4] == expected


@pytest.mark.parametrize(("count", "near"), [(2, 1), (4, 1), (16, 4), (128, 42), (1024, 1)])
def test_gains_are_those_of_sorted_normal_numbers(count: int, near: int) -> None:
    """Expected order statistics by SciPy's law of each of them, one integral each."""
    nearest = Nearest(Fraction(2), count, near)
    places = np.linspace(-9, 9, 6001)
    first = second = 0.0
    for rank in range(near):
        # The (rank + 1)-th largest: its place among uniform numbers has a beta law.
        density = stats.beta.pdf(stats.norm.cdf(places), count - rank, rank + 1) * stats.norm.pdf(places)
        first += np.trapezoid(places * density, places)
        second += np.trapezoid(places**2 * density, places)
    high, low = nearest.levels.inside / 2**64, nearest.levels.outside / 2**64
    assert nearest.gain == pytest.approx((high - low) * first, rel=1e-5)
    assert nearest.square == pytest.approx(high * second + low * (count - second), rel=1e-5)


def test_many_reports_have_the_law_of_one() -> None:
    """Given the seed that bulk drew, its index has the law of one report with that seed: ranks are counted."""
    way = Directions(Fraction(2), 2, 8)
    payloads = way.reports(np.tile([[20_000, -20_000]], (20_000, 1)))
    seeds = np.ascontiguousarray(payloads[:, :8]).view("<u8")[:, 0]
    assert len(np.unique(seeds)) == len(seeds)
    drawn = directions(seeds[:, None], np.arange(8)[None], 3)
    longer = np.array([20_000, -20_000, math.isqrt(RADIUS**2 - 2 * 20_000**2)])
    products = drawn @ longer
    ranks = (products > np.take_along_axis(products, payloads[:, 8:9].astype(np.int64), axis=1)).sum(axis=1)
    near, levels = way.nearest.near, way.levels
    law = {k: Fraction(levels.inside if k < near else levels.outside, 2**64) for k in range(8)}
    assert fits(ranks, law) > FALSE_ALARM
    for factor in (Fraction(7, 10), Fraction(13, 10)):
        other = Nearest(2 * factor, 8, near).levels
        wrong = {k: Fraction(other.inside if k < near else other.outside, 2**64) for k in range(8)}
        assert fits(ranks, wrong) < FALSE_ALARM


def test_one_report_is_one_of_many_with_the_same_words() -> None:
    way = Directions(Fraction(3), 3, 16)
    for seed, word in itertools.product(SEEDS, (0, 2**63, 2**64 - 1, 12345)):
        payload = way.report((100, -200, 32_000), Given([seed, word]))
        assert len(payload) == way.size == 9
        assert int.from_bytes(payload[:8], "little") == seed
        assert (
            way.report((100, -200, 32_000), Replayed(seed.to_bytes(8, "little") + word.to_bytes(8, "little")))
            == payload
        )


@pytest.mark.parametrize(("epsilon", "count"), [("1", 16), ("5", 64)])
def test_means_errors_and_intervals(epsilon: str, count: int) -> None:
    rng, people, rounds = np.random.default_rng(4), 300, 300
    way = Directions(Fraction(epsilon), 3, count)
    values = rng.normal(size=(people, 3)) * [0.2, 0.1, 0.0] + [0.5, 0.0, -0.2]
    question = vector(3, epsilon=epsilon, directions=count)
    codes = question.codes(values)
    truth = codes.mean(axis=0) / RADIUS
    payloads = way.reports(np.tile(codes, (rounds, 1))).reshape(rounds, people, -1)
    found = [way.estimate(way.count(each), people) for each in payloads]
    errors = np.array([each.values - truth for each in found])
    told = np.array([each.standard_errors for each in found])
    expected = np.mean([way.variance(code / RADIUS) for code in codes], axis=0) / people
    assert np.mean(errors**2, axis=0).sum() == pytest.approx(expected.sum(), rel=0.22)  # 4.5 of √(2/900)
    assert abs(np.mean(np.abs(errors) <= 1.959964 * told) - 0.95) < 0.035
    assert np.all(np.abs(errors.mean(axis=0)) < 5 * told.mean(axis=0) / math.sqrt(rounds))
    assert way.error(people) >= math.sqrt(expected.sum())


def test_few_directions_are_nearly_as_good_as_a_whole_sphere() -> None:
    """With 128 directions variances are within 3 % of those of 4,096 up to ε = 4."""
    for epsilon in (Fraction(1, 2), Fraction(1), Fraction(4)):
        few, many = Nearest.best(epsilon, 128), Nearest.best(epsilon, 4096)
        assert 1 <= (many.gain / few.gain) ** 2 < 1.03


def test_poison_is_reached_and_not_passed() -> None:
    """Liars hold a vector of full length, look for a seed with a long direction and all send it."""
    way = Directions(Fraction(1), 4, 128)
    seeds = np.arange(400, dtype=np.uint64)
    drawn = directions(seeds[:, None], np.arange(128)[None], 5)[..., :4]
    squares = np.square(drawn).sum(axis=-1)
    taken = np.where(squares <= way.longest, squares, 0)
    seed, index = np.unravel_index(np.argmax(taken), taken.shape)
    payload = int(seed).to_bytes(8, "little") + int(index).to_bytes(way.size - 8, "little")
    rows = np.frombuffer(payload, dtype=np.uint8)[None]
    assert way.well_formed(rows).all()
    moved = np.linalg.norm(way.estimate(way.count(rows), 1).values) + 1  # from what they hold, on the other side
    assert 0.8 * way.poison(1000, 10) <= 10 / 1000 * moved <= way.poison(1000, 10) * (1 + 1e-9)


def test_vectors_on_the_grid() -> None:
    question = vector(2, radius="2.5", epsilon=1)
    assert question.code([2.5, 0]) == (RADIUS, 0)
    assert question.code([0.0, -99.0]) == (0, -RADIUS)
    assert question.code([math.inf, 0.0]) == (RADIUS, 0)
    assert question.code([-math.inf, math.inf]) == (-23170, 23170)
    codes = question.codes(np.random.default_rng(1).normal(size=(1000, 2)) * 100)
    assert (np.square(codes).sum(axis=1) <= RADIUS**2).all()
    for wrong in ([math.nan, 1.0], [1.0], [[1.0, 2.0]], ["a", "b"]):
        with pytest.raises(ArgumentError):
            question.code(wrong)
    payloads = question.randomizer.reports(codes)
    found = question.estimate(question.randomizer.count(payloads), 1000)
    assert found.values.shape == (2,)
    assert question.error(1000) == pytest.approx(2.5 * question.randomizer.error(1000))
    assert question.public()["radius"] == "2.5"
    assert not question.randomizer.well_formed(np.full((1, 9), 255, dtype=np.uint8)).any()
