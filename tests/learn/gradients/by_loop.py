"""The reference: clipped sums by a loop over units, with plain autograd, in float64."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Iterable

import torch
from torch import Tensor, nn

from sordino.learn.gradients import Field

CROSS_ENTROPY = nn.CrossEntropyLoss(reduction="none")


def double(value: Tensor) -> Tensor:
    return value.double() if value.is_floating_point() else value


def unit_gradients(
    model: nn.Module,
    loss: Callable[..., Tensor],
    inputs: tuple[Tensor, ...],
    targets: Tensor,
    units: Iterable[list[int]],
    weight: float = 1.0,
) -> list[dict[str, Tensor]]:
    """Return each unit's gradients, from its rows one after another, in float64."""
    exact = copy.deepcopy(model).double()
    trained = {name: value for name, value in exact.named_parameters() if value.requires_grad}
    found = []
    for rows in units:
        total = {name: torch.zeros_like(value) for name, value in trained.items()}
        for row in rows:
            some = tuple(double(each[row : row + 1]) for each in inputs)
            lost = loss(exact(*some), double(targets[row : row + 1])).sum() * weight
            for name, value in zip(
                trained, torch.autograd.grad(lost, list(trained.values()), allow_unused=True), strict=True
            ):
                if value is not None:
                    total[name] += value
        found.append({name: value.detach() for name, value in total.items()})
    return found


def norm(gradients: dict[str, Tensor]) -> float:
    return math.sqrt(sum(float(value.double().square().sum()) for value in gradients.values()))


def clipped_sum(units: list[dict[str, Tensor]], clip: float) -> dict[str, Tensor]:
    """Return the sum of gradients, each clipped to `clip`."""
    total: dict[str, Tensor] = {}
    for gradients in units:
        factor = min(1.0, clip / max(norm(gradients), 1e-300))
        for name, value in gradients.items():
            total[name] = total.get(name, torch.zeros_like(value)) + factor * value
    return total


def difference(one: dict[str, Tensor], two: dict[str, Tensor]) -> float:
    """Return the distance of two sums."""
    assert one.keys() == two.keys()
    return norm({name: one[name].double() - two[name].double() for name in one})


def middle_norm(units: list[dict[str, Tensor]]) -> float:
    """Return a clip at which about half of the units are clipped."""
    norms = sorted(map(norm, units))
    return max(norms[len(norms) // 2], 1e-6)


def drawn(field: Field, count: int, seed: int) -> Tensor:
    """Return random examples of a field."""
    generator = torch.Generator().manual_seed(seed)
    if field.is_float:
        return torch.randn(count, *field.shape, generator=generator)
    return torch.randint(field.least, field.below, (count, *field.shape), generator=generator)
