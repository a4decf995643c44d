"""What is asked: variances, several numbers, an ε for each class; and which way is chosen."""

from __future__ import annotations

import json
import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from scipy import stats

from collect.numbers.laws import FALSE_ALARM, Given, by_borders, within
from sordino.accounting import events
from sordino.collect.coins import WORD
from sordino.collect.numbers.attributes import Attributes
from sordino.collect.numbers.choice import WAYS, number, number_by_class, several_numbers, vector
from sordino.collect.numbers.classes import EpsilonClasses
from sordino.collect.numbers.piecewise import Piecewise
from sordino.collect.numbers.square_wave import SquareWave
from sordino.collect.numbers.two_values import TwoValues
from sordino.collect.numbers.variance import VarianceQuestion
from sordino.errors import ArgumentError

QUESTIONS = (
    number(0, 100, epsilon=1),
    number(0, 100, epsilon=1, what="variance"),
    number(0, 100, epsilon=1, what="distribution"),
    several_numbers({"a": (0, 1), "b": (-5, 5)}, epsilon=3),
    number_by_class(0, 10, epsilons={"careful": "0.5", "open": 3}),
    vector(3, radius=2, epsilon=1),
)


@pytest.mark.parametrize("epsilon", ["0.01", "0.3", "0.61", "0.7", "1", "1.5", "2", "3", "5", "8", "16", "32"])
def test_the_choice_is_within_two_percent_of_the_best(epsilon: str) -> None:
    chosen = number(-1, 1, epsilon=epsilon)
    best = min(make(Fraction(epsilon), 2**16).worst for make in WAYS.values())
    assert chosen.randomizer.worst <= 1.02 * best
    assert chosen.why.startswith(chosen.randomizer.protocol)
    for name in WAYS:
        assert number(-1, 1, epsilon=epsilon, way=name).randomizer.protocol == name


def test_small_epsilon_takes_one_byte() -> None:
    assert number(0, 1, epsilon="0.5").randomizer.size == 1
    assert number(0, 1, epsilon=2).randomizer.protocol == "hybrid"


@pytest.mark.parametrize("question", QUESTIONS, ids=lambda each: each.randomizer.protocol)
def test_what_is_public_is_whole_numbers_and_texts(question: Any) -> None:
    def plain(value: Any) -> bool:
        if isinstance(value, dict):
            return all(isinstance(key, str) and plain(each) for key, each in value.items())
        if isinstance(value, list):
            return all(map(plain, value))
        return isinstance(value, str) or (isinstance(value, int) and abs(value) < 2**53)

    assert plain(question.public())
    assert json.loads(json.dumps(question.public())) == question.public()
    if isinstance(question.randomizer, EpsilonClasses):
        with pytest.raises(ArgumentError, match="SRD-C208"):  # who shows a class does not hide among the others
            question.randomizer.shuffled(1000, Fraction(1, 10**6))
    else:
        assert question.randomizer.shuffled(1000, Fraction(1, 10**6)).to_json()
    assert question.randomizer.event().to_json()


@pytest.mark.parametrize("question", QUESTIONS, ids=lambda each: each.randomizer.protocol)
def test_reports_have_one_length_and_counts_add_up(question: Any) -> None:
    way = question.randomizer
    value = {
        "attributes": {"a": 0.5, "b": 9.0} if hasattr(question, "names") else 3.0,
        "epsilon-classes": ("open", 3.0),
        "directions": [1.0, 1.0, 0.0],
    }.get(way.protocol, 3.0)
    code = question.code(value)
    words = range(7, WORD, WORD // 60)
    rows = np.array([list(way.report(code, Given([word, word // 3, word // 7]))) for word in words], dtype=np.uint8)
    assert rows.shape[1] == way.size
    assert way.well_formed(rows).all()
    np.testing.assert_array_equal(way.count(rows), way.count(rows[:20]) + way.count(rows[20:]))
    assert np.asarray(question.error(100) if not isinstance(question.error(100), dict) else 1.0) > 0
    assert not way.well_formed(np.full((1, way.size), 255, dtype=np.uint8)).any()


def test_a_drawn_attribute_costs_epsilon_for_all_of_them() -> None:
    way = Attributes((TwoValues(Fraction(1), 4), Piecewise(Fraction(1), 4)))
    laws = []
    for codes in ((0, 0), (4, 4), (0, 4), (2, 1)):
        law = {}
        for first, share in ((0, Fraction(1, 2)), (WORD - 1, Fraction(1, 2))):
            part = by_borders(way, codes, (first,))  # type: ignore[arg-type]
            law |= {cell: share * chance for cell, chance in part.items()}
        laws.append(law)
    within("1", laws)
    assert way.epsilon == 1
    assert way.event() == events.Pure(Fraction(1))


def test_attributes_are_drawn_alike() -> None:
    way = Attributes((TwoValues(Fraction(1)),) * 3)
    drawn = np.bincount(way.reports(np.zeros((30_000, 3), dtype=np.int64))[:, 0], minlength=3)
    assert stats.chisquare(drawn).pvalue > FALSE_ALARM
    each = [way.report((0, 0, 0), Given([word, 0]))[0] for word in (0, WORD // 3, WORD // 3 + 1, WORD - 1)]
    assert each == [0, 0, 1, 2]
    alone = Attributes((TwoValues(Fraction(1)),))
    assert alone.report((7,), Given([0, 0]))[0] == 0
    assert (alone.reports(np.zeros((50, 1), dtype=np.int64))[:, 0] == 0).all()


@pytest.mark.parametrize("epsilon", ["0.5", "2", "6"])
def test_intervals_of_several_numbers_cover_the_means_of_all(epsilon: str) -> None:
    rng, people, rounds = np.random.default_rng(2), 900, 600
    question = several_numbers({"a": (0, 1), "b": (-5, 5)}, epsilon=epsilon)
    held = {"a": rng.beta(2, 2, people), "b": rng.normal(1, 3, people).clip(-5, 5)}
    codes = question.codes(held)
    way, inside = question.randomizer, {"a": [], "b": []}  # type: ignore[var-annotated]
    for _ in range(rounds):
        found = question.estimate(way.count(way.reports(codes)), people)
        for name, each in found.items():
            low, high = each.intervals(0.95)
            inside[name].append(low <= held[name].mean() <= high)
    for covered in inside.values():
        assert 0.91 < np.mean(covered) < 0.985  # 4.5 standard errors of 600 rounds


@pytest.mark.parametrize("epsilon", ["0.5", "2", "8"])
def test_variances_are_unbiased_and_covered(epsilon: str) -> None:
    """People are drawn anew in each round, for a variance is of those they are drawn from."""
    rng, people, rounds = np.random.default_rng(7), 1500, 600
    question = number(-2, 6, epsilon=epsilon, what="variance")
    assert isinstance(question, VarianceQuestion)
    values, errors = [], []
    for _ in range(rounds):
        codes = question.codes(8 * rng.beta(2, 5, people) - 2)
        found = question.estimate(question.randomizer.count(question.randomizer.reports(codes)), people)
        values.append(found.variance.value)
        errors.append(found.variance.standard_error)
    truth = 64 * stats.beta.var(2, 5)
    assert abs(np.mean(values) - truth) < 5 * np.std(values) / math.sqrt(rounds)
    assert 0.91 < np.mean(np.abs(np.array(values) - truth) <= 1.959964 * np.array(errors)) < 0.985
    assert np.std(values) == pytest.approx(np.mean(errors), rel=0.15)
    assert np.mean(errors) <= question.error(people)


@pytest.mark.parametrize("epsilon", ["0.5", "3"])
def test_poison_of_variances(epsilon: str) -> None:
    """The best of simple attacks: all for the square, against people who all hold the middle, or some for the mean."""
    question, people, liars = number(-1, 1, epsilon=epsilon, what="variance"), 1000, 20
    bound = question.poison(people, liars)
    reach = [way.linear.reach for way in question.randomizer.ways]  # type: ignore[union-attr]
    best = 0.0
    for told in range(liars + 1):
        two, one = told / ((people - liars) / 2 + told), (liars - told) / ((people - liars) / 2 + liars - told)
        for mean in np.linspace(0, 1, 41):
            square = (1 - two) * mean**2 + two * (0.5 + reach[1])
            for far in np.linspace(-2 * reach[0], 2 * reach[0], 9):
                raised = square - ((1 - one) * mean + one * far) ** 2  # all others hold `mean`, so their variance is 0
                lowered = (1 - two) + two * (0.5 - reach[1]) - ((1 - one) * mean + one * far) ** 2
                best = max(best, raised, (1 - mean**2) - lowered)
    assert 0.8 * bound <= best <= bound
    assert question.poison(people, 0) < 1e-9


def test_poison_of_several_numbers_and_of_classes() -> None:
    way = Attributes((TwoValues(Fraction(1)),) * 4)
    # 960 honest people hold 0, 240 of them answer for the first; 40 liars all do, with 1.
    counts = np.array([280, -240 * np.tanh(0.5) + 40, 280])
    linear = way.ways[0].linear
    moved = 0.5 + (counts[1] / 280 - linear.offset) / linear.gain
    assert moved <= way.poison(1000, 40)[0] * (1 + 1e-6)
    assert moved >= 0.8 * way.poison(1000, 40)[0]
    classes = EpsilonClasses(("careful", "open"), (TwoValues(Fraction("0.5")), TwoValues(Fraction(2))))
    weights = [1 / each.worst for each in classes.ways]
    best = 0.0
    for which, each in enumerate(classes.ways):
        total = 480 * sum(weights) + 40 * weights[which]
        best = max(best, 40 * weights[which] * (0.5 + each.linear.reach) / total)
    assert 0.8 * classes.poison(1000, 40) <= best <= classes.poison(1000, 40) * (1 + 1e-9)
    assert classes.poison(1000, 0) == 0


def test_classes_are_weighed_by_what_they_tell() -> None:
    rng, rounds, people = np.random.default_rng(12), 600, 600
    question = number_by_class(0, 10, epsilons={"careful": "0.5", "open": 4})
    which = np.arange(people) % 3 // 2  # two careful ones for each open one
    found = []
    for _ in range(rounds):
        codes = np.stack([which, question.scale.codes(10 * rng.beta(2, 5, people))], axis=1)
        found.append(question.estimate(question.randomizer.count(question.randomizer.reports(codes)), people))
    truth = 10 * 2 / 7
    together = np.array([each.together.value for each in found])
    alike = np.array([each.of_people.value for each in found])
    opened = np.array([each.apart["open"].value for each in found])
    for values in (together, alike, opened):
        assert abs(values.mean() - truth) < 5 * values.std() / math.sqrt(rounds)
    assert together.std() < min(alike.std(), opened.std() * 1.05)
    inside = [each.together.intervals(0.95) for each in found]
    assert 0.91 < np.mean([low <= truth <= high for low, high in inside]) < 0.985
    differ = [each.differ for each in found]
    assert stats.kstest(differ, "uniform").pvalue > FALSE_ALARM
    assert question.error(people) > 0


def test_classes_that_hold_other_numbers_are_told() -> None:
    question = number_by_class(0, 10, epsilons={"careful": 2, "open": 4})
    codes = np.stack([np.arange(4000) % 2, question.scale.codes(np.where(np.arange(4000) % 2, 8.0, 2.0))], axis=1)
    found = question.estimate(question.randomizer.count(question.randomizer.reports(codes)), 4000)
    assert found.differ < FALSE_ALARM
    assert found.of_people.value == pytest.approx(5, abs=0.5)
    assert found.apart["open"].value == pytest.approx(8, abs=0.5)
    assert question.randomizer.event() == events.Personalised((Fraction(2), Fraction(4)))
    alone = codes[codes[:, 0] == 0]
    of_one = question.estimate(question.randomizer.count(question.randomizer.reports(alone)), 10)
    assert set(of_one.apart) == {"careful"}
    with pytest.raises(ArgumentError, match="SRD-C204"):
        question.estimate(question.randomizer.count(question.randomizer.reports(alone[:0])), 0)


@pytest.mark.parametrize(
    ("asked", "code"),
    [
        (lambda: several_numbers({}, epsilon=1), "SRD-C206"),
        (lambda: several_numbers({"a": 3}, epsilon=1), "SRD-C206"),
        (lambda: number_by_class(0, 1, epsilons={}), "SRD-C206"),
        (lambda: number(0, 1, epsilon=1, what="mode"), "SRD-A001"),
        (lambda: number(0, 1, epsilon=1, way="best"), "SRD-A001"),
        (lambda: number(3, 1, epsilon=1), "SRD-C202"),
        (lambda: Attributes(()), "SRD-C206"),
        (lambda: EpsilonClasses(("a",), (SquareWave(Fraction(1)),)), "SRD-C206"),
        (lambda: QUESTIONS[3].code({"a": 1}), "SRD-C206"),
        (lambda: QUESTIONS[3].code({"a": 1, "b": math.nan}), "SRD-C201"),
        (lambda: QUESTIONS[4].code(("nobody", 3)), "SRD-C206"),
        (lambda: QUESTIONS[4].code(("open", math.nan)), "SRD-C201"),
        (lambda: QUESTIONS[3].estimate(np.zeros(3, dtype=np.int64), 1), "SRD-C203"),
    ],
)
def test_mistakes_are_refused_with_a_remedy(asked: Any, code: str) -> None:
    with pytest.raises(ArgumentError) as caught:
        asked()
    assert caught.value.code == code


@pytest.mark.parametrize("code", [-1, 9, 2**70])
def test_coins_are_tossed_for_codes_alone(code: int) -> None:
    """Beyond the grid the chances would leave [L, e^ε·L]."""
    for make in [*WAYS.values(), SquareWave]:
        way = make(Fraction(1), 8)
        with pytest.raises(ArgumentError, match="SRD-C207"):
            way.report(code, Given([0] * 40))
        with pytest.raises(ArgumentError, match="SRD-C207"):
            way.reports(np.array([3, min(code, 2**40)]))
    with pytest.raises(ArgumentError, match="SRD-C207"):
        vector(2, epsilon=1).randomizer.reports(np.array([[0, 2**16]]))
    with pytest.raises(ArgumentError, match="SRD-C207"):
        vector(2, epsilon=1).randomizer.report((1, 2, 3), Given([0, 0]))
