"""Mixtures of Gaussians: a user whose examples are sampled, against quadrature, vectors in the plane, and a peer."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import mpmath as mp
import numpy as np
import pytest
from dp_accounting import dp_event
from dp_accounting.pld import PLDAccountant
from hypothesis import given, settings
from hypothesis import strategies as st

from sordino.accounting import pld, renyi, zcdp
from sordino.accounting.curve import curve
from sordino.accounting.declared import declare
from sordino.accounting.events import Gaussian, GaussianMixture, PoissonSampled, Repeated, Replaced
from sordino.accounting.mixture import of_examples
from sordino.accounting.neighbours import Neighbours
from sordino.accounting.relation import charged_as
from sordino.errors import ArgumentError, UnsupportedError

MIXTURES = [
    GaussianMixture(1, (0, 1, 2), ("0.5", "0.3", "0.2")),
    GaussianMixture(4, (0, 1, 5), ("0.9", "0.0999", "0.0001")),
    GaussianMixture(9, (1, 2), ("0.5", "0.5")),
    GaussianMixture("0.25", ("0.5", 3), ("0.999", "0.001")),
    of_examples(6, "0.05", 4),
]


def truth(event: GaussianMixture, epsilon: float) -> float:
    """Return the larger δ of both directions in 30 digits, by quadrature."""
    with mp.workdps(30):
        variance = mp.mpf(event.variance.numerator) / event.variance.denominator
        parts = [
            (mp.mpf(size.numerator) / size.denominator, mp.mpf(chance.numerator) / chance.denominator)
            for size, chance in zip(event.sensitivities, event.probabilities, strict=True)
        ]

        def ratio(x: mp.mpf) -> mp.mpf:
            return mp.fsum(p * mp.exp((x * d - d * d / 2) / variance) for d, p in parts)

        def zero(x: mp.mpf) -> mp.mpf:
            return mp.exp(-x * x / (2 * variance)) / mp.sqrt(2 * mp.pi * variance)

        def place(level: mp.mpf) -> mp.mpf:
            low, high = mp.mpf(-400), mp.mpf(400)
            for _ in range(120):
                middle = (low + high) / 2
                low, high = (middle, high) if ratio(middle) < level else (low, middle)
            return low

        def above(x: mp.mpf) -> tuple[mp.mpf, mp.mpf]:
            root = mp.sqrt(variance)
            return mp.fsum(p * mp.ncdf((d - x) / root) for d, p in parts), mp.ncdf(-x / root)

        level = mp.exp(mp.mpf(epsilon))
        p, q = above(place(level))
        removed = p - level * q
        if 1 / level <= parts[0][1] and parts[0][0] == 0:
            return float(removed)  # no output is that much likelier without the unit
        p, q = above(place(1 / level))
        return float(max(removed, (1 - q) - level * (1 - p)))


@pytest.mark.parametrize("event", MIXTURES, ids=lambda event: str(len(event.sensitivities)) + str(event.variance))
@pytest.mark.parametrize("epsilon", [0.0, 0.2, 1.0, 3.0])
def test_the_bracket_holds_the_exact_curve(event: GaussianMixture, epsilon: float) -> None:
    bracket = pld.delta_bracket(event, str(epsilon))
    true = truth(event, epsilon)
    assert bracket.lower * (1 - 1e-9) <= true <= bracket.upper * (1 + 1e-9) + 1e-14
    assert bracket.upper <= true * 1.002 + 1e-13


@pytest.mark.parametrize("event", MIXTURES, ids=lambda event: str(len(event.sensitivities)) + str(event.variance))
def test_renyi_is_never_below_the_truth(event: GaussianMixture) -> None:
    sigma = math.sqrt(event.variance)
    x = np.linspace(-40 * sigma, 40 * sigma + float(event.sensitivities[-1]) * 40, 400_001)
    width = x[1] - x[0]
    q = -(x**2) / (2 * float(event.variance)) - math.log(sigma * math.sqrt(2 * math.pi))
    p = np.logaddexp.reduce(
        [
            math.log(chance)
            - (x - float(size)) ** 2 / (2 * float(event.variance))
            - math.log(sigma * math.sqrt(2 * math.pi))
            for size, chance in zip(event.sensitivities, event.probabilities, strict=True)
        ]
    )
    for order in (1.1, 2.0, 5.0, 12.0):
        claimed = curve(event, "renyi")(event, np.array([order]))[0]
        for a, b in ((p, q), (q, p)):
            true = float(np.logaddexp.reduce(order * a + (1 - order) * b) + math.log(width)) / (order - 1)
            assert true <= claimed * (1 + 1e-6)
            assert true <= float(zcdp.rho(event)) * order * (1 + 1e-6)


@pytest.mark.parametrize("angles", [(0.0, 0.0), (0.0, 1.0), (0.5, 2.5), (0.0, math.pi)], ids=str)
def test_vectors_in_the_plane_tell_no_more_than_numbers(angles: tuple[float, float]) -> None:
    """Centres of norm 1 and 2 at several angles, and none: δ in the plane by summation over a fine grid."""
    event = GaussianMixture(2, (0, 1, 2), ("0.5", "0.3", "0.2"))
    axis = np.linspace(-10, 11, 901)
    cell = (axis[1] - axis[0]) ** 2

    def density(x: float, y: float) -> np.ndarray:
        along, across = np.meshgrid(axis - x, axis - y, indexing="ij")
        return np.exp(-(along**2 + across**2) / 4) / (4 * math.pi) * cell

    absent = density(0, 0)
    one, two = (density(r * math.cos(a), r * math.sin(a)) for r, a in zip((1, 2), angles, strict=True))
    present = 0.5 * absent + 0.3 * one + 0.2 * two
    for epsilon in (0.0, 0.2, 0.6):
        claimed = pld.delta(event, str(epsilon))
        for p, q in ((present, absent), (absent, present)):
            assert float(np.sum(np.maximum(p - math.exp(epsilon) * q, 0))) <= claimed * (1 + 1e-3)


@pytest.mark.parametrize(("examples", "rate", "variance", "steps"), [(3, "0.05", 9, 200), (10, "0.01", 100, 500)])
def test_a_peer_agrees(examples: int, rate: str, variance: int, steps: int) -> None:
    event = of_examples(examples, rate, variance)
    peer = PLDAccountant()
    sizes, chances = [float(each) for each in event.sensitivities], [float(each) for each in event.probabilities]
    peer.compose(dp_event.MixtureOfGaussiansDpEvent(math.sqrt(variance), sizes, chances), steps)
    bracket = pld.epsilon_bracket(Repeated(event, steps), "1e-5")
    assert bracket.lower <= peer.get_epsilon(1e-5)
    assert bracket.upper == pytest.approx(peer.get_epsilon(1e-5), rel=1e-3)


def test_one_example_is_a_poisson_sample() -> None:
    event, plain = of_examples(1, "0.1", 4), PoissonSampled(Gaussian(4), "0.1")
    assert pld.epsilon(Repeated(event, 50), "1e-6") == pld.epsilon(Repeated(plain, 50), "1e-6")


def test_larger_sensitivities_cost_more() -> None:
    prices = [
        pld.delta(GaussianMixture(4, sizes, ("0.8", "0.15", "0.05")), "0.1")
        for sizes in ((0, 1, 2), (0, 1, 3), (0, "1.5", 3), ("0.1", "1.5", 3))
    ]
    assert all(less < more for less, more in itertools.pairwise(prices))


@given(examples=st.integers(1, 30), rate=st.fractions(Fraction(1, 1000), Fraction(9, 10), max_denominator=1000))
@settings(max_examples=30, deadline=None)
def test_chances_are_moved_up_only(examples: int, rate: Fraction) -> None:
    event = of_examples(examples, rate, 1, "0.5")
    by_size = dict(zip(event.sensitivities, event.probabilities, strict=True))
    for least in range(1, examples + 1):
        true = sum(math.comb(examples, k) * rate**k * (1 - rate) ** (examples - k) for k in range(least, examples + 1))
        claimed = sum(chance for size, chance in by_size.items() if size >= Fraction(least, 2))
        assert true <= claimed <= true + Fraction(1, 10**20)


def test_a_run_is_declared_at_its_loss() -> None:
    run = Repeated(of_examples(5, "0.02", 25), 300)
    declared = declare(run, "1e-6")
    assert float(declared.epsilon) < 0.5 * renyi.epsilon(run, "1e-6")


def test_it_speaks_of_units_that_come_and_go() -> None:
    event = of_examples(5, "0.02", 25)
    with pytest.raises(ArgumentError, match="bound the answer under the relation of the event"):
        charged_as(event, Neighbours.REPLACE_ONE, Neighbours.REPLACE_ONE)
    with pytest.raises(UnsupportedError, match="bound it under replace-one"):
        renyi.curve(Replaced(event), np.array([2.0]))
    with pytest.raises(UnsupportedError, match="bound it under replace-one"):
        pld.epsilon(Replaced(event), "1e-6")


@pytest.mark.parametrize(
    "arguments",
    [
        (0, (0, 1), ("0.5", "0.5")),
        (1, (1,), (1,)),
        (1, (0, 1), ("0.5", "0.4")),
        (1, (1, 0), ("0.5", "0.5")),
        (1, (1, 1), ("0.5", "0.5")),
        (1, (-1, 1), ("0.5", "0.5")),
        (1, (0, 1, 2), ("0.5", "0.5")),
        (1, 5, ("0.5", "0.5")),
    ],
    ids=str,
)
def test_bad_mixtures_are_refused(arguments: tuple[object, ...]) -> None:
    with pytest.raises(ArgumentError):
        GaussianMixture(*arguments)  # type: ignore[arg-type]
