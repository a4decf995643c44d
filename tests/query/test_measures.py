"""Steps and buckets: within their range for every float and every range, and right to the last unit."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from query import exact_reference
from query.engines import Engine
from query.exact_worlds import HOSTILE_INTEGERS, HOSTILE_REALS, INT_MAX, INT_MIN, key, load, reference, run, task, visit
from sordino.data.kinds import Kind, Range
from sordino.query.model.bounding import Bounding
from sordino.query.model.expression import Call, Literal
from sordino.query.model.task import Histogram, Measure, Monomial

EXAMPLES = {"duckdb": 60, "postgres": 60, "spark": 4}
SUM = (Monomial((1,), frozenset({0})),)
RANGES = [(0, 1), (-1, 1), (0, 1000), (-1e150, 1e150), (0, 1e-150), (1e16, 1e16 + 8), (0, 0), (-5e-324, 5e-324), (3, 7)]


def steps_of(engine: Engine, measure: Measure, values: list[Any]) -> list[int]:
    """Return the step of each value, by a group for each."""
    column = measure.expression.columns
    rows = [visit(None, level=place, **dict.fromkeys(column, value)) for place, value in enumerate(values)]
    asked = task(Bounding("row", rows=1), key("level", *range(len(values))), measures=(measure,), monomials=SUM)
    return [int(value) for value in run(asked, load(engine, rows)).sums[0]]


def checked(engine: Engine) -> Any:
    return settings(
        max_examples=EXAMPLES[engine.name], deadline=None, suppress_health_check=list(HealthCheck), database=None
    )


@pytest.mark.parametrize("steps", [1, 2**20, 2**52 + 1])
def test_no_real_leaves_its_steps_nor_raises(engine: Engine, steps: int) -> None:
    ranges = RANGES[::3] if engine.name == "spark" else RANGES
    for low, high in ranges:
        measure = Measure(reference("x"), Range(Fraction(low), Fraction(high)), steps, missing_is_middle=False)
        values = [*HOSTILE_REALS, low, high, math.nextafter(high, -math.inf), (low + high) / 2, 1e-200]
        found = steps_of(engine, measure, values)
        assert all(abs(step) <= steps for step in found)
        reach = steps if high - low > 1e-300 else 0  # floats have no number for steps / width below that
        assert all(reach - (steps > 2**52) <= end <= reach for end in (found[1], -found[2]))


def test_reals_are_right_to_a_step(engine: Engine) -> None:
    @checked(engine)
    @given(
        st.lists(st.floats(), min_size=1, max_size=10),
        st.floats(-1e9, 1e9),
        st.floats(1e-3, 1e9),
        st.sampled_from([1, 7, 2**10, 2**20]),
    )
    def holds(values: list[float], low: float, width: float, steps: int) -> None:
        bounds = Range(Fraction(low), Fraction(low) + Fraction(width))
        measure = Measure(reference("x"), bounds, steps, missing_is_middle=False)
        for value, found in zip(values, steps_of(engine, measure, values), strict=True):
            if not math.isnan(value):
                place = exact_reference.clipped(value, bounds.low, bounds.high) - bounds.middle
                blur = Fraction(4 * math.ulp(float(bounds.reach))) * steps / bounds.half
                assert abs(found - place * steps / bounds.half) <= Fraction(51, 100) + blur
                assert abs(found) <= steps

    holds()


@pytest.mark.parametrize(
    "bounds", [(0, 7), (-1, 0), (INT_MIN // 4, INT_MIN // 4 + 9), (2**53, 2**53 + 11), (-(2**50), 2**50), (5, 5)]
)
def test_integers_with_whole_bounds_are_exact(engine: Engine, bounds: tuple[int, int]) -> None:
    low, high = bounds
    measure = Measure(reference("n"), Range.of(low, high), max(high - low, 1), missing_is_middle=False)
    values = [*HOSTILE_INTEGERS, low, low + 1, high - 1, high, high + 1]
    assert steps_of(engine, measure, values) == [exact_reference.step(measure, visit(0, n=n)) or 0 for n in values]


@pytest.mark.parametrize("bounds", [(0, 100), (INT_MIN, INT_MAX)])
def test_integers_with_coarse_steps_are_right_to_a_step(engine: Engine, bounds: tuple[int, int]) -> None:
    measure = Measure(reference("n"), Range.of(*bounds), 9, missing_is_middle=True)
    expected = [exact_reference.step(measure, visit(0, n=n)) for n in HOSTILE_INTEGERS]
    assert steps_of(engine, measure, list(HOSTILE_INTEGERS)) == expected


@pytest.mark.parametrize(("low", "high", "buckets"), [(0, 1000, 7), (-1e150, 1e150, 3), (0, 1e-150, 4), (2, 2, 3)])
def test_no_real_leaves_its_buckets_nor_raises(engine: Engine, low: float, high: float, buckets: int) -> None:
    values = [*HOSTILE_REALS, low, high, 1e-200]
    histogram = Histogram(reference("x"), Range(Fraction(low), Fraction(high)), buckets)
    asked = task(Bounding("row", rows=1), measures=(), monomials=(), histograms=(histogram,))
    found = run(asked, load(engine, [visit(None, x=value) for value in values])).histograms[0]
    assert found[:, 2].sum() == sum(value is not None and not math.isnan(value) for value in values)
    assert set(found[:, 1]) <= set(range(buckets))
    assert (buckets - 1 in found[:, 1]) == (high > low)


def test_a_step_is_an_integer_of_64_bits_whatever_its_constants(engine: Engine) -> None:
    """A CASE of small constants is an integer of 32 bits to the engines, and its double may not be."""
    condition = Call(Kind.BOOLEAN, "is_null", (reference("city"),))
    constants = (Literal(Kind.INTEGER, 2_000_000_000), Literal(Kind.INTEGER, 0))
    expression = Call(Kind.INTEGER, "case", (condition, *constants))
    measure = Measure(expression, Range.of(0, 2_000_000_000), 2_000_000_000, missing_is_middle=True)
    asked = task(Bounding("row", rows=1), measures=(measure,), monomials=SUM)
    table = load(engine, [visit(1, city=None), visit(1, city=None), visit(1)])
    assert run(asked, table).sums.tolist() == [[2_000_000_000]]
