"""Sparse vector: what it leaks by summation, its exact law, where it stops, and its watch over a stream."""

from __future__ import annotations

import copy
import math
import pickle
import threading
from collections import Counter
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import logsumexp

from laws import references as reference
from sordino.accounting import events, pure
from sordino.accounting.bound import Bound
from sordino.accounting.grant import Grant
from sordino.accounting.neighbours import Neighbours
from sordino.errors import ArgumentError, GrantError
from sordino.mechanisms.checks.draws import CHANCE, fit
from sordino.mechanisms.grid import Grid
from sordino.mechanisms.sparse_vector import AboveThreshold, NumericAboveThreshold

ONE = Bound.scalar(1)


def granted(mechanism: Any, bound: Bound = ONE) -> Grant:
    return Grant(mechanism.event(bound), bound)


def log_below(steps: np.ndarray, scale: float) -> np.ndarray:
    """ln P[noise < steps] for integer Laplace noise."""
    t = math.exp(-1 / scale)
    k = steps - 1.0
    low = np.minimum(k, -1.0) * -math.log(t) - math.log1p(t)
    high = np.log1p(-np.exp((np.maximum(k, 0.0) + 1) * math.log(t)) / (1 + t))
    return np.where(k < 0, low, high)


def log_above(steps: np.ndarray, scale: float) -> np.ndarray:
    """ln P[noise ≥ steps]: by symmetry ln P[noise < 1 − steps]."""
    return log_below(1.0 - steps, scale)


def leak(scale_threshold: float, scale_queries: float, positives: int, step: int, both_ways: bool) -> float:
    """The log-ratio of "n below, then c above" on neighbours that differ by `step` in each answer, for a large n.

    Answers below rise by `step`; those above fall by as much, or stay if all must move the same way.
    """
    z = np.arange(-4000.0, 4000.0)
    prior = -np.abs(z) / scale_threshold
    worst = -math.inf
    for n in (1e3, 1e6, 1e9):
        for above in (0.0, -20.0 * scale_queries):
            here = prior + n * log_below(z, scale_queries) + positives * log_above(z - above, scale_queries)
            moved = above - step if both_ways else above
            there = prior + n * log_below(z - step, scale_queries) + positives * log_above(z - moved, scale_queries)
            worst = max(worst, float(logsumexp(here) - logsumexp(there)))
    return worst


class TestClaim:
    @pytest.mark.parametrize("positives", [1, 5])
    @pytest.mark.parametrize("monotone", [False, True])
    def test_holds_and_is_nearly_reached(self, positives: int, monotone: bool) -> None:
        bound = Bound.scalar(8)
        mechanism = AboveThreshold.for_epsilon(2, bound, 0, positives, monotone=monotone)
        claimed = float(pure.total(mechanism.event(bound)))
        assert claimed == 2
        scales = float(mechanism.scale_threshold), float(mechanism.scale_queries)
        measured = leak(*scales, positives, 8, both_ways=not monotone)
        assert 0.95 * claimed < measured <= claimed + 1e-9

    @pytest.mark.parametrize(("positives", "truth"), [(1, 2.0), (5, 8.0), (20, 30.5)])
    def test_the_variant_in_circulation_leaks(self, positives: int, truth: float) -> None:
        """Lap(2/ε) and Lap(4/(3ε)), said to be 1-private for any number of positives; in steps of an eighth."""
        measured = leak(16, 32 / 3, positives, 8, both_ways=True)
        assert measured == pytest.approx(truth, rel=0.03)
        assert float(pure.total(AboveThreshold(0, 2, Fraction(4, 3), positives).event(ONE))) == pytest.approx(truth)

    @given(st.lists(st.integers(-2, 2), min_size=3, max_size=3), st.integers(1, 2))
    @settings(max_examples=8, deadline=None)
    def test_no_list_of_comparisons_beats_it(self, answers: list[int], positives: int) -> None:
        for monotone, steps in ((False, (-1, 0, 1)), (True, (0, 1))):
            mechanism = AboveThreshold(0, 2, 3, positives, monotone=monotone)
            claimed = float(pure.total(mechanism.event(ONE)))
            here = reference.above_threshold(answers, 0, 2, 3, positives)
            assert math.isclose(sum(here.values()), 1)
            for moves in product(steps, repeat=3):
                moved = [a + m for a, m in zip(answers, moves, strict=True)]
                there = reference.above_threshold(moved, 0, 2, 3, positives)
                assert max(abs(math.log(here[o] / there[o])) for o in here) <= claimed + 1e-9

    def test_event(self) -> None:
        alarm = AboveThreshold(100, 4, 8, positives=3)
        assert alarm.event(Bound.scalar(2)) == events.SparseVector(Fraction(1, 2), Fraction(3, 2), 3)
        calm = AboveThreshold(100, 4, 8, positives=3, monotone=True)
        assert calm.event(Bound.scalar(2)) == events.SparseVector(Fraction(1, 2), Fraction(3, 4), 3)
        numeric = NumericAboveThreshold(alarm, 12)
        assert numeric.event(Bound.scalar(2)) == events.SparseVector(Fraction(1, 2), Fraction(3, 2), 3, Fraction(1, 2))
        assert pure.total(numeric.event(Bound.scalar(2))) == Fraction(5, 2)

    def test_rounding_is_paid_for(self) -> None:
        alarm = AboveThreshold(1, 1, 2, grid=Grid(-1))
        assert alarm.event(Bound.scalar("0.6")) == events.SparseVector(Fraction(1), Fraction(1), 1)

    def test_monotone_is_refused_under_replace_one(self) -> None:
        with pytest.raises(ArgumentError, match="replace-one"):
            AboveThreshold(0, 1, 1, monotone=True).event(Bound.scalar(1, neighbours=Neighbours.REPLACE_ONE))


class TestSplit:
    @pytest.mark.parametrize("monotone", [False, True])
    @pytest.mark.parametrize("positives", [1, 3, 50])
    def test_is_exact_in_sum_and_best_for_the_comparison(self, positives: int, monotone: bool) -> None:
        best = AboveThreshold.for_epsilon("0.3", ONE, 10, positives, monotone=monotone, grid=None)
        event = best.event(ONE)
        assert event.epsilon_threshold + event.epsilon_queries == Fraction(3, 10)
        width = best.scale_threshold**2 + best.scale_queries**2
        for shift in (Fraction(9, 10), Fraction(11, 10)):
            first = event.epsilon_threshold * shift
            rest = Fraction(3, 10) - first
            other = (best.scale_threshold * event.epsilon_threshold / first) ** 2
            other += (best.scale_queries * event.epsilon_queries / rest) ** 2
            assert width < other


class TestRelease:
    def test_accepts_the_claimed_scales_and_no_other(self) -> None:
        answers = [0, 2, -1]
        mechanism = AboveThreshold(1, 2, 3, positives=2)
        draws = [tuple(mechanism.release(answers, granted(mechanism)).tolist()) for _ in range(16000)]
        seen = Counter(draws)
        for factor, right in ((1.0, True), (0.7, False), (1.3, False)):
            p = fit(seen, reference.above_threshold(answers, 1, 2 * factor, 3 * factor, 2))
            assert (p > CHANCE) == right, f"n = 16000, k = {len(seen)}, factor = {factor}, p = {p}"

    def test_stops_with_the_last_positive(self) -> None:
        quiet = AboveThreshold(0, Fraction(1, 100), Fraction(1, 100), positives=2)
        above = quiet.release([-5, 5, -5, 5, 5, -5], granted(quiet))
        assert above.tolist() == [False, True, False, True]
        assert quiet.release([-5, -5], granted(quiet)).tolist() == [False, False]
        assert quiet.release(np.array([], dtype=np.int64), granted(quiet)).tolist() == []

    def test_equal_counts_as_above(self) -> None:
        quiet = AboveThreshold(3, Fraction(1, 100), Fraction(1, 100))
        assert quiet.release([3], granted(quiet)).tolist() == [True]

    def test_numbers_have_noise_of_their_own(self) -> None:
        """Given that it is above, the number has the plain Laplace law around the truth: nothing is selected."""
        mechanism = NumericAboveThreshold(AboveThreshold(1, 2, 3), 2)
        numbers = [float(mechanism.release([0], granted(mechanism))[0]) for _ in range(8000)]
        seen = Counter(min(max(int(x), -6), 6) for x in numbers if not math.isnan(x))
        for factor, right in ((1.0, True), (0.7, False), (1.3, False)):
            p = fit(seen, reference.clamped(reference.discrete_laplace(2 * factor), 0, -6, 6))
            assert (p > CHANCE) == right, f"n = {sum(seen.values())}, k = {len(seen)}, factor = {factor}, p = {p}"

    def test_numbers_on_a_grid(self) -> None:
        grid = Grid(-3)
        quiet = NumericAboveThreshold(AboveThreshold(1, Fraction(1, 999), Fraction(1, 999), 2, grid), Fraction(1, 999))
        numbers = quiet.release([0.5, 1.25, 2.26, 9.0], granted(quiet))
        np.testing.assert_array_equal(numbers, [np.nan, 1.25, 2.25])

    def test_error_holds(self) -> None:
        mechanism = AboveThreshold(0, 2, 3)
        far = math.ceil(mechanism.error(0.8, queries=3)) + 1
        wrong = sum(
            mechanism.release([-far, -far, far], granted(mechanism)).tolist() != [False, False, True]
            for _ in range(2000)
        )
        assert wrong <= 0.2 * 2000
        assert mechanism.error(0.95, queries=1000) > mechanism.error(0.95)
        assert NumericAboveThreshold(mechanism, 10).error(0.95) == pytest.approx(30, abs=1)
        assert AboveThreshold(0, 2, 3, grid=Grid(0)).error() == mechanism.error() + 1

    @pytest.mark.parametrize("value", [3, [[1, 2]], "abc", None, [0.5, 1.0], [True]])
    def test_refuses_bad_answers_and_leaves_the_grant(self, value: object) -> None:
        for mechanism in (AboveThreshold(0, 1, 2), NumericAboveThreshold(AboveThreshold(0, 1, 2), 3)):
            grant = granted(mechanism)
            with pytest.raises(ArgumentError):
                mechanism.release(value, grant)
            assert len(mechanism.release([1], grant)) == 1


class TestWatch:
    def test_takes_many_answers_in_one_turn(self) -> None:
        quiet = AboveThreshold(0, Fraction(1, 100), Fraction(1, 100), positives=2)
        watch = quiet.start(granted(quiet))
        assert watch.noisy_threshold == 0
        assert watch.compare_all(np.array([-5, 5, -5])).tolist() == [False, True, False]
        assert watch.compare_all(np.array([-5, 5, 5, -5])).tolist() == [False, True]
        assert watch.positives_left == 0
        assert watch.compare_all(np.array([5, -5])).tolist() == []

    def test_has_the_law_of_the_batch(self) -> None:
        answers = [0, 2, -1]
        mechanism = AboveThreshold(1, 2, 3)
        seen: Counter[Any] = Counter()
        for _ in range(16000):
            watch = mechanism.start(granted(mechanism))
            said = []
            for answer in answers:
                said.append(watch.ask(answer))
                if said[-1]:
                    break
            seen[tuple(said)] += 1
        p = fit(seen, reference.above_threshold(answers, 1, 2, 3, 1))
        assert p > CHANCE, f"n = 16000, k = {len(seen)}, p = {p}"
        assert fit(seen, reference.above_threshold(answers, 1, 1.4, 2.1, 1)) < CHANCE

    def test_refuses_to_go_on(self) -> None:
        quiet = AboveThreshold(0, Fraction(1, 100), Fraction(1, 100), positives=2)
        watch = quiet.start(granted(quiet))
        assert [watch.ask(5), watch.ask(-5), watch.positives_left, watch.ask(5)] == [True, False, 1, True]
        with pytest.raises(GrantError, match="paid for") as refusal:
            watch.ask(-5)
        assert refusal.value.code == "SRD-G005"

    def test_numbers(self) -> None:
        quiet = NumericAboveThreshold(AboveThreshold(0, Fraction(1, 100), Fraction(1, 100), 1), Fraction(1, 100))
        watch = quiet.start(granted(quiet))
        assert watch.ask(-5) is None
        assert watch.ask(7) == 7.0
        assert watch.positives_left == 0
        with pytest.raises(GrantError):
            watch.ask(7)

    def test_threads_never_share_the_last_positive(self) -> None:
        quiet = AboveThreshold(0, Fraction(1, 100), Fraction(1, 100), positives=10)
        watch = quiet.start(granted(quiet))
        said: list[bool] = []

        def ask() -> None:
            for _ in range(20):
                try:
                    said.append(watch.ask(9))
                except GrantError:
                    return

        threads = [threading.Thread(target=ask) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert said == [True] * 10

    def test_keeps_its_secret(self) -> None:
        alarm = AboveThreshold(123456, 1, 1)
        watch = alarm.start(granted(alarm))
        numeric = NumericAboveThreshold(alarm, 1)
        assert repr(watch) == "Watch(positives_left=1)"
        assert repr(numeric.start(granted(numeric))) == "NumericWatch(positives_left=1)"
        for send in (copy.copy, copy.deepcopy, pickle.dumps):
            with pytest.raises(GrantError, match="copied"):
                send(watch)

    def test_needs_a_grant(self) -> None:
        alarm = AboveThreshold(0, 1, 1)
        grant = granted(alarm)
        alarm.start(grant)
        with pytest.raises(GrantError):
            alarm.start(grant)
        with pytest.raises(GrantError):
            NumericAboveThreshold(alarm, 1).start(granted(alarm))

    @pytest.mark.parametrize("value", [[1, 2], "x", None, 0.5, True, math.nan])
    def test_refuses_what_is_no_answer(self, value: object) -> None:
        alarm = AboveThreshold(0, 1, 1)
        watch = alarm.start(granted(alarm))
        with pytest.raises(ArgumentError):
            watch.ask(value)


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("threshold", (math.nan, 1, 1)),
        ("threshold", (2**70, 1, 1)),
        ("scale_threshold", (0, 0, 1)),
        ("scale_queries", (0, 1, -1)),
        ("positives", (0, 1, 1, 0)),
        ("positives", (0, 1, 1, True)),
        ("grid", (0, 1, 1, 1, None)),
        ("monotone", (0, 1, 1, 1, Grid(0), "yes")),
    ],
)
def test_refuses_bad_parameters(name: str, arguments: tuple[Any, ...]) -> None:
    with pytest.raises(ArgumentError, match=name):
        AboveThreshold(*arguments)


def test_numeric_refuses_bad_parameters() -> None:
    with pytest.raises(ArgumentError, match="scale_values"):
        NumericAboveThreshold(AboveThreshold(0, 1, 1), 0)  # type: ignore[arg-type]
    with pytest.raises(ArgumentError, match="comparison"):
        NumericAboveThreshold(None, 1)  # type: ignore[arg-type]
