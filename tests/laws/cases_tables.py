"""Cases for mechanisms that look at a whole column: quantiles, keys, norms, and answers with local sensitivities."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np

from laws import references as reference
from sordino.accounting.bound import Bound
from sordino.mechanisms.adaptive_clipping import AdaptiveClipping
from sordino.mechanisms.checks.case import Case
from sordino.mechanisms.flipped_quantile import FlippedQuantile
from sordino.mechanisms.geometric_threshold import GeometricThreshold
from sordino.mechanisms.grid import INTEGERS
from sordino.mechanisms.grouped_choice import GroupedHistogram, GroupedQuantile, GroupedTop
from sordino.mechanisms.grouped_extreme import GroupedExtreme
from sordino.mechanisms.ladder import Ladder
from sordino.mechanisms.local_sensitivity import LocalAnswer
from sordino.mechanisms.partition import GaussianThreshold, LaplaceThreshold, TruncatedGeometric
from sordino.mechanisms.quantile import Quantiles
from sordino.mechanisms.smooth import SmoothCauchy, SmoothLaplace

ONE = Bound.scalar(1)
THREE = Bound.scalar(3)

_FAILURE = 1e-4
_DELTA = Fraction(1, 10**4)
_KEY = 9  # units that have the key; about half of such keys are kept


def _median_law(value: list[int], level: float) -> reference.Law:
    """The points 0 … 5 as medians of the values at ε = 2; one value more or less moves a score by half a rank."""
    half = len(value) / 2
    scores = [-max(0.0, sum(v < x for v in value) - half, half - sum(v <= x for v in value)) for x in range(6)]
    return reference.exponential(scores, level / 2)


def _weights(value: GroupedHistogram, size: int) -> list[list[int]]:
    """The weights of each group, bucket by bucket."""
    weights = [[0] * size for _ in range(value.groups)]
    for group, bucket, weight in value.rows:
        weights[group][bucket] += weight
    return weights


def _product(laws: list[reference.Law]) -> reference.Law:
    """The law of independent outcomes, as tuples."""
    joint: dict[Any, float] = {(): 1.0}
    for law in laws:
        joint = {(*labels, label): share * each for labels, share in joint.items() for label, each in law.items()}
    return joint


def _median_scores(value: GroupedHistogram) -> list[list[float]]:
    """How deep the middle rank lies within each of three buckets, or minus how far outside, for each group."""
    scores = []
    for weights in _weights(value, 3):
        below = [sum(weights[:bucket]) for bucket in range(4)]
        half = sum(weights) / 2
        scores.append([min(half - below[bucket], below[bucket + 1] - half) for bucket in range(3)])
    return scores


def _grouped_median_law(value: GroupedHistogram, level: float) -> reference.Law:
    """The medians of two groups over three buckets at ε = 2; a weight of one moves a score by half a rank."""
    return _product([reference.exponential(scores, level / 2) for scores in _median_scores(value)])


def _flipped_median_law(value: GroupedHistogram, level: float) -> reference.Law:
    return _product([reference.permute_and_flip(scores, level / 2) for scores in _median_scores(value)])


def _extreme_law(value: GroupedHistogram, level: float) -> reference.Law:
    """The largest of three buckets at ε = 5, a twentieth of a rank inside for each row: a rank inwards costs e."""
    laws = []
    for weights in _weights(value, 3):
        inside = sum(weights) / 20
        beyond = [sum(weights[place + 1 :]) for place in range(3)]
        scores = [min(4 * (away + own - inside), inside - away) for away, own in zip(beyond, weights, strict=True)]
        laws.append(reference.exponential(scores, level))
    return _product(laws)


def _grouped_mode_law(value: GroupedHistogram, level: float) -> reference.Law:
    """The most frequent of two categories in each of two groups at ε = 1: weights only rise, so the rate is ε."""
    return _product([reference.exponential([float(each) for each in row], level) for row in _weights(value, 2)])


def _kept(units: int, epsilon: float) -> float:
    share = 0.0
    for _ in range(units):
        share = min(math.exp(epsilon) * share + _FAILURE, 1 - math.exp(-epsilon) * (1 - share - _FAILURE), 1.0)
    return share


def _key_law(value: list[int], level: float) -> reference.Law:
    share = _kept(value[0], 1 / level)
    return {True: share, False: 1 - share}


def _count_shown(released: Any) -> int | None:
    return int(released.counts[0]) if released.keep[0] else None


def _threshold_law(noise: reference.Pmf, units: int, threshold: int) -> reference.Law:
    shown = {k + units: share for k, share in noise.items() if k + units >= threshold}
    return {None: 1 - sum(shown.values()), **shown}


def _laplace_threshold_law(value: list[int], level: float) -> reference.Law:
    threshold = LaplaceThreshold(_DELTA, Fraction(1)).threshold(ONE)
    return _threshold_law(reference.discrete_laplace(level), value[0], threshold)


def _geometric_threshold_law(value: list[int], level: float) -> reference.Law:
    """The noise whose partial sums are the probabilities of the rule without counts, around its mean."""
    shares = [_kept(units + 1, 1 / level) - _kept(units, 1 / level) for units in range(60)]
    centre = math.floor(math.fsum(drawn * share for drawn, share in enumerate(shares)) + 0.5)
    noise = {centre - drawn: share for drawn, share in enumerate(shares) if share}
    return _threshold_law(noise, value[0], centre + 1)


def _gaussian_threshold_law(value: list[int], level: float) -> reference.Law:
    threshold = GaussianThreshold(_DELTA, Fraction(4)).threshold(ONE)
    return _threshold_law(reference.rounded_gaussian(4 * level**2), value[0], threshold)


def _cauchy_law(value: LocalAnswer, level: float) -> reference.Law:
    scale = 2 * level
    total = math.pi * scale / math.tanh(math.pi * scale)
    law: dict[int, float] = {k: 1 / (1 + ((k - value.value) / scale) ** 2) / total for k in range(-7, 8)}
    above = math.fsum(1 / (1 + ((k - value.value) / scale) ** 2) / total for k in range(8, 10**5))
    return law | {8: above, -8: 1 - above - math.fsum(law.values())}


def _ladder_law(value: LocalAnswer, level: float) -> reference.Law:
    """Rung 1 is as wide as the local sensitivity, all others as the global one, 3."""
    first = value.sensitivities[0]

    def rung(distance: int) -> int:
        return 0 if distance == 0 else 1 + max(0, math.ceil((distance - first) / 3))

    weights = {k: math.exp(-rung(abs(k)) / (2 * level)) for k in range(-400, 401)}
    total = math.fsum(weights.values())
    return reference.clamped({k: weight / total for k, weight in weights.items()}, int(value.value), -8, 8)


def _clamp(released: int) -> int:
    return min(max(released, -8), 8)


def _radius_law(value: Any, level: float) -> reference.Law:
    """The centred count of 101 (or 100) records of which 51 are within the radius, and Gaussian noise."""
    return reference.clamped(reference.rounded_gaussian(16 * level**2), 2 * 51 - len(value), -12, 12)


TABLES = (
    Case(
        "quantile",
        lambda level: Quantiles((Fraction(1, 2),), 2 / level, Fraction(0), Fraction(5), INTEGERS),
        ONE,
        value=[2, 2, 2, 2],
        neighbour=[2, 2, 2],
        outcome=lambda released: int(released[0]),
        law=_median_law,
        tightness=0.01,
    ),
    Case(
        "two-quantiles",
        lambda level: Quantiles((Fraction(1, 4), Fraction(3, 4)), 1 / level, Fraction(0), Fraction(3), INTEGERS),
        ONE,
        value=[0, 0, 3, 3],
        neighbour=[0, 3, 3],
        outcome=lambda released: tuple(released.tolist()),
        draws=1500,
    ),
    Case(
        "grouped-quantile",
        lambda level: GroupedQuantile(Fraction(1, 2), 2 / level, 3),
        ONE,
        value=GroupedHistogram([(0, 1, 2), (1, 0, 1), (1, 2, 1)], 2),
        neighbour=GroupedHistogram([(0, 1, 2), (1, 0, 1)], 2),
        outcome=lambda released: tuple(released.tolist()),
        law=_grouped_median_law,
        tightness=0.1,
        draws=6000,
    ),
    Case(
        "flipped-quantile",
        lambda level: FlippedQuantile(Fraction(1, 2), 2 / level, 3),
        ONE,
        value=GroupedHistogram([(0, 1, 2), (1, 0, 1), (1, 2, 1)], 2),
        neighbour=GroupedHistogram([(0, 1, 2), (1, 0, 1)], 2),
        outcome=lambda released: tuple(released.tolist()),
        law=_flipped_median_law,
        tightness=0.1,
        draws=6000,
    ),
    Case(
        "grouped-extreme",
        lambda level: GroupedExtreme(Fraction(1), 5 / level, 3, -9),
        ONE,
        value=GroupedHistogram([(0, 1, 2), (1, 0, 1), (1, 2, 1)], 2),
        neighbour=GroupedHistogram([(0, 1, 2), (1, 0, 1)], 2),
        outcome=lambda released: tuple(released.tolist()),
        law=_extreme_law,
        tightness=0.02,
        draws=6000,
    ),
    Case(
        "grouped-top",
        lambda level: GroupedTop(1, 1 / level, 2),
        Bound.vector(l0=2, l1=1),
        value=GroupedHistogram([(0, 0, 1), (1, 1, 1)], 2),
        neighbour=GroupedHistogram([(1, 1, 1)], 2),
        outcome=lambda released: tuple(released[:, 0].tolist()),
        law=_grouped_mode_law,
        tightness=0.1,
        draws=6000,
    ),
    Case(
        "grouped-top-two",
        lambda level: GroupedTop(2, 2 / level, 3),
        Bound.scalar(2),
        value=GroupedHistogram([(0, 0, 2), (0, 1, 2)], 1),
        neighbour=GroupedHistogram([(0, 1, 2)], 1),
        outcome=lambda released: tuple(released[0].tolist()),
        tightness=0.1,
    ),
    Case(
        "truncated-geometric",
        lambda level: TruncatedGeometric(1 / level, _DELTA),
        ONE,
        value=[_KEY],
        neighbour=[_KEY - 1],
        outcome=lambda released: bool(released[0]),
        law=_key_law,
        delta=2 * _FAILURE,
        tightness=0.4,
    ),
    Case(
        "geometric-threshold",
        lambda level: GeometricThreshold(1 / level, _DELTA),
        ONE,
        value=[_KEY],
        neighbour=[_KEY - 1],
        outcome=_count_shown,
        law=_geometric_threshold_law,
        delta=2 * _FAILURE,
        tightness=0.2,
        draws=6000,
    ),
    Case(
        "geometric-threshold-two-keys",
        lambda level: GeometricThreshold(2 / level, 2 * _DELTA, 2),
        Bound.vector(l0=2, linf=1),
        value=[_KEY, _KEY],
        neighbour=[_KEY - 1, _KEY - 1],
        outcome=_count_shown,
        law=_geometric_threshold_law,
        delta=4 * _FAILURE,
        draws=6000,
    ),
    Case(
        "laplace-threshold",
        lambda level: LaplaceThreshold(_DELTA, level),
        ONE,
        value=[_KEY, 2],
        neighbour=[_KEY - 1, 2],
        outcome=_count_shown,
        law=_laplace_threshold_law,
        delta=2 * _FAILURE,
        tightness=0.2,
        draws=6000,
    ),
    Case(
        "gaussian-threshold",
        lambda level: GaussianThreshold(_DELTA, 4 * level**2),
        ONE,
        value=[_KEY],
        neighbour=[_KEY - 1],
        outcome=_count_shown,
        law=_gaussian_threshold_law,
        delta=2 * _FAILURE,
    ),
    Case(
        "smooth-laplace",
        lambda level: SmoothLaplace(1 / level, _DELTA, Fraction(1)),
        ONE,
        value=LocalAnswer(0, [1]),
        neighbour=LocalAnswer(1, [1]),
        outcome=_clamp,
        law=lambda value, level: reference.clamped(reference.discrete_laplace(2 * level), value.value, -8, 8),
        delta=2 * _FAILURE,
        tightness=0.1,
        draws=20_000,
    ),
    Case(
        "smooth-cauchy",
        lambda level: SmoothCauchy(1 / level, Fraction(1)),
        ONE,
        value=LocalAnswer(0, [1]),
        neighbour=LocalAnswer(1, [1]),
        outcome=_clamp,
        law=_cauchy_law,
        tightness=0.03,
        draws=6000,
    ),
    Case(
        "ladder",
        lambda level: Ladder(1 / level, Fraction(3)),
        THREE,
        value=LocalAnswer(0, [3]),
        neighbour=LocalAnswer(3, [3]),
        outcome=_clamp,
        law=_ladder_law,
        tightness=0.1,
    ),
    Case(
        "adaptive-clipping",
        lambda level: AdaptiveClipping(1.0, Fraction(1, 2), Fraction(1, 10), 16 * level**2, 100),
        ONE,
        value=np.arange(101) / 50,
        neighbour=np.arange(100) / 50,
        outcome=lambda released: min(max(round((0.5 + math.log(released.radius) * -10) * 200 - 100), -12), 12),
        law=_radius_law,
    ),
)
