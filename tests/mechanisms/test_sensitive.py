"""Sensitive privacy: its claim on every edge of its graph, its law, and that it is never taken for the other kind."""

from __future__ import annotations

import math
from collections import Counter, deque
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pytest

from sordino.accounting import pld, pure, renyi, zcdp
from sordino.accounting.account import Account, SensitiveAccount
from sordino.accounting.bound import Bound
from sordino.accounting.budget import Budget
from sordino.accounting.grant import Grant
from sordino.accounting.neighbours import Neighbours
from sordino.errors import ArgumentError, SordinoError, UnsupportedError
from sordino.mechanisms import sensitive
from sordino.mechanisms.checks.draws import CHANCE, fit
from sordino.mechanisms.sensitive import AnomalyPolicy, IsAnomaly

ONE = Bound.scalar(1)
RECORDS = range(4)  # a line of four places; radius 1 reaches the next one


def is_anomaly(data: tuple[int, ...], record: int, crowd: int) -> bool:
    return data[record] >= 1 and near(data, record) <= crowd


def near(data: tuple[int, ...], record: int) -> int:
    return sum(count for place, count in enumerate(data) if abs(place - record) <= 1)


def neighbours(data: tuple[int, ...], policy: AnomalyPolicy, most: int) -> list[tuple[int, ...]]:
    """The sensitive neighbours of `data`, straight from the definition, with at most `most` of each record."""
    found = []
    for record in RECORDS:
        for change in (-1, 1):
            other = tuple(count + change * (place == record) for place, count in enumerate(data))
            larger = max(data, other)
            if 0 <= other[record] <= most and near(larger, record) >= policy.crowd + 1 - policy.margin:
                found.append(other)
    return found


def chance_of_yes(data: tuple[int, ...], record: int, policy: AnomalyPolicy, epsilon: float) -> float:
    distance = policy.distance(data[record], near(data, record) - data[record])
    wrong = math.exp(-epsilon * (distance - 1)) / (1 + math.exp(epsilon))
    return 1 - wrong if is_anomaly(data, record, policy.crowd) else wrong


@pytest.mark.parametrize(("crowd", "margin"), [(1, 1), (2, 1), (3, 1), (3, 2), (3, 3), (2, 5)])
class TestGuarantee:
    def test_holds_on_every_edge(self, crowd: int, margin: int) -> None:
        policy, epsilon = AnomalyPolicy(crowd, 1, margin), 0.8  # type: ignore[arg-type]
        worst = 0.0
        for data in product(range(4), repeat=len(RECORDS)):
            for other in neighbours(data, policy, 4):
                for record in RECORDS:
                    p, q = (chance_of_yes(x, record, policy, epsilon) for x in (data, other))
                    worst = max(worst, abs(math.log(p / q)), abs(math.log((1 - p) / (1 - q))))
        assert worst == pytest.approx(epsilon, abs=1e-9)

    def test_distance_is_never_above_the_true_one(self, crowd: int, margin: int) -> None:
        """Breadth-first search in the true graph; the distance used may be smaller, which only adds noise."""
        policy = AnomalyPolicy(crowd, 1, margin)  # type: ignore[arg-type]
        for data in ((0, 1, 0, 0), (2, 1, 0, 0), (0, 0, 0, 0), (1, 2, 1, 0), (0, 3, 0, 1), (0, 0, 3, 0)):
            used = policy.distance(data[1], near(data, 1) - data[1])
            true = shortest(data, policy)
            assert true is None or used <= true

    def test_is_exact_in_the_graph_of_the_proof(self, crowd: int, margin: int) -> None:
        policy = AnomalyPolicy(crowd, 1, margin)  # type: ignore[arg-type]
        for same, others in product(range(5), range(7)):
            assert policy.distance(same, others) == relaxed(same, others, crowd, margin)


def shortest(data: tuple[int, ...], policy: AnomalyPolicy) -> int | None:
    truth, seen, queue = is_anomaly(data, 1, policy.crowd), {data}, deque([(data, 0)])
    while queue:
        here, steps = queue.popleft()
        if is_anomaly(here, 1, policy.crowd) != truth:
            return steps
        for other in neighbours(here, policy, 5):
            if other not in seen and steps < 6:
                seen.add(other)
                queue.append((other, steps + 1))
    return None


def relaxed(same: int, others: int, crowd: int, margin: int) -> int:
    """Breadth-first search over (same, others) with the edges that the proof allows."""

    def anomaly(a: int, b: int) -> bool:
        return a >= 1 and a + b <= crowd

    seen, queue = {(same, others)}, deque([(same, others, 0)])
    while True:
        a, b, steps = queue.popleft()
        if anomaly(a, b) != anomaly(same, others):
            return steps
        moves = [(a, b + 1), (a, b - 1)]
        moves += [(a + 1, b)] if a + 1 + b >= crowd + 1 - margin else []
        moves += [(a - 1, b)] if a + b >= crowd + 1 - margin else []
        for move in moves:
            if min(move) >= 0 and move not in seen:
                seen.add(move)
                queue.append((*move, steps + 1))


class TestLaw:
    POLICY = AnomalyPolicy(5, Fraction(1), 2)

    @pytest.mark.parametrize(("crowd", "distance"), [(2, 2), (3, 1), (4, 1), (6, 2)])
    def test_accepts_the_claimed_epsilon_and_no_other(self, crowd: int, distance: int) -> None:
        mechanism = IsAnomaly((0, 0), Fraction(1, 2), self.POLICY)  # type: ignore[arg-type]
        data = np.array([[0.0, 0.0]] + [[0.6, -0.7]] * crowd + [[3.0, 0.0], [math.nan, 0.0], [math.inf, 0.0]])
        seen = Counter(mechanism.release(data, Grant(mechanism.event(ONE), ONE)) for _ in range(40000))
        truth = crowd + 1 <= 5
        for factor, right in ((1.0, True), (0.7, False), (1.3, False)):
            epsilon = 0.5 * factor
            wrong = math.exp(-epsilon * (distance - 1)) / (1 + math.exp(epsilon))
            p = fit(seen, {truth: 1 - wrong, not truth: wrong})
            assert (p > CHANCE) == right, f"n = 40000, factor = {factor}, p = {p}"

    def test_a_lone_record_is_found_with_near_certainty(self) -> None:
        mechanism = IsAnomaly((7,), Fraction(1), AnomalyPolicy(30, Fraction(1), 5))  # type: ignore[arg-type]
        data = np.concatenate([np.zeros(500), [7.0]])[:, None]
        assert all(mechanism.release(data, Grant(mechanism.event(ONE), ONE)) for _ in range(200))

    @pytest.mark.parametrize(("metric", "far"), [("euclidean", 0.8), ("manhattan", 0.6), ("chebyshev", 1.01)])
    def test_metrics(self, metric: str, far: float) -> None:
        mechanism = IsAnomaly((0, 0), 200, AnomalyPolicy(1, 1, 1, metric))  # type: ignore[arg-type]
        near_one, far_one = [[0, 0], [far - 0.11, far - 0.11]], [[0, 0], [far, far]]
        assert not mechanism.release(near_one, Grant(mechanism.event(ONE), ONE))
        assert mechanism.release(far_one, Grant(mechanism.event(ONE), ONE))

    def test_absent_and_empty(self) -> None:
        mechanism = IsAnomaly((1,), 300, AnomalyPolicy(3, Fraction(0), 1))  # type: ignore[arg-type]
        assert not mechanism.release(np.zeros((0, 1)), Grant(mechanism.event(ONE), ONE))
        assert not mechanism.release([[2]], Grant(mechanism.event(ONE), ONE))

    def test_error(self) -> None:
        mechanism = IsAnomaly((1,), 2, AnomalyPolicy(3, Fraction(1), 1))  # type: ignore[arg-type]
        patience = mechanism.error(0.99)
        assert math.exp(-2 * (patience - 1)) / (1 + math.exp(2)) == pytest.approx(0.01)
        assert mechanism.error(0.1) == 0


class TestItIsNotDifferentialPrivacy:
    def test_no_calculus_prices_it(self) -> None:
        event = IsAnomaly((1,), 1, AnomalyPolicy(3, Fraction(1), 1)).event(ONE)  # type: ignore[arg-type]
        for price in (
            lambda: pure.total(event),
            lambda: zcdp.epsilon(event, 1e-6),
            lambda: renyi.epsilon(event, 1e-6),
            lambda: pld.epsilon_bracket(event, 1e-6),
        ):
            with pytest.raises(UnsupportedError):
                price()

    def test_only_an_account_of_its_own_kind_takes_it(self) -> None:
        event = IsAnomaly((1,), 1, AnomalyPolicy(3, Fraction(1), 1)).event(ONE)  # type: ignore[arg-type]
        with pytest.raises(SordinoError):
            Account(Budget(epsilon=10)).reserve(event, ONE)
        account = SensitiveAccount(policy=event.policy, epsilon=1)
        assert account.reserve(event, ONE).event == event

    def test_it_says_so_everywhere(self) -> None:
        mechanism = IsAnomaly((1,), 1, AnomalyPolicy(3, Fraction(1), 1))  # type: ignore[arg-type]
        for text in (sensitive.__doc__, AnomalyPolicy.__doc__, IsAnomaly.__doc__, mechanism.event(ONE).policy):
            assert text is not None
            assert "not" in text.lower()
            assert "differential privacy" in text or "DP" in text

    def test_an_unprotected_record_can_be_told(self) -> None:
        """Whether a lone record is there: differential privacy would hide it, this does not and says so."""
        policy = AnomalyPolicy(10, Fraction(1), 2)
        there, gone = policy.distance(1, 0), policy.distance(0, 0)
        right = [1 - math.exp(-(d - 1)) / (1 + math.e) for d in (there, gone)]
        assert math.log(right[0] / (1 - right[1])) > 5


class TestRefusals:
    @pytest.mark.parametrize(
        ("name", "words"),
        [
            ("crowd", (0, 1, 1)),
            ("crowd", (True, 1, 1)),
            ("radius", (1, -1, 1)),
            ("radius", (1, math.nan, 1)),
            ("margin", (1, 1, 0)),
            ("metric", (1, 1, 1, "taxi")),
        ],
    )
    def test_bad_policies(self, name: str, words: tuple[Any, ...]) -> None:
        with pytest.raises(ArgumentError, match=name):
            AnomalyPolicy(*words)

    @pytest.mark.parametrize(
        ("name", "words"),
        [
            ("record", ((), 1)),
            ("record", ([1], 1)),
            ("record", ((math.nan,), 1)),
            ("epsilon", ((1,), 0)),
            ("policy", ((1,), 1, None)),
        ],
    )
    def test_bad_parameters(self, name: str, words: tuple[Any, ...]) -> None:
        with pytest.raises(ArgumentError, match=name):
            IsAnomaly(*(*words, AnomalyPolicy(1, Fraction(1), 1))[:3])

    def test_bounds_that_the_proof_does_not_cover(self) -> None:
        mechanism = IsAnomaly((1,), 1, AnomalyPolicy(3, Fraction(1), 1))  # type: ignore[arg-type]
        for bound in (Bound.scalar(2), Bound.scalar(1, neighbours=Neighbours.REPLACE_ONE), Bound.vector(l0=2, linf=1)):
            with pytest.raises(ArgumentError, match="one record"):
                mechanism.event(bound)

    @pytest.mark.parametrize("value", [[1.0], [[1.0, 2.0]], "abc", None, [["a"]], [[True]]])
    def test_bad_data_leaves_the_grant(self, value: Any) -> None:
        mechanism = IsAnomaly((1,), 1, AnomalyPolicy(3, Fraction(1), 1))  # type: ignore[arg-type]
        grant = Grant(mechanism.event(ONE), ONE)
        with pytest.raises(ArgumentError, match=r"table of numbers|ints or floats"):
            mechanism.release(value, grant)
        assert isinstance(mechanism.release([[1.0]], grant), bool)
