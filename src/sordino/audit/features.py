"""Reading outputs of any kind as numbers: columns to put thresholds on, and keys to count.

Numbers, arrays, lists of unequal length, truths, texts, None: a first sample decides how outputs are read, and from
then on what is read of an output depends on that output alone. So an event on what was read is an event on outputs,
and whatever is left out here costs power, never soundness.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from sordino.accounting.curve import Floats
from sordino.errors import ArgumentError

_MOST_ELEMENTS = 24
_BEGINNING = 4
_FEW = 0.5
"""Whole lists are counted where a first sample has fewer different ones than this share of its draws."""


@dataclass(frozen=True)
class Table:
    """Outputs as numbers: `columns` is one row for each output, NaN where it has no such number.

    `keys` are one for each output and kind of label: equal numbers for equal labels.
    """

    columns: Floats
    keys: tuple[Floats, ...]

    def __len__(self) -> int:
        return len(self.columns)

    def last(self, draws: int) -> Table:
        """Return the last outputs, so many of them."""
        return Table(self.columns[-draws:], tuple(keys[-draws:] for keys in self.keys))

    @staticmethod
    def together(tables: Sequence[Table]) -> Table:
        """Return all outputs of `tables` in one."""
        columns = np.concatenate([table.columns for table in tables])
        return Table(
            columns, tuple(np.concatenate(keys) for keys in zip(*(table.keys for table in tables), strict=True))
        )


class Reader:
    """How the outputs of one mechanism are read; built from a first sample of them."""

    def __init__(self, sample: Any) -> None:
        outputs = _sequence(sample)
        if len(outputs) == 0:
            raise ArgumentError("a release must return as many outputs as were asked for, not none", "SRD-V002")
        self.kind = _kind(outputs)
        self.width = _width(outputs) if self.kind == "list" else 0
        self._labels: list[dict[Hashable, int]] = [{} for _ in _LABELS]
        self._texts: list[list[str]] = [[] for _ in _LABELS]
        self._counted = self._counted_labels(outputs)

    @property
    def names(self) -> tuple[str, ...]:
        """What the columns are."""
        if self.kind == "number":
            return ("output",)
        if self.kind == "label":
            return ()
        return (
            *(f"output[{place}]" for place in range(self.width)),
            *("sum", "least", "greatest", "length", "place of the first true", "how many differ"),
        )

    def read(self, outputs: Any, draws: int | None = None) -> Table:
        """Return `outputs` as numbers; refuse another number of them than `draws`."""
        found = _sequence(outputs)
        if draws is not None and len(found) != draws:
            raise ArgumentError(
                f"a release must return as many outputs as were asked for: {draws}, not {len(found)}", "SRD-V002"
            )
        if self.kind == "number":
            columns = _numbers(found)[:, None]
        elif self.kind == "list":
            columns = self._list_columns(found)
        else:
            columns = np.empty((len(found), 0))
        return Table(columns, tuple(self._keys(which, found, columns) for which in self._counted))

    def word(self, which: int, key: float) -> str:
        """Return the label behind a key, in words."""
        if self.kind == "number":
            return "nothing" if np.isnan(key) else f"{key:g}"
        return self._texts[self._counted[which]][int(key)]

    def _counted_labels(self, outputs: Any) -> tuple[int, ...]:
        """Return which labels are worth counting: of lists, whole outcomes if few, else patterns and beginnings."""
        if self.kind in ("label", "number"):
            return (0,)
        few = max(2.0, _FEW * len(outputs))
        found = [which for which, label in enumerate(_LABELS) if len({label(output) for output in outputs}) <= few]
        return (0,) if 0 in found else tuple(found)

    def _keys(self, which: int, outputs: Any, columns: Floats) -> Floats:
        if self.kind == "number":
            return columns[:, 0]
        known, texts = self._labels[which], self._texts[which]
        keys = np.empty(len(outputs))
        for place, output in enumerate(outputs):
            label = _LABELS[which](output)
            if label not in known:
                known[label] = len(known)
                texts.append(_text(label))
            keys[place] = known[label]
        return keys

    def _list_columns(self, outputs: Any) -> Floats:
        padded, lengths = _padded(outputs, self.width)
        some = ~np.isnan(padded)
        any_number = some.any(axis=1)
        true = padded == 1.0
        with np.errstate(invalid="ignore"):  # an infinity less an infinity is no number, and says so
            sums = np.where(any_number, np.where(some, padded, 0.0).sum(axis=1), np.nan)
            differ = any_number + (np.diff(np.sort(padded, axis=1), axis=1) > 0).sum(axis=1)
        least = np.where(some, padded, np.inf).min(axis=1, initial=np.inf)
        greatest = np.where(some, padded, -np.inf).max(axis=1, initial=-np.inf)
        first = np.where(true.any(axis=1), true.argmax(axis=1) if self.width else 0, np.nan)
        least, greatest = np.where(any_number, least, np.nan), np.where(any_number, greatest, np.nan)
        return np.column_stack([padded, sums, least, greatest, lengths, first, differ.astype(float)])


def _sequence(outputs: Any) -> Any:
    """Return outputs as an array of numbers, one row each, or as a list of anything."""
    if hasattr(outputs, "__array__"):  # arrays, data frames, tensors
        found = np.asarray(outputs)
        listed = found.tolist
    else:
        outputs = list(outputs)
        listed = outputs.copy
        try:
            found = np.asarray(outputs)
        except ValueError:  # rows of different lengths
            return outputs
    if found.dtype.kind not in "biuf" or found.ndim == 0:
        return listed()
    return found.reshape(len(found), -1) if found.ndim > 2 else found


def _kind(outputs: Any) -> str:
    if isinstance(outputs, np.ndarray):
        return "number" if outputs.ndim == 1 else "list"
    if all(output is None or _is_number(output) for output in outputs):
        return "number"
    listed = [isinstance(output, list | tuple | np.ndarray) for output in outputs]
    return "list" if any(listed) else "label"


def _is_number(thing: Any) -> bool:
    return isinstance(thing, int | float | np.integer | np.floating | np.bool_)


def _numbers(outputs: Any) -> Floats:
    """Return outputs as floats, NaN where one is no number."""
    if isinstance(outputs, np.ndarray) and outputs.ndim == 1:
        return outputs.astype(float)
    return np.array([float(output) if _is_number(output) else np.nan for output in outputs])


def _width(outputs: Any) -> int:
    if isinstance(outputs, np.ndarray):
        return min(int(outputs.shape[1]), _MOST_ELEMENTS)
    return min(max(len(_elements(output)) for output in outputs), _MOST_ELEMENTS)


def _elements(output: Any) -> Sequence[Any]:
    """Return the elements of an output, nested ones one after the other; an output that is no list is its only one."""
    if isinstance(output, np.ndarray):
        elements: list[Any] = output.ravel().tolist()
        return elements
    if isinstance(output, list | tuple):
        return [element for part in output for element in _elements(part)] if _nested(output) else output
    return [output]


def _nested(output: Sequence[Any]) -> bool:
    return any(isinstance(part, list | tuple | np.ndarray) for part in output)


def _padded(outputs: Any, width: int) -> tuple[Floats, Floats]:
    """Return the first `width` elements of every output as floats, NaN where there is no number; and all lengths."""
    if isinstance(outputs, np.ndarray) and outputs.ndim == 2:
        padded = np.full((len(outputs), width), np.nan)
        shown = min(width, outputs.shape[1])
        padded[:, :shown] = outputs[:, :shown]
        return padded, np.full(len(outputs), float(outputs.shape[1]))
    flat = [_elements(output) for output in outputs]
    rows = [
        [float(e) if _is_number(e) else np.nan for e in row[:width]] + [np.nan] * (width - len(row)) for row in flat
    ]
    return np.array(rows, dtype=float).reshape(len(rows), width), np.array([float(len(row)) for row in flat])


def _outcome(output: Any) -> Hashable:
    """Return the output itself, as something that can be counted; every NaN is the same."""
    if isinstance(output, list | tuple | np.ndarray):
        return tuple(_outcome(part) for part in output)
    if isinstance(output, float | np.floating) and output != output:  # NaN
        return "NaN"
    if isinstance(output, np.generic):
        plain: Hashable = output.item()
        return plain
    return output if isinstance(output, Hashable) else repr(output)


def _pattern(output: Any) -> Hashable:
    """Return what kind of thing stands where: truths, texts and nothings as they are, numbers only as numbers."""
    return tuple(
        "number" if _is_number(e) and not isinstance(e, bool | np.bool_) and e == e else _outcome(e)
        for e in _elements(output)
    )


def _beginning(output: Any) -> Hashable:
    """Return the first few elements."""
    return ("begins with", *(_outcome(element) for element in _elements(output)[:_BEGINNING]))


_LABELS = (_outcome, _pattern, _beginning)


def _text(label: Hashable) -> str:
    text = str(label)
    return text if len(text) <= 60 else f"{text[:59]}…"
