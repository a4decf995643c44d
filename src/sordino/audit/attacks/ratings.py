"""Linkage of sparse records: whose ratings are these, by a handful that somebody remembers?

In 2006 Netflix published the ratings of half a million subscribers under numbers instead of names. Narayanan and
Shmatikov showed that eight ratings, two of them wrong and with dates off by two weeks, name a record, and so everything
else that its owner ever rated. The attack is their *Scoreboard-RH*: a candidate's score is, summed over what is known,

    (exp(−|stars − stars'| / ρ₀) + exp(−|days − days'| / d₀)) / log(number of people who rated the title)

with ρ₀ = 1.5 and d₀ = 30; the best is believed if it stands out from the second by φ = 1.5 standard deviations.

**Source**: Narayanan, Shmatikov 2008, *Robust de-anonymization of large sparse datasets*, sections 4 and 5.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from sordino.arguments import Number, whole
from sordino.errors import ArgumentError

from .drawing import INK, MUTED, RAW, THIRD, Figure, draw_contrasts, paper
from .rates import Contrast, Rate, share_of
from .scoreboard import best_matches, in_parts
from .tables import arrow, claimed_by, count_column, numbers_in, shared_codes

Codes = NDArray[np.int64]
Floats = NDArray[np.float64]
_RATING_SCALE, _DAY_SCALE, _ECCENTRICITY = 1.5, 30.0, 1.5


@dataclass(frozen=True)
class RatingsLinked:
    """What a handful of known ratings gives away; ``identified`` and ``accused`` follow ``amounts``."""

    amounts: tuple[int, ...]
    """How many ratings of each target the attacker knew."""
    identified: tuple[Rate, ...]
    """Targets in the release whose record was named, and rightly."""
    precision: tuple[Rate, ...]
    """Of all records that were named, also for targets who are not in the release, how many rightly."""
    accused: tuple[Rate, ...]
    """Targets not in the release to whom a record was ascribed all the same."""
    raw: Contrast
    """Ratings that the attacker did not know, named exactly by the release with all that was known."""
    private: Contrast | None
    """The same by the private table of means."""

    def __str__(self) -> str:
        lines = [
            f"{amount} known: identified {named}; right {right}; outsiders accused {wrong}"
            for amount, named, right, wrong in zip(
                self.amounts, self.identified, self.precision, self.accused, strict=True
            )
        ]
        lines.append(f"hidden rating named, raw     {self.raw}")
        return "\n".join([*lines, *([f"hidden rating named, private {self.private}"] if self.private else [])])

    def figure(self) -> Figure:
        """Return a figure: how many ratings name a subscriber, and what is learnt by that."""
        figure, (left, right) = paper(
            "How many ratings name a subscriber?",
            "subscribers named, by how many of their ratings were known",
            "ratings that were not known, named exactly",
        )
        for rates, colour, label in (
            (self.identified, RAW, "in the release, named rightly"),
            (self.accused, THIRD, "not in the release, named all the same"),
        ):
            shares = np.array([100 * rate.share for rate in rates])
            ends = 100 * np.array([rate.interval() for rate in rates]).T
            left.plot(self.amounts, shares, "o-", color=colour, linewidth=2.2, label=label, zorder=3)
            left.fill_between(self.amounts, *ends, color=colour, alpha=0.15, linewidth=0, zorder=2)
        left.set_xticks(self.amounts)
        left.set_xlabel("ratings known, stars and days inexact", color=INK, fontsize=10)
        left.set_ylim(0, 112)
        left.set_yticks(range(0, 101, 25), [f"{tick} %" for tick in range(0, 101, 25)], color=MUTED)
        left.legend(loc="center right", frameon=False, fontsize=9, labelcolor=INK)
        draw_contrasts(right, self.raw, self.private, ("inside", "outside"))
        return figure


@dataclass(frozen=True)
class _Ratings:
    """Ratings as arrays, with codes for people and titles that all tables share."""

    who: Codes
    title: Codes
    stars: Floats
    day: Floats

    def where(self, chosen: NDArray[Any]) -> _Ratings:
        return _Ratings(self.who[chosen], self.title[chosen], self.stars[chosen], self.day[chosen])


def link_ratings(
    release: Any,
    known: Any,
    hidden: Any,
    *,
    columns: Sequence[str] = ("subscriber", "title", "rating", "day"),
    amounts: Sequence[int] = (2, 4, 6, 8),
    eccentricity: float = _ECCENTRICITY,
    private: Any = None,
    mean: str | None = None,
    epsilon: Number | None = None,
    delta: Number = 0,
) -> RatingsLinked:
    """Find the records of people of whom a few ratings are known, and name a rating that was not known.

    All three tables have the four `columns`: whose, which title, how many stars, on which day. In the `release` the
    first is a number that says nothing to the attacker; the judge alone tells by it who is right, and targets whom the
    release does not have are those outside. `known` has what the attacker knows of each target, of which the first
    `amounts` are used; `hidden` has ratings to be named, none of them among the known.
    `private` is a table of noisy mean ratings by title that is released instead, with (ε, δ) per person; `mean` names
    its column. Whose record is not found is guessed to have rated the title as most do: by its mean.
    """
    rows, clues, secrets, people = _read(release, known, hidden, columns)
    order = np.argsort(clues.who, kind="stable")
    clues = clues.where(order)
    rank = np.arange(clues.who.size) - np.searchsorted(clues.who, clues.who)
    targets, records = np.unique(clues.who), np.unique(rows.who)
    inside = np.isin(targets, records)
    steps = tuple(whole("amounts", amount, least=1) for amount in amounts)
    found = [_find(rows, clues.where(rank < step), targets, records, eccentricity) for step in steps]
    linked = np.full(people, -1, dtype=np.int64)
    linked[targets] = found[int(np.argmax(steps))]
    insider = np.isin(secrets.who, records)
    fallback = np.rint(_means(rows)[secrets.title])
    guessed = _looked_up(rows, linked[secrets.who], secrets.title, fallback) == secrets.stars
    return RatingsLinked(
        amounts=steps,
        identified=tuple(share_of(each == targets, inside) for each in found),
        precision=tuple(share_of(each == targets, each >= 0) for each in found),
        accused=tuple(share_of(each >= 0, ~inside) for each in found),
        raw=Contrast(share_of(guessed, insider), share_of(guessed, ~insider)),
        private=None
        if private is None
        else _private(private, mean, arrow("hidden", hidden), columns, insider, claimed_by(private, epsilon, delta)),
    )


def _read(release: Any, known: Any, hidden: Any, columns: Sequence[str]) -> tuple[_Ratings, _Ratings, _Ratings, int]:
    """Return the three tables as arrays, and how many people there are in all of them."""
    if len(columns) != 4:
        raise ArgumentError("columns must name four: whose, which title, how many stars, on which day", "SRD-A001")
    who, title, stars, day = columns
    labels = ("release", "known", "hidden")
    tables = [arrow(label, table) for label, table in zip(labels, (release, known, hidden), strict=True)]
    owners, people = shared_codes(labels, tables, [who])
    titles, _ = shared_codes(labels, tables, [title])
    rows, clues, secrets = (
        _Ratings(owners[at], titles[at], numbers_in(labels[at], table, stars), numbers_in(labels[at], table, day))
        for at, table in enumerate(tables)
    )
    return rows, clues, secrets, people


def _find(rows: _Ratings, clues: _Ratings, targets: Codes, records: Codes, eccentricity: float) -> Codes:
    """Return for each target the owner of the record that stands out, or −1."""
    rows = rows.where(np.argsort(rows.title, kind="stable"))
    place = np.searchsorted(records, rows.who)
    starts, ends = (np.searchsorted(rows.title, clues.title, side) for side in ("left", "right"))
    weights = 1 / np.log(np.maximum(ends - starts, 2))

    def scores_of(part: slice) -> Floats:
        first, last = (
            np.searchsorted(clues.who, targets[part.start]),
            np.searchsorted(clues.who, targets[part.stop - 1], "right"),
        )
        here = slice(int(first), int(last))
        lengths = (ends - starts)[here]
        clue = np.repeat(np.arange(here.start, here.stop), lengths)
        row = np.arange(clue.size) + np.repeat(starts[here] - (np.cumsum(lengths) - lengths), lengths)
        near = np.exp(-np.abs(rows.stars[row] - clues.stars[clue]) / _RATING_SCALE)
        near += np.exp(-np.abs(rows.day[row] - clues.day[clue]) / _DAY_SCALE)
        target = np.searchsorted(targets[part], clues.who[clue])
        size = (part.stop - part.start, records.size)
        cells = np.bincount(target * size[1] + place[row], weights=weights[clue] * near, minlength=size[0] * size[1])
        return np.asarray(cells, dtype=np.float64).reshape(size)

    found = np.full(targets.size, -1, dtype=np.int64)
    for part, scores in in_parts(targets.size, records.size, scores_of):
        best, clear = best_matches(scores, eccentricity)
        found[part] = np.where(clear, records[best], -1)
    return found


def _means(rows: _Ratings) -> Floats:
    """Return the mean rating of each title; where there is none, that of all."""
    size = int(rows.title.max(initial=0)) + 1
    counts, sums = np.bincount(rows.title, minlength=size), np.bincount(rows.title, weights=rows.stars, minlength=size)
    return np.where(counts > 0, sums / np.maximum(counts, 1), rows.stars.mean() if rows.stars.size else 0.0)


def _looked_up(rows: _Ratings, owner: Codes, title: Codes, otherwise: Floats) -> Floats:
    """Return what each owner's record says about the title; where it says nothing, `otherwise`."""
    width = int(max(rows.title.max(initial=0), title.max(initial=0))) + 1
    keys = rows.who * width + rows.title
    order = np.argsort(keys, kind="stable")
    wanted = owner * width + title
    at = np.minimum(np.searchsorted(keys[order], wanted), keys.size - 1)
    there = (owner >= 0) & (keys[order][at] == wanted)
    return np.where(there, rows.stars[order][at], otherwise)


def _private(
    private: Any,
    mean: str | None,
    secrets: pa.Table,
    columns: Sequence[str],
    insider: NDArray[np.bool_],
    claim: tuple[Number, Number],
) -> Contrast:
    """Name hidden ratings by the private table of means."""
    _, title, stars, _ = columns
    table = arrow("private", private)
    told = count_column(private, table, mean)
    table = table.filter(table.column(told).is_valid())  # of a blank mean the attacker knows what all others say
    values = numbers_in("private", table, told)
    (shown, wanted), titles = shared_codes(["private", "hidden"], [table, secrets], [title])
    means = np.full(titles, values.mean() if values.size else 0.0)
    means[shown] = values
    truth = numbers_in("hidden", secrets, stars)
    scale = np.clip(
        np.rint(means[wanted]), truth.min(initial=0), truth.max(initial=0)
    )  # an attacker knows the stars there are
    right = scale == truth
    return Contrast.claiming(share_of(right, insider), share_of(right, ~insider), *claim)
