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

_LEAST_LOGARITHM = 690  # e^−690 is a float with all of its digits, and so is its product with a mixture's weight
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


def _cut(above: Callable[[Law], Law], reach: float) -> Callable[..., Law]:
    """Return the law of symmetric noise about a centre, in cells between −reach and reach, from P[noise > x], x ≥ 0."""
    edges = np.concatenate(([-np.inf], np.linspace(-reach, reach, _CELLS + 1), [np.inf]))

    def law(centre: float, scale: float = 1.0) -> Law:
        low, high = (edges[:-1] - centre) / scale, (edges[1:] - centre) / scale
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
    # What lies further out than a float can weigh would seem to be impossible, and its loss infinite.
    weighed = math.floor(math.sqrt(2 * variance * _LEAST_LOGARITHM)) - distance - 1
    reach = min(2 * distance + math.ceil(8 * math.sqrt(variance)), weighed)
    return _whole(lambda k: np.exp(-(k**2) / (2 * variance)), distance, reach, staying)


def _choice(odds: Callable[[float], float], epsilon: float, staying: bool) -> World:
    """Return a choice between two candidates whose scores move apart by `epsilon`, from a tie."""

    def law(lead: float) -> Law:
        chance = odds(abs(lead))
        return np.array([chance, 1 - chance] if lead >= 0 else [1 - chance, chance])

    return _three(law(0.0), law(epsilon), law(-epsilon), staying)


def _exponential(epsilon: float, staying: bool) -> World:
    return _choice(lambda lead: 1 / (1 + math.exp(-lead)), epsilon, staying)


_QUESTIONS = 1000
_FINE = 64


def _sparse_vector(event: ev.SparseVector, staying: bool) -> World:
    """Many questions that one unit moves down, then as many as may be positive, which it moves up.

    The threshold's noise is on a lattice, as in the house. That all the first are "below" says that it is high, where
    each answer "above" shows all that it may (Lyu, Su, Li 2017); its number comes out with noise of its own.
    """
    c, first = event.positives, float(event.epsilon_threshold)
    rate = float(event.epsilon_queries) / (2 * c)
    reach = math.ceil(60 / min(first, rate, 1.0))
    z = np.arange(-reach * _FINE, reach * _FINE + 1) / _FINE
    weight = np.exp(-first * np.abs(z))

    def reached(move: float) -> float:
        """Return the chance of all the first below and all the last above, where they have moved that far apart."""
        below, above = 1 - _tail(rate * (z + move)), _tail(rate * (z - move))
        return float(weight @ (below**_QUESTIONS * above**c) / weight.sum())

    chances = [reached(move) for move in (0.0, 1.0, -1.0)]
    values = _laplace(float(event.epsilon_values), False) if event.epsilon_values else World(*(np.ones(1),) * 3)
    laws = zip(chances, (values.absent, values.one, values.other), strict=True)
    return _three(*(np.append(chance * value, 1 - chance) for chance, value in laws), staying)


def _tail(x: Law) -> Law:
    """Return P[noise > x] of Laplace noise of scale 1."""
    return np.where(x > 0, 0.5 * np.exp(-np.abs(x)), 1 - 0.5 * np.exp(-np.abs(x)))


def _claim(epsilon: float, staying: bool) -> World:
    """The worst that is ε-private: each of two units makes another outcome likely, and all others less so."""
    share, up, down = 1 / (1 + math.exp(epsilon)), math.exp(epsilon), math.exp(-epsilon)
    absent = np.array([share, 1 - 2 * share, share])
    if staying:
        return _showing(np.array([share, 1 - share]), np.array([1 - share, share]))
    return World(absent, absent * [up, down, down], absent * [down, down, up])


def _failing(epsilon: float, delta: float, staying: bool) -> World:
    """The worst that is (ε, δ)-private: a unit shows itself with probability δ, and hides what had as much without it.

    Over the shares c of what comes out without a unit, a unit's own law has the slope e^ε, then e^{−ε}, then 0.
    """
    if staying:
        kept = _claim(epsilon, staying)
        three = zip(np.eye(3), (kept.absent, kept.one, kept.other), strict=True)
        return World(*(np.concatenate(((1 - delta) * law, delta * shown)) for shown, law in three))
    steep = (1 - delta) / (1 + math.exp(epsilon))
    ends = np.unique([0, delta, steep, 1 - steep, 1 - delta, 1])
    absent, c = np.diff(ends), (ends[1:] + ends[:-1]) / 2

    def slope(c: Law) -> Law:
        return np.where(c < steep, math.exp(epsilon), np.where(c < 1 - delta, math.exp(-epsilon), 0.0))

    one, other = (
        np.concatenate(([delta], absent * slope(c), [0])),
        np.concatenate(([0], absent * slope(1 - c), [delta])),
    )
    return World(np.concatenate(([0], absent, [0])), one, other)


def _partition(event: ev.PartitionSelection, staying: bool) -> World:
    """Two keys that some have, and each of the units has one of them as well; the best rule for one key a unit."""
    rise, delta = math.exp(float(event.epsilon)), float(event.delta)
    kept = [0.0]
    while kept[-1] < 1:
        kept.append(min(rise * kept[-1] + delta, 1 - (1 - kept[-1] - delta) / rise, 1.0))
    some = max(0, len(kept) // 2 - 2)

    def law(*counts: int) -> Law:
        first, second = (np.array([kept[count], 1 - kept[count]]) for count in counts)
        return np.outer(first, second).ravel()

    return _three(law(some, some), law(some + 1, some), law(some, some + 1), staying)


def _smooth(cells: Callable[..., Law], epsilon: float, beta: float, staying: bool) -> World:
    """Noise of scale 2S/ε, where the smooth sensitivity S is e^β as large with one unit, and e^−β with the other."""
    more, less = math.exp(beta), math.exp(-beta)
    return _three(cells(0.0), cells(epsilon / 2, more), cells(-less * epsilon / 2, less), staying)


def _smooth_laplace(event: ev.SmoothLaplace, staying: bool) -> World:
    epsilon, far = float(event.epsilon), math.log(2 / event.delta)
    cells = _cut(lambda x: 0.5 * np.exp(-x), 1.5 * far)
    return _smooth(cells, epsilon, min(epsilon / 2, math.log1p(epsilon / (2 * far))), staying)


def _smooth_cauchy(event: ev.SmoothCauchy, staying: bool) -> World:
    epsilon = float(event.epsilon)
    cells = _cut(lambda x: np.arctan2(1.0, x) / math.pi, 4 * math.exp(epsilon))
    return _smooth(cells, epsilon, epsilon / 2.048, staying)


def _response(event: ev.RandomizedResponse, staying: bool) -> World:  # noqa: ARG001
    """One report; an absent unit has none, and that shows."""
    odds = math.exp(-float(event.epsilon))
    truth = 1 / (1 + (event.categories - 1) * odds)
    law = np.full(min(event.categories, 3), truth * odds)
    law[2:] = truth * odds * (event.categories - 2)
    one, other = law.copy(), law.copy()
    one[0] = other[1] = truth
    return _showing(one, other)


def _shuffled(event: ev.Shuffled | ev.ShuffledLocal, staying: bool) -> World:  # noqa: ARG001
    """How many of the reports are 1, where all others hold 0; an absent unit leaves one report fewer, which shows."""
    lie = 1 / (1 + math.exp(float(event.epsilon)))
    others = scipy.stats.binom.pmf(np.arange(event.reports), event.reports - 1, lie)
    zero, one = np.append(others, 0.0), np.append(0.0, others)
    return _showing(zero * lie + one * (1 - lie), zero * (1 - lie) + one * lie)


def _shuffled_responses(event: ev.ShuffledResponse, staying: bool) -> World:  # noqa: ARG001
    """How many reports are of two values, where all others hold a third (or the second, of two)."""
    odds = math.exp(float(event.epsilon))
    lie = 1 / (odds + event.categories - 1)
    second = lie if event.categories > 2 else 1 - lie
    return _counted(event.reports, (lie, second), ((odds * lie, lie), (lie, odds * lie)))


def _shuffled_unary(event: ev.ShuffledUnary, staying: bool) -> World:  # noqa: ARG001
    """How many reports have either bit alone, and how many have both or none, where all others hold a third value."""
    own, other = float(event.own), float(event.other)
    alone, neither = own * (1 - other), other * (1 - own)
    return _counted(event.reports, (other * (1 - other),) * 2, ((alone, neither), (neither, alone)))


def _counted(reports: int, others: tuple[float, float], unit: tuple[tuple[float, float], tuple[float, float]]) -> World:
    """How often two of the possible reports came, by their chances for all others and for the unit on two values."""
    first, second = np.meshgrid(np.arange(reports + 1), np.arange(reports + 1), indexing="ij")
    rest = np.maximum(reports - 1 - first - second, 0)
    chances = (*others, max(1 - sum(others), 0.0))
    crowd = scipy.stats.multinomial.pmf(np.stack([first, second, rest], axis=-1), reports - 1, chances)
    laws = []
    for one, two in unit:
        law = (1 - one - two) * crowd
        law[1:] += one * crowd[:-1]
        law[:, 1:] += two * crowd[:, :-1]
        laws.append(np.maximum(law, 0.0).ravel())
    return _showing(*laws)


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


def _allocated(event: ev.Allocated, staying: bool) -> World:
    """Who comes moves one of the steps up, chosen by chance, the other one down."""
    distance = math.sqrt(event.sensitivity_squared / event.variance)
    law = _cut(lambda x: scipy.special.ndtr(-x), distance + 6)

    def laid(step: int | None, centre: float) -> Law:
        whole = np.ones(1)
        for place in range(event.steps):
            whole = np.multiply.outer(whole, law(centre if place == step else 0.0)).ravel()
        return whole

    up, down = (sum(laid(step, way * distance) for step in range(event.steps)) / event.steps for way in (1, -1))
    return _three(laid(None, 0.0), np.asarray(up), np.asarray(down), staying)


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
    ev.Allocated: _allocated,
    ev.Exponential: lambda event, staying: _exponential(float(event.epsilon), staying),
    ev.PermuteAndFlip: lambda event, staying: _choice(lambda x: 1 - math.exp(-x) / 2, float(event.epsilon), staying),
    ev.LaplaceNoisyMax: lambda event, staying: _choice(
        lambda x: 1 - math.exp(-x) * (1 + x / 2) / 2, float(event.epsilon), staying
    ),
    ev.SparseVector: _sparse_vector,
    ev.PartitionSelection: _partition,
    ev.RandomizedResponse: _response,
    ev.SmoothLaplace: _smooth_laplace,
    ev.SmoothCauchy: _smooth_cauchy,
    ev.Ladder: lambda event, staying: _exponential(float(event.epsilon), staying),
    ev.Pure: lambda event, staying: _claim(float(event.epsilon), staying),
    ev.Approximate: lambda event, staying: _failing(float(event.epsilon), float(event.delta), staying),
    ev.Concentrated: lambda event, staying: _gaussian(math.sqrt(2 * event.rho), staying),
    ev.Personalised: lambda event, staying: _claim(float(max(event.epsilons)), staying),
    ev.Sensitive: lambda event, staying: _claim(float(event.epsilon), staying),
    ev.Shuffled: _shuffled,
    ev.ShuffledLocal: _shuffled,
    ev.ShuffledResponse: _shuffled_responses,
    ev.ShuffledUnary: _shuffled_unary,
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
