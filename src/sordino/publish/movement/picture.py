"""Small multiples of a mobility report: one panel a region, the change by day with its interval."""

from __future__ import annotations

from datetime import date
from typing import TYPE_CHECKING, Any

import numpy as np

from sordino.arguments import Number
from sordino.publish.picturing import BAND, FITTED, GROUND, INK, MUTED, NOISY, figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from .report import MobilityReport

_MOST = 24
_ACROSS = 4
_LIMIT = 100.0


def draw(report: MobilityReport, regions: list[Any] | None, confidence: Number) -> Figure:
    """Return the figure; by default the first regions that fit a page."""
    wanted = [each for each in report.regions if regions is None or each in regions][:_MOST]
    found = report.changes(confidence)
    certain = found.certain(float(report.parameters["within"]))
    days = [report.days[place] for place in report.later]
    across = min(_ACROSS, max(len(wanted), 1))
    down = -(-max(len(wanted), 1) // across)
    whole = figure(2.4 * across + 0.4, 1.7 * down + 0.5)
    panels = whole.subplots(down, across, squeeze=False, sharex=True, sharey=True)
    for panel in panels.ravel()[len(wanted) :]:
        panel.set_visible(False)
    for panel, region in zip(panels.ravel(), wanted, strict=False):
        place = report.regions.index(region)
        shown = certain[place]
        change, low, high = (np.where(shown, each[place], np.nan) for each in (found.change, found.low, found.high))
        panel.axhline(0, color=MUTED, linewidth=0.6)
        panel.fill_between(days, low, high, color=NOISY, alpha=BAND, linewidth=0)
        panel.plot(days, change, color=NOISY, linewidth=1.2)
        for day in [day for day, sure in zip(days, shown, strict=True) if not sure]:
            panel.axvspan(day, day, color=GROUND, linewidth=2)
        panel.set_title(str(region), fontsize=8, color=INK)
        panel.set_ylim(-_LIMIT, _LIMIT)
        panel.tick_params(labelsize=6, colors=MUTED)
    whole.autofmt_xdate()
    whole.supylabel("change from what is usual, %", fontsize=8, color=INK)
    whole.suptitle("Grey days are too uncertain to show", fontsize=7, color=MUTED)
    return whole


def draw_alerts(alerts: list[tuple[Any, str]]) -> Figure:
    """Return a mark for each region that fell, on its day."""
    whole = figure(7.6, 0.9 + 0.25 * max(len(alerts), 1))
    panel = whole.subplots()
    names = [str(region) for region, _ in alerts]
    days: Any = [date.fromisoformat(day) for _, day in alerts]
    panel.scatter(days, names, color=FITTED, zorder=2)
    panel.grid(color=GROUND)
    panel.tick_params(labelsize=7, colors=MUTED)
    panel.set_title("first day far below what was usual" if alerts else "no region fell so far", fontsize=8, color=INK)
    whole.autofmt_xdate()
    return whole
