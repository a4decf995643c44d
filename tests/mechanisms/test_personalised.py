"""Personalised privacy: the chance to be kept, the claim towards each class, and both mechanisms' laws."""

from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from laws import references as reference
from sordino.accounting import events, pure
from sordino.accounting.bound import Bound
from sordino.accounting.grant import Grant
from sordino.accounting.neighbours import Neighbours
from sordino.errors import ArgumentError, UnsupportedError
from sordino.mechanisms.checks.draws import CHANCE, fit
from sordino.mechanisms.classes import Classes
from sordino.mechanisms.gaussian import Gaussian
from sordino.mechanisms.laplace import Laplace
from sordino.mechanisms.partition import TruncatedGeometric
from sordino.mechanisms.personalised import PersonalisedSample, keeping_rounded_down
from sordino.mechanisms.personalised_choice import PersonalisedCount, PersonalisedMedian

ADDED = Bound.scalar(1)
REPLACED = Bound.scalar(1, neighbours=Neighbours.REPLACE_ONE)
POLICY = Classes.of({"careful": "0.5", "open": 2})


def granted(mechanism: Any, bound: Bound) -> Grant:
    return Grant(mechanism.event(bound), bound)


class TestPolicy:
    def test_reads_what_was_written(self) -> None:
        assert POLICY.epsilons == (Fraction(1, 2), Fraction(2))
        assert POLICY.epsilon("open") == 2
        assert POLICY.capped(Fraction(1)).epsilons == (Fraction(1, 2), Fraction(1))
        assert POLICY.event() == events.Personalised((Fraction(1, 2), Fraction(2)))

    def test_the_budget_is_charged_the_highest(self) -> None:
        assert pure.total(POLICY.event()) == 2

    def test_finds_places_by_name(self) -> None:
        policy = Classes.of({"b": 1, "a": 2, "longer": 3})
        assert policy.places(["a", "b", "longer", "a"]).tolist() == [1, 0, 2, 1]
        assert policy.places([]).tolist() == []

    @pytest.mark.parametrize("classes", [["a", "x"], ["longer name"], ["carefully"], ["zzz"]])
    def test_unknown_classes_are_as_careful_as_the_most_careful(self, classes: list[str]) -> None:
        careful = min(range(len(POLICY.classes)), key=lambda place: POLICY.classes[place][1])
        assert POLICY.places(classes)[-1] == careful
        with pytest.raises(ArgumentError, match="no class"):
            POLICY.epsilon("x")

    @pytest.mark.parametrize("classes", [[1, 2], [["open"]], "open", None, [None]])
    def test_refuses_what_are_no_names(self, classes: object) -> None:
        with pytest.raises(ArgumentError, match="class names"):
            POLICY.places(classes)

    @pytest.mark.parametrize(
        "epsilons", [{}, {"a": 0}, {"a": -1}, {"a": math.nan}, {"a": True}, {"": 1}, {3: 1}, [("a", 1)], {"a": 1001}]
    )
    def test_refuses_bad_policies(self, epsilons: Any) -> None:
        with pytest.raises(ArgumentError):
            Classes.of(epsilons)

    def test_refuses_a_class_named_twice(self) -> None:
        with pytest.raises(ArgumentError, match="once"):
            Classes((("a", Fraction(1)), ("a", Fraction(2))))


class TestKeeping:
    @given(st.fractions("1/1000", 30), st.fractions("1001/1000", 20))
    @settings(max_examples=60, deadline=None)
    def test_is_just_below_the_truth(self, epsilon: Fraction, factor: Fraction) -> None:
        strength = epsilon * factor
        kept = keeping_rounded_down(epsilon, strength)
        truth = math.expm1(float(epsilon)) / math.expm1(float(strength))
        assert float(kept) == pytest.approx(truth, rel=1e-9, abs=2.0**-63)
        # never more than allowed: ln(1 + π(e^t − 1)) ≤ ε
        assert math.log1p(float(kept) * math.expm1(float(strength))) <= float(epsilon) * (1 + 1e-14)

    def test_is_below_a_value_that_is_known_to_sixty_digits(self) -> None:
        """(e − 1)/(e² − 1) = 1/(e + 1) = 0.26894142136999512074…"""
        kept = keeping_rounded_down(Fraction(1), Fraction(2))
        truth = Fraction(26894142136999512074884, 10**23)
        assert truth - Fraction(1, 2**63) < kept <= truth

    def test_what_is_too_small_is_never_kept(self) -> None:
        assert keeping_rounded_down(Fraction(1), Fraction(1000)) == 0

    def test_large_strengths_keep_their_digits(self) -> None:
        kept = keeping_rounded_down(Fraction(999), Fraction(1000))
        assert float(kept) == pytest.approx(math.exp(-1), rel=1e-12)


class TestSample:
    def mechanism(self, scale: Fraction = Fraction(1, 2)) -> PersonalisedSample:
        return PersonalisedSample(POLICY, len, Laplace(scale))

    def test_event_is_capped_by_the_mechanism_itself(self) -> None:
        assert self.mechanism().event(ADDED) == events.Personalised((Fraction(1, 2), Fraction(2)))
        assert self.mechanism(Fraction(1)).event(ADDED) == events.Personalised((Fraction(1, 2), Fraction(1)))
        assert self.mechanism(Fraction(1, 9)).event(ADDED) == events.Personalised((Fraction(1, 2), Fraction(2)))

    @pytest.mark.parametrize("scale", [Fraction(1, 5), Fraction(1, 2), Fraction(3)])
    @pytest.mark.parametrize("name", ["careful", "open"])
    def test_each_class_gets_its_epsilon(self, scale: Fraction, name: str) -> None:
        """The exact law of a count of none, and of one unit that is kept by its coin: the mixture's log-ratios."""
        mechanism = self.mechanism(scale)
        strength = mechanism.strength(ADDED)
        epsilon = min(POLICY.epsilon(name), strength)
        keep = 1.0 if POLICY.epsilon(name) >= strength else float(keeping_rounded_down(POLICY.epsilon(name), strength))
        noise = reference.discrete_laplace(float(scale))
        ratios = [math.log(keep * noise[k - 1] / noise[k] + 1 - keep) for k in list(noise)[1:]]
        assert max(ratios) == pytest.approx(float(epsilon), rel=1e-9)
        assert -min(ratios) <= float(epsilon) + 1e-9

    def test_coins_have_the_chance_of_their_class(self) -> None:
        mechanism = PersonalisedSample(POLICY, sum_of_rows, Laplace(Fraction(1, 2)))
        careful = 20000
        rows = np.concatenate([np.ones(careful, dtype=np.int64), np.zeros(1, dtype=np.int64)])
        kept = mechanism.release((rows, ["careful"] * careful + ["open"]), granted(mechanism, ADDED))
        keep = math.expm1(0.5) / math.expm1(2)
        deviation = math.sqrt(careful * keep * (1 - keep))
        assert abs(kept - careful * keep) < 6 * deviation
        for factor in (0.7, 1.3):
            assert abs(kept - careful * keep * factor) > 6 * deviation

    def test_all_of_a_class_above_the_strength_are_kept(self) -> None:
        mechanism = PersonalisedSample(POLICY, len, Laplace(Fraction(1, 2)))
        released = mechanism.release((np.zeros((5000, 2)), ["open"] * 5000), granted(mechanism, ADDED))
        assert abs(released - 5000) < 50

    def test_error_is_the_mechanisms(self) -> None:
        assert self.mechanism().error(0.9) == Laplace(Fraction(1, 2)).error(0.9)

    def test_refuses_what_its_proof_does_not_cover(self) -> None:
        with pytest.raises(ArgumentError, match="add/remove"):
            self.mechanism().event(REPLACED)
        with pytest.raises(ArgumentError, match="1000-private"):
            self.mechanism(Fraction(1, 1000)).event(Bound.scalar(2))
        with pytest.raises(UnsupportedError, match="curve"):
            PersonalisedSample(POLICY, len, Gaussian(1)).event(ADDED)
        with pytest.raises(ArgumentError, match="δ of its own"):
            PersonalisedSample(POLICY, len, TruncatedGeometric(1, "1e-6")).event(ADDED)

    @pytest.mark.parametrize("value", [[1, 2], ([1], ["open", "open"]), (3, ["open"]), None])
    def test_refuses_bad_values_and_leaves_the_grant(self, value: Any) -> None:
        mechanism = self.mechanism()
        grant = granted(mechanism, ADDED)
        with pytest.raises(ArgumentError):
            mechanism.release(value, grant)
        assert isinstance(mechanism.release(([1], ["open"]), grant), int)

    def test_refuses_bad_parameters(self) -> None:
        for words in ((None, len, Laplace(1)), (POLICY, 3, Laplace(1)), (POLICY, len, "laplace")):
            with pytest.raises(ArgumentError):
                PersonalisedSample(*words)  # type: ignore[arg-type]


def sum_of_rows(rows: Any) -> int:
    return int(np.sum(rows))


CLASSES = ["careful", "open", "open", "careful"]
WEIGHTS = [0.5, 2.0, 2.0, 0.5]


def count_law(answers: tuple[bool, ...], level: float = 1.0) -> reference.Law:
    yes, no = list(answers), [not a for a in answers]
    costs = [
        reference.least_change(WEIGHTS, yes, sum(yes) - r)
        if r < sum(yes)
        else reference.least_change(WEIGHTS, no, r - sum(yes))
        for r in range(5)
    ]
    return reference.exponential([-cost for cost in costs], 2.0 * level)


def median_law(numbers: tuple[float, ...], candidates: tuple[float, ...]) -> reference.Law:
    costs = []
    for r in candidates:
        below, above = [n < r for n in numbers], [n > r for n in numbers]
        costs.append(
            reference.least_change(WEIGHTS, below, max(0, sum(below) - 2))
            + reference.least_change(WEIGHTS, above, max(0, sum(above) - 2))
        )
    return reference.exponential([-cost for cost in costs], 2.0)


class TestCount:
    def test_each_unit_gets_the_epsilon_of_its_class(self) -> None:
        reached = dict.fromkeys(range(4), 0.0)
        for answers in product((False, True), repeat=4):
            for unit in range(4):
                other = tuple(not a if i == unit else a for i, a in enumerate(answers))
                here, there = count_law(answers), count_law(other)
                reached[unit] = max(reached[unit], *(abs(math.log(here[r] / there[r])) for r in here))
        for unit, worst in reached.items():
            assert 0.3 * WEIGHTS[unit] < worst <= WEIGHTS[unit] + 1e-12

    @pytest.mark.parametrize("answers", [(True, False, True, False), (False,) * 4, (True,) * 4])
    def test_has_the_law_of_costs(self, answers: tuple[bool, ...]) -> None:
        mechanism = PersonalisedCount(POLICY, 4)
        seen = Counter(mechanism.release((answers, CLASSES), granted(mechanism, REPLACED)) for _ in range(24000))
        for factor, right in ((1.0, True), (0.7, False), (1.3, False)):
            p = fit(seen, count_law(answers, factor))
            assert (p > CHANCE) == right, f"n = 24000, k = {len(seen)}, factor = {factor}, p = {p}"

    def test_is_close_for_many(self) -> None:
        mechanism = PersonalisedCount(POLICY, 10000)
        answers = np.arange(10000) % 4 == 0
        released = mechanism.release((answers, np.tile(CLASSES, 2500)), granted(mechanism, REPLACED))
        assert abs(released - 2500) <= mechanism.error(1 - 1e-9)


class TestMedian:
    def test_each_unit_gets_the_epsilon_of_its_class(self) -> None:
        candidates = (0.0, 2.0, 4.0)
        for numbers in product((-1.0, 1.0, 3.0, math.nan), repeat=4):
            here = median_law(numbers, candidates)
            for unit, value in ((0, 5.0), (1, 5.0), (2, -1.0), (3, math.nan)):
                there = median_law(tuple(value if i == unit else n for i, n in enumerate(numbers)), candidates)
                assert max(abs(math.log(here[r] / there[r])) for r in here) <= WEIGHTS[unit] + 1e-12

    @pytest.mark.parametrize("numbers", [(1.0, 2.0, 6.0, 7.0), (9.0, 9.0, math.nan, 1.0), (4.0, 4.0, 4.0, 4.0)])
    def test_has_the_law_of_costs(self, numbers: tuple[float, ...]) -> None:
        candidates = (0.0, 2.0, 4.0, 9.0)
        mechanism = PersonalisedMedian(POLICY, 4, candidates)  # type: ignore[arg-type]
        seen = Counter(mechanism.release((numbers, CLASSES), granted(mechanism, REPLACED)) for _ in range(3000))
        law = median_law(numbers, candidates)
        p = fit(seen, {candidate: law[i] for i, candidate in enumerate(candidates)})
        assert p > CHANCE, f"n = 3000, k = {len(seen)}, p = {p}"

    def test_is_close_for_many(self) -> None:
        mechanism = PersonalisedMedian(POLICY, 4000, tuple(range(100)))
        numbers = np.arange(4000) % 100
        released = mechanism.release((numbers, np.tile(CLASSES, 1000)), granted(mechanism, REPLACED))
        assert abs(released - 49.5) * 40 <= mechanism.error(1 - 1e-9) + 60

    @pytest.mark.parametrize("candidates", [(), (2, 1), (1, 1), [1, 2], (math.nan,), None])
    def test_refuses_bad_candidates(self, candidates: Any) -> None:
        with pytest.raises(ArgumentError, match="candidates"):
            PersonalisedMedian(POLICY, 4, candidates)


class TestBoth:
    @pytest.mark.parametrize("kind", [PersonalisedCount, lambda p, n: PersonalisedMedian(p, n, (1, 2))])
    def test_refuses_bad_parameters_and_bounds(self, kind: Any) -> None:
        for words in ((None, 4), (POLICY, 0), (POLICY, True), (Classes.of({"a": "1e-30", "b": 1}), 4), (POLICY, 2.0)):
            with pytest.raises(ArgumentError):
                kind(*words)
        with pytest.raises(ArgumentError, match="REPLACE_ONE"):
            kind(POLICY, 4).event(ADDED)
        with pytest.raises(ArgumentError, match="one place each"):
            kind(POLICY, 4).event(Bound.vector(l0=2, linf=1, neighbours=Neighbours.REPLACE_ONE))

    @pytest.mark.parametrize(
        "value",
        [
            ([True] * 3, CLASSES[:3]),
            ([True] * 4, CLASSES[:3]),
            ("abcd", CLASSES),
            ([None] * 4, CLASSES),
            [True] * 4,
        ],
    )
    def test_refuses_bad_values_and_leaves_the_grant(self, value: Any) -> None:
        mechanism = PersonalisedCount(POLICY, 4)
        grant = granted(mechanism, REPLACED)
        with pytest.raises(ArgumentError):
            mechanism.release(value, grant)
        assert mechanism.release(([True] * 4, CLASSES), grant) in range(5)
