"""How many units go through a model at a time, if nobody says: public, from made-up data and the sizes of the model.

Few at a time take little memory and stay in the processor's cache; many are multiplied faster. What a unit takes is
what autograd keeps for it, counted, and its gradient: no more than the parameters, and, as long as it is kept as
factors, no more than what autograd keeps.
"""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import Tensor

from .passing import Examples, Task

_LIMIT = 12 << 20
"""How many bytes a pass may take: measured to be fast for small and large models, and well below what they take."""

_LEAST = 8
"""Fewer units than these are not worth the calls."""


def units_at_once(task: Task, few: Examples, many: Examples, rows: int, most: int) -> int:
    """Return how many units of so many `rows` sit together, so that `most` of them sit in a few equal passes.

    `few` and `many` are made-up batches of two sizes, whose difference shows what one row takes.
    """
    between = len(many.weights) - len(few.weights)
    row = (_kept_bytes(task, many) - _kept_bytes(task, few)) / between
    gradient = sum(value.numel() * value.element_size() for value in task.trained.values())
    unit = rows * row + min(gradient, rows * row)
    fitting = max(_LEAST, int(_LIMIT / max(unit, 1)))
    return math.ceil(most / math.ceil(most / fitting))


def _kept_bytes(task: Task, examples: Examples) -> int:
    """Return how many bytes autograd keeps of a pass over `examples`."""
    kept: dict[int, torch.UntypedStorage] = {}

    def pack(value: Tensor) -> None:  # an output kept here would hold its graph, and the graph it, for ever
        memory = value.untyped_storage()
        kept[memory.data_ptr()] = memory  # held, so that no other takes its place before all were counted

    def unpack(_: None) -> Any:
        raise RuntimeError("nothing was kept, so there is no way back")

    with torch.autograd.graph.saved_tensors_hooks(pack, unpack):
        task.losses(examples)
    return sum(memory.nbytes() for memory in kept.values())
