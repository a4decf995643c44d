"""How much noise stops a reconstruction: the phase change at √n, and where differential privacy lies on it.

With m random questions about n people and noise of deviation σ on each answer, least squares knows every bit up to
2σ/√m. With a fixed number of questions for each person that is a multiple of σ/√n: below √n all bits come out, above it
none does, and curves for all n lie on one another. A release that is ρ-zCDP in all has σ = √(m/2ρ), which keeps that
ratio where it is however much is asked: the guarantee is the right side of this picture.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sordino.accounting.curve import Floats
from sordino.arguments import numbers, whole
from sordino.audit.dice import dice
from sordino.errors import ArgumentError

from .drawing import INK, MUTED, PRIVATE, RAW, Figure, paper
from .reconstruction import reconstruct, subset_counts

_RATIOS = tuple(np.geomspace(0.05, 20, 12))


@dataclass(frozen=True)
class Sweep:
    """The share of bits that came out right, by number of people (rows) and by noise over √n (columns)."""

    people: tuple[int, ...]
    ratios: Floats
    correct: Floats
    questions_each: int
    method: str

    def figure(self, released: float | None = None) -> Figure:
        """Return the phase change as a picture; `released` marks a release whose noise is that many times √n."""
        said = f"{self.questions_each} questions for each person, by {self.method}; all sizes lie on one curve"
        figure, (axes,) = paper("Noise of √n decides", said, width=6.4)
        axes.set(xlabel="standard deviation of the noise, over √n", ylabel="bits that are right")
        for people, row, shade in zip(self.people, self.correct, np.linspace(0.35, 1, len(self.people)), strict=True):
            axes.plot(
                self.ratios, row, "o-", color=RAW, alpha=shade, markersize=4, linewidth=1.8, label=f"n = {people}"
            )
        axes.axhline(0.5, color=MUTED, linewidth=1.2, linestyle=(0, (5, 3)), label="guessing")
        axes.axvline(1, color=INK, linewidth=1, linestyle=(0, (1, 2)))
        if released is not None:
            axes.axvline(released, color=PRIVATE, linewidth=2.2, label="a private release")
        axes.set(xscale="log", ylim=(0.4, 1.03))
        axes.tick_params(which="both", length=0)
        axes.set_yticks(np.linspace(0.4, 1, 7), [f"{share:.0%}" for share in np.linspace(0.4, 1, 7)])
        axes.legend(loc="upper right", frameon=False, fontsize=9)
        return figure


def sweep_noise(
    people: Sequence[int] = (64, 256, 512),
    ratios: Sequence[float] = _RATIOS,
    *,
    questions_each: int = 4,
    method: str = "least squares",
    repeats: int = 3,
    seed: int | None = None,
) -> Sweep:
    """Return how much of random secrets is reconstructed under Gaussian noise of each of `ratios` times √n.

    The noise is the attacker's own imitation of a release: it protects nobody, and comes from `seed`.
    """
    sizes = tuple(whole("people", size, least=2) for size in people)
    levels = numbers("ratios", ratios).astype(float)
    if levels.ndim != 1 or not sizes or not np.all(levels > 0):
        raise ArgumentError("people and ratios must be lists of positive numbers", "SRD-A001")
    each, times = whole("questions_each", questions_each, least=1), whole("repeats", repeats, least=1)
    source = dice(seed)

    def share(size: int, ratio: float) -> float:
        deviation = ratio * size**0.5
        asked = subset_counts(
            source.integers(0, 2, size),
            each * size,
            lambda counts: counts + source.normal(0, deviation, counts.shape),
            seed=int(source.integers(2**62)),
        )
        return reconstruct(asked, method=method, noise=deviation).correct

    found = [[float(np.mean([share(size, ratio) for _ in range(times)])) for ratio in levels] for size in sizes]
    return Sweep(sizes, levels, np.array(found), each, method)
