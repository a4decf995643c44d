"""Encodings: a row's features are whole, not negative, add up to exactly the reach, and tell the statistics."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from sordino.query.model.bounding import Bounding
from sordino.query.model.task import Monomial
from sordino.query.plan.encoding import Block, Distinct, Encoder, People, Variable, weight_unit

Steps = Sequence[int | None]


@some.composite
def variables(draw: some.DrawFn) -> list[Variable]:
    size = draw(some.integers(0, 3))
    return [
        Variable(
            place,
            draw(some.sampled_from([1, 2, 3, 7, 2**11, 2**20])),
            draw(some.integers(0, 2)),
            draw(some.booleans()),
        )
        for place in range(size)
    ]


def value(monomial: Monomial, steps: Steps) -> int:
    """What the engine adds up for a row: the contract of `Monomial`, word for word."""
    result = 1
    for place, power in enumerate(monomial.powers):
        if place in monomial.present and steps[place] is None:
            return 0
        if power:
            assert place in monomial.present
            result *= (steps[place] or 0) ** power
    return result


def features(block: Block, steps: Steps) -> list[int]:
    return [sum(many * value(statistic, steps) for statistic, many in feature) for feature in block.features]  # type: ignore[arg-type]


def rows(draw: some.DrawFn, chosen: Sequence[Variable]) -> Steps:
    def one(variable: Variable) -> int | None:
        within = some.one_of(
            some.integers(-variable.steps, variable.steps), some.sampled_from([-variable.steps, 0, variable.steps])
        )
        return draw(some.none() | within if variable.nullable else within)

    return [one(variable) for variable in chosen]


@given(some.data(), variables())
@settings(deadline=None, max_examples=300)
def test_features_are_whole_not_negative_and_add_up_to_the_reach(data: some.DataObject, chosen: list[Variable]) -> None:
    block = Encoder(len(chosen)).tensor(chosen, count_missing=True)
    for _ in range(5):
        found = features(block, rows(data.draw, chosen))  # type: ignore[arg-type]
        assert all(type(each) is int and each >= 0 for each in found)
        assert sum(found) == block.reach
        assert sum(each**2 for each in found) <= block.reach**2


@given(some.data(), variables())
@settings(deadline=None, max_examples=300)
def test_without_missing_they_add_up_to_the_reach_or_to_nothing(data: some.DataObject, chosen: list[Variable]) -> None:
    block = Encoder(len(chosen)).tensor(chosen, count_missing=False)
    steps = rows(data.draw, chosen)  # type: ignore[arg-type]
    found = features(block, steps)
    assert all(each >= 0 for each in found)
    assert sum(found) == (0 if None in steps else block.reach)


def test_every_step_of_small_variables() -> None:
    chosen = [Variable(0, 3, 2, True), Variable(1, 2, 1, False), Variable(2, 1, 0, True)]
    block = Encoder(3).tensor(chosen, count_missing=True)
    everything = product([None, *range(-3, 4)], range(-2, 3), [None, 0])
    for steps in everything:
        found = features(block, steps)
        assert min(found) >= 0
        assert sum(found) == block.reach == 6**2 * 4
    assert len(block.features) == 4 * 2 * 2


def test_a_step_beyond_the_promise_would_break_it() -> None:
    """The oracle can fail: outside of ±steps features are negative."""
    block = Encoder(1).tensor([Variable(0, 3, 1, False)], count_missing=True)
    assert min(features(block, [4])) < 0


def test_the_pair_of_the_first_degree() -> None:
    encoder = Encoder(1)
    block = encoder.tensor([Variable(0, 8, 1, False)], count_missing=True)
    step = encoder.power({0: 1})
    assert [dict(each) for each in block.features] == [{encoder.one: 8, step: 1}, {encoder.one: 8, step: -1}]
    assert block.reach == 16
    assert block.statistics == (encoder.one, step)


@pytest.mark.parametrize(("degree", "steps"), [(1, 5), (2, 5), (2, 2**20)])
def test_statistics_are_read_back_from_features(degree: int, steps: int) -> None:
    """Features are linear in statistics with whole coefficients, and together determine all of them, row by row."""
    block = Encoder(1).tensor([Variable(0, steps, degree, False)], count_missing=True)
    for x in (-steps, -1, 0, 2, steps):
        found = features(block, [x])
        assert sum(found) == (2 * steps) ** degree
        if degree == 1:
            assert found[0] - found[1] == 2 * x
        else:
            assert found[2] - found[0] == 4 * steps * x
            assert found[0] + found[2] - found[1] == 4 * x**2


def test_single_statistics_and_weights() -> None:
    encoder = Encoder(2)
    product_of_two = encoder.power({0: 1, 1: 1}, [0])
    assert product_of_two == Monomial((1, 1), frozenset({0, 1}))
    assert encoder.single(product_of_two, 12) == Block((((product_of_two, 1),),), 12)
    weigh = Bounding("weigh", rows=3)
    assert weight_unit(encoder.single(product_of_two, 12), weigh) == weigh.unit == 2**16
    assert weight_unit(encoder.single(People(), 1), weigh) == 1
    assert weight_unit(encoder.single(Distinct(0), 1), Bounding("sample", rows=2)) == 1


def test_only_monomials_have_products() -> None:
    from sordino.query.plan import encoding

    def multiply(left: Mapping[object, int], right: Mapping[object, int]) -> object:
        return encoding._multiply(left, right)  # type: ignore[arg-type]

    with pytest.raises(TypeError, match="only monomials"):
        multiply({People(): 1}, {Monomial(()): 1})
