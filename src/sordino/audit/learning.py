"""Scorers that learn from outputs on both inputs; they are used on later outputs alone.

**Sources**: Ding et al. 2018 and Wang et al. 2020 for counts; Gilbert, McMillan 2018 for histograms; Bichsel, Steffen,
Bogunovic, Vechev 2021 (DP-Sniper), Section IV, for the classifier: cutting its score is best among all events. For
independent columns the sum of the logarithms of their ratios is the best score there is (Neyman, Pearson 1933); columns
that seem to say nothing are shrunk away (James, Stein 1961), lest the noise of many drown the few that speak.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations

import numpy as np
import scipy

from sordino.accounting.curve import Floats

from .events import Additive, Cells, Classifier, Column, Outcomes, Pair, Scorer
from .features import Reader, Table

_MOST_CELLS = 40
_LEAST_IN_CELL = 6
_TAILS = 2.0 ** -np.arange(6, 14)
_MOST_SINGLE = 24
"""Columns that are followed each by itself; of more the most telling ones."""
_MOST_TOGETHER = 64
_MOST_PAIRED = 16
_PAIRED_CELLS = 6
_LEAST_FOR_PAIRS = 400
_PAIRS = 3
_STRIKING = 4.0
"""Standard errors by which two columns must say more together than each alone."""
_RIDGE = 1e-3
_NEWTON_STEPS = 12


def untrained(reader: Reader) -> Iterator[Scorer]:
    """Yield the scorers that need no training: columns, upwards and downwards."""
    numbers, plain = len(reader.columns.paths), reader.columns.grids.start
    yield from _both_ways([*range(min(numbers, _MOST_SINGLE)), *range(numbers, plain)])


def _both_ways(places: Iterable[int]) -> Iterator[Column]:
    for place in places:
        yield Column(place, 1)
        yield Column(place, -1)


def learned(reader: Reader, first: Table, second: Table) -> Iterator[Scorer]:
    """Yield scorers that learnt from outputs on the first input and on the second."""
    labels = [_outcomes(first.keys[which], second.keys[which], label=which) for which in range(len(first.keys))]
    yield from (found for found in labels if found is not None)
    numbers = len(reader.columns.paths)
    cells = [_cells(place, first, second) for place in range(first.columns.shape[1])]
    telling = sorted((each for each in cells if each is not None), key=lambda each: each[1], reverse=True)
    for each, _ in telling[:_MOST_SINGLE]:
        yield each
        if _MOST_SINGLE <= each.place < numbers:
            yield from _both_ways([each.place])
        found = _outcomes(first.columns[:, each.place], second.columns[:, each.place], place=each.place)
        if found is not None:
            yield found
    # That a number is round may only mean that it is a certain one, which is said more simply, so grids come late.
    yield from _both_ways(reader.columns.grids)
    yield from _sums([each for each in cells[:numbers] if each is not None], labels, first, second)
    if len(telling) > 1:
        yield _classifier(sorted(each.place for each, _ in telling[:_MOST_TOGETHER]), first.columns, second.columns)


def _log_ratio(here: Floats, there: Floats) -> Floats:
    """Return the logarithm of how much oftener something came here, drawn towards 0 where it came seldom."""
    return np.asarray(np.log((here + 0.5) / (there + 0.5)) * (here + there) / (here + there + 1))


def _outcomes(first: Floats, second: Floats, label: int | None = None, place: int | None = None) -> Outcomes | None:
    """Count outcomes; those seen once are left out, so that of continuous outputs only what repeats is left."""
    keys, places = np.unique(np.concatenate([first, second]), return_inverse=True)
    here = np.bincount(places[: len(first)], minlength=len(keys)).astype(float)
    there = np.bincount(places[len(first) :], minlength=len(keys)).astype(float)
    again = here + there > 1
    return Outcomes(label, place, keys[again], _log_ratio(here[again], there[again])) if again.any() else None


def _cells(place: int, first: Table, second: Table) -> tuple[Cells, float] | None:
    """Return a histogram of a column, and by how many standard errors it differs; None of a column with one value."""
    both = np.concatenate([first.columns[:, place], second.columns[:, place]])
    known = both[np.isfinite(both)]
    many = int(min(_MOST_CELLS, len(both) / _LEAST_IN_CELL))
    if not len(known) or many < 2:
        return None
    tails = _TAILS[_TAILS * len(known) > _LEAST_IN_CELL]
    edges = np.unique(
        np.quantile(known, np.concatenate([np.linspace(0, 1, many + 1)[:-1], tails, 1 - tails]), method="higher")
    )
    empty = Cells(place, edges, np.zeros(len(edges) + 2))
    here, there = (np.bincount(empty.cells(side), minlength=len(edges) + 2).astype(float) for side in (first, second))
    if np.count_nonzero(here + there) < 2:
        return None
    return Cells(place, edges, _log_ratio(here, there)), _strength(here, there)[0]


def _strength(here: Floats, there: Floats) -> tuple[float, float]:
    """Return by how many standard errors two histograms differ, and which part of the difference is no chance."""
    total = (here + there).ravel()
    some = total > 0
    square = float((((here - there).ravel()[some]) ** 2 / total[some]).sum())
    free = max(int(some.sum()) - 1, 1)
    return (square - free) / np.sqrt(2 * free), max(0.0, 1 - free / square) if square > 0 else 0.0


def _sums(
    cells: Sequence[tuple[Cells, float]], labels: Sequence[Outcomes | None], first: Table, second: Table
) -> Iterator[Scorer]:
    """Yield what all columns, and striking pairs of them, say together."""
    words = [each for each in labels if each is not None]
    parts: dict[int, Cells | Pair] = {}
    for each, strength in cells:
        # The part of a sum of squares that is no chance, from the standard errors above its mean.
        free = max(len(each.ratios) - 1, 1)
        square = free + strength * np.sqrt(2 * free)
        if square > free:
            parts[each.place] = Cells(each.place, each.edges, each.ratios * (1 - free / square))
    if len(parts) + len(words) > 1:
        yield Additive((*parts.values(), *words))
    pairs = _pairs([each for each, _ in cells], first, second)
    yield from pairs
    used: set[int] = set()
    for pair in pairs:
        places = {pair.first.place, pair.second.place}
        if not places & used:
            used |= places
            parts = {place: part for place, part in parts.items() if place not in places} | {min(places): pair}
    if used and len(parts) + len(words) > 1:
        yield Additive((*parts.values(), *words))


def _pairs(cells: Sequence[Cells], first: Table, second: Table) -> list[Pair]:
    """Return the pairs of columns that say most that neither says alone."""
    if len(first) < _LEAST_FOR_PAIRS or len(cells) < 2:
        return []
    step = -(-len(cells) // _MOST_PAIRED)
    coarse = [_coarse(each, first, second) for each in cells[::step]]
    places = [tuple(each.cells(side) for side in (first, second)) for each in coarse]
    found = []
    for one, other in combinations(range(len(coarse)), 2):
        wide, high = len(coarse[one].ratios), len(coarse[other].ratios)
        here, there = (
            np.bincount(places[one][side] * high + places[other][side], minlength=wide * high)
            .astype(float)
            .reshape(wide, high)
            for side in (0, 1)
        )
        apart = _square(here, there) - sum(_square(here.sum(axis=axis), there.sum(axis=axis)) for axis in (0, 1))
        free = max(int(np.count_nonzero(here + there)) - wide - high + 1, 1)
        striking = (apart - free) / np.sqrt(2 * free)
        if striking > _STRIKING:
            found.append((striking, Pair(coarse[one], coarse[other], _log_ratio(here, there))))
    found.sort(key=lambda entry: entry[0], reverse=True)
    return [pair for _, pair in found[:_PAIRS]]


def _square(here: Floats, there: Floats) -> float:
    total = here + there
    return float(((here - there) ** 2 / np.maximum(total, 1.0)).sum())


def _coarse(cells: Cells, first: Table, second: Table) -> Cells:
    """Return a histogram with fewer cells."""
    both = np.concatenate([first.columns[:, cells.place], second.columns[:, cells.place]])
    known = both[np.isfinite(both)]
    edges = np.unique(np.quantile(known, np.linspace(0, 1, _PAIRED_CELLS + 1)[1:-1], method="higher"))
    return Cells(cells.place, edges, np.zeros(len(edges) + 2))


def _classifier(places: list[int], first: Floats, second: Floats) -> Classifier:
    """Fit a logistic regression with a ridge by Newton's method; the constant is fitted and dropped."""
    columns = np.concatenate([first, second])
    both = columns[:, places]
    known = np.where(np.isfinite(both), both, np.nan)
    centre = np.nanmedian(known, axis=0)
    low, high = np.nanquantile(known, [0.05, 0.95], axis=0)
    spread = np.where(high > low, (high - low) / 3, 1.0)
    missing = tuple(place for place in places if np.isnan(columns[:, place]).any())
    weights = np.zeros(len(places) + len(missing))
    model = Classifier(tuple(places), missing, centre, spread, weights)
    rows = np.column_stack([model.rows(columns), np.ones(len(columns))])
    truth = np.repeat([1.0, 0.0], [len(first), len(second)])
    weights, ridge = np.zeros(rows.shape[1]), _RIDGE * len(rows) * np.eye(rows.shape[1])
    for _ in range(_NEWTON_STEPS):
        odds = scipy.special.expit(rows @ weights)
        slope = rows.T @ (truth - odds) - ridge @ weights
        curvature = (rows * (odds * (1 - odds))[:, None]).T @ rows + ridge
        step = np.linalg.solve(curvature, slope)
        weights = weights + step
        if np.abs(step).max() < 1e-6:
            break
    return Classifier(model.places, missing, centre, spread, weights[:-1])
