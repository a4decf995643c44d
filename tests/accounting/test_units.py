from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sordino.accounting.units import (
    LARGEST_CAP,
    PER_DELTA,
    PER_EPSILON,
    SATURATED,
    cap_rounded_down,
    decimal_text,
    exact,
    price_rounded_up,
    times,
    total,
    units_rounded_up,
)
from sordino.errors import ArgumentError


def test_ten_times_a_tenth_is_one() -> None:
    tenth = price_rounded_up("epsilon", 0.1, PER_EPSILON)
    assert 10 * tenth == cap_rounded_down("epsilon", 1.0, PER_EPSILON) == 10**12


def test_a_million_tiny_prices_cost_a_unit_each() -> None:
    assert price_rounded_up("epsilon", 1e-17, PER_EPSILON) == 1
    assert times(price_rounded_up("epsilon", "1e-17", PER_EPSILON), 10**6) == 10**6


def test_the_smallest_float_is_a_price_of_one_unit_and_no_cap() -> None:
    assert price_rounded_up("epsilon", 5e-324, PER_EPSILON) == 1
    with pytest.raises(ArgumentError, match="too small") as caught:
        cap_rounded_down("epsilon", 5e-324, PER_EPSILON)
    assert caught.value.code == "SRD-A002"


@pytest.mark.parametrize("value", [float("nan"), float("inf"), -float("inf"), 0, -1, -0.0, 0.0, True, False, "x", None])
@pytest.mark.parametrize("read", [cap_rounded_down, price_rounded_up])
def test_what_is_not_a_positive_number_is_refused(value: object, read: object) -> None:
    with pytest.raises(ArgumentError, match="epsilon"):
        read("epsilon", value, PER_EPSILON)  # type: ignore[operator]


@pytest.mark.parametrize("value", ["1e400", 10**30, "4611686.018427387903"])
def test_caps_beyond_64_bits_are_refused(value: object) -> None:
    with pytest.raises(ArgumentError, match=r"too large|absurdly"):
        cap_rounded_down("epsilon", value, PER_EPSILON)  # type: ignore[arg-type]


def test_the_largest_cap_is_held_and_prices_beyond_it_saturate() -> None:
    assert cap_rounded_down("epsilon", exact(LARGEST_CAP, PER_EPSILON), PER_EPSILON) == LARGEST_CAP
    assert price_rounded_up("epsilon", "1e399", PER_EPSILON) == SATURATED > LARGEST_CAP
    assert SATURATED + SATURATED < 2**63


@pytest.mark.parametrize("value", [float("inf"), float("nan")])
def test_costs_that_nobody_knows_saturate(value: float) -> None:
    assert units_rounded_up(value, PER_EPSILON) == SATURATED


def test_a_negative_cost_is_refused_and_zero_is_free() -> None:
    assert units_rounded_up(0.0, PER_EPSILON) == units_rounded_up(Fraction(0), PER_DELTA) == 0
    with pytest.raises(ArgumentError, match="negative"):
        units_rounded_up(-1e-300, PER_EPSILON)


def test_sums_stop_instead_of_wrapping_around() -> None:
    assert total(SATURATED, SATURATED) == total(SATURATED - 1, 5) == SATURATED
    assert times(2**40, 2**40) == SATURATED
    assert total(3, 4) == 7


@pytest.mark.parametrize(
    ("units", "per", "text"),
    [
        (10**11, PER_EPSILON, "0.1"),
        (10**12, PER_EPSILON, "1"),
        (1, PER_DELTA, "0.000000000000000001"),
        (0, PER_DELTA, "0"),
    ],
)
def test_units_print_as_exact_decimals(units: int, per: int, text: str) -> None:
    assert decimal_text(units, per) == text


def test_saturated_prints_as_words() -> None:
    assert decimal_text(SATURATED, PER_EPSILON) == "more than any budget"


@settings(deadline=None, max_examples=200)
@given(st.integers(1, LARGEST_CAP), st.sampled_from([PER_EPSILON, PER_DELTA]))
def test_text_reads_back(units: int, per: int) -> None:
    assert Fraction(Decimal(decimal_text(units, per))) * per == units
    assert cap_rounded_down("cap", decimal_text(units, per), per) == units


@settings(deadline=None, max_examples=200)
@given(st.fractions(min_value=Fraction(1, 10**15), max_value=1000))
def test_caps_round_down_and_prices_up(value: Fraction) -> None:
    price = price_rounded_up("price", value, PER_EPSILON)
    assert exact(price, PER_EPSILON) >= value > exact(price - 1, PER_EPSILON)
    if value * PER_EPSILON >= 1:
        cap = cap_rounded_down("cap", value, PER_EPSILON)
        assert exact(cap, PER_EPSILON) <= value < exact(cap + 1, PER_EPSILON)


@settings(deadline=None, max_examples=200)
@given(st.floats(min_value=0, max_value=1e6))
def test_floats_of_curves_are_taken_as_they_are(value: float) -> None:
    units = units_rounded_up(value, PER_EPSILON)
    assert units - 1 < Fraction(value) * PER_EPSILON <= units
