"""What rounds cost, and how far scores move: by trying all neighbours of small tables."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from sordino.accounting.account import Account
from sordino.accounting.bound import Bound
from sordino.accounting.events import Exponential, Gaussian
from sordino.accounting.neighbours import Neighbours
from sordino.errors import BudgetError
from sordino.publish.measuring import under
from sordino.publish.spending import Spend
from sordino.publish.tables.purse import FINENESS, Purse, choice, choice_epsilon, mean_size, noise_of, score
from sordino.publish.tables.workload import candidates

ONE = Bound(1, Fraction(1), Fraction(1), Fraction(1))
SIZES = (3, 2, 2)


class Rounds:
    """Grants from an account of exactly what is spent."""

    def __init__(self, spend: Spend) -> None:
        self.account = Account(spend.inner())
        self.stages: list[str] = []

    def release(self, mechanism: Any, bound: Bound, value: Any) -> Any:
        return mechanism.release(value, self.account.reserve(mechanism.event(bound), bound))

    def stage(self, name: str) -> None:
        self.stages.append(name)


def counts(rows: Any, clique: tuple[int, ...]) -> Any:
    shape = [SIZES[place] for place in clique]
    flat = np.ravel_multi_index([rows[:, place] for place in clique], shape)
    return np.bincount(flat, minlength=math.prod(shape)).reshape(shape)


def scores(rows: Any, expected: dict[Any, Any], weights: dict[Any, int]) -> Any:
    return np.array([score(counts(rows, each), table, weights[each], 1.25) for each, table in expected.items()])


@pytest.mark.parametrize("relation", [Neighbours.ADD_REMOVE, Neighbours.REPLACE_ONE])
@pytest.mark.parametrize("seed", range(4))
def test_no_neighbour_moves_a_score_further_than_is_paid_for(relation: Neighbours, seed: int) -> None:
    random = np.random.default_rng(seed)
    rows = np.stack([random.integers(0, size, 9) for size in SIZES], axis=1)
    weights = candidates(itertools.combinations(range(3), 2))
    expected = {each: random.random([SIZES[place] for place in each]) * 4 for each in weights}
    here, most = scores(rows, expected, weights), 0
    domain = list(itertools.product(*map(range, SIZES)))
    for place in range(len(rows)):
        without = np.delete(rows, place, axis=0)
        others = [without] if relation is Neighbours.ADD_REMOVE else [np.vstack([without, [row]]) for row in domain]
        for other in others:
            most = max(most, int(np.abs(scores(other, expected, weights) - here).max()))
    claimed = max(weights.values()) * int(under(ONE, relation, ONE.unit).l1) * FINENESS
    assert claimed / 2 < most <= claimed


def test_a_score_of_half_the_sensitivity_would_be_caught() -> None:
    one, other = np.array([4, 0]), np.array([3, 1])
    moved = score(one, np.zeros(2), 3, 0.0) - score(other, np.array([0.0, 5.0]), 3, 0.0)
    assert abs(moved) > FINENESS
    replaced = abs(
        score(np.array([1, 0]), np.array([9.0, -1.0]), 1, 0) - score(np.array([0, 1]), np.array([9.0, -1.0]), 1, 0)
    )
    assert replaced == 2 * FINENESS


@pytest.mark.parametrize("amount", ["0.01", "0.00001", "0.5", "0.0000000001"])
def test_a_choice_costs_no_more_than_its_amount(amount: str) -> None:
    spent = Fraction(amount)
    epsilon = choice_epsilon(Spend(rho=Fraction(1)), spent)
    assert spent * Fraction(99, 100) < epsilon**2 / 8 <= spent
    assert choice_epsilon(Spend(epsilon=Fraction(1)), spent) == spent
    mechanism, bound = choice(Spend(epsilon=Fraction(1)), spent, 5, 3 * FINENESS, ONE)
    assert mechanism.event(bound) == Exponential(spent)


def test_rounds_add_up_to_the_claim_and_no_further() -> None:
    spend = Spend(rho=Fraction(1, 2))
    rounds = Rounds(spend)
    purse = Purse(rounds, spend, lambda _: np.full(4, 10), lambda _: ONE, spend.amount)  # type: ignore[arg-type]
    for _ in range(4):
        purse.measure((0,), Fraction(1, 10))
        purse.choose([1, 2, 3], FINENESS, Fraction(1, 40))
    assert purse.left == 0
    assert rounds.account.used == pytest.approx(1, abs=1e-6)
    with pytest.raises(BudgetError):
        purse.measure((0,), Fraction(1, 10))


@pytest.mark.parametrize("spend", [Spend(rho=Fraction(1, 2)), Spend(epsilon=Fraction(1, 2))])
def test_noise_is_as_large_as_it_says(spend: Spend) -> None:
    mechanism = noise_of(spend, Fraction(1, 50), ONE)
    assert isinstance(mechanism.event(ONE), Gaussian) == (not spend.is_pure)
    grant = Account(spend.inner()).reserve(mechanism.event(ONE), ONE)
    found = np.abs(mechanism.release(np.zeros(20_000, dtype=np.int64), grant)).mean()
    claimed = mean_size(mechanism)
    assert 0.95 * claimed < found < 1.05 * claimed
    assert not 0.95 * 0.7 * claimed < found < 1.05 * 0.7 * claimed


def test_what_is_expected_may_be_anything() -> None:
    assert score(np.array([1]), np.array([np.inf]), 1, 0.0) > 0
    assert score(np.array([1]), np.array([-5.0]), 1, 0.0) == FINENESS
    assert score(np.array([1]), np.array([np.nan]), 1, 0.0) == FINENESS
