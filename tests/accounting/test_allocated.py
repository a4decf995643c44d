"""Random allocation: a unit in one of t steps, against enumeration, quadrature, simulation and Poisson samples."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import pairwise, product

import mpmath as mp
import numpy as np
import pytest
import scipy
from hypothesis import given, settings
from hypothesis import strategies as st

from sordino.accounting import pld, renyi, zcdp
from sordino.accounting.allocated import _addition, allocated
from sordino.accounting.curve import curve
from sordino.accounting.events import Allocated, Composed, Gaussian, Laplace, PoissonSampled, Repeated, Replaced
from sordino.accounting.neighbours import Neighbours
from sordino.accounting.relation import charged_as
from sordino.errors import ArgumentError, UnsupportedError


def divergence(event: Allocated, order: float) -> float:
    return float(curve(event, "renyi")(event, np.array([order]))[0])


def removal(order: int, steps: int, square: float) -> float:
    """ln E[Aⁿ]/(n−1) by trying all ways in which n throws fall into t steps."""
    total = mp.mpf(0)
    for thrown in product(range(steps), repeat=order):
        total += mp.exp(sum(k * (k - 1) for k in np.bincount(thrown, minlength=steps)) * mp.mpf(square) / 2)
    return float(mp.log(total / steps**order) / (order - 1))


@pytest.mark.parametrize(
    ("order", "steps", "square"), [(2, 2, 1.0), (3, 4, 0.5), (6, 3, 2.0), (4, 7, 0.01), (8, 2, 9.0)]
)
def test_removal_is_the_sum_over_all_throws(order: int, steps: int, square: float) -> None:
    true = removal(order, steps, square)
    claimed = divergence(Allocated(steps, 1 / Fraction(square)), order)
    assert true <= claimed
    assert claimed == pytest.approx(max(true, addition_of_two(order, square) if steps == 2 else true), rel=1e-6)


def addition_of_two(order: float, square: float) -> float:
    """ln E[A^{1−α}]/(α−1) for two steps, by quadrature over the plane."""
    axis = np.arange(-25, 25, 0.02)
    ratio = np.exp(math.sqrt(square) * axis - square / 2)
    weights = np.exp(-(axis**2) / 2) * 0.02 / math.sqrt(2 * math.pi)
    mean = np.add.outer(ratio, ratio) / 2
    return math.log(float(weights @ mean ** (1 - order) @ weights)) / (order - 1)


@pytest.mark.parametrize("order", [1.1, 1.5, 2.0, 2.7, 5.0, 9.0])
@pytest.mark.parametrize("square", [0.01, 0.3, 1.0, 2.0])
def test_both_directions_for_two_steps(order: float, square: float) -> None:
    claimed = divergence(Allocated(2, 1 / Fraction(square)), order)
    assert addition_of_two(order, square) <= claimed * (1 + 1e-9)


@pytest.mark.parametrize(("steps", "nodes"), [(3, 100), (4, 56)])
@pytest.mark.parametrize("square", [0.05, 0.3, 1.0])
def test_both_directions_for_three_steps_and_four(steps: int, nodes: int, square: float) -> None:
    """E[Aᵅ] and E[A^{1−α}] by Gauss's rule in as many dimensions: each step's output is a dimension."""
    places, weights = np.polynomial.hermite_e.hermegauss(nodes)
    ratio, ratios, chances = np.exp(math.sqrt(square) * places - square / 2), np.zeros(1), np.ones(1)
    for _ in range(steps):
        ratios = np.add.outer(ratios, ratio / steps).ravel()
        chances = np.multiply.outer(chances, weights / weights.sum()).ravel()
    event = Allocated(steps, 1 / Fraction(str(square)))
    for order in (1.1, 1.5, 2.0, 2.7, 4.0, 6.0):
        removed = math.log(float(chances @ ratios**order)) / (order - 1)
        added = math.log(float(chances @ ratios ** (1 - order))) / (order - 1)
        claimed = divergence(event, order)
        assert max(removed, added) <= claimed * (1 + 1e-10)
        if order == int(order):
            assert claimed == pytest.approx(removed, rel=1e-8)
            alone = _addition(square, steps, (int(order) - 1,))
            assert float(alone[0]) / (order - 1) == pytest.approx(added, rel=1e-7)


@pytest.mark.parametrize("steps", [3, 4])
@pytest.mark.parametrize("square", [0.3, 1.0])
def test_the_loss_distribution_is_not_below_three_steps_and_four(steps: int, square: float) -> None:
    """P − e^ε·Q and Q − e^ε·P over a grid of all outputs but the last, which is in closed form."""
    width = {3: 0.02, 4: 0.2}[steps]
    axis = np.arange(-9, 10, width)
    one, weights = (
        np.exp(math.sqrt(square) * axis - square / 2),
        np.exp(-(axis**2) / 2) * width / math.sqrt(2 * math.pi),
    )
    others, chances = np.zeros(1), np.ones(1)
    for _ in range(steps - 1):
        others, chances = np.add.outer(others, one).ravel(), np.multiply.outer(chances, weights).ravel()

    def last(level: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return with which chance the last ratio is below a level, without the unit and with it there."""
        with np.errstate(divide="ignore"):
            ends = (np.log(np.maximum(level, 0)) + square / 2) / math.sqrt(square)
        return scipy.special.ndtr(ends), scipy.special.ndtr(ends - math.sqrt(square))

    for epsilon in (0.05, 0.2, 0.6):
        grown = math.exp(epsilon)
        low_q, low_p = last(steps * grown - others)
        removed = chances @ ((others / steps - grown) * (1 - low_q) + (1 - low_p) / steps)
        low_q, low_p = last(steps / grown - others)
        added = chances @ ((1 - grown * others / steps) * low_q - grown * low_p / steps)
        upper = pld.delta_bracket(Allocated(steps, 1 / Fraction(str(square))), str(epsilon)).upper
        assert max(removed, added) <= upper <= max(removed, added) * 1.001


@given(
    steps=st.integers(1, 10**6),
    variance=st.fractions(Fraction(1, 40), 10**6),
    order=st.floats(1.01, 300),
)
@settings(max_examples=12, deadline=None)
def test_it_never_costs_more_than_the_step_itself(steps: int, variance: Fraction, order: float) -> None:
    event = Allocated(steps, variance)
    assert 0 < divergence(event, order) <= order / (2 * float(variance)) * (1 + 1e-9)
    assert zcdp.rho(event) == 1 / (2 * variance)


@pytest.mark.parametrize("order", [2.0, 3.5, 8.0, 40.0])
def test_more_steps_and_more_noise_cost_less(order: float) -> None:
    by_steps = [divergence(Allocated(steps, 2), order) for steps in (1, 2, 3, 10, 100, 10_000)]
    by_noise = [divergence(Allocated(20, variance), order) for variance in ("0.5", 1, 2, 10, 1000)]
    for prices in (by_steps, by_noise):
        assert all(less > more for less, more in pairwise(prices))


def simulated(event: Allocated, epsilon: float, runs: int) -> tuple[float, float, float]:
    """Both δ's by drawing the likelihood ratio without the unit, and five standard errors of the first."""
    dice = np.random.default_rng(20)
    square = float(event.sensitivity_squared / event.variance)
    ratios = np.concatenate(
        [
            np.exp(math.sqrt(square) * dice.normal(size=(1000, event.steps)) - square / 2).mean(1)
            for _ in range(runs // 1000)
        ]
    )
    first, second = np.maximum(ratios - math.exp(epsilon), 0), np.maximum(1 - math.exp(epsilon) * ratios, 0)
    return float(first.mean()), float(second.mean()), 5 * float(first.std()) / math.sqrt(runs)


@pytest.mark.parametrize(("steps", "variance"), [(2, 4), (10, 1), (50, 2), (20, 25)])
@pytest.mark.parametrize("epsilon", [0.0, 0.1, 0.3])
def test_the_loss_distribution_is_what_is_drawn(steps: int, variance: int, epsilon: float) -> None:
    event = Allocated(steps, variance)
    bracket = pld.delta_bracket(event, str(epsilon))
    first, second, error = simulated(event, epsilon, 100_000)
    assert max(first, second) - error <= bracket.upper <= max(first, second) + error + 1e-6


def test_the_loss_distribution_of_two_steps_is_exact() -> None:
    """P − e^ε·Q over the plane, one coordinate in closed form."""
    event, square = Allocated(2, 1), 1.0
    axis = np.arange(-12, 14, 0.001)
    weights = np.exp(-(axis**2) / 2) * 0.001 / math.sqrt(2 * math.pi)
    for epsilon in (0.1, 0.5, 1.0):
        need = 2 * math.exp(epsilon) - np.exp(axis - square / 2)  # what the other ratio must exceed
        least = np.where(need > 0, np.log(np.maximum(need, 1e-300)) + square / 2, -np.inf)
        above_p, above_q = scipy.special.ndtr(1 - least), scipy.special.ndtr(-least)
        gained = (np.exp(axis - square / 2) * above_q + above_p) / 2 - math.exp(epsilon) * above_q
        assert pld.delta(event, str(epsilon)) == pytest.approx(float(weights @ gained), rel=1e-3)


@pytest.mark.parametrize(("steps", "variance", "epochs"), [(117, 1, 15), (100, 4, 10)])
def test_a_pass_costs_a_little_less_than_poisson_samples(steps: int, variance: int, epochs: int) -> None:
    one_pass = Repeated(Allocated(steps, variance), epochs)
    samples = Repeated(PoissonSampled(Gaussian(variance), Fraction(1, steps)), epochs * steps)
    assert 0.9 * pld.epsilon(samples, "1e-5") < pld.epsilon(one_pass, "1e-5") < pld.epsilon(samples, "1e-5")
    assert pld.epsilon(one_pass, "1e-5") < renyi.epsilon(one_pass, "1e-5") < renyi.epsilon(samples, "1e-5")


def test_renyi_is_never_below_the_loss_distribution() -> None:
    for event in (Allocated(10, 1), Allocated(1000, 2), Allocated(3, 9)):
        for delta in ("1e-3", "1e-6"):
            assert pld.epsilon_bracket(event, delta).lower <= renyi.epsilon(event, delta)


def test_one_step_is_the_step() -> None:
    assert divergence(Allocated(1, 4, 2), 3.0) == pytest.approx(0.75)
    assert pld.epsilon(Allocated(1, 4), "1e-6") == pytest.approx(pld.epsilon(Gaussian(4), "1e-6"), rel=1e-3)


def test_what_is_run_in_a_step_is_allocated_if_it_is_gaussian() -> None:
    assert allocated(Composed((Gaussian(2), Gaussian(2))), 5) == Allocated(5, 1)
    assert allocated(Gaussian(2, 4), 1) == Gaussian(2, 4)
    assert allocated(Laplace(1), 5) == Laplace(1)


def test_units_that_are_replaced_are_priced_as_in_one_step() -> None:
    assert charged_as(Allocated(9, 4), Neighbours.ADD_REMOVE, Neighbours.REPLACE_ONE) == Replaced(Allocated(9, 4))
    assert zcdp.rho(Replaced(Allocated(9, 4))) == zcdp.rho(Gaussian(4, 4))
    with pytest.raises(ArgumentError, match="bound the answer under the relation of the event"):
        charged_as(Allocated(9, 4), Neighbours.REPLACE_ONE, Neighbours.REPLACE_ONE)


def test_too_little_noise_for_a_loss_distribution_is_refused() -> None:
    with pytest.raises(UnsupportedError, match="price it by Rényi"):
        pld.epsilon(Allocated(100, "0.1"), "1e-6")


@pytest.mark.parametrize("arguments", [(0, 1), (1, 0), (2, 1, -1), (1.5, 1), (10**10, 1)], ids=str)
def test_bad_allocations_are_refused(arguments: tuple[object, ...]) -> None:
    with pytest.raises(ArgumentError):
        Allocated(*arguments)  # type: ignore[arg-type]
