"""Trade-off curves: how well any attack can do against a private release, and their picture.

An attacker sees a release and must say whether a certain person's data was in it. She errs in two ways: she accuses an
empty seat (false positive) or misses the person (false negative). A trade-off curve f says that an attack with false
positive rate x has a false negative rate of at least f(x). Perfect privacy is the line 1 − x, mere guessing.

**Source**: Wasserman, Zhou 2010 for (ε, δ); Kairouz, Oh, Viswanath 2015; Dong, Roth, Su 2022 for the general case
(a release is private by several curves if and only if by the highest of them) and for Gaussian noise.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from sordino.arguments import Number, rational, rounded_up
from sordino.errors import ArgumentError, UnsupportedError

from . import gaussian, pld
from .approximate import own_delta
from .curve import Floats
from .event import Event
from .rounding import LIFT

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_EPSILONS = np.concatenate([[0.0], np.geomspace(1e-3, 50, 400)])
_POINTS, _TAIL = 25, 1e-6
_ROUNDING = 2.0**-50  # what a difference of rates may lose, of 1
_INK, _MUTED = "#1d2433", "#6b7385"
_COLOURS = ("#1b6ca8", "#d1495b", "#3a8f5c", "#8a5fbf", "#b7791f")


@dataclass(frozen=True)
class TradeOff:
    """The least false negative rate of any attack, as a function of its false positive rate.

    **Guarantee**: no attack does better than the curve, which is rounded down, if the release is as private as
    what the curve was built from. Call it with rates between 0 and 1; build it with one of its class methods.
    """

    least_false_negatives: Callable[[Floats], Floats]

    @classmethod
    def approximate(cls, epsilon: Number, delta: Number = 0) -> TradeOff:
        """Return the curve of (ε, δ)-differential privacy; exact: some (ε, δ)-private mechanism reaches it."""
        exact = rational("epsilon", epsilon, least=0)
        chance = rounded_up(rational("delta", delta, least=0, most=1))
        return cls(lambda rates: _below(rates, [rounded_up(exact)], [chance]))

    @classmethod
    def gaussian(cls, mu: Number) -> TradeOff:
        """Return the curve of Gaussian noise with sensitivity `mu` times its standard deviation."""
        distance = rounded_up(rational("mu", mu, least=0))
        return cls(lambda rates: gaussian.trade_off(distance, rates))

    @classmethod
    def profile(cls, delta_at: Callable[[float], float], epsilons: Floats = _EPSILONS) -> TradeOff:
        """Return the curve of a release with loss profile ε ↦ δ(ε), such as a privacy loss distribution gives.

        Each (ε, δ(ε)) excludes attacks; the curve is what those at `epsilons` (some 400 from 0 to 50) exclude together.
        """
        deltas = [_chance(float(delta_at(float(epsilon)))) for epsilon in epsilons]
        return cls(lambda rates: _below(rates, epsilons, deltas))

    @classmethod
    def of(cls, event: Event) -> TradeOff:
        """Return the curve of `event`: exact for Gaussian noise, else by the upper value of its loss distribution."""
        try:
            return cls.gaussian(gaussian.mu(event))
        except UnsupportedError:
            tail = 2 * rounded_up(own_delta(event)) + _TAIL
            farthest = pld.epsilon(event, tail) if tail < 1 else 1.0
            return cls.profile(lambda epsilon: pld.delta(event, epsilon), np.linspace(0, farthest, _POINTS))

    def __call__(self, false_positives: Floats | float) -> Floats:
        """Return the least false negative rate at each false positive rate."""
        rates = np.asarray(false_positives, dtype=float)
        if not np.all((rates >= 0) & (rates <= 1)):
            raise ArgumentError("false positive rates must lie between 0 and 1", "SRD-A002")
        exact = np.clip(self.least_false_negatives(rates), 0.0, 1.0)
        return np.where(rates > 0, exact / LIFT, exact)


def _chance(delta: float) -> float:
    """Return δ within [0, 1]; where it is not known (NaN), nothing is promised."""
    return min(max(delta, 0.0), 1.0) if delta <= 1 else 1.0


PERFECT = TradeOff(lambda rates: 1.0 - rates)
"""Nothing is learnt: every attack is mere guessing."""


def _below(rates: Floats, epsilons: Sequence[float] | Floats, deltas: Sequence[float]) -> Floats:
    """Return the highest of the curves of all pairs (ε, δ) at each rate."""
    best = np.zeros_like(rates)
    lost = np.where(rates > 0, _ROUNDING, 0.0)
    for epsilon, delta in zip(epsilons, deltas, strict=True):
        kept = 1.0 - delta - lost
        steep = kept - np.minimum(math.exp(min(epsilon, 700.0)) * rates, 2.0) * LIFT
        best = np.maximum(best, np.maximum(steep, math.exp(-epsilon) * (kept - rates)))
    return best


def plot(curves: Mapping[str, TradeOff], *, title: str = "What the best attack can still do") -> Figure:
    """Return a figure of `curves`, by label, over the diagonal of perfect privacy.

    Save it with ``figure.savefig("tradeoff.png")``. Needs matplotlib, which is not imported before.
    """
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise UnsupportedError("plots need matplotlib: pip install sordino[plot]", "SRD-C022") from error
    figure = Figure(figsize=(6.4, 6.0), dpi=150, layout="constrained")
    axes = figure.subplots()
    _draw_ground(axes, title)
    rates = np.unique(np.concatenate([[0.0], np.geomspace(1e-6, 1, 600), np.linspace(0, 1, 601)]))
    for place, (label, trade_off) in enumerate(curves.items()):
        colour, errors = _COLOURS[place % len(_COLOURS)], trade_off(rates)
        axes.plot(rates, errors, color=colour, linewidth=2.2, label=label, zorder=3, clip_on=False)
        best = int(np.argmin(rates + errors + 1e-6 * np.abs(rates - errors)))  # among equals, the even one
        axes.plot(rates[best], errors[best], "o", color=colour, markersize=6, zorder=4, clip_on=False)
    axes.legend(loc="upper right", frameon=False, fontsize=9.5, labelcolor=_INK, handlelength=1.8)
    return figure


def _draw_ground(axes: Axes, title: str) -> None:
    axes.plot(
        [0, 1], [1, 0], color=_MUTED, linewidth=1.4, linestyle=(0, (5, 3)), label="perfect privacy: mere guessing"
    )
    axes.set(xlim=(0, 1), ylim=(0, 1), aspect="equal")
    axes.set_title(f"{title}\n", loc="left", fontsize=13, fontweight="bold", color=_INK, pad=6)
    axes.text(
        0, 1.025, "No attack gets below its curve; at the dot it is right most often.", color=_MUTED, fontsize=9.5
    )
    axes.set_xlabel("false positives: accuses someone who was not there", color=_INK, fontsize=10, labelpad=8)
    axes.set_ylabel("false negatives: misses someone who was there", color=_INK, fontsize=10, labelpad=8)
    ticks = np.linspace(0, 1, 6)
    axes.set_xticks(ticks, [f"{100 * tick:.0f} %" for tick in ticks])
    axes.set_yticks(ticks, [f"{100 * tick:.0f} %" for tick in ticks])
    axes.tick_params(colors=_MUTED, length=0, labelsize=9)
    axes.grid(color="#e7e9ef", linewidth=0.8, zorder=0)
    axes.set_axisbelow(True)
    for side in axes.spines.values():
        side.set_visible(False)
