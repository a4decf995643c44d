"""Linear layers, and products with a matrix of parameters; projections of attention and low-rank adapters are these.

A unit's gradient is Σₜ gₜ ⊗ aₜ over its rows and positions t. With one term it stays an outer product; with few terms
and a large matrix Gram matrices give its norm for less than the matrix itself; else it is taken whole.
"""

from __future__ import annotations

from typing import Any

import torch
import torch.nn.functional as F  # noqa: N812
from torch import Tensor

from .forms import MOST_TERMS, Form, Product, Products, Stacked
from .rule import Call, Forms, Rule, rule, summed, working

_COST_OF_WHOLE = 24
"""What it costs to write an entry of a gradient and read it twice, in multiplications; measured."""


def summed_products(left: Tensor, right: Tensor) -> Form:
    """Return the form of Σₜ lₜ ⊗ rₜ that is cheapest: left is (units, terms, rows), right (units, terms, columns)."""
    terms, rows, columns = left.shape[1], left.shape[2], right.shape[2]
    if terms == 1:
        return Product(left[:, 0], right[:, 0])
    size = rows * columns
    by_gram = 4 * terms * terms * (rows + columns) + 2 * terms * size
    if terms <= MOST_TERMS and by_gram < (terms + _COST_OF_WHOLE) * size:
        return Products(left, right)
    return Stacked(torch.bmm(left.transpose(1, 2), right))


def _positions(values: Tensor) -> Tensor:
    return working(values).flatten(1, -2)


def _linear(call: Call, values: Tensor, gradient: Tensor) -> Forms:
    left = _positions(gradient)
    if "weight" in call.wanted:
        yield "weight", summed_products(left, _positions(values.to(gradient.dtype)))
    if "bias" in call.wanted:
        yield "bias", Stacked(left[:, 0] if left.shape[1] == 1 else left.sum(1))


def _matmul(call: Call, values: Tensor, gradient: Tensor) -> Forms:
    if "other" in call.wanted:
        yield "other", summed_products(_positions(values.to(gradient.dtype)), _positions(gradient))


def _addmm(call: Call, values: Tensor, gradient: Tensor) -> Forms:
    if "mat2" in call.wanted:
        product = summed_products(_positions(values.to(gradient.dtype)), _positions(gradient))
        yield "mat2", product
    if "input" in call.wanted:
        yield "input", Stacked(summed(working(gradient), [gradient.dim() - 1]))


def _like_linear(input: Tensor, weight: Tensor, bias: Tensor | None = None) -> None:  # noqa: A002
    """Show how the arguments are called."""


def _like_matmul(input: Tensor, other: Tensor) -> None:  # noqa: A002
    """Show how the arguments are called."""


def _like_addmm(input: Tensor, mat1: Tensor, mat2: Tensor, *, beta: float = 1, alpha: float = 1) -> None:  # noqa: A002
    """Show how the arguments are called."""


def _is_layer(arguments: dict[str, Any]) -> bool:
    return bool(arguments["weight"].dim() == 2 and arguments["input"].dim() > 1)


def _is_matrix_last(arguments: dict[str, Any]) -> bool:
    return bool(arguments["other"].dim() == 2 and arguments["input"].dim() > 1)


def _is_plain_sum(arguments: dict[str, Any]) -> bool:
    return bool(arguments["beta"] == 1 and arguments["alpha"] == 1 and arguments["input"].dim() == 1)


_MATMUL = rule(_like_matmul, _matmul, parameters=("other",), fits=_is_matrix_last)

RULES: dict[Any, Rule] = {
    F.linear: rule(_like_linear, _linear, fits=_is_layer),
    torch.matmul: _MATMUL,
    torch.mm: _MATMUL,
    Tensor.matmul: _MATMUL,
    Tensor.mm: _MATMUL,
    Tensor.__matmul__: _MATMUL,
    torch.addmm: rule(_like_addmm, _addmm, data="mat1", parameters=("mat2", "input"), fits=_is_plain_sum),
}
