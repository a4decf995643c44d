"""The homogeneity failure: nobody can be told apart, and everybody's secret is known.

In a table that is k-anonymous, each person shares their class with k − 1 others who look alike. If all of a class have
the same secret, the attacker needs no name. If two secrets are left and she knows that one of them cannot be, neither.

`homogeneity` counts the people whose secret is certain so, and how far the beliefs about all others move. Against a
private table of counts it plays the strongest attacker there is: one who knows everybody else's row, and computes the
exact posterior of the last person's secret by the law of the noise.

**Guarantee** of such a table: with pure ε per person, no belief "she has A rather than B" moves by more than a factor
e^(2ε) in odds (one row taken away, one put in). It is checked, not assumed.

**Source**: Machanavajjhala, Kifer, Gehrke, Venkitasubramaniam 2007, *l-diversity*, section 2 (homogeneity, background
knowledge); Dwork, McSherry, Nissim, Smith 2006, appendix A (semantic privacy against an informed attacker).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from sordino.arguments import Number

from .anonymity import coarsened
from .beliefs import Beliefs, by_class, by_noisy_counts, odds
from .drawing import INK, MUTED, PRIVATE, RAW, THIRD, Figure, draw_rates, paper
from .rates import Rate, share_of
from .tables import arrow, shared_codes

_RULED_OUT = 3


@dataclass(frozen=True)
class Homogeneity:
    """What a k-anonymous table says about people who cannot be told apart."""

    k: int
    """People in the smallest class."""
    diversity: int
    """Different secrets in the class that has fewest: the table is distinct l-diverse with this l."""
    classes: int
    certain: tuple[Rate, ...]
    """People whose secret is certain to an attacker who can rule out no, one, two … other secrets."""
    raw: Beliefs
    """Of an attacker who knows nothing but the k-anonymous table and in which class each person is."""
    private: Beliefs | None
    """Of an attacker who knows the private table and the rows of everybody else."""

    def __str__(self) -> str:
        lines = [f"{self.k}-anonymous, {self.diversity}-diverse, {self.classes:,} classes"]
        lines += [f"secret certain, {ruled} ruled out: {rate}" for ruled, rate in enumerate(self.certain)]
        lines.append(f"raw: {self.raw}")
        return "\n".join([*lines, *([f"private: {self.private}"] if self.private else [])])

    def figure(self) -> Figure:
        """Return a figure: whose secret is certain, and how far beliefs move, raw and private."""
        figure, (left, right) = paper(
            f"Classes of {self.k} people or more who look alike",
            "people whose secret is certain",
            "odds of the true secret, after over before",
        )
        words = ("knowing\nnothing else", "one secret\nruled out", "two\nruled out", "three\nruled out")
        draw_rates(left, dict(zip(words, self.certain, strict=False)), [RAW, THIRD, THIRD, THIRD])
        for beliefs, colour, label in ((self.raw, RAW, "k-anonymous"), (self.private, PRIVATE, "private")):
            if beliefs is None:
                continue
            factors = np.sort(np.clip(odds(beliefs.posterior) / odds(beliefs.prior), 1e-3, 1e3))
            shares = 100 * (np.arange(factors.size) + 1) / factors.size
            right.plot(factors, shares, color=colour, linewidth=2.2, label=label, drawstyle="steps-post", zorder=3)
            if math.isfinite(beliefs.allowed):
                for edge in (1 / beliefs.allowed, beliefs.allowed):
                    right.axvline(edge, color=INK, linewidth=1.3, linestyle=(0, (4, 2)), zorder=2)
                text = f"ε allows\n{beliefs.allowed:.3g}-fold"
                right.annotate(text, (beliefs.allowed, 6), (4, 0), textcoords="offset points", fontsize=8.5, color=INK)
        right.set_xscale("log")
        right.set_xlabel("factor (1,000 and beyond: certain)", color=INK, fontsize=10)
        right.set_yticks(range(0, 101, 25), [f"{tick} %" for tick in range(0, 101, 25)], color=MUTED)
        right.set_ylabel("people", color=INK, fontsize=10)
        right.tick_params(which="minor", length=0)
        right.legend(loc="center right", frameon=False, fontsize=9, labelcolor=INK)
        return figure


def homogeneity(
    people: Any,
    on: Sequence[str],
    sensitive: str,
    *,
    k: int | None = None,
    diversity: int = 1,
    private: Any = None,
    count: str | None = None,
    epsilon: Number | None = None,
    scale: Number | None = None,
) -> Homogeneity:
    """Attack a k-anonymous table, and a private table of counts of the same people.

    Args:
        people: one row for each person. With `k` they are made k-anonymous by `coarsened` first; without, the columns
            `on` are taken to be coarse already.
        on: the columns by which the attacker knows people.
        sensitive: the column that she wants to know.
        k: the least number of people in a class.
        diversity: the least number of different secrets in a class, as l-diversity asks.
        private: noisy counts by `sensitive` and other columns of `people`, all groups shown; one count for each person.
        count: its column of counts; an answer with one noisy column knows.
        epsilon: what it claims per person; an answer knows.
        scale: of the Laplace noise in each count, in rows; an answer knows.
    """
    rows = arrow("people", people)
    release = rows if k is None else coarsened(rows, on, k, sensitive=sensitive, diversity=diversity)
    (classes,), number = shared_codes(["people"], [release], on)
    (secrets,), kinds = shared_codes(["people"], [release], [sensitive])
    counts = np.bincount(classes * kinds + secrets, minlength=number * kinds).reshape(number, kinds)
    different = np.count_nonzero(counts, axis=1)
    return Homogeneity(
        k=int(counts.sum(axis=1).min(initial=rows.num_rows)),
        diversity=int(different.min(initial=kinds)),
        classes=number,
        certain=tuple(share_of(different[classes] - 1 <= ruled) for ruled in range(_RULED_OUT)),
        raw=by_class(counts, classes, secrets),
        private=None
        if private is None
        else by_noisy_counts(rows, sensitive, private, count=count, epsilon=epsilon, scale=scale),
    )
