from __future__ import annotations

import dataclasses
import json
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sordino.accounting.budget import Budget, budget
from sordino.accounting.units import PER_DELTA
from sordino.errors import ArgumentError


@pytest.mark.parametrize(
    ("cap", "calculus"),
    [
        (budget(1), "pure"),
        (budget(epsilon="0.1", delta=0), "pure"),
        (budget(rho=0.5), "zcdp"),
        (budget(rho=0.5, delta=1e-9), "zcdp"),
        (budget(1, 1e-6), "renyi"),
    ],
)
def test_the_numbers_imply_the_calculus(cap: Budget, calculus: str) -> None:
    assert cap.calculus == calculus


def test_numbers_are_read_as_written() -> None:
    cap = Budget(epsilon=0.1, delta=1e-6)  # type: ignore[arg-type]
    assert cap == budget("0.1", "0.000001")
    assert (cap.epsilon, cap.delta) == (Fraction(1, 10), Fraction(1, 10**6))
    with pytest.raises(dataclasses.FrozenInstanceError):
        cap.epsilon = Fraction(2)  # type: ignore[misc]


def test_own_delta_and_the_rest_add_up() -> None:
    cap = budget(1, 1e-6)
    assert cap.own_delta_cap == 25 * 10**10
    assert cap.rest_delta + Fraction(cap.own_delta_cap, PER_DELTA) == cap.delta
    assert budget(1, 1e-6, own_delta_share=0).own_delta_cap == 0
    assert budget(1, 1e-6, own_delta_share=1).rest_delta == 0
    assert budget(rho=1, delta=1e-6).own_delta_cap == 10**12
    assert budget(1).own_delta_cap == 0


@pytest.mark.parametrize(
    ("wrong", "code"),
    [
        ({}, "SRD-A003"),
        ({"epsilon": 1, "rho": 1}, "SRD-A003"),
        ({"delta": 1e-6}, "SRD-A003"),
        ({"epsilon": 0}, "SRD-A002"),
        ({"epsilon": -1}, "SRD-A002"),
        ({"epsilon": float("nan")}, "SRD-A001"),
        ({"epsilon": float("inf")}, "SRD-A001"),
        ({"epsilon": True}, "SRD-A001"),
        ({"epsilon": 5e-324}, "SRD-A002"),
        ({"epsilon": "1e400"}, "SRD-A002"),
        ({"epsilon": 1, "delta": 1}, "SRD-A002"),
        ({"epsilon": 1, "delta": -1e-6}, "SRD-A002"),
        ({"epsilon": 1, "delta": 1e-19}, "SRD-A002"),
        ({"epsilon": 1, "delta": False}, "SRD-A001"),
        ({"rho": -0.0}, "SRD-A002"),
        ({"epsilon": 1, "delta": 1e-6, "own_delta_share": 1.5}, "SRD-A002"),
        ({"epsilon": 1, "own_delta_share": 0.5}, "SRD-A003"),
        ({"rho": 1, "delta": 1e-6, "own_delta_share": 0.5}, "SRD-A003"),
    ],
)
def test_bad_budgets_are_refused(wrong: dict[str, object], code: str) -> None:
    with pytest.raises(ArgumentError) as caught:
        budget(**wrong)  # type: ignore[arg-type]
    assert caught.value.code == code


positive = st.fractions(min_value=Fraction(1, 10**9), max_value=1000)


@settings(deadline=None, max_examples=100)
@given(positive, st.fractions(min_value=Fraction(1, 10**12), max_value=Fraction(1, 2)), st.fractions(0, 1))
def test_json_round_trip(epsilon: Fraction, delta: Fraction, share: Fraction) -> None:
    for cap in (budget(epsilon), budget(rho=epsilon, delta=delta), budget(epsilon, delta, own_delta_share=share)):
        assert Budget.from_json(cap.to_json()) == cap
        assert Budget.from_json(cap.to_json()).to_json() == cap.to_json()


def test_json_is_canonical() -> None:
    assert budget(1, 1e-6).to_json() == '{"delta":"1/1000000","epsilon":"1","own_delta_share":"1/4"}'


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "1",
        '{"epsilon":1}',
        '{"epsilon":1.0}',
        '{"epsilon":"1","colour":"2"}',
        '{"epsilon":"1/0"}',
        '{"epsilon":"1e9"}',
        '{"epsilon":"-1"}',
        '{"epsilon":null}',
        '{"delta":"0","epsilon":"1","epsilon":"5","own_delta_share":"1/4"}',
        '{"delta":"0","epsilon":"2/2","own_delta_share":"1/4"}',
        '{"delta": "0","epsilon":"1","own_delta_share":"1/4"}',
        '{"epsilon":"1"}',
        b'{"delta":"0","epsilon":"1","own_delta_share":"1/4"}',
        5,
        None,
        "[" * 100_000,
        json.dumps({"epsilon": "9" * 500}),
    ],
)
def test_other_texts_are_refused(text: Any) -> None:
    with pytest.raises(ArgumentError):
        Budget.from_json(text)


def test_a_wrong_budget_in_json_keeps_its_own_error() -> None:
    with pytest.raises(ArgumentError, match="give one of the two"):
        Budget.from_json('{"delta":"1/10"}')


def test_text() -> None:
    assert str(budget(1)) == "ε = 1"
    assert str(budget(1, 1e-6)) == "ε = 1, δ = 1e-06"
    assert str(budget(rho="0.5")) == "ρ = 0.5"
    assert str(budget(rho="0.5", delta=1e-9)) == "ρ = 0.5, δ = 1e-09"


def test_what_can_be_written_can_be_read_back() -> None:
    odd = budget(Fraction(10**3000 + 1, 10**3000))
    assert Budget.from_json(odd.to_json()) == odd
