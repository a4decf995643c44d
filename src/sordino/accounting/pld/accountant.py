"""Privacy loss distributions: the ε or δ of any composition of events, bracketed between two proven values.

    >>> from sordino.accounting.events import Gaussian, PoissonSampled, Repeated
    >>> run = Repeated(PoissonSampled(Gaussian(variance=16), rate="0.01"), 10_000)
    >>> bracket = epsilon_bracket(run, delta=1e-5)
    >>> bracket.lower < 0.94687 < bracket.upper
    True

**Guarantee**: the composition, adaptive but declared up front, is (`upper`, δ)-differentially private, and no claim
below `lower` is true of its dominating pairs. `upper` is what may be charged. It is never above the sum of pure ε's.
**Source**: Koskela, Jälkö, Honkela 2020 (Fourier accountant); Doroshenko et al. 2022 (connect the dots); the tilt, the
lower bound by a test and all error bounds are ours: see ``compose.py`` and ``bounds.py``.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from sordino.accounting import curves as _curves  # noqa: F401  registers every event type
from sordino.accounting.curve import CURVES, curve, flatten
from sordino.accounting.event import Event
from sordino.accounting.events import Gaussian
from sordino.accounting.loss import Pairs, gaussian_mu, whole_sample
from sordino.accounting.pair import gaussian_pair
from sordino.accounting.relation import parts
from sordino.arguments import Number, probability, rational, rounded_down, rounded_up
from sordino.errors import UnsupportedError

from .analytic import delta_bounds, epsilon_bounds
from .compose import EXTENDED
from .run import Run
from .sketch import Part

_WIDTH = 3e-4  # of the answer: how wide a bracket may be
_NOTHING = 1e-290  # a δ below which digits are lost to underflow
_LARGEST = 1e12  # an ε; δ at a greater one is no greater
_MOST_RUNS = 10**10  # beyond it the rounding errors of the transform are as large as the answer
_REFINEMENTS = 4
_WIDE = 0.05
_TELLING = 1e-9  # an ε or δ below which nobody minds
_COARSEST = 1e3  # a step on which no test says anything, and whose exponential overflows
_COARSER = 3.0  # how much coarser a grid may be for the direction that does not decide


@dataclass(frozen=True)
class Bracket:
    """Two proven bounds on one number; `upper` is what may be charged."""

    lower: float
    upper: float

    @property
    def wide(self) -> bool:
        """Whether the bounds are so far apart (5 % and more) that `upper` may charge for what is not there."""
        return math.isfinite(self.upper) and self.upper > _TELLING and self.lower < (1 - _WIDE) * self.upper


def epsilon(event: Event, delta: Number) -> float:
    """Return the least ε known to hold at `delta`: the upper end of `epsilon_bracket`."""
    return epsilon_bracket(event, delta).upper


def delta(event: Event, epsilon: Number) -> float:
    """Return the least δ known to hold at `epsilon`: the upper end of `delta_bracket`."""
    return delta_bracket(event, epsilon).upper


def epsilon_bracket(event: Event, delta: Number) -> Bracket:
    """Return bounds on the least ε such that `event` is (ε, δ)-differentially private.

    Infinite where the events' own failure probabilities use δ up. (At δ = 0 the pure calculus answers.)
    """
    exact = probability("delta", delta)
    groups = _groups(event)
    if isinstance(groups, float):
        return Bracket(*epsilon_bounds(groups, exact))
    low, high = max(rounded_down(exact), _NOTHING), max(rounded_up(exact), _NOTHING)
    runs = sorted((Run.for_delta(group, low) for group in groups), key=lambda run: -run.focus.epsilon)
    bracket = _bracketed(
        runs, lambda run, step: run.upper(step).epsilon(low), lambda run, step: run.lower(step).epsilon(high)
    )
    upper = bracket.upper if exact >= _NOTHING else math.inf
    return Bracket(bracket.lower, min(upper, _pure_rounded_up(event)))


def delta_bracket(event: Event, epsilon: Number) -> Bracket:
    """Return bounds on the least δ such that `event` is (ε, δ)-differentially private."""
    exact = rational("epsilon", epsilon, least=0)
    groups = _groups(event)
    if isinstance(groups, float):
        return Bracket(*delta_bounds(groups, exact))
    low, high = min(rounded_down(exact), _LARGEST), rounded_up(exact)
    if low >= _pure_rounded_up(event):
        return Bracket(0.0, 0.0)
    runs = sorted((Run.for_epsilon(group, low) for group in groups), key=lambda run: -run.focus.log_delta)
    bracket = _bracketed(
        runs, lambda run, step: run.upper(step).delta(low), lambda run, step: run.lower(step).delta(high)
    )
    return Bracket(bracket.lower, max(bracket.upper, _NOTHING))


def _pure_rounded_up(event: Event) -> float:
    """Return a float not below the ε at which δ is 0; infinite if there is none."""
    counted = parts(event)
    if any(CURVES[type(part)].pure is None or CURVES[type(part)].own_delta(part) for part in counted):
        return math.inf
    try:
        sizes = [rounded_up(curve(part, "pure")(part)) * count for part, count in counted.items()]
    except UnsupportedError:
        return math.inf  # what is sampled has no pure ε
    return math.fsum(sizes) * (1 + 1e-15)


def _groups(event: Event) -> float | list[list[Part]]:
    """Return μ if all is Gaussian noise, else what is composed, for each direction of the neighbours."""
    counted = _unsampled(parts(event))
    mu = gaussian_mu(counted)
    others: list[tuple[Pairs, int]] = [
        (curve(part, "loss")(part), count) for part, count in counted.items() if not isinstance(part, Gaussian)
    ]
    if not others:
        return mu
    if mu:
        others.append(((gaussian_pair(mu),), 1))
    if sum(count for _, count in others) > _MOST_RUNS:
        raise UnsupportedError(
            "a privacy loss distribution of more than 10¹⁰ runs would be all rounding error; price them by Rényi",
            "SRD-C014",
        )
    directions = max(len(pairs) for pairs, _ in others)
    return [[Part(pairs[min(way, len(pairs) - 1)], count) for pairs, count in others] for way in range(directions)]


def _unsampled(counted: Counter[Event]) -> Counter[Event]:
    """Return the same parts, those that are run on all of the data without their sampling."""
    plain: Counter[Event] = Counter()
    for part, count in counted.items():
        inner = whole_sample(part)
        plain.update({part: count} if inner is None else _unsampled(flatten(inner, count)))
    return plain


Bound = Callable[[Run, float], float]


def _bracketed(runs: Sequence[Run], above: Bound, below: Bound) -> Bracket:
    """Return the bracket of the worst direction, the first of `runs` as far as the sketches can tell."""
    bracket = _refined(runs[0], above, below)
    for run in runs[1:]:
        if above(run, run.step * _COARSER) > bracket.upper:
            other = _refined(run, above, below)
            bracket = Bracket(max(bracket.lower, other.lower), max(bracket.upper, other.upper))
    return bracket


def _refined(run: Run, above: Bound, below: Bound) -> Bracket:
    """Return a bracket from ever finer grids; one that is still wide once more, in long doubles."""
    bracket = _narrowed(run, run.step, above, below)
    if not (EXTENDED and bracket.wide):
        return bracket
    precise = replace(run, extended=True)
    again = _narrowed(precise, precise.snapped(precise.finest), above, below)
    return Bracket(max(bracket.lower, again.lower), min(bracket.upper, again.upper))


def _narrowed(run: Run, step: float, above: Bound, below: Bound) -> Bracket:
    """Return a bracket from ever finer grids, until it is narrow or the grid as fine as it may be."""
    upper, lower = math.inf, 0.0
    for _ in range(_REFINEMENTS):
        upper = max(0.0, min(upper, above(run, step)))
        lower = max(lower, below(run, step)) if step < _COARSEST else lower
        width = upper - lower
        if width <= max(_WIDTH * upper, _NOTHING) or math.isinf(upper) or step <= run.finest:
            break
        step = run.snapped(step * max(0.1, min(0.7, 0.9 * math.sqrt(_WIDTH * upper / width))))
    return Bracket(lower, upper)
