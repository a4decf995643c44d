"""A map with axes and a legend."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sordino.publish.picturing import figure

from .map_image import colours

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from .map_release import HeatMap

_KEYS = {"shown": "#c9552f", "zero": "#f6f6f3", "uncertain": "#a9c3e0", "suppressed": "#787878"}


def drawn_map(made: HeatMap) -> Figure:
    """Return the map, north up."""
    from matplotlib.patches import Patch

    whole = figure(7.6, 6.0)
    panel = whole.subplots()
    west, south, east, north = made.box
    panel.imshow(
        colours(made.cells, made.marks),
        origin="lower",
        extent=(west, east, south, north),
        aspect="auto",
        interpolation="nearest",
    )
    panel.set(title=f"{made.counted} in each cell", xlabel="longitude", ylabel="latitude")
    legend = made.rules.legend(made.deviation)
    keys = [Patch(facecolor=_KEYS[name], edgecolor="#5b6170", label=f"{name}: {said}") for name, said in legend.items()]
    whole.legend(handles=keys, loc="outside lower center", frameon=False, fontsize=8)
    return whole
