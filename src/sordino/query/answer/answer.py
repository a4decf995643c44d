"""Answers: noisy columns with their intervals, what bounding may hide, and the receipt of what it cost.

An `Answer` was made of noisy values and public metadata alone, so whatever is done with it costs nothing.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from difflib import get_close_matches
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import pyarrow as pa

from sordino.accounting.event import Event
from sordino.accounting.plan import Files
from sordino.arguments import Number, probability, whole
from sordino.errors import ArgumentError
from sordino.query.estimate.convolution import Floats
from sordino.query.estimate.estimate import Estimate, Interval
from sordino.query.estimate.evaluate import Evaluated

from .arrow import column_array, ends_arrays, to_json
from .delimited import csv_text, unused
from .display import Cell, cells, width

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl
    from matplotlib.figure import Figure

_ROWS_SHOWN = 20


class Answer:
    """The answer to one question: a table whose noisy columns know how far they may be off.

    Intervals cover the answer as it is after bounding (see `notes`), each with the confidence asked for; with private
    keys conditional on the key's having been selected.
    """

    def __init__(
        self,
        names: Sequence[str],
        columns: Sequence[Evaluated],
        *,
        notes: Sequence[str] = (),
        details: Mapping[str, Any] | None = None,
        events: Sequence[Event] = (),
        confidence: Number = 0.95,
    ) -> None:
        if len(names) != len(columns) or len(set(names)) != len(names):
            raise ArgumentError("an answer needs one name for each column, all of them different", "SRD-A003")
        probability("confidence", confidence)
        self._columns = dict(zip(names, columns, strict=True))
        self._rows = columns[0].groups if columns else 0
        self._details = json.dumps(dict(details or {}))
        self.notes = list(notes)
        self.events = tuple(events)
        self.confidence = confidence
        self.receipt: Any = None
        """The signed receipt of the ledger, for an answer that was charged to one."""

    @property
    def names(self) -> list[str]:
        """The columns' names, in order."""
        return list(self._columns)

    @property
    def noisy_names(self) -> list[str]:
        """The names of the columns that noise is in; the others are keys and what is computed from keys."""
        return [name for name, column in self._columns.items() if column.noisy]

    @property
    def details(self) -> dict[str, Any]:
        """What was asked, what it cost and what noise was added: a dictionary that JSON can hold, without any value."""
        loaded: dict[str, Any] = json.loads(self._details)
        return loaded

    def column(self, name: str) -> Evaluated:
        """Return a column with its estimates."""
        if name not in self._columns:
            close = get_close_matches(str(name), self.names, n=1)
            hint = f"did you mean {close[0]!r}?" if close else f"it has {', '.join(map(repr, self.names))}"
            raise ArgumentError(f"the answer has no column {str(name)[:60]!r}; {hint}", "SRD-A002")
        return self._columns[name]

    def __getitem__(self, name: str) -> Any:
        return self.column(name).values

    def __contains__(self, name: object) -> bool:
        return name in self._columns

    def __len__(self) -> int:
        return self._rows

    def __iter__(self) -> Iterator[dict[str, Any]]:
        return iter(self.to_arrow().to_pylist())

    def interval(self, name: str, confidence: Number | None = None) -> Interval:
        """Return the low and the high ends of a noisy column; all of them contain the value."""
        column = self.column(name)
        ends = column.interval(self.confidence if confidence is None else confidence)
        if ends is None:
            raise ArgumentError(f"column {name!r} holds no noisy numbers, so it has no interval", "SRD-A002")
        return ends

    def standard_error(self, name: str) -> Floats | None:
        """Return the standard deviation of the noise in each value, where it is known: for bare aggregates."""
        bare = self.column(name).bare
        return bare.standard_error if isinstance(bare, Estimate) else None

    def head(self, rows: int) -> Answer:
        """Return the first rows."""
        first = np.arange(min(whole("rows", rows, least=0), len(self)))
        return self._with({name: column.take(first) for name, column in self._columns.items()})

    def _with(self, columns: Mapping[str, Evaluated]) -> Answer:
        said: dict[str, Any] = {name: getattr(self, name) for name in ("notes", "details", "events", "confidence")}
        return Answer(list(columns), list(columns.values()), **said)

    def to_arrow(self, intervals: bool = False, confidence: Number | None = None) -> pa.Table:
        """Return an Arrow table; with `intervals` noisy columns are followed by ``<name>_low`` and ``<name>_high``."""
        if not isinstance(intervals, bool):
            raise ArgumentError("intervals must be True or False; say how sure by confidence=0.9", "SRD-A001")
        level = self.confidence if confidence is None else confidence
        arrays: dict[str, pa.Array] = {}
        taken = set(self.names)
        for name, column in self._columns.items():
            arrays[name] = column_array(column)
            ends = column.interval(level) if intervals else None
            if ends is not None:
                for suffix, array in zip(("low", "high"), ends_arrays(*ends), strict=True):
                    arrays[unused(f"{name}_{suffix}", taken)] = array
        return pa.table(arrays)

    def to_pandas(self, intervals: bool = False, confidence: Number | None = None) -> pd.DataFrame:
        """Return a pandas data frame."""
        return self.to_arrow(intervals, confidence).to_pandas(date_as_object=False)

    def to_polars(self, intervals: bool = False, confidence: Number | None = None) -> pl.DataFrame:
        """Return a polars data frame."""
        import polars as pl

        frame = pl.from_arrow(self.to_arrow(intervals, confidence))
        assert isinstance(frame, pl.DataFrame)  # noqa: S101  (a table gives a frame)
        return frame

    def to_json(self) -> str:
        """Return all that is released as one JSON text: columns with their intervals, notes and details."""
        return to_json(self)

    def to_csv(self, path: str | Path | None = None) -> str:
        """Return comma-separated values, each noisy column followed by the ends of its intervals; also into a file."""
        text = csv_text(json.loads(self.to_json())["columns"])
        if path is not None:
            try:
                Path(path).write_text(text, encoding="utf-8")
            except OSError as error:
                raise ArgumentError(f"the file cannot be written: {error.strerror}", "SRD-A003") from None
        return text

    files: ClassVar[Files] = MappingProxyType({})
    """An answer is all text."""

    def with_receipt(self, receipt: Any) -> Answer:
        """Return the same answer with the receipt of the ledger that it was charged to."""
        answer = self._with(self._columns)
        answer.receipt = receipt
        return answer

    def plot(self, *names: str, confidence: Number | None = None) -> Figure:
        """Return a matplotlib figure of the noisy columns (or those named) with their intervals."""
        from .plot import plot

        return plot(self, names, self.confidence if confidence is None else confidence)

    def cells(self, rows: int) -> dict[str, list[Cell]]:
        """Return the first rows as texts."""
        first = np.arange(min(rows, len(self)))
        return {name: cells(column.take(first), self.confidence) for name, column in self._columns.items()}

    @property
    def confidence_text(self) -> str:
        """The confidence as a percentage."""
        return f"{100 * float(self.confidence):.6g} %"

    def __repr__(self) -> str:
        shown = self.cells(_ROWS_SHOWN)
        lines = _table({name: (self._columns[name].kind.is_number, shown[name]) for name in shown})
        if len(self) > _ROWS_SHOWN:
            lines.append(f"… {len(self) - _ROWS_SHOWN:,} more rows")
        if self.noisy_names:
            lines.append(f"intervals at {self.confidence_text}, noise only")
        return "\n".join([*lines, *(f"note: {note}" for note in self.notes)])

    def _repr_html_(self) -> str:
        from .html import page

        return page(self)


def _table(columns: Mapping[str, tuple[bool, list[Cell]]]) -> list[str]:
    """Return an aligned table: numbers to the right, what they may be off by to the left behind them."""
    blocks = []
    for name, (right, shown) in columns.items():
        texts = [_padded(cell.text, max((width(c.text) for c in shown), default=0), right) for cell in shown]
        spreads = max((width(cell.spread) for cell in shown), default=0)
        merged = [
            f"{text} {_padded(cell.spread, spreads, False)}" if spreads else text
            for text, cell in zip(texts, shown, strict=True)
        ]
        size = max([width(name), *map(width, merged)])
        blocks.append([_padded(text, size, right) for text in (name, "─" * size, *merged)])
    return ["  ".join(line).rstrip() for line in zip(*blocks, strict=True)]


def _padded(text: str, size: int, right: bool) -> str:
    space = " " * (size - width(text))
    return space + text if right else text + space
