"""How far normal laws fall from a node to a place beyond it: bounds in floats against forty digits and more."""

from __future__ import annotations

from fractions import Fraction

import mpmath
import numpy as np
import pytest

from sordino.noise import DiscreteGaussian, DiscreteLaplace, RoundedGaussian

VARIANCES = [Fraction(3, 10), Fraction(7), Fraction(64), Fraction(10**6), Fraction(4478045379354), Fraction(2**100)]
SLACK = mpmath.mpf(2) ** -50


def _density(k, variance):
    return mpmath.exp(-(mpmath.mpf(k) ** 2) * variance.denominator / (2 * variance.numerator))


def _mass(k, variance):
    unit = mpmath.sqrt(2 * mpmath.mpf(variance.numerator) / variance.denominator)
    return mpmath.erfc((mpmath.mpf(k) - 0.5) / unit) - mpmath.erfc((mpmath.mpf(k) + 0.5) / unit)


def _places(variance):
    sigma = max(1, int(mpmath.sqrt(mpmath.mpf(variance.numerator) / variance.denominator)))
    width = max(1, sigma >> 6)
    nodes = np.array([0, width, sigma // 2, sigma, 2 * sigma, 5 * sigma, 8 * sigma]).repeat(4)
    return nodes, np.tile(np.array([0, 1, max(1, width // 3), width]), 7)


@pytest.mark.parametrize("variance", VARIANCES, ids=str)
@pytest.mark.parametrize(("law", "weight"), [(DiscreteGaussian, _density), (RoundedGaussian, _mass)])
def test_falls_enclose_the_truth(law, weight, variance):
    nodes, beyond = _places(variance)
    least, most = law(variance).falls(nodes, beyond)
    with mpmath.workdps(120):
        for node, further, low, high in zip(nodes.tolist(), beyond.tolist(), least, most, strict=True):
            truth = mpmath.log(weight(node, variance) / weight(node + further, variance))
            assert float(low) * (1 - SLACK) <= truth <= float(high) * (1 + SLACK)


@pytest.mark.parametrize("variance", VARIANCES[2:], ids=str)
def test_falls_are_told_closely_enough_to_decide(variance):
    least, most = RoundedGaussian(variance).falls(*_places(variance))
    assert (most - least <= most / (3 * float(variance))).all()


def test_other_laws_leave_it_to_log_concavity():
    assert DiscreteLaplace(1000).falls(np.array([0]), np.array([1])) is None
