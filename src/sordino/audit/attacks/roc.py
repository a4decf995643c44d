"""What an attack on membership finds at each rate of false alarms, against what a privacy guarantee allows.

On log axes, since an attack that is sure about a few people is worse than one that is slightly right about everybody
(Carlini et al. 2022).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from sordino.accounting.curve import Floats
from sordino.accounting.tradeoff import TradeOff
from sordino.arguments import Number, numbers, probability
from sordino.errors import ArgumentError

from .drawing import INK, MUTED, PRIVATE, RAW, THIRD, Figure, paper
from .limits import most_found
from .rates import Rate, share_of

_THRESHOLDS = 40
_COLOURS = (RAW, PRIVATE, "#3a8f5c", "#8a5fbf")


@dataclass(frozen=True)
class Roc:
    """Scores of those who were in the data and of those who were not; higher means "was in it"."""

    inside: Floats
    outside: Floats

    def __post_init__(self) -> None:
        for name in ("inside", "outside"):
            scores = numbers(name, getattr(self, name)).astype(float).ravel()
            if not scores.size or np.isnan(scores).any():
                raise ArgumentError(f"{name} must hold at least one score, and no NaN", "SRD-A001")
            object.__setattr__(self, name, scores)

    def curve(self) -> tuple[Floats, Floats]:
        """Return false and true positive rates at every threshold, from accusing nobody to accusing everybody."""
        thresholds = np.unique(np.concatenate([self.inside, self.outside]))[::-1]
        false = 1 - np.searchsorted(np.sort(self.outside), thresholds, side="left") / len(self.outside)
        true = 1 - np.searchsorted(np.sort(self.inside), thresholds, side="left") / len(self.inside)
        return np.concatenate([[0.0], false]), np.concatenate([[0.0], true])

    @property
    def auc(self) -> float:
        """The chance that somebody inside scores higher than somebody outside; ½ is guessing."""
        false, true = self.curve()
        return float(np.sum(np.diff(false) * (true[1:] + true[:-1]) / 2))

    def found_at(self, false_positives: Number) -> float:
        """Return the largest true positive rate with at most this rate of false alarms."""
        false, true = self.curve()
        return float(true[false <= float(probability("false_positives", false_positives))].max())

    def exceeds(self, limit: TradeOff, confidence: Number = "0.999") -> bool:
        """Tell whether the attack does better than `limit` allows, beyond chance.

        **Guarantee**: an honest release is accused with a chance of at most 1 − `confidence`. Thresholds come from
        every other outsider, the rest are judged, both rates get exact intervals, and all thresholds share the chance.
        **Assumes**: independent scores. People of one release share its noise: take one pair from each release.
        """
        chance = 1 - probability("confidence", confidence)
        chosen = np.unique(np.quantile(self.outside[::2], np.linspace(0, 1, _THRESHOLDS)))
        judged = self.outside[1::2]
        if not judged.size:
            return False
        each = 1 - chance / len(chosen)
        return any(_beyond(share_of(self.inside >= at), share_of(judged >= at), limit, each) for at in chosen.tolist())


def _beyond(true: Rate, false: Rate, limit: TradeOff, confidence: Any) -> bool:
    return true.interval(confidence)[0] > float(most_found(limit, min(1.0, false.interval(confidence)[1])))


def draw_rocs(title: str, said: str, rocs: Mapping[str, Roc], limits: Mapping[str, TradeOff] | None = None) -> Figure:
    """Return the curves on log axes, with each limit drawn over them as a dashed line that nobody may cross."""
    figure, (axes,) = paper(title, said, width=6.4, height=6.0)
    lowest = min(1 / max(len(roc.outside), len(roc.inside)) for roc in rocs.values())
    rates = np.geomspace(lowest, 1, 400)
    axes.plot(rates, rates, color=MUTED, linewidth=1.2, linestyle=(0, (1, 2)), label="guessing")
    for (name, roc), colour in zip(rocs.items(), _COLOURS, strict=False):
        false, true = roc.curve()
        axes.step(np.maximum(false, lowest / 10), np.maximum(true, lowest / 10), where="post", color=colour,
                  linewidth=2, label=f"{name}: AUC {roc.auc:.3f}", zorder=3)  # fmt: skip
    for (name, limit), colour in zip((limits or {}).items(), (INK, THIRD), strict=False):
        axes.plot(rates, most_found(limit, rates), color=colour, linewidth=1.6, linestyle=(0, (5, 3)), label=name)
    axes.set(xscale="log", yscale="log", xlim=(lowest, 1), ylim=(lowest, 1.15), aspect="equal")
    axes.set(xlabel="false alarms: accused, but was not in it", ylabel="found: was in it, and is accused")
    axes.tick_params(which="both", length=0)
    axes.legend(loc="lower right", frameon=False, fontsize=9)
    return figure
