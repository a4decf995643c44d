"""Events: sets of outputs, found by scoring outputs and cutting at a threshold.

A scorer turns each output into a number; high ones should be likelier on the first of two inputs. A column of what was
read needs no training. The others learn from outputs that were drawn *before* those on which they are used: outcomes
and cells of a histogram by their likelihood ratio, and a logistic regression on all columns.

**Sources**: Ding et al. 2018 and Wang et al. 2020 for counts; Gilbert, McMillan 2018 for histograms; Bichsel, Steffen,
Bogunovic, Vechev 2021 (DP-Sniper), Section IV, for the classifier: cutting its score is best among all events.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import scipy

from sordino.accounting.curve import Floats

from .features import Reader, Table

_CELLS = 40
_NAMED = 5
_RIDGE = 1e-3
_NEWTON_STEPS = 12


class Scorer(Protocol):
    """Scores outputs; NaN for those that belong to no event."""

    def scores(self, table: Table) -> Floats:
        """Return a score for every output."""
        ...

    def words(self, reader: Reader, threshold: float, *, above: bool) -> str:
        """Return the event of scores at or above (at or below) `threshold` in words."""
        ...


@dataclass(frozen=True)
class Column:
    """A number that was read of the output, as it is."""

    place: int
    sign: int = 1

    def scores(self, table: Table) -> Floats:
        """Return the number, or its negative."""
        return self.sign * table.columns[:, self.place]

    def words(self, reader: Reader, threshold: float, *, above: bool) -> str:
        """Return an inequality."""
        relation = "≥" if above == (self.sign > 0) else "≤"
        return f"{reader.names[self.place]} {relation} {self.sign * threshold:.6g}"


@dataclass(frozen=True)
class Outcomes:
    """Outcomes that were counted, by the logarithm of how much oftener each came on the first input."""

    which: int
    keys: Floats
    ratios: Floats

    def scores(self, table: Table) -> Floats:
        """Return the logarithm of the ratio; NaN for outcomes that were never seen."""
        keys = table.keys[self.which]
        places = np.minimum(np.searchsorted(self.keys, keys), len(self.keys) - 1)
        known = (self.keys[places] == keys) | (np.isnan(self.keys[places]) & np.isnan(keys))
        return np.where(known, self.ratios[places], np.nan)

    def words(self, reader: Reader, threshold: float, *, above: bool) -> str:
        """Return the outcomes, the most telling first."""
        inside = self.ratios >= threshold if above else self.ratios <= threshold
        order = np.argsort(-self.ratios if above else self.ratios, kind="stable")
        named = [reader.word(self.which, self.keys[place]) for place in order if inside[place]]
        more = f" and {len(named) - _NAMED} more" if len(named) > _NAMED else ""
        return f"output is {' or '.join(named[:_NAMED])}{more}"


@dataclass(frozen=True)
class Cells:
    """Cells of a histogram of one column, by the logarithm of how much oftener each is hit on the first input."""

    place: int
    edges: Floats
    ratios: Floats

    def scores(self, table: Table) -> Floats:
        """Return the logarithm of the ratio of the output's cell."""
        column = table.columns[:, self.place]
        found = self.ratios[np.searchsorted(self.edges, column, side="right")]
        return np.where(np.isnan(column), np.nan, found)

    def words(self, reader: Reader, threshold: float, *, above: bool) -> str:
        """Return the cells, neighbouring ones as one interval."""
        inside = self.ratios >= threshold if above else self.ratios <= threshold
        ends = np.concatenate([[-np.inf], self.edges, [np.inf]])
        steps = np.flatnonzero(np.diff(np.concatenate([[0], inside.astype(int), [0]])))
        spans = [f"[{ends[low]:.4g}, {ends[high]:.4g})" for low, high in steps.reshape(-1, 2)]
        more = f" or {len(spans) - _NAMED} more intervals" if len(spans) > _NAMED else ""
        return f"{reader.names[self.place]} in {' or '.join(spans[:_NAMED])}{more}"


@dataclass(frozen=True)
class Classifier:
    """A logistic regression that tells the two inputs apart by all columns, and by which of them are missing."""

    centre: Floats
    scale: Floats
    weights: Floats

    def scores(self, table: Table) -> Floats:
        """Return the log-odds for the first input, but for a constant."""
        return np.asarray(_standard(table.columns, self.centre, self.scale) @ self.weights)

    def words(self, reader: Reader, threshold: float, *, above: bool) -> str:
        """Return the heaviest terms of the inequality."""
        names = [*reader.names, *(f"missing({name})" for name in reader.names)]
        order = np.argsort(-np.abs(self.weights), kind="stable")[:_NAMED]
        terms = " ".join(f"{self.weights[place]:+.3g}·{names[place]}" for place in order if self.weights[place])
        rest = " …" if np.count_nonzero(self.weights) > _NAMED else ""
        return f"classifier({terms}{rest}) {'≥' if above else '≤'} {threshold:.4g}"


@dataclass(frozen=True)
class Event:
    """A set of outputs: those whose score is at or above a threshold, or at or below it."""

    reader: Reader
    scorer: Scorer
    threshold: float
    above: bool

    def __call__(self, outputs: Any) -> Any:
        """Return for each output whether it belongs to the event."""
        return self.inside(self.reader.read(outputs))

    def inside(self, table: Table) -> Any:
        """Return for each output that was read whether it belongs to the event."""
        scores = self.scorer.scores(table)
        return scores >= self.threshold if self.above else scores <= self.threshold

    def __str__(self) -> str:
        return f"{{{self.scorer.words(self.reader, self.threshold, above=self.above)}}}"


def untrained(reader: Reader) -> Iterator[Scorer]:
    """Yield the scorers that need no training: every column, upwards and downwards."""
    for place in range(len(reader.names)):
        yield Column(place, 1)
        yield Column(place, -1)


def learned(first: Table, second: Table) -> Iterator[Scorer]:
    """Yield scorers that learnt from outputs on the first input and on the second."""
    for which in range(len(first.keys)):
        outcomes = _outcomes(which, first.keys[which], second.keys[which])
        if outcomes is not None:
            yield outcomes
    columns = first.columns.shape[1]
    for place in range(columns):
        cells = _cells(place, first.columns[:, place], second.columns[:, place])
        if cells is not None:
            yield cells
    if columns > 1:
        yield _classifier(first.columns, second.columns)


def _log_ratio(here: Floats, there: Floats) -> Floats:
    """Return the logarithm of how much oftener something came here, drawn towards 0 where it came seldom."""
    return np.asarray(np.log((here + 0.5) / (there + 0.5)) * (here + there) / (here + there + 1))


def _outcomes(which: int, first: Floats, second: Floats) -> Outcomes | None:
    """Count outcomes; those seen once are left out, so that of continuous outputs only what repeats is left."""
    keys, places = np.unique(np.concatenate([first, second]), return_inverse=True)
    here = np.bincount(places[: len(first)], minlength=len(keys)).astype(float)
    there = np.bincount(places[len(first) :], minlength=len(keys)).astype(float)
    again = here + there > 1
    return Outcomes(which, keys[again], _log_ratio(here[again], there[again])) if again.any() else None


def _cells(place: int, first: Floats, second: Floats) -> Cells | None:
    both = np.concatenate([first, second])
    known = both[np.isfinite(both)]
    if len(known) < _CELLS:
        return None
    edges = np.unique(np.quantile(known, np.linspace(0, 1, _CELLS + 1)[1:-1]))
    here, there = (
        np.bincount(np.searchsorted(edges, side[~np.isnan(side)], side="right"), minlength=len(edges) + 1).astype(float)
        for side in (first, second)
    )
    return Cells(place, edges, _log_ratio(here, there))


def _standard(columns: Floats, centre: Floats, scale: Floats) -> Floats:
    """Return columns around 0 with spread 1, cut off far out, and for each whether its number is missing."""
    missing = np.isnan(columns)
    standard = np.clip((np.where(missing, centre, columns) - centre) / scale, -8.0, 8.0)
    return np.concatenate([standard, missing.astype(float)], axis=1)


def _classifier(first: Floats, second: Floats) -> Classifier:
    """Fit a logistic regression with a ridge by Newton's method; the constant is fitted and dropped."""
    both = np.concatenate([first, second])
    known = np.where(np.isfinite(both), both, np.nan)
    some = ~np.isnan(known).all(axis=0)
    centre, spread = np.zeros(both.shape[1]), np.ones(both.shape[1])
    centre[some] = np.nanmedian(known[:, some], axis=0)
    low, high = np.nanquantile(known[:, some], [0.05, 0.95], axis=0)
    spread[some] = np.where(high > low, (high - low) / 3, 1.0)
    rows = np.column_stack([_standard(both, centre, spread), np.ones(len(both))])
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
    return Classifier(centre, spread, weights[:-1])
