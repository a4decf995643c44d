"""The Laplace mechanism: event, verbs, law, and what it refuses."""

from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sordino.accounting import events, pure
from sordino.accounting.bound import Bound
from sordino.accounting.grant import Grant
from sordino.accounting.neighbours import Neighbours
from sordino.errors import ArgumentError, GrantError
from sordino.mechanisms.checks.draws import CHANCE, fit
from sordino.mechanisms.clipping import ClipValues
from sordino.mechanisms.grid import INTEGERS, Grid
from sordino.mechanisms.laplace import Laplace
from sordino.mechanisms.mechanism import Mechanism

ONE = Bound.scalar(1)
CANARY = 1234567.25


def grant(mechanism: Laplace, bound: Bound = ONE) -> Grant:
    return Grant(mechanism.event(bound), bound)


def law(scale: float, reach: int) -> dict[int, float]:
    weight = math.tanh(1 / (2 * scale))
    return {k: weight * math.exp(-abs(k) / scale) for k in range(-reach, reach + 1)}


def test_it_keeps_the_contract() -> None:
    assert isinstance(Laplace(2), Mechanism)
    assert Laplace(2) == Laplace(Fraction(2), INTEGERS)
    assert hash(Laplace(2)) == hash(Laplace("2.0"))


def test_events_of_counts_name_scale_and_sensitivity() -> None:
    assert Laplace(2).event(ONE) == events.DiscreteLaplace(2, 1, 1)
    assert Laplace("0.1").event(Bound.vector(l0=3, linf=2)) == events.DiscreteLaplace(Fraction(1, 10), 6, 3)
    assert Laplace(4).event(Bound.scalar(1).replacing()) == events.DiscreteLaplace(4, 2, 2)


def test_events_of_reals_are_in_steps_and_pay_for_rounding() -> None:
    assert Laplace(2, Grid(-3)).event(ONE) == events.DiscreteLaplace(16, 8, 1)
    assert Laplace(2, Grid(-3)).event(Bound.scalar("0.9")) == events.DiscreteLaplace(16, 8, 1)
    assert Laplace(2, Grid(-3)).event(Bound.vector(l0=2, linf=1)) == events.DiscreteLaplace(16, 16, 2)
    assert Laplace(2, Grid(-3)).event(Bound.vector(l0=2, l1=1)).sensitivity == 9
    assert Laplace(2, Grid(-3, exact=True)).event(Bound.vector(l0=2, l1=1)).sensitivity == 8


def test_the_event_is_remembered_for_the_bound_at_hand_only() -> None:
    mechanism = Laplace(2)
    first = mechanism.event(ONE)
    assert mechanism.event(ONE) is first
    assert mechanism.event(Bound.scalar(3)).sensitivity == 3
    assert mechanism.event(ONE) == first


@given(
    epsilon=st.fractions(Fraction(1, 100), 10),
    size=st.fractions(Fraction(1, 1000), 1000),
    l0=st.integers(1, 9),
)
@settings(max_examples=40, deadline=None)
def test_calibration_meets_epsilon_exactly(epsilon: Fraction, size: Fraction, l0: int) -> None:
    bound = Bound.vector(l0=l0, linf=size)
    mechanism = Laplace.for_epsilon(epsilon, bound, grid=None)
    assert pure.total(mechanism.event(bound)) == epsilon
    assert mechanism.scale <= bound.l1 / epsilon * (1 + Fraction(1, 1000))


def test_calibration_of_counts_is_the_textbook_one() -> None:
    assert Laplace.for_epsilon("0.5", Bound.vector(l0=3, linf=1)).scale == 6
    assert pure.total(Laplace.for_epsilon("0.1", ONE).event(ONE)) == Fraction(1, 10)


@pytest.mark.parametrize(
    ("grid", "value", "kind"),
    [(INTEGERS, 5, int), (Grid(-4), 5.3, float), (Grid(-4), 5, float), (INTEGERS, np.int64(5), int)],
)
def test_numbers_come_out_as_numbers(grid: Grid, value: Any, kind: type) -> None:
    mechanism = Laplace(2, grid)
    answer = mechanism.release(value, grant(mechanism))
    assert type(answer) is kind
    assert Fraction(answer) / grid.step == round(Fraction(answer) / grid.step)


@pytest.mark.parametrize("shape", [(), (0,), (5,), (2, 3), (2, 1, 4)])
def test_arrays_keep_their_shape(shape: tuple[int, ...]) -> None:
    whole = Laplace(2).release(np.zeros(shape, dtype=np.int64), grant(Laplace(2)))
    assert whole.shape == shape
    assert whole.dtype == np.int64
    gridded = Laplace(2, Grid(-4))
    real = gridded.release(np.zeros(shape), grant(gridded))
    assert real.shape == shape
    assert real.dtype == np.float64


@pytest.mark.parametrize(("scale", "draws"), [(Fraction(1, 2), 16000), (Fraction(3), 16000)])
def test_the_noise_has_the_claimed_scale_and_no_other(scale: Fraction, draws: int) -> None:
    mechanism = Laplace(scale)
    one_by_one = Counter(mechanism.release(7, grant(mechanism)) - 7 for _ in range(draws // 2))
    at_once = Counter((mechanism.release(np.full(draws, 7), grant(mechanism)) - 7).tolist())
    for seen in (one_by_one, at_once):
        for level, accepted in ((1.0, True), (0.7, False), (1.3, False)):
            p = fit(seen, law(float(scale) * level, 60))
            assert (p >= CHANCE) is accepted, f"n = {seen.total()}, k = {len(seen)}, p = {p:.3g}, level = {level}"


def test_the_noise_on_a_grid_has_the_claimed_scale() -> None:
    mechanism = Laplace(1, Grid(-2))
    seen = Counter(((mechanism.release(np.full(6000, 0.3), grant(mechanism)) - 0.25) * 4).astype(int).tolist())
    for level, accepted in ((1.0, True), (0.7, False), (1.3, False)):
        p = fit(seen, law(4 * level, 100))
        assert (p >= CHANCE) is accepted, f"n = {seen.total()}, k = {len(seen)}, p = {p:.3g}, level = {level}"


def test_the_error_is_the_exact_tail() -> None:
    for scale in (0.5, 1, 7):
        p = math.exp(-1 / scale)
        error = Laplace(scale).error(0.95)
        outside = 2 * p ** (error + 1) / (1 + p)
        assert outside <= 0.05
        assert error == 0 or 2 * p**error / (1 + p) > 0.05
    assert Laplace(1, Grid(-10)).error() == pytest.approx(-math.log(0.05), rel=2e-3)


def test_the_mean_squared_error_of_a_count() -> None:
    epsilon = 0.5
    p = math.exp(-epsilon)
    exact = Laplace.for_epsilon(epsilon, ONE).variance_of_error
    assert exact == pytest.approx(2 * p / (1 - p) ** 2)
    assert exact < 2 / epsilon**2
    assert Laplace(2, Grid(-10)).variance_of_error == pytest.approx(8, rel=1e-3)


@given(
    values=st.lists(st.floats(-20, 20), min_size=2, max_size=30),
    relation=st.sampled_from([Neighbours.ADD_REMOVE, Neighbours.ZERO_OUT, Neighbours.REPLACE_ONE]),
)
@settings(max_examples=50, deadline=None)
def test_before_noise_neighbours_differ_by_no_more_than_the_event_claims(
    values: list[float], relation: Neighbours
) -> None:
    clip = ClipValues(-3, 10)
    other = [values[-1], *values[1:]] if relation is Neighbours.REPLACE_ONE else values[1:]
    for grid in (clip.grid, Grid(0), Grid(-3)):
        claimed = Laplace(1, grid).event(clip.bound(relation)).sensitivity
        moved = grid.to_steps(clip.total(values)) - grid.to_steps(clip.total(other))
        assert abs(moved) <= claimed


@pytest.mark.parametrize("value", [float("nan"), CANARY, np.array([CANARY]), "x", None, True, [None]])
def test_bad_answers_leave_the_grant_usable_and_show_nothing(value: Any) -> None:
    mechanism = Laplace(2)
    permission = grant(mechanism)
    with pytest.raises(ArgumentError) as caught:
        mechanism.release(value, permission)
    assert "1234567" not in str(caught.value)
    assert type(mechanism.release(3, permission)) is int


def test_grants_are_for_one_release_of_one_event() -> None:
    mechanism = Laplace(2)
    permission = grant(mechanism)
    mechanism.release(3, permission)
    with pytest.raises(GrantError, match="SRD-G001"):
        mechanism.release(3, permission)
    with pytest.raises(GrantError, match="SRD-G002"):
        Laplace(3).release(3, grant(mechanism))
    for nothing in (None, ONE, mechanism.event(ONE)):
        with pytest.raises(GrantError, match="SRD-G004"):
            mechanism.release(3, nothing)  # type: ignore[arg-type]


@pytest.mark.parametrize("scale", [0, -1, float("nan"), "inf", True, None, "1e-9", 2**51])
def test_absurd_scales_are_refused(scale: Any) -> None:
    with pytest.raises(ArgumentError):
        Laplace(scale)


@pytest.mark.parametrize("confidence", [0, 1, -1, float("nan"), True, "x"])
def test_absurd_confidence_is_refused(confidence: Any) -> None:
    with pytest.raises(ArgumentError, match="confidence"):
        Laplace(2).error(confidence)


def test_a_grid_must_be_one() -> None:
    with pytest.raises(ArgumentError, match="grid"):
        Laplace(2, grid=-3)  # type: ignore[arg-type]
    with pytest.raises(ArgumentError, match="epsilon"):
        Laplace.for_epsilon(0, ONE)
