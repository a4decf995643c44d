"""An attack on the raw release and on ours, beside each other in one figure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

from .drawing import paper

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["Drawn", "side_by_side"]


class Drawn(Protocol):
    """A result that can draw itself on a plot, and has a short line to stand above it."""

    @property
    def headline(self) -> str:
        """What the plot shows, in a few words."""
        ...

    def draw(self, axes: Axes) -> None:
        """Draw the result."""
        ...


def side_by_side(title: str, *results: Drawn | None, height: float = 4.6) -> Figure:
    """Return a figure with one plot for each result; those that are None are left out."""
    shown: list[Any] = [result for result in results if result is not None]
    figure, plots = paper(title, *(each.headline for each in shown), width=6.6 * len(shown), height=height)
    for axes, each in zip(plots, shown, strict=True):
        each.draw(axes)
    return figure
