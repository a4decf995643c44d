"""What rounding can do: norms that are never under-estimated, factors that never exceed what was asked.

**Guarantee**: `squared_norms` returns, for each unit, a float64 that is not below the exact squared norm of the floats
it was given, and exceeds it by a relative 3e-6 at most (float32; plus an absolute part near the smallest normal float).
**Proof.** With unit roundoff u, a sum of n products in any order is off by a relative γₙ = nu/(1 − nu) of the sum of
the products' absolute values (Higham 2002, section 3.1). Squares do not cancel, so a block of 32 of them is off by
γ₃₃ of itself, its root by one rounding more; roots are squared and added in float64. A square below the smallest normal
float may be lost whole, flushed to zero or not: that is the absolute part, one smallest normal float for each.
**Source**: Higham, Accuracy and Stability of Numerical Algorithms, 2nd edition, 2002, chapters 3 and 4.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor

BLOCK = 128
"""How many units' numbers are added at a time; each addition of a block to a total is one rounding more.

Matrix products over fewer than 128 take half as long again for each of them; over more they allow for more rounding.
"""

_SQUARES = 32
"""How many squares are added in the working precision before float64 takes over."""

FLOAT64_ROUNDOFF = 2.0**-53


def roundoff(dtype: torch.dtype) -> float:
    """Return the unit roundoff of a float type: half the distance from 1 to the next number."""
    return float(torch.finfo(dtype).eps) / 2


def gamma(terms: float, unit: float) -> float:
    """Return γ of Higham for so many `terms`, a little above it; infinite where the theory says nothing."""
    product = terms * unit
    return math.inf if product >= 0.5 else product / (1 - product) * (1 + 1e-12)


@contextmanager
def full_precision() -> Iterator[None]:
    """Let products of float32 be products of float32: torch may be told to take bfloat16 for them, which is coarser."""
    setting = getattr(torch.backends.mkldnn, "matmul", None)  # what it is called before torch 2.9 says the same of all
    before = torch.get_float32_matmul_precision() if setting is None else setting.fp32_precision
    _set_precision(setting, "highest" if setting is None else "ieee")
    try:
        yield
    finally:
        _set_precision(setting, before)


def _set_precision(setting: Any, precision: str) -> None:
    if setting is None:
        torch.set_float32_matmul_precision(precision)
    else:
        setting.fp32_precision = precision


def squared_norms(values: Tensor) -> Tensor:
    """Return a float64 for each unit (the first dimension), not below its squared norm; NaN and infinity stay so."""
    flat = values.reshape(len(values), -1)
    size = flat.shape[1]
    even = size - size % _SQUARES
    squares = torch.zeros(flat.shape[0], dtype=torch.float64)
    if even:
        blocks = torch.linalg.vector_norm(flat[:, :even].unflatten(1, (-1, _SQUARES)), dim=2)
        squares += blocks.double().square().sum(1)
    if even < size:
        squares += torch.linalg.vector_norm(flat[:, even:], dim=1).double().square()
    slack = gamma(min(size, _SQUARES) + 4, roundoff(flat.dtype)) + gamma(size + 8, FLOAT64_ROUNDOFF)
    return squares * (1 + slack) + 2 * size * float(torch.finfo(flat.dtype).tiny)


def rounded_down(values: Tensor, dtype: torch.dtype) -> Tensor:
    """Return float64 `values` as floats of `dtype` that are not above them."""
    nearest = values.to(dtype)
    below = torch.nextafter(nearest, torch.full_like(nearest, -math.inf))
    return torch.where(nearest.double() > values, below, nearest)
