"""What a publication costs, and how far off it will be: known before data is touched, and nothing in it is data's."""

from __future__ import annotations

import html
import math
from dataclasses import dataclass
from fractions import Fraction

from sordino.accounting.event import Event
from sordino.arguments import Number
from sordino.errors import ArgumentError


@dataclass(frozen=True)
class Expected:
    """How far off one thing that is published will be.

    `measure` says in which sense, as in *root mean square error* or *half the width of a 95 % interval*. With `at_most`
    the error depends on the data, and `amount` is above it with the confidence of the price; infinite where nothing can
    be said beforehand.
    """

    name: str
    amount: float
    measure: str
    at_most: bool = False

    def __str__(self) -> str:
        if not math.isfinite(self.amount):
            return f"not known beforehand ({self.measure})"
        return f"{'at most ' if self.at_most else ''}± {self.amount:.3g} ({self.measure})"


@dataclass(frozen=True)
class Price:
    """What a publication costs and what it gives."""

    epsilon: Fraction | None
    """What was said, or what it comes to; None where it is ρ."""
    rho: Fraction | None
    """What its noise may use, where that is not pure."""
    delta: Fraction
    event: Event
    fits: bool
    """Whether the account would admit it now."""
    charge: str
    """What the account would be charged, in its own accounting method."""
    errors: tuple[Expected, ...]
    notes: tuple[str, ...]
    confidence: Number

    def error_of(self, name: str) -> Expected:
        """Return the line of this name; refuse another, with those that there are."""
        return line_of(self.errors, name)

    def __str__(self) -> str:
        cost = f"ε = {float(self.epsilon):.12g}" if self.epsilon is not None else f"ρ = {float(self.rho or 0):.12g}"
        if self.delta:
            cost += f", δ = {float(self.delta):.12g}"
        lines = [f"price: {cost}" + ("" if self.fits else " (more than what is left)"), f"charged: {self.charge}"]
        width = max((len(each.name) for each in self.errors), default=0)
        lines += [f"  {each.name:<{width}}  {each}" for each in self.errors]
        return "\n".join([*lines, *(f"note: {note}" for note in self.notes)])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return f"<pre>{html.escape(str(self))}</pre>"


def line_of(errors: tuple[Expected, ...], name: str) -> Expected:
    """Return the expected error of this name, or refuse."""
    found = next((each for each in errors if each.name == name), None)
    if found is None:
        known = ", ".join(each.name for each in errors) or "no errors that are known beforehand"
        raise ArgumentError(f"the price has no line of that name; it has {known}", "SRD-P001")
    return found
