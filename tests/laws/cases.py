"""The house's own mechanisms as cases for the laws, and models for a stranger's.

Inputs are chosen so that neighbours differ as much as the bound allows and the telling outcomes are not too rare: then
the audit comes close to the claim.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np

from laws import references as reference
from laws.cases_people import PEOPLE
from laws.cases_tables import TABLES
from sordino.accounting.bound import Bound
from sordino.mechanisms.checks.case import Case
from sordino.mechanisms.exponential import Exponential
from sordino.mechanisms.gaussian import DiscreteGaussian, Gaussian
from sordino.mechanisms.grid import Grid
from sordino.mechanisms.laplace import Laplace
from sordino.mechanisms.noisy_max import GumbelMax, LaplaceMax, PermuteAndFlip
from sordino.mechanisms.sparse_vector import AboveThreshold, NumericAboveThreshold
from sordino.mechanisms.top_k import TopK

COUNT = Bound.scalar(1)
SCORES = Bound.vector(l0=3, linf=1)
QUARTERS = Grid(-2)


def _quarters(value: float) -> int:
    return math.floor(4 * value + 0.5)


ADDITIVE = (
    Case(
        "laplace",
        lambda level: Laplace(2 * level),
        COUNT,
        value=5,
        neighbour=4,
        outcome=lambda released: min(max(released, 0), 10),
        law=lambda value, level: reference.clamped(reference.discrete_laplace(2 * level), value, 0, 10),
        tightness=0.4,
        draws=12000,
    ),
    Case(
        "laplace-on-a-grid",
        lambda level: Laplace(2 * level, QUARTERS),
        Bound.scalar("0.9"),
        value=5.1,
        neighbour=4.2,
        outcome=lambda released: min(max(math.floor(released * 4), 0), 40),
        law=lambda value, level: reference.clamped(reference.discrete_laplace(8 * level), _quarters(value), 0, 40),
        tightness=0.1,
        draws=20000,
    ),
    Case(
        "laplace-vector",
        lambda level: Laplace(2 * level),
        Bound.vector(l0=2, linf=1),
        value=np.array([3, 0, 1]),
        neighbour=np.array([2, 1, 1]),
        outcome=lambda released: int(np.clip(released[0] - released[1], -6, 12)),
        tightness=0.1,
        draws=10000,
    ),
    Case(
        "gaussian",
        lambda level: Gaussian(4 * level**2),
        COUNT,
        value=5,
        neighbour=4,
        outcome=lambda released: min(max(released, -1), 11),
        law=lambda value, level: reference.clamped(reference.rounded_gaussian(4 * level**2), value, -1, 11),
        tightness=0.1,
        draws=12000,
    ),
    Case(
        "discrete-gaussian",
        lambda level: DiscreteGaussian(4 * level**2),
        COUNT,
        value=5,
        neighbour=4,
        outcome=lambda released: min(max(released, -1), 11),
        law=lambda value, level: reference.clamped(reference.discrete_gaussian(4 * level**2), value, -1, 11),
        tightness=0.1,
        draws=12000,
    ),
)

SELECTION = (
    Case(
        "exponential",
        lambda level: Exponential(level, 3),
        SCORES,
        value=[0, 3, 1],
        neighbour=[1, 2, 0],
        law=reference.exponential,
        tightness=0.3,
    ),
    Case(
        "exponential-monotone",
        lambda level: Exponential(level, 3, monotone=True),
        SCORES,
        value=[0, 3, 1],
        neighbour=[1, 3, 1],
        law=reference.exponential,
        tightness=0.05,
        draws=6000,
    ),
    Case(
        "exponential-on-a-grid",
        lambda level: Exponential(level, 3, QUARTERS),
        SCORES,
        value=[0.1, 3.0, 1.1],
        neighbour=[1.1, 2.0, 0.1],
        law=lambda value, level: reference.exponential([_quarters(score) / 4 for score in value], level),
        tightness=0.3,
    ),
    Case(
        "gumbel-max",
        lambda level: GumbelMax(level, 3),
        SCORES,
        value=[0, 3, 1],
        neighbour=[1, 2, 0],
        law=reference.exponential,
        tightness=0.3,
    ),
    Case(
        "permute-and-flip",
        lambda level: PermuteAndFlip(level, 3),
        SCORES,
        value=[0, 3, 1],
        neighbour=[1, 2, 0],
        law=reference.permute_and_flip,
        tightness=0.3,
    ),
    Case(
        "laplace-max",
        lambda level: LaplaceMax(level, 3),
        SCORES,
        value=[0, 3, 1],
        neighbour=[1, 2, 0],
        law=reference.laplace_max,
        tightness=0.3,
    ),
    Case(
        "top-k",
        lambda level: TopK(2 * level, 3, count=2),
        SCORES,
        value=[0, 3, 4],
        neighbour=[1, 2, 3],
        outcome=lambda released: tuple(released.tolist()),
        law=lambda value, level: reference.top_k(value, 2 * level, 2),
        tightness=0.05,
    ),
)


def _number_or_nothing(released: Any) -> float | None:
    return None if math.isnan(released[0]) else min(max(float(released[0]), -4.0), 4.0)


def _number_law(value: list[int], level: float) -> reference.Law:
    above = reference.above_threshold(value, 2, 2 * level, 4 * level, 1)[(True,)]
    numbers = reference.clamped(reference.discrete_laplace(2 * level), value[0], -4, 4)
    return {None: 1 - above} | {float(number): above * share for number, share in numbers.items()}


SPARSE_VECTOR = (
    Case(
        "above-threshold",
        lambda level: AboveThreshold(Fraction(4), 2 * level, 4 * level, 1),
        Bound.vector(l0=4, linf=1),
        value=[0, 0, 0, 1],
        neighbour=[1, 1, 1, 0],
        outcome=lambda released: tuple(released.tolist()),
        law=lambda value, level: reference.above_threshold(value, 4, 2 * level, 4 * level, 1),
        draws=8000,
    ),
    Case(
        "above-threshold-two-positives",
        lambda level: AboveThreshold(Fraction(2), level, 3 * level, 2, monotone=True),
        Bound.vector(l0=4, linf=1),
        value=[0, 3, 0, 3],
        neighbour=[1, 4, 1, 4],
        outcome=lambda released: tuple(released.tolist()),
        law=lambda value, level: reference.above_threshold(value, 2, level, 3 * level, 2),
        draws=6000,
    ),
    Case(
        "numeric-above-threshold",
        lambda level: NumericAboveThreshold(AboveThreshold(Fraction(2), 2 * level, 4 * level, 1), 2 * level),
        COUNT,
        value=[0],
        neighbour=[1],
        outcome=_number_or_nothing,
        law=_number_law,
        tightness=0.1,
        draws=6500,
    ),
)

CASES: tuple[Case, ...] = (*ADDITIVE, *SELECTION, *SPARSE_VECTOR, *PEOPLE, *TABLES)
"""Every mechanism of the house, at least once."""
