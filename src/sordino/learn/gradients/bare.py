"""Parameters that meet data without a layer: added, multiplied, compared, or laid out once for each example.

Such a parameter is spread to the shape of what it meets. The gradient of that copy has a place for each example, and
what belongs to one unit is summed back to the parameter's own shape.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from .forms import Stacked
from .place import Batch, Place
from .rule import working

_NAMES = ("add", "sub", "subtract", "mul", "multiply", "div", "divide", "true_divide", "pow", "maximum", "minimum")
_OPERATORS = ("add", "radd", "iadd", "sub", "rsub", "isub", "mul", "rmul", "imul", "truediv", "rtruediv", "itruediv")

POINTWISE: frozenset[Any] = frozenset(
    [getattr(torch, name) for name in _NAMES if hasattr(torch, name)]
    + [getattr(Tensor, name) for name in _NAMES]
    + [getattr(Tensor, f"{name}_") for name in _NAMES if hasattr(Tensor, f"{name}_")]
    + [getattr(Tensor, f"__{name}__") for name in _OPERATORS]
    + [torch.where, Tensor.where, torch.lerp, Tensor.lerp]
)
"""Functions that work entry by entry on tensors that are spread to one shape."""

SPREADING: frozenset[Any] = frozenset([Tensor.expand_as, torch.broadcast_to, Tensor.broadcast_to])
"""Functions that lay a tensor out in the shape of another; `expand` and `repeat` are known by what they return."""


def can_spread(shape: tuple[int, ...], wide: tuple[int, ...]) -> bool:
    """Tell whether a tensor of `shape` spreads to `wide` by repeating dimensions of size 1 only."""
    aligned = (1,) * (len(wide) - len(shape)) + tuple(shape)
    return len(shape) <= len(wide) and all(one in (1, other) for one, other in zip(aligned, wide, strict=True))


def gathered(gradient: Tensor, shape: tuple[int, ...], place: Place, batch: Batch) -> Stacked:
    """Return each unit's gradient with respect to a tensor of `shape` that was spread over the whole batch."""
    aligned = [1] * (gradient.dim() - len(shape)) + list(shape)
    values = place.by_unit(working(gradient), batch)  # (units, rows, all dimensions but the batch's)
    others = aligned[: place.dim] + aligned[place.dim + 1 :]
    gone = [1, *(dim + 2 for dim, size in enumerate(others) if size == 1 and values.shape[dim + 2] != 1)]
    return Stacked(values.sum(gone).reshape(batch.units, *shape))
