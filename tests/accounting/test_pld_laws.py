"""Laws of the PLD calculus, its ends and refusals, and the bounds that its proofs rest on."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sordino.accounting import pure
from sordino.accounting.event import Event
from sordino.accounting.events import (
    Approximate,
    Composed,
    Concentrated,
    DiscreteGaussian,
    DiscreteLaplace,
    Exponential,
    FixedSizeSampled,
    Gaussian,
    Laplace,
    PartitionSelection,
    PermuteAndFlip,
    PoissonSampled,
    Pure,
    RandomizedResponse,
    Repeated,
    Replaced,
)
from sordino.accounting.loss import LOSSES
from sordino.accounting.pair import gaussian_pair
from sordino.accounting.pld import accountant as pld
from sordino.accounting.pld.bounds import Tilted, Upper
from sordino.accounting.pld.compose import Composed as ComposedLaw
from sordino.accounting.pld.compose import Factor, Window, compose
from sordino.accounting.pld.run import Run
from sordino.accounting.pld.sketch import Part
from sordino.errors import ArgumentError, UnsupportedError

VARIETY: list[Event] = [
    Laplace(3),
    Exponential("0.4"),
    RandomizedResponse("0.6", 4),
    DiscreteGaussian(5),
    PartitionSelection("0.3", "1e-8"),
    PoissonSampled(Gaussian(2), "0.1"),
    PoissonSampled(Approximate("0.5", "1e-8"), "0.1"),
    PoissonSampled(PoissonSampled(Laplace(2), "0.5"), "0.1"),
    Replaced(PoissonSampled(Gaussian(2), "0.1")),
    Replaced(PoissonSampled(Laplace(2), "0.1")),
]
variety = pytest.mark.parametrize("event", VARIETY, ids=lambda event: type(event).__name__)


@variety
def test_n_at_once_is_n_times(event: Event) -> None:
    at_once = pld.epsilon_bracket(Repeated(event, 6), 1e-5)
    nested = Composed((event, Repeated(Composed((event, Repeated(event, 1))), 2), event))
    assert pld.epsilon_bracket(nested, 1e-5) == at_once
    assert at_once.lower > pld.epsilon_bracket(event, 1e-5).upper


@variety
def test_epsilon_and_delta_agree(event: Event) -> None:
    run = Repeated(event, 12)
    epsilon = pld.epsilon_bracket(run, 1e-5)
    assert epsilon.lower <= epsilon.upper <= epsilon.lower * 1.001
    at_upper, at_lower = pld.delta_bracket(run, epsilon.upper), pld.delta_bracket(run, epsilon.lower)
    assert at_upper.lower <= 1e-5
    assert at_lower.upper >= 1e-5
    assert at_lower.upper >= at_lower.lower >= at_lower.upper * 0.99


@variety
def test_a_sample_of_all_is_no_sample(event: Event) -> None:
    assert pld.epsilon_bracket(Repeated(PoissonSampled(event, 1), 3), 1e-5) == pld.epsilon_bracket(
        Repeated(event, 3), 1e-5
    )


def test_a_fixed_size_sample_of_all_is_no_sample() -> None:
    assert pld.epsilon_bracket(FixedSizeSampled(Laplace(3), 5, 5), 1e-5) == pld.epsilon_bracket(Laplace(3), 1e-5)


def test_more_noise_and_smaller_samples_cost_less() -> None:
    costs = [pld.epsilon_bracket(Repeated(Laplace(scale), 30), 1e-6) for scale in (2, 3, 5, 8)]
    assert all(first.lower > second.upper for first, second in itertools.pairwise(costs))
    for sampled in (
        [PoissonSampled(Laplace(1), Fraction(1, k)) for k in (1, 2, 10, 100)],
        [FixedSizeSampled(Laplace(1), 1, k) for k in (1, 2, 10, 100)],
    ):
        costs = [pld.epsilon_bracket(Repeated(event, 30), 1e-6) for event in sampled]
        assert all(first.lower > second.upper for first, second in itertools.pairwise(costs))


def test_fixed_size_samples_cost_more_than_poisson_samples() -> None:
    """Replace-one has two people in play; Lebeda et al. 2024 show the gap."""
    fixed = pld.epsilon_bracket(Repeated(FixedSizeSampled(Gaussian(4), 100, 10_000), 1_000), 1e-6)
    poisson = pld.epsilon_bracket(Repeated(PoissonSampled(Gaussian(4), "0.01"), 1_000), 1e-6)
    assert poisson.upper < fixed.lower
    assert fixed.upper < 2 * poisson.lower


simple = st.one_of(
    st.builds(Laplace, st.fractions("0.5", 50, max_denominator=100)),
    st.builds(Gaussian, st.fractions("0.2", 50, max_denominator=100)),
    st.builds(Pure, st.fractions("0.01", 3, max_denominator=100)),
    st.builds(Exponential, st.fractions("0.01", 3, max_denominator=100)),
    st.builds(DiscreteLaplace, st.fractions("0.5", 20, max_denominator=10), st.integers(1, 4)),
    st.builds(Approximate, st.fractions(0, 2, max_denominator=10), st.just(Fraction(1, 10**12))),
)
rates = st.fractions(Fraction(1, 1000), 1, max_denominator=1000)
sampled = st.one_of(simple, st.builds(PoissonSampled, simple, rates))
runs = st.lists(st.builds(Repeated, sampled, st.integers(1, 200)), min_size=1, max_size=3)


@given(parts=runs, digits=st.integers(1, 30))
@settings(deadline=None, max_examples=40)
def test_whatever_is_composed_the_bracket_is_narrow(parts: list[Event], digits: int) -> None:
    bracket = pld.epsilon_bracket(Composed(tuple(parts)), Fraction(1, 10**digits))
    if digits < 9:
        assert bracket.upper < math.inf
    assert 0 <= bracket.lower <= bracket.upper
    if bracket.upper < math.inf:
        assert bracket.upper - bracket.lower <= max(2e-3 * bracket.upper, 2e-4)


@given(parts=runs, epsilon=st.fractions(0, 60, max_denominator=8))
@settings(deadline=None, max_examples=20)
def test_whatever_is_composed_delta_is_bracketed(parts: list[Event], epsilon: Fraction) -> None:
    # away from the ends of a support, where δ falls to 0 and only absolute accuracy is left
    bracket = pld.delta_bracket(Composed(tuple(parts)), epsilon + Fraction(1, 7919))
    assert 0 <= bracket.lower <= bracket.upper <= 1
    assert bracket.upper - bracket.lower <= max(1e-2 * bracket.upper, 1e-9)


# ---- ends and refusals ----------------------------------------------------------------------------------------------


def test_an_own_failure_above_delta_is_infinite() -> None:
    run = Repeated(Approximate(1, "1e-6"), 20)
    assert pld.epsilon_bracket(run, 1e-5) == pld.Bracket(math.inf, math.inf)
    assert pld.epsilon_bracket(run, 1e-4).upper < math.inf
    bracket, truth = pld.delta_bracket(run, 50), -math.expm1(20 * math.log1p(-1e-6))
    assert bracket.lower <= truth * (1 + 1e-12)
    assert truth * (1 - 1e-12) <= bracket.upper <= truth * (1 + 1e-9)


def test_beyond_the_largest_loss_nothing_is_left() -> None:
    assert pld.delta_bracket(Repeated(Laplace(2), 4), "2.0001") == pld.Bracket(0.0, 0.0)
    assert pld.epsilon_bracket(Repeated(Laplace(2), 4), "1e-280").upper <= 2.000001


def test_a_large_delta_needs_no_epsilon() -> None:
    assert pld.epsilon_bracket(Laplace(10), "0.9") == pld.Bracket(0.0, 0.0)
    assert pld.epsilon_bracket(Repeated(PoissonSampled(Gaussian(4), "0.01"), 10), "0.9").upper == 0


def test_an_event_that_does_nothing_costs_nothing() -> None:
    still = DiscreteGaussian(1, "0.5")
    assert pld.epsilon_bracket(Repeated(still, 5), 1e-6).upper <= 1e-12
    assert pld.delta_bracket(still, 0).upper <= 1e-12


def test_enormous_losses_stay_finite() -> None:
    bracket = pld.epsilon_bracket(Composed((Repeated(Pure(2_000), 3), Laplace(1))), 1e-5)
    assert 5_990 < bracket.lower <= bracket.upper < 6_001.1


@pytest.mark.parametrize("delta", [0, 1, -1, "nan", True, math.inf])
def test_delta_must_be_a_probability(delta: object) -> None:
    with pytest.raises(ArgumentError, match="delta"):
        pld.epsilon_bracket(Laplace(1), delta)  # type: ignore[arg-type]


@pytest.mark.parametrize("epsilon", [-1, "nan", True, math.inf])
def test_epsilon_must_be_a_number(epsilon: object) -> None:
    with pytest.raises(ArgumentError, match="epsilon"):
        pld.delta_bracket(Laplace(1), epsilon)  # type: ignore[arg-type]


def test_what_has_no_pair_or_no_common_relation_is_refused() -> None:
    with pytest.raises(UnsupportedError, match="Concentrated"):
        pld.epsilon_bracket(Composed((Laplace(1), Concentrated(1))), 1e-5)
    with pytest.raises(UnsupportedError, match="relation"):
        pld.epsilon_bracket(Composed((PoissonSampled(Laplace(1), "0.1"), FixedSizeSampled(Laplace(1), 1, 10))), 1e-5)


def test_questions_far_from_the_focus_are_answered_soundly() -> None:
    """A run prepared for one δ may be asked for another: its window and its weights do not suffice, and it says so."""
    event = PoissonSampled(Gaussian(1), "0.01")
    (removed, _) = LOSSES[PoissonSampled](event)
    run = Run.for_delta([Part(removed, 1_000)], 1e-12)
    upper, lower = run.upper(run.step), run.lower(run.step)
    truth = pld.epsilon_bracket(Repeated(event, 1_000), 1e-12)
    assert truth.lower <= upper.epsilon(1e-12) <= truth.upper * 1.01
    assert upper.epsilon(0.5) >= math.log(0.5)
    assert upper.delta(-50.0) == 1.0
    assert upper.epsilon(0.5) <= upper.epsilon(1e-12)
    assert lower.epsilon(0.9999) == -math.inf
    assert lower.delta(0.0) <= pld.delta_bracket(Repeated(event, 1_000), 0).upper
    steep = Run.for_delta([Part(gaussian_pair(50.0), 1)], 1e-5)
    assert steep.upper(steep.step).epsilon(1e-250) > pld.epsilon_bracket(Gaussian("0.0004"), "1e-250").lower


def test_a_law_whose_other_side_underflows_or_is_cut_off_is_answered_from_above() -> None:
    ends = np.zeros(801)
    ends[[0, -1]] = 0.5
    whole = Tilted(ComposedLaw(Window(0, 801), ends, 0.0, -math.inf, -math.inf, 1.0), 0.0, 1.0, 0.0, 1, 0.0, 0.0, 0.0)
    assert Upper(whole).epsilon(0.1) == 800.0  # ln(0.8) + 800, where e^−800 is not a float
    cut = Tilted(ComposedLaw(Window(0, 801), ends, 0.0, -5.0, -math.inf, 1.0), 0.5, 1.0, 0.0, 1, 0.0, 0.0, 0.0)
    assert Upper(cut).epsilon(0.9) == 0.0
    assert Upper(cut).delta(-1.0) == 1.0


def test_long_factors_are_not_grouped() -> None:
    flat = np.full(64, 1 / 64)
    law = compose([Factor(0, np.array([0.5, 0.5]))] + [Factor(-32, flat)] * 29, Window(-20, 32), -0.1, 0.1)
    assert math.isclose(law.masses.sum(), 1, rel_tol=1e-12)


def test_wrapped_and_grouped_laws_keep_their_error_bounds() -> None:
    """A window that is far too small, and enough factors to be grouped: the true law lies within the bounds."""
    coin = np.array([0.4, 0.35, 0.25])
    factors = [Factor(-1, coin, 1 + k % 2) for k in range(40)]
    truth = np.ones(1)
    for factor in factors:
        for _ in range(factor.count):
            truth = np.convolve(truth, coin)
    whole = compose(factors, Window(-60, len(truth) + 4), -1.0, 1.0)
    assert np.linalg.norm(whole.masses[: len(truth)] - truth) <= whole.error < 1e-11
    first, size = -30, 32
    narrow = compose(factors, Window(first, size), -0.5, 0.5)
    inside = truth[60 + first : 60 + first + size]
    off = np.cumsum((narrow.masses - inside)[::-1])[::-1]
    assert np.all(off >= -size * narrow.error)
    assert np.all(off <= narrow.strays(np.arange(size, dtype=np.float64)) + size * narrow.error)
    assert off[0] > 1e-6


# ---- hard ground: where sketches, weights and parameters once went astray ------------------------------------------


def test_weights_whose_squares_underflow_keep_their_error_bound() -> None:
    """The largest loss is ln(1 + q·(e^ε − 1)) ≈ 2.03, far from where the sketch looks; `lower` once said 8.99."""
    event = PoissonSampled(Exponential(Fraction(9138103, 866608)), Fraction(1415, 8098281))
    largest = math.log1p(1415 / 8098281 * math.expm1(9138103 / 866608))
    bracket = pld.epsilon_bracket(event, "1e-12")
    assert bracket.lower <= largest
    assert bracket.lower <= bracket.upper <= largest * (1 + 1e-9)
    law = ComposedLaw(Window(0, 3), np.array([0.0, 0.0, 1.0]), 1e-3, -math.inf, -math.inf, 1.0)
    upper = Upper(Tilted(law, 400.0, 1.0, 400.0, 1, 0.0, 1.0, 0.0))
    assert upper.p[-2] >= math.exp(-400) * (1 + 1e-3)


@pytest.mark.parametrize("epsilon", [60, 98, 213, 1_000])
@pytest.mark.parametrize("kind", [Pure, Exponential, PermuteAndFlip])
def test_a_law_that_is_nearly_one_atom_is_bracketed(kind: type[Event], epsilon: int) -> None:
    for event in (kind(epsilon), PoissonSampled(kind(epsilon), "0.5")):
        bracket = pld.epsilon_bracket(event, "1e-3")
        assert epsilon - 5 < bracket.lower <= bracket.upper <= epsilon * (1 + 1e-12)
        assert bracket.upper - bracket.lower < 1e-3 * bracket.upper


def test_rare_large_losses_do_not_hide_the_bulk() -> None:
    """δ is far above the sampling rate, so ε is 0 whatever rare samples may tell."""
    bracket = pld.epsilon_bracket(PoissonSampled(Gaussian("0.0004"), "1e-6"), 1e-5)
    assert bracket.lower == 0.0
    assert bracket.upper < 0.1


def test_a_rate_close_to_one_keeps_the_digits_of_what_is_left_out() -> None:
    """Without a unit, what only P can show has the loss −ln(1−q); floats know 1−q only to one part in three here."""
    left_out = Fraction(16, 10 * 2**53)
    (_, added) = LOSSES[PoissonSampled](PoissonSampled(Approximate(1, "0.1"), 1 - left_out))
    top = -math.log(left_out)
    p, _ = added.masses(np.array([top - 1e-9, top + 1e-9]))
    assert math.isclose(p[1], 0.1)
    assert pld.epsilon_bracket(PoissonSampled(Laplace(1), 1 - Fraction(1, 10**30)), 1e-5).upper < 1.0


@pytest.mark.parametrize("numerator", range(1, 20))
def test_an_own_failure_is_rounded_up(numerator: int) -> None:
    own = Fraction(numerator, 10**7 + 1)
    event = Approximate(1, own)
    assert pld.delta_bracket(event, 5).upper >= own
    assert pld.delta_bracket(PoissonSampled(event, Fraction(1, 3)), 5).upper >= own / 3
    assert pld.epsilon_bracket(Approximate(1, own + Fraction(1, 10**40)), own).upper == math.inf


def test_no_delta_is_too_small() -> None:
    tiny = Fraction(1, 10**2000)
    bracket = pld.epsilon_bracket(Gaussian(1), tiny)
    # φ(x)·(R(x) − R(x+1)) for x = ε − ½ is about φ(x)/x²
    assert math.isclose(bracket.lower, bracket.upper, rel_tol=1e-9)
    assert math.isclose((bracket.upper - 0.5) ** 2 / 2, 2000 * math.log(10), rel_tol=3e-3)
    assert pld.epsilon_bracket(Composed((Gaussian(1), Laplace(1))), tiny).upper == math.inf
    assert 0.999 < pld.epsilon_bracket(Laplace(1), tiny).lower <= pld.epsilon_bracket(Laplace(1), tiny).upper < 1.000001


@pytest.mark.parametrize("epsilon", [150, 10**5, "1e200", "1e350"])
def test_noise_with_tails_is_never_called_pure(epsilon: object) -> None:
    for event in (Gaussian(1), DiscreteGaussian("0.09"), Composed((Gaussian(1), Laplace(1)))):
        assert 0 < pld.delta_bracket(event, epsilon).upper < 1e-40  # type: ignore[arg-type]


@pytest.mark.parametrize("epsilon", ["0.5", 2, 10])
@pytest.mark.parametrize("mu", [3_000, 10**5])
def test_large_mu_is_bracketed_by_formula(mu: int, epsilon: object) -> None:
    """x = ε/μ − μ/2 is a difference of large numbers."""
    mpmath.mp.dps = 60
    at = Fraction(mu * mu, 2) + mu * Fraction(epsilon)  # type: ignore[arg-type]
    x = mpmath.mpf(at.numerator) / at.denominator / mu - mpmath.mpf(mu) / 2
    y = x + mu
    truth = mpmath.ncdf(-x) - mpmath.exp(mpmath.mpf(at.numerator) / at.denominator) * mpmath.ncdf(-y)
    bracket = pld.delta_bracket(Gaussian(Fraction(1, mu * mu)), at)
    assert bracket.lower <= truth <= bracket.upper
    assert bracket.upper - bracket.lower < 1e-6 * bracket.upper


def test_no_claim_is_above_the_sum_of_pure_ones() -> None:
    for event in (Laplace(2), Pure("0.3"), PoissonSampled(Exponential("0.2"), "0.5")):
        for count in (1, 3):
            assert pld.epsilon_bracket(Repeated(event, count), "1e-250").upper <= float(pure.total(event)) * count * (
                1 + 1e-14
            )


def test_nothing_at_all_costs_nothing() -> None:
    nothing = Composed(())
    assert pld.epsilon_bracket(nothing, 1e-5) == pld.Bracket(0.0, 0.0)
    assert pld.delta_bracket(nothing, 0) == pld.Bracket(0.0, 0.0)
    assert pld.epsilon_bracket(Composed((Laplace(1), PoissonSampled(nothing, "0.5"))), 1e-5).upper <= 1.0


@pytest.mark.parametrize(
    "event",
    [
        Gaussian("1e-390"),
        Laplace("1e390"),
        DiscreteLaplace(10**400, 10**400),
        DiscreteGaussian("1e-390"),
        Exponential("1e-390"),
        RandomizedResponse(1, 10**400),
        Pure("1e300"),
        Approximate(1, Fraction(1, 10**400)),
        PoissonSampled(Laplace(1), Fraction(1, 10**390)),
        PoissonSampled(Laplace(1), 1 - Fraction(1, 10**390)),
        FixedSizeSampled(Laplace(1), 1, 10**400),
        Repeated(Laplace(1), 10**12),
        Repeated(Gaussian(1), 10**400),
        Repeated(Pure("0.001"), 10**400),
    ],
    ids=lambda event: type(event).__name__,
)
def test_absurd_sizes_are_refused(event: Event) -> None:
    with pytest.raises(UnsupportedError, match="SRD-C014"):
        pld.epsilon_bracket(event, 1e-5)


def test_a_failure_that_is_all_but_certain_leaves_nothing() -> None:
    event = Approximate(1, 1 - Fraction(1, 10**20))
    assert pld.epsilon_bracket(event, 1e-5) == pld.Bracket(math.inf, math.inf)
    assert pld.delta_bracket(event, 1).upper == 1.0
