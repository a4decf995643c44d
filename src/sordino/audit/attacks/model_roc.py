"""How well an attack on models tells members from others, and its picture on log axes under what (ε, δ) allows."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sordino.accounting.curve import Floats
from sordino.arguments import Number, probability, rational

from .drawing import INK, MUTED, PRIVATE, RAW, THIRD, Axes, Figure, paper
from .limits import most_found
from .rates import share_of
from .roc import Roc

if TYPE_CHECKING:
    from .models import ModelMembership

_LEAST_SHOWN = 1e-4


@dataclass(frozen=True, eq=False)
class MembershipRoc:
    """How one attack did over all models: members found against others accused, for every threshold."""

    scores: Floats
    """Of every model and example; higher for those that seem to be members."""
    members: NDArray[np.bool_]

    @cached_property
    def roc(self) -> Roc:
        """The curve over all models together."""
        return Roc(self.scores[self.members], self.scores[~self.members])

    @property
    def auc(self) -> float:
        """The chance that a member scores higher than another example; ½ is guessing."""
        return self.roc.auc

    def found_at(self, false_positives: Number) -> float:
        """Return the share of members found where at most this share of others is accused."""
        return self.roc.found_at(false_positives)

    def interval_at(self, false_positives: Number, confidence: Number = 0.95) -> tuple[float, float]:
        """Return an interval for that share: the wider of one over all guesses and one over the models.

        Guesses about one model hang together, so the second takes each model as one observation (Student's t).
        """
        from scipy.stats import t as student

        rate = float(rational("false_positives", false_positives, least=0, most=1))
        accused = self.scores >= self._threshold(rate)
        low, high = share_of(accused, self.members).interval(confidence)
        shares = (accused & self.members).sum(axis=1) / np.maximum(self.members.sum(axis=1), 1)
        reach = student.ppf(0.5 + float(probability("confidence", confidence)) / 2, len(shares) - 1)
        half = float(reach * shares.std(ddof=1) / len(shares) ** 0.5)
        return max(min(low, float(shares.mean()) - half), 0.0), min(max(high, float(shares.mean()) + half), 1.0)

    def _threshold(self, rate: float) -> float:
        """Return the lowest score above which at most this share of the others lies."""
        others = np.sort(self.scores[~self.members])[::-1]
        allowed = int(rate * len(others) + 1e-9)
        if allowed >= len(others):
            return -np.inf
        return float(np.nextafter(others[allowed], np.inf))


def draw(raw: ModelMembership, private: ModelMembership | None) -> Figure:
    """Return the curves of one training, or of an unprotected and a private one side by side."""
    subtitles = ["as it was trained"] if private is None else ["trained without protection", "trained with noise"]
    if private is not None and private.claim is not None:
        subtitles[1] = f"trained with {private.claim}"
    width = 5.6 if private is None else 10.4
    figure, plots = paper("Who was in the training set?", *subtitles, width=width, height=5.2)
    for axes, shown in zip(plots, [raw] if private is None else [raw, private], strict=True):
        _draw_curves(axes, shown)
    return figure


def _draw_curves(axes: Axes, shown: ModelMembership) -> None:
    rates = np.geomspace(_LEAST_SHOWN, 1, 400)
    axes.plot(rates, rates, color=MUTED, linewidth=1.3, linestyle=(0, (5, 3)), label="mere guessing")
    if shown.claim is not None:
        limit = most_found(shown.claim.trade_off, rates)
        axes.fill_between(rates, limit, 1.0, color="#eef0f4", zorder=1, linewidth=0)
        axes.plot(rates, limit, color=INK, linewidth=1.4, zorder=2, label="the most that is allowed")
    colours: list[Any] = [THIRD, PRIVATE, RAW]
    for colour, (name, roc) in zip(colours, shown.attacks.items(), strict=False):
        accused, found = roc.roc.curve()
        axes.plot(accused, found, color=colour, linewidth=2, zorder=3, drawstyle="steps-post", label=name)
    axes.set(xscale="log", yscale="log", xlim=(_LEAST_SHOWN, 1), ylim=(_LEAST_SHOWN, 1.15))
    ticks = np.geomspace(_LEAST_SHOWN, 1, 5)
    axes.set_xticks(ticks, [f"{100 * tick:g} %" for tick in ticks])
    axes.set_yticks(ticks, [f"{100 * tick:g} %" for tick in ticks])
    axes.minorticks_off()
    axes.tick_params(axis="x", pad=9)
    axes.set_xlabel("others accused (false positives)", color=INK, fontsize=10)
    axes.set_ylabel("members found (true positives)", color=INK, fontsize=10)
    axes.legend(loc="lower right", frameon=False, fontsize=8.5, labelcolor=INK)
