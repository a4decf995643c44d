"""The grid: exact rounding, and a sensitivity that pays for it."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sordino.accounting.bound import Bound
from sordino.errors import ArgumentError
from sordino.mechanisms.grid import INTEGERS, LIMIT, Grid, floor_log2, root_rounded_up

CANARY = 1234567.890625
floats = st.floats(-1e6, 1e6)
exponents = st.integers(-12, 12)


def half_up(value: Fraction) -> int:
    return math.floor(value + Fraction(1, 2))


@given(value=st.floats(-1e15, 1e15), exponent=exponents)
def test_a_float_goes_to_the_nearest_step_and_halves_go_up(value: float, exponent: int) -> None:
    grid = Grid(exponent)
    expected = half_up(Fraction(value) / grid.step)
    assert grid.to_steps(value) == expected
    assert grid.to_steps(np.array([value])).tolist() == [expected]


@pytest.mark.parametrize("value", [0.49999999999999994, -0.49999999999999994, -0.5, 0.5, 1.5, 2.5, -1.5, 2**52 + 1.0])
@pytest.mark.parametrize("offset", [-1, 0, 1])
def test_rounding_commutes_with_whole_steps_at_the_awkward_floats(value: float, offset: int) -> None:
    grid = Grid(0)
    assert grid.to_steps(value) == half_up(Fraction(value))
    assert grid.to_steps(np.array([value, value + offset])).tolist() == [
        half_up(Fraction(value)),
        half_up(Fraction(value + offset)),
    ]


@given(value=st.integers(-(2**49), 2**49), exponent=exponents)
def test_an_int_goes_to_the_nearest_step_exactly(value: int, exponent: int) -> None:
    grid = Grid(exponent)
    expected = half_up(value / grid.step)
    assert grid.to_steps(value) == expected
    assert grid.to_steps(np.array([value])).tolist() == [expected]


@pytest.mark.parametrize("exponent", [1, 2, 61, 62, 63, 64, 65, 900])
@pytest.mark.parametrize("value", [0, 1, -1, 2**62, -(2**62), 2**63 - 1, -(2**63) + 1, 2**61])
def test_ints_on_coarse_grids_do_not_overflow(value: int, exponent: int) -> None:
    grid = Grid(exponent)
    expected = half_up(value / grid.step)
    assert grid.to_steps(value) == expected
    assert grid.to_steps(np.array([value])).tolist() == [expected]


@given(steps=st.integers(-(2**52), 2**52), exponent=exponents)
def test_steps_survive_the_way_through_an_answer(steps: int, exponent: int) -> None:
    grid = Grid(exponent)
    assert grid.to_steps(grid.from_steps(steps)) == steps
    array = np.array([steps, -steps])
    assert grid.to_steps(grid.from_steps(array)).tolist() == array.tolist()


def test_whole_numbers_stay_whole() -> None:
    assert INTEGERS.to_steps(7) == 7
    assert type(INTEGERS.from_steps(7)) is int
    assert INTEGERS.from_steps(np.array([7])).dtype == np.int64
    assert type(Grid(0).from_steps(7)) is float
    assert INTEGERS.to_steps(np.int32(7)) == 7
    assert INTEGERS.to_steps(np.array([7], dtype=np.uint8)).dtype == np.int64
    assert INTEGERS.to_steps(np.array([], dtype=np.int64)).tolist() == []
    assert Grid(-1).to_steps(np.float32(0.5)) == 1
    assert Grid(-1).to_steps([0.5, 1.0]).tolist() == [1, 2]
    assert Grid(-1).to_steps(np.array(0.5)).shape == ()


@pytest.mark.parametrize("exponent", [-900, -62, -10, -1, 0, 1, 10, 62, 900])
@pytest.mark.parametrize(
    "value", [math.inf, -math.inf, 1e300, -1e300, math.nan, 2.0**63, 2**63, -(2**63), 2**63 - 1, 2**62 + 1, 3, -3, 0]
)
def test_no_number_is_refused_and_arrays_stop_where_numbers_do(value: float, exponent: int) -> None:
    """⌊x + ½⌋ in exact arithmetic, stopped at ±2^62; NaN counts as 0."""
    grid = Grid(exponent)
    if math.isnan(value):
        expected = 0
    elif math.isinf(value):
        expected = int(math.copysign(LIMIT, value))
    else:
        expected = max(-LIMIT, min(LIMIT, math.floor(Fraction(value) / grid.step + Fraction(1, 2))))
    assert grid.to_steps(value) == expected
    assert grid.to_steps([value]).tolist() == [expected]
    assert grid.to_steps([[value, value]]).tolist() == [[expected, expected]]
    if type(value) is int and value >= 0:
        assert grid.to_steps(np.array([value], dtype=np.uint64)).tolist() == [expected]


def test_lists_of_whole_numbers_beyond_64_bits_are_stopped_like_others() -> None:
    for values in ([2**70, -(2**70)], [2**63, -1], [2**400, 5]):
        stopped = [max(-LIMIT, min(LIMIT, value)) for value in values]
        assert INTEGERS.to_steps(values).tolist() == stopped


@pytest.mark.parametrize(
    "value",
    [True, np.array([True]), "1", None, [None], 1j, np.array(["1"]), np.array([1], dtype=object), {}, [[1], [1, 2]]],
)
def test_what_is_of_another_kind_is_refused(value: Any) -> None:
    with pytest.raises(ArgumentError, match="SRD-A001"):
        Grid(-10).to_steps(value)


@pytest.mark.parametrize(
    "value", [LIMIT + 1, -LIMIT - 1, 2**400, np.array([LIMIT + 1]), np.array([2**63 + 5], dtype="u8")]
)
def test_integers_beyond_the_limit_are_stopped(value: Any) -> None:
    for grid in (INTEGERS, Grid(-3)):
        assert np.abs(grid.to_steps(value)) == LIMIT
    assert INTEGERS.to_steps(np.array([LIMIT, -LIMIT])).tolist() == [LIMIT, -LIMIT]
    assert INTEGERS.to_steps(-LIMIT) == -LIMIT


def test_the_largest_floats_are_stopped_without_a_warning_and_the_smallest_are_zero() -> None:
    assert Grid(-900).to_steps(np.array([1.7e308, -1.7e308])).tolist() == [LIMIT, -LIMIT]
    assert Grid(-900).to_steps(1.7e308) == LIMIT
    assert Grid(900).to_steps(5e-324) == 0
    assert Grid(900).to_steps(np.array([5e-324, -5e-324])).tolist() == [0, 0]


@pytest.mark.parametrize("value", [CANARY, np.array([CANARY])])
def test_refusals_are_silent_about_the_value(value: Any) -> None:
    with pytest.raises(ArgumentError) as caught:
        INTEGERS.to_steps(value)
    assert "1234567" not in str(caught.value)
    assert "1234567" not in repr(caught.value.__cause__)


def test_an_exact_grid_takes_what_lies_on_it_and_rounds_what_does_not() -> None:
    grid = Grid(-2, exact=True)
    assert grid.to_steps(0.75) == 3
    assert grid.to_steps(np.array([0.75, -1.0])).tolist() == [3, -4]
    assert Grid(2, exact=True).to_steps(np.array([8, -4])).tolist() == [2, -1]
    assert grid.to_steps(0.7) == 3
    assert Grid(2, exact=True).to_steps([9, -3]).tolist() == [2, -1]


@pytest.mark.parametrize("exponent", [901, -901, 1.5, True, "3", None])
def test_absurd_grids_are_refused(exponent: Any) -> None:
    with pytest.raises(ArgumentError):
        Grid(exponent)
    with pytest.raises(ArgumentError, match="exact"):
        Grid(0, exact=1)  # type: ignore[arg-type]


@settings(max_examples=200, deadline=None)
@given(
    data=st.lists(st.tuples(floats, st.floats(-50, 50)), min_size=1, max_size=6),
    exponent=st.integers(-3, 6),
)
def test_steps_move_by_no_more_than_the_sensitivity_claims(data: list[tuple[float, float]], exponent: int) -> None:
    before = [Fraction(a) for a, _ in data]
    after = [Fraction(a + move) for a, move in data]
    moves = [abs(b - a) for a, b in zip(before, after, strict=True)]
    moved = [move for move in moves if move]
    if not moved:
        return
    bound = Bound(len(moved), sum(moved, Fraction(0)), sum((m * m for m in moved), Fraction(0)), max(moved))
    grid = Grid(exponent)
    claimed = grid.sensitivity(bound)
    steps = [abs(grid.to_steps(float(b)) - grid.to_steps(float(a))) for a, b in zip(before, after, strict=True)]
    assert sum(steps) <= claimed.l1
    assert sum(s * s for s in steps) <= claimed.l2_squared
    assert max(steps) <= claimed.linf
    assert sum(s > 0 for s in steps) <= claimed.l0


def test_the_sensitivity_is_attained_in_the_worst_case() -> None:
    claimed = Grid(0).sensitivity(Bound.vector(l0=3, linf=Fraction(1, 10)))
    assert (claimed.l1, claimed.l2_squared, claimed.linf) == (3, 3, 1)  # 0.45 → 0.55 in each coordinate
    assert Grid(0).sensitivity(Bound.scalar(1)).l1 == 1  # whole moves of one coordinate cost nothing more
    assert Grid(0).sensitivity(Bound.scalar("1.2")).l1 == 2  # 0.4 → 1.6


def test_masked_values_are_refused_because_they_would_count() -> None:
    with pytest.raises(ArgumentError, match="masked"):
        Grid(-3).to_steps(np.ma.masked_array([1.0, 2.0], mask=[False, True]))


def test_a_refusal_of_texts_does_not_tell_how_long_they_are() -> None:
    texts = []
    for value in (["a"], ["a much longer one"]):
        with pytest.raises(ArgumentError) as caught:
            INTEGERS.to_steps(value)
        texts.append(str(caught.value))
    assert texts[0] == texts[1]


def test_half_even_and_half_away_would_break_the_claim() -> None:
    assert abs(round(1.5) - round(0.5)) == 2  # why neither is used here
    assert Grid(0).to_steps(1.5) - Grid(0).to_steps(0.5) == 1
    assert Grid(0).to_steps(0.5) - Grid(0).to_steps(-0.5) == 1


def test_exact_grids_pay_for_no_rounding() -> None:
    bound = Bound.vector(l0=3, linf=1)
    assert INTEGERS.sensitivity(bound) == Grid(0, exact=True).sensitivity(bound)
    assert (INTEGERS.sensitivity(bound).l1, INTEGERS.sensitivity(bound).l2_squared) == (3, 3)
    moved = Grid(-2, exact=True).sensitivity(Bound.scalar("0.8"))  # 3.2 steps, whole ones only
    assert (moved.l1, moved.l2_squared, moved.linf) == (3, 9, 3)
    pair = INTEGERS.sensitivity(Bound.vector(l0=2, linf="1.9"))
    assert (pair.l1, pair.l2_squared, pair.linf) == (2, 2, 1)
    with pytest.raises(ArgumentError, match=r"Grid\.fitting"):
        INTEGERS.sensitivity(Bound.scalar("0.5"))


@given(value=st.fractions(Fraction(1, 10**6), 10**6))
def test_logarithms_and_roots_are_on_the_safe_side(value: Fraction) -> None:
    power = floor_log2(value)
    assert Fraction(2) ** power <= value < Fraction(2) ** (power + 1)
    root = root_rounded_up(value)
    assert value <= root**2 <= value * (1 + Fraction(1, 2**62))
    tiny = value / 10**40
    assert tiny <= root_rounded_up(tiny**2) <= tiny * (1 + Fraction(1, 2**62))


def test_a_fitting_grid_is_a_thousand_times_finer_than_noise_and_sensitivity() -> None:
    assert Grid.fitting(1) == Grid(-10)
    assert Grid.fitting(1000, Bound.scalar(1)) == Grid(-10)
    assert Grid.fitting("0.75") == Grid(-11)
    bound = Bound.vector(l0=8, linf=3)
    paid = Grid.fitting(100, bound).sensitivity(bound).l1 * Grid.fitting(100, bound).step
    assert bound.l1 <= paid <= bound.l1 * (1 + Fraction(1, 1000))
    wide = Bound.vector(l0=10**6, l2=1)
    paid = Grid.fitting(100, wide).sensitivity(wide).l2_squared * Grid.fitting(100, wide).step ** 2
    assert 1 <= paid <= 1 + Fraction(1, 200)
