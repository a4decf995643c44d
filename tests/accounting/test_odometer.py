from __future__ import annotations

import math
from fractions import Fraction

import pytest

from sordino.accounting.budget import Budget, budget
from sordino.accounting.events import Gaussian, Laplace, PartitionSelection, Repeated
from sordino.accounting.filter import Filter
from sordino.accounting.units import PER_EPSILON, SATURATED
from sordino.arguments import Number
from sordino.errors import ArgumentError

PURE, CONCENTRATED, RENYI = budget(1), budget(rho="0.5"), budget(1, 1e-6)


def test_pure_loss_is_said_exactly() -> None:
    rule = Filter.open(PURE)
    assert rule.spent_as(rule.charge(Laplace(10))) == (Fraction(1, 10), 0)


def test_renyi_loss_is_the_smaller_of_what_is_sure_and_what_is_likely() -> None:
    rule = Filter.open(RENYI)
    few = rule.charge(Repeated(Laplace(20), 3))
    assert rule.spent_as(few, 1e-6) == (Fraction(3, 20), Fraction(1, 10**6))
    many = rule.charge(Repeated(Laplace(1000), 15_000))
    epsilon, delta = rule.spent_as(many, 1e-6)
    assert 0.6 < epsilon < 1
    assert delta == Fraction(1, 10**6)
    assert rule.spent_as(rule.charge(Gaussian(10**4)))[0] == math.inf
    assert rule.spent_as(rule.columns.nothing, 1e-6)[0] == 0


def test_own_deltas_are_part_of_what_is_said() -> None:
    rule = Filter.open(RENYI)
    assert rule.spent_as(rule.charge(PartitionSelection("0.01", "1e-8")), 1e-6) == (
        Fraction(1, 100),
        Fraction("1.01e-6"),
    )


def test_concentrated_loss_covers_the_plain_conversion() -> None:
    rule = Filter.open(CONCENTRATED)
    spent = rule.charge(Gaussian(8))
    epsilon, _ = rule.spent_as(spent, 1e-6)
    rho = spent[1] / PER_EPSILON
    plain = rho + 2 * math.sqrt(rho * math.log(1e6))
    assert 0.9 * plain < epsilon < 1.5 * plain
    assert rule.spent_as(rule.columns.nothing, 1e-6)[0] == 0
    assert rule.spent_as(spent)[0] == math.inf


def test_a_loss_beyond_all_levels_is_infinite() -> None:
    assert Filter.open(CONCENTRATED).spent_as((0, 10**15), 1e-6)[0] == math.inf
    rule = Filter.open(RENYI)
    assert rule.spent_as((0, *(SATURATED for _ in rule.caps[1:])), 1e-6)[0] == math.inf


@pytest.mark.parametrize("delta", [-1e-6, float("nan"), True, "x"])
def test_a_bad_delta_is_refused(delta: object) -> None:
    with pytest.raises(ArgumentError, match="delta"):
        Filter.open(PURE).spent_as((0, 0), delta)  # type: ignore[arg-type]


@pytest.mark.parametrize("cap", [PURE, CONCENTRATED, RENYI])
@pytest.mark.parametrize("delta", [1, 2, 100, "1e-390"])
def test_absurd_deltas_are_refused(cap: Budget, delta: Number) -> None:
    rule = Filter.open(cap)
    with pytest.raises(ArgumentError, match="delta must be"):
        rule.spent_as(rule.columns.nothing, delta)


def test_the_least_delta_is_no_obstacle() -> None:
    for cap in (CONCENTRATED, RENYI):
        rule = Filter.open(cap)
        spent = rule.charge(Gaussian(100))
        assert rule.spent_as(spent, 1e-6)[0] < rule.spent_as(spent, "1e-300")[0] < 40
