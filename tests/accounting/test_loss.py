"""Dominating pairs against closed forms, brute force over small supports, and their own contract."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sordino.accounting.curves  # noqa: F401  registers the curves that claims are read from
from sordino.accounting import events
from sordino.accounting.curve import Pair
from sordino.accounting.loss import LOSSES, whole_sample
from sordino.accounting.pair import (
    Atoms,
    BoundedRange,
    _smooth_tail,
    _tabled_tail,
    claimed_pair,
    discrete_gaussian_pair,
    discrete_laplace_pair,
    gaussian_pair,
    laplace_pair,
    response_pair,
)
from sordino.accounting.pair_mixture import Mixed, Reversed
from sordino.accounting.pair_sampled import Added, FixedSize, Removed, Swapped, swapped_claim
from sordino.accounting.pair_tabled import skellam_pair, summed_gaussian_pair
from sordino.errors import UnsupportedError

PAIRS: dict[str, Pair] = {
    "gaussian": gaussian_pair(1.3),
    "gaussian, small": gaussian_pair(1e-3),
    "gaussian, large": gaussian_pair(12.0),
    "laplace": laplace_pair(0.7),
    "discrete laplace": discrete_laplace_pair(2.5, 3),
    "discrete laplace, fine": discrete_laplace_pair(2.0**41, 2**40),
    "discrete gaussian": discrete_gaussian_pair(4.0, 2),
    "discrete gaussian, wide": discrete_gaussian_pair(2.0**60, 2**29),
    "pure": claimed_pair(0.8),
    "approximate": claimed_pair(0.8, 1e-3),
    "response": response_pair(1.1, 7),
    "bounded range": BoundedRange(1.2),
    "removed gaussian": Removed(gaussian_pair(1.3), 0.01),
    "added gaussian": Added(gaussian_pair(1.3), 0.01),
    "removed laplace": Removed(laplace_pair(0.7), 0.2),
    "removed approximate": Removed(claimed_pair(0.8, 1e-3), 0.2),
    "added approximate": Added(claimed_pair(0.8, 1e-3), 0.2),
    "removed twice": Removed(Removed(gaussian_pair(1.3), 0.1), 0.1),
    "fixed-size gaussian": FixedSize(Removed(gaussian_pair(1.3), 0.1)),
    "fixed-size approximate": FixedSize(Removed(claimed_pair(0.8, 1e-3), 0.3)),
    "swapped gaussian": Swapped(gaussian_pair(1.3), Fraction(1, 10)),
    "swapped laplace": Swapped(laplace_pair(0.9), Fraction(3, 10)),
    "swapped discrete laplace": Swapped(discrete_laplace_pair(1.5, 3), Fraction(1, 5)),
    "swapped discrete gaussian": Swapped(discrete_gaussian_pair(2.0, 3), Fraction(1, 5)),
    "skellam": skellam_pair(Fraction(6), 2),
    "summed gaussian": summed_gaussian_pair(3, Fraction(1), 2),
    "removed skellam": Removed(skellam_pair(Fraction(6), 2), 0.2),
    "swapped skellam": Swapped(skellam_pair(Fraction(6), 2), Fraction(1, 5)),
    "swapped summed gaussian": Swapped(summed_gaussian_pair(3, Fraction(1), 2), Fraction(1, 5)),
    "mixed gaussians": Mixed([0.7, 0.2, 0.1], [0.4, 1.1, 1.9]),
    "mixed gaussians, reversed": Reversed(Mixed([0.7, 0.2, 0.1], [0.4, 1.1, 1.9])),
    "removed mixture": Removed(Mixed([0.9, 0.1], [0.5, 1.5]), 0.3),
    "added mixture": Added(Reversed(Mixed([0.9, 0.1], [0.5, 1.5])), 0.3),
    "swapped claim": swapped_claim(0.8, Fraction(1, 5)),
}
every_pair = pytest.mark.parametrize("pair", PAIRS.values(), ids=PAIRS.keys())


def profile(pair: Pair, epsilon: float) -> float:
    """δ at ε, straight from the masses above ε."""
    p, q = pair.masses(np.array([epsilon]))
    return float(p[1] - math.exp(epsilon) * q[1])


@every_pair
def test_both_laws_are_probabilities(pair: Pair) -> None:
    p, q = pair.masses(np.linspace(-3, 3, 1001))
    assert np.all(p >= 0)
    assert np.all(q >= 0)
    assert math.isclose(p.sum(), 1, abs_tol=1e-12)
    assert math.isclose(q.sum(), 1, abs_tol=1e-12)


@every_pair
def test_likelihood_ratios_lie_in_their_cells(pair: Pair) -> None:
    edges = np.linspace(-3, 3, 301)
    p, q = (side[1:-1] for side in pair.masses(edges))
    solid = (p > 1e-12) & (q > 1e-12)
    assert solid.any()
    ratio = np.log(p[solid] / q[solid])
    assert np.all(ratio >= edges[:-1][solid] - 1e-5)
    assert np.all(ratio <= edges[1:][solid] + 1e-5)


@every_pair
def test_coarse_cells_are_sums_of_fine_ones(pair: Pair) -> None:
    fine = np.linspace(-2, 2, 401)
    for whole, part in zip(pair.masses(fine[::20]), pair.masses(fine), strict=True):
        np.testing.assert_allclose(whole[1:-1], part[1:-1].reshape(-1, 20).sum(axis=1), rtol=1e-9, atol=1e-15)
        np.testing.assert_allclose(whole[[0, -1]], part[[0, -1]], rtol=1e-12)


@every_pair
@pytest.mark.parametrize("tail", [1e-3, 1e-12, 1e-200])
def test_reach_leaves_out_no_more_than_the_tail(pair: Pair, tail: float) -> None:
    low, high = pair.reach(tail)
    slack = 1e-12 * (1 + abs(low) + abs(high))
    p, _ = pair.masses(np.array([low - slack, high + slack, np.inf]))
    assert p[0] + p[2] <= tail


@every_pair
def test_infinite_edges_hold_only_infinite_losses(pair: Pair) -> None:
    p, q = pair.masses(np.array([-np.inf, np.inf]))
    assert p[0] == 0
    assert q[2] == 0
    assert math.isclose(p[1] + p[2], 1, rel_tol=1e-12)
    assert math.isclose(q[0] + q[1], 1, rel_tol=1e-12)


@pytest.mark.parametrize(("mu", "epsilon"), [(1.0, 0.5), (0.1, 2.0), (3.0, 60.0), (1e-2, 0.3), (5.0, 1.0)])
def test_gaussian_tails_to_the_last_digits(mu: float, epsilon: float) -> None:
    mpmath.mp.dps = 60
    p, q = gaussian_pair(mu).masses(np.array([epsilon]))
    assert math.isclose(p[1], mpmath.ncdf(mpmath.mpf(mu) / 2 - mpmath.mpf(epsilon) / mu), rel_tol=1e-11)
    assert math.isclose(q[1], mpmath.ncdf(-mpmath.mpf(mu) / 2 - mpmath.mpf(epsilon) / mu), rel_tol=1e-11)


@given(epsilon0=st.floats(0.01, 20), share=st.floats(-0.99, 0.99))
@settings(deadline=None, max_examples=50)
def test_laplace_profile(epsilon0: float, share: float) -> None:
    epsilon = epsilon0 * share
    expected = 1 - math.exp((epsilon - epsilon0) / 2) if epsilon > -epsilon0 else 1 - math.exp(epsilon)
    assert math.isclose(profile(laplace_pair(epsilon0), epsilon), expected, rel_tol=1e-9, abs_tol=1e-12)


def integer_profile(weights: dict[int, float], distance: int, epsilon: float) -> float:
    total = math.fsum(weights.values())
    spots = set(weights) | {k + distance for k in weights}
    return math.fsum(
        max(0.0, weights.get(k - distance, 0.0) / total - math.exp(epsilon) * weights.get(k, 0.0) / total)
        for k in sorted(spots)
    )


@pytest.mark.parametrize("distance", [1, 2, 5])
@pytest.mark.parametrize("epsilon", [-0.5, 0.0, 0.3, 1.1])
def test_discrete_laws_against_brute_force(distance: int, epsilon: float) -> None:
    scale, variance = 2.5, 6.0
    laplace = {k: math.exp(-abs(k) / scale) for k in range(-200, 201)}
    gaussian = {k: math.exp(-k * k / (2 * variance)) for k in range(-60, 61)}
    for pair, weights in (
        (discrete_laplace_pair(scale, distance), laplace),
        (discrete_gaussian_pair(variance, distance), gaussian),
    ):
        assert math.isclose(profile(pair, epsilon), integer_profile(weights, distance, epsilon), abs_tol=1e-13)


def test_wide_and_tabled_discrete_gaussians_agree() -> None:
    half = np.concatenate((np.arange(0, 3000) + 0.5, [9000.5, np.inf]))
    np.testing.assert_allclose(_smooth_tail(300.0)(half), _tabled_tail(300.0)(half), rtol=2e-10)


def test_a_move_over_several_coordinates_is_dominated_by_one_coordinate() -> None:
    """Three coordinates that move by 1, 1 and 2 steps, against one that moves by 4: brute force over both laws."""
    scale, epsilons = 3.0, (0.0, 0.2, 0.5, 0.9, 1.2)
    spots = range(-60, 61)
    weights = {k: math.exp(-abs(k) / scale) for k in spots}
    total = math.fsum(weights.values())
    losses: dict[float, float] = {0.0: 1.0}
    for move in (1, 1, 2):
        single: dict[float, float] = {}
        for k in spots:
            loss = round((abs(k) - abs(k - move)) * 1.0)
            single[loss] = single.get(loss, 0.0) + math.exp(-abs(k - move) / scale) / total
        grown: dict[float, float] = {}
        for (a, p), (b, q) in itertools.product(losses.items(), single.items()):
            grown[a + b] = grown.get(a + b, 0.0) + p * q
        losses = grown
    for epsilon in epsilons:
        spread = sum(p * max(0.0, 1 - math.exp(epsilon - loss / scale)) for loss, p in losses.items())
        assert spread <= profile(discrete_laplace_pair(scale, 4), epsilon) + 1e-9


def test_randomized_response_over_all_its_values() -> None:
    epsilon, k = 1.1, 7
    own, other = math.exp(epsilon) / (math.exp(epsilon) + k - 1), 1 / (math.exp(epsilon) + k - 1)
    first, second = [own] + [other] * (k - 1), [other, own] + [other] * (k - 2)
    for x in (-0.5, 0.0, 0.4, 1.0):
        expected = sum(max(0.0, p - math.exp(x) * q) for p, q in zip(first, second, strict=True))
        assert math.isclose(profile(response_pair(epsilon, k), x), expected, rel_tol=1e-12)


def test_claims_have_the_profile_of_the_claim() -> None:
    pair = claimed_pair(0.8, 1e-3)
    assert math.isclose(profile(pair, 0.8 * (1 + 1e-12)), 1e-3, rel_tol=1e-9)
    assert math.isclose(profile(pair, 0.0), 1e-3 + (1 - 1e-3) * math.tanh(0.4), rel_tol=1e-12)


@given(st.floats(0.05, 5), st.floats(0, 1), st.floats(-1, 1))
@settings(deadline=None, max_examples=60)
def test_bounded_range_dominates_each_two_point_law_and_is_reached(epsilon: float, t: float, x: float) -> None:
    top, order = t * epsilon, x * epsilon
    p_top = math.exp(top) * -math.expm1(top - epsilon) / (math.exp(top) - math.exp(top - epsilon))
    worst = Atoms(
        np.array([top - epsilon, top]),
        np.array([1 - p_top, p_top]),
        np.array([(1 - p_top) * math.exp(epsilon - top), p_top * math.exp(-top)]),
    )
    pair = BoundedRange(epsilon)
    assert profile(worst, order) <= profile(pair, order) + 1e-12
    reached = (1 - math.exp((order - epsilon) / 2)) ** 2 / -math.expm1(-epsilon)
    assert math.isclose(profile(pair, order), reached, rel_tol=1e-7, abs_tol=1e-12)


@pytest.mark.parametrize("rate", [1e-6, 0.01, 0.5, 0.99])
@pytest.mark.parametrize("epsilon", [0.01, 0.3, 2.0, 9.0])
def test_sampling_amplifies_as_the_theorem_says(rate: float, epsilon: float) -> None:
    """H at 1 + q(α−1) of the removed pair is q·H at α of the pair itself (Balle, Barthe, Gaboardi 2018)."""
    pair = gaussian_pair(1.3)
    shrunk = math.log1p(rate * math.expm1(epsilon))
    assert math.isclose(profile(Removed(pair, rate), shrunk), rate * profile(pair, epsilon), rel_tol=1e-6)
    # and the two directions mirror each other: H_α(P‖Q) = 1 − α + α·H_{1/α}(Q‖P), for a symmetric pair
    mirrored = 1 - math.exp(-shrunk) + math.exp(-shrunk) * profile(Removed(pair, rate), shrunk)
    assert math.isclose(profile(Added(pair, rate), -shrunk), mirrored, rel_tol=1e-9, abs_tol=1e-12)


def test_sampling_twice_is_sampling_at_the_product() -> None:
    twice = Removed(Removed(gaussian_pair(1.0), 0.1), 0.2)
    once = Removed(gaussian_pair(1.0), 0.02)
    edges = np.linspace(-0.05, 2, 200)
    for one, two in zip(once.masses(edges), twice.masses(edges), strict=True):
        np.testing.assert_allclose(one, two, rtol=1e-8, atol=1e-15)


def test_sampling_scales_a_failure() -> None:
    rate, delta = 0.2, 1e-3
    base = claimed_pair(0.8, delta)
    beyond = np.array([np.inf])
    assert math.isclose(Removed(base, rate).masses(beyond)[0][1], rate * delta)
    assert Added(base, rate).masses(beyond)[0][1] == 0
    # the unit's failure is seen as a finite loss of −ln(1−q) from the other side
    top = -math.log1p(-rate)
    p, q = Added(base, rate).masses(np.array([top - 1e-9, top + 1e-9]))
    assert math.isclose(p[1], delta)
    assert math.isclose(q[1], (1 - rate) * delta)
    p, q = Removed(base, rate).masses(np.array([-top - 1e-9, -top + 1e-9]))
    assert math.isclose(p[1], (1 - rate) * delta)
    assert math.isclose(q[1], delta)


def test_fixed_size_sampling_dominates_a_real_one() -> None:
    """Every pair of neighbours among four people, two of them sampled, their sum released with truncated noise."""

    def base(total: int) -> np.ndarray:
        noisy = np.array([math.exp(-abs(k - total) / 1.5) for k in range(-2, 5)])
        return noisy / noisy.sum()

    def output(people: tuple[int, ...]) -> np.ndarray:
        return sum(base(sum(sample)) / 6 for sample in itertools.combinations(people, 2))

    # the largest loss between sums that differ by one is the pure ε of what is run on the sample
    pure = max(float(np.max(np.abs(np.log(base(a) / base(a + 1))))) for a in (0, 1))
    pair = FixedSize(Removed(claimed_pair(pure), 0.5))
    checked = 0
    for people in itertools.product((0, 1), repeat=4):
        for who in range(4):
            other = (*people[:who], 1 - people[who], *people[who + 1 :])
            for epsilon in (-0.3, -0.1, 0.0, 0.1, 0.25):
                gap = float(np.sum(np.maximum(output(people) - math.exp(epsilon) * output(other), 0)))
                assert gap <= profile(pair, epsilon) + 1e-12
                checked += 1
    assert checked == 320


def test_fixed_size_profile_is_symmetric_and_that_of_removal_above_zero() -> None:
    removed = Removed(gaussian_pair(1.3), 0.1)
    pair = FixedSize(removed)
    for epsilon in (0.0, 0.05, 0.4, 2.0):
        assert math.isclose(profile(pair, epsilon), profile(removed, epsilon), rel_tol=1e-10)
        mirrored = 1 - math.exp(-epsilon) + math.exp(-epsilon) * profile(pair, epsilon)
        assert math.isclose(profile(pair, -epsilon), mirrored, rel_tol=1e-10, abs_tol=1e-14)


# ---- the table ------------------------------------------------------------------------------------------------------

SIMPLE = [
    events.Gaussian(4),
    events.Laplace(2),
    events.DiscreteLaplace(2),
    events.DiscreteLaplace(2, 3, 3),
    events.DiscreteGaussian(4),
    events.DiscreteGaussian(4, "0.5"),
    events.Exponential(1),
    events.PermuteAndFlip(1),
    events.LaplaceNoisyMax(1),
    events.SparseVector(1, 1),
    events.Ladder(1),
    events.SmoothCauchy(1),
    events.SmoothLaplace(1, "1e-6"),
    events.PartitionSelection(1, "1e-6"),
    events.SummedDiscreteGaussian(3, 1),
    events.Skellam(4),
    events.Declared(events.Gaussian(4), "1e-5", 3),
    events.RandomizedResponse(1, 4),
    events.Pure(1),
    events.Approximate(1, "1e-6"),
    events.Approximate(0, "1e-6"),
    events.Personalised((1, 2)),
]


@pytest.mark.parametrize("event", SIMPLE, ids=repr)
def test_simple_events_have_one_pair_for_both_directions(event: events.Event) -> None:
    (pair,) = LOSSES[type(event)](event)
    p, q = pair.masses(np.array([0.0]))
    assert math.isclose(p.sum(), 1, rel_tol=1e-12)
    assert math.isclose(q.sum(), 1, rel_tol=1e-12)
    # symmetric: P of a loss is Q of its mirror image
    for x in (0.11, 0.43):
        assert math.isclose(pair.masses(np.array([x]))[0][1], pair.masses(np.array([-x]))[1][0], rel_tol=1e-9)


def test_a_personalised_release_is_priced_by_its_highest_class() -> None:
    (pair,) = LOSSES[events.Personalised](events.Personalised((1, 3, 2)))
    assert pair.reach(0)[1] == 3.0


def test_an_answer_that_cannot_move_by_a_whole_step_costs_nothing() -> None:
    (pair,) = LOSSES[events.DiscreteGaussian](events.DiscreteGaussian(4, "0.99"))
    assert pair.reach(0) == (0.0, 0.0)


def test_sampled_events_have_a_pair_for_each_direction() -> None:
    sampled = events.PoissonSampled(events.Laplace(2), "0.1")
    removed, added = LOSSES[events.PoissonSampled](sampled)
    assert isinstance(removed, Removed)
    assert isinstance(added, Added)
    assert len(LOSSES[events.FixedSizeSampled](events.FixedSizeSampled(events.Laplace(2), 10, 100))) == 1


def test_gaussian_noises_on_one_sample_add_up() -> None:
    one = events.PoissonSampled(events.Gaussian(1), "0.1")
    four = events.PoissonSampled(events.Repeated(events.Gaussian(4), 4), "0.1")
    edges = np.linspace(-0.1, 3, 50)
    for a, b in zip(LOSSES[type(one)](one), LOSSES[type(four)](four), strict=True):
        np.testing.assert_allclose(a.masses(edges), b.masses(edges), rtol=1e-12)


@pytest.mark.parametrize(
    "sampled",
    [events.PoissonSampled(events.Laplace(2), 1), events.FixedSizeSampled(events.Laplace(2), 7, 7)],
    ids=["poisson", "fixed size"],
)
def test_a_sample_of_all_is_no_sample(sampled: events.Event) -> None:
    assert whole_sample(sampled) == events.Laplace(2)
    assert whole_sample(events.Laplace(2)) is None
    (pair,) = LOSSES[type(sampled)](sampled)
    assert pair.reach(0) == (-0.5, 0.5)


@pytest.mark.parametrize(
    ("event", "code"),
    [
        (events.DiscreteGaussian(4, 2, 2), "SRD-C011"),
        (events.PoissonSampled(events.Repeated(events.Laplace(2), 2), "0.1"), "SRD-C012"),
        (events.FixedSizeSampled(events.PoissonSampled(events.Laplace(2), "0.1"), 1, 10), "SRD-C013"),
        (events.PoissonSampled(events.Concentrated(1), "0.1"), "SRD-C001"),
    ],
)
def test_what_has_no_proven_pair_is_refused(event: events.Event, code: str) -> None:
    with pytest.raises(UnsupportedError) as caught:
        LOSSES[type(event)](event)
    assert caught.value.code == code


def test_a_bare_concentration_claim_has_no_entry() -> None:
    assert events.Concentrated not in LOSSES
    assert events.Sensitive not in LOSSES
