"""Smooth sensitivity: the discrete proofs checked by enumeration, the samplers, the verbs."""

from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sordino.accounting import events
from sordino.accounting.bound import Bound
from sordino.accounting.grant import Grant
from sordino.errors import ArgumentError, GrantError
from sordino.mechanisms.checks.draws import CHANCE, fit
from sordino.mechanisms.grid import Grid
from sordino.mechanisms.ladder import Ladder
from sordino.mechanisms.local_sensitivity import LocalAnswer, in_steps
from sordino.mechanisms.mechanism import Mechanism
from sordino.mechanisms.smooth import SmoothCauchy, SmoothLaplace, draw_cauchy, smooth_sensitivity

BOUND = Bound.scalar(50)
ALL: list[Any] = [SmoothLaplace(1, "1e-4", 50), SmoothCauchy(1, 50), Ladder(1, 50)]
SPAN = 40_000
epsilons = st.sampled_from([0.1, 0.5, 1.0, 4.0])
sensitivities = st.floats(0.01, 40)


def laplace(scale: float, shift: int = 0) -> np.ndarray:
    k = np.arange(-SPAN, SPAN + 1) - shift
    return math.tanh(1 / (2 * scale)) * np.exp(-np.abs(k) / scale)


def cauchy(scale: float, shift: int = 0) -> np.ndarray:
    k = np.arange(-SPAN, SPAN + 1) - shift
    return 1 / (1 + (k / scale) ** 2) / (math.pi * scale / math.tanh(math.pi * scale))


@given(epsilon=epsilons, here=sensitivities, share=st.floats(-1, 1), move=st.floats(0, 1))
@settings(max_examples=60, deadline=None)
def test_discrete_laplace_noise_is_private_for_every_pair_of_scales(
    epsilon: float, here: float, share: float, move: float
) -> None:
    mechanism = SmoothLaplace(epsilon, "1e-4", 50)
    there = here * math.exp(mechanism.beta * share)
    shift = math.floor(min(here, there) * move)
    p, q = (laplace(max(2 * s / epsilon, 1 / 8), at) for s, at in ((here, 0), (there, shift)))
    for first, second in ((p, q), (q, p)):
        assert np.maximum(first - math.exp(epsilon) * second, 0).sum() <= 1e-4


@given(epsilon=epsilons, here=sensitivities, share=st.floats(-1, 1), move=st.floats(0, 1))
@settings(max_examples=60, deadline=None)
def test_discrete_cauchy_noise_is_private_for_every_pair_of_scales(
    epsilon: float, here: float, share: float, move: float
) -> None:
    mechanism = SmoothCauchy(epsilon, 50)
    there = here * math.exp(mechanism.beta * share)
    shift = math.floor(min(here, there) * move)
    p, q = (cauchy(max(2 * s / epsilon, 1.0), at) for s, at in ((here, 0), (there, shift)))
    assert np.abs(np.log(p) - np.log(q)).max() <= epsilon


def test_the_enumerations_would_catch_more_smoothness_than_is_allowed() -> None:
    epsilon, beta = 1.0, 2 * SmoothLaplace(1, "1e-4", 50).beta
    p, q = laplace(20.0), laplace(20.0 * math.exp(-beta), math.floor(10 * math.exp(-beta)))
    assert np.maximum(p - math.exp(epsilon) * q, 0).sum() > 1e-4
    beta = 2 * SmoothCauchy(1, 50).beta
    assert np.abs(np.log(cauchy(4.0)) - np.log(cauchy(4.0 * math.exp(beta)))).max() > epsilon / 2


@given(
    here=st.lists(st.integers(0, 50), min_size=2, max_size=12), beta=st.sampled_from([0.001, 0.05, 0.5]), data=st.data()
)
@settings(max_examples=80, deadline=None)
def test_smooth_sensitivity_is_smooth(here: list[int], beta: float, data: st.DataObject) -> None:
    # A neighbour's list: A_k(x) ≤ B_(k+1) and B_k ≤ A_(k+1), both ending in the global bound, 50.
    ascending = sorted(here)
    padded = [*ascending, 50, 50]
    there = [
        data.draw(st.integers(padded[k - 1] if k else 0, padded[k + 1]), label=f"B_{k}") for k in range(len(ascending))
    ]
    there = sorted(there)
    a = smooth_sensitivity(np.array([*ascending, 50]), beta)
    b = smooth_sensitivity(np.array([*there, 50, 50]), beta)
    if max(ascending[0], there[0]) > 0:
        assert a >= ascending[0]
        assert b >= there[0]
    assert a <= math.exp(beta) * b * (1 + 1e-15)
    assert b <= math.exp(beta) * a * (1 + 1e-15)


@pytest.mark.parametrize("scale", [Fraction(1), Fraction(5, 2), Fraction(40)])
def test_cauchy_draws_have_the_claimed_scale_and_no_other(scale: Fraction) -> None:
    edge = int(60 * scale)
    seen = Counter(max(-edge, min(edge, draw_cauchy(scale))) for _ in range(10000))
    for level, accepted in ((1.0, True), (0.7, False), (1.3, False)):
        size = float(scale) * level
        norm = math.pi * size / math.tanh(math.pi * size)
        law = {k: 1 / (1 + (k / size) ** 2) / norm for k in range(-edge + 1, edge)}
        law[edge] = law[-edge] = (1 - sum(law.values())) / 2
        p = fit(seen, law)
        assert (p >= CHANCE) is accepted, f"n = 10000, k = {len(seen)}, p = {p:.3g}, level = {level}"


def test_cauchy_draws_beyond_int64_are_exact_too(monkeypatch: pytest.MonkeyPatch) -> None:
    # The coins of a draw: not block 0, seventy times "further out", then the low bits, the sign, and acceptance.
    coins = iter([False, *[True] * 70, False, *[True] * 200])
    monkeypatch.setattr("sordino.noise.bernoulli", lambda _chance: next(coins))
    drawn = draw_cauchy(Fraction(3))
    assert -(3 << 71) < drawn <= -(3 << 70)


@pytest.mark.parametrize("mechanism", ALL[:2])
def test_noise_follows_the_smooth_sensitivity_of_the_data(mechanism: Any) -> None:
    event = mechanism.event(BOUND)
    calm, rough = LocalAnswer(100, [1] * 200), LocalAnswer(100, [50])
    off = {
        name: float(np.median([abs(mechanism.release(answer, Grant(event, BOUND)) - 100) for _ in range(100)]))
        for name, answer in (("calm", calm), ("rough", rough))
    }
    assert off["calm"] < off["rough"] / 2
    assert off["rough"] < mechanism.error(0.95)


def test_smooth_laplace_draws_have_the_claimed_scale_and_no_other() -> None:
    mechanism = SmoothLaplace(1, "1e-4", 50)
    event = mechanism.event(BOUND)
    calm = LocalAnswer(7, [2] * 200)
    seen = Counter(mechanism.release(calm, Grant(event, BOUND)) - 7 for _ in range(6000))
    smooth = float(smooth_sensitivity(np.array([2] * 200 + [50]), mechanism.beta))
    assert smooth == 2  # the global bound is too far away to matter
    for level, accepted in ((1.0, True), (0.7, False), (1.3, False)):
        p = fit(seen, {k - SPAN: mass for k, mass in enumerate(laplace(2 * smooth * level).tolist()) if mass > 1e-12})
        assert (p >= CHANCE) is accepted, f"n = 6000, k = {len(seen)}, p = {p:.3g}, level = {level}"


def test_events_and_smoothness() -> None:
    assert SmoothLaplace(1, "1e-4", 50).event(BOUND) == events.SmoothLaplace(1, "1e-4")
    assert SmoothCauchy("0.5", 50).event(BOUND) == events.SmoothCauchy("0.5")
    assert SmoothLaplace(1, "1e-4", 50).beta == pytest.approx(math.log(1 + 1 / (2 * math.log(2e4))))
    assert SmoothCauchy(1, 50).beta == pytest.approx(1 / 2.048)


def test_a_sensitivity_in_steps_is_never_below_the_true_one() -> None:
    for grid, listed, least in ((Grid(10), [5e-324], 1), (Grid(20), [2**59 + 1], 2**39 + 1), (Grid(0), [0.25], 1)):
        _, steps = in_steps(LocalAnswer(0, listed), grid, 2**40)
        assert least <= steps[0] <= least + 1
    _, steps = in_steps(LocalAnswer(0, [0, 0.0, 3]), Grid(0), 2**40)
    assert steps.tolist() == [0, 0, 3, 2**40]


@pytest.mark.parametrize("mechanism", ALL)
class TestEach:
    def test_contract_and_silence(self, mechanism: Any) -> None:
        assert isinstance(mechanism, Mechanism)
        assert "1234567" not in repr(LocalAnswer(1234567, [1234567]))

    def test_numbers_on_the_grid_come_out(self, mechanism: Any) -> None:
        answer = LocalAnswer(7, np.array([1, 2, 3]))
        assert type(mechanism.release(answer, Grant(mechanism.event(BOUND), BOUND))) is int
        fields = {name: getattr(mechanism, name) for name in mechanism.__dataclass_fields__}
        fine = type(mechanism)(**{**fields, "grid": Grid(-4)})
        for value in (7.3, 7):
            real = fine.release(LocalAnswer(value, [0.5, 1.0]), Grant(fine.event(BOUND), BOUND))
            assert type(real) is float
            assert real * 16 == round(real * 16)
        assert fine.error() >= mechanism.error() / 2

    @pytest.mark.parametrize(
        "value",
        [
            7,
            None,
            LocalAnswer(1234567.25, [1]),
            LocalAnswer(float("nan"), [1]),
            LocalAnswer(np.array([7]), [1]),
            LocalAnswer(7, ["1234567"]),
            LocalAnswer(7, [[1]]),
            LocalAnswer(7, 1),
            LocalAnswer(True, [1]),
        ],
    )
    def test_bad_answers_leave_the_grant_usable_and_show_nothing(self, mechanism: Any, value: Any) -> None:
        permission = Grant(mechanism.event(BOUND), BOUND)
        with pytest.raises(ArgumentError) as caught:
            mechanism.release(value, permission)
        assert "1234567" not in str(caught.value)
        mechanism.release(LocalAnswer(7, [1]), permission)
        with pytest.raises(GrantError, match="SRD-G001"):
            mechanism.release(LocalAnswer(7, [1]), permission)
        with pytest.raises(GrantError, match="SRD-G002"):
            mechanism.release(LocalAnswer(7, [1]), Grant(events.Pure(1), BOUND))

    def test_extreme_sensitivities_stay_within_the_global_bound(self, mechanism: Any) -> None:
        for listed in ([], [0, 0, 0], [1e300], [float("inf")], [5e-324], [0] * 3000):
            released = mechanism.release(LocalAnswer(7, listed), Grant(mechanism.event(BOUND), BOUND))
            assert type(released) is int

    def test_groups_and_larger_moves_are_refused(self, mechanism: Any) -> None:
        for bound in (BOUND.group(2), Bound.scalar(51), Bound.vector(l0=2, linf=1)):
            with pytest.raises(ArgumentError, match="SRD-A003"):
                mechanism.event(bound)
        mechanism.event(Bound.scalar(3))

    @pytest.mark.parametrize(
        "change",
        [
            {"epsilon": 0},
            {"epsilon": "1e-9"},
            {"epsilon": "1e350"},
            {"sensitivity": 0},
            {"sensitivity": 2**60},
            {"grid": 3},
            {"epsilon": True},
        ],
    )
    def test_absurd_parameters_are_refused(self, mechanism: Any, change: dict[str, Any]) -> None:
        fields = {name: getattr(mechanism, name) for name in mechanism.__dataclass_fields__}
        with pytest.raises(ArgumentError):
            type(mechanism)(**{**fields, **change})

    def test_the_error_covers_the_worst_data(self, mechanism: Any) -> None:
        event = mechanism.event(BOUND)
        worst = [abs(mechanism.release(LocalAnswer(0, [50]), Grant(event, BOUND))) for _ in range(200)]
        promised = mechanism.error(0.8)
        beyond = sum(off > promised for off in worst)
        assert beyond < 200 * 0.2 + 6 * math.sqrt(200 * 0.16)
