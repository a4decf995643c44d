"""The forms in which units' gradients are held until their norms are known: whole, as factors, or as a few rows.

A form is made from the floats of one unit at a time, so what it stands for is a function of that unit alone. It can say
its squared norm (never too little), blank units that may not count, and add its weighted sum to a total.

**Guarantee**: `add_to` adds Σ fᵢGᵢ, where Gᵢ is what the form stands for exactly, with an error of at most
Σ fᵢ‖Gᵢ‖·γ over `roundings` + one for each addition to the total, in the 2-norm; for `Products` that holds since
their norms are held above ‖Σₜ|lₜ||rₜ|‖ / `CANCELLATION`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise
from typing import Protocol

import torch
from torch import Tensor

from .rounding import BLOCK, FLOAT64_ROUNDOFF, gamma, squared_norms

CANCELLATION = 2.0**18
"""How much smaller than its parts a gradient may be before its norm is taken to be larger than it is.

Only for gradients that are kept as factors: their sum is taken over the parts, whose rounding errors do not cancel.
With `MOST_TERMS` terms and `BLOCK` units at a time that error is below 2^12 · 2^-53 · 2^18 = 2^-23 of a unit's norm.
"""

MOST_TERMS = 24
"""How many outer products a gradient may be kept as."""


def roundings(units: int) -> int:
    """Return how many roundings meet a number of one of so many units on its way into a total, at most.

    Those of the additions to the total come on top.
    """
    return min(units, BLOCK) + 6


class Form(Protocol):
    """The gradients of some units with respect to one parameter."""

    def squared_norms(self) -> Tensor:
        """Return for each unit, in float64, a number that is not below its squared norm."""

    def blank(self, unfit: Tensor) -> None:
        """Set the gradients of the units marked to zero, whatever they hold."""

    def add_to(self, total: Tensor, factors: Tensor) -> None:
        """Add the sum of the gradients, each times its factor, to `total`."""

    def stacked(self) -> Tensor:
        """Return the gradients, one after another."""

    def one(self, unit: int) -> Tensor:
        """Return the gradient of one unit."""

    def own(self, unit: int) -> tuple[Tensor, ...]:
        """Return the floats that the gradient of one unit is made of."""


@dataclass
class Stacked:
    """Every unit's gradient, whole: (units, *shape of the parameter)."""

    values: Tensor
    squares: Tensor | None = field(default=None, compare=False)
    """The squared norms, if they were asked for: soonest when the values were just made and are in the cache."""

    def squared_norms(self) -> Tensor:
        """See `Form`."""
        if self.squares is None:
            self.squares = squared_norms(self.values.permute(0, *self._order()))
        return self.squares

    def blank(self, unfit: Tensor) -> None:
        """See `Form`."""
        self.values[unfit] = 0
        self.squares = None

    def add_to(self, total: Tensor, factors: Tensor) -> None:
        """See `Form`; `BLOCK` units at a time, so that few roundings follow each other."""
        order = self._order()
        flat = self.values.permute(0, *order).reshape(len(self.values), -1)
        laid_out = total.permute([dim - 1 for dim in order])
        row = laid_out.reshape(1, -1)
        for some in _blocks(factors):
            row.addmm_(factors[None, some], flat[some])
        if not laid_out.is_contiguous():
            laid_out.copy_(row.view(laid_out.shape))

    def _order(self) -> list[int]:
        """Return the dimensions of a gradient in the order of memory: whoever made it may have chosen its own."""
        return sorted(range(1, self.values.dim()), key=self.values.stride, reverse=True)

    def stacked(self) -> Tensor:
        """See `Form`."""
        return self.values

    def one(self, unit: int) -> Tensor:
        """See `Form`."""
        return self.values[unit]

    def own(self, unit: int) -> tuple[Tensor, ...]:
        """See `Form`."""
        return (self.values[unit],)


@dataclass
class Product:
    """Gradients that are one outer product each: left (units, rows) and right (units, columns)."""

    left: Tensor
    right: Tensor

    def squared_norms(self) -> Tensor:
        """See `Form`; a product of norms, so nothing cancels."""
        return squared_norms(self.left) * squared_norms(self.right)

    def blank(self, unfit: Tensor) -> None:
        """See `Form`."""
        self.left, self.right = _without(self.left, unfit), _without(self.right, unfit)

    def add_to(self, total: Tensor, factors: Tensor) -> None:
        """See `Form`; `BLOCK` units at a time, so that few roundings follow each other."""
        weighted = self.left * factors[:, None]
        for some in _blocks(factors):
            total.addmm_(weighted[some].t(), self.right[some])

    def stacked(self) -> Tensor:
        """See `Form`."""
        return self.left[:, :, None] * self.right[:, None, :]

    def one(self, unit: int) -> Tensor:
        """See `Form`."""
        return self.left[unit, :, None] * self.right[unit]

    def own(self, unit: int) -> tuple[Tensor, ...]:
        """See `Form`."""
        return self.left[unit], self.right[unit]


@dataclass
class Products:
    """Gradients that are short sums of outer products: left (units, terms, rows), right (units, terms, columns).

    Norms come from two Gram matrices in float64. Their error is bounded beforehand and added: it is at most γ times
    (Σₜ‖lₜ‖‖rₜ‖)², as the entries of each Gram matrix are off by γ‖lₜ‖‖lₛ‖ and γ‖rₜ‖‖rₛ‖ (Cauchy and Schwarz).
    """

    left: Tensor
    right: Tensor

    def squared_norms(self) -> Tensor:
        """See `Form`; not below (Σₜ‖lₜ‖‖rₜ‖ / CANCELLATION)² either."""
        left, right = self.left.double(), self.right.double()
        grams = torch.bmm(left, left.transpose(1, 2)) * torch.bmm(right, right.transpose(1, 2))
        lengths = torch.linalg.vector_norm(left, dim=2) * torch.linalg.vector_norm(right, dim=2)
        parts = lengths.sum(1).square()
        terms = left.shape[1]
        slack = gamma(terms * terms + left.shape[2] + right.shape[2] + 16, FLOAT64_ROUNDOFF)
        return torch.maximum(grams.sum((1, 2)) + 4 * slack * parts, parts * (1 + 4 * slack) / CANCELLATION**2)

    def blank(self, unfit: Tensor) -> None:
        """See `Form`."""
        self.left, self.right = _without(self.left, unfit), _without(self.right, unfit)

    def add_to(self, total: Tensor, factors: Tensor) -> None:
        """See `Form`; in float64, for the parts may be `CANCELLATION` times larger than what they add up to."""
        for some in _blocks(factors):
            left = (self.left[some].double() * factors[some, None, None].double()).flatten(0, 1)
            total += torch.mm(left.t(), self.right[some].double().flatten(0, 1)).to(total.dtype)

    def stacked(self) -> Tensor:
        """See `Form`."""
        return torch.bmm(self.left.transpose(1, 2), self.right)

    def one(self, unit: int) -> Tensor:
        """See `Form`."""
        return torch.mm(self.left[unit].t(), self.right[unit])

    def own(self, unit: int) -> tuple[Tensor, ...]:
        """See `Form`."""
        return self.left[unit], self.right[unit]


@dataclass
class Rows:
    """Gradients of which few rows are not zero: row `rows[j]` of unit `units[j]` is `values[j]`.

    Units are in order, and each pair of unit and row is there once.
    """

    units: Tensor
    rows: Tensor
    values: Tensor
    count: int
    height: int

    def squared_norms(self) -> Tensor:
        """See `Form`."""
        found = torch.zeros(self.count, dtype=torch.float64)
        slack = 1 + gamma(len(self.rows) + 1, FLOAT64_ROUNDOFF)
        return found.index_add_(0, self.units, squared_norms(self.values)) * slack

    def blank(self, unfit: Tensor) -> None:
        """See `Form`."""
        self.values[unfit[self.units]] = 0

    def add_to(self, total: Tensor, factors: Tensor) -> None:
        """See `Form`; a row of the total meets each unit once, and `BLOCK` units at a time."""
        weighted = self.values * factors[self.units, None]
        edges = torch.searchsorted(self.units, torch.arange(0, self.count + BLOCK, BLOCK)).tolist()
        for start, end in pairwise(edges):
            total += summed_rows(weighted[start:end], self.rows[start:end], self.height)

    def stacked(self) -> Tensor:
        """See `Form`."""
        whole = self.values.new_zeros(self.count, self.height, self.values.shape[1])
        whole[self.units, self.rows] = self.values
        return whole

    def one(self, unit: int) -> Tensor:
        """See `Form`."""
        rows, values = self.own(unit)
        return values.new_zeros(self.height, values.shape[1]).index_copy_(0, rows, values)

    def own(self, unit: int) -> tuple[Tensor, ...]:
        """See `Form`."""
        here = self.units == unit
        return self.rows[here], self.values[here]


def summed_rows(values: Tensor, places: Tensor, height: int) -> Tensor:
    """Return a matrix whose row r is the sum of all values[j] with places[j] = r, in the order of j."""
    if not len(values):
        return values.new_zeros(height, values.shape[1])
    found: Tensor = torch.ops.aten.embedding_dense_backward(values, places, height, -1, False)
    return found


def _blocks(factors: Tensor) -> list[slice]:
    """Return the units, `BLOCK` at a time, without blocks in which nobody counts."""
    values = factors.tolist()
    return [slice(start, start + BLOCK) for start in range(0, len(values), BLOCK) if any(values[start : start + BLOCK])]


def _without(values: Tensor, unfit: Tensor) -> Tensor:
    kept = values.clone()  # it may be an activation, which autograd still holds
    kept[unfit] = 0
    return kept
