"""Convolutions of one to three dimensions, with strides, dilation and groups, and transposed ones.

A unit's gradient is the product of its windows of the input with the output's gradient, summed over positions; for a
transposed convolution input and output change roles.
"""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import Any

import torch
import torch.nn.functional as F  # noqa: N812
from torch import Tensor

from .forms import Stacked
from .rule import Call, Forms, Rule, rule, summed, working

_AT_ONCE = 32
"""Examples whose windows are laid out together: few enough to stay in the processor's cache."""


def _each(value: Any, dims: int) -> tuple[int, ...]:
    values = (value,) if isinstance(value, int) else tuple(value)
    return values * dims if len(values) == 1 else values


def _margins(call: Call, kernel: tuple[int, ...], dilation: tuple[int, ...]) -> list[tuple[int, int]]:
    """Return how many zeros stand before and after each dimension."""
    if call["padding"] == "same":
        totals = [step * (size - 1) for size, step in zip(kernel, dilation, strict=True)]
        return [(total // 2, total - total // 2) for total in totals]
    padding = 0 if call["padding"] == "valid" else call["padding"]
    return [(size, size) for size in _each(padding, len(kernel))]


def _windows(
    values: Tensor, kernel: tuple[int, ...], stride: tuple[int, ...], dilation: tuple[int, ...], counts: tuple[int, ...]
) -> Tensor:
    """Return the windows of padded `values` (examples, channels, …) as (examples, channels × kernel, positions)."""
    examples, channels, *steps = values.stride()
    sizes = (*values.shape[:2], *kernel, *counts)
    within = [step * wide for step, wide in zip(steps, dilation, strict=True)]
    across = [step * wide for step, wide in zip(steps, stride, strict=True)]
    view = values.as_strided(sizes, (examples, channels, *within, *across), values.storage_offset())
    return view.reshape(len(values), values.shape[1] * prod(kernel), prod(counts))


def _convolution(transposed: bool) -> Callable[[Call, Tensor, Tensor], Forms]:
    def forms(call: Call, values: Tensor, gradient: Tensor) -> Forms:
        gradient, values = working(gradient), working(values.to(gradient.dtype))
        if "weight" in call.wanted:
            yield "weight", Stacked(_weights(call, values, gradient, transposed))
        if "bias" in call.wanted:
            yield "bias", Stacked(summed(gradient, [2]))

    return forms


def _weights(call: Call, values: Tensor, gradient: Tensor, transposed: bool) -> Tensor:
    """Return each unit's gradient with respect to the weights; some examples at a time, so that windows stay small."""
    shape = call["weight"].shape
    kernel = tuple(shape[2:])
    stride, dilation = _each(call["stride"], len(kernel)), _each(call["dilation"], len(kernel))
    margins = [size for margin in reversed(_margins(call, kernel, dilation)) for size in margin]
    outer, inner = (values, gradient) if transposed else (gradient, values)
    units, rows = values.shape[:2]
    outer, inner = outer.flatten(0, 1), inner.flatten(0, 1)
    padded = F.pad(inner, margins) if any(margins) else inner
    found = outer.new_empty(len(outer), call["groups"], shape[0] // call["groups"], shape[1:].numel())
    for start in range(0, len(outer), _AT_ONCE):
        some = slice(start, start + _AT_ONCE)
        windows = _windows(padded[some], kernel, stride, dilation, tuple(outer.shape[2:]))
        _multiply(outer[some].flatten(2), windows, found[some])
    return found.reshape(units, *shape) if rows == 1 else found.reshape(units, rows, *shape).sum(1)


def _multiply(outer: Tensor, windows: Tensor, found: Tensor) -> None:
    """Write the products of `outer` (examples, channels, positions) with `windows`, group by group, into `found`."""
    groups = found.shape[1]
    left = outer.reshape(len(outer) * groups, -1, outer.shape[2])
    right = windows.reshape(len(windows) * groups, -1, windows.shape[2])
    torch.bmm(left, right.transpose(1, 2), out=found.flatten(0, 1))


def _like_convolution(
    input: Tensor,  # noqa: A002
    weight: Tensor,
    bias: Tensor | None = None,
    stride: Any = 1,
    padding: Any = 0,
    dilation: Any = 1,
    groups: int = 1,
) -> None:
    """Show how the arguments are called."""


def _like_transposed(
    input: Tensor,  # noqa: A002
    weight: Tensor,
    bias: Tensor | None = None,
    stride: Any = 1,
    padding: Any = 0,
    output_padding: Any = 0,
    groups: int = 1,
    dilation: Any = 1,
) -> None:
    """Show how the arguments are called."""


def _is_batched(arguments: dict[str, Any]) -> bool:
    return bool(arguments["input"].dim() == arguments["weight"].dim())


_CONVOLUTION = rule(_like_convolution, _convolution(transposed=False), fits=_is_batched)
_TRANSPOSED = rule(_like_transposed, _convolution(transposed=True), fits=_is_batched)

RULES: dict[Any, Rule] = {
    **dict.fromkeys((F.conv1d, F.conv2d, F.conv3d), _CONVOLUTION),
    **dict.fromkeys((F.conv_transpose1d, F.conv_transpose2d, F.conv_transpose3d), _TRANSPOSED),
}
