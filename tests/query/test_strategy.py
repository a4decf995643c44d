"""Reading statistics back from noisy features, and dividing a budget among blocks."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from sordino.errors import ArgumentError
from sordino.query.plan.encoding import Block, Encoder, People, Statistic, Variable
from sordino.query.plan.spend import Spend, cut
from sordino.query.plan.strategy import Design, Target, divide, magnitude

STEPS = 64
ENCODER = Encoder(2)
ONE = ENCODER.one
X, Y = ENCODER.power({0: 1}), ENCODER.power({1: 1})
XX, XY = ENCODER.power({0: 2}), ENCODER.power({0: 1, 1: 1})


def variable(place: int, degree: int) -> Variable:
    return Variable(place, STEPS, degree, nullable=False)


PAIR = ENCODER.tensor([variable(0, 1)], count_missing=True)
SQUARES = ENCODER.tensor([variable(0, 2)], count_missing=True)
BOTH = ENCODER.tensor([variable(0, 1), variable(1, 1)], count_missing=True)
COUNT_ALONE = ENCODER.single(ONE, 1)
SUM_ALONE = ENCODER.single(X, STEPS)


def target(statistic: Statistic, weight: float = 1.0) -> Target:
    return Target(((statistic, 1.0),), weight)


def features(blocks: Sequence[Block], values: dict[Statistic, float]) -> np.ndarray:
    return np.array([sum(many * values[each] for each, many in f) for block in blocks for f in block.features])


STRATEGIES = {
    "pair": ([PAIR], [ONE, X]),
    "squares": ([SQUARES], [ONE, X, XX]),
    "products": ([BOTH], [ONE, X, Y, XY]),
    "pair-and-count": ([PAIR, COUNT_ALONE], [ONE, X]),
    "two-readings": ([PAIR, SQUARES, COUNT_ALONE, SUM_ALONE], [ONE, X]),
}


@pytest.mark.parametrize("name", STRATEGIES)
@given(some.data())
@settings(deadline=None, max_examples=30)
def test_without_noise_statistics_come_back(name: str, data: some.DataObject) -> None:
    blocks, wanted = STRATEGIES[name]
    count = data.draw(some.integers(0, 10**6))
    xs = np.array(data.draw(some.lists(some.integers(-STEPS, STEPS), min_size=1, max_size=5)))
    ys = np.roll(xs, 1)
    values = {ONE: count, X: xs.sum(), Y: ys.sum(), XX: (xs**2).sum(), XY: (xs * ys).sum()}
    deviations = [data.draw(some.sampled_from([0.5, 3.0, 1000.0])) * block.reach for block in blocks]
    coefficients = Design(blocks, [target(each) for each in wanted], [STEPS, STEPS]).coefficients(deviations)
    assert coefficients is not None
    exact = [float(values[each]) for each in wanted]
    assert coefficients @ features(blocks, values) == pytest.approx(exact, rel=1e-6, abs=1e-6 * STEPS**2 * (1 + count))


def test_what_is_not_told_is_not_read() -> None:
    assert Design([COUNT_ALONE], [target(X)], [STEPS, STEPS]).coefficients([1.0]) is None
    sums_only = Block((((ONE, 1), (X, 1)),), 2)
    assert Design([sums_only], [target(ONE)], [STEPS, STEPS]).coefficients([1.0]) is None
    assert Design([sums_only], [Target(((ONE, 1.0), (X, 1.0)), 1.0)], [STEPS, STEPS]).coefficients([1.0]) is not None


def test_a_small_target_is_not_lost_beside_a_large_one() -> None:
    """The sum of squares is determined, the count is not: its 1 must not drown in the squares' 2^40."""
    steps = 2**20
    square = Block((((XX, 1),),), steps**2)
    mixed = Block((((ONE, 1), (X, 1)),), steps)
    assert Design([square, mixed], [target(XX), target(ONE)], [steps, steps]).coefficients([1.0, 1.0]) is None


@pytest.mark.parametrize("name", STRATEGIES)
def test_readings_are_unbiased_and_as_noisy_as_the_formula_says(name: str) -> None:
    blocks, wanted = STRATEGIES[name]
    deviations = [(1.0 + place) * block.reach for place, block in enumerate(blocks)]
    coefficients = Design(blocks, [target(each) for each in wanted], [STEPS, STEPS]).coefficients(deviations)
    assert coefficients is not None
    spreads = np.repeat(deviations, [len(block.features) for block in blocks])
    claimed = np.sqrt((coefficients**2 * spreads**2).sum(axis=1))
    values = {ONE: 1000.0, X: -3000.0, Y: 200.0, XX: 10**5, XY: -77.0}
    draws = 4000
    generator = np.random.default_rng(7)
    noisy = features(blocks, values)[:, None] + spreads[:, None] * generator.normal(size=(len(spreads), draws))
    found = coefficients @ noisy
    exact = np.array([values[each] for each in wanted])
    assert np.all(np.abs(found.mean(axis=1) - exact) < 6 * claimed / math.sqrt(draws))
    ratios = found.std(axis=1) / claimed
    assert np.all(np.abs(ratios - 1) < 6 / math.sqrt(2 * draws))


def test_least_squares_is_no_worse_than_any_single_block() -> None:
    blocks = [PAIR, SQUARES]
    for deviations in ([1.0, 1.0], [5.0, 1.0], [1.0, 30.0]):
        scaled = [deviation * block.reach for deviation, block in zip(deviations, blocks, strict=True)]

        def variance(chosen: list[Block], of: list[float]) -> float:
            coefficients = Design(chosen, [target(ONE), target(X)], [STEPS, STEPS]).coefficients(of)
            assert coefficients is not None
            spreads = np.repeat(of, [len(block.features) for block in chosen])
            return float((coefficients[0] ** 2 * spreads**2).sum())

        alone = [variance([block], [each]) for block, each in zip(blocks, scaled, strict=True)]
        together = variance(blocks, scaled)
        assert together < min(alone)
        assert together == pytest.approx(1 / sum(1 / each for each in alone))


@pytest.mark.parametrize("gaussian", [False, True])
@pytest.mark.parametrize(("first", "second"), [(1.0, 1.0), (1.0, 5.0), (40.0, 0.3)])
def test_two_blocks_are_divided_as_brute_force_would(gaussian: bool, first: float, second: float) -> None:
    """Σ A/ε² is least where ε ∝ A^⅓, and Σ A/ρ where ρ ∝ A^½."""
    blocks = [COUNT_ALONE, ENCODER.single(People(), 1)]
    wanted = [target(ONE, 2.0), target(People())]
    division = divide(Design(blocks, wanted, [STEPS, STEPS]), [first, second], [], gaussian=gaussian)
    assert division is not None
    assert sum(division.shares) == pytest.approx(1)
    power = 1 if gaussian else 2
    shares = np.linspace(1e-4, 1 - 1e-4, 20001)
    errors = (2 * first) ** 2 / shares**power + second**2 / (1 - shares) ** power
    assert division.shares[0] == pytest.approx(shares[errors.argmin()], abs=1e-4)
    assert division.objective == pytest.approx(errors.min(), rel=1e-6)


def test_choices_take_their_part() -> None:
    division = divide(Design([COUNT_ALONE], [target(ONE)], [STEPS, STEPS]), [1.0], [8.0], gaussian=False)
    assert division is not None
    assert division.shares == pytest.approx((1 / 3, 2 / 3))
    alone = divide(Design([], [], []), [], [3.0], gaussian=False)
    assert alone is not None
    assert alone.shares == (1.0,)
    assert divide(Design([COUNT_ALONE], [target(X)], [STEPS, STEPS]), [1.0], [], gaussian=False) is None


def test_the_objective_is_that_of_the_shares() -> None:
    """Blocks that overlap: what the division says it leads to is what its own shares lead to."""
    blocks, units = [PAIR, SQUARES], [float(PAIR.reach), 3.0 * SQUARES.reach]
    wanted = [target(ONE), target(X, 1 / STEPS), target(XX, 1 / STEPS**2)]
    division = divide(Design(blocks, wanted, [STEPS, STEPS]), units, [], gaussian=False)
    assert division is not None
    deviations = [unit / share for unit, share in zip(units, division.shares, strict=True)]
    coefficients = Design(blocks, wanted, [STEPS, STEPS]).coefficients(deviations)
    assert coefficients is not None
    spreads = np.repeat(deviations, [len(block.features) for block in blocks])
    weights = np.array([each.weight for each in wanted])
    error = float((weights[:, None] ** 2 * coefficients**2 * spreads**2).sum())
    assert division.objective == pytest.approx(error, rel=0.01)


def test_magnitudes() -> None:
    assert magnitude(People(), [3, 5]) == 1
    assert magnitude(ENCODER.power({0: 2, 1: 1}), [3, 5]) == 45


# ---- prices and their parts ----------------------------------------------------------------------------------------


@given(
    some.fractions(min_value=Fraction(1, 10**9), max_value=10**4),
    some.lists(some.floats(min_value=1e-15, max_value=1e15), min_size=1, max_size=9),
)
@settings(deadline=None)
def test_parts_add_up_exactly(amount: Fraction, shares: list[float]) -> None:
    parts = cut(amount, shares)
    assert sum(parts) == amount
    assert min(parts) > 0
    # Parts of what is not tiny are whole numbers of 10^-12, the unit of accounts.
    for part, share in zip(parts, shares, strict=True):
        assert float(part / amount) == pytest.approx(share / math.fsum(shares), abs=1e-5)
    if amount.denominator == 1:
        assert all((part * 10**12).denominator == 1 for part in parts)


def test_a_price_is_epsilon_or_rho() -> None:
    assert Spend("0.1").amount == Fraction(1, 10)  # type: ignore[arg-type]
    assert Spend(None, Fraction(1, 2)).part(Fraction(1, 4)).rho == Fraction(1, 4)
    part = Spend(Fraction(1), None, Fraction(1, 8), Fraction(1, 4)).part(Fraction(1, 2), keys_delta=Fraction(1, 16))
    assert (part.epsilon, part.gaussian_delta, part.keys_delta) == (Fraction(1, 2), Fraction(1, 8), Fraction(1, 16))


@pytest.mark.parametrize(
    "words",
    [
        {},
        {"epsilon": 1, "rho": 1},
        {"epsilon": 0},
        {"epsilon": -1},
        {"epsilon": float("nan")},
        {"epsilon": "1e5"},
        {"epsilon": True},
        {"rho": 0},
        {"epsilon": 1, "keys_delta": 1},
        {"epsilon": 1, "gaussian_delta": "-0.1"},
    ],
)
def test_absurd_prices_are_refused(words: dict[str, object]) -> None:
    with pytest.raises(ArgumentError):
        Spend(**words)  # type: ignore[arg-type]
