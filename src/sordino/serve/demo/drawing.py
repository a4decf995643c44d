"""Intervals and budgets as pictures: SVG that takes its colours from the page, so that it is good on light and dark."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

_WIDTH, _LEFT, _RIGHT, _ROW = 640, 120, 24, 26
_TICKS = 5


@dataclass(frozen=True)
class Whisker:
    """One value with its interval, and what is true."""

    label: str
    value: float
    low: float
    high: float
    true: float


def whiskers(title: str, rows: Sequence[Whisker], *, zero: bool = False) -> str:
    """Return each value as a dot on its interval, with a ring where the truth is; `zero` draws a line there."""
    finite = [each for row in rows for each in (row.low, row.high, row.true) if math.isfinite(each)]
    ends = [*finite, 0.0] if zero else finite
    axis = _Axis.over(min(ends), max(ends))
    top = 12
    foot = top + _ROW * len(rows)
    parts = [_grid(axis, top, foot)]
    if zero:
        parts.append(f'<line class="zero" x1="{axis(0):.1f}" x2="{axis(0):.1f}" y1="{top}" y2="{foot}"/>')
    for place, row in enumerate(rows):
        y = top + _ROW * (place + 0.5)
        low, high = (axis(min(max(end, axis.low), axis.high)) for end in (row.low, row.high))
        parts.append(
            f'<text class="key" x="{_LEFT - 12}" y="{y + 4:.1f}">{escape(row.label)}</text>'
            f'<path class="interval" d="M{low:.1f} {y:.1f}H{high:.1f}"/>'
            f'<path class="interval" d="M{low:.1f} {y - 5:.1f}v10M{high:.1f} {y - 5:.1f}v10"/>'
            f'<circle class="dot" cx="{axis(row.value):.1f}" cy="{y:.1f}" r="4"/>'
            f'<circle class="truth" cx="{axis(row.true):.1f}" cy="{y:.1f}" r="7"/>'
        )
    return _picture(title, foot + 26, parts)


def spending(title: str, used: Sequence[float], refused: float) -> str:
    """Return which part of the budget each answer took, and the refused one beyond the end of it."""
    axis = _Axis(0.0, max(1.05, (used[-1] if used else 0.0) + refused), 0.25, left=16)
    top, height = 26, 34
    parts, before = [], 0.0
    for number, after in enumerate(used, start=1):
        parts.append(_part("spent" if number % 2 else "spent other", axis(before), axis(after), top, height, number))
        before = after
    parts.append(_part("refused", axis(before), axis(before + refused), top, height, len(used) + 1))
    end = axis(1.0)
    parts.append(
        f'<line class="cap" x1="{end:.1f}" x2="{end:.1f}" y1="{top - 10}" y2="{top + height + 10}"/>'
        f'<text class="end" x="{end:.1f}" y="{top - 14}">the whole budget</text>'
    )
    parts += [
        f'<text class="tick" x="{axis(quarter / 4):.1f}" y="{top + height + 26}">{25 * quarter} %</text>'
        for quarter in range(5)
    ]
    return _picture(title, top + height + 34, parts)


def _part(style: str, left: float, right: float, top: int, height: int, number: int) -> str:
    middle = (left + right) / 2
    shown = f'<text class="number" x="{middle:.1f}" y="{top + height / 2 + 5:.1f}">{number}</text>'
    return (
        f'<rect class="{style}" x="{left:.1f}" y="{top}" width="{max(right - left - 1.5, 1):.1f}" height="{height}" '
        f'rx="3"/>{shown if right - left > 12 else ""}'
    )


@dataclass(frozen=True)
class _Axis:
    """From numbers to places on the picture."""

    low: float
    high: float
    step: float
    left: int = _LEFT

    @classmethod
    def over(cls, low: float, high: float) -> _Axis:
        """Return an axis with round ticks that holds a range."""
        rough = max(high - low, 1e-9) / _TICKS
        power = 10.0 ** math.floor(math.log10(rough))
        step = next(each * power for each in (1, 2, 5, 10) if each * power >= rough)
        return cls(math.floor(low / step) * step, math.ceil(high / step) * step, step)

    def __call__(self, value: float) -> float:
        return self.left + (value - self.low) / (self.high - self.low) * (_WIDTH - self.left - _RIGHT)

    @property
    def ticks(self) -> list[float]:
        """The round numbers that are written below."""
        return [self.low + place * self.step for place in range(round((self.high - self.low) / self.step) + 1)]


def _grid(axis: _Axis, top: int, foot: int) -> str:
    return "".join(
        f'<line class="grid" x1="{axis(tick):.1f}" x2="{axis(tick):.1f}" y1="{top}" y2="{foot}"/>'
        f'<text class="tick" x="{axis(tick):.1f}" y="{foot + 18}">{_written(tick)}</text>'
        for tick in axis.ticks
    )


def _written(tick: float) -> str:
    return f"{round(tick, 9) + 0.0:,.10g}".replace("-", "\N{MINUS SIGN}")


def _picture(title: str, height: float, parts: Sequence[str]) -> str:
    named = escape(title)
    size = f"0 0 {_WIDTH} {height:.0f}"
    return f'<svg viewBox="{size}" role="img" aria-label="{named}"><title>{named}</title>{"".join(parts)}</svg>'
