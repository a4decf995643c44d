"""Events: sets of outputs, found by scoring outputs and cutting at a threshold.

A scorer turns each output into a number; high ones should be likelier on the first of two inputs. A column of what was
read needs no training. The others learn from outputs that were drawn *before* those on which they are used
(``learning.py``): outcomes and cells of a histogram by their likelihood ratio, sums of such ratios over columns and
over pairs of columns, and a logistic regression on all columns.

All of them are plain data, so that an event can be written down whole and counted again by somebody else.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any, Protocol

import numpy as np

from sordino.accounting.curve import Floats

from .features import Reader, Table, View

_NAMED = 5
_DIGITS = 9
"""Scores that are sums are rounded, lest an output in a larger batch, summed in another order, miss its own cut."""


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
        return f"{reader.names[self.place]} {relation} {reader.columns.shown(self.place, self.sign * threshold)}"


@dataclass(frozen=True)
class Outcomes:
    """Outcomes by the logarithm of how much oftener each came on the first input.

    They are labels, or the very values of a column.
    """

    label: int | None
    place: int | None
    keys: Floats
    ratios: Floats

    def scores(self, table: Table) -> Floats:
        """Return the logarithm of the ratio; NaN for outcomes that were never seen."""
        keys = table.columns[:, self.place] if self.label is None else table.keys[self.label]
        places = np.minimum(np.searchsorted(self.keys, keys), len(self.keys) - 1)
        known = (self.keys[places] == keys) | (np.isnan(self.keys[places]) & np.isnan(keys))
        return np.where(known, self.ratios[places], np.nan)

    def words(self, reader: Reader, threshold: float, *, above: bool) -> str:
        """Return the outcomes, the most telling first."""
        inside = self.ratios >= threshold if above else self.ratios <= threshold
        order = [place for place in np.argsort(-self.ratios if above else self.ratios, kind="stable") if inside[place]]
        shown = [self._word(reader, self.keys[place]) for place in order[:_NAMED]]
        more = f" and {len(order) - _NAMED} more" if len(order) > _NAMED else ""
        return f"{' or '.join(shown)}{more}"

    def _word(self, reader: Reader, key: float) -> str:
        if self.label is not None:
            return reader.word(self.label, key)
        place = self.place or 0
        return f"{reader.names[place]} is {reader.columns.shown(place, key)}"


@dataclass(frozen=True)
class Cells:
    """Cells of a histogram of one column, by the logarithm of how much oftener each is hit on the first input.

    The last of the ratios is that of outputs in which the number is missing.
    """

    place: int
    edges: Floats
    ratios: Floats

    def cells(self, table: Table) -> Any:
        """Return the place of each output's cell."""
        column = table.columns[:, self.place]
        return np.where(np.isnan(column), len(self.edges) + 1, np.searchsorted(self.edges, column, side="right"))

    def scores(self, table: Table) -> Floats:
        """Return the logarithm of the ratio of the output's cell."""
        return np.asarray(self.ratios[self.cells(table)])

    def words(self, reader: Reader, threshold: float, *, above: bool) -> str:
        """Return the cells, neighbouring ones as one interval."""
        inside = self.ratios >= threshold if above else self.ratios <= threshold
        ends = np.concatenate([[-np.inf], self.edges, [np.inf]])
        steps = np.flatnonzero(np.diff(np.concatenate([[0], inside[:-1].astype(int), [0]])))
        shown = reader.columns.shown
        spans = [
            f"in [{shown(self.place, ends[low])}, {shown(self.place, ends[high])})"
            for low, high in steps.reshape(-1, 2).tolist()
        ]
        spans += ["missing"] if inside[-1] else []
        more = f" or {len(spans) - _NAMED} more" if len(spans) > _NAMED else ""
        return f"{reader.names[self.place]} {' or '.join(spans[:_NAMED])}{more}"


@dataclass(frozen=True)
class Pair:
    """Cells of two columns together."""

    first: Cells
    second: Cells
    ratios: Floats

    def scores(self, table: Table) -> Floats:
        """Return the logarithm of the ratio of the cell that both numbers fall into."""
        return np.asarray(self.ratios[self.first.cells(table), self.second.cells(table)])

    def words(self, reader: Reader, threshold: float, *, above: bool) -> str:
        """Return the two columns, and how many cells there are."""
        inside = self.ratios >= threshold if above else self.ratios <= threshold
        names = f"{reader.names[self.first.place]} and {reader.names[self.second.place]}"
        return f"{names} in {np.count_nonzero(inside)} of {inside.size} cells"


@dataclass(frozen=True)
class Additive:
    """Naive Bayes: the sum over many columns of what the cell of each says; for leaks that no column shows alone."""

    parts: tuple[Cells | Pair | Outcomes, ...]

    def scores(self, table: Table) -> Floats:
        """Return the sum of the parts' scores."""
        found = np.zeros(len(table))
        for part in self.parts:
            found += np.nan_to_num(part.scores(table))
        return np.round(found, _DIGITS)

    def words(self, reader: Reader, threshold: float, *, above: bool) -> str:
        """Return the columns that say most."""
        weight = [float(np.ptp(part.ratios)) for part in self.parts]
        order = sorted(range(len(weight)), key=weight.__getitem__, reverse=True)
        names = [
            reader.names[part.place] if isinstance(part, Cells) else "forms" if isinstance(part, Outcomes) else "a pair"
            for part in (self.parts[place] for place in order[:_NAMED])
        ]
        rest = f" and {len(order) - _NAMED} more" if len(order) > _NAMED else ""
        return f"evidence({', '.join(names)}{rest}) {'≥' if above else '≤'} {threshold:.4g}"


@dataclass(frozen=True)
class Classifier:
    """A logistic regression that tells the two inputs apart by many columns, and by which of them are missing."""

    places: tuple[int, ...]
    missing: tuple[int, ...]
    centre: Floats
    scale: Floats
    weights: Floats

    def rows(self, columns: Floats) -> Floats:
        """Return columns around 0 with spread 1, cut off far out, and which of some columns are missing."""
        chosen = columns[:, list(self.places)]
        known = np.where(np.isnan(chosen), self.centre, chosen)
        missing = np.isnan(columns[:, list(self.missing)]).astype(float)
        return np.concatenate([np.clip((known - self.centre) / self.scale, -8.0, 8.0), missing], axis=1)

    def scores(self, table: Table) -> Floats:
        """Return the log-odds for the first input, but for a constant."""
        return np.round(self.rows(table.columns) @ self.weights, _DIGITS)

    def words(self, reader: Reader, threshold: float, *, above: bool) -> str:
        """Return the heaviest terms of the inequality."""
        names = [reader.names[place] for place in self.places]
        names += [f"missing({reader.names[place]})" for place in self.missing]
        order = np.argsort(-np.abs(self.weights), kind="stable")[:_NAMED]
        terms = " ".join(f"{self.weights[place]:+.3g}·{names[place]}" for place in order if self.weights[place])
        rest = " …" if np.count_nonzero(self.weights) > _NAMED else ""
        return f"classifier({terms}{rest}) {'≥' if above else '≤'} {threshold:.4g}"


_SCORERS = (Column, Outcomes, Cells, Pair, Additive, Classifier)


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

    def to_json(self) -> dict[str, Any]:
        """Return the event as plain data, whole: how outputs are read, how they are scored, and where the cut is."""
        return {
            "reader": self.reader.to_json(),
            "scorer": _written(self.scorer),
            "threshold": _written(self.threshold),
            "above": self.above,
        }

    @classmethod
    def from_json(cls, plain: Any, view: View | None = None) -> Event:
        """Return the event that was written; `view` is the function that outputs were seen through, if one was."""
        reader = Reader.from_json(plain["reader"], view)
        return cls(reader, _read(plain["scorer"]), float(plain["threshold"]), bool(plain["above"]))


def _written(value: Any) -> Any:
    """Return a scorer, or what one is made of, as JSON can hold it; floats as texts that give them back."""
    match value:
        case bool() | int() | None | str():
            return value
        case float() | np.floating():
            return repr(float(value))
        case np.ndarray():
            return {"array": [repr(number) for number in value.ravel().tolist()], "shape": list(value.shape)}
        case tuple():
            return [_written(part) for part in value]
    return {"kind": type(value).__name__} | {each.name: _written(getattr(value, each.name)) for each in fields(value)}


def _read(plain: Any) -> Any:
    match plain:
        case {"array": numbers, "shape": shape}:
            return np.array([float(number) for number in numbers]).reshape(shape)
        case {"kind": kind}:
            made = next(scorer for scorer in _SCORERS if scorer.__name__ == kind)
            return made(**{name: _read(value) for name, value in plain.items() if name != "kind"})
        case list():
            return tuple(_read(part) for part in plain)
    return plain
