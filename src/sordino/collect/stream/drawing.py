"""A picture of a stream: numbers over steps, and how far they may be off."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from sordino.arguments import Number
from sordino.errors import UnsupportedError

if TYPE_CHECKING:
    from .released import StreamRelease

_MOST_LINES = 10


def draw(release: StreamRelease, axes: Any, confidence: Number) -> Any:
    """Return axes with a line for each key (the ten largest at the end), and the interval of each step around it."""
    if axes is None:
        axes = _new_axes()
    steps = np.arange(release.first, release.last + 1)
    reach = release.error(confidence)
    for name, totals in _lines(release):
        known = np.isfinite(totals)
        axes.fill_between(steps, totals - reach, totals + reach, where=known, alpha=0.25, linewidth=0)
        axes.plot(steps, totals, label=name, linewidth=1.2)
    if release.plan.spec.keys is not None:
        axes.legend(frameon=False)
    window = release.plan.spec.window
    axes.set_xlabel("step")
    axes.set_ylabel("total so far" if window is None else f"total of the last {window} steps")
    return axes


def _lines(release: StreamRelease) -> list[tuple[str, Any]]:
    keys = release.plan.spec.keys
    if keys is None:
        return [("", release.totals)]
    lines = np.full((len(release.totals), len(keys)), np.nan)
    if release.cells is None:
        lines[:] = release.totals
    else:
        np.put_along_axis(lines, release.cells, release.totals, axis=1)
    return [(key, lines[:, keys.index(key)]) for key, _ in release.top(_MOST_LINES)]


def _new_axes() -> Any:
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise UnsupportedError("plots need matplotlib: pip install sordino[plot]", "SRD-C022") from error
    return Figure(figsize=(7, 3.5), layout="constrained").subplots()
