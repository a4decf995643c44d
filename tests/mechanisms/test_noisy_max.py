"""Report noisy max with three noises: three laws, three claims."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable
from fractions import Fraction
from itertools import product
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from laws import references as reference
from sordino.accounting import events
from sordino.accounting.bound import Bound
from sordino.accounting.grant import Grant
from sordino.errors import ArgumentError
from sordino.mechanisms.checks.draws import CHANCE, fit
from sordino.mechanisms.grid import Grid
from sordino.mechanisms.noisy_max import GumbelMax, LaplaceMax, PermuteAndFlip

ONE = Bound.scalar(1)
Law = Callable[[Any, float], reference.Law]


class Noise(NamedTuple):
    kind: Any
    law: Law
    event: Any


ALL = [
    pytest.param(Noise(GumbelMax, reference.exponential, events.Exponential), id="gumbel"),
    pytest.param(Noise(PermuteAndFlip, reference.permute_and_flip, events.PermuteAndFlip), id="permute-and-flip"),
    pytest.param(Noise(LaplaceMax, reference.laplace_max, events.LaplaceNoisyMax), id="laplace"),
]


def log_ratios(p: reference.Law, q: reference.Law) -> list[float]:
    return [math.log(p[i] / q[i]) for i in p]


def release(mechanism: Any, value: object) -> int:
    index: int = mechanism.release(value, Grant(mechanism.event(ONE), ONE))
    return index


@pytest.mark.parametrize("noise", ALL)
class TestEach:
    def test_event(self, noise: Noise) -> None:
        assert noise.kind(4, 3).event(ONE) == noise.event(Fraction(1, 2))
        assert noise.kind(4, 3, monotone=True).event(ONE) == noise.event(Fraction(1, 4))
        assert noise.kind.for_epsilon("0.3", ONE, 3).event(ONE) == noise.event(Fraction(3, 10))

    @given(scores=st.lists(st.integers(-4, 4), min_size=3, max_size=3))
    @settings(max_examples=12, deadline=None)
    def test_no_neighbour_is_told_apart_better_than_claimed(self, noise: Noise, scores: list[int]) -> None:
        here = noise.law(scores, 1.5)
        for monotone, steps in ((False, (-1, 0, 1)), (True, (0, 1))):
            claimed = float(noise.kind(Fraction(3, 2), 3, monotone=monotone).event(ONE).epsilon)
            for moves in product(steps, repeat=3):
                there = noise.law([s + m for s, m in zip(scores, moves, strict=True)], 1.5)
                assert max(map(abs, log_ratios(here, there))) <= claimed + 1e-9

    def test_accepts_the_claimed_scale_and_no_other(self, noise: Noise) -> None:
        scores = [3, 0, 2]
        mechanism = noise.kind(2, 3)
        seen = Counter(release(mechanism, scores) for _ in range(14000))
        for factor, right in ((1.0, True), (0.7, False), (1.3, False)):
            p = fit(seen, noise.law(scores, 2 * factor))
            assert (p > CHANCE) == right, f"n = 14000, k = {len(seen)}, factor = {factor}, p = {p}"

    def test_works_on_a_grid_and_far_out(self, noise: Noise) -> None:
        fine = noise.kind(Fraction(1, 100), 2, Grid(-4))
        assert release(fine, [0.5, 2.5]) == 1
        assert release(noise.kind(1, 2), [2**62, -(2**62)]) == 0

    def test_error_holds(self, noise: Noise) -> None:
        scores = np.array([12, 8, 6, 6, 3, 0])
        mechanism = noise.kind(2, 6)
        off = [12 - scores[release(mechanism, scores)] for _ in range(2000)]
        assert sum(o > mechanism.error(0.8) for o in off) <= 0.2 * 2000
        assert noise.kind(2, 6, Grid(0)).error(0.8) >= mechanism.error(0.8) + 0.999

    def test_refuses_bad_scores_and_leaves_the_grant(self, noise: Noise) -> None:
        mechanism = noise.kind(1, 3)
        grant = Grant(mechanism.event(ONE), ONE)
        for value in ([1, 2], [[1, 2, 3]], "abc", [0.5, 1.0, 2.0], None):
            with pytest.raises(ArgumentError):
                mechanism.release(value, grant)
        assert type(mechanism.release([1, 2, 3], grant)) is int


class TestWhatIsSaidOfThem:
    def test_laplace_is_not_the_exponential_mechanism(self) -> None:
        laplace, exponential = reference.laplace_max([0, 1, 2], 2.0), reference.exponential([0, 1, 2], 2.0)
        assert max(abs(laplace[i] - exponential[i]) for i in range(3)) > 0.01

    def test_permute_and_flip_is_never_worse(self) -> None:
        for scores in product(range(-3, 1), repeat=3):
            flip, choice = reference.permute_and_flip(scores, 1.0), reference.exponential(scores, 1.0)
            expected = [sum(law[i] * s for i, s in enumerate(scores)) for law in (flip, choice)]
            assert expected[0] >= expected[1] - 1e-12

    def test_permute_and_flip_is_exponential_noise(self) -> None:
        """Two candidates, by hand: the lower one wins with ½·e^(−gap/scale)."""
        assert reference.permute_and_flip([0, 3], 2.0)[0] == pytest.approx(math.exp(-1.5) / 2)

    @pytest.mark.parametrize("law", [reference.permute_and_flip, reference.laplace_max])
    def test_they_are_not_of_bounded_range(self, law: Law) -> None:
        """The log-ratios of one pair of neighbours span more than ε = 2/scale, so bounded-range curves do not hold."""
        scale, worst = 1.0, 0.0
        for scores in ((-2, 0, 0), (0, -2, -2), (-4, 0, -2), (-3, 0, 0), (0, 0, -3)):
            for moves in product((-1, 1), repeat=3):
                ratios = log_ratios(law(scores, scale), law([s + m for s, m in zip(scores, moves, strict=True)], scale))
                worst = max(worst, max(ratios) - min(ratios))
        assert worst > 2 / scale + 0.1
