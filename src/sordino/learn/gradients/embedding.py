"""Embeddings: a unit's gradient has a row for each index it looked up, however often."""

from __future__ import annotations

from typing import Any

import torch
import torch.nn.functional as F  # noqa: N812
from torch import Tensor

from .forms import Rows, summed_rows
from .rule import Call, Forms, Rule, rule, working


def _embedding(call: Call, values: Tensor, gradient: Tensor) -> Forms:
    units, height = len(values), call["weight"].shape[0]
    width = gradient.shape[-1]
    keys = values.reshape(units, -1).long() + height * torch.arange(units)[:, None]
    pairs, slots = torch.unique(keys.flatten(), return_inverse=True)
    rows = pairs % height
    sums = summed_rows(working(gradient).reshape(-1, width), slots, len(pairs))
    if call["padding_idx"] is not None:
        sums[rows == call["padding_idx"] % height] = 0
    yield "weight", Rows(pairs // height, rows, sums, units, height)


def _refused(arguments: dict[str, Any]) -> str | None:
    if arguments["max_norm"] is not None:
        return "max_norm changes the weights by what was looked up; leave it out"
    if arguments["scale_grad_by_freq"]:
        return "scale_grad_by_freq divides by counts over the whole batch; leave it out"
    if arguments["sparse"]:
        return "sparse=True is for gradients without noise, and noise falls on every row; leave it out"
    return None


RULES: dict[Any, Rule] = {F.embedding: rule(F.embedding, _embedding, parameters=("weight",), refused=_refused)}
