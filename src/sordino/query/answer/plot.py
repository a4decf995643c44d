"""Pictures of answers: every noisy column with its intervals, drawn for reading rather than for show."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from sordino.arguments import Number
from sordino.data.kinds import Kind
from sordino.errors import UnsupportedError
from sordino.query.estimate.convolution import Floats
from sordino.query.estimate.estimate import Several
from sordino.query.estimate.evaluate import Evaluated

from .display import plain

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from .answer import Answer

_INK, _MUTED, _GROUND = "#1f2430", "#5b6170", "#e7e9ef"
_BAR = "#5f93c9"
_COLOURS = ("#2f6fb0", "#c2571a", "#2d8659", "#8a4fa3", "#b0892f", "#4a5568", "#c23b63", "#1f8a94")
_MOST_BARS = 60
_FEWEST_UPRIGHT = 3
_MOST_UPRIGHT = 12
_LONGEST_UPRIGHT = 10
_DATES = (Kind.DATE, Kind.TIMESTAMP)


def plot(answer: Answer, names: Sequence[str], confidence: Number) -> Figure:
    """Return a figure with one panel for each noisy column of numbers; see `Answer.plot`.

    Save it with ``figure.savefig("answer.png")``. Needs matplotlib, which is not imported before.
    """
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise UnsupportedError("plots need matplotlib: pip install sordino[plot]", "SRD-C022") from error
    chosen = list(names) or [name for name in answer.noisy_names if answer.column(name).kind.is_number]
    panels = [_panel(answer, name, confidence) for name in chosen]
    heights = [panel.height for panel in panels] or [1.0]
    figure = Figure(figsize=(7.6, sum(heights) + 0.4), dpi=150, layout="constrained", facecolor="white")
    grid = figure.subplots(max(len(panels), 1), 1, squeeze=False, height_ratios=heights)
    for axes, panel in zip(grid[:, 0], panels, strict=False):
        _ground(axes, panel)
        panel.draw(axes)
    said = f"intervals at {100 * float(confidence):.6g} %, noise only"
    figure.supxlabel(said, x=0.99, ha="right", fontsize=8, color=_MUTED)
    return figure


@dataclass(frozen=True, eq=False)
class _Panel(ABC):
    """One column, ready to be drawn."""

    name: str
    values: Floats
    low: Floats
    high: Floats
    height: float = 3.2
    remark: str = ""
    level_lines: Literal["x", "y"] = "y"
    """The axis that numbers are read from."""

    @abstractmethod
    def draw(self, axes: Axes) -> None:
        """Draw the column."""

    @property
    def reach(self) -> Floats:
        """How far error bars go down and up: nowhere, where an end is not known."""
        below, above = self.values - self.low, self.high - self.values
        return np.maximum(np.nan_to_num(np.stack([below, above]), nan=0.0, posinf=0.0, neginf=0.0), 0.0)


@dataclass(frozen=True, eq=False)
class _Bars(_Panel):
    labels: Sequence[str] = ()

    def draw(self, axes: Axes) -> None:
        places = np.arange(len(self.values))
        style: Any = {"color": _BAR, "zorder": 2}
        whiskers: Any = {"ecolor": _INK, "elinewidth": 1.1, "capsize": 3, "fmt": "none", "zorder": 3}
        if self.level_lines == "y":
            axes.bar(places, self.values, width=0.7, **style)
            axes.errorbar(places, self.values, yerr=self.reach, **whiskers)
            axes.set_xticks(places, self.labels)
            axes.set_xlim(-0.6, len(places) - 0.4)
        else:
            axes.barh(places, self.values, height=0.7, **style)
            axes.errorbar(self.values, places, xerr=self.reach, **whiskers)
            axes.set_yticks(places, self.labels)
            axes.set_ylim(len(places) - 0.4, -0.6)


@dataclass(frozen=True, eq=False)
class _Lines(_Panel):
    moments: Sequence[Any] = ()
    series: Sequence[str] = ()

    def draw(self, axes: Axes) -> None:
        names = list(dict.fromkeys(self.series))[: len(_COLOURS)]
        for colour, name in zip(_COLOURS, names, strict=False):
            rows = [row for row, label in enumerate(self.series) if label == name and self.moments[row] is not None]
            rows.sort(key=lambda row: self.moments[row])
            moments: Any = np.array([self.moments[row] for row in rows], dtype="datetime64[us]")
            below, above = self.reach[:, rows]
            axes.fill_between(
                moments, self.values[rows] - below, self.values[rows] + above, color=colour, alpha=0.18, linewidth=0
            )
            marker = "o" if len(rows) <= 40 else ""
            axes.plot(moments, self.values[rows], color=colour, linewidth=1.6, marker=marker, markersize=3, label=name)
        axes.margins(x=0.02)
        _calendar(axes)
        if len(names) > 1:
            axes.legend(frameon=False, fontsize=8.5, labelcolor=_INK, ncols=min(len(names), 4), loc="best")


@dataclass(frozen=True, eq=False)
class _Steps(_Panel):
    """Histograms and other lists: values are groups × parts."""

    labels: Sequence[str] = ()
    series: Sequence[str] = ()

    def draw(self, axes: Axes) -> None:
        places = np.arange(self.values.shape[1])
        below, above = self.reach
        for row, (colour, name) in enumerate(zip(_COLOURS, self.series, strict=False)):
            axes.stairs(self.values[row], np.arange(len(places) + 1) - 0.5, color=colour, linewidth=1.6, label=name)
            bars = np.stack([below[row], above[row]])
            shift = 0.08 * (row - (min(len(self.series), len(_COLOURS)) - 1) / 2)
            axes.errorbar(
                places + shift, self.values[row], yerr=bars, fmt="none", ecolor=colour, elinewidth=1, capsize=2
            )
        axes.axhline(0, color=_MUTED, linewidth=0.8)
        tilted = sum(map(len, self.labels)) > 60
        axes.set_xticks(places, self.labels, rotation=40 if tilted else 0, ha="right" if tilted else "center")
        if len(self.series) > 1:
            axes.legend(frameon=False, fontsize=8.5, labelcolor=_INK)


def _panel(answer: Answer, name: str, confidence: Number) -> _Panel:
    column = answer.column(name)
    low, high = answer.interval(name, confidence)
    keys = [answer.column(other) for other in answer.names if not answer.column(other).noisy]
    if isinstance(column.bare, Several):
        labels = [_text(label) for label in column.bare.labels or map(str, range(1, column.values.shape[1] + 1))]
        series = _labels(keys, len(answer))
        shown = min(len(series), len(_COLOURS))
        remark = f"first {shown} of {len(series):,} groups" if shown < len(series) else ""
        return _Steps(name, column.values, low, high, remark=remark, labels=labels, series=series)
    dates = [key for key in keys if key.kind in _DATES]
    if len(dates) == 1 and len(answer) > 1:
        return _lines(name, column, (low, high), dates[0], [key for key in keys if key is not dates[0]])
    return _bars(name, column, (low, high), _labels(keys, len(answer)))


def _lines(
    name: str, column: Evaluated, ends: tuple[Floats, Floats], date: Evaluated, others: Sequence[Evaluated]
) -> _Lines:
    series = _labels(others, len(column.values))
    count = len(set(series))
    remark = f"first {len(_COLOURS)} of {count:,} groups" if count > len(_COLOURS) else ""
    return _Lines(name, column.values, *ends, remark=remark, moments=list(date.values), series=series)


def _bars(name: str, column: Evaluated, ends: tuple[Floats, Floats], labels: list[str]) -> _Bars:
    count = len(labels)
    remark = f"first {_MOST_BARS} of {count:,} rows" if count > _MOST_BARS else ""
    values, low, high = (part[:_MOST_BARS] for part in (column.values, *ends))
    labels = labels[:_MOST_BARS]
    upright = _FEWEST_UPRIGHT <= count <= _MOST_UPRIGHT and max(map(len, labels)) <= _LONGEST_UPRIGHT
    height = 3.2 if upright else 0.8 + 0.24 * len(labels)
    return _Bars(name, values, low, high, height, remark, "y" if upright else "x", labels)


def _labels(keys: Sequence[Evaluated], rows: int) -> list[str]:
    if not keys:
        return [""] * rows
    return [_text(" · ".join(map(plain, row))) for row in zip(*(key.values for key in keys), strict=True)]


def _text(words: str) -> str:
    """Return words that matplotlib takes as they are: dollars would be formulas, and a leading _ would hide a label."""
    escaped = words.replace("$", r"\$")
    return f" {escaped}" if escaped.startswith("_") else escaped


def _calendar(axes: Axes) -> None:
    from matplotlib.dates import AutoDateLocator, ConciseDateFormatter

    locator = AutoDateLocator()  # type: ignore[no-untyped-call]
    axes.xaxis.set_major_locator(locator)
    axes.xaxis.set_major_formatter(ConciseDateFormatter(locator))  # type: ignore[no-untyped-call]


def _ground(axes: Axes, panel: _Panel) -> None:
    from matplotlib.ticker import StrMethodFormatter

    axes.set_title(_text(panel.name), loc="left", fontsize=11, fontweight="bold", color=_INK)
    axes.set_title(panel.remark, loc="right", fontsize=8.5, color=_MUTED)
    axes.grid(axis=panel.level_lines, color=_GROUND, linewidth=0.8, zorder=0)
    axes.set_axisbelow(True)
    axes.tick_params(colors=_MUTED, length=0, labelsize=8.5)
    numbers = axes.yaxis if panel.level_lines == "y" else axes.xaxis
    numbers.set_major_formatter(StrMethodFormatter("{x:,.10g}"))
    for side in axes.spines.values():
        side.set_visible(False)
