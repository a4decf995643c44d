"""Clipping: total on every float and int, exact on the grid, and a bound that holds for sums on neighbours."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from sordino.accounting.bound import Unit
from sordino.accounting.neighbours import Neighbours
from sordino.errors import ArgumentError
from sordino.mechanisms.clipping import ClipNorm, ClipValues
from sordino.mechanisms.grid import INTEGERS, Grid

any_float = st.floats(allow_nan=True, allow_infinity=True, allow_subnormal=True)
rows = arrays(np.float64, st.tuples(st.integers(1, 6), st.just(3)), elements=any_float)
CANARY = 1234567.25


def exact(values: Any) -> list[Fraction]:
    return [Fraction(value) for value in np.asarray(values).ravel().tolist()]


class TestValues:
    @given(values=st.lists(any_float, min_size=1, max_size=20))
    def test_every_float_ends_within_the_bounds_and_on_the_grid(self, values: list[float]) -> None:
        clip = ClipValues("-0.1", "0.7")
        for value in exact(clip.apply(values)):
            assert Fraction(-1, 10) <= value <= Fraction(7, 10)
            assert (value / clip.grid.step).denominator == 1

    @given(values=st.lists(st.integers(-(2**63), 2**63 - 1), min_size=1, max_size=20))
    def test_every_int_does_too(self, values: list[int]) -> None:
        array = np.array(values, dtype=np.int64)
        whole = ClipValues(-7, 1000, INTEGERS).apply(array)
        assert whole.dtype == np.int64
        assert whole.tolist() == [max(-7, min(1000, value)) for value in values]
        clip = ClipValues("-2.5", "2.5")
        assert clip.apply(array).tolist() == [max(-2.5, min(2.5, value)) for value in values]

    def test_small_and_unsigned_kinds(self) -> None:
        assert ClipValues(-1, 300, INTEGERS).apply(np.array([-128, 127], dtype=np.int8)).tolist() == [-1, 127]
        assert ClipValues(0, 5, INTEGERS).apply(np.array([2**64 - 1, 3], dtype=np.uint64)).tolist() == [5, 3]
        assert ClipValues(0, 5).apply(np.array([np.nan, 3], dtype=np.float16)).tolist() == [2.5, 3.0]

    @pytest.mark.parametrize(("missing", "expected"), [(None, 5.0), (0, 0.0), (10, 10.0)])
    def test_nan_counts_as_declared(self, missing: Any, expected: float) -> None:
        assert ClipValues(0, 10, missing=missing).apply([float("nan")]).tolist() == [expected]

    @given(values=st.lists(any_float, min_size=1, max_size=20), replacement=any_float)
    @settings(max_examples=60)
    def test_a_sum_moves_by_no_more_than_the_bound_under_each_relation(
        self, values: list[float], replacement: float
    ) -> None:
        clip = ClipValues("-0.3", "1.1")
        before = Fraction(clip.total(values))
        without = Fraction(clip.total(values[1:])) if values[1:] else Fraction(0)
        replaced = Fraction(clip.total([replacement, *values[1:]]))
        assert abs(before - without) <= clip.bound().linf
        assert abs(before - without) <= clip.bound(Neighbours.ZERO_OUT).linf
        assert abs(before - replaced) <= clip.bound(Neighbours.REPLACE_ONE).linf

    def test_bounds(self) -> None:
        clip = ClipValues(-3, 1)
        assert clip.bound().l1 == 3
        assert clip.bound(Neighbours.REPLACE_ONE).l1 == 4
        assert clip.bound(Neighbours.ZERO_OUT, Unit("person")).unit == Unit("person")

    def test_an_emptied_place_may_be_a_zero_or_a_nan_or_gone(self) -> None:
        clip = ClipValues(-10, 10, missing=Fraction(10))
        reach = clip.bound(Neighbours.ZERO_OUT).linf
        for emptied in ([float("nan")], [0.0], []):
            assert abs(clip.total([-10.0]) - clip.total(emptied)) <= reach
        assert ClipValues(-10, 10).bound(Neighbours.ZERO_OUT).linf == 10

    @pytest.mark.parametrize("other", [1.5, 2**63, -1])
    def test_one_record_of_another_kind_changes_nothing_for_the_rest(self, other: float) -> None:
        # NumPy reads a list of ints as floats if one of them is a float or a large one; these ints are no floats.
        clip = ClipValues(0, 2**56, Grid(53))
        rest = [3 * 2**52 - 1] * 1000
        moved = Fraction(clip.total([*rest, other])) - Fraction(clip.total(rest))
        assert abs(moved) <= clip.bound().linf

    def test_sums_do_not_depend_on_order_nor_lose_small_values(self) -> None:
        values = np.array([1e16, 1.0, -1e16, 0.5] * 1000)
        clip = ClipValues(-1000, 1000)
        assert clip.total(values) == 1500.0 == clip.total(values[::-1])

    def test_huge_totals_stop_instead_of_wrapping(self) -> None:
        clip = ClipValues(0, 2**52, INTEGERS)
        many = np.full(2**11, 2**52)
        assert clip.total(many) == 2**62
        assert clip.total(many[:8]) == 2**55
        fine = ClipValues(0, 1, Grid(-52))
        assert fine.total(np.ones(8)) == 2.0
        assert fine.total([1.0, 0.5]) == 1.5

    def test_the_total_lies_on_the_grid_exactly(self) -> None:
        clip = ClipValues(0, 10)
        assert clip.grid.exact
        clip.grid.to_steps(clip.total(np.linspace(0, 11, 1001)))

    @pytest.mark.parametrize(
        ("low", "high", "grid"),
        [
            (1, 1, None),
            (2, 1, None),
            (0, "nan", None),
            (True, 2, None),
            (0, 1, Grid(1)),
            (0, 1, Grid(-53)),
            (0, None, None),
        ],
    )
    def test_absurd_bounds_are_refused(self, low: Any, high: Any, grid: Any) -> None:
        with pytest.raises(ArgumentError):
            ClipValues(low, high, grid)
        with pytest.raises(ArgumentError, match="missing"):
            ClipValues(0, 1, missing=Fraction(2))

    @pytest.mark.parametrize("values", [["a"], [None], [True], [1j], np.array([CANARY], dtype=object)])
    def test_other_kinds_are_refused_in_silence(self, values: Any) -> None:
        with pytest.raises(ArgumentError, match="SRD-A001") as caught:
            ClipValues(0, 1).apply(values)
        assert "1234567" not in str(caught.value)


@pytest.mark.parametrize("order", [1, 2])
class TestNorms:
    @given(vectors=rows)
    @settings(max_examples=60)
    def test_no_vector_exceeds_the_radius_whatever_it_holds(self, order: int, vectors: Any) -> None:
        clip = ClipNorm(order, "0.7", coordinates=3)
        for row in clip.apply(vectors):
            assert sum(abs(value) ** order for value in exact(row)) <= Fraction(7, 10) ** order

    @given(vectors=arrays(np.float64, (4, 3), elements=st.floats(-1e3, 1e3)))
    @settings(max_examples=60)
    def test_short_vectors_stay_and_long_ones_keep_their_direction(self, order: int, vectors: Any) -> None:
        clip = ClipNorm(order, 1, coordinates=3)
        norms = np.linalg.norm(vectors, ord=order, axis=1, keepdims=True)
        expected = vectors / np.maximum(norms, 1.0)
        assert np.abs(clip.apply(vectors) - expected).max() <= 2.5 * float(clip.grid.step)

    @given(vectors=rows, replacement=arrays(np.float64, 3, elements=any_float))
    @settings(max_examples=40)
    def test_a_sum_moves_by_no_more_than_the_bound(self, order: int, vectors: Any, replacement: Any) -> None:
        clip = ClipNorm(order, "0.7", coordinates=3)
        total = exact(clip.total(vectors))
        without = exact(clip.total(vectors[1:]))
        replaced = exact(clip.total(np.vstack([replacement[None], vectors[1:]])))
        for other, relation in ((without, Neighbours.ADD_REMOVE), (replaced, Neighbours.REPLACE_ONE)):
            bound = clip.bound(relation)
            moves = [abs(a - b) for a, b in zip(total, other, strict=True)]
            assert sum(moves) <= bound.l1
            assert sum(move * move for move in moves) <= bound.l2_squared
            assert max(moves) <= bound.linf

    def test_each_row_is_clipped_by_itself_in_any_layout(self, order: int) -> None:
        # How NumPy adds up a row depends on the layout and on how many rows there are; the radius is on the edge.
        vectors = np.asfortranarray(np.random.default_rng(order).normal(size=(60, 40)))
        vectors /= np.abs(vectors).max(axis=1, keepdims=True)
        norms = (np.abs(vectors) ** order).sum(axis=1) ** (1 / order)
        for place, norm in enumerate(norms.tolist()):
            clip = ClipNorm(order, Fraction(1000 * norm), 40, INTEGERS)
            vector = 5000 * vectors[place]
            assert np.array_equal(clip.apply(5000 * vectors)[place], clip.apply(vector))

    def test_vectors_within_the_radius_that_lie_on_the_grid_stay_as_they_are(self, order: int) -> None:
        clip = ClipNorm(order, 1000, 3, INTEGERS)
        vectors = np.random.default_rng(order).integers(-300, 300, (2000, 3))
        assert np.array_equal(clip.apply(vectors), vectors)

    def test_zero_vectors_and_no_vectors(self, order: int) -> None:
        clip = ClipNorm(order, 1, coordinates=2)
        assert clip.apply(np.zeros((2, 2))).tolist() == [[0, 0], [0, 0]]
        assert clip.apply(np.zeros((0, 2))).shape == (0, 2)
        assert clip.total(np.zeros((0, 2))).tolist() == [0, 0]
        assert clip.apply([np.nan, np.nan]).tolist() == [0, 0]
        assert clip.apply([np.inf, 1.0]).tolist() == [1.0, 0.0]

    def test_the_bound_names_the_norm(self, order: int) -> None:
        clip = ClipNorm(order, 3, coordinates=100)
        norm = clip.bound().l1 if order == 1 else clip.bound().l2_squared
        assert norm == 3**order
        assert clip.bound(Neighbours.ZERO_OUT).linf == 3
        assert clip.bound(Neighbours.REPLACE_ONE).linf == 6

    def test_where_floats_are_off_integers_decide(self, order: int) -> None:
        clip = ClipNorm(order, 1, coordinates=3)
        over = np.array([[2**20, 5, 0], [2**20, 0, 0], [2**20 + 2, 1, -3]])
        shrunk = clip._shrink(over.copy())
        assert shrunk[1].tolist() == [2**20, 0, 0]
        norms = np.abs(shrunk).sum(axis=1) if order == 1 else (shrunk**2).sum(axis=1)
        assert norms.max() <= 2 ** (20 * order)
        assert np.abs(shrunk - over).max() <= 6

    @pytest.mark.parametrize("vectors", [np.zeros((2, 3)), np.zeros(3), 1.0, np.zeros((1, 1, 2)), [["a", "b"]]])
    def test_wrong_shapes_are_refused(self, order: int, vectors: Any) -> None:
        with pytest.raises(ArgumentError):
            ClipNorm(order, 1, coordinates=2).apply(vectors)


@pytest.mark.parametrize(
    "arguments", [(3, 1, 2), (0, 1, 2), (2, 0, 2), (2, -1, 2), (2, 1, 0), (2, 1, 2, Grid(3)), (2, 1, 2, Grid(-40))]
)
def test_absurd_norm_clipping_is_refused(arguments: Any) -> None:
    with pytest.raises(ArgumentError):
        ClipNorm(*arguments)
