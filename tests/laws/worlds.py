"""Concrete mechanisms on concrete neighbours, for every event type: what the law of relations judges prices against.

A `World` holds the laws of one mechanism's outputs on three data sets: without the unit (`absent`), with it (`one`),
and with another in its place (`other`). How the event bounds them depends on the relation:

* *coming*: `one` and `other` are each within the event's bound of `absent`, as under add/remove;
* *staying*: `one` and `other` are within the event's bound of each other. Nothing is said about `absent`, so it shows.

Continuous outputs are cut into cells, which is post-processing: every divergence here is at most that of the mechanism.
Nothing here is imported from the accountants.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from itertools import combinations, pairwise
from typing import Any

import numpy as np
import scipy
from numpy.typing import NDArray

from sordino.accounting import events as ev
from sordino.accounting.event import Event

Law = NDArray[np.float64]

_CELLS = 60


@dataclass(frozen=True)
class World:
    """The laws of outputs on three data sets, over the same outcomes."""

    absent: Law
    one: Law
    other: Law

    def beside(self, more: World) -> World:
        """Return the world in which both are run on the same data."""
        return World(
            *(np.outer(a, b).ravel() for a, b in zip(self._laws, more._laws, strict=True)),
        )

    def sampled(self, rate: float) -> World:
        """Return the world in which the unit counts with probability `rate` only."""
        mixed = (self.absent + rate * (law - self.absent) for law in (self.one, self.other))
        return World(self.absent, *mixed)

    @property
    def _laws(self) -> tuple[Law, Law, Law]:
        return self.absent, self.one, self.other


def coming(event: Event) -> World:
    """Return a world in which the unit comes or goes."""
    return _world(event, staying=False)


def staying(event: Event) -> World:
    """Return a world in which the unit keeps its place, and a place shows."""
    return _world(event, staying=True)


def _world(event: Event, staying: bool) -> World:
    return WORLDS[type(event)](event, staying)


def _three(absent: Law, one: Law, other: Law, staying: bool) -> World:
    """Return a world from laws of which each of the last two is within the event's bound of the first."""
    if not staying:
        return World(absent, one, other)
    return _showing(absent, one)


def _showing(one: Law, other: Law) -> World:
    """Return a world in which an absent unit is seen to be absent."""
    return World(np.append(np.zeros_like(one), 1.0), np.append(one, 0.0), np.append(other, 0.0))


def _shifted(cells: Callable[[float], Law], distance: float, staying: bool) -> World:
    return _three(cells(0.0), cells(distance), cells(-distance), staying)


def _cut(above: Callable[[Law], Law], reach: float) -> Callable[[float], Law]:
    """Return the law of symmetric noise about a centre, in cells between −reach and reach, from P[noise > x], x ≥ 0."""
    edges = np.concatenate(([-np.inf], np.linspace(-reach, reach, _CELLS + 1), [np.inf]))

    def law(centre: float) -> Law:
        low, high = edges[:-1] - centre, edges[1:] - centre
        near, far = np.where(high <= 0, -high, low), np.where(high <= 0, -low, high)
        across = (low < 0) & (high > 0)  # all other cells are differences of the nearer tail, which keep their digits
        inside = 1 - above(np.abs(low)) - above(np.abs(high))
        return np.where(across, inside, above(np.maximum(near, 0.0)) - above(np.maximum(far, 0.0)))

    return law


def _laplace(ratio: float, staying: bool) -> World:
    return _shifted(_cut(lambda x: 0.5 * np.exp(-x), 2 * ratio + 2), ratio, staying)


def _gaussian(mu: float, staying: bool) -> World:
    return _shifted(_cut(lambda x: scipy.special.ndtr(-x), 2 * mu + 6), mu, staying)


def _whole(weight: Callable[[NDArray[np.int64]], Law], distance: int, reach: int, staying: bool) -> World:
    """Return a world of integer noise; what lies beyond `reach` is one outcome on either side."""
    far = np.arange(-8 * reach, 8 * reach + 1)
    total = float(np.sum(weight(far)))

    def cells(centre: float) -> Law:
        masses = weight(far - int(centre)) / total
        kept = masses[np.abs(far) <= reach]
        return np.concatenate(([masses[far < -reach].sum()], kept, [masses[far > reach].sum()]))

    return _three(cells(0), cells(distance), cells(-distance), staying)


def _discrete_laplace(event: ev.DiscreteLaplace, staying: bool) -> World:
    scale = float(event.scale)
    reach = event.sensitivity + math.ceil(6 * scale)
    return _whole(lambda k: np.exp(-np.abs(k) / scale), event.sensitivity, reach, staying)


def _discrete_gaussian(event: ev.DiscreteGaussian, staying: bool) -> World:
    distance, variance = math.isqrt(math.floor(event.sensitivity_squared)), float(event.variance)
    reach = 2 * distance + math.ceil(8 * math.sqrt(variance))
    return _whole(lambda k: np.exp(-(k**2) / (2 * variance)), distance, reach, staying)


def _choice(odds: Callable[[float], float], epsilon: float, staying: bool) -> World:
    """Return a choice between two candidates whose scores move apart by `epsilon`, from a tie."""

    def law(lead: float) -> Law:
        chance = odds(abs(lead))
        return np.array([chance, 1 - chance] if lead >= 0 else [1 - chance, chance])

    return _three(law(0.0), law(epsilon), law(-epsilon), staying)


def _exponential(epsilon: float, staying: bool) -> World:
    return _choice(lambda lead: 1 / (1 + math.exp(-lead)), epsilon, staying)


def _sparse_vector(event: ev.SparseVector, staying: bool) -> World:
    """One question about a count: whether it lies above a threshold, both with Laplace noise of their shares."""
    a, b = 1 / float(event.epsilon_threshold), 2 * event.positives / float(event.epsilon_queries)

    def above(lead: float) -> float:
        if a == b:
            return 1 - 0.5 * math.exp(-lead / a) * (1 + lead / (2 * a))
        return 1 - (a * a * math.exp(-lead / a) - b * b * math.exp(-lead / b)) / (2 * (a * a - b * b))

    return _choice(above, 1.0, staying)


def _claim(epsilon: float, staying: bool) -> World:
    """The worst that is ε-private: each of two units makes another outcome likely, and all others less so."""
    share, up, down = 1 / (1 + math.exp(epsilon)), math.exp(epsilon), math.exp(-epsilon)
    absent = np.array([share, 1 - 2 * share, share])
    if staying:
        return _showing(np.array([share, 1 - share]), np.array([1 - share, share]))
    return World(absent, absent * [up, down, down], absent * [down, down, up])


def _failing(epsilon: float, delta: float, staying: bool) -> World:
    """A claim that with probability δ shows who is there."""
    kept = _claim(epsilon, staying)
    laws = [
        np.concatenate(((1 - delta) * law, delta * np.eye(3)[place]))
        for place, law in enumerate((kept.absent, kept.one, kept.other))
    ]
    return World(*laws)


def _partition(delta: float, staying: bool) -> World:
    """A key that one unit alone has is shown with probability δ."""
    absent, one, other = np.array([1.0, 0, 0]), np.array([1 - delta, delta, 0]), np.array([1 - delta, 0, delta])
    return _three(absent, one, other, staying)


def _cauchy(epsilon: float, staying: bool) -> World:
    """Cauchy noise of scale 6S/ε, where the smooth sensitivity S is the same for all data."""
    return _shifted(_cut(lambda x: np.arctan2(1.0, x) / math.pi, 20.0), epsilon / 6, staying)


def _response(event: ev.RandomizedResponse, staying: bool) -> World:  # noqa: ARG001
    """One report; an absent unit has none, and that shows."""
    odds = math.exp(-float(event.epsilon))
    truth = 1 / (1 + (event.categories - 1) * odds)
    law = np.full(min(event.categories, 3), truth * odds)
    law[2:] = truth * odds * (event.categories - 2)
    one, other = law.copy(), law.copy()
    one[0] = other[1] = truth
    return _showing(one, other)


def _shuffled(event: ev.Shuffled, staying: bool) -> World:  # noqa: ARG001
    """How many of the reports are 1, where all others hold 0; an absent unit leaves one report fewer, which shows."""
    lie = 1 / (1 + math.exp(float(event.epsilon)))
    others = scipy.stats.binom.pmf(np.arange(event.reports), event.reports - 1, lie)
    zero, one = np.append(others, 0.0), np.append(0.0, others)
    return _showing(zero * lie + one * (1 - lie), zero * (1 - lie) + one * lie)


def _poisson(event: ev.PoissonSampled, staying: bool) -> World:
    return _world(event.event, staying).sampled(float(event.rate))


def _truncated(event: ev.TruncatedPoissonSampled, staying: bool) -> World:
    """Where the sample would be cut if the unit were in it, whether it is there is seen, the worst that can be."""
    inner, rate = _world(event.event, staying), float(event.rate)
    drawn = scipy.stats.binom.pmf(np.arange(event.population), event.population - 1, rate)
    full = np.arange(event.population) >= event.most
    shown = float(np.sum(drawn[full] * rate * event.most / (np.arange(event.population)[full] + 1)))
    uncut, cut = inner.sampled(rate), float(drawn[full].sum()) - shown
    laws = [
        np.concatenate(((1 - shown - cut) * law, [cut], shown * np.eye(3)[place]))
        for place, law in enumerate((uncut.absent, uncut.one, uncut.other))
    ]
    return World(*laws)


def _fixed_size(event: ev.FixedSizeSampled, staying: bool) -> World:  # noqa: ARG001
    """Who is not in the sample has left its place there to a unit like the other."""
    inner = _world(event.event, True)
    sampled = World(inner.other, inner.one, inner.other).sampled(event.size / event.population)
    return _showing(sampled.one, sampled.other)


def _summed_gaussian(event: ev.SummedDiscreteGaussian, staying: bool) -> World:
    distance, variance = math.isqrt(math.floor(event.sensitivity_squared)), float(event.variance)
    reach = 2 * distance + math.ceil(8 * math.sqrt(event.parties * variance))
    outputs = np.arange(-16 * reach, 16 * reach + 1)
    one = np.exp(-(outputs**2) / (2 * variance))
    law = np.ones(1)
    for _ in range(event.parties):
        law = np.convolve(law, one / one.sum(), "full" if len(law) == 1 else "same")
    return _whole(lambda k: law[k + 16 * reach], distance, reach, staying)


def _skellam(event: ev.Skellam, staying: bool) -> World:
    distance, variance = (
        min(event.sensitivity, math.isqrt(math.floor(event.sensitivity_squared))),
        float(event.variance),
    )
    reach = 2 * distance + math.ceil(8 * math.sqrt(variance))
    return _whole(lambda k: scipy.special.ive(np.abs(k), variance), distance, reach, staying)


def _correlated(event: ev.Correlated, staying: bool) -> World:
    """The worst of all patterns of participation, each tried."""
    steps = range(event.steps)
    strategy = np.array(
        [[event.coefficients[t - i] if 0 <= t - i < len(event.coefficients) else 0 for i in steps] for t in steps]
    )
    patterns = [
        pattern
        for often in range(1, event.participations + 1)
        for pattern in combinations(steps, often)
        if all(later - earlier >= event.separation for earlier, later in pairwise(pattern))
    ]
    longest = max(float(np.sum(strategy[:, pattern].sum(axis=1) ** 2)) for pattern in patterns)
    return _gaussian(math.sqrt(longest * event.sensitivity_squared / event.variance), staying)


def _mixture(event: ev.GaussianMixture, staying: bool) -> World:
    """Who comes moves the answer up, the other one down, by chance."""
    sigma = math.sqrt(event.variance)
    sizes, chances = [float(size) / sigma for size in event.sensitivities], [float(p) for p in event.probabilities]
    law = _cut(lambda x: scipy.special.ndtr(-x), 2 * sizes[-1] + 6)
    up, down = (sum(p * law(way * size) for size, p in zip(sizes, chances, strict=True)) for way in (1, -1))
    return _three(law(0.0), np.asarray(up), np.asarray(down), staying)


def _best(event: Any, gained: Callable[[Law, Law], Law], none: float, staying: bool) -> World:
    """The best of many runs, where the most telling outcome of a run has the best score; perhaps of none.

    `gained` is f(x + m) − f(x) for the generating function f of their number, with the digits of a small m.
    """
    inner = _world(event.event, staying)
    with np.errstate(divide="ignore", invalid="ignore"):
        order = np.argsort(np.nan_to_num(np.log(inner.one) - np.log(inner.other if staying else inner.absent)))
    laws = []
    for law in (inner.absent[order], inner.one[order], inner.other[order]):
        below = np.minimum(np.cumsum(law) - law, 1.0)
        laws.append(np.append(gained(np.maximum(below, 0.0), law), none))
    return World(*laws)


def _searched(event: ev.Searched, staying: bool) -> World:
    kept, shape = 1 - float(event.stopping), float(event.shape)

    def gained(below: Law, mass: Law) -> Law:
        left = 1 - kept * below
        if shape == 0:
            return np.log1p(-kept * mass / left) / math.log1p(-kept)
        return left**-shape * np.expm1(-shape * np.log1p(-kept * mass / left)) / ((1 - kept) ** -shape - 1)

    return _best(event, gained, 0.0, staying)


def _poisson_searched(event: ev.PoissonSearched, staying: bool) -> World:
    mean = float(event.mean)
    return _best(event, lambda x, m: np.exp(mean * (x - 1)) * np.expm1(mean * m), math.exp(-mean), staying)


def _replaced(event: ev.Replaced, staying: bool) -> World:  # noqa: ARG001
    return _world(event.event, False)


def _repeated(event: ev.Repeated, staying: bool) -> World:
    return _beside([_world(event.event, staying)] * event.count)


def _composed(event: ev.Composed, staying: bool) -> World:
    return _beside([_world(part, staying) for part in event.events])


def _beside(worlds: list[World]) -> World:
    whole = World(*(np.ones(1),) * 3)
    for world in worlds:
        whole = whole.beside(world)
    return whole


WORLDS: dict[type[Event], Callable[[Any, bool], World]] = {
    ev.Laplace: lambda event, staying: _laplace(float(event.sensitivity / event.scale), staying),
    ev.DiscreteLaplace: _discrete_laplace,
    ev.Gaussian: lambda event, staying: _gaussian(math.sqrt(event.sensitivity_squared / event.variance), staying),
    ev.DiscreteGaussian: _discrete_gaussian,
    ev.SummedDiscreteGaussian: _summed_gaussian,
    ev.Skellam: _skellam,
    ev.Correlated: _correlated,
    ev.GaussianMixture: _mixture,
    ev.Exponential: lambda event, staying: _exponential(float(event.epsilon), staying),
    ev.PermuteAndFlip: lambda event, staying: _choice(lambda x: 1 - math.exp(-x) / 2, float(event.epsilon), staying),
    ev.LaplaceNoisyMax: lambda event, staying: _choice(
        lambda x: 1 - math.exp(-x) * (1 + x / 2) / 2, float(event.epsilon), staying
    ),
    ev.SparseVector: _sparse_vector,
    ev.PartitionSelection: lambda event, staying: _partition(float(event.delta), staying),
    ev.RandomizedResponse: _response,
    ev.SmoothLaplace: lambda event, staying: _laplace(float(event.epsilon) / 2, staying),
    ev.SmoothCauchy: lambda event, staying: _cauchy(float(event.epsilon), staying),
    ev.Ladder: lambda event, staying: _exponential(float(event.epsilon), staying),
    ev.Pure: lambda event, staying: _claim(float(event.epsilon), staying),
    ev.Approximate: lambda event, staying: _failing(float(event.epsilon), float(event.delta), staying),
    ev.Concentrated: lambda event, staying: _gaussian(math.sqrt(2 * event.rho), staying),
    ev.Personalised: lambda event, staying: _claim(float(max(event.epsilons)), staying),
    ev.Sensitive: lambda event, staying: _claim(float(event.epsilon), staying),
    ev.Shuffled: _shuffled,
    ev.PoissonSampled: _poisson,
    ev.TruncatedPoissonSampled: _truncated,
    ev.FixedSizeSampled: _fixed_size,
    ev.Declared: lambda event, staying: _world(event.event, staying),
    ev.Searched: _searched,
    ev.PoissonSearched: _poisson_searched,
    ev.Replaced: _replaced,
    ev.Repeated: _repeated,
    ev.Composed: _composed,
}
"""How each event type is run; a type that is missing fails the law."""
