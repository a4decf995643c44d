"""What a recipe writes down, in torch: models layer by layer, losses and optimizers by name."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import torch
from torch import Tensor, nn

from sordino.arguments import one_of
from sordino.learn.run.models import Layer, Written

from .task import Loss
from .words import MakeOptimizer


class _Shaped(nn.Module):
    """Gives each example a shape: images without channels get one."""

    def __init__(self, *shape: int) -> None:
        super().__init__()
        self.shape = shape

    def forward(self, given: Tensor) -> Tensor:
        """Return the same numbers in that shape."""
        return given.reshape(len(given), *self.shape)

    def extra_repr(self) -> str:
        """Return the shape: it is part of what the model is."""
        return str(self.shape)


_LAYERS: dict[str, Callable[..., nn.Module]] = {
    "flatten": nn.Flatten,
    "shape": _Shaped,
    "linear": nn.Linear,
    "convolve": lambda come, go, kernel: nn.Conv2d(come, go, kernel, padding=kernel // 2),
    "pool": lambda: nn.MaxPool2d(2),
    "tanh": nn.Tanh,
    "relu": nn.ReLU,
}
_LOSSES: dict[str, Callable[[], Loss]] = {"cross-entropy": nn.CrossEntropyLoss, "squared": lambda: _squared}


def model_of(given: Written) -> nn.Module:
    """Return the model, untrained: its first weights are drawn by torch, and say nothing of anybody."""
    return nn.Sequential(*(_layer(each) for each in given.layers))


def loss_of(name: str) -> Loss:
    """Return a loss with one number for each example."""
    return _LOSSES[one_of("loss", name, tuple(_LOSSES))]()


def optimizer_of(name: str, rate: float, momentum: float) -> MakeOptimizer:
    """Return what makes an optimizer from parameters."""

    def make(parameters: Iterable[nn.Parameter]) -> torch.optim.Optimizer:
        if name == "adam":
            return torch.optim.Adam(parameters, lr=rate)
        return torch.optim.SGD(parameters, lr=rate, momentum=momentum)

    return make


def _layer(given: Layer) -> nn.Module:
    return _LAYERS[given.does](*given.sizes)


def _squared(found: Tensor, wanted: Tensor) -> Tensor:
    """Return for each example how far off it is, squared."""
    return (found.reshape(-1) - wanted.reshape(-1)) ** 2
