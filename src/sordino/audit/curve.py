"""Bounds on a whole trade-off curve from samples: what one attack certainly achieves at many thresholds at once.

The attack says "first input" where a score is at or above a threshold. Its two error rates at every threshold of a grid
are bounded from above, all together with one confidence; so the mechanism's trade-off curve lies below those points,
below the line between any two of them (an attacker may toss a coin between two attacks), and below their mirror images.

**Guarantee**: with probability `confidence` all bounds hold at once: Clopper–Pearson at each threshold, the chance to
be wrong divided by the number of bounds. Scorer and thresholds were chosen before the draws that are counted here.
**Sources**: Dong, Roth, Su 2022, Proposition 2.4 (curves are convex and symmetric); Nasr et al. 2023, Section 4.2
(auditing Gaussian DP by one point of the curve).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy

from sordino.accounting import gaussian
from sordino.accounting.curve import Floats
from sordino.accounting.tradeoff import TradeOff
from sordino.errors import UnsupportedError

from .claim import Claim
from .confidence import at_most

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_INK, _MUTED, _MEASURED, _CLAIMED = "#1d2433", "#6b7385", "#1b6ca8", "#d1495b"
_LEAST_SHOWN = 1e-6


@dataclass(frozen=True)
class TradeOffBounds:
    """Error rates that one attack certainly does not exceed, threshold by threshold.

    `false_positives` and `false_negatives` are upper bounds of a point each; all hold together with `confidence`.
    """

    false_positives: Floats
    false_negatives: Floats
    draws: int
    confidence: float

    def __call__(self, rates: Floats | float) -> Floats:
        """Return the most that the least false negative rate of any attack can be at each false positive rate."""
        x, y = self._hull()
        return np.asarray(np.interp(np.asarray(rates, dtype=float), x, y))

    def epsilon_at(self, delta: float) -> float:
        """Return a lower bound on ε at `delta`, by the best point; no assumption on the mechanism."""
        best = 0.0
        for wrong, missed in self._both_ways():
            kept = 1 - missed - delta
            usable = kept > 0
            if usable.any():
                best = max(best, float(np.max(np.log(kept[usable] / wrong[usable]))))
        return best

    @property
    def mu(self) -> float:
        """A lower bound on μ: the mechanism is not μ′-Gaussian DP for any μ′ below it; no assumption is needed."""
        ndtri = scipy.special.ndtri
        with np.errstate(invalid="ignore"):
            distances = -ndtri(self.false_positives) - ndtri(self.false_negatives)
        return max(0.0, float(np.max(np.where(np.isfinite(distances), distances, 0.0), initial=0.0)))

    def epsilon_assuming_gaussian(self, delta: float) -> float:
        """Return ε at `delta` of Gaussian noise with μ at its lower bound.

        **Assumes**: that the mechanism's curve *is* that of Gaussian noise, with some μ. Where that is not known, this
        is no bound; `epsilon_at` is.
        """
        return gaussian.epsilon_of(self.mu, delta)

    def contradicts(self, claim: Claim) -> bool:
        """Whether some point lies below the curve claimed: such an attack should not exist (at `confidence`)."""
        return any(bool(np.any(claim.trade_off(wrong) > missed)) for wrong, missed in self._both_ways())

    def to_json(self) -> dict[str, Any]:
        """Return the points as plain data."""
        return {
            "false_positives": self.false_positives.tolist(),
            "false_negatives": self.false_negatives.tolist(),
            "draws": self.draws,
            "confidence": self.confidence,
            "mu": self.mu,
        }

    def figure(self, claim: Claim | TradeOff | None = None) -> Figure:
        """Return a picture on logarithmic axes, with what the claim allows drawn over it. Needs matplotlib.

        What is right is shown against what is wrong, as attacks are mostly drawn: a curve above the claimed one is an
        attack that the claim rules out.
        """
        try:
            from matplotlib.figure import Figure
        except ImportError as error:
            raise UnsupportedError("plots need matplotlib: pip install sordino[plot]", "SRD-C022") from error
        figure = Figure(figsize=(6.4, 6.0), dpi=150, layout="constrained")
        axes = figure.subplots()
        least = max(_LEAST_SHOWN, 0.5 * float(min(self.false_positives.min(), self.false_negatives.min())))
        rates = np.geomspace(least, 1, 600)
        axes.plot(rates, rates, color=_MUTED, linewidth=1.4, linestyle=(0, (5, 3)), label="mere guessing")
        allowed = claim.trade_off if isinstance(claim, Claim) else claim
        if allowed is not None:
            label = f"most that the claim allows: {claim}" if isinstance(claim, Claim) else "most that the claim allows"
            axes.plot(rates, 1 - allowed(rates), color=_CLAIMED, linewidth=2.2, label=label)
        axes.plot(rates, 1 - self(rates), color=_MEASURED, linewidth=2.2, label="at least achieved by the attack found")
        for wrong, missed in self._both_ways():
            shown = (wrong > least) & (missed < 1 - least)
            axes.plot(wrong[shown], 1 - missed[shown], ".", color=_MEASURED, markersize=5)
        _dress(axes, least, f"{100 * self.confidence:g} % certain, all points together, {self.draws:,} draws a side")
        return figure

    def _both_ways(self) -> tuple[tuple[Floats, Floats], tuple[Floats, Floats]]:
        return (self.false_positives, self.false_negatives), (self.false_negatives, self.false_positives)

    def _hull(self) -> tuple[Floats, Floats]:
        """Return the lower convex hull of all points, their mirror images, and the two attacks that need no look."""
        x = np.concatenate([[0.0, 1.0], self.false_positives, self.false_negatives])
        y = np.concatenate([[1.0, 0.0], self.false_negatives, self.false_positives])
        kept: list[tuple[float, float]] = []
        for place in np.lexsort((y, x)):
            point = (float(x[place]), float(y[place]))
            while len(kept) > 1 and _turns_up(kept[-2], kept[-1], point):
                kept.pop()
            if not kept or point[0] > kept[-1][0]:
                kept.append(point)
        return np.array([point[0] for point in kept]), np.array([point[1] for point in kept])


def bounds_by_counts(accused: Floats, missed: Floats, draws: int, confidence: float) -> TradeOffBounds:
    """Return the bounds for an attack's errors at several thresholds, each counted in `draws` draws a side."""
    share = (1 - confidence) / (2 * max(1, len(accused)))
    return TradeOffBounds(at_most(accused, draws, share), at_most(missed, draws, share), draws, confidence)


def _turns_up(before: tuple[float, float], last: tuple[float, float], point: tuple[float, float]) -> bool:
    """Whether `last` lies on or above the line from `before` to `point`."""
    across = (last[0] - before[0]) * (point[1] - before[1]) - (last[1] - before[1]) * (point[0] - before[0])
    return across <= 0


def _dress(axes: Any, least: float, remark: str) -> None:
    axes.set(xscale="log", yscale="log", xlim=(least, 1), ylim=(least, 1), aspect="equal")
    axes.set_title(
        "What the best attack found achieves\n", loc="left", fontsize=13, fontweight="bold", color=_INK, pad=6
    )
    axes.text(0, 1.015, remark, color=_MUTED, fontsize=9.5, transform=axes.transAxes)
    axes.set_xlabel("false positives: says the first input, wrongly", color=_INK, fontsize=10, labelpad=8)
    axes.set_ylabel("true positives: says the first input, rightly", color=_INK, fontsize=10, labelpad=8)
    axes.tick_params(colors=_MUTED, length=0, labelsize=9, which="both")
    axes.grid(color="#e7e9ef", linewidth=0.8, zorder=0)
    axes.set_axisbelow(True)
    axes.legend(loc="lower right", frameon=False, fontsize=9.5, labelcolor=_INK, handlelength=1.8)
    for side in axes.spines.values():
        side.set_visible(False)
