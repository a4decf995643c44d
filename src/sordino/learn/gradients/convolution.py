"""Convolutions of one to three dimensions, with strides, dilation and groups, and transposed ones.

A unit's gradient is the product of its windows of the input with the output's gradient, summed over positions; for a
transposed convolution input and output change roles.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import prod
from typing import Any

import torch
import torch.nn.functional as F  # noqa: N812
from torch import Tensor

from .forms import Stacked
from .rule import Call, Forms, Rule, rule, summed, working

_AT_ONCE = 1 << 19
"""How many numbers the windows that are laid out together hold at most: few enough to stay in the processor's cache."""


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


@dataclass(frozen=True)
class _Sliding:
    """How a kernel slides over padded values: public sizes, one for each dimension."""

    kernel: tuple[int, ...]
    stride: tuple[int, ...]
    dilation: tuple[int, ...]
    counts: tuple[int, ...]

    def by_channel(self, channels: int) -> bool:
        """Tell whether windows are better laid out channel by channel, each a run of positions.

        Otherwise they are laid out position by position, each a run of channels. Longer runs are copied faster.
        """
        return self.counts[-1] > channels * (self.kernel[-1] if self.dilation[-1] == 1 else 1)

    def windows(self, values: Tensor, groups: int, by_channel: bool) -> Tensor:
        """Return the windows of `values` (examples, channels, …) as (examples × groups, positions, size of a window).

        A window's numbers are in the order (channels, kernel) or (kernel, channels).
        """
        first = values if by_channel else values.movedim(1, -1).contiguous().movedim(-1, 1)
        example, channel, *steps = first.stride()
        each = first.shape[1] // groups
        outermost = [(len(first), example), (groups, each * channel)]
        channels = (each, channel)
        within = [(size, step * wide) for size, step, wide in zip(self.kernel, steps, self.dilation, strict=True)]
        across = [(count, step * wide) for count, step, wide in zip(self.counts, steps, self.stride, strict=True)]
        if by_channel:
            view = _strided(first, [*outermost, channels, *within, *across])
            return view.reshape(len(first) * groups, -1, prod(self.counts)).transpose(1, 2)
        view = _strided(first, [*outermost, *across, *within, channels])
        return view.reshape(len(first) * groups, prod(self.counts), -1)


def _strided(values: Tensor, dims: list[tuple[int, int]]) -> Tensor:
    """Return a view with so many entries, so far apart, in each dimension."""
    sizes, strides = zip(*dims, strict=True)
    return values.as_strided(sizes, strides, values.storage_offset())


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
    kernel, groups = tuple(shape[2:]), call["groups"]
    stride, dilation = _each(call["stride"], len(kernel)), _each(call["dilation"], len(kernel))
    margins = [size for margin in reversed(_margins(call, kernel, dilation)) for size in margin]
    outer, inner = (values, gradient) if transposed else (gradient, values)
    outer, inner = outer.flatten(0, 1), inner.flatten(0, 1)
    padded = F.pad(inner, margins) if any(margins) else inner
    sliding = _Sliding(kernel, stride, dilation, tuple(outer.shape[2:]))
    by_channel = sliding.by_channel(shape[1])
    found = outer.new_empty(len(outer) * groups, shape[0] // groups, shape[1:].numel())
    at_once = max(1, _AT_ONCE // (groups * shape[1:].numel() * prod(sliding.counts)))
    for start in range(0, len(outer), at_once):
        some = slice(start, start + at_once)
        windows = sliding.windows(padded[some], groups, by_channel)
        left = outer[some].reshape(len(windows), -1, windows.shape[1])
        torch.bmm(left, windows, out=found[start * groups : (start + at_once) * groups])
    return _by_unit(found, values.shape[:2], shape, by_channel)


def _by_unit(found: Tensor, sizes: torch.Size, shape: torch.Size, by_channel: bool) -> Tensor:
    """Return what was found of each example as the gradients of units, (units, *shape), however they lie in memory."""
    if by_channel:
        whole = found.view(*sizes, *shape)
    else:
        whole = found.view(*sizes, shape[0], *shape[2:], shape[1]).movedim(-1, 3)
    return whole[:, 0] if sizes[1] == 1 else whole.sum(1)


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
