"""Arguments: numbers are read as written, everything else is refused by name."""

from __future__ import annotations

import math
import sys
from decimal import Decimal
from fractions import Fraction
from types import ModuleType

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sordino.arguments import array, one_of, probability, rational, rounded_down, rounded_up, shape, whole
from sordino.errors import ArgumentError

NOT_NUMBERS = [True, False, np.True_, None, [], (), {}, object(), 1j, b"1", "", "x", "1/2", "--1", "0x10"]
NOT_FINITE = [math.nan, math.inf, -math.inf, np.float64("nan"), Decimal("NaN"), Decimal("Infinity"), "inf", "nan"]


@pytest.mark.parametrize(
    ("value", "exact"),
    [
        (0.1, Fraction(1, 10)),
        ("0.1", Fraction(1, 10)),
        (Decimal("0.10"), Fraction(1, 10)),
        (Fraction(1, 3), Fraction(1, 3)),
        (7, Fraction(7)),
        (np.int64(7), Fraction(7)),
        (np.float32(0.5), Fraction(1, 2)),
        (1e-7, Fraction(1, 10**7)),
        ("1e-6", Fraction(1, 10**6)),
        (-0.0, Fraction(0)),
        (2**70, Fraction(2**70)),
    ],
)
def test_numbers_are_read_as_written(value: object, exact: Fraction) -> None:
    assert rational("x", value) == exact


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_floats_are_their_shortest_decimal(value: float) -> None:
    assert rational("x", value) == Fraction(repr(value))
    assert float(rational("x", value)) == value


@pytest.mark.parametrize("value", NOT_NUMBERS + NOT_FINITE)
def test_what_is_no_number_is_refused_by_name(value: object) -> None:
    with pytest.raises(ArgumentError, match=r"the noise must be .*SRD-A001"):
        rational("the noise", value)


@pytest.mark.parametrize("value", ["1e400000", "1e-999", "1" * 401, "0." + "1" * 500])
def test_absurd_texts_are_refused(value: str) -> None:
    with pytest.raises(ArgumentError, match=r"absurdly.*SRD-A002"):
        rational("x", value)


def test_zero_with_an_absurd_exponent_is_zero() -> None:
    assert rational("x", "0e999") == 0


@pytest.mark.parametrize(
    ("limits", "good", "bad", "words"),
    [
        ({"above": 0}, "1e-9", 0, "greater than 0"),
        ({"least": 0}, 0, "-1e-9", "at least 0"),
        ({"most": 1}, 1, "1.0000001", "at most 1"),
    ],
)
def test_limits(limits: dict[str, int], good: object, bad: object, words: str) -> None:
    rational("x", good, **limits)
    with pytest.raises(ArgumentError, match=rf"x must be {words}.*SRD-A002"):
        rational("x", bad, **limits)


@pytest.mark.parametrize("value", [2.0, "2", True, np.True_, None, Fraction(2), Decimal(2), 2.5])
def test_whole_numbers_are_ints(value: object) -> None:
    with pytest.raises(ArgumentError, match=r"n must be a whole number.*SRD-A001"):
        whole("n", value)


def test_whole_limits() -> None:
    assert whole("n", np.int8(3), least=3, most=3) == 3
    assert type(whole("n", np.int8(3))) is int
    with pytest.raises(ArgumentError, match="at least 1"):
        whole("n", 0, least=1)
    with pytest.raises(ArgumentError, match="at most 9"):
        whole("n", 10, most=9)


@pytest.mark.parametrize(
    "value",
    [10**5000, -(10**5000), Fraction(10**5000), Fraction(1, 10**5000)],
    ids=["huge", "negative", "huge fraction", "tiny fraction"],
)
def test_numbers_that_python_will_not_print_are_refused_by_name(value: object) -> None:
    with pytest.raises(ArgumentError, match=r"x is absurdly.*SRD-A002"):
        rational("x", value, above=0, most=1)
    with pytest.raises(ArgumentError, match=r"n (is absurdly|must be a whole number)"):
        whole("n", value, most=9)


@pytest.mark.parametrize("value", [0, 1, -0.1, 1.1])
def test_probabilities_are_strictly_inside(value: object) -> None:
    with pytest.raises(ArgumentError, match="SRD-A002"):
        probability("p", value)


def test_a_probability() -> None:
    assert probability("p", "0.25") == Fraction(1, 4)


def test_words() -> None:
    assert one_of("calculus", "pure", ("pure", "renyi")) == "pure"
    with pytest.raises(ArgumentError, match=r"calculus must be one of 'pure', 'renyi', not 'other'"):
        one_of("calculus", "other", ("pure", "renyi"))


def test_shapes() -> None:
    assert shape("size", 3) == (3,)
    assert shape("size", (2, np.int64(0))) == (2, 0)
    for bad in (-1, (2, -1), 2.0, "3", (True,), [2], 10**30, 2**45, (2**30, 2**30), (2**62, 0), (1,) * 70):
        with pytest.raises(ArgumentError, match="size"):
            shape("size", bad)


@given(st.fractions())
def test_rounding_goes_where_its_name_says(value: Fraction) -> None:
    up, down = rounded_up(value), rounded_down(value)
    assert Fraction(down) <= value <= Fraction(up)
    assert up in (down, math.nextafter(down, math.inf))


def test_rounding_at_the_edges() -> None:
    huge, tiny = Fraction(10**400), Fraction(1, 10**400)
    largest = math.nextafter(math.inf, 0)
    assert (rounded_up(huge), rounded_down(huge)) == (math.inf, largest)
    assert (rounded_up(-huge), rounded_down(-huge)) == (-largest, -math.inf)
    assert (rounded_up(tiny), rounded_down(tiny)) == (5e-324, 0.0)
    assert (rounded_up(-tiny), rounded_down(-tiny)) == (0.0, -5e-324)


def test_masks_are_no_trouble_while_another_thread_loads_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "numpy.ma", ModuleType("numpy.ma"))  # as it is before its first line has run
    assert array("value", [1, 2]).tolist() == [1, 2]
