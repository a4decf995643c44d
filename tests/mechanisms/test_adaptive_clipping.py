"""Adaptive clipping: the paid count, the way of the radius, and the shared noise."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sordino.accounting import events, zcdp
from sordino.accounting.bound import Bound
from sordino.accounting.grant import Grant
from sordino.accounting.neighbours import Neighbours
from sordino.errors import ArgumentError, GrantError
from sordino.mechanisms.adaptive_clipping import AdaptiveClipping, shared_multiplier
from sordino.mechanisms.checks.draws import CHANCE
from sordino.mechanisms.mechanism import Mechanism

STATE = AdaptiveClipping(radius=1.0, quantile="0.5", rate="0.2", variance=100, records=1000)  # type: ignore[arg-type]
ONE = AdaptiveClipping.bound()
norms = st.lists(st.floats(0, 5), min_size=1, max_size=30)


def centred(values: list[float], radius: float) -> int:
    return sum(1 if value <= radius else -1 for value in values)


def test_it_keeps_the_contract() -> None:
    assert isinstance(STATE, Mechanism)
    assert STATE.event(ONE) == events.Gaussian(100, 1)
    assert STATE.event(AdaptiveClipping.bound(Neighbours.REPLACE_ONE)) == events.Gaussian(100, 4)
    assert STATE.events(ONE, 50) == events.Repeated(events.Gaussian(100, 1), 50)


@given(values=norms, new=st.floats(0, 5), radius=st.floats(0.1, 5))
def test_one_record_moves_the_centred_count_by_what_the_bound_says(
    values: list[float], new: float, radius: float
) -> None:
    count = centred(values, radius)
    assert abs(count - centred(values[1:], radius)) == AdaptiveClipping.bound().linf
    for emptied in ([], [0.0], [math.nan]):  # however an emptied record is handed in
        assert abs(count - centred([*emptied, *values[1:]], radius)) <= AdaptiveClipping.bound(Neighbours.ZERO_OUT).linf
    assert abs(count - centred([new, *values[1:]], radius)) <= AdaptiveClipping.bound(Neighbours.REPLACE_ONE).linf


def test_a_bound_tighter_than_one_record_is_refused() -> None:
    with pytest.raises(ArgumentError, match="SRD-A003"):
        STATE.event(Bound.scalar(1, neighbours=Neighbours.REPLACE_ONE))
    with pytest.raises(ArgumentError, match="SRD-A003"):
        STATE.event(Bound.scalar("0.5"))


def test_the_radius_finds_the_quantile() -> None:
    values = np.random.default_rng(3).lognormal(1.0, 0.5, 1000)
    for quantile in (0.3, 0.5, 0.9):
        state = AdaptiveClipping(0.1, quantile, "0.2", 100, 1000)  # type: ignore[arg-type]
        for _ in range(150):
            state = state.release(values, Grant(state.event(ONE), ONE))
        assert abs(np.mean(values <= state.radius) - quantile) < 0.08


def test_the_next_radius_tells_the_noisy_count_and_its_noise_has_the_claimed_deviation() -> None:
    values = np.array([0.5] * 700 + [2.0] * 300)
    radii = np.array([STATE.release(values, Grant(STATE.event(ONE), ONE)).radius for _ in range(2000)])
    share = 0.5 - np.log(radii) / 0.2
    counts = (2 * share - 1) * 1000
    assert np.abs(counts - np.rint(counts)).max() < 1e-6  # whole numbers: the noise is on the integers
    off = counts - 400
    for level, accepted in ((1.0, True), (0.7, False), (1.3, False)):
        # The sum of squares over the variance is chi-square with 2000 degrees of freedom; normal to a part in 1000.
        z = (np.sum((off / (10 * level)) ** 2) - 2000) / math.sqrt(4000)
        p = math.erfc(abs(z) / math.sqrt(2))
        assert (p >= CHANCE) is accepted, f"n = 2000, z = {z:.3g}, p = {p:.3g}, level = {level}"
    assert np.mean(np.abs(off) / 2000 <= STATE.error(0.95)) > 0.92


def test_extreme_norms_and_noise_keep_the_radius_usable() -> None:
    loud = AdaptiveClipping(2.0**499, "0.5", 10, 10**12, 1)  # type: ignore[arg-type]
    for _ in range(20):
        loud = loud.release(np.array([np.nan, np.inf, 0.0]), Grant(loud.event(ONE), ONE))
        assert 2.0**-500 <= loud.radius <= 2.0**500


@pytest.mark.parametrize("value", [1.0, [[1.0]], ["1234567"], [None], np.array([True])])
def test_bad_norms_leave_the_grant_usable_and_show_nothing(value: Any) -> None:
    permission = Grant(STATE.event(ONE), ONE)
    with pytest.raises(ArgumentError) as caught:
        STATE.release(value, permission)
    assert "1234567" not in str(caught.value)
    STATE.release([1.0], permission)
    with pytest.raises(GrantError, match="SRD-G001"):
        STATE.release([1.0], permission)
    with pytest.raises(GrantError, match="SRD-G002"):
        STATE.release([1.0], Grant(events.Pure(1), ONE))


@pytest.mark.parametrize(
    "change", [{"radius": 0}, {"radius": 1e300}, {"quantile": 1}, {"rate": 0}, {"variance": -1}, {"records": 0}]
)
def test_absurd_parameters_are_refused(change: dict[str, Any]) -> None:
    fields = {name: getattr(STATE, name) for name in AdaptiveClipping.__dataclass_fields__}
    with pytest.raises(ArgumentError):
        AdaptiveClipping(**{**fields, **change})


@given(multiplier=st.fractions(Fraction(1, 4), 5), more=st.fractions(Fraction(1, 10), 30))
@settings(max_examples=40, deadline=None)
def test_sum_and_count_together_cost_what_the_sum_alone_would(multiplier: Fraction, more: Fraction) -> None:
    count = multiplier + more
    shared = Fraction(shared_multiplier(multiplier, count))
    together = zcdp.rho(events.Composed((events.Gaussian(shared**2), events.Gaussian(count**2))))
    alone = zcdp.rho(events.Gaussian(multiplier**2))
    assert alone * (1 - Fraction(1, 10**9)) <= together <= alone


def test_a_count_dearer_than_the_whole_is_refused() -> None:
    with pytest.raises(ArgumentError, match="SRD-A003"):
        shared_multiplier(2, 2)
