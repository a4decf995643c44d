"""Normalization within an example: layer, group, instance and root mean square; batch normalization once it is frozen.

Scale and shift have small gradients: the output's gradient, with or without the normalized input, summed over all that
shares one scale.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import torch
import torch.nn.functional as F  # noqa: N812
from torch import Tensor

from .forms import Stacked
from .rule import Call, Forms, Rule, rule, summed, working


def _affine(call: Call, normalized: Tensor, gradient: Tensor, keep: Iterable[int]) -> Forms:
    gradient = working(gradient)
    kept = list(keep)
    if "weight" in call.wanted:
        yield "weight", Stacked(summed(gradient * normalized, kept))
    if "bias" in call.wanted:
        yield "bias", Stacked(summed(gradient, kept))


def _last(call: Call, values: Tensor) -> range:
    return range(values.dim() - len(call["normalized_shape"]), values.dim())


def _layer_norm(call: Call, values: Tensor, gradient: Tensor) -> Forms:
    normalized = F.layer_norm(working(values), call["normalized_shape"], eps=call["eps"])
    yield from _affine(call, normalized, gradient, _last(call, values))


def _rms_norm(call: Call, values: Tensor, gradient: Tensor) -> Forms:
    normalized = F.rms_norm(working(values), call["normalized_shape"], eps=call["eps"])
    yield from _affine(call, normalized, gradient, _last(call, values))


def _by_channel(normalize: Callable[[Call, Tensor], Tensor]) -> Callable[[Call, Tensor, Tensor], Forms]:
    def forms(call: Call, values: Tensor, gradient: Tensor) -> Forms:
        normalized = normalize(call, working(values).flatten(0, 1)).view_as(values)
        yield from _affine(call, normalized, gradient, [2])  # (units, rows, channels, …)

    return forms


def _group(call: Call, values: Tensor) -> Tensor:
    return F.group_norm(values, call["num_groups"], eps=call["eps"])


def _instance(call: Call, values: Tensor) -> Tensor:
    return F.instance_norm(values, eps=call["eps"]) if call["use_input_stats"] else _by_known(call, values)


def _by_known(call: Call, values: Tensor) -> Tensor:
    """Normalize by moments that were learnt before, and are public."""
    shape = (1, -1, *[1] * (values.dim() - 2))
    scale = torch.rsqrt(call["running_var"] + call["eps"])
    return (values - call["running_mean"].view(shape)) * scale.view(shape)


def _batch_refused(arguments: dict[str, Any]) -> str | None:
    if arguments["training"] or arguments["running_mean"] is None:
        return "batch normalization mixes examples; replace BatchNorm by GroupNorm, or freeze it with .eval()"
    return None


RULES: dict[Any, Rule] = {
    F.layer_norm: rule(F.layer_norm, _layer_norm),
    F.rms_norm: rule(F.rms_norm, _rms_norm, parameters=("weight",)),
    F.group_norm: rule(F.group_norm, _by_channel(_group)),
    F.instance_norm: rule(F.instance_norm, _by_channel(_instance)),
    F.batch_norm: rule(F.batch_norm, _by_channel(_by_known), refused=_batch_refused),
}
