"""Marginals, drawn: bars for one column, shades for two."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sordino.publish.picturing import FITTED, INK, figure

from .margin_release import cells_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from .margin_release import Margins

_MOST = 6


def drawn(made: Margins) -> Figure:
    """Return a panel for each marginal."""
    names = list(made.columns)
    sets = [each for each in made.sets if len(each) <= 2][:_MOST]
    across = min(3, max(len(sets), 1))
    down = -(-max(len(sets), 1) // across)
    whole = figure(3.6 * across, 3.1 * down)
    panels = whole.subplots(down, across, squeeze=False).ravel()
    for panel, columns in zip(panels, sets, strict=False):
        chosen = [names[each] for each in columns]
        counts = made.marginal(*chosen)
        if len(chosen) == 1:
            off = made.standard_deviation(*chosen)
            panel.bar(range(len(counts)), counts, yerr=off, color=FITTED, ecolor=INK)
            panel.set(title=chosen[0], ylabel="rows")
            if len(counts) <= 8:
                panel.set_xticks(range(len(counts)), [str(each) for each in cells_of(made.columns[chosen[0]])])
        else:
            panel.imshow(counts, aspect="auto", cmap="Oranges", vmin=0)
            panel.set(title=" × ".join(chosen), ylabel=chosen[0], xlabel=chosen[1])
    for panel in panels[len(sets) :]:
        panel.set_axis_off()
    return whole
