"""The exponential mechanism: its exact law, its claim on all neighbours, and what it refuses."""

from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from laws import references as reference
from sordino.accounting import events
from sordino.accounting.bound import Bound
from sordino.accounting.grant import Grant
from sordino.accounting.neighbours import Neighbours
from sordino.errors import ArgumentError
from sordino.mechanisms.checks.draws import CHANCE, fit
from sordino.mechanisms.exponential import Exponential
from sordino.mechanisms.grid import Grid

ONE = Bound.scalar(1)


def widest(p: dict[int, float], q: dict[int, float]) -> tuple[float, float]:
    """The largest |log-ratio| and the range of log-ratios."""
    ratios = [math.log(p[i] / q[i]) for i in p]
    return max(map(abs, ratios)), max(ratios) - min(ratios)


def release(mechanism: Exponential, value: object, bound: Bound = ONE) -> int:
    return mechanism.release(value, Grant(mechanism.event(bound), bound))


class TestClaim:
    @given(st.lists(st.integers(-6, 6), min_size=3, max_size=3), st.fractions("1/4", 4))
    @settings(max_examples=40, deadline=None)
    def test_no_neighbour_is_told_apart_better_than_claimed(self, scores: list[int], scale: Fraction) -> None:
        claimed = float(Exponential(scale, 3).event(ONE).epsilon)
        here = reference.exponential(scores, float(scale))
        for moves in product((-1, 0, 1), repeat=3):
            there = reference.exponential([s + m for s, m in zip(scores, moves, strict=True)], float(scale))
            loss, width = widest(here, there)
            assert loss <= claimed + 1e-12
            assert width <= claimed + 1e-12

    @given(st.lists(st.integers(-6, 6), min_size=3, max_size=3))
    @settings(max_examples=40, deadline=None)
    def test_monotone_scores_cost_half(self, scores: list[int]) -> None:
        claimed = float(Exponential(1, 3, monotone=True).event(ONE).epsilon)
        assert claimed == 1
        here = reference.exponential(scores, 1.0)
        for moves in product((0, 1), repeat=3):
            there = reference.exponential([s + m for s, m in zip(scores, moves, strict=True)], 1.0)
            assert max(widest(here, there)) <= claimed + 1e-12

    def test_the_claim_is_reached(self) -> None:
        here, there = reference.exponential([0, 12], 1.0), reference.exponential([1, 11], 1.0)
        assert widest(here, there)[0] == pytest.approx(2, abs=1e-4)

    def test_monotone_would_be_wrong_for_scores_that_move_both_ways(self) -> None:
        here, there = reference.exponential([0, 12], 1.0), reference.exponential([1, 11], 1.0)
        assert widest(here, there)[0] > Exponential(1, 2, monotone=True).event(ONE).epsilon

    def test_rounding_is_paid_for(self) -> None:
        coarse = Exponential(1, 2, Grid(0))
        assert coarse.event(Bound.scalar("0.1")).epsilon == 2
        assert Exponential(1, 2, Grid(-2)).event(Bound.scalar("0.3")).epsilon == Fraction(2 * 2, 4)

    def test_monotone_is_refused_under_replace_one(self) -> None:
        with pytest.raises(ArgumentError, match="replace-one"):
            Exponential(1, 2, monotone=True).event(Bound.scalar(1, neighbours=Neighbours.REPLACE_ONE))


class TestCalibration:
    @given(st.fractions("1/100", 20), st.integers(1, 9), st.booleans())
    @settings(max_examples=30, deadline=None)
    def test_costs_just_what_was_asked(self, epsilon: Fraction, sensitivity: int, monotone: bool) -> None:
        bound = Bound.scalar(sensitivity)
        mechanism = Exponential.for_epsilon(epsilon, bound, 5, monotone=monotone)
        assert mechanism.event(bound) == events.Exponential(epsilon)

    def test_chooses_a_grid_for_real_scores(self) -> None:
        bound = Bound.scalar("0.3")
        mechanism = Exponential.for_epsilon(1, bound, 5, grid=None)
        assert mechanism.event(bound) == events.Exponential(Fraction(1))
        assert Fraction("0.6") <= mechanism.scale <= Fraction("0.6") * Fraction(1002, 1000)


class TestLaw:
    @pytest.mark.parametrize("scale", [Fraction(1), Fraction(5, 2)])
    def test_accepts_the_claimed_scale_and_no_other(self, scale: Fraction) -> None:
        scores = [4, 0, 2, -1]
        mechanism = Exponential(scale, 4)
        seen = Counter(release(mechanism, scores) for _ in range(8000))
        for factor, right in ((1.0, True), (0.7, False), (1.3, False)):
            p = fit(seen, reference.exponential(scores, float(scale) * factor))
            assert (p > CHANCE) == right, f"n = 8000, k = {len(seen)}, factor = {factor}, p = {p}"

    def test_far_scores_do_not_overflow(self) -> None:
        assert release(Exponential(1, 2), [-(2**62), 2**62]) == 1
        assert release(Exponential(Fraction(1, 10**6), 3), np.array([0, 2**40, 0])) == 1

    def test_one_candidate_is_chosen(self) -> None:
        assert release(Exponential(1, 1), [7]) == 0

    def test_real_scores_are_rounded_to_the_grid(self) -> None:
        mechanism = Exponential(Fraction(1, 100), 2, Grid(-1))
        assert release(mechanism, [0.3, 0.1]) == 0


class TestError:
    def test_utility_bound_holds(self) -> None:
        scores = [10, 7, 6, 5, 5, 3, 0]
        mechanism = Exponential(1, 7)
        off = [10 - scores[release(mechanism, scores)] for _ in range(4000)]
        assert sum(shortfall > mechanism.error(0.9) for shortfall in off) <= 0.1 * 4000

    def test_formula(self) -> None:
        assert Exponential(3, 20).error(0.95) == pytest.approx(3 * (math.log(20) + math.log(20)))
        assert Exponential(3, 20, Grid(-1)).error() == pytest.approx(3 * (math.log(20) + math.log(20)) + 0.5)


@pytest.mark.parametrize("scale", [0, -1, math.nan, math.inf, True, "x", None, "1e999"])
def test_refuses_bad_scales(scale: object) -> None:
    with pytest.raises(ArgumentError, match="scale"):
        Exponential(scale, 3)  # type: ignore[arg-type]


@pytest.mark.parametrize("candidates", [0, -1, 2.0, True, None, 2**40])
def test_refuses_bad_numbers_of_candidates(candidates: object) -> None:
    with pytest.raises(ArgumentError, match="candidates"):
        Exponential(1, candidates)  # type: ignore[arg-type]


def test_refuses_bad_grids_and_flags() -> None:
    with pytest.raises(ArgumentError, match="grid"):
        Exponential(1, 3, 0.5)  # type: ignore[arg-type]
    with pytest.raises(ArgumentError, match="monotone"):
        Exponential(1, 3, monotone=1)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "value", [[1, 2], [[1, 2, 3]], 3, "abc", [1, 2, None], [True, False, True], [0.5, 1.5, 2.5], {}]
)
def test_refuses_bad_scores_and_leaves_the_grant(value: object) -> None:
    mechanism = Exponential(1, 3)
    grant = Grant(mechanism.event(ONE), ONE)
    with pytest.raises(ArgumentError):
        mechanism.release(value, grant)
    assert mechanism.release([1, 2, 3], grant) in {0, 1, 2}


@pytest.mark.parametrize(("value", "best"), [([math.nan, 0.5, 1e9], 2), ([0.5, math.inf, 1.0], 1), ([2**70, 0, 0], 0)])
def test_scores_that_are_no_numbers_or_too_large_are_stopped(value: object, best: int) -> None:
    mechanism = Exponential(1, 3, Grid(-4))
    assert mechanism.release(value, Grant(mechanism.event(ONE), ONE)) == best
