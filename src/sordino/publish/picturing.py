"""What all drawings share: a figure of matplotlib, loaded when the first is drawn, and a few quiet colours."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sordino.errors import UnsupportedError

if TYPE_CHECKING:
    from matplotlib.figure import Figure

INK, MUTED, GROUND = "#1f2430", "#5b6170", "#e7e9ef"
NOISY, FITTED = "#5f93c9", "#c2571a"
BAND = 0.25
"""How much of an interval's colour shows."""


def figure(width: float = 7.6, height: float = 4.2) -> Figure:
    """Return an empty figure; save it with ``figure.savefig("….png")``."""
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise UnsupportedError("plots need matplotlib: pip install sordino[plot]", "SRD-C022") from error
    return Figure(figsize=(width, height), dpi=150, layout="constrained", facecolor="white")
